"""Questions for a price, a cost or a salary, which only a sentence with an amount of money answers.

"What does the book cost?" is not answered by the sentence that praises the book, however similar the two are. Of 105
such questions of public sets (reviews left out) that their passage answers, the evidence of 4 has neither an amount
nor a word such as "free"; of 19 that it does not answer, the passage of 11 has neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragstone.language.money import names_money

_SAID = re.compile(
    r"\b\d+[.,]\d\d\b"
    # "27 million AOK policyholders" are no money.
    r"|\b(?:million|billion|thousand|mio|mrd)\b"
    r"(?!\s+(?:(?-i:[A-Z])\w*\s+)?(?!this\b|plus\b|across\b|crowns\b)[a-z]{3,}s\b)"
    r"|\b(?:free|kostenlos|gratis|bucks|marks?)\b"
    r"|\b(?:no|without) (?:charge|cost|fees?)\b",
    re.IGNORECASE,
)


def says_price(quotes: Iterable[str]) -> bool:
    """Return whether a quote has an amount of money, or a word such as "free"."""
    return any(names_money(quote) or _SAID.search(quote) for quote in quotes)
