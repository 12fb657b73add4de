"""Ingest in groups of documents: chunk, embed texts without a vector, commit.

The next group is read and chunked while the current one is embedded and committed. The pipeline reads only one group
ahead, so memory does not grow with the source. Embedding and committing never overlap, because a commit may drop a
vector that the next group relies on; little time is lost, as commits are short.

Reported commits are durable. An interruption loses only the current groups, and the next run stores them. A stored,
unchanged document costs one comparison of signatures.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from threading import Event
from typing import TypeVar

from ragstone import chunk
from ragstone.acquire.readers.decode import decoded_file
from ragstone.catalog.protocol import Catalog, Prepared
from ragstone.catalog.rows import signature, text_hash
from ragstone.core.access import ATTACHED, EVERYONE, READERS, groups_in, is_conversation
from ragstone.core.errors import Conflict
from ragstone.core.filters import Scalar
from ragstone.core.protocols import Embedder
from ragstone.core.records import UNCLEAR, Acquired, Decoded, Document, Finished, Skipped, Unchanged
from ragstone.core.reports import AddReport, Plan, hidden_notices
from ragstone.core.request import BILLION, Request
from ragstone.core.threads import check, in_thread
from ragstone.engine.batches import Change, Group, embedded, vectors_of
from ragstone.engine.captions import Describing
from ragstone.engine.progress import Reporter, with_beats
from ragstone.engine.storable import storable
from ragstone.settings import ChunkSettings

BATCH_DOCUMENTS = 64
"""Maximum of documents that are read and compared with the catalog in one batch."""
BATCH_CHARACTERS = 4_000_000
"""Characters, and bytes of pictures, that end a batch."""
MAX_COMMIT_CHUNKS = 256
"""Maximum of chunks in a commit, unless one document has more."""
MIN_COMMIT_CHUNKS = 32
"""Minimum of chunks in a commit, even if the embedder is slow."""
COMMIT_SECONDS = 2.0
"""Target duration of a group: an interruption loses little work."""

OUTDATED = "its stored version is outdated; ragstone sync removes it"
"""What is said of a file that holds nothing any more."""
_STILL_HIDDEN = 'it names no groups any more, and nobody could read it before; to open it, write: readers: "*"'
Turn = Callable[[], AbstractAsyncContextManager[None]]
"""Makes a context in which the caller holds the lock; each commit uses one."""
_T = TypeVar("_T")


class StreamWatcher:
    """Records the sources in a stream, to find stored documents that have disappeared."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._ids: set[str] = set()
        self._kept: set[str] = set()
        self.outdated: list[Finished] = []
        """Files that lost documents. They count as finished once those documents are removed."""

    def watch(self, stream: Iterable[Acquired]) -> Iterator[Acquired]:
        """Yield the stream without the `Finished` records of outdated files.

        The next run would skip a file stored as finished, and its lost documents would stay.
        """
        for acquired in stream:
            match acquired:
                case Document():
                    self._ids.add(acquired.id)
                case Skipped(emptied=True):
                    pass
                case Skipped() | Unchanged():
                    self._kept.add(acquired.source)
                case Finished():
                    if self.find_removed([acquired.source]):
                        self.outdated.append(acquired)
                        continue
            yield acquired

    def find_removed(self, roots: Iterable[str]) -> list[str]:
        """Return the ids of stored documents below these roots that the stream did not contain.

        Documents of unreadable sources, and of everything inside those, are kept.
        """
        stored = dict(chain.from_iterable(self._catalog.documents_under(root) for root in roots))
        return [id for id, source in stored.items() if id not in self._ids and not self.is_kept(source)]

    def is_kept(self, source: str) -> bool:
        """Return whether a source, or a folder or file around it, was unchanged or unreadable."""
        ends = [*(i for i, char in enumerate(source) if char in "/#"), len(source)]
        return any(source[:end] in self._kept for end in ends)


@dataclass(slots=True)
class _Tally:
    """Running counts for the report. Documents and chunks count once they are committed."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    decoded: dict[Decoded, None] = field(default_factory=dict)  # each file once, though every row of a table says it
    hidden: dict[str, list[str]] = field(default_factory=dict)
    """Documents that nobody may read because it is unclear who may, by the reason."""
    pending: dict[str, str] = field(default_factory=dict)
    """Signatures of documents that are not committed yet."""
    pending_groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Access groups of documents that are not committed yet."""
    inherit_groups: bool = True
    commit_chunks: int = 2 * MIN_COMMIT_CHUNKS
    """Chunks in the next commit: as many as the embedder recently managed in `COMMIT_SECONDS`."""


async def ingest(
    stream: Iterable[Acquired],
    catalog: Catalog,
    embedder: Embedder,
    settings: ChunkSettings,
    request: Request,
    reporter: Reporter | None = None,
    *,
    describing: Describing | None = None,
    known: Catalog | None = None,
    inherit_groups: bool = True,
    turn: Turn = nullcontext,
) -> AddReport:
    """Store new and changed documents and return a report. A document replaces the stored one with the same id.

    Args:
        stream: documents and other results of reading; it is read lazily and may be long.
        catalog: the catalog to write; either the caller or ``turn`` holds the lock during a commit.
        embedder: embeds the texts that have no vector yet.
        settings: how to split documents into chunks.
        request: who pays for an embedding service. Cancellation sets ``request.stop``; a stream that checks it ends
            early.
        reporter: counts and reports what is durable. If it is private, the catalog notes no unreadable sources.
        describing: describes pictures, if the settings name a model for that.
        known: another catalog with vectors of the same embedder, which are reused.
        inherit_groups: whether a document without access groups keeps the groups stored with its id.
        turn: makes the context of each commit, for a caller that does not hold the lock throughout.

    Raises:
        Conflict: another process changed one of the documents between two turns.
    """
    started, tally, meter = time.perf_counter(), _Tally(inherit_groups=inherit_groups), request.meter
    reporter = reporter or Reporter()
    batches = _read_batches(stream, request.stop, describing)
    changes = _prefetch(_group_changes(batches, catalog, embedder, settings, tally, request.stop))
    prepared = embedded(changes, catalog, embedder, request, known)
    async with aclosing(changes), aclosing(prepared), aclosing(with_beats(prepared, reporter)) as groups:
        async for group in groups:
            await _commit(group, catalog, embedder, tally, turn, request, reporter)
    if tally.skipped and not reporter.is_private:
        async with turn():
            catalog.note_skipped(tally.skipped)
    _note_kept_versions(tally, catalog)
    return AddReport(
        added=tally.added,
        updated=tally.updated,
        unchanged=tally.unchanged,
        skipped=tuple(tally.skipped),
        decoded=tuple(tally.decoded),
        chunks=tally.chunks,
        embedded=tally.embedded,
        cached=tally.cached,
        seconds=time.perf_counter() - started,
        embedding_calls=meter.embedding_calls,
        embedding_tokens=meter.embedding_tokens,
        embedding_retries=meter.embedding_retries,
        cost=meter.cost / BILLION,
        notices=hidden_notices({reason: (len(ids), ids) for reason, ids in tally.hidden.items()}),
    )


def _note_kept_versions(tally: _Tally, catalog: Catalog) -> None:
    """Extend the reason of each skipped source of which an older version is stored."""
    stored = catalog.stored_names([one.source for one in tally.skipped])
    tally.skipped = [
        replace(one, reason=f"{one.reason}; {OUTDATED if one.emptied else 'its stored version is kept'}")
        if one.source in stored
        else one
        for one in tally.skipped
    ]


async def plan(stream: Iterable[Acquired], catalog: Catalog, stop: Event, describing: Describing | None = None) -> Plan:
    """Return what `ingest` would add, update and skip, without changing anything."""
    tally = _Tally()
    added, updated = list[str](), list[str]()
    async for batch in _read_batches(stream, stop, describing):
        for document, _, before in _find_changed(batch, catalog, tally):
            (updated if before else added).append(document.id)
    _note_kept_versions(tally, catalog)
    return Plan(
        added=tuple(dict.fromkeys(added)),
        updated=tuple(dict.fromkeys(updated)),
        removed=(),
        unchanged=tally.unchanged,
        skipped=tuple(tally.skipped),
    )


async def _read_batches(
    stream: Iterable[Acquired], stop: Event, describing: Describing | None
) -> AsyncIterator[list[Acquired]]:
    """Yield what is read in batches, with the pictures described."""
    iterator = iter(stream)
    while batch := await in_thread(lambda: _read_batch(iterator, stop), stop):
        yield await describing.completed(batch) if describing else batch


def _read_batch(iterator: Iterator[Acquired], stop: Event) -> list[Acquired]:
    batch, characters, until = list[Acquired](), 0, time.monotonic() + COMMIT_SECONDS
    for one in islice(iterator, BATCH_DOCUMENTS):
        check(stop)
        batch.append(one)
        characters += len(one.text) + sum(map(len, one.pictures)) if isinstance(one, Document) else 0
        if characters >= BATCH_CHARACTERS or time.monotonic() > until:
            break
    return batch


async def _group_changes(
    batches: AsyncIterator[list[Acquired]],
    catalog: Catalog,
    embedder: Embedder,
    settings: ChunkSettings,
    tally: _Tally,
    stop: Event,
) -> AsyncGenerator[Group, None]:
    """Yield the new and changed documents with their chunks, in groups of about one commit each."""
    group, chunks, started = Group(), 0, time.monotonic()
    async for batch in batches:
        for document, current, before in _find_changed(batch, catalog, tally):
            prepared = await in_thread(partial(_prepare, document, settings, embedder), stop)
            group.items.append(Change(prepared=prepared, signature=current, before=before))
            chunks += len(prepared.chunks)
            tally.pending[document.id] = current
            if READERS in document.metadata:
                tally.pending_groups[document.id] = groups_in(document.metadata[READERS])
            if chunks >= tally.commit_chunks:
                yield group
                group, chunks, started = Group(), 0, time.monotonic()
        group.items += [one for one in batch if isinstance(one, Finished | Unchanged)]
        if group.changes and time.monotonic() - started > COMMIT_SECONDS:
            yield group
            group, chunks, started = Group(), 0, time.monotonic()
    yield group


async def _prefetch(stream: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
    """Yield the items of a stream, and make the next item while the caller uses the current one."""

    async def next_item() -> _T | None:
        return await anext(stream, None)

    coming = asyncio.ensure_future(next_item())
    try:
        while (item := await coming) is not None:
            coming = asyncio.ensure_future(next_item())
            yield item
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await stream.aclose()


def _find_changed(
    batch: Iterable[Acquired], catalog: Catalog, tally: _Tally
) -> Iterator[tuple[Document, str, str | None]]:
    """Yield the new and changed documents with their current and stored signatures; count everything else."""
    documents: list[Document] = []
    for acquired in batch:
        match acquired:
            case Document():
                cleaned = storable(acquired)
                if decoded := decoded_file(acquired):
                    tally.decoded[decoded] = None
                if isinstance(cleaned, Document):
                    documents.append(cleaned)
                else:
                    tally.skipped.append(cleaned)
            case Skipped():
                tally.skipped.append(acquired)
            case Unchanged():
                tally.unchanged += len(catalog.documents_under(acquired.source))
            case Finished():
                pass
    if tally.inherit_groups:
        documents = _inherit_groups(documents, catalog, tally)
    stored = catalog.signatures([document.id for document in documents])
    stored |= {one.id: tally.pending[one.id] for one in documents if one.id in tally.pending}
    for document in documents:
        if reason := document.metadata.get(UNCLEAR):
            tally.hidden.setdefault(str(reason), []).append(document.id)
        current = signature(document)
        if stored.get(document.id) == current:
            tally.unchanged += 1
        else:
            yield document, current, stored.get(document.id)
            stored[document.id] = current


def _inherit_groups(documents: Sequence[Document], catalog: Catalog, tally: _Tally) -> list[Document]:
    """Return the documents; those without access groups get the groups stored with their id.

    Otherwise a forgotten rule or a missing column would make restricted documents public. The group ``*`` makes a
    document public on purpose.
    """
    undeclared = [one.id for one in documents if READERS not in one.metadata]
    before = catalog.access_groups(undeclared) if undeclared and catalog.restricts([EVERYONE]) else {}
    before |= {id: tally.pending_groups[id] for id in undeclared if id in tally.pending_groups}
    out: list[Document] = []
    for document in documents:
        if READERS in document.metadata:
            before[document.id] = groups_in(document.metadata[READERS])
        elif (groups := before.get(document.id)) is not None:
            kept: dict[str, Scalar | tuple[Scalar, ...]] = (
                {READERS: groups} if groups else {READERS: groups, UNCLEAR: _STILL_HIDDEN}
            )
            if groups and is_conversation(groups[0]):
                kept[ATTACHED] = groups[0]
            document = replace(document, metadata={**document.metadata, **kept})
        out.append(document)
    return out


async def _commit(
    group: Group,
    catalog: Catalog,
    embedder: Embedder,
    tally: _Tally,
    turn: Turn,
    request: Request,
    reporter: Reporter,
) -> None:
    changes, before, finished = group.changes, group.before(), group.finished
    if not changes and not finished:
        reporter.commit((), chunks=0, embedded=0, files=group.files)
        return
    if group.embedded:
        rate = len(group.embedded) / max(group.seconds, 1e-3)
        tally.commit_chunks = max(MIN_COMMIT_CHUNKS, min(MAX_COMMIT_CHUNKS, int(rate * COMMIT_SECONDS)))
    vectors = group.embedded | group.kept
    async with turn():
        if catalog.signatures(list(before)) != {id: old for id, old in before.items() if old}:
            raise Conflict("another process stored the same documents at the same time; try again")
        # Another process may have removed a document, and its vectors, in the meantime.
        texts = {hash: text for hash, text in group.texts.items() if hash not in vectors}
        stored = catalog.embedded(list(texts))
        gone = {hash: text for hash, text in texts.items() if hash not in stored}
        vectors |= await vectors_of(gone, embedder, request)
        await in_thread(partial(catalog.commit, group.prepared, vectors, finished))
    for one in changes:
        id = one.prepared.document.id
        if tally.pending.get(id) == one.signature:  # otherwise a later version is pending
            del tally.pending[id]
            tally.pending_groups.pop(id, None)
    tally.added += sum(one.before is None for one in changes)
    tally.updated += sum(one.before is not None for one in changes)
    tally.chunks += group.chunks
    tally.embedded += len(group.embedded) + len(gone)
    tally.cached += len(group.kept)
    documents = [one.document for one in group.prepared]
    new = len(group.embedded) + len(gone)
    reporter.commit(documents, chunks=group.chunks, embedded=new, files=group.files)


def _prepare(document: Document, settings: ChunkSettings, embedder: Embedder) -> Prepared:
    chunks = tuple(chunk.split(document, settings, embedder.tokens))
    hashes = tuple(text_hash(one.embedded) for one in chunks)
    return Prepared(document=document, chunks=chunks, hashes=hashes)
