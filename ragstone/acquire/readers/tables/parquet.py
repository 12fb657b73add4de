"""Tables in Parquet, which pyarrow reads: one row per line, as on a sheet."""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, cast

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.tables.fields import shown
from ragstone.core.installation import install_command

_MOST_ROWS = 100_000
_ROWS_AT_ONCE = 1_000


def parse(file: File) -> Parsed:
    """Return the rows of a table below the names of its columns. A cell of bytes is left empty.

    Raises:
        Unreadable: pyarrow is not installed, or the file is damaged, encrypted or empty.
    """
    try:
        pyarrow: Any = import_module("pyarrow")  # it has no type stubs
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise Unreadable(f"pyarrow reads it; install it: {install_command('parquet')}") from error
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # the others reserve more than this process may have
    try:
        table = parquet.ParquetFile(file.path, memory_map=False, pre_buffer=False)
        names, count = table.schema_arrow.names, table.metadata.num_rows
        rows = list[list[str]]()
        for batch in table.iter_batches(_ROWS_AT_ONCE, use_threads=False):
            columns = [[_shown(value) for value in column] for column in map(_values, batch.columns)]
            rows += map(list, zip(*columns, strict=True))
            if len(rows) >= _MOST_ROWS:
                break
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise Unreadable(f"damaged: {error}") from error
    rows = rows[:_MOST_ROWS]
    if not any(chain.from_iterable(rows)):
        raise Unreadable("empty")
    name, writer = PurePosixPath(file.name).stem, Writer()
    writer.heading(name, 1)
    writer.table([names, *rows], caption=name, header=1)
    writer.left_out("row", count - len(rows))
    return writer.parsed(title=name, facts={"kind": "parquet"})


def _values(column: Any) -> list[Any]:
    return column.to_pylist()


def _shown(value: object) -> str:
    items = cast("Any", value)
    match value:
        case None | bytes():
            return ""
        case list():
            return ", ".join(map(_shown, items))
        case dict():
            return ", ".join(f"{key}: {_shown(one)}" for key, one in items.items())
        case _:
            return shown(value)
