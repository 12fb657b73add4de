"""Connections to PostgreSQL: a few, kept for the next who needs one, and thrown away when they fail."""

from __future__ import annotations

import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ragstone.errors import EngineError, MissingExtra, SettingsError
from ragstone.substitutes import NO_ADDRESS

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise MissingExtra("psycopg", extra="postgres") from error

if TYPE_CHECKING:
    from psycopg.rows import TupleRow

    from ragstone.services import PostgresSettings

    Connection = psycopg.Connection[TupleRow]

Values = Sequence[Any] | Mapping[str, Any]

MOST = 8
"""Connections at once; who comes later waits for one."""
STREAMED = 2000
"""Rows that are read at once of those that are many."""
APPLICATION = "ragstone"
GRACE = 1.0
"""Seconds that the server has to say itself that it took too long."""


class Server:
    """One database, and up to `MOST` connections to it, each for one thread at a time.

    A connection that fails is not used again; the next caller makes a new one, so a server that comes back is
    reached without anybody's doing.
    """

    def __init__(self, settings: PostgresSettings, *, schema: str = "") -> None:
        """
        Args:
            settings: where it is, and how long it may take.
            schema: where unqualified names are looked for; the server's own choice if not given.

        Raises:
            SettingsError: the settings do not say where it is.
        """
        dsn = settings.dsn.get_secret_value()
        if not dsn:
            raise SettingsError(NO_ADDRESS)
        try:
            parts = conninfo_to_dict(dsn)
        except psycopg.Error:  # whose text would show the password
            raise SettingsError(
                "services.postgres.dsn is no address of PostgreSQL; write it as"
                " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
            ) from None
        self._dsn, self._seconds, self._schema = dsn, settings.timeout_seconds, schema
        self.name = f"PostgreSQL at {parts.get('host') or 'localhost'}:{parts.get('port') or 5432}"
        self._idle: list[Connection] = []
        self._free, self._guard = threading.BoundedSemaphore(MOST), threading.Lock()

    def close(self) -> None:
        """Let go of the connections that nobody uses."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    @contextmanager
    def transaction(self, *, patient: bool = False) -> Iterator[Connection]:
        """A connection in a transaction: committed at the end, or nothing of it done.

        Args:
            patient: for as long as it takes; otherwise no statement may take longer than the settings allow.

        Raises:
            EngineError: the server cannot be reached, or refuses.
        """
        with self._borrowed() as connection, self._watched(connection, patient), connection.transaction():
            limit = 0 if patient else self._limit
            connection.execute("SELECT set_config('statement_timeout', %s, true)", [str(limit)])
            yield connection

    def rows(self, sql: str, values: Values = (), *, binary: bool = False) -> list[TupleRow]:
        """What one statement gives that changes nothing; asked again where the connection turns out to have died.

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
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees one state of the database, and changes nothing."""
        with self._borrowed() as connection, connection.transaction():
            self.asked(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection

    def asked(self, connection: Connection, sql: str, values: Values = (), *, binary: bool = False) -> list[TupleRow]:
        """All that one statement gives, on a connection that is held."""
        with self._watched(connection):
            found = connection.execute(sql.encode(), values or None, binary=binary)
            return found.fetchall() if found.description else []

    def stream(
        self, connection: Connection, sql: str, values: Values, *, binary: bool = False, at_once: int = STREAMED
    ) -> Iterator[TupleRow]:
        """The same, some at a time: only what is looked at is in memory. The connection must be in a transaction."""
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
    def kept(self) -> Iterator[Connection]:
        """A connection of one's own, whose end the server notices within half a minute, for what lives as long as it.

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

    @property
    def _limit(self) -> int:
        return max(1, math.ceil(self._seconds * 1000))

    @contextmanager
    def _borrowed(self, *, tested: bool = True) -> Iterator[Connection]:
        """One of the connections, for one at a time; put back where it can be used again."""
        if not self._free.acquire(timeout=self._seconds):
            raise EngineError(f"{self.name}: all {MOST} connections were busy for {self._seconds:g} s")
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
        """One that was used before, and still lives where that is to be tested, or a new one."""
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
                    connection.execute("")  # of a server that was restarted, only a question tells
                return connection
            except psycopg.OperationalError:
                connection.close()
                if time.monotonic() - started > GRACE:  # it says nothing, and would not to the others either
                    raise
        return self._connected()

    def _connected(self) -> Connection:
        wait = max(2, math.ceil(self._seconds))  # libpq takes less for two seconds
        connection = psycopg.connect(
            self._dsn,
            connect_timeout=wait,
            application_name=APPLICATION,
            autocommit=True,
            prepare_threshold=None,  # what stands between here and the server may not keep statements
        )
        if self._schema:
            set_config = "SELECT set_config('search_path', %s, false), set_config('statement_timeout', %s, false)"
            connection.execute(set_config, [f'"{self._schema}"', str(self._limit)])
        return connection

    @contextmanager
    def _watched(self, connection: Connection, patient: bool = False) -> Iterator[None]:
        """Cut a connection off whose server says nothing at all, not even that it took too long."""
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
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            raise EngineError(f"{self.name} took longer than {self._seconds:g} s") from error
        except psycopg.Error as error:
            raise EngineError(f"{self.name}: {told(error)}") from error


def told(error: psycopg.Error) -> str:
    """What the server says, in one line."""
    first = error.diag.message_primary or str(error) or type(error).__name__
    hint = f"; {error.diag.message_hint}" if error.diag.message_hint else ""
    return " ".join(f"{first}{hint}".split())


def refused(error: EngineError) -> str | None:
    """The SQLSTATE with which the server refused; None where it was not the server."""
    cause: Any = error.__cause__
    return cause.sqlstate if isinstance(cause, psycopg.Error) else None
