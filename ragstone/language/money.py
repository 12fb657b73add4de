"""What an amount of money looks like: the signs and codes of currencies, and their names in all languages."""

from __future__ import annotations

import re
from functools import cache

from ragstone.language.words import any_of, lexicon, plain

_CODES_OF_SIGNS = {
    "$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr", "₩": "krw", "₽": "rub", "₺": "try", "₫": "vnd",
    "₴": "uah", "₪": "ils", "฿": "thb", "₱": "php", "¢": "cent", "rs": "inr", "rs.": "inr", "rm": "myr",
}  # fmt: skip
_CODES = "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|SEK|NOK|DKK|PLN|CZK|HUF|MYR|SGD|HKD|INR|KRW|ZAR|BRL|MXN|THB|IDR|AED|RM"
_WORDS = "TRY|Rs"
"""Codes that are words, too, if they are written otherwise."""
SIGN = r"[$€£¥₹₩₽₺₫₴₪฿₱¢]"
"""A pattern of the sign of a currency."""
MARK = rf"(?:(?:US|CA|C|AU|A|HK|NZ|S|R|NT)?{SIGN}|(?<![^\W\d_])(?:{_CODES}|{_WORDS})(?![^\W\d_])\.?)"
"""A pattern of the sign or the code of a currency, as it stands before or behind a figure."""
_CENT = "cent"
"""The code of a hundredth of any currency."""


def names_money(text: str) -> bool:
    """Return whether a text has a sign, a code or a name of a currency."""
    return _currency().search(text) is not None


def currency_of(word: str) -> str:
    """Return the code of the currency that a sign, code or name stands for; empty for any other word."""
    found = _currency().search(word)
    code = _code(found.group()) if found else ""
    return "" if code == _CENT else code


def currencies(text: str) -> set[str]:
    """Return the currencies that a text names, as lower-case codes; cents and pence are their own."""
    return {_code(found.group()) for found in _currency().finditer(text)}


def _code(shown: str) -> str:
    word = plain(shown)
    return lexicon().currencies.get(word) or _CODES_OF_SIGNS.get(word, word)


@cache
def _currency() -> re.Pattern[str]:
    names = any_of(lexicon().currencies)
    return re.compile(rf"{SIGN}|\b(?:(?i:{_CODES}|{names})|{_WORDS})\b")
