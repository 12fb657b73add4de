"""What an amount of money looks like: the signs, codes and names of currencies."""

from __future__ import annotations

import re

CURRENCY = re.compile(
    r"[$€£¥₹]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|SEK|NOK|DKK|PLN|MYR|RM|INR"
    r"|dollars?|euros?|pounds?|yen|yuan|francs?|rupees?|ringgit|cents?|pence"
    r"|kron(?:a|or|er)|zlotys?|pesos?|rou?bles?|shekels?|rupiahs?|baht|dinars?|dirhams?|liras?|forints?)\b",
    re.IGNORECASE,
)
_CODES = {
    "$": "usd", "dollar": "usd", "€": "eur", "euro": "eur", "£": "gbp", "pound": "gbp", "¥": "jpy", "yen": "jpy",
    "franc": "chf", "yuan": "cny", "rm": "myr", "ringgit": "myr", "₹": "inr", "rupee": "inr",
}  # fmt: skip


def currency_of(word: str) -> str:
    """Return the code of the currency that a sign, code or name stands for; empty for any other word."""
    found = CURRENCY.search(word)
    if found is None or found.group().lower() in ("cent", "cents", "pence"):
        return ""
    return next(iter(currencies(found.group())))


def currencies(text: str) -> set[str]:
    """Return the currencies that a text names, as lower-case codes; cents and pence are their own."""
    named = (found[0].lower().rstrip("s") for found in CURRENCY.finditer(text))
    return {_CODES.get(one, one) for one in named}
