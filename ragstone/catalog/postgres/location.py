"""A knowledge base whose catalog is in PostgreSQL: versions on the server, indexes on each host.

    schema NAME       the current, next and previous version; who holds the locks
    schema NAME_v1    the catalog of a version
    schema NAME_journal   conversations, costs and votes, see `ragstone.history.postgres_journal`
    .ragstone/        on each host: catalog.json (name and identity of the knowledge base), v1/ with indexes built from
                      the catalog, and the host's own files: caches, state of crawls

Switching versions is one transaction, so that every host sees one version or the other. A process that opens a version
holds a lock on it as long as its connection lives, and nobody deletes it meanwhile.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.catalog.location import MARKER, VersionLease, create_folder, versions_in
from ragstone.catalog.lock import Patience, indexing, rebuilding
from ragstone.catalog.postgres.database import create_tables, open_catalog
from ragstone.catalog.postgres.lock import PostgresLocks, number_of, reaching_catalog
from ragstone.catalog.postgres.shelf import PostgresShelf
from ragstone.catalog.protocol import Catalog
from ragstone.core.errors import EngineError, KnowledgeBaseError, NotFound
from ragstone.services.postgres import Server, is_missing
from ragstone.storage.disk import clear_away, make_folder
from ragstone.storage.files import read_json, write_json
from ragstone.storage.formats import other_format

if TYPE_CHECKING:
    from ragstone.services.postgres import Connection
    from ragstone.settings.services import ServiceSettings

FORMAT = 1


class PostgresLocation:
    """One host's view of the knowledge base; implements `Location`, which describes most of the methods."""

    def __init__(self, folder: Path, services: ServiceSettings, name: str) -> None:
        """
        Args:
            folder: of this host.
            services: the address of the server, and its time limits.
            name: of the schema; the names of the versions' schemas begin with it.
        """
        self.folder = folder
        self._services, self._name = services, name
        self._server = self._connect(name)
        self._locks = PostgresLocks(self._server, name, folder)
        self._identity = ""

    @property
    def is_shared(self) -> bool:
        return True

    @property
    def address(self) -> str:
        return f"{self._server.name}, schema {self._name}"

    @property
    def shelf(self) -> PostgresShelf:
        return PostgresShelf(self._server)

    def server(self, part: str) -> tuple[Server, str]:
        schema = f"{self._name}_{part}"
        return self._connect(schema), schema

    def _connect(self, schema: str) -> Server:
        return Server(self._services.postgres, schema=schema, seconds=self._services.engine_seconds)

    def catalog(self, version: Path) -> Catalog:
        with reaching_catalog():
            if not self._server.rows("SELECT 1 FROM versions WHERE version = %s", [_number(version)]):
                raise NotFound(f"there is no version {version.name} in {self.address}")
            return open_catalog(self._connect(self._schema(version)), self._locks.fence)

    def create(self, built_with: Mapping[str, Any]) -> Path:
        self.make()
        self.clear(self.previous())
        with reaching_catalog(), self._server.transaction(patient=True) as db:
            (number,) = db.execute("SELECT nextval('version_numbers')").fetchone() or (0,)
            version = self.folder / f"v{number}"
            db.execute("INSERT INTO versions VALUES (%s)", [number])
            _point(db, "NEXT", number)
            db.execute(f'CREATE SCHEMA "{self._schema(version)}"'.encode())
            db.execute("SELECT set_config('search_path', %s, true)", [f'"{self._schema(version)}"'])
            create_tables(db, built_with)
        return self._local(version)

    @contextmanager
    def indexing(self, patience: Patience | None = None) -> Generator[None]:
        with indexing(self.folder, patience), self._locks.held("index", "indexed", patience):
            yield

    @contextmanager
    def rebuilding(self, patience: Patience | None = None) -> Generator[None]:
        with rebuilding(self.folder, patience), self._locks.held("rebuild", "rebuilt", patience):
            yield

    # ------------------------------------------------------------ versions

    def current(self) -> Path | None:
        return self._pointed("CURRENT")

    def next(self) -> Path | None:
        return self._pointed("NEXT")

    def previous(self) -> Path | None:
        return self._pointed("PREVIOUS")

    def exists(self) -> bool:
        return self.current() is not None

    def lease(self) -> VersionLease | None:
        while version := self.current():
            self._note_identity()
            lease = self._leased(version)
            if self.current() == version:
                return lease
            lease.release()
        return None

    def _leased(self, version: Path) -> VersionLease:
        """Hold a version on this host and on the server, where all hosts see it."""
        lease = VersionLease(version)
        try:
            with reaching_catalog():
                lock = "SELECT pg_advisory_lock_shared(%s)"
                lease.hold(self._server.kept()).execute(lock, [self._lock(version)])
        except BaseException:
            lease.release()
            raise
        return lease

    def resume(self, version: Path) -> None:
        with reaching_catalog(), self._server.transaction() as db:
            _point(db, "NEXT", _number(version))

    def switch(self, version: Path) -> None:
        with reaching_catalog(), self._server.transaction() as db:
            self._locks.fence(db)
            sql = "SELECT version FROM pointers WHERE pointer = 'CURRENT' AND version <> %s"
            if found := db.execute(sql, [_number(version)]).fetchone():
                _point(db, "PREVIOUS", found[0])
            _point(db, "CURRENT", _number(version))
            db.execute("DELETE FROM pointers WHERE pointer = 'NEXT'")
            db.execute(
                "DELETE FROM pointers p USING pointers c WHERE c.pointer = 'CURRENT' AND p.pointer = 'PREVIOUS'"
                " AND p.version = c.version"
            )
        self.clear(self.previous())

    def drop(self, version: Path) -> None:
        """Delete a version; one that is being read stays until another time."""
        with reaching_catalog(), self._server.transaction(patient=True) as db:
            if db.execute("SELECT pg_try_advisory_xact_lock(%s)", [self._lock(version)]).fetchone() == (True,):
                db.execute("DELETE FROM pointers WHERE version = %s", [_number(version)])
                db.execute("DELETE FROM versions WHERE version = %s", [_number(version)])
                db.execute(f'DROP SCHEMA IF EXISTS "{self._schema(version)}" CASCADE'.encode())
                if db.execute("SELECT to_regclass('records')").fetchone() != (None,):
                    db.execute("DELETE FROM records WHERE starts_with(name, %s)", [f"{version.name}/"])
        clear_away(version)

    def clear(self, *keep: Path | None) -> None:
        needed = (self.current(), *keep)
        with reaching_catalog():
            numbers = [number for (number,) in self._server.rows("SELECT version FROM versions")]
        for version in (self.folder / f"v{number}" for number in numbers):
            if version not in needed:
                self.drop(version)
        for version in versions_in(self.folder):  # deleted by another host
            if _number(version) not in numbers:
                clear_away(version)

    @property
    def is_durable(self) -> bool:
        return True

    def make_durable(self) -> None:
        """Do nothing: the server commits durably."""

    def make(self) -> None:
        """Create the folder and the schema if they are missing."""
        create_folder(self.folder)
        if self._about() is None:
            with reaching_catalog(), self._server.transaction(patient=True) as db:
                db.execute("SELECT pg_advisory_xact_lock(%s)", [number_of(self._name)])
                if db.execute("SELECT to_regclass('home')").fetchone() == (None,):
                    db.execute(f'CREATE SCHEMA IF NOT EXISTS "{self._name}"'.encode())
                    db.execute((files("ragstone.catalog.postgres") / "location.sql").read_bytes())
                    db.execute("INSERT INTO home (format, identity) VALUES (%s, %s)", [FORMAT, secrets.token_hex(16)])
        self._note_identity()

    # ------------------------------------------------------------ the server

    def _pointed(self, pointer: str) -> Path | None:
        if (about := self._about(pointer)) is None or about[2] is None:
            return None
        return self._local(self.folder / f"v{about[2]}")

    def _about(self, pointer: str = "CURRENT") -> tuple[int, str, int | None] | None:
        """Return format, identity and the version a pointer names, or None if there is no knowledge base of this name.

        Raises:
            KnowledgeBaseError: the folder belongs to another knowledge base.
        """
        sql = """
            SELECT h.format, h.identity, p.version FROM home h LEFT JOIN pointers p ON p.pointer = %s
        """
        try:
            rows: list[Any] = self._server.rows(sql, [pointer])
        except EngineError as error:
            if not is_missing(error):
                raise KnowledgeBaseError(f"the catalog cannot be reached: {error}") from error
            rows = []
        self._identity = self._identity or str(read_json(self.folder / MARKER).get("identity", ""))
        if self._identity and (not rows or rows[0][1] != self._identity):
            raise KnowledgeBaseError(
                f"{self.folder} belongs to a knowledge base '{self._name}' that is not on {self._server.name}; check"
                f" DATABASE_URL or services.postgres.dsn. To start over, remove {self.folder}"
            )
        if rows and rows[0][0] != FORMAT:
            raise other_format(self.address, str(rows[0][0]), FORMAT)
        return rows[0] if rows else None

    def _note_identity(self) -> None:
        """Record in the folder which knowledge base it belongs to."""
        if not self._identity and (about := self._about()):
            try:
                make_folder(self.folder.absolute())
                write_json(self.folder / MARKER, {"postgres": self._name, "identity": about[1]})
            except OSError as error:
                raise KnowledgeBaseError(f"{self.folder} could not be written: {error}") from error
            self._identity = about[1]

    def _local(self, version: Path) -> Path:
        """Return the folder of a version on this host, created if it is missing."""
        if not version.is_dir():
            with suppress(OSError):  # whoever writes into it reports the error
                make_folder(version.absolute())
        return version

    def _schema(self, version: Path) -> str:
        return f"{self._name}_{version.name}"

    def _lock(self, version: Path) -> int:
        return number_of(f"{self._name}/{version.name}")


def _number(version: Path) -> int:
    return int(version.name[1:])


def _point(db: Connection, pointer: str, number: int) -> None:
    sql = "INSERT INTO pointers VALUES (%s, %s) ON CONFLICT (pointer) DO UPDATE SET version = excluded.version"
    db.execute(sql, [pointer, number])
