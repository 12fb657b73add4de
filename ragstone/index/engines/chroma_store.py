"""Vectors in Chroma: in this process, in the folder of the version, or on a server, by its address.

A collection holds an entry for each chunk, its row as id, and in its metadata the commit it was brought up to. Filters
are told as ids, for facts of a document may change while its chunks, and so its entries, stay as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from ragstone.core.catalog import Stamp
from ragstone.core.errors import EngineError, MissingExtra
from ragstone.index.engines.chroma_files import tidy
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.protocol import StoreContext, unlike
from ragstone.settings.services import ENGINE_SECONDS, ChromaSettings
from ragstone.storage.disk import make_folder

try:
    import chromadb  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise MissingExtra("chromadb", extra="chroma") from error

chroma: Any = chromadb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

Found = TypeVar("Found")

SENT = 1000
"""Entries in a request."""
READ = 10_000
"""Ids in a reply."""
BUILD_EFFORT, EFFORT = 128, 256
"""Candidates when a vector is added, and of a search."""
PATIENT = 120.0
"""Seconds for a change, which no question waits for."""


class ChromaStore:
    """The collection of a version; in ``folder`` if the settings name no server."""

    def __init__(
        self, settings: ChromaSettings, folder: Path, names: CollectionNames, *, seconds: float = ENGINE_SECONDS
    ) -> None:
        self._settings, self._folder, self._names, self._seconds = settings, folder, names, seconds
        self._connecting = threading.Lock()
        self._connected: Any = None
        self._searched: Any = None
        self._changed: Any = None
        self.name = f"chroma at {settings.url}" if settings.url else "chroma in this process"
        self.least, self.refine, self.worn = 0, 1, False

    def stamp(self) -> Stamp:
        if not self._names.current:
            self._asked(lambda: self._client.heartbeat())  # fails if the server is away
            return Stamp()

        def look() -> Any:
            try:
                return self._current()
            except chroma.errors.NotFoundError:
                return None

        self._searched = found = self._asked(look)
        about: dict[str, Any] = (found and found.metadata) or {}
        return Stamp(generation=about["generation"], mark=about["mark"]) if "mark" in about else Stamp()

    # ------------------------------------------------------------ changing

    def begin(self, sample: Vector) -> None:
        del sample  # Chroma does not train
        name = self._names.begin()
        how = {"hnsw": {"space": "cosine", "ef_construction": BUILD_EFFORT, "ef_search": EFFORT}}

        def create() -> Any:
            return self._client.create_collection(name, configuration=how, embedding_function=None)

        self._changed = self._asked(create, patient=True)

    def drop(self, rows: Rows) -> None:
        self._changed = held = self._asked(self._current)
        for start in range(0, len(rows), SENT):
            ids = _ids(rows[start : start + SENT])
            self._asked(partial(held.delete, ids=ids), patient=True)

    def put(self, rows: Rows, vectors: Vector) -> None:
        for start in range(0, len(rows), SENT):
            part = slice(start, start + SENT)
            entries = partial(self._changed.upsert, ids=_ids(rows[part]), embeddings=vectors[part])
            self._asked(entries, patient=True)

    def seal(self, stamp: Stamp) -> None:
        about = {"generation": stamp.generation, "mark": stamp.mark}
        self._asked(partial(self._changed.modify, metadata=about), patient=True)
        if self._changed.name == self._names.coming:
            self._names.switch()

    def publish(self) -> None:
        collections = self._asked(lambda: self._client.list_collections(), patient=True)
        stale = self._names.stale([one.name for one in collections])
        for name in stale:
            self._asked(partial(self._client.delete_collection, name), patient=True)
        if stale and not self._settings.url:
            self._asked(partial(tidy, self._folder))

    # ------------------------------------------------------------ searching

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        only = None if allowed is None else _ids(allowed)

        def query() -> Any:
            collection = self._searched or self._current()
            return collection.query(query_embeddings=vector[None], n_results=k, ids=only, include=["distances"])

        return np.array(self._asked(query)["ids"][0], dtype=np.int64)

    def rows(self) -> Rows:
        collection, ids = self._asked(self._current), list[str]()
        while part := self._asked(partial(collection.get, limit=READ, offset=len(ids), include=[]))["ids"]:
            ids += part
        return np.sort(np.array(ids, dtype=np.int64))

    def differing(self, rows: Rows, vectors: Vector) -> Rows:
        current, stored = self._asked(self._current), np.full(vectors.shape, np.nan, dtype=np.float32)
        for start in range(0, len(rows), SENT):
            answer = self._asked(partial(current.get, ids=_ids(rows[start : start + SENT]), include=["embeddings"]))
            if answer["ids"]:
                stored[np.searchsorted(rows, np.array(answer["ids"], dtype=np.int64))] = answer["embeddings"]
        return rows[unlike(stored, vectors)]

    def _current(self) -> Any:
        return self._client.get_collection(self._names.current, embedding_function=None)

    @property
    def _client(self) -> Any:
        """The client, created on first use, because that asks the server."""
        if self._settings.url:
            self._connected = self._connected or self._to_server()
            return self._connected
        with self._connecting:
            if self._connected is None:
                make_folder(self._folder.absolute())
                self._connected = chroma.PersistentClient(path=self._folder, settings=_quiet())
            return self._connected

    def _to_server(self) -> Any:
        parts = urlsplit(self._settings.url)
        key = self._settings.api_key.get_secret_value()
        return chroma.HttpClient(
            host=parts.hostname or "",
            port=parts.port or (443 if parts.scheme == "https" else 80),
            ssl=parts.scheme == "https",
            headers={"Authorization": f"Bearer {key}"} if key else None,
            settings=_quiet(),
        )

    def _asked(self, call: Callable[[], Found], *, patient: bool = False) -> Found:
        """What a call gives; of a server, in time."""
        seconds = self._seconds
        try:
            return _within(max(PATIENT, seconds) if patient else seconds, call) if self._settings.url else call()
        except TimeoutError as error:
            self._searched = self._connected = None  # its connections may hang
            raise EngineError(f"{self.name} took longer than {seconds:g} s") from error
        except Exception as error:  # connections fail in many ways, by several libraries
            self._searched = None
            raise EngineError(f"{self.name} failed: {error}") from error


def _within(seconds: float, call: Callable[[], Found]) -> Found:
    """What a call gives, if it does so soon enough: Chroma's client waits for ever, and cannot be told otherwise.

    Raises:
        TimeoutError: it does not; its thread is left behind, and ends when the server answers or is gone.
    """
    given: Future[Found] = Future()

    def work() -> None:
        try:
            given.set_result(call())
        except BaseException as error:  # whatever it is, it is raised there
            given.set_exception(error)

    threading.Thread(target=work, name="chroma", daemon=True).start()
    return given.result(seconds)


def _quiet() -> Any:
    return chroma.config.Settings(anonymized_telemetry=False)


def _ids(rows: Rows) -> list[str]:
    return [str(row) for row in rows.tolist()]


def build(context: StoreContext) -> ChromaStore:
    """Return the store of a version."""
    settings = context.services.chroma
    names = CollectionNames(context.version, "chroma", "ragstone", context.shelf)
    return ChromaStore(settings, context.version / "chroma", names, seconds=context.services.engine_seconds)
