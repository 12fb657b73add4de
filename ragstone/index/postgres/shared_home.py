"""A knowledge base whose catalog is in PostgreSQL: versions side by side on the server, indexes on each host.

    schema NAME       which version is in use, which comes next, which was before; who holds the locks
    schema NAME_v1    the catalog of a version
    .ragstone/        of each host: catalog.json (the name, and the identity, of what it follows), v1/ with indexes made
                      from the catalog, and what is this host's own: journal, caches, state of crawls

A version is put in the place of another in one transaction, so that every host sees the one or the other. Whoever has
one open holds a lock on it for as long as its connection lives; nobody removes it meanwhile.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import EngineError, KnowledgeBaseError, NotFound
from ragstone.index.catalog.home import MARKER, Held, Home
from ragstone.index.catalog.lock import Patience, indexing, rebuilding
from ragstone.index.disk import clear_away, make_folder
from ragstone.index.files import read_json, write_json
from ragstone.index.postgres.catalog import PostgresCatalog, make_tables
from ragstone.index.postgres.connection import Server, refused
from ragstone.index.postgres.shared_lock import SharedLocks, number_of

if TYPE_CHECKING:
    from ragstone.index.postgres.connection import Connection
    from ragstone.services import PostgresSettings

FORMAT = 1
_MISSING = ("42P01", "3F000")
"""What the server says where a table or schema is not there."""


class SharedHeld(Held):
    """A version that is in use, on this host and so that others know."""

    def __init__(self, version: Path, server: Server, lock: int) -> None:
        super().__init__(version)
        self._server_holds = ExitStack()
        try:
            db = self._server_holds.enter_context(server.kept())
            db.execute("SELECT pg_advisory_lock_shared(%s)", [lock])
        except BaseException:
            self.let_go()
            raise

    def let_go(self) -> None:
        super().let_go()
        self._server_holds.close()


class SharedHome(Home):
    """One host's view of it."""

    def __init__(self, folder: Path, settings: PostgresSettings, name: str) -> None:
        """
        Args:
            folder: of this host.
            settings: where the server is.
            name: of the schema; those of versions begin so.
        """
        super().__init__(folder)
        self._settings, self._name = settings, name
        self._server = Server(settings, schema=name)
        self._locks = SharedLocks(self._server, name, folder)
        self._identity = ""

    @property
    def is_shared(self) -> bool:
        return True

    @property
    def place(self) -> str:
        return f"{self._server.name}, schema {self._name}"

    def catalog(self, version: Path) -> PostgresCatalog:
        with self._told():
            if not self._server.rows("SELECT 1 FROM versions WHERE version = %s", [_number(version)]):
                raise NotFound(f"there is no version {version.name} in {self.place}")
            return PostgresCatalog(Server(self._settings, schema=self._schema(version)), self._locks.fence)

    def create(self, built_with: Mapping[str, Any]) -> Path:
        self.make()
        self.clear(keep=self.previous())
        with self._told(), self._server.transaction(patient=True) as db:
            (number,) = db.execute("SELECT nextval('version_numbers')").fetchone() or (0,)
            version = self.folder / f"v{number}"
            db.execute("INSERT INTO versions VALUES (%s)", [number])
            _point(db, "NEXT", number)
            db.execute(f'CREATE SCHEMA "{self._schema(version)}"'.encode())
            db.execute("SELECT set_config('search_path', %s, true)", [f'"{self._schema(version)}"'])
            make_tables(db, built_with)
        return self._local(version)

    @contextmanager
    def indexing(self, patience: Patience | None = None) -> Iterator[None]:
        with indexing(self.folder, patience), self._locks.held("index", "indexed", patience):
            yield

    @contextmanager
    def rebuilding(self, patience: Patience | None = None) -> Iterator[None]:
        with rebuilding(self.folder, patience), self._locks.held("rebuild", "rebuilt", patience):
            yield

    # ------------------------------------------------------------ versions

    def current(self) -> Path | None:
        return self._pointed("CURRENT")

    def next(self) -> Path | None:
        return self._pointed("NEXT")

    def previous(self) -> Path | None:
        return self._pointed("PREVIOUS")

    def holds_one(self) -> bool:
        return self.current() is not None

    def enter(self) -> Held | None:
        while version := self.current():
            self._follow()
            with self._told():
                held = SharedHeld(version, self._server, self._lock(version))
            if self.current() == version:
                return held
            held.let_go()
        return None

    def resume(self, version: Path) -> None:
        with self._told(), self._server.transaction() as db:
            _point(db, "NEXT", _number(version))

    def switch(self, version: Path) -> None:
        with self._told(), self._server.transaction() as db:
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
        self.clear(keep=self.previous())

    def drop(self, version: Path) -> None:
        """Remove a version that nobody will use; where somebody reads it, it goes another time."""
        with self._told(), self._server.transaction(patient=True) as db:
            if db.execute("SELECT pg_try_advisory_xact_lock(%s)", [self._lock(version)]).fetchone() == (True,):
                db.execute("DELETE FROM pointers WHERE version = %s", [_number(version)])
                db.execute("DELETE FROM versions WHERE version = %s", [_number(version)])
                db.execute(f'DROP SCHEMA IF EXISTS "{self._schema(version)}" CASCADE'.encode())
        clear_away(version)

    def clear(self, keep: Path | None = None) -> None:
        needed = (self.current(), keep)
        with self._told():
            numbers = [number for (number,) in self._server.rows("SELECT version FROM versions")]
        for version in (self.folder / f"v{number}" for number in numbers):
            if version not in needed:
                self.drop(version)
        for version in self._all():  # what another host has removed
            if _number(version) not in numbers:
                clear_away(version)

    @property
    def is_settled(self) -> bool:
        return True

    def settle(self) -> None:
        """The server has."""

    def make(self) -> None:
        """The folder, and the schema, where they are missing."""
        super().make()
        if self._about() is None:
            with self._told(), self._server.transaction(patient=True) as db:
                db.execute("SELECT pg_advisory_xact_lock(%s)", [number_of(self._name)])
                if db.execute("SELECT to_regclass('home')").fetchone() == (None,):
                    db.execute(f'CREATE SCHEMA IF NOT EXISTS "{self._name}"'.encode())
                    db.execute((files("ragstone.index.postgres") / "home.sql").read_bytes())
                    db.execute("INSERT INTO home (format, identity) VALUES (%s, %s)", [FORMAT, secrets.token_hex(16)])
        self._follow()

    def versions(self) -> list[Path]:
        return []

    # ------------------------------------------------------------ the server

    def _pointed(self, pointer: str) -> Path | None:
        if (about := self._about(pointer)) is None or about[2] is None:
            return None
        return self._local(self.folder / f"v{about[2]}")

    def _about(self, pointer: str = "CURRENT") -> tuple[int, str, int | None] | None:
        """Format, identity, and what a pointer names; nothing where there is no knowledge base of this name.

        Raises:
            KnowledgeBaseError: the folder follows another one.
        """
        sql = """
            SELECT h.format, h.identity, p.version FROM home h LEFT JOIN pointers p ON p.pointer = %s
        """
        try:
            found: list[Any] = self._server.rows(sql, [pointer])
        except EngineError as error:
            if refused(error) not in _MISSING:
                raise KnowledgeBaseError(f"the catalog cannot be reached: {error}") from error
            found = []
        self._identity = self._identity or str(read_json(self.folder / MARKER).get("identity", ""))
        if self._identity and (not found or found[0][1] != self._identity):
            raise KnowledgeBaseError(
                f"{self.folder} follows a knowledge base '{self._name}' that is not on {self._server.name}; is"
                f" DATABASE_URL, or services.postgres.dsn, that of another server? To begin anew, remove {self.folder}"
            )
        if found and found[0][0] > FORMAT:
            raise KnowledgeBaseError(
                f"{self.place} has format {found[0][0]}; this Ragstone reads format {FORMAT}: install the newer one"
            )
        return found[0] if found else None

    def _follow(self) -> None:
        """Note in the folder what it follows."""
        if not self._identity and (about := self._about()):
            try:
                make_folder(self.folder.absolute())
                write_json(self.folder / MARKER, {"postgres": self._name, "identity": about[1]})
            except OSError as error:
                raise KnowledgeBaseError(f"{self.folder} could not be written: {error}") from error
            self._identity = about[1]

    def _local(self, version: Path) -> Path:
        """The folder of a version on this host, made where it is missing."""
        if not version.is_dir():
            with suppress(OSError):  # whoever needs it will tell
                make_folder(version.absolute())
        return version

    def _schema(self, version: Path) -> str:
        return f"{self._name}_{version.name}"

    def _lock(self, version: Path) -> int:
        return number_of(f"{self._name}/{version.name}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            raise KnowledgeBaseError(f"the catalog cannot be reached: {error}") from error


def _number(version: Path) -> int:
    return int(version.name[1:])


def _point(db: Connection, pointer: str, number: int) -> None:
    sql = "INSERT INTO pointers VALUES (%s, %s) ON CONFLICT (pointer) DO UPDATE SET version = excluded.version"
    db.execute(sql, [pointer, number])
