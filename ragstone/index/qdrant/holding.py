"""A collection of Qdrant that holds an index, and in it the commit of the catalog that it was brought up to.

A collection holds a point for each chunk, its row as id, and the point 0, which has no vector: its payload is the
commit, and what else the index notes. Filters are told as ids, for facts of a document may change while its chunks, and
so its points, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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

    Rows = NDArray[np.int64]

Connect = Callable[[QdrantSettings], QdrantClient]
READ = 10_000
"""Ids in a request or a reply."""
PATIENT = 120.0
"""Seconds that a change may take, of which nobody waits for an answer; a server that makes graphs may be slow."""
ABOUT = 0
"""Id of the point that holds the commit. Rows begin at 1."""


def connect(settings: QdrantSettings) -> QdrantClient:
    """A client; nothing is sent before it is used."""
    return QdrantClient(
        url=settings.url,
        api_key=settings.api_key.get_secret_value() or None,
        timeout=max(1, round(settings.timeout_seconds)),
        check_compatibility=False,
    )


class Holding:
    """The collection of one index, on one server."""

    def __init__(self, settings: QdrantSettings, names: CollectionNames, alias: str, connect: Connect) -> None:
        """
        Args:
            settings: where it is.
            names: of the collections.
            alias: what other programs know the collection in use by.
            connect: gives the client.
        """
        self._settings, self._names, self._alias = settings, names, alias
        self.client = connect(settings)
        slow = {"timeout_seconds": max(PATIENT, settings.timeout_seconds)}
        self._patient = connect(settings.model_copy(update=slow))
        self._target = ""
        self.name = f"qdrant at {settings.url}"

    @property
    def current(self) -> str:
        """The name of the collection that is searched; empty where there is none yet."""
        return self._names.current

    def about(self, name: str) -> Mapping[str, Any]:
        """What was noted in a collection when it was sealed last; nothing where it was not, or is not there."""
        with self.told():
            if not name:
                self.client.get_collections()  # whether the server is there at all
                return {}
            found = self.client.retrieve(name, [ABOUT]) if self.client.collection_exists(name) else []
        return (found[0].payload or {}) if found else {}

    def count(self, name: str) -> int:
        """About how many chunks a sealed collection holds."""
        with self.told():
            return self.client.count(name, exact=False).count - 1

    # ------------------------------------------------------------ changing

    def begin(
        self,
        *,
        vectors: Mapping[str, models.VectorParams] | None = None,
        sparse: Mapping[str, models.SparseVectorParams] | None = None,
    ) -> None:
        """An empty collection, which is not searched before it is sealed."""
        self._target = self._names.begin()
        with self.told():
            self._patient.create_collection(
                self._target,
                vectors_config=vectors,
                sparse_vectors_config=sparse,
                shard_number=self._settings.shards or None,
                replication_factor=self._settings.replicas or None,
                write_consistency_factor=self._settings.write_consistency or None,
                on_disk_payload=True,
            )

    def drop(self, rows: Rows) -> None:
        """Change the collection that is searched, whatever became of one that was being made: take rows out."""
        self._target = self._names.current
        with self.told():
            for start in range(0, len(rows), READ):
                points = models.PointIdsList(points=rows[start : start + READ].tolist())
                self._patient.delete(self._target, points_selector=points, wait=True)

    def put(self, points: models.Batch | list[models.PointStruct]) -> None:
        """Store points, in the place of those with the same ids."""
        with self.told():
            self._patient.upsert(self._target, points=points, wait=True)

    def seal(self, stamp: Stamp, noted: Mapping[str, str | float] | None = None) -> None:
        """Note the commit, and what else is given; search what was made, if anything was."""
        payload = {**(noted or {}), "generation": stamp.generation, "mark": stamp.mark}
        self.put([models.PointStruct(id=ABOUT, vector={}, payload=payload)])
        if self._target == self._names.coming:
            self._names.settle()

    def publish(self) -> None:
        """Let the alias name the collection of the version in use, in one step, and drop those of nobody."""
        name, alias = self._names.current, self._alias
        named = bool(name) and self._names.is_in_use
        with self.told():
            if named:
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

    # ------------------------------------------------------------ reading

    def rows(self) -> Rows:
        return np.array(sorted(self._ids()), dtype=np.int64)

    def _ids(self) -> Iterator[int]:
        offset = None
        while True:
            with self.told():
                points, offset = self.client.scroll(
                    self._names.current, limit=READ, offset=offset, with_payload=False, with_vectors=False
                )
            yield from (int(point.id) for point in points if point.id != ABOUT)
            if offset is None:
                return

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say of whatever fails inside that it was Qdrant."""
        try:
            yield
        except UnexpectedResponse as error:
            raise EngineError(f"{self.name} refused: {error.status_code} {error.reason_phrase}") from error
        except Exception as error:  # connections fail in many ways, by several libraries
            raise EngineError(f"{self.name} cannot be reached: {error}") from error


def among(rows: Rows | None) -> models.Filter | None:
    """Only points with these ids; any where none are given."""
    return None if rows is None else models.Filter(must=[models.HasIdCondition(has_id=rows.tolist())])
