"""Web search for questions that the stored documents do not answer: when to search, and how to use the pages.

Pages are evidence for one question. They are marked (`Chunk.is_web`) and never stored. The address of a page is shown
but never fetched; the search service sends the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from ragstone.core.answers import Adequacy
from ragstone.core.errors import RetrievalError
from ragstone.core.protocols import WebSearch
from ragstone.core.question import Question
from ragstone.core.records import WEB, Chunk, Document, Evidence, Hit, Step
from ragstone.core.request import Request
from ragstone.settings import WebSettings
from ragstone.settings.services import ServiceSettings

RELEVANCE = 0.8
"""Score of every page. Services give no scores, or scores that cannot be compared with those of chunks."""
MIN_CONFIDENCE = 5.0
"""Judge's rating of the evidence, out of 10, below which the web is searched."""
MAX_QUERY = 400
"""Characters of a question that are sent."""


def build_web_search(settings: WebSettings, services: ServiceSettings) -> WebSearch | None:
    """Build the search service that the settings name; None if web search is off.

    Raises:
        SettingsError: its key or its address is missing.
    """
    match settings.engine:
        case "none":
            return None
        case "exa":
            from ragstone.query.web_services import ExaSearch

            return ExaSearch(services, characters=settings.characters)
        case "searxng":
            from ragstone.query.web_services import SearxngSearch

            return SearxngSearch(services, characters=settings.characters)


def why_search(
    adequacy: Adequacy | None, answerability: float, question: Question, threshold: float
) -> tuple[str, ...]:
    """Return every reason to search the web, worded to follow "because"; empty if there is none.

    Args:
        adequacy: the judge's rating of the evidence, if there is a judge.
        answerability: the probability, 0 to 1, that an answer from the evidence is right.
        question: what is asked.
        threshold: the least probability that is enough.
    """
    reasons: list[str] = []
    if answerability < threshold:
        reasons.append(f"the probability that the documents answer is only {answerability:.2f}")
    if adequacy and adequacy.confidence < MIN_CONFIDENCE:
        reasons.append(f"the evidence was rated {adequacy.confidence:g} of 10")
    if adequacy and adequacy.needs_web_search:
        reasons.append("the judge asked for it")
    if question.recent:
        reasons.append("the question is about recent events")
    return tuple(reasons)


async def with_web(
    evidence: Evidence, search: WebSearch, settings: WebSettings, request: Request
) -> tuple[Evidence, bool]:
    """Add web pages below the evidence; also return whether any were found. A failure is noted in the evidence."""
    try:
        query = " ".join(evidence.question.text.split())[:MAX_QUERY]
        pages = await search.search(query, settings.results, request)
    except RetrievalError as error:
        return replace(evidence, missing=(*evidence.missing, f"The web was not searched: {error}")), False
    hits = web_hits(pages, settings)
    if not hits:
        return replace(evidence, notices=(*evidence.notices, "The web was searched, but nothing was found.")), False
    return replace(evidence, hits=(*evidence.hits, *hits)), True


def web_hits(pages: Sequence[Document], settings: WebSettings) -> tuple[Hit, ...]:
    """Return pages as hits of one chunk each, cut to the length that the settings allow; skip pages without text."""
    hits: dict[str, Hit] = {}
    for page in pages:
        text = page.text[: settings.characters].strip()
        if not text or not is_address(page.url):
            continue
        name = f"{WEB}{hashlib.sha256(page.url.encode()).hexdigest()[:16]}"
        chunk = Chunk(
            id=f"{name}-0",
            document_id=name,
            index=0,
            total=1,
            start=0,
            end=len(text),
            text=text,
            title=page.title or page.url,
            url=page.url,
            metadata={**page.metadata, "kind": "web"},
        )
        step = Step(stage=f"web ({settings.engine})", score=RELEVANCE, rank=len(hits) + 1)
        hits.setdefault(name, Hit(chunk=chunk, score=RELEVANCE, why=(step,)))
    return tuple(hits.values())[: settings.results]


def is_address(url: str) -> bool:
    """Return whether this is a web address that may be shown as a link."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
