"""Ragstone as programs use it: with and without ``await``, from one definition."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from kb import FAST, READY, calls_on_the_loop

from ragstone import Answered, AsyncRagstone, Document, EvidenceFound, Progress, Ragstone, RagstoneError, Reader
from ragstone.core.errors import Locked, NotFound, SettingsError, SourceError, UsageError
from ragstone.engine import opening
from ragstone.serve import blocking

SETTINGS = (*FAST, READY)
PUMP = Document(id="pump.md", text="The pump is blue. It runs at night.")


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Ragstone]:
    with Ragstone(tmp_path / "kb", settings=SETTINGS) as kb:
        kb.add(PUMP)
        yield kb


def coroutines(kind: type) -> dict[str, object]:
    return {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}


def test_both_classes_have_the_same_methods() -> None:
    own = {"wait", "iterate"}
    assert coroutines(Ragstone).keys() - own == coroutines(AsyncRagstone).keys()
    for name, method in coroutines(AsyncRagstone).items():
        if callable(method) and name != "knowledge_base":
            theirs = coroutines(Ragstone)[name]
            assert str(inspect.signature(method)).replace("AsyncRagstone", "") == str(
                inspect.signature(theirs)
            ).replace("AsyncRagstone", ""), name
            assert inspect.getdoc(theirs), name


def test_asks_searches_and_lists(kb: Ragstone) -> None:
    answer = kb.ask("Is the pump blue?")
    assert "blue" in answer.answer
    assert [hit.chunk.document_id for hit in kb.search("pump", k=1)] == ["pump.md"]
    assert [one.document_id for one in kb.documents().documents] == ["pump.md"]
    assert kb.document("pump.md").text == PUMP.text
    assert kb.rate(answer, "up").vote == "up"
    assert kb.status().documents == 1
    assert kb.remove("pump.md") == ["pump.md"]
    assert kb.forget("pump.md", words="The pump").found == ()


def test_settings_may_be_a_mapping(tmp_path: Path) -> None:
    settings = {
        "index.embedder": "hash_embedder:HashEmbedder",
        "rank.top_k": 3,
        "respond.metadata": False,
        "acquire.ocr_languages": ["de", "en"],
    }
    with Ragstone(tmp_path / "kb", settings=settings) as kb:
        at = kb.knowledge_base(create=True).settings
    assert (at.index.embedder, at.rank.top_k, at.respond.metadata) == ("hash_embedder:HashEmbedder", 3, False)
    assert at.acquire.ocr_languages == ("de", "en")


def test_adds_lists_of_paths_and_documents(kb: Ragstone, tmp_path: Path) -> None:
    paths = [tmp_path / "a.md", tmp_path / "b.md"]
    for path in paths:
        path.write_text(f"The mill {path.name} is red.", encoding="utf-8")
    assert kb.add([*paths, Document(id="c", text="The gate is green.")]).added == 3
    for wrong in (5, [5], None):
        with pytest.raises(UsageError, match="give paths, Documents"):
            kb.add(wrong)  # pyright: ignore[reportArgumentType]


def test_asynchronous_class_does_the_same(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncRagstone(tmp_path / "kb", settings=SETTINGS) as kb:
            report = await kb.add(PUMP)
            assert report.added == 1
            answers = await asyncio.gather(*(kb.ask("Is the pump blue?") for _ in range(3)))
            assert {"blue" in one.answer for one in answers} == {True}
            events = [event async for event in kb.stream("Is the pump blue?")]
            assert isinstance(events[0], EvidenceFound)
            assert isinstance(events[-1], Answered)
            assert (await kb.remove("pump.md")) == ["pump.md"]

    asyncio.run(use())


def test_streams_to_the_answer(kb: Ragstone) -> None:
    events = list(kb.stream("Is the pump blue?"))
    assert isinstance(events[0], EvidenceFound)
    last = events[-1]
    assert isinstance(last, Answered)
    assert last.answer.answer == kb.ask("Is the pump blue?").answer


def test_closing_a_stream_stops_the_work(kb: Ragstone) -> None:
    ended = threading.Event()

    async def endless() -> AsyncGenerator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(0.001)
        finally:
            ended.set()

    items = kb.iterate(endless())
    assert next(items) == 1
    items.close()
    assert ended.wait(5)


def test_closing_a_stream_does_not_wait_forever(kb: Ragstone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "STOP_SECONDS", 0.05)

    async def busy() -> AsyncGenerator[int]:
        yield 1
        time.sleep(0.5)  # such as a model that cannot be interrupted
        yield 2

    items = kb.iterate(busy())
    assert next(items) == 1
    items.close()


def test_error_in_a_stream_reaches_the_caller(kb: Ragstone) -> None:
    with pytest.raises(UsageError, match="empty"):
        list(kb.stream("  "))


def test_works_where_a_loop_runs(kb: Ragstone) -> None:
    async def cell() -> str:
        return kb.ask("Is the pump blue?").answer

    assert "blue" in asyncio.run(cell())


@pytest.mark.parametrize("method", ["add", "sync"])
def test_reading_settings_holds_up_no_other_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    noted = calls_on_the_loop(monkeypatch, opening, "settings_at")
    (tmp_path / "note.txt").write_text("Visitors park behind the mill.")

    async def added() -> None:
        async with AsyncRagstone(tmp_path / "kb", settings=FAST) as kb:
            assert (await getattr(kb, method)(tmp_path / "note.txt")).added == 1

    asyncio.run(added())
    assert not noted


def test_progress_is_reported(kb: Ragstone, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("A valve is red.", encoding="utf-8")
    told: list[Progress] = []
    kb.sync(folder, on_progress=told.append)
    assert (told[-1].files, told[-1].total) == (1, 1)
    kb.rebuild("chunk.size=90", on_progress=told.append)
    assert told[-1].documents == 2


def test_callback_that_calls_back_is_refused(kb: Ragstone) -> None:
    def ask(_: Progress) -> None:
        kb.ask("Is the pump blue?")

    with pytest.raises(UsageError, match="callback"):
        kb.add(Document(id="b", text="A valve is red."), on_progress=ask)


def test_callback_can_stop_the_work(kb: Ragstone) -> None:
    def stop(_: Progress) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        kb.add(Document(id="b", text="A valve is red."), on_progress=stop)
    assert kb.document("b").text == "A valve is red."  # what was committed stays


def test_interrupt_stops_the_work(kb: Ragstone, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = threading.Event()

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    def interrupted(self: object, timeout: float | None = None) -> None:
        del self, timeout
        time.sleep(0.1)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("concurrent.futures.Future.result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kb.wait(long())
    assert stopped.is_set()


def test_opens_again_after_closing(kb: Ragstone) -> None:
    kb.close()
    kb.close()
    assert kb.status().documents == 1


def test_forgotten_knowledge_base_ends_its_thread(tmp_path: Path) -> None:
    def threads() -> int:
        return sum(one.name == "ragstone" for one in threading.enumerate())

    before = threads()
    kb = Ragstone(tmp_path / "kb", settings=SETTINGS)
    kb.add(PUMP)
    assert threads() == before + 1
    kb.knowledge_base().close()
    del kb
    gc.collect()
    assert threads() == before


def test_missing_knowledge_base_is_named(tmp_path: Path) -> None:
    with Ragstone(tmp_path / "none") as kb, pytest.raises(NotFound, match="none"):
        kb.ask("Anything?")
    assert not (tmp_path / "none").exists()


def test_locked_knowledge_base_says_by_whom(kb: Ragstone) -> None:
    from ragstone.catalog.lock import indexing

    with indexing(kb.folder), pytest.raises(Locked, match="process"):
        kb.add(Document(id="b", text="A valve is red."))


def test_crawl_refuses_what_is_no_site(kb: Ragstone) -> None:
    with pytest.raises(RagstoneError, match="there is no site 'docs'"):
        kb.crawl("docs")


def test_reader_sees_only_its_own(kb: Ragstone) -> None:
    kb.add(Document(id="pay.md", text="The bonus is paid in May.", metadata={"readers": ("hr",)}))
    with Ragstone(kb.folder, reader=Reader.of("staff")) as staff:
        assert [one.document_id for one in staff.documents().documents] == ["pump.md"]
        assert repr(staff).startswith(f"Ragstone({str(kb.folder)!r}, reader=")


def test_answer_becomes_json(kb: Ragstone) -> None:
    answer = kb.ask("Is the pump blue?")
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["answer"] == str(answer)
    assert told["citations"][0]["quote"] == answer.citations[0].quote


# ---------------------------------------------------------------- mistakes of programs


@pytest.mark.parametrize("method", ["ask", "search"])
@pytest.mark.parametrize("question", [None, 7, b"Is the pump blue?"])
def test_refuses_a_question_that_is_no_text(kb: Ragstone, method: str, question: object) -> None:
    with pytest.raises(UsageError, match=f"the question is a value of type {type(question).__name__}; give a text"):
        getattr(kb, method)(question)
    with pytest.raises(UsageError, match="give a text"):
        list(kb.stream(question))  # type: ignore[arg-type]


def test_names_the_kinds_of_texts(tmp_path: Path) -> None:
    with Ragstone(tmp_path / "kb", settings=SETTINGS) as kb:
        for given in (("# Pump", "markdwn"), (Document(id="p", text="# Pump", kind="markdwn"), "")):  # type: ignore[arg-type]
            with pytest.raises(UsageError, match=r"did you mean 'markdown'\?; choose one of text, markdown, html, rst"):
                kb.add(given[0], kind=given[1])  # type: ignore[arg-type]
        assert not kb.folder.exists()


def test_hints_at_the_kind_of_a_text(tmp_path: Path) -> None:
    with Ragstone(tmp_path / "kb", settings=SETTINGS) as kb:
        with pytest.raises(
            SourceError, match=r"no file or folder 'The pump is blue\.'; to add a text, .*kind='markdown'"
        ):
            kb.add("The pump is blue.")
        with pytest.raises(SourceError, match=r"no file or folder 'pump\.md'$"):
            kb.add("pump.md")


def test_refuses_to_add_nothing(kb: Ragstone) -> None:
    for method in (kb.add, kb.sync):
        with pytest.raises(UsageError, match="nothing was given"):
            method()


def test_refuses_a_listener_that_cannot_be_called(kb: Ragstone) -> None:
    with pytest.raises(UsageError, match="cannot call a value of type str"):
        kb.subscribe("answered")  # type: ignore[arg-type]


def test_names_the_whole_path_of_an_unknown_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no setting 'a\.b';"):
        Ragstone(tmp_path / "kb", settings={"a.b": 1}).add(PUMP)
