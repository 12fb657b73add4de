"""Themes, timelines, digests and comparisons: exact, of what the reader may read, within the budget of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from kb import open_fast
from numpy.typing import NDArray

from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.answers import Answer, Answered, Event, EvidenceFound, Turn
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.themes import StoredThemes, Themes
from servers.openai_server import KEY, OpenAIServer

TOPICS = {
    "bread": "The baker bakes rye bread. Bread needs flour and water. A loaf of bread rests overnight in the bakery.",
    "ships": "The harbour receives ships. A sailing ship needs wind. Sailors repair the ship in the harbour.",
    "bees": "The beekeeper tends bees. Bees make honey in a hive. A hive of bees needs flowers nearby.",
}
SECRET = "The reactor burns plutonium. Plutonium rods cool in a reactor pool. The reactor needs plutonium daily."
GUEST = Reader(name="guest", groups=frozenset())
REPORTS = [
    Document(
        id=f"reports/{year}.txt",
        title=f"Annual report {year}",
        text=f"The company employed {staff} people in all its shops. Revenue was {revenue} million euros in that year. "
        f"The head office stands in the old town. {only}",
        metadata={"date": f"{year}-12-31"},
    )
    for year, staff, revenue, only in (
        (2022, 100, "4.5", "A warehouse for spare parts burned down in spring."),
        (2023, 120, "5.1", "The new factory makes electric bicycles for children."),
    )
]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    made = open_fast(tmp_path / "kb")
    documents = [
        Document(id=f"{topic}/{number}.txt", title=f"{topic} {number}", text=f"{text} Note {number} on {topic}.")
        for topic, text in TOPICS.items()
        for number in range(6)
    ]
    secret = [Document(id=f"secret{n}", text=f"{SECRET} {n}.", metadata={READERS: ("staff",)}) for n in range(6)]
    asyncio.run(made.documents.add([*documents, *secret]))
    yield made
    made.close()


@pytest.fixture
def reports(tmp_path: Path) -> Iterator[KnowledgeBase]:
    made = open_fast(tmp_path / "reports")
    asyncio.run(made.documents.add(REPORTS))
    yield made
    made.close()


def ask(engine: KnowledgeBase, question: str, *, reader: Reader = OWNER, before: Sequence[Turn] = ()) -> Answer:
    answer = asyncio.run(engine.ask(question, reader=reader, before=before))
    for one in answer.citations:
        assert engine.documents.get(one.document_id, reader=reader).text[one.start : one.end] == one.quote
        assert f"[{one.marker}]" in answer.answer
    return answer


@pytest.mark.parametrize(
    "question", ["What are these documents about?", "Welche Themen gibt es?", "Kokios temos?", "Topik apa yang ada?"]
)
def test_shows_themes_with_cited_sentences(engine: KnowledgeBase, question: str) -> None:
    answer = ask(engine, question)
    assert (answer.kind, answer.outcome) == ("overview", "reply")
    assert {one.document_id.partition("/")[0] for one in answer.citations} >= set(TOPICS)
    assert "plutonium" in answer.answer.lower()


def test_one_theme_is_no_plural(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    bees = [Document(id=f"{n}.txt", title=f"Bees {n}", text=f"{TOPICS['bees']} Note {n}.") for n in range(9)]
    asyncio.run(engine.documents.add(bees))
    assert ask(engine, "What are these documents about?").answer.startswith("These documents are about one theme:")
    engine.close()


def test_themes_have_no_word_that_the_reader_may_not_read(engine: KnowledgeBase) -> None:
    answer = ask(engine, "What are these documents about?", reader=GUEST)
    assert answer.citations
    assert "plutonium" not in answer.answer.lower()
    assert "reactor" not in answer.answer.lower()
    assert not any(one.document_id.startswith("secret") for one in answer.citations)


def test_new_documents_join_the_themes(engine: KnowledgeBase) -> None:
    def sizes() -> int:
        with engine.current() as version:
            themes = version.indexes.themes().of(None)
            assert themes is not None
            return int(themes.sizes().sum())

    before = sizes()
    asyncio.run(engine.documents.add([Document(id="bread/new.txt", text=TOPICS["bread"] + " A new one.")]))
    assert sizes() == before + 1
    engine.documents.remove(["bread/new.txt"], reader=OWNER)
    assert sizes() == before


def test_damaged_themes_are_made_again(engine: KnowledgeBase) -> None:
    before = ask(engine, "What are these documents about?").answer
    with engine.current() as version:
        (file,) = (version.source.path / "themes").glob("*.npz")
    file.write_bytes(b"PK damaged")
    assert ask(engine, "What are these documents about?").answer == before


def test_themes_without_documents_are_not_counted(engine: KnowledgeBase) -> None:
    ask(engine, "What are these documents about?")
    with engine.current() as version:
        themes = version.indexes.themes().of(None)
        assert themes is not None
        gone = {chunk.document_id for chunk in version.catalog.chunks(themes.members(0, 4)).values()}
        left = (themes.sizes() > 0).sum() - (int(themes.sizes()[0]) == len(gone))
    engine.documents.remove(sorted(gone), reader=OWNER)
    said = ask(engine, "What are these documents about?").answer.splitlines()[0]
    assert str(left) in said


class Counted(StoredThemes):
    """Themes that count how often they are made."""

    made = 0

    def _made(self, rows: NDArray[np.int64]) -> Themes:
        self.made += 1
        return super()._made(rows)


def test_who_asks_at_the_same_time_gets_the_same_themes(engine: KnowledgeBase) -> None:
    with engine.current() as version, ThreadPoolExecutor(4) as pool:
        themes = Counted(version.source.path / "themes", version.catalog)
        found = [one for one in pool.map(themes.of, [None] * 4) if one is not None]
    assert themes.made == 1
    assert all(np.array_equal(one.theme, found[0].theme) for one in found)


def test_few_documents_are_shown_one_by_one(reports: KnowledgeBase) -> None:
    answer = ask(reports, "Give me an overview of the documents")
    assert {one.document_id for one in answer.citations} == {one.id for one in REPORTS}
    assert "Annual report 2022" in answer.answer


def test_orders_a_timeline_by_date(reports: KnowledgeBase) -> None:
    answer = ask(reports, "Timeline of the company's revenue")
    assert answer.kind == "timeline"
    assert [one.document_id for one in answer.citations] == ["reports/2022.txt", "reports/2023.txt"]
    assert "2022-12-31" in answer.answer


def test_says_which_documents_of_a_timeline_are_undated(reports: KnowledgeBase) -> None:
    asyncio.run(
        reports.documents.add([Document(id="memo", title="Memo", text="Revenue was three million euros once.")])
    )
    assert "Without a date:\n- Memo" in ask(reports, "Timeline of revenue").answer


def test_searches_if_nothing_is_dated(engine: KnowledgeBase) -> None:
    assert ask(engine, "Timeline of bread").retrieval_method != "catalog"
    assert ask(engine, "Timeline of bread").outcome != "reply"


@pytest.mark.parametrize(
    "question",
    [
        "What changed between the 2022 and the 2023 report?",
        "Compare 2022.txt with 2023.txt",
        "Vergleiche 2022 mit 2023",
    ],
)
def test_compares_two_documents(reports: KnowledgeBase, question: str) -> None:
    answer = ask(reports, question)
    assert answer.kind == "comparison"
    quotes = {one.quote for one in answer.citations}
    assert {"Revenue was 4.5 million euros in that year.", "Revenue was 5.1 million euros in that year."} <= quotes
    assert any("warehouse" in quote for quote in quotes)
    assert any("bicycles" in quote for quote in quotes)
    lines = answer.answer.splitlines()
    assert any("employed 100" in line and "employed 120" in line for line in lines)


def test_a_comparison_of_other_things_is_searched_for(reports: KnowledgeBase) -> None:
    assert ask(reports, "What is the difference between shops and factories?").kind == "comparison"
    assert ask(reports, "What is the difference between shops and factories?").outcome != "reply"


def test_things_in_titles_are_no_documents(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    titles = ("Why cats purr at night", "Hot dogs in New York")
    asyncio.run(engine.documents.add([Document(id=one, title=one, text=f"{one} is a riddle.") for one in titles]))
    assert ask(engine, "What is the difference between cats and dogs?").outcome != "reply"
    assert ask(engine, f"Compare {titles[0]} with {titles[1]}").outcome == "reply"
    engine.close()


def test_summarises_what_is_said_by_document(engine: KnowledgeBase) -> None:
    answer = ask(engine, "Summarise what is said about honey")
    assert (answer.kind, answer.outcome) == ("summary", "reply")
    assert {one.document_id.partition("/")[0] for one in answer.citations} == {"bees"}


def test_what_nobody_says_is_searched_for(engine: KnowledgeBase) -> None:
    assert ask(engine, "Summarise what is said about volcanoes").outcome != "reply"


def test_lists_no_document_that_only_comes_closest(engine: KnowledgeBase) -> None:
    assert ask(engine, "Which documents are about volcanoes?").outcome != "reply"
    listed = ask(engine, "Which documents are about honey?")
    assert {one.document_id.partition("/")[0] for one in listed.citations} == {"bees"}


def test_it_is_the_document_of_the_last_answer(reports: KnowledgeBase) -> None:
    asyncio.run(
        reports.documents.add([Document(id="last", title="Last one", text="A memo on something else entirely.")])
    )
    said = "A warehouse for spare parts burned down in spring."
    before = [Turn(question="What burned down?", answer=f"{said} [1]")]
    answer = ask(reports, "Summarize it", before=before)
    assert {one.document_id for one in answer.citations} == {"reports/2022.txt"}
    newest = ask(reports, "Summarize the last uploaded document", before=before)
    assert {one.document_id for one in newest.citations} == {"last"}


def test_a_title_with_a_number_in_brackets_is_no_citation(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    asyncio.run(engine.documents.add([Document(id="a", title="Minutes [1]", text="The first meeting.")]))
    assert ask(engine, "Which documents are there?").answer.endswith("- Minutes (1) [1]")
    engine.close()


def test_status_counts_what_the_reader_may_read(engine: KnowledgeBase) -> None:
    assert engine.status().documents == 24
    guest = engine.status(reader=GUEST)
    assert (guest.documents, guest.chunks) == (18, 18)
    assert (guest.skipped, guest.costs, guest.running) == ((), None, ())


# ------------------------------------------------------------ with a model


class Summariser:
    """A model that repeats the first line of prose that it is given, and counts its calls."""

    def __init__(self, reply: str = "") -> None:
        self.calls, self._reply = 0, reply

    def __call__(self, messages: Sequence[Mapping[str, str]]) -> str:
        self.calls += 1
        lines = messages[-1]["content"].splitlines()
        return self._reply or next(line for line in lines if line.endswith("."))


def events(kb: Path, model: Summariser, question: str, *more: str) -> list[Event]:
    async def all_of_them(url: str) -> list[Event]:
        settings = ["respond.model.name=openai:gpt-4o-mini", f"services.openai.api_key={KEY}"]
        engine = open_fast(kb, *settings, f"services.openai.base_url={url}", "services.retries=0", *more, create=False)
        try:
            return [event async for event in engine.stream(question, reader=OWNER)]
        finally:
            engine.close()

    with OpenAIServer(model) as server:
        return asyncio.run(all_of_them(server.url))


def answer_of(found: Sequence[Event]) -> Answer:
    assert isinstance(found[-1], Answered)
    return found[-1].answer


@pytest.mark.parametrize(("calls", "context"), [(6, 6000), (3, 100), (1, 100)])
def test_a_model_stays_within_the_calls_said_before(
    reports: KnowledgeBase, tmp_path: Path, calls: int, context: int
) -> None:
    reports.close()
    model = Summariser()
    more = f"respond.overview_calls={calls}", f"respond.context_tokens={context}"
    found = events(tmp_path / "reports", model, "Compare 2022.txt with 2023.txt", *more)
    assert isinstance(found[0], EvidenceFound)
    said = next(one for one in found[0].evidence.notices if "writes this overview" in one)
    assert 1 <= model.calls <= calls
    assert "1 call " in said or f"{model.calls} calls" in said
    answer = answer_of(found)
    assert answer.model == "openai:gpt-4o-mini"
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= int(
        said.split(" tokens")[0].split()[-1].replace(",", "")
    )
    assert all(one.state == "supported" for one in answer.statements)


def test_an_overview_that_is_wrong_is_marked(reports: KnowledgeBase, tmp_path: Path) -> None:
    reports.close()
    model = Summariser("Penguins rule the Antarctic with iron crowns.")
    found = events(tmp_path / "reports", model, "Compare 2022.txt with 2023.txt")
    answer = answer_of(found)
    assert answer.answer == "Penguins rule the Antarctic with iron crowns. [?]"
    assert any("1 of 1 sentence is not found in the documents" in one for one in answer.flags)


def test_without_calls_an_overview_is_quoted(reports: KnowledgeBase, tmp_path: Path) -> None:
    reports.close()
    model = Summariser()
    found = events(tmp_path / "reports", model, "Compare 2022.txt with 2023.txt", "respond.overview_calls=0")
    assert model.calls == 0
    assert answer_of(found).model == "catalog"
