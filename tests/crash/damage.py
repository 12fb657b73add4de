"""Damage: a flipped bit or a truncated file, anywhere. It must be noticed, or change no answer."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kb
from kb import parts

from crash.story import Unsafe, document
from ragstone.core.access import OWNER
from ragstone.core.errors import RagstoneError
from ragstone.engine.doctor import doctor
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.vectors import embedded

QUESTIONS = ("word3 version", "part 2 of document 7", "word11 word12", "0")
Answers = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wound:
    """A bit of a file to flip, or the length to truncate it to."""

    file: Path
    bit: int = -1
    length: int = -1

    def inflict(self, folder: Path) -> None:
        file = folder / self.file
        content = bytearray(file.read_bytes())
        if self.bit < 0:
            del content[self.length :]
        else:
            content[self.bit // 8] ^= 1 << self.bit % 8
        file.write_bytes(content)


class Damage:
    """Damages copies of two knowledge bases: one closed, one with its last commits in the log, as after a kill."""

    def __init__(self, place: Path) -> None:
        self._place, self._made = place, 0
        self._copies = [place / "at rest", place / "killed"]
        before = embedded.LEAST_UNWRITTEN
        embedded.LEAST_UNWRITTEN = 4
        try:
            engine = kb.open_fast(place / "kb", "index.exact_limit=5")
            for first in range(0, 16, 4):
                kb.add(engine, *map(document, range(first, first + 4)))
                if first == 8:
                    engine.close()
                    shutil.copytree(place / "kb", self._copies[0])
                    engine = kb.open_fast(place / "kb", create=False)
            asyncio.run(engine.search("word1", 1, reader=OWNER))
            shutil.copytree(place / "kb", self._copies[1])
            engine.close()
        finally:
            embedded.LEAST_UNWRITTEN = before
        self._answers = [self._ask_all(copy) for copy in map(self._fresh, (0, 1))]

    def wounds(self, chance: random.Random) -> Iterator[tuple[int, Wound]]:
        """Yield damage without end: each file equally often, an index counting as one; four flips per truncation."""
        while True:
            which = chance.randrange(2)
            files = [file for file in sorted(self._copies[which].rglob("*")) if file.is_file() and file.stat().st_size]
            kinds = {
                file.parent.name if file.parent.name in ("terms", "vectors") else file.name: file for file in files
            }
            kind = chance.choice(sorted(kinds))
            file = chance.choice([file for file in files if kind in (file.name, file.parent.name)])
            size, name = file.stat().st_size, file.relative_to(self._copies[which])
            if chance.random() < 0.8:
                yield which, Wound(file=name, bit=chance.randrange(size * 8))
            else:
                yield which, Wound(file=name, length=chance.randrange(size))

    def run(self, which: int, wound: Wound) -> str:
        """Return how it was noticed: ``refused``, ``told`` by the doctor, or ``mended``; or that it was ``harmless``.

        Raises:
            Unsafe: answers differ unnoticed, or an error is not a `RagstoneError`.
        """
        folder = self._fresh(which)
        wound.inflict(folder)
        try:
            health = doctor(folder)
        except RagstoneError:
            return "refused"
        except Exception as error:
            raise Unsafe(f"{wound}: {type(error).__name__} is none of ours: {error}") from error
        folder = self._fresh(which)
        wound.inflict(folder)
        try:
            answers = self._ask_all(folder)
        except RagstoneError as error:
            if health.findings:
                return "refused"
            raise Unsafe(f"{wound}: the doctor finds nothing, and yet {error}") from error
        except Exception as error:
            raise Unsafe(f"{wound}: {type(error).__name__} is none of ours: {error}") from error
        if health.findings:
            return "told" if answers != self._answers[which] else "mended"
        if answers != self._answers[which]:
            raise Unsafe(f"{wound}: answers differ, and the doctor finds nothing")
        return "harmless"

    def _fresh(self, which: int) -> Path:
        """Return a copy in a new folder, because threads of a damaged index may still be ending in the last one."""
        shutil.rmtree(self._place / f"damaged {self._made}", ignore_errors=True)
        self._made += 1
        return Path(shutil.copytree(self._copies[which], self._place / f"damaged {self._made}"))

    def _ask_all(self, folder: Path) -> Answers:
        engine = kb.open_fast(folder, create=False)
        try:
            return (*_said(engine), *parts(engine).catalog.documents())
        finally:
            engine.close()


def _said(engine: KnowledgeBase) -> Iterator[object]:
    for question in QUESTIONS:
        for hit in asyncio.run(engine.search(question, 8, reader=OWNER)):
            yield hit.chunk, round(hit.score, 4)
