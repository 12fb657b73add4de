"""Searches everything that a knowledge base stores for traces of documents: the proof that they are erased."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.core.frozen import frozen
from ragstone.core.traces import Traces
from ragstone.storage.sqlite import connect_to_check

if TYPE_CHECKING:
    from ragstone.services.postgres import Server

BLOCK = 1 << 24
"""Bytes of a file to search at once."""
MOST_NEEDLES, LEAST_NEEDLE = 60, 6
"""Words to look for in the bytes of files, the longest first, and their least length: any four letters occur by chance.
In the rows of databases, all words are looked for."""
_MAGIC = b"SQLite format 3\0"
_ZLIB = (zlib.MAX_WBITS, -zlib.MAX_WBITS, 16 + zlib.MAX_WBITS)
"""Forms of compressed values: zlib, bare, gzip."""


@frozen
class Searched:
    """What was searched: files with their bytes, rows of databases; and the places where something is left."""

    files: int = 0
    bytes: int = 0
    rows: int = 0
    found: tuple[str, ...] = ()


def search(folder: Path, traces: Traces, server: Server | None, schemas: str, tables: str) -> Searched:
    """Search every file of a folder, byte by byte, and every row of its databases.

    Args:
        folder: of the knowledge base.
        traces: of the documents.
        server: that has tables of the knowledge base, if any.
        schemas: regular expression of their schemas.
        tables: regular expression of further tables in the schema ``ragstone``.
    """
    needles, places = _needles(traces), dict[str, None]()
    files = size = rows = 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        name = str(path.relative_to(folder))
        with suppress(FileNotFoundError):
            files, size = files + 1, size + path.stat().st_size
            if traces.is_in(name) or _has(path, needles):
                places[name] = None
            for table, values in _stored_rows(path):
                rows += 1
                if any(traces.is_in(text) for value in values for text in _texts(value)):
                    places[f"{name}, table {table}"] = None
    for table, text in _served_rows(server, schemas, tables) if server else ():
        rows += 1
        if traces.is_in(text):
            places[f"PostgreSQL, table {table}"] = None
    return Searched(files=files, bytes=size, rows=rows, found=tuple(places))


def _needles(traces: Traces) -> dict[bytes, re.Pattern[bytes]]:
    """Return the rarest words in every form that files may have them in, and what finds each as a whole word.

    ASCII letters are in lower case.
    """
    long = [word for word in traces.rare if len(word.encode()) >= LEAST_NEEDLE]
    words = sorted(long, key=lambda word: (-len(word), word))[:MOST_NEEDLES]
    forms = dict[bytes, None]()
    for word in words:
        for cased in {word, word.upper(), word.capitalize()} if not word.isascii() else {word}:
            escaped = json.dumps(cased)[1:-1]
            for form in (cased.encode(), escaped.encode(), cased.encode("utf-16-le"), cased.encode("utf-16-be")):
                forms[form.lower()] = None
    return {form: re.compile(rb"(?<![a-z0-9])" + re.escape(form) + rb"(?![a-z0-9])") for form in forms}


def _has(path: Path, needles: Mapping[bytes, re.Pattern[bytes]]) -> bool:
    """Return whether a file has any of the needles."""
    longest, rest = max(map(len, needles), default=1), b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            part = rest + block.lower()
            if any(needle in part and whole.search(part) for needle, whole in needles.items()):
                return True
            rest = part[-longest:]
    return False


def _stored_rows(path: Path) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield each row of an SQLite database with its table; nothing for another file."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return
    with suppress(sqlite3.DatabaseError), closing(connect_to_check(path)) as db:  # of a damaged one, the bytes suffice
        db.text_factory = partial(str, encoding="utf-8", errors="replace")
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in db.execute(f'SELECT * FROM "{table}"'):  # noqa: S608
                yield table, row


def _texts(value: Any) -> Iterator[str]:
    """Yield a value as text: as it is, decompressed, and with the escapes of JSON resolved."""
    if isinstance(value, bytes):
        for form in _ZLIB:
            with suppress(zlib.error):
                yield zlib.decompressobj(form).decompress(value).decode(errors="replace")
        value = value.decode(errors="replace") if len(value) < BLOCK else ""
    if isinstance(value, str):
        yield value
        if "\\u" in value:
            with suppress(ValueError):
                yield json.dumps(json.loads(value), ensure_ascii=False)


def _served_rows(server: Server, schemas: str, tables: str) -> Iterator[tuple[str, str]]:
    """Yield each row of the tables on a server as text, with its table."""
    sql = """
        SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables
        WHERE schemaname ~ %s OR (schemaname = 'ragstone' AND tablename ~ %s)
    """
    for (table,) in server.rows(sql, [schemas, tables]):
        with server.snapshot() as db:
            for (text,) in server.stream(db, f"SELECT row_to_json(t)::text FROM {table} t", []):  # noqa: S608
                yield table, text
                if "\\u" in text:
                    yield table, json.dumps(json.loads(text), ensure_ascii=False)
