"""Questions for a price, a cost or a salary, which only a sentence with an amount of money answers.

"What does the book cost?" is not answered by the sentence that praises the book, however similar the two are. Of 105
such questions of public sets (reviews left out) that their passage answers, the evidence of 4 has neither an amount
nor a word such as "free"; of 19 that it does not answer, the passage of 11 has neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragstone.language.money import names_money

_ASKED = re.compile(
    r"\bhow expensive\b|\b(?:at|for) what price\b"
    r"|\bhow much (?:money|(?:is|are|was|were|does|do|did|will|would|has|have|had)\b[^?]*"
    r"\b(?:cost|pay|paid|paying|charged?|spend|spent|earn|earned|worth|price|salary))\b"
    r"|\bwhat(?:'s|’s| is| are| was| were)? (?:the |an? |its |his |her |their )?(?:\w+ )?"
    r"(?:price|salary|wage|fee|rent)\b"
    r"|\bwhat (?:do|does|did|will) [^?]*\bcost\b"
    r"|\bwas kostet(?:e|en)?\b|\bwie ?viel (?:kostet|verdient|zahlt)"
    r"|\bwie hoch (?:ist|war|sind) [^?]*(?:preis|gehalt|gebühr)",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:why|consists?|comprised?|includes?|covers?|factors?|associated|calculated)\b", re.IGNORECASE
)
"""Words of a question about a price that ask for something else than the amount."""
_SAID = re.compile(
    r"\b\d+[.,]\d\d\b"
    # "27 million AOK policyholders" are no money.
    r"|\b(?:million|billion|thousand|mio|mrd)\b"
    r"(?!\s+(?:(?-i:[A-Z])\w*\s+)?(?!this\b|plus\b|across\b|crowns\b)[a-z]{3,}s\b)"
    r"|\b(?:free|kostenlos|gratis|bucks|marks?)\b"
    r"|\b(?:no|without) (?:charge|cost|fees?)\b",
    re.IGNORECASE,
)


def asks_price(question: str) -> bool:
    """Return whether a question asks how much money something costs or somebody earns."""
    return _ASKED.search(question) is not None and _OTHERWISE.search(question) is None


def says_price(quotes: Iterable[str]) -> bool:
    """Return whether a quote has an amount of money, or a word such as "free"."""
    return any(names_money(quote) or _SAID.search(quote) for quote in quotes)
