"""Evidence -> an answer with citations. What do the documents say, and in which words?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragstone.answers import Draft
from ragstone.contracts import Evidence
from ragstone.errors import ResponseError
from ragstone.protocols import Answerer, ChatModel, SentenceSplitter, TokenMatcher, Weigher
from ragstone.respond.abstention import abstained
from ragstone.respond.models import build_chat_model, choose
from ragstone.respond.replay import replayed
from ragstone.respond.summary import summary
from ragstone.respond.words import language_of
from ragstone.sections import RespondSettings

__all__ = ["abstained", "build_answerer", "build_chat_model", "choose", "drafted", "language_of", "replayed", "summary"]


def build_answerer(
    settings: RespondSettings,
    *,
    matcher: TokenMatcher,
    sentences: SentenceSplitter,
    familiarity: Callable[[str], float],
    weigh: Weigher,
    known: Callable[[Sequence[str]], Sequence[bool]],
    embedder: str,
    model: ChatModel | None = None,
) -> Answerer:
    """The answerer: sentences quoted from the documents, or written by a model and proved by the documents.

    Args:
        settings: how many passages and sentences, and when to abstain.
        matcher: late interaction between a question and texts.
        sentences: splits a text.
        familiarity: share of a question's words that the embedder knows.
        weigh: how much each word tells.
        known: for each of some words, whether any document has it.
        embedder: fingerprint of the embedder whose token vectors the matcher compares.
        model: writes; without one the answer is quoted.
    """
    from ragstone.respond.answerability import estimate_for
    from ragstone.respond.extractive import ExtractiveAnswerer
    from ragstone.respond.risk import threshold_for

    quoting = ExtractiveAnswerer(
        settings,
        matcher=matcher,
        sentences=sentences,
        familiarity=familiarity,
        known=known,
        weigh=weigh,
        estimate=estimate_for(embedder),
        abstain_below=threshold_for(embedder, settings.risk) if settings.risk else settings.abstain_below,
    )
    if model is None:
        return quoting
    from ragstone.respond.second_look import SecondLook
    from ragstone.respond.support import SupportChecker
    from ragstone.respond.written import WritingAnswerer

    matching = SupportChecker(matcher=matcher, sentences=sentences, weigh=weigh)
    checker = SecondLook(matching=matching, model=model) if settings.check == "model" else matching
    return WritingAnswerer(settings, model=model, quoting=quoting, checker=checker, sentences=sentences)


async def drafted(answerer: Answerer, evidence: Evidence) -> Draft:
    """The whole answer, for who does not watch it come about.

    Raises:
        ResponseError: it could not be made.
    """
    async for part in answerer.stream(evidence):
        if isinstance(part, Draft):
            return part
    raise ResponseError("the answerer ended without an answer")
