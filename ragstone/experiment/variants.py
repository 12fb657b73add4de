"""Which settings are tried: all combinations of the values named, or some drawn at random."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from ragstone.errors import UsageError

_RANGE = re.compile(r"(-?\d*\.?\d+)\.\.(-?\d*\.?\d+)")
_OUTSIDE = {
    "acquire": "is about reading files, which a data set has behind it",
    "respond": "is about answers, and a sweep measures the search",
    "review": "is about measuring itself",
    "preset": "is compared by `ragstone compare`",
}
_DRAWS = 50
"""Draws for each variant wanted, at most: of a small space all is soon drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A setting and what it may be: ``values``, or any number from ``low`` to ``high``."""

    path: str
    values: tuple[str, ...] = ()
    low: str = ""
    high: str = ""

    def draw(self, random: Random) -> str:
        """One of the values; a whole number where both ends of a range are."""
        if self.values:
            return random.choice(self.values)
        if "." in self.low + self.high:
            return f"{random.uniform(float(self.low), float(self.high)):.4g}"
        return str(random.randint(int(self.low), int(self.high)))


def parse_dimension(text: str) -> Dimension:
    """``query.vector_weight=.3,.5,.7`` or ``query.vector_weight=.2..8``; commas within brackets do not separate.

    Raises:
        UsageError: it is neither, or the setting would not change what is found.
    """
    path, _, told = text.partition("=")
    path = path.strip()
    if not path or not told.strip():
        raise UsageError(f"--grid {text} is no dimension; write a setting and its values: query.vector_weight=.3,.5,.7")
    section = path.partition(".")[0]
    if section in _OUTSIDE:
        raise UsageError(f"{path} {_OUTSIDE[section]}")
    if ends := _RANGE.fullmatch(told.strip()):
        low, high = ends.groups()
        if float(low) >= float(high):
            raise UsageError(f"--grid {text}: the range goes from a lower to a higher number")
        return Dimension(path=path, low=low, high=high)
    return Dimension(path=path, values=tuple(dict.fromkeys(_separated(told))))


def grid(dimensions: Sequence[Dimension]) -> Iterator[tuple[str, ...]]:
    """Overrides for every combination, in the order of the values.

    Raises:
        UsageError: a dimension is a range, of which there are too many numbers to try.
    """
    ranges = [dimension.path for dimension in dimensions if not dimension.values]
    if ranges:
        raise UsageError(f"{ranges[0]} is given as a range; say how many variants to draw: --random N")
    for values in product(*(dimension.values for dimension in dimensions)):
        yield tuple(f"{dimension.path}={value}" for dimension, value in zip(dimensions, values, strict=True))


def drawn(dimensions: Sequence[Dimension], count: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Overrides for ``count`` different combinations, or for all if there are no more."""
    random, seen = Random(seed), set[tuple[str, ...]]()
    size = math.prod(len(dimension.values) for dimension in dimensions)
    if size and size <= count and all(dimension.values for dimension in dimensions):
        yield from grid(dimensions)
        return
    for _ in range(count * _DRAWS):
        overrides = tuple(f"{dimension.path}={dimension.draw(random)}" for dimension in dimensions)
        if overrides not in seen:
            seen.add(overrides)
            yield overrides
        if len(seen) == count:
            return


def _separated(text: str) -> Iterator[str]:
    """Parts between the commas that stand outside of brackets."""
    depth, part = 0, ""
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += letter
    yield part.strip()
