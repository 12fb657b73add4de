"""How texts say in what the figures of a table are: "(in millions, except per share data)", "TEUR", "Mio. €"."""

from __future__ import annotations

import re
from functools import cache

from ragstone.language.money import MARK, SIGN
from ragstone.language.words import any_of, lexicon, written_in


def unit_of(text: str) -> str:
    """Return the words that give the unit of the figures, such as "in millions"; empty if there are none."""
    match = _unit().search(text)
    if not match:
        return ""
    scale = _plural().search(match[0])
    return f"in {scale[1].lower()}s" if scale else match[0]


def is_unit_line(text: str) -> bool:
    """Return whether a line only gives the unit of the figures."""
    return _line().fullmatch(text) is not None


def factors_in(text: str) -> set[str]:
    """Return the words, letters and zeros by which a text says that its figures are to be multiplied, in lower case."""
    return {str(found[found.lastgroup or 0]).lower() for found in _factor().finditer(text)}


@cache
def _unit() -> re.Pattern[str]:
    words = lexicon().table_words
    before, inside, names = any_of((*words["quantities"], *words["in"])), any_of(words["in"]), _names()
    return re.compile(
        rf"\b(?:(?:{before})\b[^()|;]{{0,40}}?\b(?:{lexicon().large})\b(?:\.? ?{MARK})?"
        rf"|(?:{inside}) (?:US )?(?:{names})\b)"
        rf"|\b(?:{lexicon().large})\.? ?{MARK}|{MARK} ?(?:{lexicon().large}|k|m)\b",
        re.IGNORECASE,
    )


@cache
def _plural() -> re.Pattern[str]:
    """Return a pattern of the English words for large numbers that are written out."""
    scales = written_in("en").scales
    return re.compile(rf"\b({any_of(word for word in scales if f'{word}s' in scales)})s?\b", re.IGNORECASE)


@cache
def _line() -> re.Pattern[str]:
    words = lexicon().table_words
    quantities, stated, inside = (any_of(words[name]) for name in ("quantities", "stated", "in"))
    of, units, unaudited = any_of(lexicon().layout["of"]), any_of(words["units"]), any_of(words["unaudited"])
    return re.compile(
        rf"\(?\s*(?:(?:{quantities})\s)?(?:(?:{stated})\s){{0,2}}(?:{MARK}\s)?(?:U\.?S\.? dollars? )?(?:{inside})\s+"
        rf"(?:[\w.{SIGN[1:]}+\s+)?(?:(?:{of})\s+)?(?:{lexicon().large}|{_names()}|{MARK}|{units})[^|]{{0,120}}"
        rf"|\(?\s*(?:{unaudited})\s*\)?",
        re.IGNORECASE,
    )


@cache
def _factor() -> re.Pattern[str]:
    inside, large, names = any_of(lexicon().table_words["in"]), lexicon().large, _names()
    return re.compile(
        rf"\b(?:{inside})\s+(?:{MARK}\s?|US\s?dollars?\s+|(?:{names})\s+)?(?P<word>{large})\b"
        rf"|\b(?P<thousand>T(?:EUR|€))|(?:[A-Z]{{3}}|{SIGN})\s?(?P<letter>{large}|[km])\b"
        rf"|[(,]\s*(?:(?:{inside})\s+)?{MARK}?\s*(?P<short>{large}|000s?|[mk])\.?\s*(?:{MARK}|{names})?\s*[),]",
        re.IGNORECASE,
    )


@cache
def _names() -> str:
    return any_of(lexicon().currencies)
