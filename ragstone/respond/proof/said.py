"""What the question and an answer have said so far."""

from __future__ import annotations

from ragstone.core.frozen import frozen
from ragstone.core.words import Word
from ragstone.language.facts import words
from ragstone.respond.proof.figure import Figure, same
from ragstone.respond.proof.figures import figures


@frozen
class Said:
    """The question and the sentences before one, read once: what they say is no new claim.

    ``last`` is the latest of them. Places of words and figures count from the text that they were read in.
    """

    text: str = ""
    last: str = ""
    words: tuple[Word, ...] = ()
    figures: tuple[Figure, ...] = ()

    def has(self, figure: Figure) -> bool:
        """Return whether a figure has been said."""
        return any(same(figure, one) or same(one, figure) for one in self.figures)

    def and_then(self, text: str) -> Said:
        """Return what has been said after one more text."""
        return Said(
            text=f"{self.text}\n{text}" if self.text else text,
            last=text,
            words=(*self.words, *words(text)),
            figures=(*self.figures, *figures(text)),
        )


NOTHING = Said()
