"""The words and the language profiles of the documents, stored with the keyword index.

They are in one memory-mapped file; recent words are in the manifest until a new file is written. Words of removed
documents stay: the index shows that no chunk has them.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from ragstone.core.frozen import frozen
from ragstone.index.keyword.analyze import words
from ragstone.index.keyword.profiles import BUCKETS, Learning, Profiles
from ragstone.index.keyword.vocabulary import MOST, Words, kept
from ragstone.storage.columns import Column, Described, map_columns, write_columns
from ragstone.storage.disk import drop, sync_folder

LATE = 500
"""The most words to store in the manifest."""
_SEEN = 200_000
"""The most recent words to remember, in order to skip repetitions."""


@frozen(eq=False)
class Wordbook:
    """``words`` and ``profiles`` as stored in ``file``, and the ``late`` words of the manifest."""

    words: Words = field(default_factory=lambda: Words.of(()))
    late: Words = field(default_factory=lambda: Words.of(()))
    profiles: Profiles = field(default_factory=Profiles.nothing)
    file: Described | None = None

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, Any], before: Wordbook) -> Wordbook:
        """Return what the manifest describes; a file that ``before`` has already read is not read again.

        Raises:
            KeyError, TypeError, ValueError, OSError: it is not what was written.
        """
        file, late = Described.from_json(manifest["file"]), Words.of(map(str, manifest["late"]))
        if before.file is not None and before.file.name == file.name:
            return cls(words=before.words, late=late, profiles=before.profiles, file=file)
        arrays, codes = map_columns(folder, file), tuple(map(str, manifest["languages"]))
        counts, chunks = arrays["counts"], arrays["chunks"]
        if counts.shape != (len(codes), BUCKETS) or counts.dtype.str != "<u4" or len(chunks) != len(codes):
            raise ValueError("the profiles have another shape")
        profiles = Profiles(codes=codes, counts=counts, chunks=chunks)
        return cls(words=Words.from_arrays(arrays), late=late, profiles=profiles, file=file)

    def near(self, word: str, errors: int) -> list[str]:
        """All words that differ by so few errors, and some others."""
        return [*self.words.near(word, errors), *self.late.near(word, errors)]

    def told(self) -> dict[str, Any]:
        """Return the description for the manifest."""
        assert self.file is not None
        return {
            "file": self.file.to_json(),
            "late": [self.late[i] for i in range(len(self.late))],
            "languages": list(self.profiles.codes),
        }


class Gathering:
    """Learns from chunks, and writes what they add to a wordbook."""

    def __init__(self, wordbook: Wordbook) -> None:
        self._known, self._learning = wordbook, Learning(wordbook.profiles)
        self._new: set[str] = set()
        self._seen: set[str] = set()

    def take(self, text: str, language: str) -> None:
        """Learn from a chunk and its language, which is empty if it is not known."""
        self._learning.take(text, language)
        if len(self._known.words) + len(self._new) >= MOST:
            return
        if len(self._seen) > _SEEN:
            self._seen.clear()
        fresh = set(words(text)) - self._seen
        self._seen |= fresh
        self._new |= {word for word in kept(fresh) if word not in self._known.words and word not in self._known.late}

    def written(self, folder: Path, generation: int) -> Wordbook:
        """Return the wordbook with everything learned; it is durable when this returns, except for the late words."""
        before = self._known
        late = {*self._new, *(before.late[i] for i in range(len(before.late)))}
        if before.file is not None and len(late) <= LATE and not self._learning.is_worth_keeping:
            return Wordbook(words=before.words, late=Words.of(late), profiles=before.profiles, file=before.file)
        everything = Words.of([*(before.words[i] for i in range(len(before.words))), *late])
        profiles = self._learning.learned()
        arrays = {**everything.to_arrays(), "counts": profiles.counts, "chunks": profiles.chunks}
        columns = {
            name: Column(dtype=array.dtype.str, shape=array.shape, pieces=[array]) for name, array in arrays.items()
        }
        # A name never used before: another process may have mapped the old file.
        path = folder / f"words-{generation}-{secrets.token_hex(4)}.columns"
        file = write_columns(path, columns)
        sync_folder(folder)
        return Wordbook(words=everything, profiles=profiles, file=file)


def clear(folder: Path, book: Wordbook) -> None:
    """Remove the files of earlier wordbooks."""
    for old in folder.glob("words-*.columns"):
        if book.file is None or old.name != book.file.name:
            drop(old)
