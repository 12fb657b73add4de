"""How well the offline judge's marks tell right answers from wrong ones.

Every question is answered, including those that Ragstone would refuse. An answer is right if the documents have the
answer and it cites a sentence that an annotator chose. AUC is the chance that a right answer has a higher mark than a
wrong one: .5 is a coin toss, 1 is perfect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.bases import NO_CACHE, Parts, filled
from benchmarks.common import Options, Result, Table
from ragstone import chunk
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.question import read
from ragstone.review.citations import Place, locate, touches
from ragstone.review.confidence import confidence, overall
from ragstone.review.dataset import Dataset, Query, load
from ragstone.review.evaluate import spread
from ragstone.review.heuristic import HeuristicJudge

SET = "clapnq"
QUICK_LIMIT = 60
MEANING = {
    "answerability": "the probability, before answering, that the evidence answers",
    "adequacy": "the mark for the evidence",
    "relevance": "a mark for the answer: the question's words in the best passage, and the answerability",
    "factuality": "a mark: the answer's words in the passages, where quotes always are",
    "completeness": "a mark: the question's words in the answer",
    "overall": "the mean of the three marks",
    "confidence": "the answerability and the marks, half each",
}


async def measure(options: Options) -> Result:
    assert options.data is not None
    chosen = (
        *NO_CACHE,
        f"index.embedder={options.embedders[0]}",
        "respond.model.name=extractive",
        "respond.abstain_below=0",
    )
    dataset = load(options.data / SET)
    async with filled(options, dataset, chosen) as engine:
        values, right = await _judged(engine, dataset, QUICK_LIMIT if options.quick else None)
    return summary(values, right)


async def _judged(
    engine: KnowledgeBase, dataset: Dataset, limit: int | None
) -> tuple[dict[str, list[float]], list[bool]]:
    """Return every mark of each answer, by name, and whether each answer is right."""
    texts = {document.id: document.text for document in dataset.documents()}
    settings, parts = engine.settings.review, Parts(engine)
    values: dict[str, list[float]] = {name: [] for name in MEANING}
    right: list[bool] = []
    for query in spread(dataset.queries, limit):
        answer = await engine.ask(query.text, reader=OWNER)
        evidence = Evidence(question=read(query.text), hits=answer.hits, method=answer.retrieval_method)
        request = Request.by_owner()
        known = answer.answerability or answer.confidence

        async def estimated(_: Evidence, __: Request, known: float = known) -> float:
            return known

        judge = HeuristicJudge(
            terms=parts.analyzer, weigh=parts.words.weigh, sentences=chunk.sentences, answerability=estimated
        )
        scores = await judge.judge(evidence, answer.answer, request)
        marks = {
            "answerability": known,
            "adequacy": (await judge.adequacy(evidence, request)).confidence,
            "relevance": scores.relevance,
            "factuality": scores.factuality,
            "completeness": scores.completeness,
            "overall": overall(scores, settings.marks),
            "confidence": confidence(known, scores, settings.marks, settings.confidence),
        }
        for name, value in marks.items():
            values[name].append(value)
        right.append(_is_right(query, answer, _gold(query, dataset, texts)))
    return values, right


def _gold(query: Query, dataset: Dataset, texts: dict[str, str]) -> list[Place]:
    relevant = [document for document, degree in dataset.qrels.get(query.id, {}).items() if degree > 0]
    return [place for sentence in query.evidence_sentences for place in locate(sentence, relevant, texts)]


def _is_right(query: Query, answer: Answer, gold: Sequence[Place]) -> bool:
    return query.answerable and any(touches(citation, gold) for citation in answer.citations)


def auc(values: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the chance that a right answer has the higher value; a tie counts half. None if all are of one kind."""
    good = np.array([value for value, is_right in zip(values, right, strict=True) if is_right])
    poor = np.array([value for value, is_right in zip(values, right, strict=True) if not is_right])
    if not len(good) or not len(poor):
        return None
    above, equal = good[:, None] > poor, good[:, None] == poor
    return float((above + equal / 2).mean())


def summary(values: dict[str, list[float]], right: Sequence[bool]) -> Result:
    found = {name: auc(values[name], right) for name in MEANING}
    rows = [[name, "-" if found[name] is None else f"{found[name]:.3f}", MEANING[name]] for name in MEANING]
    title = f"{SET}: {len(right)} answers, {sum(right)} of them right"
    return Result(
        tables=[Table(title=title, columns=["mark", "AUC", "what it is"], rows=rows)],
        figures={
            "answers": len(right),
            "right": sum(right),
            **{name: None if value is None else round(value, 4) for name, value in found.items()},
        },
    )
