"""What a question asks for, and whether sentences have it: its words, and a number or a name where it wants one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.contracts import Chunk
from ragstone.protocols import Weigher
from ragstone.respond.facts import Vocabulary, Word, form, words
from ragstone.respond.words import lexicon, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """``coverage`` is the share of the question's words, by weight, that a chunk has, in whatever form.

    ``mistyped`` is 1 where the question wants a number or a name and the sentences have none that it does not name
    itself. ``words`` counts those of the question that tell something.
    """

    coverage: float
    mistyped: float
    words: int


def fit(question: str, chunk: Chunk, sentences: Sequence[str], weigh: Weigher) -> Fit:
    """How a question fits the best chunk and its best sentences."""
    all_words = words(question)
    telling = [word for word in all_words if not word.stop] or all_words
    vocabulary = Vocabulary([*words(chunk.text), *words(f"{chunk.context} {chunk.title}")])
    forms = [vocabulary.forms(word) for word in telling]
    worth = [weight + 1e-6 for weight in weigh([word.lower for word in telling])]
    held = sum(weight for weight, found in zip(worth, forms, strict=True) if found)
    said = set[str]().union(*forms)
    new = [word for sentence in sentences for word in words(sentence) if form(word) not in said]
    return Fit(
        coverage=held / sum(worth) if worth else 0.0,
        mistyped=float(_mistyped(plain(question), new)),
        words=len(telling),
    )


def _mistyped(question: str, new: Sequence[Word]) -> bool:
    if lexicon().asks_number.search(question):
        return not any(word.value for word in new)
    return bool(lexicon().asks_name.search(question)) and not any(word.named for word in new)
