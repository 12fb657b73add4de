"""Embed the texts of an ingest: each once, and in full requests if an embedding service charges per call.

A document is committed as a whole, so a group of documents rarely fills a whole number of requests. Documents with
left-over texts wait for the next group; with a local embedder, none wait.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from ragstone.catalog.protocol import Catalog, Prepared
from ragstone.core.frozen import frozen
from ragstone.core.protocols import BatchingEmbedder, Embedder
from ragstone.core.records import Finished, Unchanged
from ragstone.core.request import Request

if TYPE_CHECKING:
    from ragstone.core.records import Vector

MAX_TEXTS = 256
"""Maximum of texts in one call of the embedder, unless a full request has more."""


@frozen
class Change:
    """A new or changed document with its signature and the one stored before, None for a new document."""

    prepared: Prepared
    signature: str
    before: str | None


@dataclass(slots=True)
class Group:
    """The contents of a commit, in the order of the source.

    ``embedded`` are the vectors computed for it by text hash, ``seconds`` the time for that, and ``kept`` the cached
    vectors.
    """

    items: list[Change | Finished | Unchanged] = field(default_factory=list)
    embedded: dict[str, Vector] = field(default_factory=dict)
    kept: dict[str, Vector] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def changes(self) -> list[Change]:
        """The documents."""
        return [one for one in self.items if isinstance(one, Change)]

    @property
    def prepared(self) -> list[Prepared]:
        """The documents as the catalog stores them."""
        return [one.prepared for one in self.changes]

    @property
    def finished(self) -> list[Finished]:
        """The completely read files."""
        return [one for one in self.items if isinstance(one, Finished)]

    @property
    def files(self) -> int:
        """How many files the commit completes."""
        return len(self.items) - len(self.changes)

    @property
    def chunks(self) -> int:
        """How many chunks the documents have."""
        return sum(len(one.chunks) for one in self.prepared)

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the chunks by their hashes."""
        pairs = (zip(one.hashes, one.chunks, strict=True) for one in self.prepared)
        return {hash: chunk.embedded for hash, chunk in chain.from_iterable(pairs)}

    def before(self) -> dict[str, str | None]:
        """Return the signature that each document had before this commit, None for a new one."""
        out: dict[str, str | None] = {}
        for one in self.changes:
            out.setdefault(one.prepared.document.id, one.before)
        return out

    def take(self, stored: Set[str]) -> Group:
        """Remove and return everything before the first document that lacks a vector; ``stored`` have one."""
        there = stored | self.embedded.keys() | self.kept.keys()
        end = next((i for i, one in enumerate(self.items) if not _is_complete(one, there)), len(self.items))
        ready = Group(items=self.items[:end], seconds=self.seconds)
        texts, self.items, self.seconds = ready.texts, self.items[end:], 0.0
        ready.embedded, self.embedded = _divide(self.embedded, texts)
        ready.kept, self.kept = _divide(self.kept, texts)
        return ready


async def embedded(
    groups: AsyncGenerator[Group], catalog: Catalog, embedder: Embedder, request: Request, known: Catalog | None
) -> AsyncGenerator[Group]:
    """Yield the groups with the vectors of their texts; each is committed before the next is embedded."""
    waiting = Group()
    async for group in groups:
        waiting.items += group.items
        yield waiting.take(await _embed(waiting, catalog, embedder, request, known, full=True))
    await _embed(waiting, catalog, embedder, request, known)
    yield waiting


async def vectors_of(texts: Mapping[str, str], embedder: Embedder, request: Request) -> dict[str, Vector]:
    """Return the vectors of texts by hash."""
    out: dict[str, Vector] = {}
    batch = _batch(embedder)
    for part in _split(texts, batch * max(1, MAX_TEXTS // batch)):
        new = await embedder.embed([texts[hash] for hash in part], role="passage", request=request)
        out.update(zip(part, new, strict=True))
    return out


async def _embed(
    group: Group,
    catalog: Catalog,
    embedder: Embedder,
    request: Request,
    known: Catalog | None,
    *,
    full: bool = False,
) -> set[str]:
    """Embed the texts of a group that have no vector; return the hashes of those that have one in the catalog.

    Args:
        group: gets the vectors.
        catalog: has the vectors of stored texts.
        embedder: embeds the others.
        request: pays.
        known: another catalog with vectors of the embedder.
        full: omit the texts that do not fill a request.
    """
    texts = {hash: text for hash, text in group.texts.items() if hash not in group.embedded and hash not in group.kept}
    stored = set(catalog.embedded(list(texts)))
    missing = {hash: text for hash, text in texts.items() if hash not in stored}
    if known is not None:
        group.kept |= known.vectors_by_hash([*missing])
        missing = {hash: text for hash, text in missing.items() if hash not in group.kept}
    if isinstance(embedder, BatchingEmbedder):
        kept = embedder.kept([*missing.values()])
        group.kept.update({hash: kept[text] for hash, text in missing.items() if text in kept})
        missing = {hash: text for hash, text in missing.items() if text not in kept}
    count = len(missing) - (len(missing) % _batch(embedder) if full else 0)
    started = time.monotonic()
    group.embedded.update(await vectors_of(dict(islice(missing.items(), count)), embedder, request))
    group.seconds += time.monotonic() - started
    return stored


def _batch(embedder: Embedder) -> int:
    return embedder.batch if isinstance(embedder, BatchingEmbedder) else 1


def _is_complete(one: Change | Finished | Unchanged, there: Set[str]) -> bool:
    return not isinstance(one, Change) or there >= set(one.prepared.hashes)


def _divide(vectors: dict[str, Vector], texts: Mapping[str, str]) -> tuple[dict[str, Vector], dict[str, Vector]]:
    """Return the vectors of these texts, and the others."""
    ours = {hash: vector for hash, vector in vectors.items() if hash in texts}
    return ours, {hash: vector for hash, vector in vectors.items() if hash not in ours}


def _split(hashes: Iterable[str], size: int) -> Iterator[list[str]]:
    stream = iter(hashes)
    while part := list(islice(stream, size)):
        yield part
