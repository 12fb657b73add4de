"""The life of a small knowledge base: every operation at least once, recorded in a log; and checks of what is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kb
from kb import parts, timeless

from crash.power import Log
from crash.vfs import Shim
from ragstone.core.access import OWNER
from ragstone.core.errors import NotFound
from ragstone.core.records import Document
from ragstone.engine import pipeline
from ragstone.engine.backup import backup, restore
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.vectors import embedded
from ragstone.storage import disk as disks

States = dict[str, Document]


class Unsafe(AssertionError):
    """Something acknowledged is lost, or something is incomplete."""


def document(number: int, version: int = 0) -> Document:
    parts = [f"document {number} version {version} part {part} " + f"word{number} " * 14 for part in range(3)]
    return Document(id=f"d{number}", text="\n\n".join(parts), metadata={"n": number, "v": version})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The folder of a life; ``tell`` receives every state once it is acknowledged."""

    root: Path
    tell: Callable[[States], None]

    @property
    def kb(self) -> Path:
        return self.root / "kb"

    @contextmanager
    def engine(self, *, create: bool = False) -> Iterator[KnowledgeBase]:
        """An engine; what it holds in the end is acknowledged when the step succeeds."""
        engine = kb.open_fast(self.kb, create=create)
        try:
            yield engine
            self.tell(states(engine))
        finally:
            engine.close()

    def add(self, *documents: Document) -> None:
        with self.engine() as engine:
            asyncio.run(engine.documents.add(documents, lambda _: self.tell(states(engine))))

    def sync(self, **texts: Document | None) -> None:
        sources = self.root / "sources"
        sources.mkdir(exist_ok=True)
        for name, given in texts.items():
            file = sources / f"{name}.txt"
            file.write_text(given.text) if given else file.unlink(missing_ok=True)
        with self.engine() as engine:
            asyncio.run(engine.documents.sync([str(sources)], lambda _: self.tell(states(engine))))


def _create(place: Place) -> None:
    with place.engine(create=True):
        pass


def _remove(place: Place) -> None:
    with place.engine() as engine:
        engine.documents.remove(sorted(parts(engine).catalog.stored_names(["d2", "d3"])), reader=OWNER)


def _ask(place: Place) -> None:
    with place.engine() as engine:
        asyncio.run(engine.ask("word4 version", reader=OWNER))


def _rebuild(place: Place) -> None:
    engine = kb.open_fast(place.kb, create=False)
    try:
        asyncio.run(engine.versions.rebuild(["chunk.size=120"]))
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
"""Every operation; each can be repeated after it failed."""


def states(engine: KnowledgeBase) -> States:
    return {document.id: timeless(document) for document in parts(engine).catalog.documents()}


@contextmanager
def small_steps() -> Iterator[None]:
    """Commit a few chunks at a time and write vector files at once, so that little data exercises all the code."""
    before = pipeline.MAX_COMMIT_CHUNKS, embedded.LEAST_UNWRITTEN
    pipeline.MAX_COMMIT_CHUNKS, embedded.LEAST_UNWRITTEN = 8, 4
    try:
        yield
    finally:
        pipeline.MAX_COMMIT_CHUNKS, embedded.LEAST_UNWRITTEN = before


@contextmanager
def watched(shim: Shim, log: Any) -> Iterator[None]:
    """Record everything that is written inside in a log, which is both a `Disk` and SQLite's watcher."""
    before, disks.disk = disks.disk, log
    try:
        with shim.watched_by(log):
            yield
    finally:
        disks.disk = before


def recorded(root: Path, shim: Shim) -> Log:
    """Return the log of a whole life."""
    root.mkdir(parents=True)
    log = Log(root)
    with small_steps(), watched(shim, log):
        for step in STEPS.values():
            step(Place(root=root, tell=log.ack))
    return log


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The state found in an image."""

    created: bool
    documents: int


def check(folder: Path, acknowledged: States | None, following: States | None) -> Left:
    """Check that a crash left all of one acknowledged state, whole and usable.

    Raises:
        Unsafe: it did not.
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
        kb.check_whole(parts(engine).source.path / "catalog.db", left, engine.settings.chunk)
        report = kb.add(engine, Document(id="after", text="zebra crossing"))
        if report.added != 1:
            raise Unsafe(f"a document cannot be added: {report}")
        check_found(engine, {*left, "after"})
        return Left(created=acknowledged is None, documents=len(left))
    finally:
        engine.close()


def check_found(engine: KnowledgeBase, ids: set[str]) -> None:
    """Every document is found by both legs of the search, and nothing else is."""
    hits = asyncio.run(engine.search("zebra document", 1000, reader=OWNER))
    found = {hit.chunk.document_id for hit in hits}
    legs = {step.stage for hit in hits for step in hit.why}
    if found != ids or not {"bm25", "vector"} <= legs:
        raise Unsafe(f"found {sorted(found)} by {sorted(legs)}, and stored are {sorted(ids)}")


def _difference(left: States, acknowledged: States) -> str:
    lost = sorted(acknowledged.keys() - left.keys())
    other = sorted(id for id in left if left[id] != acknowledged.get(id))
    return f"lost {lost}, other {other} than acknowledged"
