"""Language profiles, learned from the chunks of one knowledge base.

A naive Bayes classifier compares texts by groups of three, four and five characters (Cavnar and Trenkle 1994,
"N-Gram-Based Text Categorization"; Lui and Baldwin 2011, "Cross-domain Feature Selection for Language
Identification"). A question is usually in a language of the documents. Among those few languages, profiles of the
documents are at least as accurate as a model of all languages, which takes a hundred times the memory.
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
"""Characters of a chunk, and of a question, to read."""
LEARNED = 1000
"""The most chunks of a language to learn from."""
SOON = 64
"""Chunks of a language up to which each new one is saved at once."""
LANGUAGES = 24
"""The most languages to learn; the first ones are kept."""
ENOUGH = 2000
"""Groups of characters to learn before questions are classified: about a page."""
_ALMOST_ALL = 0.98
"""A question is assumed to be in a language that has at least this share of the documents."""
_UNLIKE = -1.0
"""Below this score, a text fits none of the languages better than chance. The score is the sum over the groups, divided
by the root of their number; this is about half a standard deviation."""
_RARE = 0.01
"""Added to the share of every language, so that one without documents is possible."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Profiles:
    """The frequencies of character groups by language, an ISO 639-1 code: ``counts`` (languages, `BUCKETS`).

    ``chunks`` (languages,) is the number of chunks learned from.
    """

    codes: tuple[str, ...]
    counts: NDArray[np.uint32]
    chunks: NDArray[np.int64]

    @classmethod
    def nothing(cls) -> Profiles:
        return cls(codes=(), counts=np.empty((0, BUCKETS), dtype=np.uint32), chunks=np.empty(0, dtype=np.int64))

    def language(self, text: str, prior: Mapping[str, float]) -> str | None:
        """Return the most probable language of a text; None if too little is known or it fits none.

        Args:
            text: only its beginning is read.
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
        """Return the log-likelihood ratio of each group in each language to chance."""
        # Add-one smoothing: a name that only the texts of one language have must not decide much.
        seen = self.counts.astype(np.float32) + 1
        return np.log(seen / seen.sum(axis=1, keepdims=True) * BUCKETS)


class Learning:
    """Profiles that can learn more."""

    def __init__(self, profiles: Profiles) -> None:
        self._counts = dict(zip(profiles.codes, profiles.counts.astype(np.uint32), strict=True))
        self._chunks = dict(zip(profiles.codes, profiles.chunks.tolist(), strict=True))
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
        """Return whether it learned about a language with few chunks, or grew by a quarter."""
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
    """Return the number of every group of characters in the first ``most``, with single spaces between words."""
    spaced = f" {' '.join(text[:most].lower().split())} "
    code = np.frombuffer(spaced.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
    buckets, mixed = list["NDArray[np.uint32]"](), code
    for size in range(2, max(SIZES) + 1):
        mixed = mixed[:-1] * np.uint32(2654435761) + code[size - 1 :]
        if size in SIZES:
            buckets.append((mixed ^ mixed >> np.uint32(15)) * np.uint32(2246822519) >> np.uint32(32 - 15))
    return np.concatenate(buckets)
