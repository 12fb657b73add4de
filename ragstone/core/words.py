"""A word of a text, with its position and what it stands for."""

from __future__ import annotations

from ragstone.core.frozen import frozen
from ragstone.core.span import Span


@frozen
class Word:
    """A word or number. ``value`` is the normalised value of a number or month, else empty.

    ``named`` words are written like names, with a capital that does not come from the start of a sentence. ``capitals``
    marks words in capitals only.
    """

    span: Span
    lower: str
    value: str = ""
    unit: str = ""
    named: bool = False
    capitals: bool = False
    negation: bool = False
    stop: bool = False

    @property
    def key(self) -> bool:
        """Whether no other word can replace it: a number, a date or a name."""
        return bool(self.value) or self.named
