"""What texts of each language look like, learned from the chunks of one knowledge base.

A text is compared by groups of three, four and five characters, a naive Bayes classifier (Cavnar and Trenkle 1994,
"N-Gram-Based Text Categorization"; Lui and Baldwin 2011, "Cross-domain Feature Selection for Language
Identification"). A question is mostly in a language that the documents are in; among those few, their own texts tell
it at least as well as a model of all languages does, which takes a hundred times the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (3, 4, 5)
BUCKETS = 1 << 15
"""Number of hash buckets for groups; two groups may share one."""
READ, ASKED = 1200, 300
"""Characters of a chunk, and of a question, that are looked at."""
LEARNED = 1000
"""Chunks of a language after which no more are learned from."""
SOON = 64
"""Chunks of a language up to which each one is worth keeping at once, also where they come one by one."""
LANGUAGES = 24
"""Languages that are learned; of many, those that come first."""
ENOUGH = 2000
"""Groups of characters that must be known before questions are judged by them: those of a page or so."""
_ALMOST_ALL = 0.98
"""From this share of the documents on, a question is taken to be in their language without a look."""
_UNLIKE = -1.0
"""Below this, the groups of a text are no likelier in any of the languages than by chance. (Their sum over the root of
their number, of which this is about half a standard deviation.)"""
_RARE = 0.01
"""What a language counts that has no share of the documents, and every other one more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Profiles:
    """For each language by its ISO 639-1 code, how often each group came: ``counts`` (languages, `BUCKETS`).

    ``chunks`` (languages,) is how many were learned from.
    """

    codes: tuple[str, ...]
    counts: NDArray[np.uint32]
    chunks: NDArray[np.int64]

    @classmethod
    def nothing(cls) -> Profiles:
        return cls(codes=(), counts=np.empty((0, BUCKETS), dtype=np.uint32), chunks=np.empty(0, dtype=np.int64))

    def language(self, text: str, prior: Mapping[str, float]) -> str | None:
        """The likeliest language of a text; nothing where too little is known, or the text is like none of them.

        Args:
            text: its beginning is looked at.
            prior: the share of each language in the documents.
        """
        likeliest = max(prior, key=lambda code: prior[code], default="")
        if likeliest and prior[likeliest] >= _ALMOST_ALL:
            return likeliest
        if not self._is_enough or not any(code in prior for code in self.codes):
            return None
        groups = groups_of(text, ASKED)
        likely = self._logs[:, groups].sum(axis=1) / max(1.0, len(groups)) ** 0.5
        if float(likely.max()) < _UNLIKE:
            return None
        likely += [log(prior.get(code, 0.0) + _RARE) for code in self.codes]
        return self.codes[int(likely.argmax())]

    @cached_property
    def _is_enough(self) -> bool:
        return bool(len(self.codes)) and int(self.counts.sum(axis=1).max()) >= ENOUGH

    @cached_property
    def _logs(self) -> NDArray[np.float32]:
        """How much likelier each group is in each language than by chance, as logarithms."""
        # One more of each: a name that the texts of one language happen to have must not tell much.
        seen = self.counts.astype(np.float32) + 1
        return np.log(seen / seen.sum(axis=1, keepdims=True) * BUCKETS)


class Learning:
    """Profiles that go on learning."""

    def __init__(self, known: Profiles) -> None:
        self._counts = dict(zip(known.codes, known.counts.astype(np.uint32), strict=True))
        self._chunks = dict(zip(known.codes, known.chunks.tolist(), strict=True))
        self._known = dict(self._chunks)

    def take(self, text: str, language: str) -> None:
        """Learn from a chunk."""
        if not language or self._chunks.get(language, 0) >= LEARNED:
            return
        if language not in self._counts:
            if len(self._counts) >= LANGUAGES:
                return
            self._counts[language] = np.zeros(BUCKETS, dtype=np.uint32)
        self._counts[language] += np.bincount(groups_of(text, READ), minlength=BUCKETS).astype(np.uint32)
        self._chunks[language] = self._chunks.get(language, 0) + 1

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it is more about a language of which little was known, or a quarter more in all."""
        more = (
            self._known.get(code, 0) < SOON and count > self._known.get(code, 0) for code, count in self._chunks.items()
        )
        return any(more) or sum(self._chunks.values()) > sum(self._known.values()) * 5 // 4

    def learned(self) -> Profiles:
        codes = tuple(self._counts)
        return Profiles(
            codes=codes,
            counts=np.array([self._counts[code] for code in codes], dtype=np.uint32).reshape(-1, BUCKETS),
            chunks=np.array([self._chunks[code] for code in codes], dtype=np.int64),
        )


def groups_of(text: str, most: int) -> NDArray[np.uint32]:
    """The number of every group of characters at the beginning of a text; words are apart by one space."""
    spaced = f" {' '.join(text[:most].lower().split())} "
    code = np.frombuffer(spaced.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
    found, mixed = list["NDArray[np.uint32]"](), code
    for size in range(2, max(SIZES) + 1):
        mixed = mixed[:-1] * np.uint32(2654435761) + code[size - 1 :]
        if size in SIZES:
            found.append((mixed ^ mixed >> np.uint32(15)) * np.uint32(2246822519) >> np.uint32(32 - 15))
    return np.concatenate(found)
