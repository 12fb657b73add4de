"""Rows that are named by a range: "10,001 to 20,000", "over 100", or two columns with its first and last value.

A number, an amount or a day of a question that lies within the range means such a row, as if the row had its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache

from ragstone.core.frozen import frozen
from ragstone.core.span import Span
from ragstone.core.table import Cell, Row
from ragstone.core.words import Word
from ragstone.language import lexicon, plain
from ragstone.language.days import Day, dates_in, days_in, is_weekday
from ragstone.language.facts import words
from ragstone.language.message import messages_in
from ragstone.language.money import MARK, currencies
from ragstone.language.numbers import is_year, normalised, value_of
from ragstone.language.talk import amount_columns
from ragstone.language.words import any_of
from ragstone.respond.passage_structure import without_asides
from ragstone.respond.tables.dates import Dates
from ragstone.respond.tables.wording import is_same, normalized, singular

_NUMBER = r"(?:\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)(?![:./]?\d)"
_UNIT = r"(?:[^\W\d_]{1,15}\b|[%°])"
_DASH = r"[-–—…]|\.\.+"
_BEFORE = r"(?<![\d:.,/\w-])"
_LONGEST = 100
"""Characters of a cell that may be a range."""
_BOUNDED = 3
"""The patterns, from the first, by which a question itself names a range; the others have a word before a number."""
_ABBREVIATED = 3
"""Letters of the longest abbreviation of a day of the week, of which some are words: "sun", "sat"."""
_WEIGHTS = frozenset(["kg", "g", "t", "lb", "oz"])
_YEAR = "year"


@frozen
class Range:
    """The numbers, or days as their ordinals, from ``least`` to ``most``; None if that side is open.

    These two belong to it unless ``above`` or ``below`` says otherwise. ``units`` are the words that say of what it is,
    and ``whole`` says that the cell has no other words.
    """

    least: Decimal | None
    most: Decimal | None
    above: bool = False
    below: bool = False
    of_days: bool = False
    units: frozenset[str] = frozenset()
    whole: bool = True

    def has(self, value: Decimal) -> bool:
        """Return whether a value lies within the range."""
        over = self.least is None or value > self.least or (value == self.least and not self.above)
        return over and (self.most is None or value < self.most or (value == self.most and not self.below))

    def has_day(self, day: Day) -> bool:
        """Return whether a day lies within the range of days; one without a year does if it does in any year."""
        years = range(*(date.fromordinal(int(end)).year + n for n, end in enumerate((self.least or 1, self.most or 1))))
        return any(self.has(Decimal(one.toordinal())) for year in years if (one := day.within(year)))


@frozen
class Point:
    """A number that a question names, with its unit or the noun after it, and the words ``beside`` it, or a ``day``.

    ``is_age`` says that it is how old somebody is; ``weekday`` is a day of the week, if the question names only that.
    """

    span: Span
    value: Decimal = Decimal(0)
    day: Day | None = None
    unit: str = ""
    noun: str = ""
    beside: tuple[str, ...] = ()
    is_age: bool = False
    weekday: str = ""


@frozen
class Place:
    """A range of a row: the heading it stands below, whether it names the row, and its columns."""

    range: Range
    heading: str
    names: bool
    columns: tuple[int, ...]


# ---------------------------------------------------------------- the question


def points_of(text: str, dates: Dates) -> tuple[Point, ...]:
    """Return the numbers and the day that a question names; none of a month or a year alone."""
    days = days_in(text)
    out = [Point(span=one.span, day=one) for one in days] if len(days) == 1 else []
    found = words(text)
    weekdays = [one for one in found if len(one.lower) > _ABBREVIATED and is_weekday(one)]
    out += (
        [Point(span=one.span, weekday=plain(one.lower)) for one in weekdays] if not days and len(weekdays) == 1 else []
    )
    bounded = [one.span() for pattern in (*_patterns()[:_BOUNDED], _over()) for one in pattern.finditer(text)]
    beside = tuple(singular(word.lower) for word in found if not word.stop and not word.value)
    ages = _ages_in(text)
    for word, after in zip(found, [*found[1:], None], strict=False):
        if not word.lower[:1].isdigit() or dates.names(word.span) or any(word.span.overlaps(one.span) for one in days):
            continue
        if age := next((one for one in ages if one.overlaps(word.span)), None):
            if (value := value_of(word.value)) is not None:
                out.append(Point(span=age, value=value, unit=_YEAR, beside=beside, is_age=True))
            continue
        is_glued = not word.unit and not word.lower[-1:].isdigit()  # "1st"
        if (value := value_of(word.value)) is None or is_glued or _is_code(text, word):
            continue
        if any(start <= word.span.start < end for start, end in bounded):
            continue  # "over 2 months" is the name of a row, and not within another one
        next_to = after and not after.stop and not after.value and not text[word.span.end : after.span.start].strip()
        noun = after.lower if after and next_to else ""
        unit = word.unit or next(iter(currencies(text[max(0, word.span.start - 4) : word.span.start])), "")
        span = Span(start=word.span.start, end=after.span.end) if after and noun and not word.unit else word.span
        out.append(Point(span=span, value=value, unit=unit.lower(), noun="" if word.unit else noun, beside=beside))
    return tuple(out)


def _ages_in(text: str) -> list[Span]:
    """Return where a question says how old somebody is: "a 12 year old"."""
    folded = plain(text)
    if len(folded) != len(text):
        return []
    found = (one for some in messages_in() for one in some.age.finditer(folded))
    return [Span(start=one.start(), end=one.end()) for one in found]


# ---------------------------------------------------------------- the tables


def meant_by(points: Sequence[Point], row: Row, columns: Sequence[Sequence[str]], names: Sequence[Cell]) -> list[Point]:
    """Return the points of a question that lie within a range of a row.

    Args:
        points: the numbers and the day of the question.
        row: the row.
        columns: the headings of each column of its table.
        names: the cells that name the row.
    """
    if not points:
        return []
    places = [*_places(row, columns, names)]
    return [
        one
        for one in points
        if any(_is_day(one, cell.text) for cell in names) or any(_is_within(one, place) for place in places)
    ]


def _is_day(point: Point, text: str) -> bool:
    """Return whether a text is the day of a point, or one with its day of the week, and nothing else."""
    if point.day is None and not point.weekday:
        return False
    only = [one for one in days_in(text) if one.span.of(text) == text.strip()]
    if point.day:
        said = point.day
        return any((one.day, one.month) == (said.day, said.month) and _share_year(one, said) for one in only)
    first, *others = words(text) or [None]
    if first is None or not is_weekday(first) or (others and (not only or point.weekday.endswith("s"))):
        return False  # "on Fridays" means none with a date
    return point.weekday.startswith(plain(first.lower)) or plain(first.lower).startswith(point.weekday)


def _share_year(one: Day, other: Day) -> bool:
    return one.year == other.year or 0 in (one.year, other.year)


def within_heading(points: Sequence[Point], heading: str) -> list[Point]:
    """Return the points within a heading: a day in "Thu 10.9.", an age in "Child under 14", 300 kg in "101-500 kg".

    A day with its year heads a column of a period or a balance, which `Dates` compares.
    """
    days = [one for one in points if _is_day(one, heading)]
    if days:
        return [] if dates_in(heading) else days
    found = range_of(heading) if any(one.unit for one in points) else None
    if found is None or found.of_days:
        return []
    units = {_unit_of(one) or one for one in found.units} | currencies(heading)
    if not found.whole:  # the other words name people
        units = set[str]() if units - currencies(heading) - {_YEAR} else {_YEAR}
    return [one for one in points if one.unit in units and found.has(one.value)]


def columns_of(points: Sequence[Point], row: Row, columns: Sequence[Sequence[str]], names: Sequence[Cell]) -> set[int]:
    """Return the columns with the ranges within which points lie; they name the row, and answer nothing."""
    return {
        at
        for place in _places(row, columns, names)
        if any(_is_within(one, place) for one in points)
        for at in place.columns
    }


def has_days(row: Row, columns: Sequence[Sequence[str]]) -> bool:
    """Return whether a row is one of a range of days."""
    return any(one.range.of_days for one in _places(row, columns, row.cells[:1]))


def of_days(points: Sequence[Point], row: Row, columns: Sequence[Sequence[str]]) -> list[Cell]:
    """Return the cells with the first and the last day of a row, if the question names a day."""
    if not any(one.day for one in points):
        return []
    at = {place for first, last, _ in _pairs(tuple(map(tuple, columns))) for place in (first, last)}
    return [cell for cell in row.cells if cell.column in at and dates_in(cell.text)]


def _places(row: Row, columns: Sequence[Sequence[str]], names: Sequence[Cell]) -> Iterator[Place]:
    for cell in row.cells:
        if found := range_of(cell.text):
            yield Place(
                range=found,
                heading=cell.head,
                names=any(cell is one for one in names),
                columns=(cell.column,),
            )
    for first, last, heading in _pairs(tuple(map(tuple, columns))):
        cells = {cell.column: cell.text for cell in row.cells}
        if found := _between(cells.get(first, ""), cells.get(last, ""), heading):
            yield Place(range=found, heading=heading, names=True, columns=(first, last))


def _is_within(point: Point, place: Place) -> bool:
    """Return whether a point lies within a range, as far as units and headings tell.

    The heading or the cell must name its unit, the noun after it or another word of the question; a heading of
    quantities suits every noun, and one of weights every weight.
    """
    own = place.range
    if point.weekday:
        return False
    if point.day or own.of_days:
        return point.day is not None and own.of_days and own.has_day(point.day)
    if not own.has(point.value):
        return False
    heading = [singular(one) for one in normalized(place.heading).split()]
    units = {one for one in map(_unit_of, (*own.units, *heading)) if one} | currencies(place.heading)
    if point.unit and units:
        return point.unit in units
    named = bool(point.noun) and _is_named(singular(point.noun), [*map(singular, own.units), *heading])
    if named or not place.names or not own.whole:
        return named
    if any(is_same(one, other) for one in heading if not lexicon().unit(one) for other in point.beside):
        return True
    return _of_amounts(point.unit, bool(point.noun)).search(plain(place.heading)) is not None


def _is_named(noun: str, others: Sequence[str]) -> bool:
    """Return whether a noun is among others, or has their first letters, as "GT" in "gross tonnage"."""
    return any(is_same(noun, one) for one in others) or (len(noun) > 1 and noun in "".join(one[:1] for one in others))


@lru_cache(maxsize=8192)
def range_of(text: str) -> Range | None:
    """Return the range that a cell is, or that is part of its words; None if it has none."""
    if not any(map(str.isdigit, text)) or len(text) > _LONGEST:
        return None
    if days := dates_in(text):
        return _of_days(text, days)
    for pattern in _patterns():
        if (found := pattern.search(text)) and (made := _read(found, text)):
            return made
    return None


def _of_days(text: str, days: Sequence[tuple[Span, date]]) -> Range | None:
    """Return the range between two days."""
    if len(days) != 2 or not re.fullmatch(_until(), text[days[0][0].end : days[1][0].start].strip(), re.IGNORECASE):
        return None
    least, most = (Decimal(day.toordinal()) for _, day in days)
    return Range(least=least, most=most, of_days=True) if least <= most else None


def _read(found: re.Match[str], text: str) -> Range | None:
    said = found.groupdict()
    least, most = (_number(said.get(one)) for one in ("least", "most"))
    units = frozenset(one.lower() for one in (said.get("unit"), said.get("first")) if one)
    if any(plain(one) in lexicon().months for one in units) or (
        least is not None and most is not None and least > most
    ):
        return None
    if all(is_year(said.get(side) or "") for side in ("least", "most")):
        return None
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return Range(
        least=least,
        most=most,
        above=bool(said.get("above")),
        below=bool(said.get("below")),
        units=units | currencies(text),
        whole=not any(map(str.isalnum, rest)),
    )


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of ranges with two ends, with words after one, and with a word or sign before it."""
    said = lexicon().table_words
    more, least, most, less = (any_of(said[one]) for one in ("more_than", "at_least", "up_to", "less_than"))
    after, under = any_of(said["or_more"]), any_of(said["or_less"])
    mark, unit = rf"(?:{MARK})?\s?", rf"\s?(?P<unit>{_UNIT})?(?:\s?{MARK})?"
    two = (
        rf"(?:\b(?:{least})\s)?{_BEFORE}{mark}(?P<least>{_NUMBER}) ?(?:(?P<first>(?!{_until()}){_UNIT})|{MARK})?"
        rf"\s?(?:{_until()})\s?{mark}(?P<most>{_NUMBER}){unit}"
    )
    end = rf"{mark}(?P<least>{_NUMBER})(?!-\d){unit}"
    low = rf"(?:(?P<above>(?:\b(?:{more})\b|>(?!=))\s?)|(?:\b(?:{least})\b|≥|>=)\s?){end}"
    high = rf"(?:(?P<below>(?:\b(?:{less})\b|<(?!=))\s?)|(?:\b(?:{most})\b|≤|<=)\s?){end.replace('least', 'most')}"
    behind = rf"{_BEFORE}{mark}(?P<least>{_NUMBER})\s?(?P<unit>(?!(?:{after})\b){_UNIT})?\s?(?:\+|(?:{after})\b)"
    behind_less = rf"{_BEFORE}{mark}(?P<most>{_NUMBER})\s?(?P<unit>(?!(?:{under})\b){_UNIT})?\s?(?:{under})\b"
    return tuple(re.compile(one, re.IGNORECASE) for one in (two, behind, behind_less, high, low))


@cache
def _over() -> re.Pattern[str]:
    """Return a pattern of a number that a question only names as a limit."""
    said = lexicon().table_words
    over = any_of((*said["more_than"], *said["less_than"]))
    return re.compile(rf"\b(?:{over})\s(?:{MARK})?\s?{_NUMBER}", re.IGNORECASE)


@lru_cache(maxsize=1024)
def _pairs(columns: tuple[tuple[str, ...], ...]) -> tuple[tuple[int, int, str], ...]:
    """Return the columns of the first and of the last value of ranges, and the heading of the first."""
    begins, ends = ([_side(" ".join(path), side) for path in columns] for side in ("begins", "ends"))
    return tuple(
        (first, last, " ".join(columns[first]))
        for first, of in enumerate(begins)
        for last, other in enumerate(ends)
        if of is not None and of == other and first != last
    )


def _side(heading: str, side: str) -> str | None:
    """Return what a heading says beside that it is of first or last values; None if it does not say so."""
    said = normalized(without_asides(plain(heading)))
    found = _sides(side).fullmatch(said)
    return (found["before"] or found["after"] or "") if found else None


@cache
def _sides(side: str) -> re.Pattern[str]:
    said = any_of(map(plain, lexicon().table_words[side]))
    return re.compile(rf"(?:(?P<before>.+) )?(?:{said})(?: (?P<after>.+))?")


def _between(first: str, last: str, heading: str) -> Range | None:
    """Return the range from the value of a cell to that of another one; an empty cell leaves its side open."""
    days = [found[0][1] if len(found := dates_in(one)) == 1 else None for one in (first, last)]
    if all(days):
        least, most = (Decimal(day.toordinal()) for day in days if day)
        return Range(least=least, most=most, of_days=True) if least <= most else None
    low, high = _only(first), _only(last)
    if any(days) or (low is None and high is None) or (low is None and any(map(str.isdigit, first))):
        return None
    if high is None and any(map(str.isdigit, last)):
        return None
    above = _above().match(plain(heading)) is not None
    return Range(least=low, most=high, above=above, units=frozenset(currencies(f"{first} {last}")))


@cache
def _above() -> re.Pattern[str]:
    return re.compile(rf"(?:{any_of(lexicon().table_words['more_than'])})\b")


@cache
def _of_amounts(unit: str, counts: bool) -> re.Pattern[str]:
    """Return a pattern of headings that need not be named: of what has a unit, or of how many of something."""
    said = lexicon().table_words
    if unit in _WEIGHTS:
        names = amount_columns("weight")
    elif unit == _YEAR:
        names = tuple(map(plain, said["ages"]))
    else:
        names = tuple(map(plain, said["tiers"])) if counts or currencies(unit) else ()
    return re.compile(rf"\b(?:{any_of(names)})\b" if names else r"(?!)")


@cache
def _until() -> str:
    return rf"(?:{_DASH}|\b(?:{any_of(lexicon().until)})\b)"


def _only(text: str) -> Decimal | None:
    """Return the only number of a short cell."""
    found = re.fullmatch(rf"(?:{MARK})?\s?(?P<number>{_NUMBER})\s?(?:{_UNIT}|{MARK})?", text.strip())
    return _number(found["number"]) if found else None


def _number(shown: str | None) -> Decimal | None:
    return value_of(normalised(shown)) if shown else None


def _unit_of(word: str) -> str:
    return lexicon().unit(word).lower()


def _is_code(text: str, word: Word) -> bool:
    """Return whether a number is part of a code, as in "K26-041"."""
    before, after = text[max(0, word.span.start - 1) : word.span.start], text[word.span.end : word.span.end + 1]
    return before.isalnum() or before in ("-", "/", ".") or after in ("/",)
