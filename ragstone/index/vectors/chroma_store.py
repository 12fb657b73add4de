"""Vectors in Chroma: in this process, in the folder of the version, or on a server, by its address.

A collection holds an entry for each chunk, its row as id, and in its metadata the commit it was brought up to. Filters
are told as ids, for facts of a document may change while its chunks, and so its entries, stay as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from ragstone.errors import EngineError, MissingExtra
from ragstone.index.disk import make_folder
from ragstone.index.following.collection_names import CollectionNames
from ragstone.index.records import Stamp
from ragstone.services import ChromaSettings

try:
    import chromadb  # pyright: ignore[reportMissingImports]
    from chromadb.errors import NotFoundError  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise MissingExtra("chromadb", extra="chroma") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

    Rows = NDArray[np.int64]

SENT = 1000
"""Entries in a request."""
READ = 10_000
"""Ids in a reply."""
BUILD_EFFORT, EFFORT = 128, 256
"""Candidates that are looked at when a vector is added, and when one is searched for."""


class ChromaStore:
    """The collection of a version; in ``folder``, where the settings name no server."""

    def __init__(self, settings: ChromaSettings, folder: Path, names: CollectionNames) -> None:
        self._settings, self._folder, self._names = settings, folder, names
        self._connecting = threading.Lock()
        self._connected: Any = None
        self._target: Any = None
        self.name = f"chroma at {settings.url}" if settings.url else "chroma in this process"
        self.least, self.refine, self.worn = 0, 1, False

    def stamp(self) -> Stamp:
        self._target = None
        name = self._names.current
        with self._told():
            if not name:
                self._client.heartbeat()  # whether it is there at all
                return Stamp()
            try:
                self._target = self._client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return Stamp()
        about = self._target.metadata or {}
        return Stamp(generation=about["generation"], mark=about["mark"]) if "mark" in about else Stamp()

    # ------------------------------------------------------------ changing

    def begin(self, sample: Vector) -> None:
        del sample  # it learns nothing
        name = self._names.begin()
        shape = {"space": "cosine", "ef_construction": BUILD_EFFORT, "ef_search": EFFORT}
        with self._told():
            self._target = self._client.create_collection(name, configuration={"hnsw": shape}, embedding_function=None)

    def drop(self, rows: Rows) -> None:
        with self._told():
            for start in range(0, len(rows), SENT):
                self._target.delete(ids=_ids(rows[start : start + SENT]))

    def put(self, rows: Rows, vectors: Vector) -> None:
        with self._told():
            for start in range(0, len(rows), SENT):
                part = slice(start, start + SENT)
                self._target.upsert(ids=_ids(rows[part]), embeddings=vectors[part])

    def seal(self, stamp: Stamp) -> None:
        with self._told():
            self._target.modify(metadata={"generation": stamp.generation, "mark": stamp.mark})
        if self._target.name == self._names.coming:
            self._names.settle()

    def publish(self) -> None:
        with self._told():
            for name in self._names.stale([one.name for one in self._client.list_collections()]):
                self._client.delete_collection(name)

    # ------------------------------------------------------------ searching

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        only = None if allowed is None else _ids(allowed)
        with self._told():
            held = self._target or self._client.get_collection(self._names.current, embedding_function=None)
            found = held.query(query_embeddings=vector[None], n_results=k, ids=only, include=["distances"])
        return np.array(found["ids"][0], dtype=np.int64)

    def rows(self) -> Rows:
        found: list[str] = []
        with self._told():
            while part := self._target.get(limit=READ, offset=len(found), include=[])["ids"]:
                found += part
        return np.sort(np.array(found, dtype=np.int64))

    @property
    def _client(self) -> Any:
        """Made when it is first needed: making it asks the server."""
        with self._connecting:
            if self._connected is None:
                quiet = chromadb.Settings(anonymized_telemetry=False)
                if self._settings.url:
                    parts = urlsplit(self._settings.url)
                    key = self._settings.api_key.get_secret_value()
                    self._connected = chromadb.HttpClient(
                        host=parts.hostname or "",
                        port=parts.port or (443 if parts.scheme == "https" else 80),
                        ssl=parts.scheme == "https",
                        headers={"Authorization": f"Bearer {key}"} if key else None,
                        settings=quiet,
                    )
                else:
                    make_folder(self._folder.absolute())
                    self._connected = chromadb.PersistentClient(path=self._folder, settings=quiet)
            return self._connected

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # connections fail in many ways, by several libraries
            self._target = None
            raise EngineError(f"{self.name} failed: {error}") from error


def _ids(rows: Rows) -> list[str]:
    return [str(row) for row in rows.tolist()]
