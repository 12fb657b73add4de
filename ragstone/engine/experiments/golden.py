"""Suggests a policy from questions with known answers: a neighbour of the policy in use that does no worse on them.

Each question is searched once under the policy in use. Neighbouring policies are replayed from the scores of both
search legs. A replay is only an estimate, because later stages change the ranking; a trial has to confirm it.
"""

from __future__ import annotations

from pathlib import Path

from ragstone.core.access import OWNER
from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.legs import UNMEASURED_WEIGHT
from ragstone.learning.observation import ReplayCase
from ragstone.learning.proposals import Proposal
from ragstone.review.questions import read_questions


@frozen
class Suggestion:
    """The number of questions, and the proposal that they support, if any."""

    questions: int
    proposal: Proposal | None


async def suggest(kb: KnowledgeBase, questions: Path) -> Suggestion:
    """Return the change that deserves a trial, if there is one.

    Args:
        kb: the knowledge base in use.
        questions: a CSV of questions and their sources, see `read_questions`.

    Raises:
        SourceError: the CSV is missing or malformed, or names an unknown document.
        UsageError: no question in it has a source.
    """
    dataset = read_questions(questions, lambda source: kb.documents.get(source, reader=OWNER).id, kb.documents.all)
    cases: list[ReplayCase] = []
    for one in dataset.queries:
        relevant = [id for id, grade in dataset.qrels.get(one.id, {}).items() if grade > 0]
        if relevant:
            trace = await kb.trace(one.text, reader=OWNER)
            asked, weight = trace.evidence.question, trace.weights.get("vector", UNMEASURED_WEIGHT)
            cases.append(ReplayCase.of_question(asked.kind, trace.evidence.considered, relevant, weight))
    if not cases:
        raise UsageError(f"{questions} has no question with a source")
    return Suggestion(questions=len(cases), proposal=kb.learning.suggest(cases))
