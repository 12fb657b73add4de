"""The words of a question, and how far a text has them and what they ask for."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.core.frozen import frozen
from ragstone.core.protocols import Weigher
from ragstone.core.question import Question
from ragstone.core.request import Request
from ragstone.core.words import Word
from ragstone.language import lexicon
from ragstone.language.facts import STEM, form, is_form


@frozen
class Match:
    """How well a text matches a question.

    ``covered`` is the share of the question's words, by weight, that occur in any form. ``number`` and ``name`` are 1
    if the question asks for one and the text has one beyond those of the question, -1 if it has none, 0 if the question
    asks for something else.
    """

    covered: float
    number: float
    name: float


class QuestionWords:
    """The content words of a question with their weights, and what kind of word it asks for."""

    def __init__(self, question: Question, weigh: Weigher, request: Request) -> None:
        content = [word for word in question.words if not word.stop]
        if question.recent:  # "current" asks for the newest document, which seldom says that it is
            content = [word for word in content if not lexicon().recent.fullmatch(word.lower)]
        self._content = content or list(question.words)
        self._weights = [weight + 1e-6 for weight in weigh([word.lower for word in self._content], request)]
        self._begin: dict[str, list[int]] = {}
        """The numbers of the content words, by their first letters: a question has fewer words than a text."""
        for number, word in enumerate(self._content):
            self._begin.setdefault(form(word)[:STEM], []).append(number)
        self._number, self._name = question.asks.number, question.asks.name

    def __len__(self) -> int:
        return len(self._content)

    def match(self, text: Sequence[Word], beside: Sequence[Word] = ()) -> Match:
        """Match the words of a text; those ``beside`` it, of its title, count as found but answer nothing."""
        found, known = set[int](), set[str]()
        for key in {form(word) for word in (*text, *beside)}:
            for number in self._begin.get(key[:STEM], ()):
                if is_form(key, self._content[number]):
                    found.add(number)
                    known.add(key)
        covered = sum(weight for number, weight in enumerate(self._weights) if number in found)
        new = [word for word in text if form(word) not in known]
        return Match(
            covered=covered / sum(self._weights) if self._weights else 0.0,
            number=(1.0 if any(word.value for word in new) else -1.0) if self._number else 0.0,
            name=(1.0 if any(word.named for word in new) else -1.0) if self._name else 0.0,
        )
