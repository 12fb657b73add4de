"""The web, where the stored documents do not answer: when it is searched, and what becomes of what it finds.

What is found is evidence for one question, of a kind that tells itself apart (`Chunk.is_web`), and is never stored. The
address of a page is shown, never fetched: the service sends the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from ragstone.answers import Adequacy
from ragstone.contracts import WEB, Chunk, Document, Evidence, Hit, QueryAnalysis, Step
from ragstone.errors import RetrievalError
from ragstone.protocols import WebSearch
from ragstone.sections import WebSettings
from ragstone.services import ServiceSettings

RELEVANCE = 0.8
"""Of every page at first: services give no scores, or such as do not compare with ours."""
JUDGED_BELOW = 5.0
"""A judge's mark for the evidence, of 10, below which the web is searched."""
LONGEST_QUERY = 400
"""Characters of a question that are sent."""
_KIND = "web"


def build_web_search(settings: WebSettings, services: ServiceSettings) -> WebSearch | None:
    """The service that the settings name; nothing where there is to be none.

    Raises:
        SettingsError: its key or its address is missing.
    """
    match settings.engine:
        case "none":
            return None
        case "exa":
            from ragstone.query.web_exa import ExaSearch

            return ExaSearch(services, characters=settings.characters)
        case "searxng":
            from ragstone.query.web_searxng import SearxngSearch

            return SearxngSearch(services, characters=settings.characters)


def why_search(
    adequacy: Adequacy | None, answerability: float, analysis: QueryAnalysis, threshold: float
) -> tuple[str, ...]:
    """Every reason to search the web, in words; none where there is none.

    Args:
        adequacy: a judge's word on the evidence, where there was a judge.
        answerability: the probability, 0 to 1, that the evidence answers.
        analysis: what the question is after.
        threshold: the least probability that is enough.
    """
    reasons = []
    if answerability < threshold:
        reasons.append(f"the documents answer with a probability of {answerability:.2f} only")
    if adequacy and adequacy.confidence < JUDGED_BELOW:
        reasons.append(f"the evidence was judged {adequacy.confidence:g} of 10")
    if adequacy and adequacy.needs_web_search:
        reasons.append("the judge asked for it")
    if analysis.recent:
        reasons.append("the question is about recent events")
    return tuple(reasons)


async def with_web(evidence: Evidence, search: WebSearch, settings: WebSettings) -> tuple[Evidence, bool]:
    """The evidence and below it pages of the web, and whether any were found; where the search failed, it says so."""
    try:
        pages = await search.search(" ".join(evidence.question.split())[:LONGEST_QUERY], settings.results)
    except RetrievalError as error:
        return replace(evidence, missing=(*evidence.missing, f"the web was not searched: {error}")), False
    hits = web_hits(pages, settings)
    if not hits:
        return replace(evidence, notices=(*evidence.notices, "the web was searched, and nothing was found")), False
    return replace(evidence, hits=(*evidence.hits, *hits), method=f"{evidence.method} + web"), True


def web_hits(pages: Sequence[Document], settings: WebSettings) -> tuple[Hit, ...]:
    """Pages as evidence, a chunk each, cut to the characters that are to be taken; those without text are left out."""
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
            metadata={**page.metadata, "kind": _KIND},
        )
        step = Step(stage=f"web ({settings.engine})", score=RELEVANCE, rank=len(hits) + 1)
        hits.setdefault(name, Hit(chunk=chunk, score=RELEVANCE, why=(step,)))
    return tuple(hits.values())[: settings.results]


def is_address(url: str) -> bool:
    """Whether it is an address of a page that may be shown as a link."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
