"""Connections to PostgreSQL: a few, kept for the next who needs one, and thrown away when they fail."""

from __future__ import annotations

import math
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ragstone.errors import EngineError, MissingExtra, SettingsError

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise MissingExtra("psycopg", extra="postgres") from error

if TYPE_CHECKING:
    from psycopg.rows import TupleRow

    from ragstone.services import PostgresSettings

    Connection = psycopg.Connection[TupleRow]

MOST = 8
"""Connections at once; who comes later waits for one."""
APPLICATION = "ragstone"
GRACE = 1.0
"""Seconds that the server has to say itself that it took too long."""


class Server:
    """One database, and up to `MOST` connections to it, each for one thread at a time.

    A connection that fails is not used again; the next caller makes a new one, so a server that comes back is
    reached without anybody's doing.
    """

    def __init__(self, settings: PostgresSettings) -> None:
        """
        Raises:
            SettingsError: the settings do not say where it is.
        """
        dsn = settings.dsn.get_secret_value()
        if not dsn:
            raise SettingsError(
                "PostgreSQL needs an address: services.postgres.dsn, or DATABASE_URL in the environment, as"
                " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
            )
        try:
            parts = conninfo_to_dict(dsn)
        except psycopg.Error:  # whose text would show the password
            raise SettingsError(
                "services.postgres.dsn is no address of PostgreSQL; write it as"
                " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
            ) from None
        self._dsn, self._seconds = dsn, settings.timeout_seconds
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
        if not self._free.acquire(timeout=self._seconds):
            raise EngineError(f"{self.name}: all {MOST} connections were busy for {self._seconds:g} s")
        try:
            with self._translated():
                connection = self._taken()
                try:
                    with self._watched(connection, patient), connection.transaction():
                        limit = 0 if patient else max(1, math.ceil(self._seconds * 1000))
                        connection.execute("SELECT set_config('statement_timeout', %s, true)", [str(limit)])
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

    def _taken(self) -> Connection:
        """One that was used before and still lives, or a new one."""
        while True:
            with self._guard:
                if not self._idle:
                    break
                connection = self._idle.pop()
            try:
                with self._watched(connection):
                    connection.execute("")  # of a server that was restarted, only a question tells
                return connection
            except psycopg.OperationalError:
                connection.close()
        wait = max(2, math.ceil(self._seconds))  # libpq takes less for two seconds
        return psycopg.connect(
            self._dsn,
            connect_timeout=wait,
            application_name=APPLICATION,
            autocommit=True,
            prepare_threshold=None,  # what stands between here and the server may not keep statements
        )

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
