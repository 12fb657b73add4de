"""A collection of Qdrant that holds an index, and the commit of the catalog it was synced to.

A collection has a point for each chunk, with its row as id, and the point 0 without a vector, whose payload is the
commit and what else the index records. Filters are sent as ids, because the metadata of a document may change while its
chunks, and so its points, do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.catalog import Stamp
from ragstone.core.errors import EngineError
from ragstone.index.engines.qdrant.connection import (
    Connect,
    consistency,
    models,
    ordering,
    quantized,
    translating,
    unlike,
)
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.settings.services import QdrantSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

READ = 10_000
"""Ids in a request or a reply."""
SENT = 512
"""Points with their vectors in a request or a reply."""
PATIENT = 120.0
"""Seconds for a change, which no question waits for; a server that builds graphs may be slow."""
ABOUT = 0
"""Id of the point that holds the commit. Rows begin at 1."""


class Collection:
    """The collection of one index on one server."""

    def __init__(
        self, settings: QdrantSettings, names: CollectionNames, alias: str, connect: Connect, seconds: float
    ) -> None:
        """
        Args:
            settings: the address of the server.
            names: of the collections.
            alias: of the collection in use, for other programs.
            connect: returns the client.
            seconds: to wait for one reply; changes may take longer.
        """
        self._settings, self._names, self._alias = settings, names, alias
        self._seconds, self._patience = math.ceil(seconds), math.ceil(max(PATIENT, seconds))
        self._client = connect(settings, seconds)
        self._patient = connect(settings, max(PATIENT, seconds))
        self._ordering, self._consistency = ordering(settings), consistency(settings)
        self._target, self._compared, self._unlike = "", "", ""
        self.name = f"qdrant at {settings.url}"

    @property
    def current(self) -> str:
        """The name of the collection that is searched; empty if there is none yet."""
        return self._names.current

    def about(self, name: str) -> Mapping[str, Any]:
        """Return what was recorded when a collection was last sealed; empty if it never was."""
        with self.translating():
            if not name:
                self._client.get_collections()  # fails if the server is away
                return {}
            if not self._client.collection_exists(name):
                return {}
            points = self._client.retrieve(name, [ABOUT], consistency=self._consistency, timeout=self._seconds)
        return (points[0].payload or {}) if points else {}

    def unlike(self, *, has_vectors: bool) -> str:
        """Return how the collection differs from the settings; the server is asked once for each collection."""
        name = self._names.current
        if name and name != self._compared:
            with self.translating():
                made = self._client.get_collection(name).config
            self._unlike, self._compared = unlike(self._settings, made, has_vectors=has_vectors), name
        return self._unlike if name else ""

    def count(self, name: str) -> int:
        """Return about how many chunks a sealed collection holds."""
        with self.translating():
            return self._client.count(name, exact=False, timeout=self._seconds).count - 1

    # ------------------------------------------------------------ changing

    def begin(
        self,
        *,
        vectors: Mapping[str, models.VectorParams] | None = None,
        sparse: Mapping[str, models.SparseVectorParams] | None = None,
    ) -> None:
        """Create an empty collection, which is not searched before it is sealed."""
        self._target = self._names.begin()
        with self.translating():
            self._patient.create_collection(
                self._target,
                vectors_config=vectors,
                sparse_vectors_config=sparse,
                on_disk_payload=True,
                shard_number=self._settings.shards or None,
                replication_factor=self._settings.replicas or None,
                write_consistency_factor=self._settings.write_consistency or None,
                quantization_config=quantized(self._settings) if vectors else None,
                timeout=self._patience,
            )

    def drop(self, rows: Rows) -> None:
        """Remove rows from the collection that is searched, and give up one that was being built."""
        self._target = self._names.current
        with self.translating():
            for start in range(0, len(rows), READ):
                points = models.PointIdsList(points=rows[start : start + READ].tolist())
                self._done(
                    self._patient.delete(
                        self._target, points_selector=points, wait=True, ordering=self._ordering, timeout=self._patience
                    )
                )

    def put(self, points: models.Batch | list[models.PointStruct]) -> None:
        """Store points, replacing those with the same ids."""
        with self.translating():
            self._done(
                self._patient.upsert(
                    self._target, points=points, wait=True, ordering=self._ordering, timeout=self._patience
                )
            )

    def _done(self, change: models.UpdateResult) -> None:
        """Refuse a change that the server has only noted: the commit must not be recorded before it is done."""
        if change.status != models.UpdateStatus.COMPLETED:
            raise EngineError(f"{self.name} has not finished a change after {self._patience} s ({change.status})")

    def seal(self, stamp: Stamp, noted: Mapping[str, str | float] | None = None) -> None:
        """Record the commit and what else is given, and make a new collection the one that is searched."""
        payload = {**(noted or {}), "generation": stamp.generation, "mark": stamp.mark}
        self.put([models.PointStruct(id=ABOUT, vector={}, payload=payload)])
        if self._target == self._names.coming:
            self._names.switch()

    def publish(self) -> None:
        """Point the alias at the collection of the version in use, in one step, and drop those that nobody needs.

        A collection that has the name of the alias is another program's, and keeps it.
        """
        name, alias = self._names.current, self._alias
        named = bool(name) and self._names.is_in_use
        with self.translating():
            collections = [one.name for one in self._patient.get_collections().collections]
            if named and alias not in collections:
                aliases = {one.alias_name: one.collection_name for one in self._patient.get_aliases().aliases}
                if aliases.get(alias) != name:
                    remove = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
                    create = models.CreateAlias(collection_name=name, alias_name=alias)
                    made = models.CreateAliasOperation(create_alias=create)
                    changes = [remove, made] if alias in aliases else [made]
                    self._patient.update_collection_aliases(change_aliases_operations=changes)
            for name in self._names.stale(collections):
                self._patient.delete_collection(name)

    # ------------------------------------------------------------ reading

    def rows(self) -> Rows:
        return np.array(sorted(self._ids()), dtype=np.int64)

    def points(self, rows: Rows, *, with_payload: bool = False) -> Iterator[models.Record]:
        """Yield points with their vectors."""
        for start in range(0, len(rows), SENT):
            ids = rows[start : start + SENT].tolist()
            with self.translating():
                yield from self._client.retrieve(
                    self._names.current,
                    ids,
                    with_vectors=True,
                    with_payload=with_payload,
                    consistency=self._consistency,
                    timeout=self._seconds,
                )

    def best(
        self,
        query: list[float] | models.SparseVector,
        k: int,
        *,
        using: str,
        only: Rows | None = None,
        params: models.SearchParams | None = None,
        payload: list[str] | None = None,
        name: str = "",
    ) -> list[models.ScoredPoint]:
        """Return the best points for a vector.

        Args:
            query: dense or sparse.
            k: the most points to return.
            using: the name of the vector of points.
            only: the rows that may be returned; None for any.
            params: how the graph is searched.
            payload: the names of what is returned of the payload.
            name: of the collection; the one that is searched by default.
        """
        with self.translating():
            return self._client.query_points(
                name or self._names.current,
                query=query,
                using=using,
                limit=k,
                query_filter=_with_ids(only),
                search_params=params,
                with_payload=payload or False,
                consistency=self._consistency,
                timeout=self._seconds,
            ).points

    def _ids(self) -> Iterator[int]:
        offset = None
        while True:
            with self.translating():
                points, offset = self._client.scroll(
                    self._names.current,
                    limit=READ,
                    offset=offset,
                    with_payload=False,
                    with_vectors=False,
                    consistency=self._consistency,
                    timeout=self._seconds,
                )
            yield from (int(point.id) for point in points if point.id != ABOUT)
            if offset is None:
                return

    def translating(self) -> AbstractContextManager[None]:
        """Translate the errors of the client."""
        return translating(self.name)


def _with_ids(rows: Rows | None) -> models.Filter | None:
    """Return a filter for points with these ids; None for any."""
    return None if rows is None else models.Filter(must=[models.HasIdCondition(has_id=rows.tolist())])
