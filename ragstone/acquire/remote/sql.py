"""Rows of an SQL query as documents, from any database that SQLAlchemy reaches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from ragstone.acquire.readers.tables.fields import Json
from ragstone.acquire.readers.tables.rows import has_text, read_row
from ragstone.acquire.remote.address import Address, Opening
from ragstone.core.errors import MissingExtra, SourceError, UsageError
from ragstone.core.records import UNCLEAR, Skipped
from ragstone.core.source import Entry

_ROWS = 500
"""Rows that are requested at a time."""
_DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
"""What stands for the name of a database alone: the driver that the extra ``postgres`` brings."""


class SqlSource:
    """The rows of a query. Their columns mean what those of a table do.

    The address is ``sql://name``; the name begins the ids of the documents. The URL of the database, which may hold a
    password, is in ``SQL_URL``, or in the variable that the connection names. The query runs in a transaction that is
    rolled back, and that is read-only in PostgreSQL and SQLite.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        """Check the settings; nothing is connected yet.

        Raises:
            UsageError: there is no query.
            MissingExtra: SQLAlchemy is not installed.
        """
        name = f"{address.host}/{address.path}".strip("/")
        self.address = f"sql://{name}"
        self._opening, self._text = opening, ""
        if not opening.connection.query.strip() or not name:
            raise UsageError(
                f"'{self.address}' needs a query: name it in acquire.connections with an address such as sql://tickets"
            )
        try:
            import sqlalchemy
        except ImportError as error:
            raise MissingExtra("sqlalchemy", extra="sql") from error
        self._alchemy: Any = sqlalchemy
        self._engine: Any = None

    def entries(self) -> Iterator[Entry | Skipped]:
        try:
            with self._connected().connect() as connection:
                connection = self._read_only(connection)
                # A colon would begin a parameter.
                query = self._alchemy.text(self._opening.connection.query.replace(":", r"\:"))
                result = connection.execute(query)
                columns = self._opening.connection.columns
                setting = "acquire.connections.*.columns"
                is_record = not has_text(list(result.keys()), columns, self.address, setting)
                for number, row in enumerate(result.mappings(), 1):
                    yield self._entry(cast("Mapping[str, object]", row), number, is_record=is_record)
                connection.rollback()
        except self._alchemy.exc.SQLAlchemyError as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
            raise SourceError(f"{self.address} cannot be queried: {reason}") from error

    def fetch(self, entry: Entry) -> Iterator[bytes]:  # noqa: ARG002 - it is the row of the entry listed last
        yield self._text.encode("utf-8", "replace")

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _connected(self) -> Any:
        url = self._opening.secret("SQL_URL", f"URL of the database of {self.address}")
        scheme, separator, rest = url.partition("://")
        try:
            self._engine = self._alchemy.create_engine(
                f"{_DRIVERS.get(scheme, scheme)}{separator}{rest}",
                poolclass=self._alchemy.pool.NullPool,
                hide_parameters=True,
            )
        except self._alchemy.exc.ArgumentError as error:  # whose text would show the password
            raise SourceError(f"the URL of the database of {self.address} is malformed") from error
        except ImportError as error:
            raise MissingExtra(error.name or "the driver of the database", extra="") from error
        if self._engine.dialect.name == "sqlite":
            self._refuse_missing_file()
        return self._engine

    def _refuse_missing_file(self) -> None:
        """Refuse an SQLite file that does not exist: connecting would create an empty one."""
        name = self._engine.url.database or ""
        if name and name != ":memory:" and not name.startswith("file:") and not Path(name).is_file():
            raise SourceError(
                f"there is no SQLite file '{name}' for {self.address}; correct the path in the URL:"
                " sqlite:/// and a path relative to this folder, or sqlite://// and an absolute one"
            )

    def _read_only(self, connection: Any) -> Any:
        """Return the connection such that it streams rows and, where that can be said, changes nothing."""
        options: dict[str, Any] = {"stream_results": True, "yield_per": _ROWS}
        if self._engine.dialect.name == "postgresql":
            options["postgresql_readonly"] = True
        connection = connection.execution_options(**options)
        if self._engine.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA query_only = ON")
        return connection

    def _entry(self, row: Mapping[str, object], number: int, *, is_record: bool) -> Entry | Skipped:
        fields = {str(name): _plain(value) for name, value in row.items()}
        columns = self._opening.connection.columns
        read = read_row(fields, columns, self._opening.settings.access.column, is_record=is_record)
        key = read.key or str(number)
        if not read.text:
            return Skipped(source=f"{self.address}/{key}", reason="no text in the columns of text")
        self._text = read.text
        return Entry(
            name=key,
            version=hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:32],
            kind=".txt",
            title=read.title,
            url=read.url,
            groups=read.named.groups if read.named else None,
            metadata={
                **read.facts,
                "kind": "sql",
                **({UNCLEAR: read.named.problem} if read.named and read.named.problem else {}),
            },
        )


def _plain(value: object) -> Json:
    """Return a value of a database as one of JSON. Bytes are left out."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return int(value) if value == value.to_integral_value() and abs(value) < 10**15 else float(value)
        case bytes() | bytearray() | memoryview():
            return None
        case list() | tuple():
            return [_plain(one) for one in cast("list[object]", value)]
        case dict():
            return {str(name): _plain(one) for name, one in cast("dict[str, object]", value).items()}
        case _:
            return str(value)
