"""Vectors in Qdrant: a server or a cluster, by its address.

A collection holds a point for each chunk, its row as id, and the point 0, which has no vector: its payload is the
commit that the collection was brought up to. Filters are told as ids, for facts of a document may change while its
chunks, and so its points, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ragstone.errors import EngineError, MissingExtra
from ragstone.index.following.collection_names import CollectionNames
from ragstone.index.records import Stamp
from ragstone.services import QdrantSettings

try:
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import UnexpectedResponse
except ImportError as error:
    raise MissingExtra("qdrant-client", extra="qdrant") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

    Rows = NDArray[np.int64]

SENT = 512
"""Points in a request."""
READ = 10_000
"""Ids in a reply."""
EFFORT = 400
"""Candidates of the graph that are looked at."""
PATIENT = 120.0
"""Seconds that a change may take, of which nobody waits for an answer; a server that makes graphs may be slow."""
STAMP = 0
"""Id of the point that holds the commit. Rows begin at 1."""
TEXT = "text"
"""Name of the vector of a point."""


def connect(settings: QdrantSettings) -> QdrantClient:
    """A client; nothing is sent before it is used."""
    return QdrantClient(
        url=settings.url,
        api_key=settings.api_key.get_secret_value() or None,
        timeout=max(1, round(settings.timeout_seconds)),
        check_compatibility=False,
    )


class QdrantStore:
    """The collection of a version."""

    def __init__(
        self,
        settings: QdrantSettings,
        names: CollectionNames,
        dimensions: int,
        *,
        exact_limit: int,
        connect: Callable[[QdrantSettings], QdrantClient] = connect,
    ) -> None:
        """
        Args:
            settings: where it is.
            names: of the collections.
            dimensions: of the vectors.
            exact_limit: up to so many points every vector is compared, and no graph asked.
            connect: gives the client.
        """
        self._settings, self._names, self._dimensions, self._exact_limit = settings, names, dimensions, exact_limit
        self._client = connect(settings)
        slow = {"timeout_seconds": max(PATIENT, settings.timeout_seconds)}
        self._patient = connect(settings.model_copy(update=slow))
        self._target, self._is_exact = "", False
        self.name = f"qdrant at {settings.url}"
        self.least, self.refine, self.worn = 0, 1, False

    def stamp(self) -> Stamp:
        name = self._names.current
        with self._told():
            if not name:
                self._client.get_collections()  # whether it is there at all
                return Stamp()
            found = self._client.retrieve(name, [STAMP]) if self._client.collection_exists(name) else []
            points = self._client.count(name, exact=False).count - 1 if found else 0
            self._is_exact = 0 < points <= self._exact_limit
        payload = found[0].payload if found else None
        return Stamp(generation=payload["generation"], mark=payload["mark"]) if payload else Stamp()

    # ------------------------------------------------------------ changing

    def begin(self, sample: Vector) -> None:
        del sample  # it learns nothing
        self._target = self._names.begin()
        with self._told():
            self._patient.create_collection(
                self._target,
                vectors_config={TEXT: models.VectorParams(size=self._dimensions, distance=models.Distance.COSINE)},
                shard_number=self._settings.shards or None,
                replication_factor=self._settings.replicas or None,
                write_consistency_factor=self._settings.write_consistency or None,
            )

    def drop(self, rows: Rows) -> None:
        self._target = self._names.current
        with self._told():
            for start in range(0, len(rows), READ):
                points = models.PointIdsList(points=rows[start : start + READ].tolist())
                self._patient.delete(self._target, points_selector=points, wait=True)

    def put(self, rows: Rows, vectors: Vector) -> None:
        with self._told():
            for start in range(0, len(rows), SENT):
                part = slice(start, start + SENT)
                points = models.Batch(ids=rows[part].tolist(), vectors={TEXT: vectors[part].tolist()})
                self._patient.upsert(self._target, points=points, wait=True)

    def seal(self, stamp: Stamp) -> None:
        payload = {"generation": stamp.generation, "mark": stamp.mark}
        with self._told():
            sealed = models.PointStruct(id=STAMP, vector={}, payload=payload)
            self._patient.upsert(self._target, points=[sealed], wait=True)
        if self._target == self._names.coming:
            self._names.settle()

    def publish(self) -> None:
        """Let the alias name the collection of the version in use, in one step, and drop those of nobody."""
        name, alias = self._names.current, self._settings.collection
        with self._told():
            if name and self._names.is_in_use:
                aliases = {one.alias_name: one.collection_name for one in self._patient.get_aliases().aliases}
                if aliases.get(alias) != name:
                    remove = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
                    create = models.CreateAlias(collection_name=name, alias_name=alias)
                    made = models.CreateAliasOperation(create_alias=create)
                    changes = [remove, made] if alias in aliases else [made]
                    self._patient.update_collection_aliases(change_aliases_operations=changes)
            collections = [one.name for one in self._patient.get_collections().collections]
            for name in self._names.stale(collections):
                self._patient.delete_collection(name)

    # ------------------------------------------------------------ searching

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        only = None if allowed is None else models.Filter(must=[models.HasIdCondition(has_id=allowed.tolist())])
        # A graph loses its way where few of its points are allowed; to compare those few is quick.
        exact = self._is_exact or allowed is not None
        effort = models.SearchParams(exact=True) if exact else models.SearchParams(hnsw_ef=EFFORT)
        with self._told():
            found = self._client.query_points(
                self._names.current,
                query=vector.tolist(),
                using=TEXT,
                limit=k,
                query_filter=only,
                search_params=effort,
                with_payload=False,
            )
        return np.array([point.id for point in found.points if point.id != STAMP], dtype=np.int64)

    def rows(self) -> Rows:
        return np.array(sorted(self._ids()), dtype=np.int64)

    def _ids(self) -> Iterator[int]:
        offset = None
        while True:
            with self._told():
                points, offset = self._client.scroll(
                    self._names.current, limit=READ, offset=offset, with_payload=False, with_vectors=False
                )
            yield from (int(point.id) for point in points if point.id != STAMP)
            if offset is None:
                return

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except UnexpectedResponse as error:
            raise EngineError(f"{self.name} refused: {error.status_code} {error.reason_phrase}") from error
        except Exception as error:  # connections fail in many ways, by several libraries
            raise EngineError(f"{self.name} cannot be reached: {error}") from error
