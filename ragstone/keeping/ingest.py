"""Documents into the catalog: cut, embed what has no vector yet, commit; then the next few.

While a group of documents is embedded and committed the next one is read and cut, and no more than that one: a
source is never pulled further ahead, so memory does not grow with it. Embedding and committing take turns, for a
commit may drop a vector that the next group would count on; it takes a hundredth of the time.

What is reported as committed is durable. An interruption loses at most the documents in hand, and the next
run takes them up again: a document that is stored and unchanged costs one look at its signature.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from ragstone import chunk
from ragstone.access import READERS, groups_in
from ragstone.contracts import Acquired, Document, Finished, Skipped, Unchanged
from ragstone.errors import Outrun
from ragstone.index import AnyCatalog, Prepared, signature, text_hash
from ragstone.keeping.storable import storable
from ragstone.monitor import Spent, counting
from ragstone.protocols import Embedder
from ragstone.reports import AddReport, Plan, Progress
from ragstone.sections import ChunkSettings

if TYPE_CHECKING:
    from ragstone.contracts import Vector

LOOKED_AT = 64
"""Documents read, and compared with the catalog, at once."""
READ_AT_ONCE = 4_000_000
"""Characters after which no further document is read at once."""
COMMITTED = 256
"""A commit is made when so many chunks are in hand; also the most texts handed to the embedder at once."""

OnProgress = Callable[[Progress], None]
Turn = Callable[[], AbstractAsyncContextManager[None]]
"""What the lock is held in; ingest takes a turn for each commit."""
_T = TypeVar("_T")


class Seen:
    """Remembers what passes by, to tell afterwards what is no longer there."""

    def __init__(self, catalog: AnyCatalog) -> None:
        self._catalog = catalog
        self._ids: set[str] = set()
        self._kept: set[str] = set()
        self.outdated: list[Finished] = []
        """Files that no longer hold all that is stored of them. They are finished when the rest is removed."""

    def watch(self, stream: Iterable[Acquired]) -> Iterator[Acquired]:
        """The same stream, but for what tells that a file is finished which is `outdated`.

        Were it stored as finished, the next run would pass over it, and its lost parts would stay.
        """
        for one in stream:
            match one:
                case Document():
                    self._ids.add(one.id)
                case Skipped() | Unchanged():
                    self._kept.add(one.source)
                case Finished():
                    if self.vanished([one.source]):
                        self.outdated.append(one)
                        continue
            yield one

    def vanished(self, roots: Iterable[str]) -> list[str]:
        """Ids of the documents stored of files and folders that did not pass by.

        What could not be read this time is not gone: it, and all that lies within it, is kept.
        """
        stored = dict(chain.from_iterable(self._catalog.under(root) for root in roots))
        return [id for id, source in stored.items() if id not in self._ids and not self.is_kept(source)]

    def is_kept(self, source: str) -> bool:
        """Whether it was passed over, or could not be read, or lies in what was or could not."""
        ends = [*(i for i, char in enumerate(source) if char in "/#"), len(source)]
        return any(source[:end] in self._kept for end in ends)


@dataclass(slots=True)
class _Group:
    """What the next commit takes; ``read`` counts the files that are read with it."""

    prepared: list[Prepared] = field(default_factory=list)
    finished: list[Finished] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    before: dict[str, str | None] = field(default_factory=dict)
    """The signatures that these documents have until this commit; None for those that are new."""
    added: int = 0
    updated: int = 0
    read: int = 0

    @property
    def chunks(self) -> int:
        return sum(len(one.chunks) for one in self.prepared)


@dataclass(slots=True)
class _Tally:
    """What the report will say. Documents and chunks count when they are committed."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    read: int = 0
    files: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    under_way: dict[str, str] = field(default_factory=dict)
    """Signatures of documents that will be committed."""
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The groups that documents name which will be committed."""
    as_they_are: bool = False


async def ingest(
    stream: Iterable[Acquired],
    catalog: AnyCatalog,
    embedder: Embedder,
    settings: ChunkSettings,
    on_progress: OnProgress | None = None,
    files: int = 0,
    *,
    as_they_are: bool = False,
    turn: Turn = nullcontext,
) -> AddReport:
    """Store documents; replace those of the same id whose text or facts changed.

    Args:
        stream: read one by one, so there may be many.
        catalog: where to; the caller holds the lock, or ``turn`` does for each commit.
        embedder: for the texts that have no vector yet.
        settings: how documents are cut.
        on_progress: called after every commit, with what is durable now.
        files: how many files the stream will come to the end of, where that is known.
        as_they_are: also those that say nothing of groups; else those stay for whom they were for before.
        turn: taken for each commit, where the caller does not hold the lock all the time.

    Raises:
        Outrun: between two turns another process has changed a document that was to be stored now.
    """
    started, tally, spent = time.perf_counter(), _Tally(files=files, as_they_are=as_they_are), Spent(purpose="ingest")
    with counting(spent):
        async with aclosing(_ahead(_groups(stream, catalog, embedder, settings, tally))) as groups:
            async for group in groups:
                await _commit(group, catalog, embedder, tally, turn)
                if on_progress and group.prepared:
                    on_progress(_progress(group, tally))
    if tally.skipped:
        async with turn():
            catalog.note_skipped(tally.skipped)
    _tell_what_stays(tally, catalog)
    return AddReport(
        added=tally.added,
        updated=tally.updated,
        unchanged=tally.unchanged,
        skipped=tuple(tally.skipped),
        chunks=tally.chunks,
        embedded=tally.embedded,
        seconds=time.perf_counter() - started,
        embedding_calls=spent.calls,
        embedding_tokens=spent.tokens,
        embedding_retries=spent.retries,
    )


def _tell_what_stays(tally: _Tally, catalog: AnyCatalog) -> None:
    """What could not be read this time may have been stored before; then that is still what answers."""
    held = catalog.held([one.source for one in tally.skipped])
    tally.skipped = [
        replace(one, reason=f"{one.reason}; what was stored of it before is kept") if one.source in held else one
        for one in tally.skipped
    ]


async def plan(stream: Iterable[Acquired], catalog: AnyCatalog) -> Plan:
    """What `ingest` would add, update and skip; nothing is embedded or stored, and nothing removed."""
    tally = _Tally()
    added, updated = [], []
    async for batch in _batches(stream):
        for document, _, before in _compared(batch, catalog, tally):
            (updated if before else added).append(document.id)
    _tell_what_stays(tally, catalog)
    return Plan(
        added=tuple(dict.fromkeys(added)),
        updated=tuple(dict.fromkeys(updated)),
        removed=(),
        unchanged=tally.unchanged,
        skipped=tuple(tally.skipped),
    )


async def _batches(stream: Iterable[Acquired]) -> AsyncIterator[list[Acquired]]:
    iterator = iter(stream)
    while batch := await _in_thread(lambda: _taken(iterator)):
        yield batch


def _taken(iterator: Iterator[Acquired]) -> list[Acquired]:
    batch, characters = [], 0
    for one in islice(iterator, LOOKED_AT):
        batch.append(one)
        characters += len(one.text) if isinstance(one, Document) else 0
        if characters >= READ_AT_ONCE:
            break
    return batch


async def _groups(
    stream: Iterable[Acquired], catalog: AnyCatalog, embedder: Embedder, settings: ChunkSettings, tally: _Tally
) -> AsyncGenerator[_Group, None]:
    """New and changed documents, cut, in groups that make a commit each."""
    group = _Group()
    async for batch in _batches(stream):
        for document, told, before in _compared(batch, catalog, tally):
            group.prepared.append(await _in_thread(partial(_prepare, document, settings, embedder)))
            group.signatures[document.id] = tally.under_way[document.id] = told
            if READERS in document.metadata:
                tally.named[document.id] = groups_in(document.metadata[READERS])
            group.before.setdefault(document.id, before)
            group.added += before is None
            group.updated += before is not None
            if group.chunks >= COMMITTED:
                yield group
                group = _Group()
        group.finished += [one for one in batch if isinstance(one, Finished)]
        group.read += sum(isinstance(one, Finished | Unchanged) for one in batch)
    yield group


async def _ahead(stream: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
    """The same stream; its next item is made while the last one is used."""

    async def following() -> _T | None:
        return await anext(stream, None)

    coming = asyncio.ensure_future(following())
    try:
        while (item := await coming) is not None:
            coming = asyncio.ensure_future(following())
            yield item
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await stream.aclose()


async def _in_thread(work: Callable[[], _T]) -> _T:
    """In a thread, and to its end: one who is cancelled meanwhile goes when nothing is at work any more."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.gather(running, return_exceptions=True)
        raise


def _compared(
    batch: Iterable[Acquired], catalog: AnyCatalog, tally: _Tally
) -> Iterator[tuple[Document, str, str | None]]:
    """The documents of a batch that are new, or changed, with signatures, now and before; the rest is counted."""
    documents: list[Document] = []
    for one in batch:
        match one:
            case Document():
                kept = storable(one)
                (documents if isinstance(kept, Document) else tally.skipped).append(kept)  # pyright: ignore
            case Skipped():
                tally.skipped.append(one)
            case Unchanged():
                tally.unchanged += len(catalog.under(one.source))
            case Finished():
                pass
    if not tally.as_they_are:
        documents = _still_for(documents, catalog, tally)
    stored = catalog.signatures([document.id for document in documents])
    stored |= {one.id: tally.under_way[one.id] for one in documents if one.id in tally.under_way}
    for document in documents:
        told = signature(document)
        if stored.get(document.id) == told:
            tally.unchanged += 1
        else:
            yield document, told, stored.get(document.id)
            stored[document.id] = told


def _still_for(documents: Sequence[Document], catalog: AnyCatalog, tally: _Tally) -> list[Document]:
    """The documents; one that says nothing of groups is for those it was for before.

    Else a rule that was forgotten, or a column that is gone, would open to everyone what was for a few. Who means that
    says so: ``*`` is everyone.
    """
    silent = [one.id for one in documents if READERS not in one.metadata]
    before = catalog.readers(silent) if silent and catalog.names_readers() else {}
    before |= {id: tally.named[id] for id in silent if id in tally.named}
    out: list[Document] = []
    for one in documents:
        if READERS in one.metadata:
            before[one.id] = groups_in(one.metadata[READERS])
        named = before.get(one.id)
        out.append(one if named is None else replace(one, metadata={**one.metadata, READERS: named}))
    return out


async def _commit(group: _Group, catalog: AnyCatalog, embedder: Embedder, tally: _Tally, turn: Turn) -> None:
    tally.read += group.read
    if not group.prepared and not group.finished:
        return
    texts = {
        hash: one.headed
        for prepared in group.prepared
        for hash, one in zip(prepared.hashes, prepared.chunks, strict=True)
    }
    vectors = await _missing(texts, catalog, embedder)
    async with turn():
        if catalog.signatures(list(group.before)) != {id: told for id, told in group.before.items() if told}:
            raise Outrun("another process has stored the same documents at the same time; try again")
        # A vector that was there may have gone meanwhile, with a document that another process took out.
        vectors |= await _missing(
            {hash: text for hash, text in texts.items() if hash not in vectors}, catalog, embedder
        )
        await _in_thread(partial(catalog.commit, group.prepared, vectors, group.finished))
    for id, told in group.signatures.items():
        if tally.under_way.get(id) == told:  # else another version of it is on its way
            del tally.under_way[id]
            tally.named.pop(id, None)
    tally.added += group.added
    tally.updated += group.updated
    tally.chunks += group.chunks
    tally.embedded += len(vectors)


async def _missing(texts: Mapping[str, str], catalog: AnyCatalog, embedder: Embedder) -> dict[str, Vector]:
    """Vectors of those of the texts, by their hashes, that have none yet."""
    known, vectors = catalog.embedded(list(texts)), dict[str, "Vector"]()
    for part in _parts(hash for hash in texts if hash not in known):
        embedded = await embedder.embed([texts[hash] for hash in part], role="passage")
        vectors.update(zip(part, embedded, strict=True))
    return vectors


def _progress(group: _Group, tally: _Tally) -> Progress:
    """What is durable now."""
    return Progress(
        committed=tuple(one.document.id for one in group.prepared),
        documents=tally.added + tally.updated,
        chunks=tally.chunks,
        embedded=tally.embedded,
        share=min(tally.read / tally.files, 1.0) if tally.files else 0.0,
    )


def _prepare(document: Document, settings: ChunkSettings, embedder: Embedder) -> Prepared:
    chunks = tuple(chunk.split(document, settings, embedder.tokens))
    hashes = tuple(text_hash(one.headed) for one in chunks)
    return Prepared(document=document, chunks=chunks, hashes=hashes)


def _parts(hashes: Iterable[str]) -> Iterator[list[str]]:
    stream = iter(hashes)
    while part := list(islice(stream, COMMITTED)):
        yield part
