"""Evidence -> an answer with citations. What do the documents say, and in which words?"""

from __future__ import annotations

from collections.abc import Callable

from ragstone.protocols import Answerer, SentenceSplitter, TokenMatcher
from ragstone.sections import RespondSettings

__all__ = ["build_answerer"]


def build_answerer(
    settings: RespondSettings,
    *,
    matcher: TokenMatcher,
    sentences: SentenceSplitter,
    familiarity: Callable[[str], float],
) -> Answerer:
    """The answerer: sentences quoted from the documents."""
    from ragstone.respond.extractive import ExtractiveAnswerer

    return ExtractiveAnswerer(settings, matcher=matcher, sentences=sentences, familiarity=familiarity)
