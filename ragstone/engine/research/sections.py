"""The sections of a report: below the answer, what each document says, what older versions say, and what was not found.

With a language model each section is written from the passages of one document, so that a prompt never holds more than
the answer of a question does. Without one, or when the budget ends, the passages are quoted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from ragstone.chunk import sentences
from ragstone.core.answers import Draft, Turn
from ragstone.core.editions import VERSION_OF
from ragstone.core.naming import name_of
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.engine.cited import refuse_misquotes
from ragstone.engine.components import Components
from ragstone.engine.drafting import Drafting
from ragstone.engine.finding import Checked
from ragstone.engine.passages import with_passages
from ragstone.engine.research.notes import Notes
from ragstone.engine.research.spending import Spending
from ragstone.language import phrases
from ragstone.respond.overview.page import Group, Labelled, page
from ragstone.respond.overview.telling import Telling
from ragstone.respond.overview.topic import Topic
from ragstone.respond.report import Section, with_sections

SECTIONS, QUOTES = 6, 4
"""Documents that have a section, and quotes in it."""


class Sections:
    """Adds sections to an answer, from the notes of one question."""

    def __init__(self, version: Components, spending: Spending, request: Request, before: Sequence[Turn]) -> None:
        self._version, self._spending, self._request, self._before = version, spending, request, before

    async def added(self, draft: Draft, notes: Notes, checked: Checked) -> Draft:
        """Return an answer with the sections of its question below it.

        Raises:
            ResponseError: a quote is not what its document says.
        """
        version, question = self._version, notes.question
        language = version.settings.respond.language_for(checked.evidence.question.language)
        topic = Topic(question.text, version.indexes.words().weigh, self._request)
        sections = list[Section]()
        fitting = {hit.chunk.id for hit in (*topic.fitting(notes.ranked()), *(hit for hit, _ in notes.together()))}
        told = [hit for hit in notes.ranked() if hit.chunk.id in fitting]
        older = _older_of(told, checked.evidence.versions, _documents(notes.hits))
        for own in _by_document(told):
            sections.append(Section(heading=name_of(own[0].chunk), draft=await self._section(own, topic, checked)))
        if older:
            texts = phrases(language)
            sections.append(Section(heading=texts.older, draft=await self._quoted(older, topic)))
        whole = with_sections(draft, [one for one in sections if one.draft.text], notes.unknown(), language)
        read = (*notes.hits, *checked.evidence.versions)
        refuse_misquotes(
            whole.citations, replace(checked.evidence, further=(), tables=(*checked.evidence.tables, *read))
        )
        return whole

    async def _section(self, hits: Sequence[Hit], topic: Topic, checked: Checked) -> Draft:
        """Return what one document says: written by the model while the budget lasts, else quoted."""
        if self._version.models.chat() and self._spending.may_write() and not self._spending.is_over():
            evidence = replace(
                checked.evidence, hits=tuple(hits), tables=(), versions=(), further=(), rows=(), steps=()
            )
            evidence = await asyncio.to_thread(with_passages, self._version, evidence)
            drafting = Drafting(self._version)
            async with aclosing(
                drafting.drafted(replace(checked, evidence=evidence), self._before, self._request)
            ) as parts:
                async for part in parts:
                    if isinstance(part, Draft) and not part.abstained and not part.failed:
                        return part
        return await self._quoted(hits, topic)

    async def _quoted(self, hits: Sequence[Hit], topic: Topic) -> Draft:
        return await asyncio.to_thread(self._quotes, hits, topic)

    def _quotes(self, hits: Sequence[Hit], topic: Topic) -> Draft:
        """Return the sentences that tell most of the topic, in reading order."""
        telling = Telling(
            topic.telling(hits, sentences), self._version.indexes.words().weigh, self._request, topic.text
        )
        chosen = sorted(telling.chosen(QUOTES), key=lambda one: (one.hit.chunk.document_id, one.stands[0]))
        return page("", [Group(heading="", lines=tuple((Labelled(quote=one),) for one in chosen))])


def _older_of(told: Sequence[Hit], versions: Sequence[Hit], read: set[str]) -> list[Hit]:
    """Return the passages of other versions of what is told, without those of documents that were read."""
    families = {hit.chunk.metadata.get(VERSION_OF) for hit in told} - {None}
    others = (hit for hit in versions if hit.chunk.document_id not in read)
    return [hit for hit in others if hit.chunk.metadata.get(VERSION_OF) in families]


def _documents(hits: Sequence[Hit]) -> set[str]:
    return {hit.chunk.document_id for hit in hits}


def _by_document(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return the passages of the first documents, best document first."""
    found = dict[str, list[Hit]]()
    for hit in hits:
        found.setdefault(hit.chunk.document_id, []).append(hit)
    return [*found.values()][:SECTIONS]
