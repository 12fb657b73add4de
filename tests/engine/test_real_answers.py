"""Real documents, the real model: every citation is exact, and filters hold."""

import asyncio
import csv
import json
from itertools import islice
from pathlib import Path

import pytest

from ragstone.contracts import Answer, Document
from ragstone.engine import Engine

CORPUS = {
    "lighthouse": "The lighthouse of Alexandria was built about 280 BC. It stood more than 100 metres tall. "
    "Earthquakes ruined it between 956 and 1323.",
    "coffee": "Coffee is brewed from roasted beans. The beans come from the tropics. Too much of it keeps you awake.",
    "bicycle": "A bicycle chain wants oil every 200 kilometres.\n\nWorn brake pads are replaced in pairs.",
}


def check_citations(engine: Engine, answer: Answer) -> None:
    for number, one in enumerate(answer.citations, start=1):
        assert one.quote == engine.document(one.document_id).text[one.start : one.end]
        assert one.quote.strip()
        assert one.marker == number
        assert f"[{number}]" in answer.answer
    assert answer.abstained == (not answer.citations)
    assert {source.document_id for source in answer.sources} == {one.document_id for one in answer.citations}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory):
    # Whether to abstain is a matter of calibration, measured elsewhere.
    engine = Engine.open(tmp_path_factory.mktemp("real") / "kb", ["respond.abstain_below=0"], create=True)
    documents = [Document(id=id, text=text, title=id, metadata={"kind": id[0]}) for id, text in CORPUS.items()]
    asyncio.run(engine.add(documents))
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
def test_the_answer_quotes_the_right_sentence(engine: Engine, question: str, document: str, words: str):
    answer = asyncio.run(engine.ask(question))
    check_citations(engine, answer)
    assert words in answer.answer
    assert answer.citations[0].document_id == document
    assert answer.notices == ()


def test_filters_hold_for_answers(engine: Engine):
    answer = asyncio.run(engine.ask("How tall was the lighthouse of Alexandria?", "kind = c"))
    assert {one.document_id for one in answer.citations} <= {"coffee"}
    assert asyncio.run(engine.ask("lighthouse", "kind = nothing")).citations == ()


def read_covid(folder: Path, lang: str) -> tuple[list[Document], list[str]]:
    with (folder / "covid_faq_kb/dev/kb.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["lang"] == lang]
    documents = [Document(id=row["id"], text=row["text"], title=row["title"]) for row in rows[:40]]
    queries = read_lines(folder / "covid_faq_kb/dev/queries.jsonl")
    return documents, [one["text"] for one in queries if one["lang"] == lang]


def read_xquad(folder: Path, lang: str) -> tuple[list[Document], list[str]]:
    rows = read_lines(folder / f"xquad/dev/{lang}/corpus.jsonl")
    documents = [Document(id=one["id"], text=one["text"], title=one.get("title", "")) for one in rows[:25]]
    return documents, [one["text"] for one in read_lines(folder / f"xquad/dev/{lang}/queries.jsonl")]


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("lang", ["de", "en"])
@pytest.mark.parametrize("read", [read_covid, read_xquad])
def test_citations_on_real_data_are_exact(data_dir: Path, tmp_path: Path, read, lang: str):
    documents, questions = read(data_dir, lang)
    if not questions:
        pytest.skip(f"no questions in {lang}")
    engine = Engine.open(tmp_path / "kb", ["respond.abstain_below=0"], create=True)
    asyncio.run(engine.add(documents))
    cited = 0
    for question in islice(questions, 0, None, max(1, len(questions) // 5)):
        answer = asyncio.run(engine.ask(question))
        check_citations(engine, answer)
        cited += len(answer.citations)
    assert cited
    engine.close()
