"""How the database finds what is asked for: by an index, not by reading tables that grow."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogs import new_catalog
from kb import commit
from plans import scanned

from ragstone.catalog import filters
from ragstone.catalog.postgres.database import UNCUT
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.filters import Compare, In, Or
from ragstone.core.records import Document, Finished
from servers.postgres_server import PostgresServer


def test_what_changes_a_document_reads_nothing_of_the_others(tmp_path: Path) -> None:
    """Otherwise a folder of which ten thousand documents are gone takes minutes under the lock."""
    catalog = create_catalog(tmp_path / "catalog.db", {})
    one = Document(id="a#1", source="a#1", text="One.\n\nTwo.", metadata={"year": 1999})
    commit(catalog, one, Document(id="b", source="b", text="Two.", metadata={"year": 2001}))
    finished = [Finished(source="a", stamp="1")]
    db = catalog.database.writer
    assert scanned(db, lambda: commit(catalog, Document(id="b", source="b", text="Other.\n\nTwo."))) == []
    assert scanned(db, lambda: catalog.remove(["a#1"], finished)) == []
    catalog.close()


def test_a_long_document_is_read_once_for_all_its_chunks(tmp_path: Path) -> None:
    """Otherwise a book takes the square of its length to be indexed: one of four megabytes, twelve seconds."""
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=id, source=id, text=f"Paragraph {id}.\n\n" * 200) for id in "ab"))
    asked: list[str] = []
    catalog.database.reader.db.set_trace_callback(asked.append)
    for found in (dict(catalog.chunks_since(0)), catalog.chunks_of(["a", "b"])):
        assert found == catalog.chunks(list(found))
        assert len(found) > 20
    catalog.close()
    assert sum("FROM contents" in one for one in asked) == 4
    assert sum("substr" in one for one in asked) == 2, "only where some chunks are asked for"


def test_documents_go_by_an_index_in_postgresql_too(postgres: PostgresServer) -> None:
    """Each document that goes is looked up among all facts, by the server itself, as they refer to it."""
    catalog = new_catalog(postgres)
    with catalog.database.transaction(counted=False) as tx:
        tx.rows("SET LOCAL enable_seqscan = off")
        plan = tx.rows("EXPLAIN SELECT 1 FROM facts WHERE document = 1")
    catalog.close()
    assert "facts_document" in str(plan)


def test_a_long_document_is_sent_once_for_all_its_chunks(postgres: PostgresServer) -> None:
    """One of two megabytes took longer than the server is waited for, so that no index ever caught up."""
    catalog = new_catalog(postgres)
    commit(catalog, *(Document(id=id, source=id, text=f"Paragraph {id}.\n\n" * 200) for id in "ab"))
    sent = [row[7] for row in catalog.database.rows(UNCUT)]
    catalog.close()
    assert len(sent) > 20
    assert sum(text is not None for text in sent) == 2
    assert "substr" not in UNCUT


def test_many_values_are_put_together_at_once_and_not_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a filter of a thousand values takes half a minute: all rows found so far are sorted for each."""
    catalog = create_catalog(tmp_path / "catalog.db", {})
    many = range(200)
    commit(catalog, *(Document(id=f"{n}", source=f"{n}", text=f"Text {n}.", metadata={"n": n}) for n in many))
    together, moved = np.concatenate, list[int]()

    def counting(parts: Sequence[Any]) -> Any:
        moved.append(sum(map(len, parts)))
        return together(parts)

    monkeypatch.setattr(np, "concatenate", counting)
    listed = catalog.select(In(key="n", values=tuple(many)))
    either = catalog.select(Or(parts=tuple(Compare(key="n", op="=", value=n) for n in many)))
    catalog.close()
    assert len(listed) == len(either) == len(many)
    assert sum(moved) < 10 * len(many)


def test_parts_of_a_filter_that_are_put_together_one_by_one_are_whole_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "AT_ONCE", 3)
    parts = [np.arange(n, n + 4, dtype=np.int64) for n in range(50)]
    assert filters.united(parts).tolist() == list(range(53))
    assert filters.united([]).tolist() == []


def test_filters_that_let_nothing_through_are_not_kept_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter of its own for each question, as by the user who asks, would fill the memory of a server."""
    monkeypatch.setattr(filters, "MAX_FILTERS", 10)
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, Document(id="a", source="a", text="One.", metadata={"user": 7}))
    found = [len(catalog.select(Compare(key="user", op="=", value=n))) for n in range(30)]
    kept = len(catalog.selections)
    catalog.close()
    assert found == [0] * 7 + [1] + [0] * 22
    assert kept == 10
