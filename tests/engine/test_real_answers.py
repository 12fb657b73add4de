"""Real documents, the real model: every citation is exact, and filters hold."""

import asyncio
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, Usage
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import load

CORPUS = {
    "lighthouse": "The lighthouse of Alexandria was built about 280 BC. It stood more than 100 metres tall. "
    "Earthquakes ruined it between 956 and 1323.",
    "coffee": "Coffee is brewed from roasted beans. The beans come from the tropics. Too much of it keeps you awake.",
    "bicycle": "A bicycle chain wants oil every 200 kilometres.\n\nWorn brake pads are replaced in pairs.",
}


def check_citations(engine: KnowledgeBase, answer: Answer) -> None:
    for number, one in enumerate(answer.citations, start=1):
        assert one.quote == engine.documents.get(one.document_id, reader=OWNER).text[one.start : one.end]
        assert one.quote.strip()
        assert one.marker == number
        assert f"[{number}]" in answer.answer
    assert answer.abstained == (not answer.citations)
    assert {source.document_id for source in answer.sources} == {one.document_id for one in answer.citations}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory):
    # Whether to abstain is a matter of calibration, measured elsewhere.
    engine = KnowledgeBase.open(tmp_path_factory.mktemp("real") / "kb", ["respond.abstain_below=0"], create=True)
    documents = [Document(id=id, text=text, title=id, metadata={"kind": id[0]}) for id, text in CORPUS.items()]
    asyncio.run(engine.documents.add(documents))
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("question", "document", "words"),
    [
        ("How tall was the lighthouse of Alexandria?", "lighthouse", "100 metres"),
        ("Where do coffee beans come from?", "coffee", "tropics"),
        ("When should a bicycle chain be oiled?", "bicycle", "200 kilometres"),
    ],
)
def test_the_answer_quotes_the_right_sentence(engine: KnowledgeBase, question: str, document: str, words: str):
    answer = asyncio.run(engine.ask(question, reader=OWNER))
    check_citations(engine, answer)
    assert words in answer.answer
    assert answer.citations[0].document_id == document
    assert answer.notices == ()


def test_filters_hold_for_answers(engine: KnowledgeBase):
    answer = asyncio.run(engine.ask("How tall was the lighthouse of Alexandria?", "kind = c", reader=OWNER))
    assert {one.document_id for one in answer.citations} <= {"coffee"}
    assert asyncio.run(engine.ask("lighthouse", "kind = nothing", reader=OWNER)).citations == ()


SETS = ("xquad/dev/en", "xquad/dev/de", "lt_faq", "covid_faq_kb", "clapnq", "cudaq_docs", "scifact", "malaysian_news")


@pytest.mark.parametrize("name", SETS)
def test_every_citation_of_every_set_is_exact(data_dir: Path, tmp_path: Path, name: str):
    dataset = load(data_dir / name)
    # Enough of each document for several chunks; whole sets are measured by the benchmark of answers.
    documents = [replace(one, text=one.text[:2500]) for one in islice(dataset.documents(), 8)]
    questions = dataset.queries[:: max(1, len(dataset.queries) // 4)]
    engine = KnowledgeBase.open(tmp_path / "kb", ["respond.abstain_below=0"], create=True)
    asyncio.run(engine.documents.add(documents))
    cited = 0
    for question in questions:
        answer = asyncio.run(engine.ask(question.text, reader=OWNER))
        check_citations(engine, answer)
        cited += len(answer.citations)
    assert cited
    engine.close()


def test_answers_are_the_same_alone_and_in_a_crowd(data_dir: Path, tmp_path: Path):
    dataset = load(data_dir / "xquad/dev/en")
    documents = [replace(one, text=one.text[:300]) for one in islice(dataset.documents(), 12)]
    questions = [one.text for one in dataset.queries[:24]]

    async def answered(engine: KnowledgeBase, at_once: int) -> list[Answer]:
        turns = asyncio.Semaphore(at_once)

        async def one(question: str) -> Answer:
            async with turns:
                return await engine.ask(question, reader=OWNER)

        answers = await asyncio.gather(*map(one, questions))
        return [replace(one, response_id="", timestamp="", timings_ms={}, usage=Usage()) for one in answers]

    fixed = ("respond.abstain_below=0", "cache.entries=1")  # encodings are kept, answers are not
    with closing(KnowledgeBase.open(tmp_path / "kb", fixed, create=True)) as engine:
        asyncio.run(engine.documents.add(documents))
        alone = asyncio.run(answered(engine, 1))
    with closing(KnowledgeBase.open(tmp_path / "kb", (*fixed, "index.threads=1"))) as engine:
        assert asyncio.run(answered(engine, 8)) == alone  # from what was kept
    with closing(KnowledgeBase.open(tmp_path / "kb", (*fixed, "cache.enabled=false"))) as engine:
        assert asyncio.run(answered(engine, 8)) == alone
    assert sum(len(answer.citations) for answer in alone) >= len(questions)


def test_searches_before_listing_documents_by_meaning(tmp_path: Path) -> None:
    drawings = "Drawings leave the program as SVG, PNG or DXF files. Large drawings are split over several pages."
    pump = Document(id="pump.md", title="Pump", text="The pump in hall three runs at 4 bar.")
    with closing(KnowledgeBase.open(tmp_path / "kb", create=True)) as engine:
        asyncio.run(engine.documents.add([Document(id="export.md", title="Export", text=drawings), pump]))
        shown = asyncio.run(engine.ask("list the file formats", reader=OWNER))
        listed = asyncio.run(engine.ask("how many pdfs are in there?", reader=OWNER))
    assert (shown.outcome, "SVG, PNG or DXF" in shown.answer) == ("closest", True)
    assert (listed.kind, listed.outcome) == ("collection", "reply")
