"""A small pool of connections to PostgreSQL; a failed connection is discarded."""

from __future__ import annotations

import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ragstone.core.errors import EngineError, MissingExtra, SettingsError
from ragstone.settings.services import ENGINE_SECONDS
from ragstone.settings.substitutes import NO_ADDRESS

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise MissingExtra("psycopg", extra="postgres") from error

if TYPE_CHECKING:
    from psycopg.rows import TupleRow

    from ragstone.settings.services import PostgresSettings

    Connection = psycopg.Connection[TupleRow]
    Cursor = psycopg.ClientCursor[TupleRow]

Values = Sequence[Any] | Mapping[str, Any]

MAX_CONNECTIONS = 8
"""Concurrent connections; further callers wait."""
STREAMED = 2000
"""Rows fetched at once from a large result."""
APPLICATION = "ragstone"
GRACE = 1.0
"""Seconds that the server has to report a time-out itself."""


class Server:
    """One database, and up to `MAX_CONNECTIONS` connections to it, each for one thread at a time.

    A failed connection is not used again; the next caller opens a new one, so a server that returns is found again.
    """

    def __init__(self, settings: PostgresSettings, *, schema: str = "", seconds: float = ENGINE_SECONDS) -> None:
        """Take the address; nothing is connected yet.

        Args:
            settings: the address.
            schema: the schema of unqualified names; the server's default if not given.
            seconds: to wait for one reply.

        Raises:
            SettingsError: the address is missing or malformed.
        """
        dsn = settings.dsn.get_secret_value()
        if not dsn:
            raise SettingsError(NO_ADDRESS)
        try:
            parts = conninfo_to_dict(dsn)
        except psycopg.Error:  # whose text would show the password
            raise SettingsError(
                "services.postgres.dsn is not a PostgreSQL address; write it as"
                " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
            ) from None
        self._dsn, self._seconds, self._schema = dsn, seconds, schema
        self.name = f"PostgreSQL at {parts.get('host') or 'localhost'}:{parts.get('port') or 5432}"
        self._idle: list[Connection] = []
        self._free, self._guard = threading.BoundedSemaphore(MAX_CONNECTIONS), threading.Lock()

    def close(self) -> None:
        """Close the idle connections."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    @contextmanager
    def transaction(self, *, patient: bool = False) -> Generator[Connection]:
        """Open a transaction, committed at the end or rolled back.

        Args:
            patient: without a time-out; otherwise statements are limited by the settings.

        Raises:
            EngineError: the server cannot be reached, or refuses.
        """
        with self._borrowed() as connection, self._watched(connection, patient), connection.transaction():
            limit = 0 if patient else self._limit
            connection.execute("SELECT set_config('statement_timeout', %s, true)", [str(limit)])
            yield connection

    def rows(self, sql: str, values: Values = (), *, binary: bool = False) -> list[TupleRow]:
        """Return the rows of a read-only statement; repeat it if the connection has died.

        Raises:
            EngineError: the server cannot be reached, or refuses.
        """
        started = time.monotonic()
        with self._borrowed(tested=False) as connection:
            try:
                return self.asked(connection, sql, values, binary=binary)
            except psycopg.OperationalError:
                if not connection.broken or time.monotonic() - started > GRACE:
                    raise
        with self._borrowed() as connection:
            return self.asked(connection, sql, values, binary=binary)

    @contextmanager
    def borrowed(self) -> Generator[Connection]:
        """Yield a connection for several statements, each in its own transaction.

        Raises:
            EngineError: the server cannot be reached, or refuses.
        """
        with self._borrowed() as connection, self._watched(connection):
            yield connection

    @contextmanager
    def snapshot(self) -> Generator[Connection]:
        """Open a read-only transaction that sees one state of the database."""
        with self._borrowed() as connection, connection.transaction():
            self.asked(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection

    def asked(self, connection: Connection, sql: str, values: Values = (), *, binary: bool = False) -> list[TupleRow]:
        """Return all rows of one statement on the given connection."""
        with self._watched(connection):
            found = connection.execute(sql.encode(), values or None, binary=binary)
            return found.fetchall() if found.description else []

    def stream(
        self, connection: Connection, sql: str, values: Values, *, binary: bool = False, at_once: int = STREAMED
    ) -> Iterator[TupleRow]:
        """Yield the rows of a large result in batches; the connection must be in a transaction."""
        with connection.cursor(name=f"s{secrets.token_hex(4)}", binary=binary) as cursor:
            with self._watched(connection):
                cursor.execute(sql.encode(), values or None)
            while True:
                with self._watched(connection):
                    part = cursor.fetchmany(at_once)
                yield from part
                if len(part) < at_once:
                    return

    @contextmanager
    def kept(self) -> Generator[Connection]:
        """Open a dedicated connection with keep-alives, so that the server notices its end within half a minute.

        Raises:
            EngineError: the server cannot be reached, or refuses.
        """
        with self._translated():
            connection = self._connected()
        try:
            with self._translated():
                for name, value in (("idle", "10"), ("interval", "5"), ("count", "3")):
                    connection.execute("SELECT set_config(%s, %s, false)", [f"tcp_keepalives_{name}", value])
                yield connection
        finally:
            connection.close()

    def rewrite(self, schema: str = "", tables: str = "") -> None:
        """Write the tables of a schema anew, without the remains of deleted rows, and sample their values again.

        Args:
            schema: the schema of unqualified names if not given.
            tables: regular expression of their names; all if not given.

        Raises:
            EngineError: the server cannot be reached, or refuses, or an old transaction keeps the remains.
        """
        sql = """
            SELECT format('%%I.%%I', schemaname, tablename), pg_has_role(tableowner, 'USAGE'), tableowner FROM pg_tables
            WHERE schemaname = coalesce(nullif(%s, ''), current_schema()) AND tablename ~ %s
        """
        with self.kept() as db, self._translated():
            db.execute("SELECT set_config('statement_timeout', '0', false)")
            self._await_old_transactions(db)
            for table, may, owner in db.execute(sql, [schema, tables]).fetchall():
                command = f"VACUUM (FULL, ANALYZE) {table}"
                if not may:
                    raise EngineError(f"{self.name}: {table} belongs to {owner}; as that user, run: {command}")
                db.execute(command.encode())
            db.execute("VACUUM (FULL) pg_catalog.pg_statistic")  # it has samples of values; skipped if not allowed

    def _await_old_transactions(self, db: Connection) -> None:
        """Wait for the transactions that could still read deleted rows, as long as for a reply."""
        (now,) = db.execute("SELECT txid_current()::text::xid::text::bigint").fetchone() or (0,)
        sql = """
            SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()
            AND backend_xmin IS NOT NULL AND age(backend_xmin) >= age(%s::text::xid)
        """
        deadline = time.monotonic() + self._seconds
        while found := db.execute(sql, [str(now)]).fetchone():
            if time.monotonic() > deadline:
                raise EngineError(
                    f"{self.name}: the process {found[0]} has had a transaction open for more than {self._seconds:g} s,"
                    " which keeps deleted rows; end it and try again"
                )
            time.sleep(GRACE / 10)

    @property
    def _limit(self) -> int:
        return max(1, math.ceil(self._seconds * 1000))

    @contextmanager
    def _borrowed(self, *, tested: bool = True) -> Generator[Connection]:
        """Take a connection from the pool and return it if it is still usable."""
        if not self._free.acquire(timeout=self._seconds):
            raise EngineError(f"{self.name}: all {MAX_CONNECTIONS} connections were busy for {self._seconds:g} s")
        try:
            with self._translated():
                connection = self._taken(tested=tested)
                try:
                    yield connection
                except BaseException:
                    if connection.broken or connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                        connection.close()
                    raise
                finally:
                    if not connection.closed:
                        with self._guard:
                            self._idle.append(connection)
        finally:
            self._free.release()

    def _taken(self, *, tested: bool) -> Connection:
        """Return an idle connection, tested if wanted, or a new one."""
        while True:
            with self._guard:
                if not self._idle:
                    break
                connection = self._idle.pop()
            if not tested:
                return connection
            started = time.monotonic()
            try:
                with self._watched(connection):
                    connection.execute("")  # only a statement shows that the server was restarted
                return connection
            except psycopg.OperationalError:
                connection.close()
                if time.monotonic() - started > GRACE:  # it does not respond on any connection
                    raise
        return self._connected()

    def _connected(self) -> Connection:
        wait = max(2, math.ceil(self._seconds))  # libpq treats less as two seconds
        connection = psycopg.connect(
            self._dsn,
            connect_timeout=wait,
            application_name=APPLICATION,
            autocommit=True,
            prepare_threshold=None,  # a proxy may not support prepared statements
        )
        if self._schema:
            set_config = "SELECT set_config('search_path', %s, false), set_config('statement_timeout', %s, false)"
            try:
                connection.execute(set_config, [f'"{self._schema}"', str(self._limit)])
            except BaseException:
                connection.close()
                raise
        return connection

    @contextmanager
    def _watched(self, connection: Connection, patient: bool = False) -> Generator[None]:
        """Shut a connection down if the server does not respond at all, not even with a time-out."""
        if patient:
            yield
            return
        with socket.socket(fileno=os.dup(connection.fileno())) as line:
            timer = threading.Timer(self._seconds + GRACE, line.shutdown, [socket.SHUT_RDWR])
            timer.daemon = True
            timer.start()
            try:
                yield
            finally:
                timer.cancel()

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            raise EngineError(f"{self.name} took longer than {self._seconds:g} s") from error
        except psycopg.Error as error:
            raise EngineError(f"{self.name}: {server_message(error)}") from error


def inlined(connection: Connection, sql: str, values: Mapping[str, Any]) -> Cursor:
    """Run a statement with its values written into it, so that the server need not guess their types."""
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(sql.encode(), values or None)
    return cursor


def server_message(error: psycopg.Error) -> str:
    """Return the server's message and hint on one line."""
    first = error.diag.message_primary or str(error) or type(error).__name__
    hint = f"; {error.diag.message_hint}" if error.diag.message_hint else ""
    return " ".join(f"{first}{hint}".split())


def is_missing(error: EngineError) -> bool:
    """Return whether the server refused because a table or schema is missing."""
    return refused(error) in ("42P01", "3F000")


def refused(error: EngineError) -> str | None:
    """Return the SQLSTATE of the server's refusal; None if the error is not from the server."""
    cause: Any = error.__cause__
    return cause.sqlstate if isinstance(cause, psycopg.Error) else None
