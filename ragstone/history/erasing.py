"""Removes the words of documents from the journal; what people did stays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ragstone.core.frozen import frozen
from ragstone.core.traces import Traces
from ragstone.history.journal import row_crc
from ragstone.history.journal_tables import SUMS
from ragstone.history.store import JournalDatabase, JournalStore

ERASED = "The source of this answer was erased."
ERASED_QUESTION = "(This question was erased with its source.)"
_LISTS = ("sources", "citations", "statements", "notices", "steps")
"""The parts of an answer that repeat words of documents."""
_KEYS = {"responses": "id", "turns": "turn", "names": "session", "feedback": "number", "audit": "number"}
_TEXTS = {"names": ("title",), "feedback": ("reason", "correction"), "audit": ("what",)}
"""Columns whose text is deleted if it has words of a document."""


@frozen
class Change:
    """A row of a table with other values; None deletes it."""

    table: str
    key: Any
    values: Mapping[str, Any] | None


def changes(db: JournalDatabase, traces: Traces) -> list[Change]:
    """Return the changes that erase documents from the journal."""
    erased, out = set[tuple[str, str]](), list[Change]()
    for key, row in _rows(db, "responses"):
        told = json.loads(row["answer"])
        if new := _without(told, row["question"], traces):
            if new["answer"]["answer"] == ERASED:
                erased.add((row["question"], told["answer"]["answer"]))
            asked = _question(row["question"], traces, linked=new["answer"]["answer"] == ERASED)
            values = {"question": asked, "answer": json.dumps(new)}
            out.append(Change(table="responses", key=key, values=row | values))
    for key, row in _rows(db, "turns"):
        said = (row["question"], row["answer"])
        linked = said in erased
        question, answer = _question(said[0], traces, linked=linked), said[1]
        if linked or question != said[0] or traces.is_in(answer):
            out.append(Change(table="turns", key=key, values=row | {"question": question, "answer": ERASED}))
    for table, columns in _TEXTS.items():
        for key, row in _rows(db, table):
            if emptied := {name: "" for name in columns if traces.is_in(row[name])}:
                out.append(Change(table=table, key=key, values=row | emptied))
    schedules = db.execute("SELECT source FROM schedules").fetchall()
    out += [Change(table="schedules", key=source, values=None) for (source,) in schedules if traces.is_in(source)]
    return out


def erase(journal: JournalStore, traces: Traces) -> int:
    """Remove the words of documents from the journal, and return the number of changed rows.

    Raises:
        KnowledgeBaseError: the journal cannot be read or written; nothing was changed.
    """
    with journal.reading() as db:
        if db is None:
            return 0
    with journal.writing() as db:
        found = changes(db, traces)
        for one in found:
            _apply(db, one)
    return len(found)


def quotes(db: JournalDatabase, traces: Traces) -> Iterator[str]:
    """Yield the quotes of documents in stored answers: all that is known of the text of one that was removed."""
    for _, row in _rows(db, "responses"):
        for one in json.loads(row["answer"])["answer"]["citations"]:
            if traces.names_document(one["document_id"]):
                yield from (value for value in one.values() if isinstance(value, str))


def _without(stored: dict[str, Any], question: str, traces: Traces) -> dict[str, Any] | None:
    """Return a stored answer without traces of documents; None if it has none.

    An answer that neither cites the documents nor repeats their words stays, without them in its evidence.
    """
    answer: dict[str, Any] = stored["answer"]
    hits = [one for one in stored["hits"] if not traces.names_document(one["document_id"])]
    considered = [one for one in stored["considered"] if not traces.names_document(one[0])]
    said = {name: part for name, part in answer.items() if name != "question"}
    repeats = any(map(traces.is_in, strings(said)))
    asked = _question(question, traces, linked=repeats)
    if repeats or asked != question:
        answer = answer | {"question": asked, "answer": ERASED} | {name: list[Any]() for name in _LISTS}
    cleaned = stored | {"answer": answer, "hits": hits} | ({"considered": considered} if "considered" in stored else {})
    return None if cleaned == stored else cleaned


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, except the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        parts = cast("Iterable[Any]", value.values() if isinstance(value, dict) else value)
        for part in parts:
            yield from strings(part)


def _question(question: str, traces: Traces, *, linked: bool) -> str:
    """Return a question, or a note instead of one that has words of the documents.

    An ordinary word counts only if the answer is ``linked`` to the documents.
    """
    has_words = traces.has_own_words(question) if linked else traces.is_in(question)
    return ERASED_QUESTION if has_words else question


def _rows(db: JournalDatabase, table: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the key and the values of every sound row; doctor reports the others."""
    names = SUMS[table]
    for key, crc, *values in db.execute(f"SELECT {_KEYS[table]}, crc, {', '.join(names)} FROM {table}"):  # noqa: S608
        if crc == row_crc(*values):
            yield key, dict(zip(names, values, strict=True))


def _apply(db: JournalDatabase, change: Change) -> None:
    if change.values is None:
        db.execute("DELETE FROM schedules WHERE source = ?", [change.key])
        return
    values = [change.values[name] for name in SUMS[change.table]]
    places = ", ".join(f"{name} = ?" for name in (*SUMS[change.table], "crc"))
    sql = f"UPDATE {change.table} SET {places} WHERE {_KEYS[change.table]} = ?"  # noqa: S608
    db.execute(sql, [*values, row_crc(*values), change.key])
