"""Whether the offline judge's marks go with answers that are right.

Every question of the data set is answered, also those that Ragstone would refuse. An answer is right if the documents
tell, and it cites a sentence that an annotator chose. AUC is the chance that a right answer is marked higher than a
wrong one: .5 is a coin, 1 is without fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import numpy as np

from benchmarks.common import Options, Result, Table, main, skipped, told
from ragstone import chunk
from ragstone.answers import Answer, JudgeScores
from ragstone.config import load
from ragstone.contracts import Evidence
from ragstone.engine import Engine
from ragstone.experiment import kept_at
from ragstone.experiment.bench import NO_CACHE, add_corpus
from ragstone.index import build_embedder
from ragstone.review.citations import Place, locate, touches
from ragstone.review.confidence import confidence, overall
from ragstone.review.dataset import Dataset, Query
from ragstone.review.dataset import load as load_dataset
from ragstone.review.evaluate import spread
from ragstone.review.heuristic import HeuristicJudge

SET = "clapnq"
QUICK_LIMIT = 60
MEANING = {
    "answerability": "the probability, before answering, that the evidence answers",
    "adequacy": "the mark for the evidence",
    "relevance": "a mark for the answer: the question's words in the best passage, and the answerability",
    "factuality": "a mark: the answer's words in the passages; quotes stand there by themselves",
    "completeness": "a mark: the question's words in the answer",
    "overall": "the three marks, a third each",
    "confidence": "the answerability and the marks, half each",
}


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / SET).is_dir():
        return skipped(f"the judge is measured on {SET}, with its evidence sentences and unanswerable questions")
    chosen = [f"index.embedder={options.embedders[0]}", "respond.model.name=extractive", "respond.abstain_below=0"]
    settings = load(chosen).settings
    place = kept_at(options.keep, SET, settings, build_embedder(settings.index))
    dataset = load_dataset(options.data / SET)
    with closing(Engine.open(place, (*NO_CACHE, *chosen), create=True)) as engine:
        await add_corpus(engine, dataset, told)
        values, right = await _judged(engine, dataset, QUICK_LIMIT if options.quick else None)
    return summary(values, right)


async def _judged(engine: Engine, dataset: Dataset, limit: int | None) -> tuple[dict[str, list[float]], list[bool]]:
    """Of each answer all that is said of it, by name, and whether it is right."""
    texts = {document.id: document.text for document in dataset.documents()}
    settings = engine.settings.review
    values: dict[str, list[float]] = {name: [] for name in MEANING}
    right = []
    for query in spread(dataset.queries, limit):
        answer = await engine.ask(query.text)
        evidence = Evidence(question=query.text, hits=answer.hits, method=answer.retrieval_method)

        async def estimated(_evidence: Evidence, known: float = answer.answerability or answer.confidence) -> float:
            return known

        judge = HeuristicJudge(
            terms=engine._analyzer, weigh=engine._terms.weigh, sentences=chunk.sentences, answerability=estimated
        )
        scores = await judge.judge(query.text, evidence, answer.answer)
        said = {
            "answerability": await estimated(evidence),
            "adequacy": (await judge.adequacy(evidence)).confidence,
            **_marks(scores),
            "overall": overall(scores, settings.marks),
            "confidence": confidence(await estimated(evidence), 1.0, scores, settings.marks, settings.confidence),
        }
        for name, value in said.items():
            values[name].append(value)
        right.append(_is_right(query, answer, _gold(query, dataset, texts)))
    return values, right


def _marks(scores: JudgeScores) -> dict[str, float]:
    return {name: getattr(scores, name) for name in ("relevance", "factuality", "completeness")}


def _gold(query: Query, dataset: Dataset, texts: dict[str, str]) -> list[Place]:
    relevant = [document for document, degree in dataset.qrels.get(query.id, {}).items() if degree > 0]
    return [place for sentence in query.evidence_sentences for place in locate(sentence, relevant, texts)]


def _is_right(query: Query, answer: Answer, gold: Sequence[Place]) -> bool:
    return query.answerable and any(touches(citation, gold) for citation in answer.citations)


def auc(values: Sequence[float], right: Sequence[bool]) -> float | None:
    """The chance that one that is right has the higher value, equal ones counted half; nothing of one kind alone."""
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
        tables=[Table(title=title, columns=["what is said", "AUC", "what it is"], rows=rows)],
        figures={
            "answers": len(right),
            "right": sum(right),
            **{name: None if value is None else round(value, 4) for name, value in found.items()},
        },
    )


if __name__ == "__main__":
    main({"judge": measure}, "judge")
