"""A life of a knowledge base in small: every operation once or more, told to a log; and what must be left of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kb

from benchmarks.crash.power import Log
from benchmarks.crash.vfs import Shim
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.index import disk as disks
from ragstone.index.vectors import embedded
from ragstone.keeping import ingest
from ragstone.keeping.backup import backup, restore

States = dict[str, Document]


class Unsafe(AssertionError):
    """Something acknowledged is lost, or something is half there."""


def document(number: int, version: int = 0) -> Document:
    parts = [f"document {number} version {version} part {part} " + f"word{number} " * 14 for part in range(3)]
    return Document(id=f"d{number}", text="\n\n".join(parts), metadata={"n": number, "v": version})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a life is lived; ``tell`` is told every state once it is acknowledged."""

    root: Path
    tell: Callable[[States], None]

    @property
    def kb(self) -> Path:
        return self.root / "kb"

    @contextmanager
    def engine(self, *, create: bool = False) -> Iterator[Engine]:
        """An engine; what it holds in the end is acknowledged when the step succeeds."""
        engine = kb.open_fast(self.kb, create=create)
        try:
            yield engine
            self.tell(states(engine))
        finally:
            engine.close()

    def add(self, *documents: Document) -> None:
        with self.engine() as engine:
            asyncio.run(engine.add(documents, lambda _: self.tell(states(engine))))

    def sync(self, **texts: Document | None) -> None:
        sources = self.root / "sources"
        sources.mkdir(exist_ok=True)
        for name, given in texts.items():
            file = sources / f"{name}.txt"
            file.write_text(given.text) if given else file.unlink(missing_ok=True)
        with self.engine() as engine:
            asyncio.run(engine.sync([str(sources)], lambda _: self.tell(states(engine))))


def _create(place: Place) -> None:
    with place.engine(create=True):
        pass


def _remove(place: Place) -> None:
    with place.engine() as engine:
        engine.remove(engine._catalog.known(["d2", "d3"]))


def _ask(place: Place) -> None:
    with place.engine() as engine:
        asyncio.run(engine.ask("word4 version"))


def _rebuild(place: Place) -> None:
    engine = kb.open_fast(place.kb, create=False)
    try:
        asyncio.run(engine.rebuild(["chunk.size=120"]))
    finally:
        engine.close()
    with place.engine():
        pass


def _backup(place: Place) -> None:
    backup(place.kb, place.root / f"backup{len(list(place.root.glob('backup*')))}")


def _restore(place: Place) -> None:
    whole = [copy for copy in sorted(place.root.glob("backup*")) if (copy / "CURRENT").exists()]
    restore(whole[-1], place.kb, replace=True)
    with place.engine():
        pass


STEPS: dict[str, Callable[[Place], None]] = {
    "create": _create,
    "add": lambda place: place.add(*map(document, range(6))),
    "change": lambda place: place.add(document(1, 1), document(6), document(0)),
    "remove": _remove,
    "sync": lambda place: place.sync(a=document(50), b=document(51), c=document(52)),
    "sync again": lambda place: place.sync(a=document(50, 2), b=None, d=document(53)),
    "ask": _ask,
    "rebuild": _rebuild,
    "add after it": lambda place: place.add(document(7)),
    "backup": _backup,
    "restore": _restore,
    "add at last": lambda place: place.add(document(8)),
}
"""Every operation; each can be done again when it failed."""


def states(engine: Engine) -> States:
    return {document.id: document for document in engine._catalog.documents()}


@contextmanager
def small_steps() -> Iterator[None]:
    """Commits of a few chunks, and vector files written at once, so that little data passes through all the code."""
    before = ingest.COMMITTED, embedded.LEAST_UNWRITTEN
    ingest.COMMITTED, embedded.LEAST_UNWRITTEN = 8, 4
    try:
        yield
    finally:
        ingest.COMMITTED, embedded.LEAST_UNWRITTEN = before


@contextmanager
def watched(shim: Shim, log: Any) -> Iterator[None]:
    """Everything written inside is told to a log, which is both a disk of ours and SQLite's watcher."""
    before, disks.disk = disks.disk, log
    try:
        with shim.watched_by(log):
            yield
    finally:
        disks.disk = before


def recorded(root: Path, shim: Shim) -> Log:
    """A whole life, recorded."""
    root.mkdir(parents=True)
    log = Log(root)
    with small_steps(), watched(shim, log):
        for step in STEPS.values():
            step(Place(root=root, tell=log.ack))
    return log


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What was found in an image."""

    created: bool
    documents: int


def check(folder: Path, acknowledged: States | None, following: States | None) -> Left:
    """Open what a crash left: all of one acknowledged state, whole, and fit to go on.

    Raises:
        Unsafe: it is not.
    """
    try:
        engine = kb.open_fast(folder, create=False)
    except NotFound as error:
        if acknowledged is not None:
            raise Unsafe(f"the knowledge base is gone: {error}") from error
        engine = kb.open_fast(folder)
    for copy in folder.parent.glob("backup*/CURRENT"):
        restore(copy.parent, folder.parent / f"restored {copy.parent.name}")
    try:
        left = states(engine)
        if left not in (acknowledged or {}, following or {}):
            raise Unsafe(_difference(left, acknowledged or {}))
        kb.check_whole(engine._version / "catalog.db", left, engine.settings.chunk)
        report = kb.add(engine, Document(id="after", text="zebra crossing"))
        if report.added != 1:
            raise Unsafe(f"it does not go on: {report}")
        check_found(engine, {*left, "after"})
        return Left(created=acknowledged is None, documents=len(left))
    finally:
        engine.close()


def check_found(engine: Engine, ids: set[str]) -> None:
    """Every document is found by both legs of the search, and nothing else is."""
    hits = asyncio.run(engine.search("zebra document", 1000))
    found = {hit.chunk.document_id for hit in hits}
    legs = {step.stage for hit in hits for step in hit.why}
    if found != ids or not {"bm25", "vector"} <= legs:
        raise Unsafe(f"found {sorted(found)} by {sorted(legs)}, and stored are {sorted(ids)}")


def _difference(left: States, acknowledged: States) -> str:
    lost = sorted(acknowledged.keys() - left.keys())
    other = sorted(id for id in left if left[id] != acknowledged.get(id))
    return f"lost {lost}, other {other} than acknowledged"
