"""Overviews: themes of all documents, statements about a topic by document or by date, comparisons of two documents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import groupby

from ragstone.chunk import sentences
from ragstone.core.access import both
from ragstone.core.answers import Turn
from ragstone.core.filters import Filter
from ragstone.core.naming import name_of
from ragstone.core.question import Question, Talk
from ragstone.core.records import Chunk
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.by_name import IS_FILE, ByName
from ragstone.engine.components import Components
from ragstone.engine.replied import Message, Replied, hits_of_chunks, hits_of_document
from ragstone.engine.search import Search
from ragstone.question import Context, read
from ragstone.question.talk import is_talk
from ragstone.respond.overview.comparison import compared
from ragstone.respond.overview.page import hits_of, rests_on
from ragstone.respond.overview.themes import Theme, overview
from ragstone.respond.overview.topic import Topic, digest, timeline

MOST_THEMES = 8
"""Number of themes to show, the largest first."""
LEAST_SHARE = 0.02
"""Minimum share of the chunks for a theme to be shown."""
READ_OF_THEME = 40
"""Chunks to read for the label of a theme, or of a document that is shown instead of one."""
TOPIC_CHUNKS = 30
"""Chunks to retrieve for a topic."""
FEW_DOCUMENTS = 5
"""Number of documents up to which each is shown instead of themes."""


class Overviews:
    """Overviews of one version of a knowledge base."""

    def __init__(self, version: Components, search: Search) -> None:
        self._version, self._search = version, search

    async def reply(
        self, question: Question, talk: Talk, where: Filter | None, request: Request, timings: Timings
    ) -> Replied | None:
        """Return the overview that a question requests; None if it requests none, or no document fits."""
        message = Message(
            question=question, talk=talk, language=self._version.settings.respond.language_for(talk.language)
        )
        match talk.kind:
            case "overview":
                with timings.stage("catalog"):
                    return await asyncio.to_thread(self._themes, message, where, request)
            case "comparison":
                with timings.stage("catalog"):
                    return await asyncio.to_thread(self._compared, message, where, request)
            case "timeline":
                return await self._of_topic(message, where, request, timings)
            case "summary" if talk.topic or talk.title:
                return await self._of_topic(message, where, request, timings)
            case _:
                return None

    # ------------------------------------------------------------ one document

    async def spoken_of(self, before: Sequence[Turn], where: Filter | None, request: Request, timings: Timings) -> str:
        """Return the id of the document that the last answer used; empty if that is not clear.

        The last question is searched again, because a conversation may come without its citations.
        """
        turns = [turn for turn in before if not is_talk(turn.question)]
        if not turns:
            return ""
        *earlier, last = turns
        question = read(last.question, Context(before=earlier))
        talk = question.talk
        if talk and talk.title and not talk.other:
            named = await asyncio.to_thread(ByName(self._version, where, request).named, talk.title)
            return named[0].document_id if len(named) == 1 else ""
        evidence = await self._search.in_conversation(question, earlier, where, request, timings)
        hits = (*evidence.hits, *evidence.tables)
        return rests_on(last.answer, [hit for hit in hits if not hit.chunk.is_outside])

    # ------------------------------------------------------------ two documents

    def _compared(self, message: Message, where: Filter | None, request: Request) -> Replied | None:
        """Return the comparison of two documents; None if the question does not name two."""
        by_name, talk = ByName(self._version, where, request), message.talk
        with self._version.catalog.snapshot():
            one, other = by_name.either(talk.title, talk.other, talk.language)
            if one is None or other is None or one.document_id == other.document_id:
                return None
            hits = [hits_of_document(self._version.catalog, document.document_id) for document in (one, other)]
        draft = compared(
            *hits,
            sentences=sentences,
            weigh=self._version.indexes.words().weigh,
            request=request,
            language=message.language,
        )
        return message.reply(draft, hits_of(draft, [*hits[0], *hits[1]])) if draft else None

    # ------------------------------------------------------------ one topic

    async def _of_topic(
        self, message: Message, where: Filter | None, request: Request, timings: Timings
    ) -> Replied | None:
        """Return the statements about a topic, by document or by date; None if there are none."""
        name = message.talk.topic or message.talk.title
        if message.talk.title:  # "Summarize menu.txt" is about a document
            named = await asyncio.to_thread(ByName(self._version, where, request).named, name)
            if named or message.talk.called or IS_FILE.search(name):
                return None
        evidence = await self._search.evidence(read(name), where, TOPIC_CHUNKS, request, timings)
        weigh = self._version.indexes.words().weigh
        topic = Topic(name, weigh, request)
        hits = topic.fitting(evidence.hits)
        if not hits:
            return None
        made = timeline if message.talk.kind == "timeline" else digest
        with timings.stage("overview"):
            draft = await asyncio.to_thread(
                made, topic, hits, sentences=sentences, weigh=weigh, request=request, language=message.language
            )
        if draft is None:
            return None
        cited = hits_of(draft, hits)
        return message.reply(draft, cited, missing=evidence.missing, method=evidence.method)

    # ------------------------------------------------------------ all documents

    def _themes(self, message: Message, where: Filter | None, request: Request) -> Replied | None:
        """Return the themes of the documents; a summary of each if they are few."""
        with self._version.catalog.snapshot():  # a document may become restricted at this moment
            found = ByName(self._version, where, request).listing(FEW_DOCUMENTS, order="newest")
            if found.total <= 1:
                return None
            if found.total <= FEW_DOCUMENTS:
                ids = {one.document_id: one for one in reversed(found.documents)}
                chunks = [*self._version.catalog.chunks_of([*ids]).values()]
                chunks.sort(key=lambda chunk: ([*ids].index(chunk.document_id), chunk.start))
                shown = [
                    Theme(hits=tuple(hits_of_chunks(_spread([*own]))), size=ids[id].chunks, title=name_of(ids[id]))
                    for id, own in groupby(chunks, key=lambda chunk: chunk.document_id)
                ]
                smaller = 0
            else:
                shown, smaller = self._clusters(both(request.allowed, where), request)
        if not shown:
            return None
        draft = overview(
            shown,
            smaller=smaller,
            sentences=sentences,
            weigh=self._version.indexes.words().weigh,
            request=request,
            language=message.language,
        )
        return message.reply(draft, hits_of(draft, [hit for theme in shown for hit in theme.hits]))

    def _clusters(self, allowed: Filter | None, request: Request) -> tuple[list[Theme], int]:
        """Return the largest themes of the chunks that match a filter, and the number of further ones."""
        themes = self._version.indexes.themes().of(allowed)
        if themes is None:
            return [], 0
        sizes = themes.sizes()
        least = LEAST_SHARE * sizes.sum()
        largest = [at for at in (-sizes).argsort(kind="stable").tolist() if sizes[at] >= least][:MOST_THEMES]
        shown = list[Theme]()
        for theme in largest:
            rows = themes.members(theme, READ_OF_THEME)
            chunks = self._version.catalog.chunks(rows)
            readable = [chunks[row] for row in rows if row in chunks and request.reader.may_read(chunks[row].metadata)]
            if readable:
                shown.append(Theme(hits=tuple(hits_of_chunks(readable)), size=int(sizes[theme])))
        return shown, int((sizes > 0).sum()) - len(shown)


def _spread(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return an even sample of a theme's chunks; all if they are few."""
    step = max(1, -(-len(chunks) // READ_OF_THEME))
    return [*chunks[::step]]
