"""Evaluation: what it counts, on a data set small enough to count by hand, and on a public one."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.answers import Answer, Citation, Usage
from ragstone.core.records import Chunk, Hit, Span
from ragstone.review.citations import Place, is_exact, locate, touches
from ragstone.review.dataset import Dataset, load
from ragstone.review.evaluate import evaluate
from ragstone.review.report import EvalReport, Share

TEXTS = {"d1": "Cats sleep.\nDogs  bark loudly. Birds sing.", "d2": "Fish swim.", "d3": "Nothing else."}
QUERIES = [
    {"id": "q1", "text": "What do dogs do?", "evidence_sentences": ["Dogs bark loudly.", "Birds sing."]},
    {"id": "q2", "text": "What do fish do?", "evidence_sentences": ["Fish swim."]},
    {"id": "q3", "text": "What do trees do?", "answerable": False},
    {"id": "q4", "text": "What do stones do?", "answerable": False},
]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    corpus = [json.dumps({"id": document, "text": text}) for document, text in TEXTS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(corpus))
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, QUERIES)))
    (tmp_path / "qrels.tsv").write_text("q1\td1\t1\nq1\td3\t0\nq2\td2\t1\n")
    return load(tmp_path)


def hit(document: str, n: int = 0) -> Hit:
    chunk = Chunk(id=f"{document}#{n}", document_id=document, index=n, total=9, start=0, end=1, text="x")
    return Hit(chunk=chunk, score=1.0)


def cite(document: str, start: int, end: int, quote: str | None = None) -> Citation:
    quote = TEXTS.get(document, "")[start:end] if quote is None else quote
    return Citation(marker=1, document_id=document, chunk_id="c", start=start, end=end, quote=quote)


def answer(question: str, citations: tuple[Citation, ...], *, abstained: bool = False) -> Answer:
    return Answer(
        response_id="r",
        question=question,
        answer="",
        outcome="refusal" if abstained else "answer",
        citations=citations,
        sources=(),
        confidence=0.5,
        retrieval_method="hybrid",
        timestamp="2026-01-01T00:00:00Z",
        timings_ms={},
        usage=Usage(),
    )


async def search(query: str, k: int) -> list[Hit]:
    found = {"What do dogs do?": ["d3", "d3", "d1"], "What do fish do?": ["d2", "d1"]}[query]
    return [hit(document, n) for n, document in enumerate(found)][:k]


async def ask(question: str) -> Answer:
    replies = {
        # Touches "Dogs bark loudly."; a sentence that is no evidence; a document that is not relevant.
        "What do dogs do?": answer(question, (cite("d1", 17, 23), cite("d1", 0, 11), cite("d2", 0, 10, "Fish sank!"))),
        "What do fish do?": answer(question, (), abstained=True),
        "What do trees do?": answer(question, (), abstained=True),
        "What do stones do?": answer(question, (cite("d9", 0, 3, "abc"),)),
    }
    return replies[question]


def test_counts_match_by_hand(dataset: Dataset) -> None:
    told: list[tuple[int, int]] = []
    report = asyncio.run(evaluate(dataset, search, ask, on_progress=lambda done, of: told.append((done, of))))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (report.queries, report.judged) == (4, 2)
    assert report.per_query[0].measures == pytest.approx(
        {"ndcg@10": 0.6309297535714575, "recall@5": 1, "recall@10": 1, "recall@20": 1, "mrr@10": 0.5, "p@5": 0.2}
    )
    assert report.measures["mrr@10"].mean == 0.75
    assert report.measures["mrr@10"].low <= 0.75 <= report.measures["mrr@10"].high
    assert [result.abstained for result in report.per_query] == [False, True, True, False]
    answers = report.answers
    assert answers is not None
    assert (answers.questions, answers.abstained) == (4, 2)
    assert answers.citation_precision == Share(part=1, whole=3, value=1 / 3)
    assert answers.citation_recall == Share(part=1, whole=3, value=1 / 3)
    assert answers.refusal_precision == Share(part=1, whole=2, value=0.5)
    assert answers.refusal_recall == Share(part=1, whole=2, value=0.5)
    assert answers.quotes_exact == Share(part=2, whole=4, value=0.5)


def test_measures_search_alone_with_a_limit(dataset: Dataset) -> None:
    report = asyncio.run(evaluate(dataset, search, limit=2))
    assert report.answers is None
    assert [result.id for result in report.per_query] == ["q1", "q3"], "spread over the set"
    assert report.per_query[1].measures == {}


def test_no_judgements_give_no_measures(dataset: Dataset) -> None:
    report = asyncio.run(evaluate(dataclasses.replace(dataset, qrels={}), search, ask))
    assert (report.judged, report.measures) == (0, {})


def test_report_is_json(dataset: Dataset) -> None:
    report: EvalReport = asyncio.run(evaluate(dataset, search, ask))
    assert json.loads(json.dumps(dataclasses.asdict(report)))["measures"]["p@5"]["mean"] == pytest.approx(0.2)


def test_searches_deeper_for_more_documents(dataset: Dataset) -> None:
    asked: list[int] = []

    async def crowded(_query: str, k: int) -> list[Hit]:
        asked.append(k)
        return [hit("d3", n) for n in range(150)][:k] + [hit("d1")] * (k > 150) + [hit("d2")] * (k > 150)

    report = asyncio.run(evaluate(dataset, crowded))
    assert asked == [100, 400, 100, 400]
    assert report.measures["recall@20"].mean == 1


@given(st.lists(st.sampled_from(["ab", "c.", "(d", "ß"]), min_size=1), st.text(alphabet=" \n\t", min_size=1), st.text())
def test_finds_sentences_despite_white_space(words: list[str], gap: str, around: str) -> None:
    texts = {"d": f"{around} {gap.join(words)} {around}"}
    places = locate(" ".join(words), ["d", "gone"], texts)
    assert places
    assert all(place.span.of(texts["d"]).split() == words for place in places)


def test_overlap_is_a_shared_character() -> None:
    places = [Place(document_id="d1", span=Span(start=5, end=8))]
    assert touches(cite("d1", 7, 9), places)
    assert not touches(cite("d1", 8, 9), places)
    assert not touches(cite("d1", 3, 5), places)
    assert not touches(cite("d2", 5, 8), places)
    assert not touches(cite("d1", 6, 6), places)


def test_exact_quotes() -> None:
    assert is_exact(cite("d2", 0, 4), TEXTS)
    assert not is_exact(cite("d2", 0, 4, "fish"), TEXTS)
    assert not is_exact(cite("d2", 8, 20, "m."), TEXTS)
    assert not is_exact(cite("d2", 0, 0, ""), TEXTS)


def test_perfect_system_on_clapnq(data_dir: Path) -> None:
    dataset = load(data_dir / "clapnq")
    documents = {document.id: document for document in dataset.documents()}
    queries = {query.text: query for query in dataset.queries}

    async def perfect_search(query: str, k: int) -> list[Hit]:
        return [hit(document) for document in dataset.qrels.get(queries[query].id, {})][:k]

    async def perfect_answer(question: str) -> Answer:
        query = queries[question]
        citations = []
        for document in dataset.qrels.get(query.id, {}):
            for place in (
                p for s in query.evidence_sentences for p in locate(s, [document], {document: documents[document].text})
            ):
                quote = place.span.of(documents[document].text)
                citations.append(cite(document, place.span.start, place.span.end, quote))
        return answer(question, tuple(citations), abstained=not query.answerable)

    report = asyncio.run(evaluate(dataset, perfect_search, perfect_answer))
    assert (report.queries, report.judged) == (307, 160)
    assert all(report.measures[name].mean == 1 for name in ("ndcg@10", "recall@5", "mrr@10"))
    answers = report.answers
    assert answers is not None
    assert answers.citation_recall.whole > 400
    for share in ("citation_precision", "citation_recall", "refusal_precision", "refusal_recall", "quotes_exact"):
        assert getattr(answers, share).value == 1, share
