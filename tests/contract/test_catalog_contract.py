"""One catalog in a file and one in PostgreSQL, through the same histories: they say the same of everything."""

import asyncio
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogs import new_catalog
from drawn import DOCUMENTS, FACTS_OF_ANY_KIND, FILTERS, IDS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from kb import commit, prepare

from ragstone.catalog import listing as catalog_listing
from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.catalog.versions import difference
from ragstone.chunk import chunk_id
from ragstone.core.access import EVERYTHING, OWNER, READERS
from ragstone.core.catalog import FIELDS, Listing, Stamp
from ragstone.core.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.core.filters import Compare
from ragstone.core.layout import Placed
from ragstone.core.records import ATTACHED, Document, Finished, Mark, Skipped
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.index.vectors.embedded import EmbeddedVectors
from ragstone.settings import ChunkSettings
from servers.postgres_server import PostgresServer, shared

PLACED = Placed(start=0, end=4, page=1, left=0.2, top=0.4, right=0.6, bottom=0.8)
GROUPS: list[list[str] | None] = [None, [], ["staff"], ["hr", "staff"]]


@pytest.fixture(params=["file", "postgres"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    if request.param == "file":
        made: Catalog = create_catalog(tmp_path / "catalog.db", {"preset": "default"})
    else:
        made = new_catalog(request.getfixturevalue("postgres"), {"preset": "default"})
    with closing(made):
        yield made


@pytest.fixture
def both(postgres: PostgresServer, tmp_path: Path) -> Iterator[tuple[Catalog, Catalog]]:
    with closing(create_catalog(tmp_path / "catalog.db", {})) as one, closing(new_catalog(postgres)) as other:
        yield one, other


def whole(catalog: Catalog) -> dict[str, list[tuple]]:
    """All it holds, but for what is drawn or depends on the clock, and the numbers of texts and vectors."""
    with catalog.snapshot():
        tables: dict[str, Any] = {table: [tuple(row) for row in rows] for table, rows in catalog.dump()}
    hash_of = {content: hash for content, hash, _ in tables["contents"]}
    vector_of = {vector: hash for vector, hash, _, _ in tables["vectors"]}
    tables["commits"] = [generation for generation, _ in tables["commits"]]
    tables["contents"] = [row[1:] for row in tables["contents"]]
    tables["vectors"] = [row[1:] for row in tables["vectors"]]
    tables["documents"] = [(*row[:2], hash_of[row[2]], *row[3:-1]) for row in tables["documents"]]
    tables["chunks"] = [(*row[:8], vector_of[row[8]], row[9]) for row in tables["chunks"]]
    return {table: sorted(rows, key=repr) for table, rows in tables.items()}


def changes(catalog: Catalog, since: int) -> list[object]:
    vectors = list(catalog.vectors_since(since, 32))
    return [
        catalog.removed_since(since),
        catalog.changes_since(since),
        catalog.rows_since(since).tolist(),
        list(catalog.chunks_since(since)),
        [row for rows, _ in vectors for row in rows.tolist()],
        [vector.tolist() for _, found in vectors for vector in found],
    ]


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.file, self.server = create_catalog(self.folder / "catalog.db", {}), new_catalog(shared())
        self.both: tuple[Catalog, Catalog] = (self.file, self.server)
        self.terms = TermIndex(self.folder / "terms", self.server, Plain(), k1=1.2, b=0.75)
        self.vectors = EmbeddedVectors(self.folder / "vectors", self.server, dimensions=32, exact_limit=2)

    @rule(documents=st.lists(DOCUMENTS, min_size=1, max_size=3, unique_by=lambda one: one.id), page=st.integers(0, 2))
    def put(self, documents: list[Document], page: int) -> None:
        for catalog in self.both:
            commit(catalog, *(replace(one, placed=(PLACED, replace(PLACED, page=page))[:page]) for one in documents))

    @rule(ids=st.lists(IDS, min_size=1, max_size=2))
    def remove(self, ids: list[str]) -> None:
        told = []
        for catalog in self.both:
            try:
                told.append(catalog.remove(ids, [Finished(source="f", stamp="1")]))
            except NotFound as error:
                told.append(str(error))
        assert told[0] == told[1]

    @rule(names=st.lists(st.sampled_from(["a", "b", "f", "f/x"]), max_size=2), forget=st.booleans())
    def skip(self, names: list[str], forget: bool) -> None:
        for catalog in self.both:
            catalog.note_skipped([Skipped(source=name, reason=f"why {name}") for name in names])
            if forget:
                catalog.forget_skipped(names)

    @rule(write=st.booleans())
    def follow(self, write: bool) -> None:
        self.terms.follow()
        self.vectors.follow(write=write)

    @invariant()
    def they_say_the_same(self) -> None:
        assert whole(self.file) == whole(self.server)
        last = self.file.generation()
        for since in {0, last - 1, last}:
            assert changes(self.file, since) == changes(self.server, since)
        assert self.server.verify(chunk_id) == self.file.verify(chunk_id) == []
        assert len(difference(self.file, self.server)) == 0
        everything = set(self.file.rows_since(0).tolist())
        vector = np.ones(32, dtype=np.float32)
        assert set(asyncio.run(self.vectors.search(vector, 1000)).rows.tolist()) == everything

    def teardown(self) -> None:
        self.file.close()
        self.server.close()
        shutil.rmtree(self.folder)


def test_layouts_are_kept_with_the_document(catalog: Catalog) -> None:
    with_boxes = Document(id="a", text="text", placed=(PLACED,))
    commit(catalog, with_boxes, Document(id="b", text="text"))
    signed = catalog.signatures(["a"])
    assert (catalog.layout("a"), catalog.layout("b"), catalog.layout("c")) == ((PLACED,), (), ())
    assert catalog.document("a").placed == ()
    assert catalog.verify(chunk_id) == []
    commit(catalog, replace(with_boxes, placed=(replace(PLACED, page=2),)))
    assert catalog.layout("a")[0].page == 2
    assert catalog.signatures(["a"]) != signed
    commit(catalog, replace(with_boxes, placed=()))
    assert catalog.layout("a") == ()
    commit(catalog, with_boxes)
    catalog.remove(["a"])
    assert catalog.layout("a") == ()
    with catalog.snapshot():
        assert [row for table, rows in catalog.dump() for row in rows if table == "layouts"] == []


@pytest.mark.usefixtures("postgres")
class TestHistories(Machine.TestCase):
    settings = settings(max_examples=4, stateful_step_count=6)


@settings(max_examples=8)
@given(data=st.data(), records=st.lists(FACTS_OF_ANY_KIND, min_size=1, max_size=10))
def test_filters_let_the_same_through(tmp_path_factory, postgres, data: st.DataObject, records: list) -> None:
    folder: Path = tmp_path_factory.mktemp("filters")
    documents = [
        Document(id=f"doc{i}", text=f"words {i}", title="a" if i % 2 else "", metadata=metadata)
        for i, metadata in enumerate(records)
    ]
    with closing(create_catalog(folder / "catalog.db", {})) as one, closing(new_catalog(postgres)) as other:
        for catalog in (one, other):
            commit(catalog, *documents)
        for where in data.draw(st.lists(FILTERS, min_size=8, max_size=12)):
            assert one.select(where).tolist() == other.select(where).tolist(), where


def listed(catalog: Catalog, wanted: str, after: str, *, groups: list[str] | None = None, **way: Any) -> Listing:
    """A page of documents without the times when they were added, which differ by a second now and then."""
    page = catalog.listing(groups, wanted, after, 3, **way)
    return replace(page, documents=tuple(replace(one, added="") for one in page.documents))


def test_long_and_strange_texts_are_kept_and_found(both: tuple[Catalog, Catalog]) -> None:
    long = "".join(chr(0x4E00 + i % 9000) for i in range(5000))
    names = [
        long,
        f"{long}x",
        f"{long[:600]}a",
        "a%b",
        "a_b",
        "A%B",
        "Ä",
        "ä",
        "\U0001f600",
        "\uffff",
        "it's \\ \"",
        "a/b#c",
    ]
    documents = [
        Document(id=name, text=f"text of {name}", source=f"/{name}", title=name, metadata={name: name, "n": 2**70})
        for name in names
    ]
    marked = Document(
        id="m",
        text="Tool\n\nRun it.",
        marks=(
            Mark(kind="heading", start=0, end=4, level=1, label="Tool"),
            Mark(kind="table", start=6, end=13, header=2),
        ),
    )
    for catalog in both:
        commit(catalog, *documents)
        commit(catalog, marked, settings=ChunkSettings(strategy="structure", size=40, overlap=0))
        assert {one.id: one for one in catalog.documents()} == {one.id: one for one in (*documents, marked)}
        assert catalog.verify(chunk_id) == []
    one, other = both
    assert whole(one) == whole(other)
    assert (
        [id for id, *_ in one.ordered_signatures()]
        == [id for id, *_ in other.ordered_signatures()]
        == sorted([*names, "m"])
    )
    for wanted in ("", "a%", "A_", "ä", "\\", long[:50], "nothing"):
        for after in ("", "a_b", long):
            assert listed(one, wanted, after) == listed(other, wanted, after), (wanted, after)
    for name in names:
        for op in ("=", "<", ">="):
            where = Compare(key=name, op=op, value=name)
            assert one.select(where).tolist() == other.select(where).tolist()
            where = Compare(key="id", op=op, value=name)
            assert one.select(where).tolist() == other.select(where).tolist()
        assert (
            one.documents_under(f"/{name}")
            == other.documents_under(f"/{name}")
            == [(name, f"/{name}")] + ([("a/b#c", "/a/b#c")] if name == "a" else [])
        )
    asked = [*names, "/Ä", "no", "/a/b", "/a/", "/a"]
    assert one.stored_names(asked) == other.stored_names(asked) >= {"/a/b", "/a"}
    assert not one.stored_names(["no", "/", "/a/"])


def test_readers_are_the_same(both: tuple[Catalog, Catalog]) -> None:
    told: dict[str, Any] = {"open": None, "staff": "staff", "both": ("hr", "staff"), "nobody": (), "all": "*"}
    documents = [
        Document(id=f"x/{name}", text=f"about {name}", metadata={} if named is None else {"readers": named})
        for name, named in told.items()
    ]
    for catalog in both:
        assert not catalog.restricts(["staff"])
        commit(catalog, *documents)
        assert catalog.restricts(["staff"])
    one, other = both
    ids = [document.id for document in documents]
    assert one.access_groups(ids) == other.access_groups(ids)
    assert other.access_groups(ids)["x/nobody"] == ()
    for groups in GROUPS:
        assert listed(one, "", "", groups=groups) == listed(other, "", "", groups=groups)
        for name in told:
            seen = []
            for catalog in both:
                try:
                    seen.append(catalog.document(name, groups).id)
                except NotFound as error:
                    seen.append(str(error))
            assert seen[0] == seen[1], (name, groups)


def test_metadata_keys_are_those_the_reader_may_know(catalog: Catalog) -> None:
    commit(catalog, Document(id="open", text="one", metadata={"year": 1, "tags": ("a", "b")}))
    assert catalog.metadata_keys(["hr"]) == {*FIELDS, "year", "tags"}
    commit(catalog, Document(id="hr", text="two", metadata={"salary": 2, "year": 1, "readers": ("hr",)}))
    assert (
        catalog.metadata_keys() == catalog.metadata_keys(["*", "hr"]) == {*FIELDS, "year", "tags", "salary", "readers"}
    )
    assert catalog.metadata_keys(["*", "staff"]) == {*FIELDS, "year", "tags"}
    catalog.remove(["hr"])
    assert catalog.metadata_keys() == {*FIELDS, "year", "tags"}


def test_what_is_within_a_source(catalog: Catalog) -> None:
    inside = ["/d/f", "/d/f/x", "/d/f#1", "/d/f/x#2"]
    others = ["/d/fx", "/d/f.txt", "/d/f0", "/d/f$", "/d", "/d/e"]
    commit(catalog, *(Document(id=f"i{n}", text=f"t {n}", source=s) for n, s in enumerate([*inside, *others])))
    catalog.note_skipped([Skipped(source=source, reason="why") for source in (*inside, *others)])
    assert {source for _, source in catalog.documents_under("/d/f")} == set(inside)
    rows = catalog.first_rows_under("/d/f").tolist()
    assert {one.document_id for one in catalog.chunks(rows).values()} == {"i0", "i1", "i2", "i3"}
    assert catalog.sources(["i0", "i3", "0"]) == {"i0": "/d/f", "i3": "/d/f/x#2"}
    assert [one.source for one in catalog.skipped("/d/f")] == sorted(inside)
    catalog.commit([], {}, [Finished(source="/d/f", stamp="s1")])
    assert {one.source for one in catalog.skipped()} == set(others)
    assert catalog.has_file("/d/f", "s1")
    assert not catalog.has_file("/d/f", "s2")
    catalog.remove(["i1"])  # what lies in the file is no longer all there
    assert not catalog.has_file("/d/f", "s1")


def test_of_two_with_one_id_in_a_commit_the_later_counts(catalog: Catalog) -> None:
    commit(catalog, Document(id="a", text="first"), Document(id="b", text="between"), Document(id="a", text="second"))
    assert [one.text for one in catalog.documents()] == ["second", "between"]
    assert catalog.counts().vectors == 2
    assert catalog.verify(chunk_id) == []


def test_a_commit_is_whole_or_not_at_all(catalog: Catalog) -> None:
    commit(catalog, Document(id="a", text="one"))
    before = whole(catalog)
    lacking = prepare(Document(id="b", text="without a vector"))
    with pytest.raises((KeyError, KnowledgeBaseError)):
        catalog.commit([prepare(Document(id="a", text="two")), lacking], {})
    with pytest.raises(NotFound, match="there is no document 'no'"):
        catalog.remove(["a", "no"])
    assert whole(catalog) == before


def test_a_snapshot_sees_nothing_of_what_comes_later(catalog: Catalog) -> None:
    commit(catalog, Document(id="a", text="one"))
    with catalog.snapshot() as now:
        commit(catalog, Document(id="b", text="two"))
        assert catalog.stamp() == now
        assert catalog.counts().documents == 1
        assert catalog.rows_since(0).tolist() == [1]
    assert catalog.counts().documents == 2
    assert catalog.knows(now)
    assert not catalog.knows(Stamp(generation=now.generation, mark="other"))


def test_closing_waits_for_a_read_of_another_thread(tmp_path: Path) -> None:
    catalog = create_catalog(tmp_path / "catalog.db", {})
    begun = threading.Event()

    def read() -> list[tuple[int]]:
        catalog.database.reader.db.create_function("begun", 0, begun.set)
        return catalog.database.rows(
            "WITH RECURSIVE n (i) AS (SELECT begun() IS NULL UNION ALL SELECT i + 1 FROM n WHERE i < 2000000)"
            " SELECT count(*) FROM n"
        )

    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read)
        begun.wait()
        catalog.close()
        assert reading.result() == [(2000000,)]
        with pytest.raises(KnowledgeBaseError, match="was closed"):
            threads.submit(read).result()
    with pytest.raises(KnowledgeBaseError, match="was closed"):
        commit(catalog, Document(id="late", text="Too late."))


def test_a_stream_ends_when_the_catalog_is_closed(tmp_path: Path) -> None:
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=f"{i}", text=f"Text {i}.") for i in range(200)))
    streamed = catalog.ordered_signatures()
    next(streamed)
    catalog.close()
    with pytest.raises(KnowledgeBaseError):
        list(streamed)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128, 200])
def test_a_stream_has_every_row(catalog: Catalog, count: int) -> None:
    commit(catalog, *(Document(id=f"{i:03}", text=f"Text {i}.") for i in range(count)))
    assert [row[0] for row in catalog.ordered_signatures()] == [f"{i:03}" for i in range(count)]


def test_a_copy_holds_the_same_and_goes_on_by_itself(
    catalog: Catalog, postgres: PostgresServer, tmp_path: Path
) -> None:
    documents = [
        Document(id=f"d{i}", text=f"words {i}", metadata={"n": i, "f": float(i), "t": True}) for i in range(20)
    ]
    commit(catalog, *documents)
    catalog.note_skipped([Skipped(source="s", reason="r")])
    catalog.commit([], {}, [Finished(source="/x", stamp="1")])
    catalog.remove(["d19", "d3"])
    file, server = create_catalog(tmp_path / "copy.db", {}), new_catalog(postgres)
    with closing(file), closing(server):
        for copy in (file, server):
            with catalog.snapshot() as now:
                copy.fill(catalog.dump())
            assert copy.stamp() == now
            assert whole(copy) == whole(catalog)
            assert copy.built_with() == catalog.built_with()
            assert copy.verify(chunk_id) == []
            copy.start_new_history()
            commit(copy, Document(id="new", text="new"))
            assert max(copy.rows_since(0)) == 21  # the numbers of what was removed are not given again
            assert not catalog.knows(copy.stamp())


def test_another_version_takes_over_what_was_noted(both: tuple[Catalog, Catalog]) -> None:
    for number, (live, other) in enumerate((both, both[::-1])):
        documents = [Document(id=f"{number}-{i}", text=f"t {i}") for i in range(3)]
        commit(live, *documents)
        live.commit([], {}, [Finished(source="/x", stamp="7")])
        live.note_skipped([Skipped(source="s", reason="r")])
        left = difference(live, other)
        assert left.changed == tuple(one.id for one in documents)
        commit(other, *documents)
        other.put_notes(live.notes())
        assert other.notes() == live.notes()
        assert other.has_file("/x", "7")
        assert len(difference(live, other)) == 0


def test_many_chunks_are_what_they_are_one_by_one(catalog: Catalog) -> None:
    texts = {id: "\n\n".join(f"Żółw {id} {n}. " * 8 for n in range(20)) for id in "abc"}
    commit(catalog, *(Document(id=id, text=text) for id, text in texts.items()), Document(id="twin", text=texts["c"]))
    commit(catalog, Document(id="b", text=texts["b"].replace("5.", "five.")))
    for found in (dict(catalog.chunks_since(0)), catalog.chunks_of(["a", "b", "c", "twin"])):
        assert list(found) == sorted(found)
        assert found == catalog.chunks(list(found))
        assert {chunk.document_id for chunk in found.values()} == {"a", "b", "c", "twin"}


def test_vectors_and_what_it_was_built_with_can_be_put_anew(catalog: Catalog) -> None:
    commit(catalog, Document(id="a", text="one"))
    catalog.set_built_with({"preset": "other"})
    assert catalog.built_with() == {"preset": "other"}
    ((row, chunk),) = catalog.chunks_of(["a"]).items()
    catalog.put_vectors({row: np.ones(32, dtype=np.float32)})
    catalog.reindex()
    assert catalog.vectors([row])[row].tolist() == [1.0] * 32
    assert catalog.sample_vectors(5, 32).tolist() == [[1.0] * 32]
    assert catalog.chunks_by_id([chunk.id, "no"]) == {chunk.id: chunk}
    assert catalog.verify(chunk_id) == []


def test_what_somebody_changed_in_the_tables_is_told(postgres: PostgresServer, tmp_path: Path) -> None:
    """Of both the same, but for what no database lets happen."""
    spoil = [
        "UPDATE documents SET title = 'x' WHERE id = 'd0'",
        "UPDATE contents SET text = 'x' WHERE hash = (SELECT hash FROM contents ORDER BY content LIMIT 1 OFFSET 1)",
        "UPDATE vectors SET crc = 1 WHERE vector = (SELECT min(vector) FROM vectors)",
        "DELETE FROM facts WHERE document = (SELECT document FROM documents WHERE id = 'd2')",
        "DELETE FROM commits WHERE generation = 1",
    ]
    told = []
    with closing(create_catalog(tmp_path / "c.db", {})) as file, closing(new_catalog(postgres)) as server:
        for catalog in (file, server):
            for i in range(4):
                commit(catalog, Document(id=f"d{i}", text=f"text {i}", metadata={"n": i}))
        with closing(sqlite3.connect(tmp_path / "c.db")) as db, server.database.server.transaction() as other:
            for sql in spoil:
                db.execute(sql)
                other.execute(sql.encode())
            db.commit()
        told = [sorted(map(repr, catalog.verify(chunk_id))) for catalog in (file, server)]
        assert told[0] == told[1]
        assert len(told[0]) == 6
        with server.database.server.transaction() as other:
            other.execute("UPDATE about SET crc = 0")
        with pytest.raises(Damaged, match="restore"):
            server.built_with()


def test_documents_are_selected_and_ordered_the_same(
    both: tuple[Catalog, Catalog], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Titles, file names, filters, the order of commits, and the values of metadata, for each reader."""
    documents = [
        Document(
            id=f"x/{name}.pdf",
            text=f"about {name}",
            title=title,
            metadata={"author": author, "year": year, "draft": True} | ({"readers": "staff"} if hidden else {}),
        )
        for name, title, author, year, hidden in (
            ("one", "The 100% Report", "Ada", 2021, False),
            ("two", "Other", "Ada", 2022, True),
            ("three", "the 100% report", "Berg", 2022, False),
        )
    ]
    for catalog in both:
        for document in documents:
            commit(catalog, document)
    one, other = both
    recent = Compare(key="year", op="=", value=2022)
    for catalog in both:
        assert catalog.selected(recent) is None
        found = catalog.select(recent).tolist()
        assert len(found) == 2
        known = catalog.selected(recent)
        assert known is not None
        assert known.tolist() == found
        commit(catalog, Document(id="later", text="one more"))
        assert catalog.selected(recent) is None
        catalog.remove(["later"])
    ways: list[dict[str, Any]] = [
        {"order": "newest"},
        {"order": "oldest"},
        {"order": "newest", "where": recent},
        {"order": "id", "where": recent},
    ]
    for groups in GROUPS:
        for way in ways:
            assert listed(one, "", "", groups=groups, **way) == listed(other, "", "", groups=groups, **way)
            few = listed(one, "o", "", groups=groups, **way)
            with monkeypatch.context() as patch:  # a large selection is not named, but evaluated again
                patch.setattr(catalog_listing, "MOST_NAMED", 0)
                assert [listed(catalog, "o", "", groups=groups, **way) for catalog in both] == [few, few]
        for name in ("the 100% Report", "ONE.pdf", "x/two.pdf", "100%", "t_o.pdf"):
            found = listed(one, name, "", groups=groups, exactly=True)
            assert found == listed(other, name, "", groups=groups, exactly=True)
            assert found.total == len(found.documents)
        for key in ("author", "year", "draft", "nothing"):
            assert one.common_values(groups, key, 9) == other.common_values(groups, key, 9)
            assert one.common_values(groups, key, 9, where=recent) == other.common_values(groups, key, 9, where=recent)
    assert one.common_values(None, "author", 9) == [("Ada", 2), ("Berg", 1)]
    assert one.common_values(None, "author", 9, where=recent) == [("Ada", 1), ("Berg", 1)]
    assert one.common_values([], "author", 9, where=recent) == [("Berg", 1)]
    assert one.common_values([], "author", 9) == [("Ada", 1), ("Berg", 1)]
    assert one.common_values(None, "year", 9) == one.common_values(None, "draft", 9) == []
    assert [hit.document_id for hit in one.listing(None, "the 100% Report", "", 9, exactly=True).documents] == [
        "x/one.pdf",
        "x/three.pdf",
    ]
    ids = [document.id for document in documents]
    assert one.first_chunks(ids) == other.first_chunks(ids)
    assert {id: chunk.index for id, chunk in one.first_chunks(ids).items()} == dict.fromkeys(ids, 0)


def test_withdrawn_documents_are_hidden_until_stored_again(catalog: Catalog) -> None:
    group = OWNER.within("s").conversation
    facts = {READERS: (group,), ATTACHED: group}
    attached = [Document(id=f"{number}.md", text=f"The pump {number} runs.", metadata=facts) for number in range(2)]
    commit(catalog, *attached)
    rows, generation = [*catalog.rows_since(0)], catalog.generation()
    catalog.withdraw(["0.md", "gone.md"])
    for groups in ([group], [EVERYTHING], [EVERYTHING, group]):
        with pytest.raises(NotFound):
            catalog.document("0.md", groups)
    assert catalog.document("1.md", [group]).text == attached[1].text
    assert len(catalog.select(OWNER.within("s").allowed)) == 1
    assert [*catalog.rows_since(0)] == rows
    assert catalog.generation() == generation + 1
    assert catalog.verify(chunk_id) == []
    catalog.withdraw(["0.md"])
    assert catalog.generation() == generation + 1
    commit(catalog, attached[0])
    assert catalog.document("0.md", [group]).text == attached[0].text
