"""The web and tools, for questions that the stored documents do not answer: when they are asked, and what for.

What they return is evidence for one question. It is marked (`Chunk.source_type`) and never stored. The address of a
page is shown but never fetched; the service sends the text.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from ragstone.core.access import READERS, Reader
from ragstone.core.answers import Adequacy
from ragstone.core.errors import RetrievalError
from ragstone.core.frozen import frozen
from ragstone.core.protocols import OutsideSearch
from ragstone.core.question import Question
from ragstone.core.records import TOOL, WEB, Chunk, Document, Evidence, Hit, Step
from ragstone.core.request import Request
from ragstone.settings.search import QuerySettings, ToolSettings, WebSettings
from ragstone.settings.services import ServiceSettings

RELEVANCE = 0.8
"""Score of everything. Services give no scores, or scores that cannot be compared with those of chunks."""
MIN_CONFIDENCE = 5.0
"""Judge's rating of the evidence, out of 10, below which the web and tools are asked."""
MAX_QUERY = 400
"""Characters of a question that are sent."""


@frozen
class Outside:
    """What can be asked outside the stored documents.

    ``name`` is the engine of the web search, or the name of the tool; ``about`` says what the tool finds. At most
    ``results`` texts are used, and of each the first ``characters``. A model may choose the words for it if
    ``may_be_planned``. Only readers in one of its ``groups`` may use it; everyone if there are none.
    """

    type: Literal["web", "tool"]
    name: str
    search: OutsideSearch
    results: int
    characters: int
    about: str = ""
    may_be_planned: bool = False
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "the web" if self.type == "web" else f"the tool {self.name}"

    def may_be_used(self, reader: Reader) -> bool:
        """Return whether this reader may use it."""
        return not self.groups or reader.may_read({READERS: self.groups})

    async def hits(self, text: str, request: Request) -> tuple[Hit, ...]:
        """Return what it finds for some words, as hits of one chunk each.

        Raises:
            RetrievalError: it cannot be reached, or refuses.
        """
        found = await self.search.search(" ".join(text.split())[:MAX_QUERY], self.results, request)
        return outside_hits(found, self)


def build_outside(settings: QuerySettings, services: ServiceSettings) -> tuple[Outside, ...]:
    """Build the tools and the web search that the settings name.

    Raises:
        MissingExtra: there are tools, and the package that calls them is not installed.
        SettingsError: a key or an address is missing.
    """
    tools = (_tool(name, own, services) for name, own in settings.tools.items())
    return (*tools, *_web(settings.web, services))


def _tool(name: str, own: ToolSettings, services: ServiceSettings) -> Outside:
    from ragstone.query.mcp_client import McpTool

    return Outside(
        type="tool",
        name=name,
        search=McpTool(name, own, services),
        results=own.results,
        characters=own.characters,
        about=own.about,
        may_be_planned=own.words == "planned",
        groups=own.groups,
    )


def _web(settings: WebSettings, services: ServiceSettings) -> tuple[Outside, ...]:
    match settings.engine:
        case "none":
            return ()
        case "exa":
            from ragstone.query.web_services import ExaSearch

            search = ExaSearch(services, characters=settings.characters)
        case "searxng":
            from ragstone.query.web_services import SearxngSearch

            search = SearxngSearch(services, characters=settings.characters)
    name, results, characters = settings.engine, settings.results, settings.characters
    return (Outside(type="web", name=name, search=search, results=results, characters=characters),)


def why_search(
    adequacy: Adequacy | None, answerability: float, question: Question, threshold: float
) -> tuple[str, ...]:
    """Return every reason to search outside the documents, worded to follow "because"; empty if there is none.

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


async def with_outside(
    evidence: Evidence, sources: Sequence[Outside], request: Request
) -> tuple[Evidence, tuple[Outside, ...]]:
    """Add below the evidence what these find; also return those that found something. A failure is noted in it."""
    text = evidence.question.text
    asked = (one.hits(text, request) for one in sources)
    useful = list[Outside]()
    for one, found in zip(sources, await asyncio.gather(*asked, return_exceptions=True), strict=True):
        name = str(one).capitalize()
        if isinstance(found, RetrievalError):
            evidence = replace(evidence, missing=(*evidence.missing, f"{name} was not searched: {found}"))
        elif isinstance(found, BaseException):
            raise found
        elif found:
            useful.append(one)
            evidence = replace(evidence, hits=(*evidence.hits, *found))
        else:
            evidence = replace(evidence, notices=(*evidence.notices, f"{name} was searched, but nothing was found."))
    return evidence, tuple(useful)


def outside_hits(found: Sequence[Document], source: Outside) -> tuple[Hit, ...]:
    """Return texts as hits of one chunk each, cut to the length that is allowed.

    Texts without words and web pages without an address are left out.
    """
    prefix = WEB if source.type == "web" else TOOL
    hits: dict[str, Hit] = {}
    for one in found:
        text, url = one.text[: source.characters].strip(), one.url if is_address(one.url) else ""
        if not text or not (url or source.type == "tool"):
            continue
        known_by = url if source.type == "web" else f"{source.name}\n{url}\n{text}"
        name = f"{prefix}{hashlib.sha256(known_by.encode()).hexdigest()[:16]}"
        readers = {READERS: source.groups} if source.groups else {}
        chunk = Chunk(
            id=f"{name}-0",
            document_id=name,
            index=0,
            total=1,
            start=0,
            end=len(text),
            text=text,
            title=one.title or url or source.name,
            url=url,
            metadata={**one.metadata, **readers, "kind": source.type},
        )
        step = Step(stage=f"{source.type} ({source.name})", score=RELEVANCE, rank=len(hits) + 1)
        hits.setdefault(name, Hit(chunk=chunk, score=RELEVANCE, why=(step,)))
    return tuple(hits.values())[: source.results]


def is_address(url: str) -> bool:
    """Return whether this is a web address that may be shown as a link."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
