"""The documents of a knowledge base in the tables of `search_documents`, for programs that ask in SQL.

The tables are compared with the catalog, document by document, by hashes of everything a row is made from. So their
state, and who changed them, does not matter: documents that differ are written again, and removed ones are deleted.
Rows of others are left alone.
"""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.access import ATTACHED, READERS
from ragstone.core.catalog import EngineStatus, IndexedCatalog, selected
from ragstone.core.errors import EngineError, NotFound
from ragstone.core.filters import Exists
from ragstone.core.records import Chunk, Document
from ragstone.index.engines.postgres.script import SCHEMA
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.protocol import Differences
from ragstone.services.breaker import Breaker
from ragstone.services.postgres import Server

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.services.postgres import Connection

    Rows = NDArray[np.int64]

AT_ONCE = 200
"""Documents in a transaction."""
SIMPLE = "pg_catalog.simple"


class PostgresDocuments:
    """The documents of the version in use."""

    def __init__(
        self,
        server: Server,
        names: CollectionNames,
        catalog: IndexedCatalog,
        configurations: Mapping[str, str],
    ) -> None:
        """
        Args:
            server: which has the tables.
            names: identify this knowledge base, and know whether its version is in use.
            catalog: to follow.
            configurations: of text search by language; other languages use ``simple``.
        """
        self._server, self._names, self._catalog = server, names, catalog
        self._configurations = dict(configurations)
        self._made_with = hashlib.sha256(json.dumps(self._configurations, sort_keys=True).encode()).hexdigest()[:8]
        self._breaker = Breaker()
        self._following = threading.Lock()
        self.problem = ""
        """Always empty: no question waits for this engine, and each change tries it again."""

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def status(self) -> EngineStatus:
        """Return how many documents differ, or that the server is away."""
        try:
            with self._breaker.guard(insist=True):
                changed, gone = self._behind()
        except EngineError as error:
            return EngineStatus(leg="documents", engine=self._server.name, problem=str(error))
        return EngineStatus(leg="documents", engine=self._server.name, behind=len(changed) + len(gone))

    def follow(self, *, write: bool) -> None:
        """Make the tables equal to the catalog."""
        if not write or not self._names.is_in_use:
            return
        with self._following, self._breaker.guard(insist=True):
            changed, gone = self._behind()
            for start in range(0, len(gone), AT_ONCE):
                with self._server.transaction(patient=True) as db:
                    self._delete(db, gone[start : start + AT_ONCE])
            documents = self._stored(changed)
            while part := list(islice(documents, AT_ONCE)):
                self._put(part, changed)

    def difference(self, *, mend: bool) -> Differences:
        """Compare the texts of every chunk; what `follow` compares, the signatures, is not enough here."""
        none = np.empty(0, dtype=np.int64)
        if not self._names.is_in_use:
            return Differences(missing=none, extra=none, changed=none)
        with self._following, self._breaker.guard(insist=True):
            late, gone = self._behind()
            changed = self._altered(late)
            rows = np.array(sorted(self._catalog.chunks_of(changed)), dtype=np.int64)
            if mend:
                with self._server.transaction(patient=True) as db:
                    self._delete(db, [*gone, *map(self._key, changed)])
        if mend:
            self.follow(write=True)
        return Differences(missing=none, extra=none, changed=rows)

    def _stored(self, ids: Iterable[str]) -> Iterator[Document]:
        for id in ids:
            with suppress(NotFound):  # removed in the meantime
                document = self._catalog.document(id)
                if document.id == id:  # and not another one, whose id ends so
                    yield document

    # ------------------------------------------------------------ what is there, and what should be

    def _behind(self) -> tuple[dict[str, str], list[uuid.UUID]]:
        """Return the documents to write, as ids and signatures, and the keys of those to delete."""
        if not self._names.is_in_use:
            return {}, []
        wanted = {id: f"{self._names.version} {self._made_with} {signature}" for id, signature in self._kept()}
        with self._server.transaction(patient=True) as db:
            if db.execute("SELECT to_regprocedure(%s)", [f"{SCHEMA}.terms(text,text)"]).fetchone() == (None,):
                raise EngineError(f"{self._server.name} has no tables for documents; run: ragstone postgres apply")
            for name in {*self._configurations.values()}:
                db.execute("SELECT %s::regconfig", [name])  # fails here if it does not exist
            sql = f"SELECT id, signature FROM {SCHEMA}.documents WHERE knowledge_base = %s"
            stored = dict(db.execute(sql.encode(), [self._names.token]).fetchall())
        keys = {self._key(id): id for id in wanted}
        changed = {id: wanted[id] for key, id in keys.items() if stored.get(key) != wanted[id]}
        return changed, [key for key in stored if key not in keys]

    def _kept(self) -> Iterator[tuple[str, str]]:
        """Yield id and signature of every document that the tables have.

        Documents that are attached to conversations are left out: programs that read the tables know no conversations.
        """
        attached = {one.document_id for one in selected(self._catalog, Exists(key=ATTACHED))}
        return ((id, signature) for id, signature, _ in self._catalog.ordered_signatures() if id not in attached)

    def _altered(self, late: Mapping[str, str]) -> list[str]:
        """Return the documents whose rows are not what their signatures say; ``late`` ones have other signatures."""
        altered = list[str]()
        documents = self._stored(id for id, _ in self._kept() if id not in late)
        while part := list(islice(documents, AT_ONCE)):
            chunks = self._catalog.chunks_of([one.id for one in part])
            configurations = {one.id: self._configuration(one.metadata.get("language")) for one in part}
            keys = [self._key(one.id) for one in part]
            with self._server.transaction(patient=True) as db:
                documents_held = {row[0]: row[1:] for row in db.execute(_HELD_DOCUMENTS, [keys])}
                chunks_held = {row[0]: row[1:] for row in db.execute(_HELD_CHUNKS, [keys])}
            differing = {
                key for key, one in zip(keys, part, strict=True) if documents_held.get(key) != self._columns(one)[:4]
            }
            wanted = {row[0]: row[1:] for row in self._rows(chunks.values(), configurations)}
            for key in chunks_held.keys() | wanted.keys():
                here, there = chunks_held.get(key), wanted.get(key)
                if here != there:
                    differing |= {row[0] for row in (here, there) if row is not None}
            altered += [one.id for key, one in zip(keys, part, strict=True) if key in differing]
        return altered

    def _configuration(self, language: object) -> str:
        return self._configurations.get(str(language), SIMPLE)

    def _key(self, id: str) -> uuid.UUID:
        """Return the key of a document or chunk, the same in every process."""
        return uuid.uuid5(uuid.NAMESPACE_URL, f"ragstone:{self._names.token}:{id}")

    # ------------------------------------------------------------ writing

    def _put(self, part: Sequence[Document], signed: Mapping[str, str]) -> None:
        chunks = self._catalog.chunks_of([one.id for one in part])
        keys = [self._key(one.id) for one in part]
        with self._server.transaction(patient=True) as db:
            self._delete(db, keys)
            with db.cursor() as cursor, cursor.copy(_DOCUMENTS) as copy:
                for key, one in zip(keys, part, strict=True):
                    copy.write_row((key, self._names.token, signed[one.id], *self._columns(one)))
            configurations = {one.id: self._configuration(one.metadata.get("language")) for one in part}
            with db.cursor() as cursor, cursor.copy(_CHUNKS) as copy:
                for row in self._rows(chunks.values(), configurations):
                    copy.write_row(row)

    def _columns(self, document: Document) -> tuple[object, ...]:
        facts, readers = document.metadata, document.metadata.get(READERS)
        kind = str(facts.get("source_type") or facts.get("kind") or "")
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}
        named = None if readers is None else list(readers) if isinstance(readers, tuple) else [str(readers)]
        metadata = _plain(json.dumps(values, ensure_ascii=False))
        configuration = self._configuration(facts.get("language"))
        return _plain(document.title), _plain(document.url), kind, named, metadata, configuration

    def _rows(
        self, chunks: Iterable[Chunk], configurations: Mapping[str, str]
    ) -> Iterator[tuple[uuid.UUID, uuid.UUID, int, str, str]]:
        for chunk in chunks:
            key, document = self._key(chunk.id), self._key(chunk.document_id)
            yield key, document, chunk.index, _plain(chunk.text), configurations[chunk.document_id]

    def _delete(self, db: Connection, keys: Sequence[uuid.UUID]) -> None:
        sql = f"DELETE FROM {SCHEMA}.documents WHERE id = ANY(%s) AND knowledge_base = %s"
        db.execute(sql.encode(), [list(keys), self._names.token])


_DOCUMENTS = (
    f"COPY {SCHEMA}.documents (id, knowledge_base, signature, title, url, source_type, readers, metadata,"
    " configuration) FROM STDIN"
).encode()
_HELD_DOCUMENTS = (f"SELECT id, title, url, source_type, readers FROM {SCHEMA}.documents WHERE id = ANY(%s)").encode()
_HELD_CHUNKS = (
    f"SELECT id, document_id, chunk_index, chunk_content, configuration FROM {SCHEMA}.document_chunks"
    " WHERE document_id = ANY(%s)"
).encode()
_CHUNKS = (
    f"COPY {SCHEMA}.document_chunks (id, document_id, chunk_index, chunk_content, configuration) FROM STDIN"
).encode()


def _plain(text: str) -> str:
    """Return text as PostgreSQL accepts it, without null characters and lone surrogates."""
    return text.replace("\0", "").replace("\\u0000", "").encode(errors="replace").decode()
