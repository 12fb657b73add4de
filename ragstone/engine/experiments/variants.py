"""The variants of a sweep: all combinations of the given values, or a random sample."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen

_RANGE = re.compile(r"(-?\d*\.?\d+)\.\.(-?\d*\.?\d+)")
_EXCLUDED_SECTIONS = {
    "acquire": "affects reading files, and a data set is read already",
    "respond": "affects answers, but a sweep measures only the search",
    "review": "affects the measurement itself",
    "preset": "cannot vary in a sweep; run: ragstone eval compare",
}
_MAX_DRAWS = 50
"""Maximum of draws per variant; a small space is exhausted soon."""


@frozen
class Dimension:
    """A setting and its candidates: ``values``, or any number from ``low`` to ``high``."""

    path: str
    values: tuple[str, ...] = ()
    low: str = ""
    high: str = ""

    def draw(self, random: Random) -> str:
        """Return a random candidate; it is an integer if both ends of the range are."""
        if self.values:
            return random.choice(self.values)
        if "." in self.low + self.high:
            return f"{random.uniform(float(self.low), float(self.high)):.4g}"
        return str(random.randint(int(self.low), int(self.high)))


def parse_dimension(text: str) -> Dimension:
    """Parse ``path=value,value`` or ``path=low..high``, such as ``query.vector_weight=0.2..0.8``.

    Commas within brackets do not separate values.

    Raises:
        UsageError: the text has another form, or the setting does not affect the search.
    """
    path, _, values = text.partition("=")
    path = path.strip()
    if not path or not values.strip():
        raise UsageError(f"--grid {text} is not a dimension; write for example query.vector_weight=.3,.5,.7")
    section = path.partition(".")[0]
    if section in _EXCLUDED_SECTIONS:
        raise UsageError(f"{path} {_EXCLUDED_SECTIONS[section]}")
    if ends := _RANGE.fullmatch(values.strip()):
        low, high = ends.groups()
        if float(low) >= float(high):
            raise UsageError(f"--grid {text}: write the lower number of the range first")
        return Dimension(path=path, low=low, high=high)
    return Dimension(path=path, values=tuple(dict.fromkeys(_split_values(values))))


def grid(dimensions: Sequence[Dimension]) -> Iterator[tuple[str, ...]]:
    """Yield overrides for every combination, in the order of the values.

    Raises:
        UsageError: a dimension is a range, which cannot be tried exhaustively.
    """
    ranges = [dimension.path for dimension in dimensions if not dimension.values]
    if ranges:
        raise UsageError(f"{ranges[0]} is a range; name the number of random variants: --random N")
    for values in product(*(dimension.values for dimension in dimensions)):
        yield tuple(f"{dimension.path}={value}" for dimension, value in zip(dimensions, values, strict=True))


def sample(dimensions: Sequence[Dimension], count: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Yield overrides for ``count`` distinct random combinations, or for all if there are no more."""
    random, seen = Random(seed), set[tuple[str, ...]]()
    size = math.prod(len(dimension.values) for dimension in dimensions)
    if size and size <= count and all(dimension.values for dimension in dimensions):
        yield from grid(dimensions)
        return
    for _ in range(count * _MAX_DRAWS):
        overrides = tuple(f"{dimension.path}={dimension.draw(random)}" for dimension in dimensions)
        if overrides not in seen:
            seen.add(overrides)
            yield overrides
        if len(seen) == count:
            return


def _split_values(text: str) -> Iterator[str]:
    """Yield the parts between commas outside of brackets."""
    depth, part = 0, ""
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += letter
    yield part.strip()
