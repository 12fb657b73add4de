"""Text to terms, for keyword search. A language is added by adding an analyzer here."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 100


class Plain:
    """Lower-cases and splits on everything that is neither letter nor digit, in any script."""

    fingerprint = "plain-1"

    def __call__(self, text: str) -> list[str]:
        return [term[:_LONGEST] for term in _WORD.findall(text.lower())]
