"""Evaluate a system on a data set: what it finds, what it cites, and when it abstains.

The system is passed as two functions, so that any settings, or another system, can be measured the same way. Its
document ids must be those of the data set.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, Protocol

from ragstone.core.answers import Answer
from ragstone.core.records import Hit
from ragstone.review.citations import is_exact, locate, touches
from ragstone.review.dataset import Dataset, Query
from ragstone.review.metrics import Judgements, Measure, ndcg, precision, recall, reciprocal_rank
from ragstone.review.report import AnswerReport, EvalReport, Group, QueryResult, Share
from ragstone.review.significance import Interval, bootstraps

MEASURES: Mapping[str, Measure] = {
    "ndcg@10": partial(ndcg, k=10),
    "recall@5": partial(recall, k=5),
    "recall@10": partial(recall, k=10),
    "recall@20": partial(recall, k=20),
    "mrr@10": partial(reciprocal_rank, k=10),
    "p@5": partial(precision, k=5),
}

_DOCUMENTS = 20
"""Ranks that the measures use."""
_MAX_FOUND = 3
"""Found documents that the result of a question lists."""
_FIRST_K, _LAST_K = 100, 6_400
"""Chunks requested at first, and at most if they come from too few documents."""


class Search(Protocol):
    async def __call__(self, query: str, k: int, /) -> Sequence[Hit]:
        """Return the ``k`` best chunks, best first."""
        ...


class Ask(Protocol):
    async def __call__(self, question: str, /) -> Answer: ...


KindOf = Callable[[str, str], str]
"""Maps a question and its language (or an empty text) to the kind of the question."""


async def evaluate(
    dataset: Dataset,
    search: Search,
    ask: Ask | None = None,
    *,
    limit: int | None = None,
    kind_of: KindOf | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> EvalReport:
    """Run the queries of a data set, one after another.

    Chunks are reduced to documents at their best rank. A query without a relevant document has no measures. The report
    also has means for each language and each kind of question.

    Args:
        dataset: queries and judgements.
        search: searches the system.
        ask: asks the system; without it only search is measured.
        limit: most queries, spread evenly over the data set.
        kind_of: determines the kind of a question if the data set does not.
        on_progress: called after each query with the number done and the total.

    Raises:
        SourceError: the documents of the data set cannot be read.
    """
    queries = spread(dataset.queries, limit)
    results: list[QueryResult] = []
    answers: list[tuple[Query, Answer]] = []
    for done, query in enumerate(queries, start=1):
        answer = None if ask is None else await ask(query.text)
        if answer is not None:
            answers.append((query, answer))
        results.append(await _result(query, dataset.qrels.get(query.id, {}), search, answer, kind_of))
        if on_progress is not None:
            on_progress(done, len(queries))
    return summarise(dataset.name, results, None if ask is None else _answer_report(dataset, answers))


def summarise(dataset: str, results: Sequence[QueryResult], answers: AnswerReport | None = None) -> EvalReport:
    """Summarise the results of questions in a report."""
    judged = [result for result in results if result.measures]
    return EvalReport(
        dataset=dataset,
        queries=len(results),
        judged=len(judged),
        measures=_means(judged),
        answers=answers,
        per_query=tuple(results),
        groups=(*_groups(judged, "language"), *_groups(judged, "kind")),
    )


async def _result(
    query: Query, judgements: Judgements, search: Search, answer: Answer | None, kind_of: KindOf | None
) -> QueryResult:
    expected = _relevant(judgements)
    ranking, started = list[str](), time.perf_counter()
    if expected:
        ranking = await _ranking(search, query.text)
    spent = (time.perf_counter() - started) * 1000
    kind = query.extras.get("kind")  # the data set takes precedence
    if not (isinstance(kind, str) and kind):
        kind = kind_of(query.text, query.lang) if kind_of else ""
    return QueryResult(
        id=query.id,
        measures={name: measure(ranking, judgements) for name, measure in MEASURES.items() if expected},
        answerable=query.answerable,
        text=query.text,
        lang=query.lang,
        kind=kind,
        expected=tuple(expected),
        found=tuple(ranking[:_MAX_FOUND]),
        first=next((rank for rank, document in enumerate(ranking, start=1) if document in expected), None),
        milliseconds=round(spent, 3),
        abstained=None if answer is None else answer.abstained,
        confidence=None if answer is None else answer.confidence,
    )


def _means(judged: Sequence[QueryResult]) -> dict[str, Interval]:
    if not judged:
        return {}
    return bootstraps({name: [result.measures[name] for result in judged] for name in MEASURES})


def _groups(judged: Sequence[QueryResult], by: Literal["language", "kind"]) -> list[Group]:
    """Group the judged questions by a property, largest group first; empty if all have the same."""
    names = [result.lang or "-" if by == "language" else result.kind or "-" for result in judged]
    counts = Counter(names)
    if len(counts) < 2:
        return []
    parted = {name: [one for one, its in zip(judged, names, strict=True) if its == name] for name in counts}
    return [
        Group(by=by, name=name, questions=count, measures=_means(parted[name])) for name, count in counts.most_common()
    ]


def spread(queries: Sequence[Query], limit: int | None) -> Sequence[Query]:
    """Return at most ``limit`` of the queries, in order."""
    # Spread evenly, because data sets are often sorted: the first questions may all be answerable.
    if limit is None or limit >= len(queries):
        return queries
    return [queries[n * len(queries) // limit] for n in range(limit)]


async def _ranking(search: Search, query: str) -> list[str]:
    """Return document ids, at least as many as the measures use if the search finds them."""
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
    cited = right = sentences = covered = given = good = 0
    for query, answer in answers:
        known = query.answerable and query.evidence_sentences
        given += not answer.abstained and bool(known or not query.answerable)
        if not known:
            continue
        relevant = _relevant(dataset.qrels.get(query.id, {}))
        gold = [locate(sentence, relevant, texts) for sentence in query.evidence_sentences]
        sentences += len(gold)
        if not answer.abstained:
            cited += len(answer.citations)
            touched = [any(touches(citation, places) for places in gold) for citation in answer.citations]
            right, good = right + sum(touched), good + any(touched)
            covered += sum(any(touches(citation, places) for citation in answer.citations) for places in gold)
    refused = [query for query, answer in answers if answer.abstained]
    unanswerable = sum(not query.answerable for query, _ in answers)
    rightly_refused = sum(not query.answerable for query in refused)
    exact = [is_exact(citation, texts) for _, answer in answers for citation in answer.citations]
    return AnswerReport(
        questions=len(answers),
        abstained=len(refused),
        citation_precision=_share(right, cited),
        citation_recall=_share(covered, sentences),
        refusal_precision=_share(rightly_refused, len(refused)),
        refusal_recall=_share(rightly_refused, unanswerable),
        quotes_exact=_share(sum(exact), len(exact)),
        answers_right=_share(good, given),
    )


def _texts(dataset: Dataset, answers: Iterable[tuple[Query, Answer]]) -> dict[str, str]:
    """Return the texts of documents that are cited or relevant."""
    needed: set[str] = set()
    for query, answer in answers:
        needed.update(dataset.qrels.get(query.id, {}))
        needed.update(citation.document_id for citation in answer.citations)
    return {document.id: document.text for document in dataset.documents() if document.id in needed}


def _share(part: int, whole: int) -> Share:
    return Share(part=part, whole=whole, value=part / whole if whole else None)
