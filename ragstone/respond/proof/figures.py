"""Read the figures of a text, in digits and in words, with their units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from ragstone.core.records import Span
from ragstone.language import lexicon, plain
from ragstone.language.days import Day, days_in, days_in_figures
from ragstone.language.money import MARK, SIGN, currency_of
from ragstone.language.words import any_of
from ragstone.respond.proof.figure import BASE, DATE, DEGREES, HALF_DAY, NAMED, Figure, is_year

_TOKEN = re.compile(
    r"""
      (?P<plain>(?>[^\W\d_]+)(?!SIGN|[-_.]?\s?\.?\d))
    | (?P<iso>\b\d{4}-\d{2}-\d{2}\b) | (?P<dotted>\b\d{1,2}(?:[./]\d{1,2}[./]\d{4}\b|\.(?:0[1-9]|1[0-2])\.(?!\d)))
    | (?P<clock>\b\d{1,2}(?:\s?:\s?\d{2}(?:\s?[ap]\.?m\b)?|(?:\.\d{2})?\s?(?:[ap]\.?m\b|uhr\b|o'clock\b)))
    | (?P<decade>\b\d{3}0(?=['’]?s\b))
    | (?P<code>\b(?!MARK\d)(?:[^\W\d_]+[-_.]?\d(?:[\w.]*\w)?|\d+(?!(?:st|nd|rd|th)\b)[^\W\d_][\w]*|\d+(?:\.\d+){2,})\b)
    | (?P<money>MARK\s?)?
      (?P<digits>\d{1,3}(?:(?:[.,'’\u00a0\u202f ]|\{,\})\d{3})+(?:[.,]\d+)?(?![\d])|\d+(?:[.,]\d+)?|(?<![\d.])\.\d+)
      (?P<ending>(?:st|nd|rd|th)\b)?
    | (?P<word>[^\W\d_]+)
    """.replace("MARK", MARK).replace("SIGN", SIGN),
    re.VERBOSE | re.IGNORECASE,
)
_WORDS = ("plain", "word")
"""The groups of `_TOKEN` that are words. Most are plain: nothing behind them may make them a part of a figure."""
_GROUPED = re.compile(r"\d{1,3}(?:(?:[.,'’\u00a0\u202f ]|\{,\})\d{3})+")
_LETTERS = {"k": 1e3, "m": 1e6, "mm": 1e6, "b": 1e9}
"""Letters after an amount of money that multiply it."""
_STUCK = re.compile(r"(\d+(?:[.,]\d+)?)([^\W\d_]{1,3})")
_FORMULA = "$"
"""The sign around a formula."""
_SIGN_BEHIND = re.compile(rf"\.?(?:\s|\\,)?\\?(%|°\s?[CF]?|{SIGN})")
_YEAR = re.compile(r"(?:[a-z]+-|FY)(\d{4})(s?)")
_QUARTER = re.compile(r"(?:Q([1-4])|([1-4])Q)", re.IGNORECASE)
_SMALL = 12
"""Counts up to here may be counted by the writer."""
_LAST_DAY = 31
_NOUN_BEHIND = re.compile(r"\s+([^\W\d_]+)")


@lru_cache(maxsize=512)
def figures(text: str) -> tuple[Figure, ...]:
    """Return the figures of a text, in order."""
    out: list[Figure] = []
    tokens, place, beginnings = list(_TOKEN.finditer(text)), 0, _beginnings()
    days = {day.span.start: day for day in days_in_figures(text)}
    while place < len(tokens):
        if day := days.get(tokens[place].start()):
            out += _of_day(day.span, day.span.of(text), day.day, day.month, *([day.year] if day.year else []))
            place = next((n for n in range(place, len(tokens)) if tokens[n].start() >= day.span.end), len(tokens))
            continue
        if tokens[place].lastgroup in _WORDS and plain(tokens[place].group()) not in beginnings:
            place += 1
            continue
        some, used = _figure(text, tokens, place)
        out += some
        place += max(used, 1)
    return tuple(_shared_units(text, _dated(text, out)))


def _dated(text: str, found: Sequence[Figure]) -> Sequence[Figure]:
    """Return the figures with the numbers of days beside their month as such."""
    if not any(one.unit == "month name" for one in found):
        return found
    days = [day for day in days_in(text) if not _counts_things(text, day)]
    return [
        replace(one, unit=DATE)
        if one.unit in ("", "ordinal")
        and any(day.span.start <= one.span.start < day.span.end and one.values == (day.day,) for day in days)
        else one
        for one in found
    ]


def _counts_things(text: str, day: Day) -> bool:
    """Return whether the number of a day after its month may count the things behind it: "in October 12 bookings"."""
    after = _NOUN_BEHIND.match(text, day.span.end) if not day.year and text[day.span.end - 1].isdigit() else None
    return after is not None and plain(after[1]) not in lexicon().stop


def _shared_units(text: str, found: Sequence[Figure]) -> list[Figure]:
    """Return the figures with what ranges and lists write only once: "5 to 40 °C", "$25–30 million"."""
    out = list(found)
    for place in range(len(out) - 2, -1, -1):
        first, after = out[place], out[place + 1]
        if not _range().fullmatch(text[first.span.end : after.span.start]):
            continue
        if not first.unit and after.unit in ("", "clock"):  # "open from 9 to 17", "9 bis 17 Uhr"
            out[place] = first = replace(first, hour=True)
            out[place + 1] = after = replace(after, hour=True)
        if after.unit == DATE and not first.unit and 1 <= first.values[0] <= _LAST_DAY:  # "3 to 10 May"
            out[place] = replace(first, unit=DATE)
        if {first.unit, after.unit} & NAMED:
            continue
        if is_year(first) and after.unit:
            continue  # "from $66,000 in 2025 to $206,000"
        if after.scale != first.scale == 1:
            values = (*first.values, *(value * after.scale for value in first.values))
            scale = first.scale if is_year(first) else after.scale  # "in 2024, 2.3 million more"
            first = replace(first, values=values, scale=scale)
        unit = first.unit or after.unit
        out[place] = replace(first, unit=unit, counted=first.counted and not unit)
        out[place + 1] = replace(after, unit=after.unit or (unit if unit not in BASE else ""))
    return out


def _figure(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    """Return the figures that begin with a token, and how many tokens they take."""
    token = tokens[place]
    span, shown = Span(start=token.start(), end=token.end()), token.group()
    if token["iso"] or token["dotted"]:
        return _date(shown, span), 1
    if token["clock"]:
        return [Figure(span=span, shown=shown, values=(_minutes(shown),), unit="clock")], 1
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
        unit, by = lexicon().unit(stuck[2].lower()), scale(stuck[2], money=True)
        if unit or by or stuck[2].lower() == "x":
            by = 1.0 if unit else by or 1.0
            return Figure(span=span, shown=shown, values=tuple(v * by for v in values), unit=unit, step=step * by)
    if year := _YEAR.fullmatch(shown):
        return Figure(span=span, shown=shown, values=tuple(float(year[1]) + n for n in range(10 if year[2] else 1)))
    if quarter := _QUARTER.fullmatch(shown):
        return Figure(span=span, shown=shown, values=(float(quarter[1] or quarter[2]),), unit="quarter")
    return Figure(span=span, shown=shown, values=(), unit="code")


def _numeral(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    token = tokens[place]
    values, step = _readings(token["digits"])
    unit = currency_of(token["money"]) if token["money"] else "ordinal" if token["ending"] else ""
    by, used, end = 1.0, 1, token.end()
    after = _next(tokens, place + used, end, text)
    if after and (by_word := scale(after.group(), money=bool(unit))):
        by, used, end = by_word, used + 1, after.end()
    sign = _SIGN_BEHIND.match(text, end)
    if text.startswith(_FORMULA, end) and text.count(_FORMULA, 0, end) % 2:
        unit, sign = "", None  # the end of a formula
    after = _next(tokens, place + used, end, text)
    if sign:
        degrees = f"°{sign[1][1:].strip().lower()}" if sign[1].startswith("°") else ""
        unit, end = degrees or currency_of(sign[1]) or "%", sign.end()
        used += bool(after and after.start() < end)
    elif after and token["ending"] and plain(after.group()) in lexicon().centuries:
        unit, used, end = "century", used + 1, after.end()
    elif after and not token["ending"] and (measured := _measured(text, tokens, place + used)):
        named, used, end = measured[0], used + measured[1], tokens[place + used + measured[1] - 1].end()
        unit = unit or named
        if cent := re.match(r"\s?cent\b", text[end:]) if named == "%" and plain(after.group()) == "per" else None:
            used, end = used + 1, end + cent.end()
    rough = _is_rough(tokens, place)
    loose = rough or any(plain(word.group()) in lexicon().bounds for word in tokens[max(0, place - 2) : place])
    shown = text[token.start() : end].strip()
    return [
        Figure(
            span=Span(start=token.start(), end=end),
            shown=shown,
            values=tuple(value * by for value in values),
            unit=unit,
            step=(max(2 * step, 0.05 * values[0] if _digits(token["digits"]) <= 2 else 0.0) if loose else step) * by,
            counted=not unit and by == 1 and max(values) <= _SMALL,
            rough=rough and _digits(token["digits"]) <= 2,
            scale=by,
        )
    ], used


@cache
def _beginnings() -> frozenset[str]:
    """Return the words with which a figure may begin; most words are none of them."""
    lists = lexicon()
    return frozenset((*lists.ones, *lists.halves, *lists.ordinals, *lists.numbers, *lists.months, "dozen"))


def _worded(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    """Read a number in words, or the name of a month next to a number."""
    lists, token = lexicon(), tokens[place]
    lower = plain(token.group())
    if lower in lists.ones or lower in lists.halves:
        return _single(text, tokens, place)
    after = _next(tokens, place + 1, token.end(), text) if lower in lists.ordinals else None
    if after and plain(after.group()).startswith(lists.quarters):
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
        if value is None or (not used and float(value) >= 100):  # "several hundred" is no figure
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
            Figure(
                span=span,
                shown=span.of(text),
                values=(value,),
                unit=unit,
                counted=not unit and value <= _SMALL,
                rough=_is_rough(tokens, place),
            )
        ], used
    if (month := lists.months.get(lower)) and _is_month(tokens, place):
        value = float(month.removeprefix("month "))
        span = Span(start=token.start(), end=token.end())
        return [Figure(span=span, shown=token.group(), values=(value,), unit="month name")], 1
    return [], 1


def _single(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[list[Figure], int]:
    """Read "a year", "half a year", "a third", "a dozen"; "one" and "a" alone are no figures."""
    token, value, used = tokens[place], 1.0, 1
    if plain(token.group()) in lexicon().halves:
        value = 0.5
        after = _next(tokens, place + 1, token.end(), text)
        if after and plain(after.group()) in lexicon().ones:
            used = 2
    after = _next(tokens, place + used, tokens[place + used - 1].end(), text)
    unit = _unit(text, after) if after else ""
    if after and (by_word := scale(after.group())):
        span = Span(start=token.start(), end=after.end())
        return [Figure(span=span, shown=span.of(text), values=(value * by_word,), step=0.0)], used + 1
    if after and plain(after.group()) == "dozen":
        span = Span(start=token.start(), end=after.end())
        return [Figure(span=span, shown=span.of(text), values=(12.0,), counted=True)], used + 1
    before = plain(tokens[place - 1].group()) if place else ""
    if after and (more := re.match(r"\s+(?:and a half|und ein halbes?)\b", text[after.end() :])):
        span = Span(start=token.start(), end=after.end() + more.end())
        return [Figure(span=span, shown=span.of(text), values=(value + 0.5,), unit=unit)], used + 4
    if unit in BASE and BASE[unit][0] == "time" and after and (value < 1 or before in lexicon().lasts):
        span = Span(start=token.start(), end=after.end())
        return [Figure(span=span, shown=span.of(text), values=(value,), unit=unit, counted=True)], used + 1
    return [], 1


def _is_rough(tokens: Sequence[re.Match[str]], place: int) -> bool:
    """Return whether a word such as "about" before a number makes it an estimate."""
    return any(plain(word.group()) in lexicon().about for word in tokens[max(0, place - 2) : place])


def _is_month(tokens: Sequence[re.Match[str]], place: int) -> bool:
    """Return whether a name of a month is one: it has a capital, and "May" a number beside it or "in" before it."""
    token = tokens[place]
    beside = [tokens[i] for i in (place - 1, place + 1) if 0 <= i < len(tokens)]
    if any(one["digits"] for one in beside):
        return True
    follows = place > 0 and plain(tokens[place - 1].group()) in lexicon().links
    return token.group()[:1].isupper() and (follows or token.group().lower() not in lexicon().month_like)


def _next(tokens: Sequence[re.Match[str]], place: int, end: int, text: str) -> re.Match[str] | None:
    """Return the word that follows closely."""
    if place >= len(tokens) or tokens[place].lastgroup not in _WORDS:
        return None
    return tokens[place] if re.fullmatch(r"[\s\-\u00a0\u202f]{0,3}", text[end : tokens[place].start()]) else None


def _measured(text: str, tokens: Sequence[re.Match[str]], place: int) -> tuple[str, int] | None:
    """Return the unit that follows, and how many words it takes: "days", or "working days"."""
    after = _next(tokens, place, tokens[place - 1].end(), text)
    if after is None:
        return None
    unit, second = _unit(text, after), _next(tokens, place + 1, after.end(), text)
    if unit == DEGREES and second and (scaled := _unit(text, second)).startswith(DEGREES):
        return scaled, 2
    if unit:
        return unit, 1
    if second is None or plain(after.group()) in lexicon().stop or not after.group().islower():
        return None
    unit = lexicon().unit(plain(second.group()))
    return (unit, 2) if BASE.get(unit, ("",))[0] == "time" else None


def _unit(text: str, token: re.Match[str]) -> str:
    word = plain(token.group())
    unit = lexicon().unit(word)
    if unit == "percent":
        return "%"
    if word == "per" and re.match(r"\s?cent\b", text[token.end() :]):
        return "%"
    return unit or currency_of(token.group())


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
    if len(out) > 1:
        return tuple(out), 0.0
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
    return _of_day(span, shown, day, month, *year)


def _of_day(span: Span, shown: str, day: float, month: float, *year: float) -> list[Figure]:
    return [
        Figure(span=span, shown=shown, values=(day,), unit=DATE),
        Figure(span=span, shown=shown, values=(month,), unit="month name"),
        *(Figure(span=span, shown=shown, values=(one,)) for one in year),
    ]


def _minutes(shown: str) -> float:
    hour, *rest = (int(part) for part in re.findall(r"\d+", shown))
    if half := HALF_DAY.search(shown):
        hour = hour % 12 + 12 * (half[0][0].lower() == "p")
    return float(hour * 60 + (rest[0] if rest else 0))


def scale(word: str, *, money: bool = False) -> float:
    """Return what a word multiplies a number by; 0 if it does not."""
    lower = plain(word)
    return lexicon().scales.get(lower) or (_LETTERS.get(lower, 0.0) if money else 0.0)


@cache
def _range() -> re.Pattern[str]:
    """Return a pattern of what stands between two figures that share a unit: "5 to 40 °C"."""
    return re.compile(rf"\s*(?:[-–—/,]|{any_of(lexicon().range)})\s*(?:{MARK}\s?)?", re.IGNORECASE)
