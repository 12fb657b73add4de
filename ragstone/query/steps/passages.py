"""What a question and a passage have in common, and how one passage leads to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from ragstone.query.steps.names import Mentions, bare, beginning, names, sentences, words

LONG_NAME = 2
"""Words from which a title is recognised in running text; a shorter one must stand there as a name of its own."""

WORDS, WORDS_WITH_NAME = 6, 4
"""Content words of a question from which it may need several passages, and of one with a name."""
OPEN = 0.15
"""Share of a question, by weight, above which it is open what no passage has."""


class Passage:
    """A passage and its title, read for links."""

    def __init__(self, title: str, text: str) -> None:
        self.title = tuple(words(bare(title)))
        self._title, self._text = title, text

    @cached_property
    def all(self) -> Mentions:
        """All words of the passage, those of its title first."""
        return Mentions(f"{self._title}\n{self._text}")

    @cached_property
    def heading(self) -> Mentions:
        """The words of the title."""
        return Mentions(self._title)

    def shown(self, name: Sequence[str]) -> str:
        """Return a name as the passage writes it; its words if it has another form there."""
        written = (one for sentence in self.sentences for one, its in sentence.written.items() if its == tuple(name))
        return next(written, " ".join(name))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the passage."""
        return tuple(Sentence(one) for one in sentences(self._text))


class Sentence:
    """A sentence of a passage: its words, and the names in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def all(self) -> Mentions:
        return Mentions(self.text)

    @cached_property
    def written(self) -> dict[str, tuple[str, ...]]:
        """The names in the sentence as it writes them, each with its words."""
        return {name: found for name in names(self.text) if (found := tuple(words(name)))}

    @property
    def names(self) -> Collection[tuple[str, ...]]:
        """The names in the sentence, each as its words."""
        return self.written.values()

    @cached_property
    def _own_names(self) -> list[Mentions]:
        return [Mentions(" ".join(name)) for name in self.names]

    def mentions(self, name: Sequence[str]) -> bool:
        """Return whether a name stands in the sentence: a short one as a name of its own, a longer one anywhere."""
        if not self.all.has(name):
            return False
        return len(name) >= LONG_NAME or any(len(own.words) == len(name) and own.has(name) for own in self._own_names)


def leaves_open(asked: Weighed, passages: Sequence[Passage], unseen: float, language: str = "") -> bool:
    """Return whether a question may need more than one passage: none of those found has most of what documents have.

    Only long questions, and shorter ones with a name, are open. On sets of questions with one step each, 13% and 31%
    are (CLAP NQ, XQuAD), and of questions with several steps 82% and 98% (HotpotQA, MuSiQue).

    Args:
        asked: the question.
        passages: the best ones found.
        unseen: the weight of a word that no document has; such words tell nothing.
        language: ISO 639-1 code of the question; a single capitalised word is no name in German.
    """
    least = 2 if language == "de" else 1
    question = asked.text[:1].lower() + asked.text[1:]  # any question begins with a capital
    named = any(len(name.split()) >= least for name in names(question))
    if len(asked.weights) < (WORDS_WITH_NAME if named else WORDS):
        return False
    known = {word for word, weight in asked.weights.items() if weight < unseen}
    return all(asked.share(known.difference(asked.words_in(passage.all))) > OPEN for passage in passages)


def leading_names(asked: Weighed, passages: Sequence[Passage], limit: int) -> list[str]:
    """Return the names in passages that the question has not, those in sentences nearest to the question first."""
    asked_words, nearness = set(words(asked.text)), dict[str, float]()
    for passage in passages:
        for sentence in passage.sentences:
            new = [name for name, its in sentence.written.items() if _is_new(its, asked_words, passage.title)]
            near = asked.covered(sentence.all, passage.heading) if new else 0.0
            for name in new:
                nearness[name] = max(near, nearness.get(name, 0.0))
    return sorted(nearness, key=lambda name: -nearness[name])[:limit]


def _is_new(name: tuple[str, ...], known: set[str], title: tuple[str, ...]) -> bool:
    return not known.issuperset(name) and name != title


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """The content words of a question and how rare each is; ``text`` is the question."""

    text: str
    weights: Mapping[str, float]

    @cached_property
    def _total(self) -> float:
        return fsum(self.weights.values())

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        found = defaultdict[str, list[str]](list)
        for word in self.weights:
            found[beginning((word,))].append(word)
        return found

    def words_in(self, text: Mentions) -> frozenset[str]:
        """Return the content words of the question that a text has, in any form."""
        own = self._by_beginning
        return frozenset(word for start in text.beginnings & own.keys() for word in own[start] if text.has((word,)))

    def share(self, words: Iterable[str]) -> float:
        """Return the share of the question, by weight, that these of its words are; 0 to 1.

        The sum does not depend on the order of a set, which another process may have another way.
        """
        total = self._total
        return min(1.0, fsum(self.weights[word] for word in words) / total) if total > 0 else 0.0

    def covered(self, *texts: Mentions) -> float:
        """Return the share of the question, by weight, that stands in these texts together; 0 to 1."""
        return self.share(frozenset[str]().union(*map(self.words_in, texts)))

    def added(self, text: Mentions, to: Mentions) -> float:
        """Return the share of the question, by weight, that a text adds to another one; 0 to 1."""
        return self.share(self.words_in(text) - self.words_in(to))
