"""The distinct words of the documents, for finding what a misspelt word may mean.

Words are sorted by length, and each has two signatures: a bit for every letter, and a bit for every pair of
neighbours. One error changes few bits of either, so a scan of the words of about the same length leaves a handful to
compare letter by letter. Recent words are kept in memory until there are enough for a new file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.index.keyword.analyze import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.storage.columns import Arrays

SHORTEST, LONGEST = 3, 42
"""The fewest and the most letters of a stored word."""
MOST = 500_000
"""The most words to store; the first ones are kept."""
_LETTERS_CHANGED, _CHANGED = 2, 6
"""The most bits that one error changes, of the letters and of both: a wrong letter changes two and four, a missing or
extra letter one and three, two exchanged letters none and six."""


@frozen(eq=False)
class Words:
    """n words sorted by length, then by bytes. ``starts`` (n + 1,) are their places in ``text``, which is UTF-8.

    ``lengths`` (n,) are in letters; ``letters`` (n,) and ``pairs`` (n,) are the signatures.
    """

    starts: NDArray[np.uint32]
    text: NDArray[np.uint8]
    lengths: NDArray[np.uint8]
    letters: NDArray[np.uint32]
    pairs: NDArray[np.uint64]

    @classmethod
    def of(cls, some: Iterable[str]) -> Words:
        """Return these words, sorted, with their signatures."""
        ordered = sorted((len(word), word.encode()) for word in set(some))
        letters, pairs = _signatures([word.decode() for _, word in ordered])
        return cls(
            starts=np.cumsum([0, *(len(word) for _, word in ordered)], dtype=np.uint32),
            text=np.frombuffer(b"".join(word for _, word in ordered), dtype=np.uint8),
            lengths=np.array([length for length, _ in ordered], dtype=np.uint8),
            letters=letters,
            pairs=pairs,
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Words:
        """Return the words of arrays that `to_arrays` returned.

        Raises:
            KeyError: an array is missing.
            ValueError: the arrays do not fit together.
        """
        made = cls(**{one.name: arrays[one.name] for one in fields(cls)})
        expected = {"starts": "<u4", "text": "|u1", "lengths": "|u1", "letters": "<u4", "pairs": "<u8"}
        fits = all(arrays[name].dtype.str == dtype for name, dtype in expected.items())
        sizes = {len(made.starts) - 1, len(made.lengths), len(made.letters), len(made.pairs)}
        if not fits or len(sizes) > 1 or made.starts[-1] != len(made.text):
            raise ValueError("the words do not fit together")
        return made

    def to_arrays(self) -> Arrays:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, at: int) -> str:
        return self._bytes(at).decode(errors="replace")

    def __contains__(self, word: str) -> bool:
        wanted = (len(word), word.encode())
        at = bisect_left(range(len(self)), wanted, key=lambda i: (int(self.lengths[i]), self._bytes(i)))
        return at < len(self) and self._bytes(at) == wanted[1]

    def near(self, word: str, errors: int) -> list[str]:
        """All words that differ by so few errors, and some others."""
        first, end = np.searchsorted(self.lengths, [max(0, len(word) - errors), len(word) + errors + 1]).tolist()
        letters, pairs = _signatures([word])
        changed = np.bitwise_count(self.letters[first:end] ^ letters[0])
        at = np.flatnonzero(changed <= _LETTERS_CHANGED * errors)
        changed = changed[at] + np.bitwise_count(self.pairs[at + first] ^ pairs[0])
        at = at[changed <= _CHANGED * errors] + first
        return [self[i] for i in at.tolist()]

    def _bytes(self, at: int) -> bytes:
        return self.text[self.starts[at] : self.starts[at + 1]].tobytes()


def kept(some: Iterable[str]) -> set[str]:
    """Return the words of a text as a vocabulary stores them: without diacritics, letters only."""
    folded = {fold(word) for word in some if word.isalpha()}
    return {word for word in folded if SHORTEST <= len(word) <= LONGEST}


def _signatures(some: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return letters and pairs of neighbours of each word as bits; its first and last letter pair with the edge."""
    if not some:
        return np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint64)
    code = np.frombuffer("".join(f"\n{word}" for word in some).encode("utf-32-le") + b"\n\0\0\0", dtype="<u4")
    begins = np.flatnonzero(code[:-1] == ord("\n"))
    letter = np.left_shift(np.uint32(1), code % 32, dtype=np.uint32)
    letter[code == ord("\n")] = 0
    pair = (code[:-1] * np.uint32(31) + code[1:]) * np.uint32(0x9E3779B1) >> np.uint32(26)
    pairs = np.left_shift(np.uint64(1), pair.astype(np.uint64))
    return np.bitwise_or.reduceat(letter[:-1], begins), np.bitwise_or.reduceat(pairs, begins)
