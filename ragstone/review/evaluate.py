"""Measures a system on a data set: what it finds, what it cites, and when it says it does not know.

The system comes as two functions, so any of its settings, or another system, can be measured the same
way. Its document ids must be those of the data set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ragstone.contracts import Answer, Hit
from ragstone.review.citations import is_exact, locate, touches
from ragstone.review.dataset import Dataset, Query
from ragstone.review.metrics import Judgements, Measure, ndcg, precision, recall, reciprocal_rank
from ragstone.review.significance import Interval, bootstrap

MEASURES: Mapping[str, Measure] = {
    "ndcg@10": partial(ndcg, k=10),
    "recall@5": partial(recall, k=5),
    "recall@10": partial(recall, k=10),
    "recall@20": partial(recall, k=20),
    "mrr@10": partial(reciprocal_rank, k=10),
    "p@5": partial(precision, k=5),
}

_DOCUMENTS = 20
"""Ranks the measures look at."""
_FIRST_K, _LAST_K = 100, 6_400
"""Chunks asked for at first, and at most where they come from too few documents."""


class Search(Protocol):
    async def __call__(self, query: str, k: int, /) -> list[Hit]:
        """The ``k`` best chunks, best first."""
        ...


class Ask(Protocol):
    async def __call__(self, question: str, /) -> Answer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """``part`` of ``whole``, and ``value``, their quotient: None where there is nothing to divide by."""

    part: int
    whole: int
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReport:
    """How far answers can be trusted, over all questions asked.

    Citation shares are taken over answerable questions with known evidence sentences. A citation is
    right where it shares a character with such a sentence in a relevant document.
    """

    questions: int
    abstained: int
    citation_precision: Share
    """Right citations of all citations, where the question was answered."""
    citation_recall: Share
    """Evidence sentences touched by a citation of all of them, those of refused questions too."""
    refusal_precision: Share
    """Unanswerable questions of all that were refused."""
    refusal_recall: Share
    """Refused questions of all that are unanswerable."""
    quotes_exact: Share
    """Citations whose quote is what the document has at that place, of all citations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """One question: its measures (none without a relevant document), and how it was answered, if it was asked."""

    id: str
    measures: Mapping[str, float]
    answerable: bool
    abstained: bool | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport:
    """What was measured. ``measures`` are means with 95% intervals over the ``judged`` queries."""

    dataset: str
    queries: int
    judged: int
    measures: Mapping[str, Interval]
    answers: AnswerReport | None
    per_query: tuple[QueryResult, ...]


async def evaluate(
    dataset: Dataset,
    search: Search,
    ask: Ask | None = None,
    *,
    limit: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> EvalReport:
    """Runs the queries of a data set, one after another.

    Chunks are collapsed to documents at their best rank. A query without a relevant document has no
    measures. Each question is also asked, where ``ask`` is given.

    Args:
        dataset: the queries and what is relevant to them.
        search: the system's search.
        ask: the system's answers; without it only the search is measured.
        limit: this many queries at most, spread evenly over the data set.
        on_progress: told after each query how many are done, of how many.

    Raises:
        SourceError: the documents of the data set cannot be read.
    """
    queries = _spread(dataset.queries, limit)
    results: list[QueryResult] = []
    answers: list[tuple[Query, Answer]] = []
    for done, query in enumerate(queries, start=1):
        measures: dict[str, float] = {}
        judgements = dataset.qrels.get(query.id, {})
        if _relevant(judgements):
            ranking = await _ranking(search, query.text)
            measures = {name: measure(ranking, judgements) for name, measure in MEASURES.items()}
        answer = None if ask is None else await ask(query.text)
        if answer is not None:
            answers.append((query, answer))
        results.append(
            QueryResult(
                id=query.id,
                measures=measures,
                answerable=query.answerable,
                abstained=None if answer is None else answer.abstained,
                confidence=None if answer is None else answer.confidence,
            )
        )
        if on_progress is not None:
            on_progress(done, len(queries))
    judged = [result.measures for result in results if result.measures]
    return EvalReport(
        dataset=dataset.name,
        queries=len(results),
        judged=len(judged),
        measures={name: bootstrap([measures[name] for measures in judged]) for name in MEASURES if judged},
        answers=None if ask is None else _answer_report(dataset, answers),
        per_query=tuple(results),
    )


def _spread(queries: Sequence[Query], limit: int | None) -> Sequence[Query]:
    # Evenly, because data sets are often sorted: the first questions may all be answerable.
    if limit is None or limit >= len(queries):
        return queries
    return [queries[n * len(queries) // limit] for n in range(limit)]


async def _ranking(search: Search, query: str) -> list[str]:
    """Ids of at least as many documents as the measures look at, if the search finds them."""
    k = _FIRST_K
    while True:
        hits = await search(query, k)
        ranking = list(dict.fromkeys(hit.chunk.document_id for hit in hits))
        if len(ranking) >= _DOCUMENTS or len(hits) < k or k >= _LAST_K:
            return ranking
        k *= 4


def _relevant(judgements: Judgements) -> list[str]:
    return [document for document, relevance in judgements.items() if relevance > 0]


def _answer_report(dataset: Dataset, answers: Sequence[tuple[Query, Answer]]) -> AnswerReport:
    texts = _texts(dataset, answers)
    cited = right = sentences = found = 0
    for query, answer in answers:
        if not query.answerable or not query.evidence_sentences:
            continue
        relevant = _relevant(dataset.qrels.get(query.id, {}))
        gold = [locate(sentence, relevant, texts) for sentence in query.evidence_sentences]
        sentences += len(gold)
        if not answer.abstained:
            cited += len(answer.citations)
            right += sum(any(touches(citation, places) for places in gold) for citation in answer.citations)
            found += sum(any(touches(citation, places) for citation in answer.citations) for places in gold)
    refused = [query for query, answer in answers if answer.abstained]
    unanswerable = sum(not query.answerable for query, _ in answers)
    rightly_refused = sum(not query.answerable for query in refused)
    exact = [is_exact(citation, texts) for _, answer in answers for citation in answer.citations]
    return AnswerReport(
        questions=len(answers),
        abstained=len(refused),
        citation_precision=_share(right, cited),
        citation_recall=_share(found, sentences),
        refusal_precision=_share(rightly_refused, len(refused)),
        refusal_recall=_share(rightly_refused, unanswerable),
        quotes_exact=_share(sum(exact), len(exact)),
    )


def _texts(dataset: Dataset, answers: Iterable[tuple[Query, Answer]]) -> dict[str, str]:
    """Texts of the documents that are cited or relevant."""
    needed: set[str] = set()
    for query, answer in answers:
        needed.update(dataset.qrels.get(query.id, {}))
        needed.update(citation.document_id for citation in answer.citations)
    return {document.id: document.text for document in dataset.documents() if document.id in needed}


def _share(part: int, whole: int) -> Share:
    return Share(part=part, whole=whole, value=part / whole if whole else None)
