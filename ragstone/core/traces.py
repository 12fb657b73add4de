"""What identifies documents in other texts: their names, the words that only they have, and runs of their words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from ragstone.core.records import OF_READING, Document

RUN = 6
"""Successive words that identify a text if no other document has them."""
LEAST_WORD, LEAST_NUMBER = 4, 6
"""Characters of a word, and of one with digits, that identifies a text by itself."""
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_NAME_LENGTH = 5
"""Characters of a name that is looked for within texts. Shorter ones only count as a whole value."""


@dataclass(frozen=True, kw_only=True)
class Traces:
    """What documents leave in texts.

    ``names`` are their ids, sources and titles. ``own`` are the words, in lower case, that no other document has, and
    ``rare`` those of them that are no ordinary words. ``runs`` are hashes of `RUN` successive words.
    """

    names: frozenset[str]
    own: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()
    runs: frozenset[int] = frozenset()

    def names_document(self, text: str) -> bool:
        """Return whether a text is the name of one of the documents, or of a part of it."""
        return text in self.names or any(text.startswith((f"{name}#", f"{name}/")) for name in self.names)

    def is_in(self, text: str) -> bool:
        """Return whether a text names one of the documents, or has words that identify them."""
        if self.names_document(text) or (self._named and self._named.search(text)):
            return True
        words = words_of(text)
        return not self.rare.isdisjoint(words) or not self.runs.isdisjoint(runs_of(words))

    def has_own_words(self, text: str) -> bool:
        """Return whether a text has any word that only the documents have, however ordinary."""
        return self.is_in(text) or not self.own.isdisjoint(words_of(text))

    @cached_property
    def _named(self) -> re.Pattern[str] | None:
        """Finds names that cannot be ordinary words within a text."""
        names = [name for name in self.names if len(name) >= _NAME_LENGTH and not name.isalpha()]
        longest = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        return re.compile(rf"(?<![\w/.-])(?:{longest})(?![\w/-])") if names else None


def traces_of(
    names: Iterable[str],
    titles: Iterable[str],
    texts: Iterable[str],
    others: Iterable[str],
    is_ordinary: Callable[[str], bool],
) -> Traces:
    """Return the traces of documents.

    Args:
        names: their ids and sources.
        titles: their titles and addresses, which count if no other document has them.
        texts: everything that they say.
        others: everything that the other documents say; what they have, too, identifies nothing.
        is_ordinary: whether a word is an ordinary one.
    """
    own, runs = set[str](), set[int]()
    kept = {title for title in titles if len(title.split()) > 1 or "/" in title}
    for text in texts:
        words = words_of(text)
        own.update(words)
        runs.update(runs_of(words))
    for text in others:
        words = words_of(text)
        own.difference_update(words)
        kept -= {title for title in kept if title in text}
        if runs:
            runs.difference_update(runs_of(words))
    least = {word: LEAST_WORD if word.isalpha() else LEAST_NUMBER for word in own}
    rare = {word for word in own if len(word) >= least[word] and not is_ordinary(word)}
    return Traces(
        names=frozenset(filter(None, (*names, *kept))), own=frozenset(own), rare=frozenset(rare), runs=frozenset(runs)
    )


def said_by(document: Document) -> str:
    """Return everything that a document says: its text, title, address and metadata, but not when it was read."""
    facts = (fact for key, fact in document.metadata.items() if key not in OF_READING)
    values = (value for fact in facts for value in (fact if isinstance(fact, tuple) else (fact,)))
    stated = (document.id, document.url, document.title, *filter(_is_text, values))
    return "\n".join([*map(str, stated), document.text])


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _word().findall(text.casefold())


@cache
def _word() -> re.Pattern[str]:
    """Return a pattern of a word; in scripts without spaces, of a character."""
    return re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def runs_of(words: list[str]) -> Iterator[int]:
    """Yield a hash of every run of successive words."""
    return map(hash, zip(*(words[start:] for start in range(RUN)), strict=False))


def _is_text(value: object) -> bool:
    return isinstance(value, str)
