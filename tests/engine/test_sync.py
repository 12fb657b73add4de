"""What is stored follows its sources: nothing more, nothing less, and nothing done twice."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb import FAST, add, check_whole, embedder_of, look, open_fast, parts, timeless

from ragstone import acquire
from ragstone.core.access import OWNER
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.filters import And
from ragstone.core.records import Document
from ragstone.core.reports import AddReport, Plan
from ragstone.core.request import Request
from ragstone.engine.knowledge_base import KnowledgeBase


@pytest.fixture
def docs(workdir: Path) -> Path:
    folder = workdir / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def engine(docs: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(docs.parent / "kb")
    yield engine
    engine.close()


def sync(engine: KnowledgeBase, *sources: Path | str) -> AddReport:
    return asyncio.run(engine.documents.sync([str(source) for source in sources]))


def plan(engine: KnowledgeBase, *sources: Path | str) -> Plan:
    return asyncio.run(engine.documents.plan([str(source) for source in sources]))


def stored(engine: KnowledgeBase) -> dict[str, Document]:
    return {document.id: timeless(document) for document in parts(engine).catalog.documents()}


def changes(report: AddReport) -> tuple[int, int, int]:
    return report.added, report.updated, report.removed


def pack(path: Path, **texts: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"{name}.txt", text)


# ---------------------------------------------------------------- what is done


def test_new_changed_and_gone_files(engine: KnowledgeBase, docs: Path) -> None:
    for name in "abcd":
        (docs / f"{name}.txt").write_text(f"text of {name}")
    assert changes(sync(engine, docs)) == (4, 0, 0)
    (docs / "a.txt").write_text("other words")
    (docs / "b.txt").unlink()
    (docs / "c.txt").rename(docs / "e.txt")
    planned = plan(engine, docs)
    assert planned == Plan(
        added=("docs/e.txt",),
        updated=("docs/a.txt",),
        removed=("docs/b.txt", "docs/c.txt"),
        unchanged=1,
        skipped=(),
    )
    report = sync(engine, docs)
    assert changes(report) == (1, 1, 2)
    assert report.embedded == 1, "a file that was renamed has its vector already"
    assert sorted(stored(engine)) == ["docs/a.txt", "docs/d.txt", "docs/e.txt"]
    check_whole(parts(engine).source.path / "catalog.db")
    assert "docs/b.txt" not in {
        hit.chunk.document_id for hit in asyncio.run(engine.search("text of b", 9, reader=OWNER))
    }


def test_an_unchanged_run_reads_and_embeds_nothing(engine: KnowledgeBase, docs: Path) -> None:
    """That no file was read shows in one whose content changed behind the back of its size and time."""
    (docs / "a.txt").write_text("first words")
    (docs / "rows.csv").write_text("id,text\n1,one\n2,two\n")
    assert changes(sync(engine, docs)) == (3, 0, 0)
    before, now = engine.status(), (docs / "a.txt").stat()
    (docs / "a.txt").write_text("other words")
    os.utime(docs / "a.txt", ns=(now.st_atime_ns, now.st_mtime_ns))
    embedder_of(engine).seen.clear()
    for report in (sync(engine, docs), add(engine, str(docs))):
        assert (changes(report), report.unchanged, report.embedded) == ((0, 0, 0), 3, 0)
    assert plan(engine, docs).unchanged == 3
    assert embedder_of(engine).seen == []
    assert engine.status().generation == before.generation
    os.utime(docs / "a.txt")
    assert changes(sync(engine, docs)) == (0, 1, 0)


def test_rows_of_a_table(engine: KnowledgeBase, docs: Path) -> None:
    table = docs / "rows.csv"
    table.write_text("id,text\n1,one\n2,two\n3,three\n")
    sync(engine, docs)
    table.write_text("id,text\n1,one\n3,drei\n4,four\n")
    assert changes(sync(engine, docs)) == (1, 1, 1)
    assert [one.text for one in stored(engine).values()] == ["one", "drei", "four"]
    table.write_text("id,text\n3,seven\n")
    os.utime(table, ns=(1, 1))
    assert changes(sync(engine, table)) == (0, 1, 2)
    assert parts(engine).catalog.has_file(
        str(table), look(parts(engine).source.path / "catalog.db", "SELECT stamp FROM files")[0][0]
    )


def test_members_of_an_archive(engine: KnowledgeBase, docs: Path) -> None:
    pack(docs / "a.zip", one="first", two="second", three="third")
    assert changes(sync(engine, docs)) == (3, 0, 0)
    pack(docs / "a.zip", one="first", three="other words")
    assert changes(sync(engine, docs)) == (0, 1, 1)
    assert sorted(stored(engine)) == ["docs/a.zip/one.txt", "docs/a.zip/three.txt"]
    (docs / "a.zip").write_bytes((docs / "a.zip").read_bytes()[:40])
    report = sync(engine, docs)
    assert (changes(report), len(report.skipped)) == ((0, 0, 0), 1)
    (docs / "a.zip").unlink()
    (docs / "b.txt").write_text("so that there is something")
    assert changes(sync(engine, docs)) == (1, 0, 2)
    assert engine.status().skipped == ()


def test_documents_from_elsewhere_stay(engine: KnowledgeBase, docs: Path) -> None:
    other = docs.parent / "docs2"
    other.mkdir()
    for folder in (docs, other):
        (folder / "a.txt").write_text(f"text in {folder.name}")
        (folder / "b.txt").write_text(f"more in {folder.name}")
    add(engine, Document(id="mine", text="my own"), Document(id="page", text="a page", source="https://a.example/"))
    sync(engine, docs, other)
    (docs / "b.txt").unlink()
    (other / "b.txt").unlink()
    assert changes(sync(engine, docs)) == (0, 0, 1)
    assert sorted(stored(engine)) == ["docs/a.txt", "docs2/a.txt", "docs2/b.txt", "mine", "page"]
    assert changes(sync(engine, other / "a.txt")) == (0, 0, 0)
    assert "docs2/b.txt" in stored(engine)


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_source_that_is_not_there_removes_nothing(engine: KnowledgeBase, docs: Path, how: str) -> None:
    """The disk it lies on may not be mounted; then the folder is missing, or empty."""
    here = docs.parent / "here"
    here.mkdir()
    (here / "h.txt").write_text("here")
    (docs / "a.txt").write_text("there")
    sync(engine, docs, here)
    (docs / "a.txt").unlink()
    (here / "h.txt").write_text("here anew")
    if how == "missing":
        docs.rmdir()
    for run in (sync, plan):
        with pytest.raises(SourceError):
            run(engine, here, docs)
    assert [one.text for one in stored(engine).values()] == ["there", "here"]


def test_names_of_the_same_folder_agree(engine: KnowledgeBase, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (docs / "sub").mkdir()
    (docs / "sub" / "a.txt").write_text("first")
    (docs / "b.txt").write_text("second")
    link = docs.parent / "link"
    link.symlink_to(docs, target_is_directory=True)
    assert changes(sync(engine, "docs")) == (2, 0, 0)
    same = ["docs", "docs/", "./docs/../docs", str(docs), "link", str(link), f"{link}/sub", "link/b.txt", "docs/sub/"]
    for name in same:
        assert changes(sync(engine, name)) == (0, 0, 0), name
    monkeypatch.chdir(docs)
    for name in (".", "..//docs", "sub", "b.txt"):
        assert changes(sync(engine, name)) == (0, 0, 0), name
    (docs / "sub" / "a.txt").unlink()
    assert changes(sync(engine, str(link))) == (0, 0, 1)
    assert list(stored(engine)) == ["docs/b.txt"]


# ---------------------------------------------------------------- what cannot be read


def test_a_bad_file_is_kept_reported_and_tried_again(engine: KnowledgeBase, docs: Path) -> None:
    bad = docs / "table.csv"
    (docs / "a.txt").write_text("first")
    bad.write_text("id,text\n1,one\n2,two\n")
    sync(engine, docs)
    bad.write_bytes(b"PK\x03\x04\0\0\0\0")
    for _ in range(2):
        report = sync(engine, docs)
        assert (changes(report), [one.source for one in report.skipped]) == ((0, 0, 0), [str(bad)])
        assert [one.source for one in engine.status().skipped] == [str(bad)]
    assert len(stored(engine)) == 3
    bad.write_text("id,text\n1,one\n")
    assert changes(sync(engine, docs)) == (0, 0, 1)
    assert engine.status().skipped == ()


def test_a_bad_file_that_is_gone_is_no_longer_told_of(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "a.txt").write_text("first")
    (docs / "b.pdf").write_bytes(b"no pdf")
    assert len(sync(engine, docs).skipped) == 1
    (docs / "b.pdf").unlink()
    sync(engine, docs)
    assert engine.status().skipped == ()


def test_a_plan_promises_no_blank_document(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "a.txt").write_text("first")
    (docs / "blank.txt").write_text(" \n ")
    planned, report = plan(engine, docs), sync(engine, docs)
    assert planned.added == ("docs/a.txt",)
    assert planned.skipped == report.skipped != ()


# ---------------------------------------------------------------- again, later, otherwise


def test_a_removed_document_comes_back(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "rows.csv").write_text("id,text\n1,one\n2,two\n")
    (docs / "a.txt").write_text("first")
    add(engine, str(docs))
    for lost in ("docs/rows.csv#2", "docs/a.txt"):
        engine.documents.remove([lost], reader=OWNER)
        report = add(engine, str(docs))
        assert (changes(report), report.unchanged) == ((1, 0, 0), 2)
        assert lost in stored(engine)


def test_a_file_that_was_away_comes_back(engine: KnowledgeBase, docs: Path) -> None:
    """With the size and time it had, so as if nothing had happened."""
    (docs / "a.txt").write_text("first")
    (docs / "b.txt").write_text("second")
    sync(engine, docs)
    (docs / "b.txt").rename(docs.parent / "b.txt")
    assert changes(sync(engine, docs)) == (0, 0, 1)
    (docs.parent / "b.txt").rename(docs / "b.txt")
    assert changes(sync(engine, docs)) == (1, 0, 0)


def test_add_does_not_hide_lost_rows_from_sync(engine: KnowledgeBase, docs: Path) -> None:
    table = docs / "rows.csv"
    table.write_text("id,text\n1,one\n2,two\n")
    add(engine, str(docs))
    table.write_text("id,text\n2,two\n")
    assert changes(add(engine, str(docs))) == (0, 0, 0)
    assert len(stored(engine)) == 2, "add takes nothing away"
    assert plan(engine, docs).removed == ("docs/rows.csv#1",)
    assert changes(sync(engine, docs)) == (0, 0, 1)
    table.write_bytes(table.read_bytes())
    assert changes(sync(engine, docs)) == (0, 0, 0)


def test_an_interrupted_run_is_taken_up(engine: KnowledgeBase, docs: Path) -> None:
    """Whatever was committed before, in the end everything is as if nothing had happened."""
    rows = [f"{i},text number {i}" for i in range(300)]
    (docs / "a.csv").write_text("\n".join(["id,text", *rows]))
    (docs / "b.txt").write_text("to be removed")
    for i in range(150):
        (docs / f"c{i}.txt").write_text(f"note {i}")
    sync(engine, docs)
    (docs / "a.csv").write_text("\n".join(["id,text", *(row + " anew" for row in rows[:250])]))
    (docs / "b.txt").unlink()
    for i in range(150):
        (docs / f"c{i}.txt").write_text(f"note {i} changed")
    runs = 0

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    while True:
        try:
            report = asyncio.run(engine.documents.sync([str(docs)], interrupt))
        except KeyboardInterrupt:
            runs += 1
            continue
        break
    assert runs > 2
    assert changes(report) == (0, 0, 51)
    assert changes(sync(engine, docs)) == (0, 0, 0)
    assert len(stored(engine)) == 400
    assert all(one.text.endswith(("anew", "changed")) for one in stored(engine).values())
    check_whole(parts(engine).source.path / "catalog.db")


def test_a_run_stopped_before_it_removes_anything_is_taken_up(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "rows.csv").write_text("id,text\n1,one\n2,two\n")
    sync(engine, docs)
    (docs / "rows.csv").write_text("id,text\n2,zwei\n")

    def stop(_: object) -> None:
        raise sqlite3.OperationalError("as if the disk were full")

    with pytest.raises(sqlite3.OperationalError):
        asyncio.run(engine.documents.sync([str(docs)], stop))
    assert changes(sync(engine, docs)) == (0, 0, 1)
    assert [one.text for one in stored(engine).values()] == ["zwei"]


def test_other_settings_for_reading_read_again(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "rows.csv").write_text("id,text,more\n1,one,extra\n")
    sync(engine, docs)
    for setting, expected in (
        ("acquire.crawl.delay_seconds=3", (0, 0, 0)),
        ("acquire.columns.text=[text, more]", (0, 1, 0)),
    ):
        other = KnowledgeBase.open("kb", [*FAST, setting])
        assert changes(sync(other, docs)) == expected
        assert changes(sync(other, docs)) == (0, 0, 0)
        other.close()
    assert engine.documents.get("#1", reader=OWNER).text == "one\n\nextra"


def test_after_a_rebuild_nothing_is_embedded(engine: KnowledgeBase, docs: Path) -> None:
    for i in range(20):
        (docs / f"{i}.txt").write_text(f"text number {i} " * 30)
    sync(engine, docs)
    asyncio.run(engine.versions.rebuild(["chunk.size=100"]))
    other = open_fast(Path("kb"), create=False)
    (docs / "3.txt").unlink()
    for removed in (1, 0):
        report = sync(other, docs)
        assert (changes(report), report.unchanged, report.embedded) == ((0, 0, removed), 19, 0)
    other.close()


# ---------------------------------------------------------------- any history


class Folder:
    """A folder to which things happen. A file that is bad is remembered, for what is stored of it stays."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.chance, self.count = root, chance, 0
        self.bad: set[Path] = set()
        self.step()

    def step(self) -> None:
        for _ in range(self.chance.randint(1, 4)):
            files = sorted(path for path in self.root.rglob("*") if path.is_file())
            chosen = self.chance.choice(files) if len(files) > 2 else None
            action = self.chance.choice(["create", "create", "change", "delete", "rename", "move", "spoil", "restore"])
            match action, chosen:
                case "create", _:
                    kind = self.chance.choice(["txt", "csv", "zip"])
                    self.fill(self.root / self.chance.choice(["", "sub"]) / f"{self.chance.randrange(9)}.{kind}")
                case _, None:
                    self.fill(self.root / f"{self.count}.txt")
                case "change", path:
                    self.fill(path)
                case "delete", path:
                    path.unlink()
                    self.bad.discard(path)
                case "rename" | "move", path if path not in self.bad:
                    to = path.with_name(f"{self.chance.randrange(9)}{path.suffix}")
                    to = self.root / ("sub" if action == "move" else "") / to.name
                    to.parent.mkdir(exist_ok=True)
                    path.replace(to)
                    self.bad.discard(to)
                case "spoil", path:
                    path.write_bytes(b"\0\x01\x02" * self.chance.randint(1, 50))
                    self.bad.add(path)
                case "restore", _:
                    for path in sorted(self.bad):
                        self.fill(path)
                case _:
                    pass

    def fill(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        self.bad.discard(path)
        self.count += 1
        some = [f"words {self.chance.randrange(6)}" for _ in range(self.chance.randint(1, 4))]
        match path.suffix:
            case ".txt":
                path.write_text(f"{some[0]} in version {self.count}")
            case ".csv":
                rows = {str(self.chance.randrange(5)): text for text in some}
                path.write_text("id,text\n" + "".join(f"{id},{text}\n" for id, text in rows.items()))
            case _:
                pack(path, **{f"m{self.chance.randrange(4)}": text for text in some[:1]}, **{f"n{self.count}": some[0]})


@pytest.mark.parametrize("seed", range(6))
def test_any_history_ends_like_a_fresh_start(engine: KnowledgeBase, docs: Path, seed: int) -> None:
    folder = Folder(docs, random.Random(seed))
    for _ in range(12):
        before = stored(engine)
        planned = plan(engine, docs)
        report = sync(engine, docs)
        after = stored(engine)
        # What was planned is what was done.
        assert set(planned.added) == after.keys() - before.keys()
        assert set(planned.removed) == before.keys() - after.keys()
        assert set(planned.updated) == {id for id in before.keys() & after.keys() if before[id] != after[id]}
        assert (len(planned.added), len(planned.updated), len(planned.removed)) == changes(report)
        assert (planned.unchanged, planned.skipped) == (report.unchanged, report.skipped)
        # What is stored is what is there, and what was there of files that cannot be read.
        found = acquire.read(str(docs), engine.settings.acquire, base=docs.parent)
        fresh = {one.id: timeless(one) for one in found if isinstance(one, Document)}
        bad = tuple(str(path) for path in folder.bad)
        kept = {id: one for id, one in before.items() if one.source.startswith(bad)}
        assert after == kept | fresh
        assert {one.source for one in report.skipped} == set(bad)
        assert {one.source for one in engine.status().skipped} == set(bad)
        assert changes(sync(engine, docs)) == (0, 0, 0)
        folder.step()
    check_whole(parts(engine).source.path / "catalog.db")


# ---------------------------------------------------------------- many


def test_one_in_a_hundred_of_a_thousand_changes(engine: KnowledgeBase, docs: Path) -> None:
    for i in range(1000):
        (docs / f"{i:04}.txt").write_text(f"First part of {i}.\n\n" + f"The rest is long {i}. " * 9)
    first = sync(engine, docs)
    assert (changes(first), first.embedded) == ((1000, 0, 0), first.chunks)
    for i in range(0, 1000, 100):
        (docs / f"{i:04}.txt").write_text(f"Zebra part of {i}.\n\n" + f"The rest is long {i}. " * 9)
    gone = range(1, 1000, 100)
    for i in gone:
        (docs / f"{i:04}.txt").unlink()
    seen = embedder_of(engine).seen
    seen.clear()
    report = sync(engine, docs)
    assert (changes(report), report.unchanged, report.embedded) == ((0, 10, 10), 980, 10)
    assert len(seen) == 10
    assert all("Zebra" in text for text in seen)
    rows = parts(engine).catalog.select(And(parts=())).tolist()
    chunks = parts(engine).catalog.chunks(rows)
    assert not {chunk.document_id for chunk in chunks.values()} & {f"docs/{i:04}.txt" for i in gone}
    (vector,) = asyncio.run(embedder_of(engine).embed(["part"], role="query", request=Request.by_owner()))
    for found in (
        asyncio.run(parts(engine).indexes.terms().search(["part", "rest"], 5000)),
        asyncio.run(parts(engine).indexes.vectors().search(vector, 5000)),
    ):
        assert sorted(found.rows.tolist()) == rows
    assert engine.status().behind == 0


# ---------------------------------------------------------------- what chunks tell of themselves


def test_facts_of_chunks_filter_questions(docs: Path) -> None:
    (docs / "guide.md").write_text(
        "# Tool\n\nWords about the tool.\n\n## Install\n\nWords to install.\n\n```sh\ninstall words\n```\n\n"
        "## Windows\n\nOther words.\n"
    )
    engine = KnowledgeBase.open("kb", [*FAST, "chunk.strategy=structure", "chunk.size=60"], create=True)
    sync(engine, docs)

    def texts(where: str) -> set[str]:
        return {hit.chunk.text for hit in asyncio.run(engine.search("words", 9, where, reader=OWNER))}

    assert texts("is_code = true") == {text for text in texts("section_title = Install") if "install words" in text}
    assert all("install" in text for text in texts('section_title = "Install"'))
    assert len(texts("is_code = true")) == 1
    assert texts("section_title = Windows and section_level = 2") == {
        text for text in texts("token_count > 0") if "Other words" in text
    }
    with pytest.raises(UsageError, match="no document has a field 'page'"):
        texts('page = "2"')
    # A change of one section changes the facts of that one, and embeds that one.
    (docs / "guide.md").write_text((docs / "guide.md").read_text().replace("## Windows", "## Elsewhere"))
    report = sync(engine, docs)
    assert (changes(report), report.embedded) == ((0, 1, 0), 1)
    assert texts("section_title = Windows") == set()
    assert len(texts("section_title = Elsewhere")) == 1
    engine.close()


def test_a_link_whose_target_is_gone_keeps_what_it_led_to_and_says_so(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "sub").mkdir()
    (docs / "sub" / "b.txt").write_text("bees dance")
    (docs / "a.txt").symlink_to(docs / "sub" / "b.txt")
    sync(engine, docs)
    assert len(stored(engine)) == 2
    (docs / "sub" / "b.txt").unlink()
    (docs / "never.txt").symlink_to(docs / "sub" / "b.txt")
    report = sync(engine, docs)
    assert (report.removed, [Path(one).name for one in stored(engine)]) == (1, ["a.txt"])
    assert {Path(one.source).name: one.reason for one in report.skipped} == {
        "a.txt": "a broken link; its stored version is kept",
        "never.txt": "a broken link",
    }


def test_emptied_files_are_removed(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "t.csv").write_text("name,price\nmill,12\nforge,9\n")
    (docs / "b.txt").write_text("The forge closed in 1951.")
    (docs / "c.txt").write_text("It stays.")
    sync(engine, docs)
    (docs / "t.csv").write_text("name,price\n")
    (docs / "b.txt").write_text("")
    report = sync(engine, docs)
    assert (report.removed, [Path(one).name for one in stored(engine)]) == (3, ["c.txt"])
    removed = "its stored version was removed"
    told = {Path(one.source).name: one.reason for one in report.skipped}
    assert told == {"t.csv": "no rows; " + removed, "b.txt": "empty; " + removed}
    assert [Path(one.source).name for one in engine.status().skipped] == ["b.txt", "t.csv"]


def test_adding_says_that_an_emptied_file_is_outdated(engine: KnowledgeBase, docs: Path) -> None:
    (docs / "b.txt").write_text("The forge closed in 1951.")
    sync(engine, docs)
    (docs / "b.txt").write_text("")
    (told,) = asyncio.run(engine.documents.add([str(docs)])).skipped
    assert told.reason == "empty; its stored version is outdated; ragstone sync removes it"
    assert len(stored(engine)) == 1
