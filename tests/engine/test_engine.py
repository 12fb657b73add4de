"""The engine from end to end: what it refuses, what it survives, and what a question gets when a part fails."""

import asyncio
import os
import shlex
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from kb import FAST, add, answered, check_whole, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.answers import Citation, Draft, Turn
from ragstone.core.errors import (
    KnowledgeBaseError,
    NotFound,
    ResponseError,
    RetrievalError,
    SettingsMismatch,
    UsageError,
)
from ragstone.core.filters import Filter
from ragstone.core.records import Document, Evidence, Mark, Matches
from ragstone.core.request import Request
from ragstone.engine.components import Components
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.lazy import Lazy
from ragstone.serve.blocking import Ragstone


@pytest.fixture
def engine(workdir: Path):
    engine = open_fast(workdir / "kb")
    yield engine
    engine.close()


def search(engine: KnowledgeBase, question: str, k: int | None = None, where: Filter | str | None = None):
    return asyncio.run(engine.search(question, k, where, reader=OWNER))


class Failing:
    """An index whose server is away."""

    async def search(self, query: Any, k: int, where: Filter | None = None) -> Matches:
        raise ConnectionError(f"no route to the host ({type(query).__name__}, {k}, {where})")


# ---------------------------------------------------------------- asking


def test_a_citation_tells_the_section_and_page_of_its_own_words_not_those_its_chunk_begins_in(engine: KnowledgeBase):
    first, second = "Opening\nThe mill opens at nine in May.\n", "Parking\nVisitors park behind the old mill.\n"
    marks = (
        Mark(kind="page", start=0, end=len(first), label="4"),
        Mark(kind="heading", start=0, end=7, level=1, label="Opening"),
        Mark(kind="page", start=len(first), end=len(first + second), label="5"),
        Mark(kind="heading", start=len(first), end=len(first) + 7, level=1, label="Parking"),
    )
    add(engine, Document(id="mill", text=first + second, marks=marks))
    for _ in range(2):  # the second time from the cache
        answer = asyncio.run(engine.ask("Where do visitors park behind the old mill?", reader=OWNER))
        assert [(one.section, one.page) for one in answer.citations] == [("Parking", "5")]
    answer = asyncio.run(engine.ask("Which mill opens at nine in May?", reader=OWNER))
    assert [(one.section, one.page) for one in answer.citations] == [("Opening", "4")]


def test_as_many_hits_as_asked_for(engine: KnowledgeBase):
    add(engine, *(Document(id=f"d{i}", text=f"apple pie number {i}", metadata={"n": i}) for i in range(300)))
    assert len(search(engine, "apple pie")) == 5
    assert len(search(engine, "apple pie", 250)) == 250
    assert len(search(engine, "apple pie", 10**9)) == 300
    assert [hit.chunk.document_id for hit in search(engine, "apple", 3, "n = 7")] == ["d7"]
    assert all(int(hit.chunk.metadata["n"]) >= 290 for hit in search(engine, "apple", 50, "n >= 290"))  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="k must be"):
        search(engine, "apple", 0)


@pytest.mark.parametrize("question", ["", "  \n\t"])
def test_a_blank_question_is_refused(engine: KnowledgeBase, question: str):
    with pytest.raises(UsageError, match="empty"):
        asyncio.run(engine.ask(question, reader=OWNER))
    with pytest.raises(UsageError, match="empty"):
        search(engine, question)


@pytest.mark.parametrize("question", ["?", "\ud800", "\0", "a\0b", "word " * 10_000, "\U0001f600", "x" * 100_000])
def test_any_other_question_is_answered(engine: KnowledgeBase, question: str):
    asyncio.run(engine.ask(question, reader=OWNER))  # of an empty knowledge base
    add(engine, Document(id="d", text="word for word"))
    answer = asyncio.run(engine.ask(question, reader=OWNER))
    assert answer.notices == ()


def test_duplicates_are_one_hit(engine: KnowledgeBase):
    add(engine, *(Document(id=f"d{i}", text="the very same words") for i in range(5)), Document(id="e", text="others"))
    assert len(search(engine, "same words")) == 2


def failing(engine: KnowledgeBase, *legs: str) -> Components:
    """Return the parts of a knowledge base, with legs of the search that fail."""
    version = parts(engine)
    if "bm25" in legs:
        version.indexes.terms().search = Failing().search  # pyright: ignore[reportAttributeAccessIssue]
    vectors = Lazy(Failing) if "vector" in legs else version.indexes.vectors
    return replace(version, indexes=replace(version.indexes, vectors=vectors))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("leg", ["vector", "bm25"])
def test_a_leg_that_fails_leaves_the_other(engine: KnowledgeBase, leg: str):
    add(engine, Document(id="d", text="the apple is red"))
    answer = asyncio.run(answered(failing(engine, leg), "the apple is red"))
    assert answer.citations[0].quote == "the apple is red"
    (notice,) = answer.notices
    assert notice.startswith(f"{leg} search failed: no route to the host")


def test_both_legs_failing_is_an_error(engine: KnowledgeBase):
    add(engine, Document(id="d", text="the apple is red"))
    with pytest.raises(RetrievalError, match=r"bm25 search failed.*; vector search failed"):
        asyncio.run(answered(failing(engine, "vector", "bm25"), "apple"))


def test_vectors_of_another_embedder_are_never_compared(engine: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    add(engine, Document(id="d", text="the apple is red"))
    engine.close()
    monkeypatch.setattr(HashEmbedder, "fingerprint", "hash-1b")
    engine = open_fast(Path("kb"), create=False)
    answer = asyncio.run(engine.ask("the apple is red", reader=OWNER))
    assert answer.citations
    refusal = "kb was built with the embedder hash-1, not with hash-1b; use that one, or run: ragstone rebuild --kb kb"
    assert f"vector search failed: {refusal}" in answer.notices
    with pytest.raises(SettingsMismatch, match="ragstone rebuild --kb kb"):
        add(engine, Document(id="e", text="new"))
    assert engine.documents.remove(["d"], reader=OWNER) == ["d"]
    engine.close()


def test_many_event_loops_leave_no_open_files(engine: KnowledgeBase):
    """Each ``asyncio.run`` has threads of its own, and each thread has its own connection."""
    add(engine, Document(id="d", text="apple"))
    open_files = []
    for _ in range(12):
        asyncio.run(engine.ask("apple", reader=OWNER))
        open_files.append(len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0)
    assert open_files[-1] <= open_files[3] + 3


def test_closing_waits_for_the_calls_that_use_it(engine: KnowledgeBase):
    add(engine, Document(id="a", text="The pump runs at 4 bar."))
    with engine.current() as used:
        engine.close()
        assert used.catalog.counts().documents == 1
        with pytest.raises(KnowledgeBaseError, match="was closed"):
            search(engine, "pump")


def test_many_questions_at_once(engine: KnowledgeBase):
    add(engine, *(Document(id=f"d{i}", text=f"apple number {i}") for i in range(50)))

    async def ask_all():
        return await asyncio.gather(*(engine.ask(f"apple number {i}", reader=OWNER) for i in range(50)))

    for i, answer in enumerate(asyncio.run(ask_all())):
        assert answer.citations[0].document_id == f"d{i}"
        assert answer.notices == ()


# ---------------------------------------------------------------- what documents may hold


def test_strange_documents_are_kept_or_told(engine: KnowledgeBase):
    metadata = {
        "nan": float("nan"), "inf": float("-inf"), "huge": 10**200, "none": (), "many": ("a", 1, True, 2.5),
        "nul": "a\0b", "lone": "\ud800", "key\0": "v", "ключ": "значение",
    }  # fmt: skip
    strange = Document(id="strange", text="apple\0pie \udfff end", title="\ud800", source="s\0", metadata=metadata)
    report = add(engine, strange, Document(id="plain", text="pear"))
    assert (report.added, report.skipped) == (2, ())
    stored = engine.documents.get("strange", reader=OWNER)
    assert stored.text == "apple\ufffdpie \ufffd end"
    assert repr(stored.metadata["nan"]) == "nan"
    assert (stored.metadata["huge"], stored.metadata["none"]) == (10**200, ())
    assert (stored.metadata["nul"], stored.metadata["key\ufffd"]) == ("a\ufffdb", "v")
    assert add(engine, strange).unchanged == 1
    for where in ("exists nan", "huge > 1e100", "many = true", "many = 2.5", "inf < 0"):
        assert "strange" in [hit.chunk.document_id for hit in search(engine, "apple", 5, where)], where
    for hit in search(engine, "apple"):
        assert (
            hit.chunk.text
            == engine.documents.get(hit.chunk.document_id, reader=OWNER).text[hit.chunk.start : hit.chunk.end]
        )


@pytest.mark.parametrize("value", [None, {"a": 1}, 1j, 10**5000, (1, None)], ids=range(5))
def test_metadata_that_cannot_be_kept_skips_only_its_document(engine: KnowledgeBase, value: Any):
    report = add(engine, Document(id="bad", text="apple", metadata={"k": value}), Document(id="good", text="pear"))
    assert report.added == 1
    (skipped,) = report.skipped
    assert skipped.source == "bad"
    assert "metadata 'k'" in skipped.reason


@pytest.mark.parametrize("id", ["", "a\0b", "\ud800", "/" * 2_001])
def test_ids_that_cannot_be_kept(engine: KnowledgeBase, id: str):
    report = add(engine, Document(id=id, text="apple"), Document(id="good", text="pear"))
    assert report.added == 1
    assert "id" in report.skipped[0].reason


def test_documents_by_the_end_of_their_id(engine: KnowledgeBase):
    ids = ["a/%b_c!d", "aXbYc!d", "docs/readme.md", "docs/other/readme.md", "docs/README.md", "faq.csv#7"]
    add(engine, *(Document(id=id, text=f"text of {id}") for id in ids))
    assert engine.documents.get("%b_c!d", reader=OWNER).id == "a/%b_c!d"
    assert engine.documents.get("7", reader=OWNER).id == engine.documents.get("#7", reader=OWNER).id == "faq.csv#7"
    assert engine.documents.get("/README.md", reader=OWNER).id == "docs/README.md"
    assert engine.documents.get("other/readme.md", reader=OWNER).id == "docs/other/readme.md"
    assert engine.documents.get("README.md", reader=OWNER).id == "docs/README.md"
    with pytest.raises(NotFound, match="it could be"):
        engine.documents.get("readme.md", reader=OWNER)
    for none in ("", "%", "d", "EADME.md", "x" * 100_000):
        with pytest.raises(NotFound, match="no document"):
            engine.documents.get(none, reader=OWNER)
    with pytest.raises(NotFound):
        engine.documents.remove(["README.md", "nothing"], reader=OWNER)
    assert engine.status().documents == 6
    assert engine.documents.remove(["README.md", "docs/README.md"], reader=OWNER) == ["docs/README.md"]


def test_a_line_of_a_megabyte(engine: KnowledgeBase):
    text = "".join(f"word{i % 5000} " for i in range(130_000))[:1_000_000]
    assert add(engine, Document(id="long", text=text)).chunks > 4000
    for hit in search(engine, "word77", 3):
        assert hit.chunk.text == text[hit.chunk.start : hit.chunk.end]
    answer = asyncio.run(engine.ask("word4242", reader=OWNER))
    assert all(text[one.start : one.end] == one.quote for one in answer.citations)


# ---------------------------------------------------------------- settings and rebuilding


def rebuild_as_told(engine: KnowledgeBase, error: SettingsMismatch) -> Any:
    """Run what the message says, as the command line would."""
    words = shlex.split(str(error).partition("run: ")[2])
    assert words[:4] == ["ragstone", "rebuild", "--kb", str(engine.folder)]
    options = dict(zip(words[4::2], words[5::2], strict=True)) if "--preset" in words else {}
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    return asyncio.run(engine.versions.rebuild(settings, preset=options.get("--preset")))


@pytest.mark.parametrize("asked", [["chunk.size=77"], ["chunk.size=90", "chunk.strategy=sentence"]])
def test_other_settings_are_refused_with_the_command_that_helps(workdir: Path, asked: Sequence[str]):
    folder = workdir / "a folder's name"
    engine = open_fast(folder)
    documents = [Document(id=f"d{i}", text=f"apple number {i}. " * 20, metadata={"n": i}) for i in range(20)]
    add(engine, *documents, Document(id="blank", text=" ", source="blank.txt"))
    with pytest.raises(SettingsMismatch, match=r"was built with chunk") as caught:
        KnowledgeBase.open(folder, asked)
    report = rebuild_as_told(engine, caught.value)
    assert report.added == 20
    engine = KnowledgeBase.open(folder, asked)
    assert [one.id for one in parts(engine).catalog.documents()] == [one.id for one in documents]
    assert [one.source for one in engine.status().skipped] == ["blank.txt"]
    check_whole(parts(engine).source.path / "catalog.db", {one.id: one for one in documents}, engine.settings.chunk)
    assert search(engine, "apple number 7", 1)
    engine.close()


def test_settings_of_a_question_may_differ(engine: KnowledgeBase):
    add(engine, *(Document(id=f"d{i}", text=f"apple {i}") for i in range(9)))
    for settings, count in ((["rank.top_k=2"], 2), (["query.method=bm25", "index.k1=0.3", "index.b=0"], 5)):
        other = KnowledgeBase.open("kb", [*FAST, *settings])
        assert len(search(other, "apple")) == count
        other.close()


@pytest.mark.usefixtures("workdir")
def test_the_preset_is_remembered_and_another_is_refused():
    Path("mine.yaml").write_text("chunk: {size: 300, overlap: 10}\nindex: {embedder: hash_embedder:HashEmbedder}\n")
    engine = KnowledgeBase.open("kb", preset="mine.yaml", create=True)
    add(engine, Document(id="d", text="apple " * 200))
    engine.close()
    engine = KnowledgeBase.open("kb")
    assert (engine.settings.preset, engine.settings.chunk.size) == (str(Path("mine.yaml").resolve()), 300)
    with pytest.raises(SettingsMismatch, match="--preset knowledge-base") as caught:
        KnowledgeBase.open("kb", preset="knowledge-base")
    Path("other.yaml").write_text("chunk: {size: 50, overlap: 0}\nindex: {embedder: hash_embedder:HashEmbedder}\n")
    with pytest.raises(SettingsMismatch, match=r"--preset \S*/other\.yaml") as caught:
        KnowledgeBase.open("kb", preset="other.yaml")
    rebuild_as_told(engine, caught.value)
    engine = KnowledgeBase.open("kb")
    assert (engine.settings.preset, engine.settings.chunk.size) == (str(Path("other.yaml").resolve()), 50)
    assert engine.documents.get("d", reader=OWNER).text == "apple " * 200
    engine.close()


def test_an_interrupted_rebuild_changes_nothing(engine: KnowledgeBase):
    add(engine, *(Document(id=f"d{i}", text=f"apple number {i}") for i in range(400)))

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(engine.versions.rebuild(["chunk.size=77"], on_progress=interrupt))
    assert len(search(engine, "apple", 7)) == 7
    assert add(engine, Document(id="new", text="pear")).added == 1
    other = open_fast(Path("kb"), create=False)
    assert (other.settings.chunk.size, other.status().documents) == (200, 401)
    report = asyncio.run(other.versions.rebuild(["chunk.size=77"]))
    assert report.added + report.unchanged == 401
    assert report.unchanged > 0
    last = KnowledgeBase.open("kb")
    assert (last.settings.chunk.size, last.status().documents) == (77, 401)
    last.close()


def test_a_rebuild_by_another_is_followed(engine: KnowledgeBase):
    """By readers, and by writers: what is written to a version that was replaced would be lost with it."""
    add(engine, Document(id="d", text="apple pie"))
    reader = Ragstone("kb")
    assert reader.ask("apple pie").citations
    old = reader.knowledge_base()
    path = parts(old).source.path
    asyncio.run(engine.versions.rebuild(["index.embedder=hash_embedder:OtherEmbedder"]))
    assert parts(old).source.path != path
    assert asyncio.run(old.ask("apple pie", reader=OWNER)).citations[0].quote == "apple pie"
    assert add(old, Document(id="kept", text="pear")).added == 1
    assert [hit.chunk.document_id for hit in search(engine, "pear", 1)] == ["kept"]
    assert reader.ask("apple pie").citations
    assert reader.status().built_with.settings["index.embedder"] == "hash_embedder:OtherEmbedder"
    assert reader.add(Document(id="kept", text="pear")).unchanged == 1
    reader.close()


# ---------------------------------------------------------------- the disk


def test_a_full_disk_leaves_what_was_stored(engine: KnowledgeBase):
    add(engine, Document(id="old", text="apple pie"))
    (pages,) = parts(engine).catalog.database.writer.execute("PRAGMA page_count").fetchone()
    parts(engine).catalog.database.writer.execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(KnowledgeBaseError, match=r"could not write.*the disk is full; nothing stored is lost"):
        add(engine, *(Document(id=f"d{i}", text=f"number {i}") for i in range(200)))
    assert engine.status().documents == 1
    assert search(engine, "apple", 1)
    parts(engine).catalog.database.writer.execute("PRAGMA max_page_count=1000000")
    assert add(engine, *(Document(id=f"d{i}", text=f"number {i}") for i in range(200))).added == 200
    check_whole(parts(engine).source.path / "catalog.db")


def test_an_index_that_cannot_be_written_is_told_and_tried_again(engine: KnowledgeBase):
    add(engine, Document(id="old", text="apple pie"))
    terms = parts(engine).source.path / "terms"
    aside = terms.with_name("aside")
    terms.rename(aside)
    terms.write_text("a file is in the way")
    with pytest.raises(KnowledgeBaseError, match=r"terms could not be written.*the documents are stored"):
        add(engine, Document(id="new", text="pear tart"))
    answer = asyncio.run(engine.ask("pear tart", reader=OWNER))
    assert answer.citations[0].document_id == "new"
    assert any("keyword search is not up to date" in notice for notice in answer.notices)
    terms.unlink()
    assert asyncio.run(engine.ask("pear tart", reader=OWNER)).notices == ()


def test_an_error_in_the_middle_keeps_what_was_committed_searchable(engine: KnowledgeBase):
    def documents():
        for i in range(600):
            yield Document(id=f"d{i}", text=f"number {i}")

    told: list[str] = []

    def stop(progress: Any) -> None:
        told.extend(progress.committed)
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        asyncio.run(engine.documents.add(list(documents()), on_progress=stop))
    status = engine.status()
    assert (status.documents, status.behind) == (len(told), 0)
    assert not any(thread.name.startswith("tantivy") for thread in threading.enumerate())
    assert add(engine, *documents()).unchanged == len(told)
    assert os.path.exists(engine.folder / "lock")  # noqa: PTH110


def test_many_chunks_with_the_same_text_hide_no_others(engine: KnowledgeBase):
    add(engine, *(Document(id=f"copy{i}", text="apple apple") for i in range(60)))
    add(engine, *(Document(id=f"own{i}", text=f"apple and a word{i}") for i in range(5)))
    texts = [hit.chunk.text for hit in asyncio.run(engine.search("apple", 5, reader=OWNER))]
    assert len(texts) == len(set(texts)) == 5


@pytest.mark.parametrize(("start", "quote"), [(0, "pear"), (-5, "apple"), (1, "apple"), (900, "")])
def test_an_answer_that_misquotes_is_withheld(engine: KnowledgeBase, start: int, quote: str):
    class Liar:
        async def stream(
            self,
            evidence: Evidence,
            request: Request,  # noqa: ARG002
            before: Sequence[Turn] = (),  # noqa: ARG002
        ) -> AsyncIterator[Draft]:
            chunk = evidence.hits[0].chunk
            place = {"start": start, "end": start + len(quote), "quote": quote}
            citation = Citation(marker=1, document_id=chunk.document_id, chunk_id=chunk.id, **place)
            yield Draft(text="It is so. [1]", citations=(citation,), answerability=1.0)

    add(engine, Document(id="d", text="apple"))
    version = parts(engine)
    lying = replace(version, models=replace(version.models, answerer=Lazy(Liar)))  # pyright: ignore
    with pytest.raises(ResponseError, match=r"citation \[1\] is not what d says"):
        asyncio.run(answered(lying, "apple"))


def test_a_prefilter_compares_vectors_with_what_keyword_search_found(engine: KnowledgeBase):
    add(engine, *(Document(id=f"d{i}", text=f"apple number{i}") for i in range(30)), Document(id="no", text="pear"))
    settings = engine.settings
    query = settings.query.model_copy(update={"method": "vector"})

    def found(prefilter: int, question: str) -> list[str]:
        wanted = settings.model_copy(update={"query": query.model_copy(update={"prefilter": prefilter})})
        hits = asyncio.run(engine.under(lambda _: wanted).search(question, 40, reader=OWNER))
        return [hit.chunk.document_id for hit in hits]

    every = found(0, "apple number7")
    assert found(1000, "apple number7") == [one for one in every if one != "no"]
    assert found(1, "apple number7") == every[:1]
    assert found(1000, "cherry") == []
