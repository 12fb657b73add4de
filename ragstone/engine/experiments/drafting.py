"""Draft questions for an evaluation from a knowledge base: with its language model, or by rules without one."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.chunk.sentence import sentences
from ragstone.core.access import OWNER
from ragstone.core.errors import ModelError, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.protocols import ChatModel
from ragstone.core.records import Chunk
from ragstone.core.request import Request
from ragstone.engine.experiments.bench import OnMessage
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.drafts import Drafted, Material, draft
from ragstone.review.model_drafts import drafted_by_model, is_answered

_READ = 5
"""Passages that the model reads to check that a question has no answer."""
_SHORTEST = 200
"""Characters of a passage that a model is asked about, if there are enough of these."""


@frozen
class Drafts:
    """Drafted questions, the model that wrote them (empty: rules), and how many of its drafts were dropped."""

    questions: Sequence[Drafted]
    model: str = ""
    dropped: int = 0


async def draft_questions(
    kb: KnowledgeBase, count: int = 40, unanswerable: int = 10, *, on_progress: OnMessage | None = None
) -> Drafts:
    """Return questions that the documents answer, each with the words that answer it, and some that they do not.

    A model writes one question of each kind for a passage. Dropped are questions whose evidence is not copied from the
    passage, and unanswerable ones that the model finds answered in what the search finds for them.

    Args:
        kb: its documents, all of them; the caller is the owner.
        count: maximum of answerable questions.
        unanswerable: maximum of the others.
        on_progress: called with a message about each step.

    Raises:
        UsageError: there are no documents, or nothing in them that rules recognise.
        ModelError: the model cannot be reached, or does not reply in the requested form.
    """
    with kb.current() as version:
        material = [
            Material(document=document, chunks=list(version.catalog.chunks_of([document.id]).values()))
            for document in kb.documents.all()
        ]
        if not material:
            raise UsageError("there are no documents to draft questions from; add some with: ragstone add PATH")
        model = version.models.chat()
        if model is None:
            if not (questions := draft(material, sentences, count, unanswerable)):
                raise UsageError(
                    "the documents have no headings, definitions or tables that rules could make questions of; name a"
                    " language model with: --set respond.model.name=NAME"
                )
            return Drafts(questions=questions)
        passages = _passages(material, max(count, unanswerable))
        return await _by_model(kb, model, passages, count, unanswerable, on_progress)


async def _by_model(
    kb: KnowledgeBase,
    model: ChatModel,
    passages: Sequence[Chunk],
    count: int,
    unanswerable: int,
    on_progress: OnMessage | None,
) -> Drafts:
    answered, others, dropped, failures = list[Drafted](), list[Drafted](), 0, 0
    request = Request.by_owner()
    for number, passage in enumerate(passages, start=1):
        if on_progress:
            on_progress(f"passage {number} of {len(passages)}")
        try:
            question, other = await drafted_by_model(model, passage, request)
        except ModelError:
            failures += 1
            if failures > len(passages) // 4:  # a reply without the form costs a passage, a broken server all
                raise
            continue
        if question and len(answered) < count:
            answered.append(question)
        dropped += question is None
        if other.question and len(others) < unanswerable:
            hits = await kb.search(other.question, _READ, reader=OWNER)
            if await is_answered(model, other.question, [hit.chunk.text for hit in hits], request):
                dropped += 1
            else:
                others.append(other)
    unique = {one.question.casefold(): one for one in (*answered, *others)}
    return Drafts(questions=tuple(unique.values()), model=model.name, dropped=dropped)


def _passages(material: Sequence[Material], count: int) -> list[Chunk]:
    """Return at most ``count`` passages, one of each document in turn, long ones first."""
    long = [[one for one in its.chunks if len(one.text) >= _SHORTEST] or list(its.chunks[:1]) for its in material]
    turns = [chunks[turn] for turn in range(max(map(len, long), default=0)) for chunks in long if turn < len(chunks)]
    return turns[:count]
