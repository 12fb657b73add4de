"""What questions with known answers speak for: a change of the version in use that did no worse on them.

Each question is searched once, as it is answered now; what a neighbour would have found is replayed from the scores of
both legs. That is no proof, since a fusion is more than its ranking: what comes out of it deserves a trial.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragstone import query
from ragstone.engine import Engine
from ragstone.errors import UsageError
from ragstone.policies.proposing import Proposal
from ragstone.policies.seen import known_of
from ragstone.review.questions import read_questions

EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What deserves a trial, by so many questions and by what was voted on; perhaps nothing."""

    questions: int
    proposal: Proposal | None


async def suggest(engine: Engine, questions: Path) -> Suggestion:
    """Look for a change that deserves a trial.

    Args:
        engine: the knowledge base as it is used.
        questions: a CSV of questions and their sources, as `read_questions` takes it.

    Raises:
        SourceError: the CSV is missing or malformed, or names a document that is not there.
        UsageError: no question in it has a source.
    """
    dataset = read_questions(questions, lambda source: engine.document(source).id, engine.documents)
    known = []
    for one in dataset.queries:
        if right := [id for id, relevance in dataset.qrels.get(one.id, {}).items() if relevance > 0]:
            trace = await engine.trace(one.text)
            kind = query.kind(one.text, trace.question.language)
            known.append(known_of(kind, trace.evidence.considered, right, trace.weights.get("vector", EVEN)))
    if not known:
        raise UsageError(f"{questions} has no question with a document that answers it")
    return Suggestion(questions=len(known), proposal=engine.suggest(known))
