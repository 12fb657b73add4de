"""The numbers that Word counts and shows before the items of lists and before headings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.acquire.readers.numbers import whole
from ragstone.acquire.readers.office.package import Element
from ragstone.core.frozen import frozen

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST = 4000


@frozen
class Numbered:
    """Which list a paragraph belongs to, by its id, and at which level."""

    list: str
    level: int = 0


@frozen
class _Level:
    kind: str
    shape: str
    start: int


@dataclass(slots=True, kw_only=True)
class Numbering:
    """Counts the items of a document in their order.

    ``shared`` has the id of the abstract list of each list, whose count its lists share, and ``restarts`` the first
    numbers of lists that begin anew.
    """

    levels: Mapping[str, Mapping[int, _Level]] = field(default_factory=dict[str, "dict[int, _Level]"])
    shared: Mapping[str, str] = field(default_factory=dict[str, str])
    restarts: Mapping[str, Mapping[int, int]] = field(default_factory=dict[str, "dict[int, int]"])
    _counts: dict[str, dict[int, int]] = field(default_factory=dict[str, "dict[int, int]"])
    _begun: set[str] = field(default_factory=set[str])

    def mark(self, at: Numbered) -> str:
        """Return what stands before the next paragraph of a list: "2.1", "-" for a bullet, or nothing."""
        abstract = self.shared.get(at.list, "")
        levels = self.levels.get(abstract, {})
        own = levels.get(at.level)
        if own is None:
            return "-"
        counts = self._counts.setdefault(abstract, {})
        if at.list not in self._begun:
            self._begun.add(at.list)
            for level, first in self.restarts.get(at.list, {}).items():
                counts[level] = first - 1
        counts[at.level] = counts.get(at.level, own.start - 1) + 1
        for deeper in [level for level in counts if level > at.level]:
            del counts[deeper]
        if own.kind in ("bullet", "none"):
            return "-" if own.kind == "bullet" else ""

        def shown(place: re.Match[str]) -> str:
            level = int(place[1]) - 1
            one = levels.get(level, own)
            return written_number(counts.get(level, one.start), one.kind)

        return _PLACE.sub(shown, own.shape).strip()


def numbering(part: Element) -> Numbering:
    """Return the lists that a document defines in its part ``numbering``."""
    levels: dict[str, dict[int, _Level]] = {}
    for abstract in part.iterfind(f"{_W}abstractNum"):
        levels[abstract.get(f"{_W}abstractNumId", "")] = {
            whole(level.get(f"{_W}ilvl"), 0): _Level(
                kind=value(level, "numFmt") or "decimal",
                shape=value(level, "lvlText"),
                start=whole(value(level, "start") or "1", 0),
            )
            for level in abstract.iterfind(f"{_W}lvl")
        }
    shared: dict[str, str] = {}
    restarts: dict[str, dict[int, int]] = {}
    for one in part.iterfind(f"{_W}num"):
        key = one.get(f"{_W}numId", "")
        shared[key] = value(one, "abstractNumId")
        restarts[key] = {
            whole(override.get(f"{_W}ilvl"), 0): whole(value(override, "startOverride"), 0)
            for override in one.iterfind(f"{_W}lvlOverride")
            if value(override, "startOverride")
        }
    return Numbering(levels=levels, shared=shared, restarts=restarts)


def numbered(properties: Element | None) -> Numbered | None:
    """Return the list that the properties of a paragraph or style name; None if they name none."""
    found = properties.find(f"{_W}numPr") if properties is not None else None
    if found is None:
        return None
    return Numbered(list=value(found, "numId"), level=whole(value(found, "ilvl"), 0))


def value(element: Element, name: str) -> str:
    """Return the value of a child of an element; empty if there is none."""
    child = element.find(f"{_W}{name}")
    return child.get(f"{_W}val", "") if child is not None else ""


def written_number(count: int, kind: str) -> str:
    """Return a number as a list of this kind writes it, such as ``lowerRoman``."""
    match kind:
        case "decimalZero":
            return f"{count:02}"
        case "lowerLetter" | "upperLetter" if 0 < count <= _MOST:
            letters = chr(ord("a") + (count - 1) % 26) * (1 + (count - 1) // 26)
            return letters if kind == "lowerLetter" else letters.upper()
        case "lowerRoman" | "upperRoman" if 0 < count <= _MOST:
            roman, rest = "", count
            for size, sign in _ROMAN:
                roman += sign * (rest // size)
                rest %= size
            return roman if kind == "lowerRoman" else roman.upper()
        case _:
            return str(count)
