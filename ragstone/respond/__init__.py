"""Respond: evidence to an answer with citations.

Without a language model the answer quotes sentences of the documents (`quoting`) or cells of their tables (`tables`).
With one, the model writes (`writing`) and every sentence is checked against the evidence (`proof`). What a question
fixes must be met (`requirements`). If the evidence is unlikely to answer, the answer is a refusal that names the
closest passages; in between it shows the passages that may answer. To change the words of a refusal or a summary, edit
the ``phrases`` of ``ragstone/language/<language>.yaml``; to support another language, add such a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragstone.core.errors import Damaged
from ragstone.core.protocols import (
    Answerer,
    ChatModel,
    Entailment,
    PassageReader,
    SentenceSplitter,
    TokenMatcher,
    Weigher,
)
from ragstone.core.request import Request
from ragstone.settings import RespondSettings

__all__ = ["build_answerer"]


def build_answerer(
    settings: RespondSettings,
    *,
    matcher: TokenMatcher,
    sentences: SentenceSplitter,
    weigh: Weigher,
    occurs: Callable[[Sequence[str], Request], Sequence[bool]],
    embedder: str,
    model: ChatModel | None = None,
    entailment: Callable[[], Entailment] | None = None,
    reader: Callable[[], PassageReader] | None = None,
) -> Answerer:
    """Build the answerer: one that quotes the documents, or one whose model writes and whose sentences are checked.

    Args:
        settings: how many passages and sentences, and when to abstain.
        matcher: late interaction between a question and texts.
        sentences: splits a text.
        weigh: weighs words.
        occurs: says for each word whether any document contains it.
        embedder: fingerprint of the embedder whose token vectors the matcher compares.
        model: writes the answer; without one the answer quotes.
        entailment: returns the model that judges what ``model`` writes; without one its words are compared.
        reader: returns the model that reads passages for a question; without one their words are compared.
    """
    from ragstone.respond.quoting.answerability import estimate_for, is_read, threshold_for
    from ragstone.respond.quoting.extractive import ExtractiveAnswerer
    from ragstone.respond.tables import TableReader

    least = threshold_for(embedder, settings.risk) if settings.risk else settings.abstain_below
    reading: PassageReader | None = None
    unread: tuple[str, ...] = ()
    if reader is not None and is_read(embedder):
        try:
            reading = reader()
        except Damaged as damage:
            unread = (f"Passages are compared by their words alone: {damage}",)
    tables = TableReader(occurs=occurs, weigh=weigh, least=least, reader=reading)
    quoting = ExtractiveAnswerer(
        settings,
        matcher=matcher,
        sentences=sentences,
        tables=tables,
        occurs=occurs,
        weigh=weigh,
        estimate=estimate_for(embedder),
        abstain_below=least,
        reader=reading,
        notices=unread,
    )
    if model is None:
        return quoting
    from ragstone.respond.proof.by_model import ModelChecker
    from ragstone.respond.proof.checker import ProofChecker
    from ragstone.respond.writing.written import WritingAnswerer

    judging: Entailment | None = None
    notices: tuple[str, ...] = ()
    if settings.check != "match" and entailment is not None:
        try:
            judging = entailment()
        except Damaged as damage:
            notices = (f"Sentences are checked by their words alone: {damage}",)
    checker = ProofChecker(sentences=sentences, weigh=weigh, entailment=judging)
    return WritingAnswerer(
        settings,
        model=model,
        quoting=quoting,
        tables=tables,
        checker=checker,
        sentences=sentences,
        second=ModelChecker(checker=checker, model=model) if settings.check == "model" else None,
        notices=notices,
    )
