"""Read the figures of a text and compare them by value and unit.

"$39,669 million", "39.7 billion dollars" and a cell 39,669 of a table "in millions" are one figure; so are "a year" and
"12 months", "a quarter" and "25%", "1.000" and "1,000". A figure that is written with fewer digits may be a rounded one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from ragstone.core.records import Span
from ragstone.respond.money import currency_of
from ragstone.respond.words import lexicon, plain

_TOKEN = re.compile(
    r"""
      (?P<iso>\b\d{4}-\d{2}-\d{2}\b) | (?P<dotted>\b\d{1,2}(?:[./]\d{1,2}[./]\d{4}\b|\.(?:0\d|1[0-2])\.(?!\d)))
    | (?P<clock>\b\d{1,2}(?::\d{2}|(?:[:.]\d{2})?\s?(?:a\.?m\b|p\.?m\b|uhr\b|o'clock\b))(?:\s?(?P<half>[ap])\.?m\b)?)
    | (?P<decade>\b\d{3}0(?=['’]?s\b))
    | (?P<code>\b(?:[^\W\d_]+[-_.]?\d[\w.-]*\w|[^\W\d_]+[-_]?\d|\d+(?!(?:st|nd|rd|th)\b)[^\W\d_][\w]*|\d+(?:\.\d+){2,})\b)
    | (?P<money>(?:(?:US|A|C|HK|S)?[$€£¥₹])\s?)?
      (?P<digits>\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?(?![\d])|\d+(?:[.,]\d+)?|(?<![\d.])\.\d+)
      (?P<ending>(?:st|nd|rd|th)\b)?
    | (?P<word>[^\W\d_]+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+")
_SCALES = {
    "k": 1e3, "thousand": 1e3, "thousands": 1e3, "tausend": 1e3, "hundred": 1e2, "hundert": 1e2, "m": 1e6, "mn": 1e6,
    "mm": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6, "bn": 1e9, "b": 1e9, "mrd": 1e9,
    "billion": 1e9, "billions": 1e9, "milliarde": 1e9, "milliarden": 1e9, "tn": 1e12, "trillion": 1e12,
}  # fmt: skip
"""Words behind a number that multiply it; those of one or two letters only with a currency."""
_TABLE_SCALE = re.compile(
    r"\bin\s+(?:[$€£]|us\s?dollars?\s+|eur(?:os?)?\s+)?(?P<word>thousands?|tausend|tsd|millions?|millionen|mio|billions?|milliarden|mrd)\b"
    r"|\b(?P<thousand>T(?:EUR|€))|(?:EUR|USD|[$€£])\s?(?P<letter>mn?|bn|k)\b"
    r"|[(,]\s*(?:in\s+)?(?:US)?[$€£]?\s*(?P<short>thousands?|millions?|billions?|000s?|mio|mrd|mn|bn|[mk])\.?"
    r"\s*(?:[$€£]|euros?|dollars?|eur|usd)?\s*[),]",
    re.IGNORECASE,
)
_BASE = {
    "s": ("time", 1.0), "min": ("time", 60.0), "h": ("time", 3600.0), "day": ("time", 86400.0),
    "week": ("time", 604800.0), "month": ("time", 2629800.0), "year": ("time", 31557600.0),
    "decade": ("time", 315576000.0), "mm": ("length", 0.001), "cm": ("length", 0.01), "m": ("length", 1.0),
    "km": ("length", 1000.0), "inch": ("length", 0.0254), "ft": ("length", 0.3048), "mi": ("length", 1609.344),
    "mg": ("mass", 1e-6), "g": ("mass", 0.001), "kg": ("mass", 1.0), "t": ("mass", 1000.0), "lb": ("mass", 0.45359),
    "ml": ("volume", 0.001), "l": ("volume", 1.0), "kb": ("data", 1e3), "mb": ("data", 1e6), "gb": ("data", 1e9),
    "tb": ("data", 1e12),
}  # fmt: skip
"""What a unit measures, and how much of the base unit it is."""
_LONG = frozenset({"month", "year", "decade"})
"""Units of time that have no fixed number of days."""
_NAMED = frozenset({"month name", "clock", "code", "century", "quarter"})
"""What stands in the place of a unit and is compared with its like only."""
_LOOSE = 0.015
"""Share by which converted units may differ: a month may have 30 days."""
_ABOUT = frozenset(
    [
        "about",
        "around",
        "approximately",
        "approx",
        "roughly",
        "nearly",
        "almost",
        "over",
        "under",
        "some",
        "circa",
        "ca",
        "rund",
        "etwa",
        "fast",
        "knapp",
        "mehr",
        "more",
        "than",
        "less",
        "ungefähr",
        "up",
        "to",
        "least",
        "most",
    ]
)
_STUCK = re.compile(r"(\d+(?:[.,]\d+)?)([^\W\d_]{1,3})")
_YEAR = re.compile(r"(?:[a-z]+-|FY)(\d{4})")
_QUARTER = re.compile(r"(?:Q([1-4])|([1-4])Q)", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:[-–—/,]|to|and|or|through|bis|und|oder)\s*(?:[$€£])?", re.IGNORECASE)
_LASTS = frozenset(
    [
        "for",
        "in",
        "within",
        "after",
        "than",
        "about",
        "around",
        "least",
        "most",
        "to",
        "last",
        "lasts",
        "lasted",
        "take",
        "takes",
        "took",
        "over",
        "under",
        "nearly",
        "almost",
    ]
)
"""Words before "a year" if it is a duration; "two days a year" is a rate."""
_BARE = 100
"""From here on a number without a unit may have the unit that a sentence gives it."""
_SMALL = 12
"""Counts up to here may be counted by the writer."""
_OPERANDS = 40
_THUS = r"so|thus|hence|therefore|also|somit|in all|altogether|overall|insgesamt|total\w*"
_MOVED = (
    r"differen\w+|increas\w+|decreas\w+|gr[eo]w\w*|rose|risen|rises?|fell|fallen|dropp\w+|declin\w+|gain\w*|growth|up(?! to)|down|by"
    r"|unterschied|differenz|um"
)
_CUES = {
    name: re.compile(rf"\b(?:{words})\b|{signs}", re.IGNORECASE)
    for name, words, signs in (
        ("sum", rf"{_THUS}|sum\w*|combined|together|both|plus|zusammen|summe", r"[=+]"),
        (
            "difference",
            rf"{_THUS}|{_MOVED}|remain\w+|left|gap|margin",
            r"=|\d\s?%?\s(?:\w+\s){0,2}(?:more|less|fewer|lower|higher|larger|smaller|longer|shorter|earlier|later|mehr|weniger)\b",
        ),
        ("mean", r"averag\w+|mean|durchschnitt\w*|schnitt", r"Ø"),
        ("product", rf"{_THUS}|times|each|twice|per|je|pro", r"[=×]"),
        (
            "ratio",
            rf"{_THUS}|{_MOVED}|times|twice|double\w*|tripled?|share|ratio|margin|(?<=% )of|(?<=percent )of|quote|anteil",
            r"=",
        ),
    )
}
"""What says that a figure was calculated, by the operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: its readings (1.000 has two), its unit or kind, and half of its last digit.

    ``unit`` is a unit of the lexicon, a currency, "%", or "month name", "clock", "ordinal", "code"; "" for a bare number.
    """

    span: Span
    shown: str
    values: tuple[float, ...]
    unit: str = ""
    step: float = 0.0
    counted: bool = False
    in_cell: bool = False

    @property
    def measure(self) -> str:
        """What the figure measures: a dimension, or the unit itself."""
        return _BASE[self.unit][0] if self.unit in _BASE else self.unit

    def base(self) -> Iterator[float]:
        """Yield the readings in the base unit."""
        factor = _BASE[self.unit][1] if self.unit in _BASE else 1.0
        return (value * factor for value in self.values)


@lru_cache(maxsize=512)
def figures(text: str) -> tuple[Figure, ...]:
    """Return the figures of a text, in order."""
    found: list[Figure] = []
    tokens = list(_TOKEN.finditer(text))
    place = 0
    while place < len(tokens):
        figure, used = _figure(text, tokens, place)
        if figure:
            found += figure
        place += max(used, 1)
    return tuple(_shared_units(text, found))


def _shared_units(text: str, found: Sequence[Figure]) -> list[Figure]:
    """Return the figures with the units that ranges and lists write only once: "5 to 40 °C"."""
    out = list(found)
    for place in range(len(out) - 2, -1, -1):
        one, after = out[place], out[place + 1]
        between = text[one.span.end : after.span.start]
        if not one.unit and after.unit and after.unit not in _NAMED and _RANGE.fullmatch(between):
            by = _factor_of_words(after)
            out[place] = replace(
                one, unit=after.unit, values=(*one.values, *(value * by for value in one.values if by > 1))
            )
    return out


def _factor_of_words(one: Figure) -> float:
    """Return what a word such as "million" in a figure multiplies by."""
    return next((by for word in re.findall(r"[^\W\d_]+", one.shown) if (by := _SCALES.get(plain(word), 1.0)) > 1), 1.0)


@lru_cache(maxsize=256)
def scales(text: str) -> tuple[float, ...]:
    """Return by what the bare figures of a passage may have to be multiplied: 1, and what its tables say."""
    named = {str(one[one.lastgroup or 0]).lower().rstrip("s") for one in _TABLE_SCALE.finditer(text)}
    return (1.0, *{_SCALES.get(name, 1e3) for name in named})


def same(own: Figure, other: Figure) -> bool:
    """Return whether ``other`` says what ``own`` says."""
    if own.unit == other.unit == "code":
        return own.shown == other.shown
    if own.unit == "century" and other.unit in ("", "century"):
        last = 100 * own.values[0]
        return own.values == other.values or any(last - 100 < year <= last for year in other.values)
    if own.measure != other.measure and not _NAMED.isdisjoint((own.unit, other.unit)):
        return False
    step = own.step
    if own.measure == other.measure:
        loose = own.unit != other.unit and (own.measure != "time" or (own.unit in _LONG) != (other.unit in _LONG))
        step *= _factor(own)
        return any(_near(mine, theirs, step, loose=loose) for mine in own.base() for theirs in other.base())
    if {own.unit, other.unit} == {"%", ""}:
        by = 100.0 if own.unit == "%" else 0.01
        if any(_near(mine, theirs * by, step) for mine in own.values for theirs in other.values if theirs * by <= 100):
            return True
    if own.unit and other.unit and "ordinal" not in (own.unit, other.unit):
        return False
    if own.unit and not other.unit and not other.in_cell and other.values[0] < _BARE:
        return False
    return any(_near(mine, theirs, step) for mine in own.values for theirs in other.values)


def derived(own: Figure, sentence: str, operands: Sequence[Figure]) -> bool:
    """Return whether a figure follows from others by one step, and the sentence reads as if it did.

    The step is a sum, a difference, a mean, a product, a ratio or a change in percent.
    """
    cues = {name for name, cue in _CUES.items() if cue.search(sentence)}
    if own.unit in _NAMED or not cues:
        return False
    some = list({(one.values, one.unit): one for one in operands if one.values and one.unit not in _NAMED}.values())
    some = some[:_OPERANDS]
    step = own.step * _factor(own)
    terms = [(value, one) for one in some if one.measure in (own.measure, "") for value in one.base()]
    results: list[float] = []
    for (a, _), (b, _) in combinations(terms, 2):
        results += [*([a + b] if "sum" in cues else ()), *([abs(a - b)] if "difference" in cues else ())]
        results += [(a + b) / 2] if "mean" in cues else []
    if "sum" in cues:
        alike = [value for value, _ in terms]
        results += [sum(alike[at : at + size]) for size in (3, 4, 5) for at in range(len(alike) - size + 1)]
    if any(_near(goal, one, step) for goal in own.base() for one in results):
        return True
    plain_results: list[float] = []
    for one, other in combinations(some, 2):
        for a, b in ((x, y) for x in one.values for y in other.values if x and y):
            if "product" in cues and one.unit != other.unit and own.measure in (one.measure, other.measure):
                plain_results.append(a * b)
            if "ratio" in cues and one.measure == other.measure and own.measure in ("", "%"):
                by = 100.0 if own.unit == "%" else 1.0
                plain_results += [by * a / b, by * b / a, by * abs(a - b) / abs(b), by * abs(a - b) / abs(a)]
    return any(_near(goal, one, own.step) for goal in own.values for one in plain_results)


def _near(mine: float, theirs: float, step: float, *, loose: bool = False) -> bool:
    most = max(step, 1e-6 * abs(mine), (_LOOSE * abs(mine)) if loose else 0.0)
    return abs(mine - theirs) <= most * (1 + 1e-6)


def _factor(own: Figure) -> float:
    return _BASE[own.unit][1] if own.unit in _BASE else 1.0


def _figure(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    """Return the figures that begin with a token, and how many tokens they take."""
    token = tokens[place]
    span, shown = Span(start=token.start(), end=token.end()), token.group()
    if token["iso"] or token["dotted"]:
        return _date(shown, span), 1
    if token["clock"]:
        return [Figure(span=span, shown=shown, values=(_minutes(shown, token["half"]),), unit="clock")], 1
    if token["decade"]:
        return [Figure(span=span, shown=shown, values=tuple(float(shown) + n for n in range(10)))], 1
    if token["code"]:
        return [_code(span, shown)], 1
    if token["digits"]:
        return _numeral(text, tokens, place)
    return _worded(text, tokens, place)


def _code(span: Span, shown: str) -> Figure:
    """Read what mixes letters and digits: "25kg", "3bn", "FY2023", "Q3", "mid-2019", or a name such as "COVID-19"."""
    if stuck := _STUCK.fullmatch(shown):
        values, step = _readings(stuck[1])
        unit, by = lexicon().unit(stuck[2].lower()), _SCALES.get(stuck[2].lower())
        if unit or by or stuck[2].lower() == "x":
            values = tuple(value * (1.0 if unit else by or 1.0) for value in values)
            return Figure(span=span, shown=shown, values=values, unit=unit, step=step * (1.0 if unit else by or 1.0))
    if year := _YEAR.fullmatch(shown):
        return Figure(span=span, shown=shown, values=(float(year[1]),))
    if quarter := _QUARTER.fullmatch(shown):
        return Figure(span=span, shown=shown, values=(float(quarter[1] or quarter[2]),), unit="quarter")
    return Figure(span=span, shown=re.sub(r"\W", "", shown).lower(), values=(), unit="code")


def _numeral(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    token = tokens[place]
    values, step = _readings(token["digits"])
    unit = currency_of(token["money"]) if token["money"] else "ordinal" if token["ending"] else ""
    by, used, end = 1.0, 1, token.end()
    after = _next(tokens, place + used, end, text)
    if after and (scale := _SCALES.get(plain(after.group()))) and (unit or len(after.group()) > 2):
        by, used, end = scale, used + 1, after.end()
    sign = re.match(r"\.?\s?(%|°\s?[CF]?)", text[end:])
    after = _next(tokens, place + used, end, text)
    if sign:
        unit, end = ("%" if sign[1] == "%" else f"°{sign[1][1:].strip().lower()}"), end + sign.end()
        used += bool(after and after.start() < end)
    elif after and token["ending"] and plain(after.group()) in lexicon().centuries:
        unit, used, end = "century", used + 1, after.end()
    elif after and not token["ending"] and (measured := _measured(text, tokens, place + used)):
        named, used, end = measured[0], used + measured[1], tokens[place + used + measured[1] - 1].end()
        unit = unit or named
        if cent := re.match(r"\s?cent\b", text[end:]) if named == "%" and plain(after.group()) == "per" else None:
            used, end = used + 1, end + cent.end()
    about = any(plain(word.group()) in _ABOUT for word in tokens[max(0, place - 2) : place])
    shown = text[token.start() : end].strip()
    return [
        Figure(
            span=Span(start=token.start(), end=end),
            shown=shown,
            values=tuple(value * by for value in values),
            unit=unit,
            step=(max(2 * step, 0.05 * values[0] if _digits(token["digits"]) <= 2 else 0.0) if about else step) * by,
            counted=not unit and by == 1 and max(values) <= _SMALL,
        )
    ], used


def _worded(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    """Read a number in words, or the name of a month next to a number."""
    lists, token = lexicon(), tokens[place]
    lower = plain(token.group())
    if lower in ("a", "an", "one", "half"):
        return _single(text, tokens, place)
    if lower in lists.ordinals and (after := _next(tokens, place + 1, token.end(), text)):
        if plain(after.group()).startswith(lists.quarters):
            span = Span(start=token.start(), end=after.end())
            return [Figure(span=span, shown=span.of(text), values=(float(lists.ordinals[lower]),), unit="quarter")], 2
    total = current = 0.0
    used = 0
    while place + used < len(tokens):
        one = tokens[place + used]
        word = plain(one.group())
        between = text[tokens[place + used - 1].end() : one.start()] if used else ""
        if (used and between.strip(" -") != "") or (word == "and" and not used):
            break
        if word == "and" and current >= 100 and place + used + 1 < len(tokens):
            if plain(tokens[place + used + 1].group()) not in lists.numbers:
                break
            used += 1
            continue
        value = lists.numbers.get(word) or {"dozen": "12", "one": "1" if used else None}.get(word)
        if value is None:
            break
        if float(value) == 100 and current:
            current *= 100
        elif float(value) >= 1000 and current:
            total, current = total + current * float(value), 0.0
        elif used and current and not ((current >= 20 and current % 10 == 0 and float(value) < 10) or current >= 100):
            break
        else:
            current += float(value)
        used += 1
    if used:
        end = tokens[place + used - 1].end()
        unit = ""
        if measured := _measured(text, tokens, place + used):
            unit, used = measured[0], used + measured[1]
            end = tokens[place + used - 1].end()
        value = total + current
        span = Span(start=token.start(), end=end)
        return [
            Figure(span=span, shown=span.of(text), values=(value,), unit=unit, counted=not unit and value <= _SMALL)
        ], used
    if (month := lists.months.get(lower)) and _is_month(text, tokens, place):
        value = float(month.removeprefix("month "))
        span = Span(start=token.start(), end=token.end())
        return [Figure(span=span, shown=token.group(), values=(value,), unit="month name")], 1
    return [], 1


def _single(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    """Read "a year", "half a year", "a third", "a dozen"; "one" and "a" alone are no figures."""
    token, value, used = tokens[place], 1.0, 1
    if plain(token.group()) == "half":
        value = 0.5
        after = _next(tokens, place + 1, token.end(), text)
        if after and plain(after.group()) in ("a", "an"):
            used = 2
    after = _next(tokens, place + used, tokens[place + used - 1].end(), text)
    unit = _unit(text, after) if after else ""
    if after and (scale := _SCALES.get(plain(after.group()))) and len(after.group()) > 3:
        span = Span(start=token.start(), end=after.end())
        return [Figure(span=span, shown=span.of(text), values=(value * scale,), step=0.0)], used + 1
    if after and plain(after.group()) == "dozen":
        span = Span(start=token.start(), end=after.end())
        return [Figure(span=span, shown=span.of(text), values=(12.0,), counted=True)], used + 1
    before = plain(tokens[place - 1].group()) if place else ""
    if unit in _BASE and _BASE[unit][0] == "time" and after and (value < 1 or before in _LASTS):
        span = Span(start=token.start(), end=after.end())
        return [Figure(span=span, shown=span.of(text), values=(value,), unit=unit, counted=True)], used + 1
    return [], 1


def _is_month(text: str, tokens: Sequence[re.Match[str]], place: int) -> bool:
    """Return whether a name of a month is one: it has a capital, and "may" and "march" a number beside it."""
    token = tokens[place]
    beside = [tokens[i] for i in (place - 1, place + 1) if 0 <= i < len(tokens)]
    if any(one["digits"] for one in beside):
        return True
    return token.group()[:1].isupper() and token.group().lower() not in ("may", "march", "mar", "sun", "mai")


def _next(tokens: Sequence[re.Match[str]], place: int, end: int, text: str) -> re.Match[str] | None:
    """Return the word that follows closely."""
    if place >= len(tokens) or not tokens[place]["word"]:
        return None
    return tokens[place] if re.fullmatch(r"[\s\-\u00a0\u202f]{0,2}", text[end : tokens[place].start()]) else None


def _measured(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[str, int] | None:
    """Return the unit that follows, and how many words it takes: "days", or "working days"."""
    after = _next(tokens, place, tokens[place - 1].end(), text)
    if after is None:
        return None
    if unit := _unit(text, after):
        return unit, 1
    second = _next(tokens, place + 1, after.end(), text)
    if second is None or plain(after.group()) in lexicon().stop or not after.group().islower():
        return None
    unit = lexicon().unit(plain(second.group()))
    return (unit, 2) if _BASE.get(unit, ("",))[0] == "time" else None


def _unit(text: str, token: re.Match[str]) -> str:
    word = plain(token.group())
    unit = lexicon().unit(word)
    if unit == "percent":
        return "%"
    currency = currency_of(token.group())
    if currency and word not in ("pound", "pounds", "cent", "cents"):
        return currency
    if word == "per" and re.match(r"\s?cent\b", text[token.end() :]):
        return "%"
    return {"dollar": "usd", "euro": "eur"}.get(unit, unit)


def _readings(digits: str) -> tuple[tuple[float, ...], float]:
    """Return the values that digits may stand for, and half of the last digit that counts."""
    plain_digits = re.sub(r"['’\u00a0\u202f ]", "", digits)
    out: list[float] = []
    if _GROUPED.fullmatch(digits):
        out.append(float(re.sub(r"\D", "", digits)))
        marks = re.findall(r"[.,]", plain_digits)
        if len(marks) == 1 and len(plain_digits) <= 7 and marks[0] == ".":
            out.append(float(plain_digits))
    else:
        whole, _, part = plain_digits.replace(",", ".").rpartition(".")
        out.append(float(f"{whole.replace('.', '')}.{part}" if whole or plain_digits.startswith(".") else part))
    value = out[0]
    if value == int(value):
        zeros = len(str(int(value))) - len(str(int(value)).rstrip("0")) if value else 0
        return tuple(out), max(0.5, min(0.5 * 10**zeros, 0.02 * value)) if zeros >= 2 else 0.5
    decimals = len(f"{value:.10f}".rstrip("0").partition(".")[2])
    return tuple(out), 0.5 * 10**-decimals


def _digits(shown: str) -> int:
    """Return how many digits count."""
    return len(re.sub(r"\D", "", shown).strip("0"))


def _date(shown: str, span: Span) -> list[Figure]:
    parts = [float(part) for part in re.findall(r"\d+", shown)]
    day, month, *year = parts[::-1] if "-" in shown else parts
    if month > 12:
        day, month = month, day
    return [
        Figure(span=span, shown=shown, values=(day,)),
        Figure(span=span, shown=shown, values=(month,), unit="month name"),
        *(Figure(span=span, shown=shown, values=(one,)) for one in year),
    ]


def _minutes(shown: str, half: str | None) -> float:
    hours, *rest = (int(part) for part in re.findall(r"\d+", shown))
    late = bool(re.search(r"p\.?m", shown, re.IGNORECASE))
    return float(
        (hours % 12 + 12 * late if late or half or re.search(r"a\.?m", shown, re.I) else hours) * 60
        + (rest[0] if rest else 0)
    )
