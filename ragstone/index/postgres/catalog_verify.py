"""Everything a catalog in PostgreSQL says, compared with what it says of itself; see `ragstone.index.catalog.verify`.

The structure of its files the server knows, and checks with checksums of its own where it was made with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from ragstone.index.catalog.filters import Value
from ragstone.index.catalog.verify import DOCUMENT, RESTORE, Fact, IdOf, crc_of, told, wrong_with
from ragstone.index.postgres.catalog_facts import columns_of
from ragstone.index.records import Finding

AT_ONCE = 100
"""Documents."""
Ask = Callable[..., list[Any]]

_ORPHANS = {
    "vectors that no chunk has": (
        "SELECT count(*) FROM vectors v WHERE NOT EXISTS (SELECT FROM chunks c WHERE c.vector = v.vector)"
    ),
    "texts that no document has": (
        "SELECT count(*) FROM contents t WHERE NOT EXISTS (SELECT FROM documents d WHERE d.content = t.content)"
    ),
    "chunks that are noted as removed": "SELECT count(*) FROM chunks JOIN removals USING (row)",
    "chunks of a commit that is not there": (
        "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT FROM commits o WHERE o.generation = c.generation)"
    ),
    "row numbers that will be given twice": (
        "SELECT count(*) FROM chunks_numbers WHERE last_value - (NOT is_called)::int"
        " < greatest((SELECT max(row) FROM chunks), (SELECT max(row) FROM removals))"
    ),
}


def verify(ask: Ask, id_of: IdOf) -> Iterator[Finding]:
    """Read all of it, a hundred documents at a time; ``ask`` gives the rows of one state of it."""
    about = ask("SELECT built_with, crc FROM about")
    if len(about) != 1 or crc_of(about[0][0]) != about[0][1]:
        yield Finding(part="catalog", what="what it was built with is not what was written", remedy=RESTORE)
    generations = [generation for (generation,) in ask("SELECT generation FROM commits ORDER BY generation")]
    if not generations or generations != list(range(generations[0], generations[-1] + 1)):
        yield Finding(part="catalog", what="the list of commits has a gap", remedy=RESTORE)
    for what, sql in _ORPHANS.items():
        ((count,),) = ask(sql)
        if count:
            yield Finding(part="catalog", what=f"there are {what}: {count}", remedy=RESTORE)
    yield from told(_documents(ask, id_of))


def _documents(ask: Ask, id_of: IdOf) -> Iterator[tuple[str, Iterator[str]]]:
    numbers = [number for (number,) in ask("SELECT document FROM documents ORDER BY document")]
    for start in range(0, len(numbers), AT_ONCE):
        part = numbers[start : start + AT_ONCE]
        sql = f"SELECT d.document, {DOCUMENT} FROM documents d JOIN contents t USING (content)"  # noqa: S608
        documents = ask(f"{sql} WHERE d.document = ANY(%s) ORDER BY d.document", [part])
        chunks: dict[int, list[Any]] = {}
        for document, *chunk in ask(
            'SELECT c.document, c.row, c.id, c.position, c.start, c."end", c.context, c.facts, v.hash, v.value, v.crc'
            " FROM chunks c JOIN vectors v USING (vector) WHERE c.document = ANY(%s) ORDER BY c.document, c.position",
            [part],
        ):
            chunks.setdefault(document, []).append(chunk)
        facts: dict[int, dict[int | None, list[Fact]]] = {}
        sql = "SELECT document, chunk, key, kind, value, number FROM facts WHERE document = ANY(%s)"
        for document, row, key, *columns in ask(sql, [part]):
            facts.setdefault(document, {}).setdefault(row, []).append((key, _exact(*columns)))
        for document, *columns in documents:
            own = facts.get(document, {})
            yield columns[0], wrong_with(columns, chunks.get(document, []), own, id_of, _shaped)


def _shaped(value: Value) -> object:
    return _exact(*columns_of(value))


def _exact(kind: str, text: str, number: Decimal | str | None) -> tuple[str, str, str]:
    """The same for numbers that are equal, however they are written."""
    if number is None:
        return kind, text, ""
    exact = Decimal(number)
    return kind, text, str(exact if exact.is_infinite() else exact.as_integer_ratio())
