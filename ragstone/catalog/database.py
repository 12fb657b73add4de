"""What the catalog needs from a database.

SQLite and PostgreSQL share its tables and queries; this module has the differences.

SQLAlchemy Core was measured as a base for both and rejected: it takes 150 ms to import and 29 MB, `chunks` takes 1.7
times and a lookup 2.5 times as long, and COPY, snapshots and the recovery of a failed connection stay by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ragstone.catalog.filters import FilterDialect, Value
from ragstone.catalog.protocol import IdOf
from ragstone.core.catalog import Finding

Query = tuple[str, list[Any]]
"""SQL, or a condition in SQL, with its parameters."""


class Dialect(FilterDialect, Protocol):
    """The SQL that differs between the databases. Both write parameters as ``?``."""

    @property
    def id_column(self) -> str:
        """The indexed column of a document's id: the id, or its hash."""
        ...

    @property
    def source_column(self) -> str:
        """The indexed column of a source: the source, or its hash."""
        ...

    @property
    def in_values(self) -> str:
        """``{column} {in_values}`` matches one of many values, all in one parameter made by `values` or `keys`."""
        ...

    @property
    def fact_value(self) -> str:
        """The columns of a metadata value."""
        ...

    @property
    def is_text(self) -> str:
        """A condition on facts whose value is text."""
        ...

    @property
    def by_id(self) -> str:
        """Columns that order documents ``d`` by id."""
        ...

    @property
    def stored_names(self) -> str:
        """A query for those of the names in `names` that are in or around the stored documents."""
        ...

    @property
    def metadata_keys(self) -> str:
        """A query for all keys in the facts."""
        ...

    @property
    def orphans(self) -> dict[str, str]:
        """Queries of this database alone that count rows that should not exist, keyed by what they count."""
        ...

    def key(self, text: str) -> str:
        """Return an id or source in the form of its indexed column."""
        ...

    def values(self, values: Iterable[Any]) -> object:
        """Return many values as the one parameter of `in_values`."""
        ...

    def keys(self, texts: Iterable[str]) -> object:
        """Return many ids or sources as the one parameter of `in_values` for their indexed column."""
        ...

    def names(self, names: Sequence[str]) -> list[Any]:
        """Return the parameters of `stored_names`."""
        ...

    def has_key(self, key: str) -> Query:
        """Return a condition on facts with a key."""
        ...

    def after(self, id: str) -> Query:
        """Return a condition on documents ``d`` with ids behind another one."""
        ...

    def ending(self, ends: Sequence[str]) -> Query:
        """Return a condition on documents ``d`` whose ids have one of these ends; all ends have the same length."""
        ...

    def containing(self, forms: Sequence[str], fields: Sequence[str]) -> Query:
        """Return a condition on documents ``d`` with any of these patterns in one of the fields."""
        ...

    def named(self, name: str, field: str) -> Query:
        """Return a condition on documents whose field, or its part after the last slash, equals a name in any case.

        It ignores the part before the slash, so an index finds the documents.
        """
        ...

    def readable(self, groups: Sequence[str] | None) -> Query:
        """Return a condition on documents ``d`` that these groups may read."""
        ...

    def under(self, root: str) -> Query:
        """Return a condition on sources that are, or lie in, a file, folder, table or archive."""
        ...

    def exact(self, *columns: Any) -> object:
        """Return the columns of a metadata value in a form that is equal for equal values."""
        ...

    def exact_value(self, value: Value) -> object:
        """Return the same form of a value that is not yet stored."""
        ...


class Transaction(Protocol):
    """A write, all or nothing."""

    @property
    def generation(self) -> int: ...

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return its rows."""
        ...

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of parameters."""
        ...

    def insert(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Store new rows."""
        ...

    def upsert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Store rows in place of those with the same first column, an id or a source."""
        ...

    def new_rows(self, count: int) -> list[int]:
        """Return numbers for chunks, ascending and never used before."""
        ...

    def continue_numbers(self) -> None:
        """Make new numbers continue after the inserted ones."""
        ...

    def reindex(self) -> None: ...


class Database(Protocol):
    """The tables of one catalog: any thread reads, one at a time writes."""

    @property
    def name(self) -> str:
        """The location, for messages."""
        ...

    @property
    def dialect(self) -> Dialect: ...

    def close(self) -> None: ...

    def rows(self, sql: str, values: Sequence[Any] = (), *, binary: bool = False) -> list[Any]:
        """Return all rows of a query; ``binary`` is faster for values of bytes."""
        ...

    def stream(
        self, sql: str, values: Sequence[Any] = (), *, binary: bool = False, large: bool = False
    ) -> Iterator[Any]:
        """Yield the rows of a query with many results; ``large`` rows come a few at a time."""
        ...

    def uncut(self, where: str, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Yield the chunks ``c`` of documents ``d`` in the order of their rows, as `ragstone.catalog.rows.CHUNKS` does.

        The text is the whole text of the document, and None if it is that of the chunk before.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Hold one state of the database for this thread. Snapshots nest."""
        ...

    def transaction(self, *, counted: bool = True) -> AbstractContextManager[Transaction]:
        """Write; ``counted`` makes it a commit that indexes learn of."""
        ...

    def compact(self) -> None:
        """Write every table anew, without the remains of deleted rows."""
        ...

    def verify(self, id_of: IdOf) -> list[Finding]:
        """Read everything and return the faults."""
        ...
