"""Replies without a search: courtesies, questions about the documents as such, and summaries of one document."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.chunk import Outlined, sentences
from ragstone.core.access import both
from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import And, Compare, Filter, In, Or
from ragstone.core.naming import name_of
from ragstone.core.question import Question, Talk
from ragstone.core.records import DATE_KEYS, Evidence, Hit, date_of
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.by_file import files_of
from ragstone.engine.by_name import IS_FILE, ByName, titles
from ragstone.engine.components import Components
from ragstone.engine.replied import Message, Replied, hits_of_chunks, hits_of_document
from ragstone.engine.search import Search
from ragstone.language import replies
from ragstone.question import read
from ragstone.respond.overview.outline import outline
from ragstone.respond.overview.page import hits_of
from ragstone.respond.overview.parts import Section
from ragstone.respond.overview.topic import Topic
from ragstone.respond.replies import (
    asked_back,
    asked_for_more,
    authored,
    counted,
    counted_files,
    courtesy,
    introduction,
    listed,
    plain_reply,
    tallied,
)

SHOWN = 10
"""Number of documents in a list."""
SEARCHED = 30
"""Chunks to retrieve for the documents about a topic."""
MOST_FORMATS = 1000
"""Formats that documents may have."""
MOST_AUTHORS = 10_000
"""Maximum number of authors to search for a name."""
MOST_DATED = 1000
"""Documents of a format among which the newest or oldest by date is chosen."""
MOST_VALUES = 20
"""Number of authors or formats to show."""
LEAST_CHOICES, MOST_CHOICES = 2, 4
"""Number of documents or sections to offer as choices."""
MOST_WORDS = 2
"""Maximum number of content words of an ambiguous question."""
STEM = 5
"""Number of letters that identify another form of a word."""
AUTHOR_KEYS = ("author", "authors")
FORMATS = {
    "word": ("docx", "doc"),
    "excel": ("xlsx", "xls"),
    "spreadsheet": ("xlsx", "xls", "ods"),
    "powerpoint": ("pptx", "ppt"),
    "presentation": ("pptx", "ppt", "odp"),
    "text": ("txt", "text"),
    "markdown": ("md", "markdown"),
    "html": ("html", "web"),
    "web": ("html", "web"),
    "email": ("eml", "mail", "email", "msg"),
}
"""Names of formats, and their kinds of documents."""


class Talking:
    """Replies from the catalog of one version of a knowledge base."""

    def __init__(self, version: Components, search: Search) -> None:
        self._version, self._search = version, search

    async def about(
        self, question: Question, talk: Talk, where: Filter | None, request: Request, timings: Timings
    ) -> Replied | None:
        """Return the documents about the topic of a question; None if there is none."""
        message = Message(
            question=question, talk=talk, language=self._version.settings.respond.language_for(talk.language)
        )
        if talk.format:
            where = both(where, _of_format(talk.format))
        evidence = await self._search.evidence(read(talk.topic), where, SEARCHED, request, timings)
        best = dict[str, Hit]()
        for hit in Topic(talk.topic, self._version.indexes.words().weigh, request).fitting(evidence.hits):
            best.setdefault(hit.chunk.document_id, hit)
        if not best:
            return None
        lead = replies(message.language).topic.format(topic=talk.topic)
        hits = list(best.values())[:SHOWN]
        return message.reply(listed(lead, hits), hits, missing=evidence.missing, method=evidence.method)

    def reply(
        self,
        question: Question,
        talk: Talk,
        where: Filter | None,
        request: Request,
        *,
        may_ask: bool,
        cited: str = "",
    ) -> Replied | None:
        """Return the reply to talk; None if it turns out to be a question for a search.

        Args:
            question: as it was read.
            talk: the kind of talk.
            where: filter on the documents.
            request: who asks.
            may_ask: whether a clarification is allowed.
            cited: id of the document of the previous answer, which "it" refers to; empty if there is none.
        """
        language = self._version.settings.respond.language_for(talk.language)
        by_name = ByName(self._version, where, request)
        message = Message(question=question, talk=talk, language=language)
        with self._version.catalog.snapshot():
            match talk.kind:
                case "greeting" | "thanks" | "goodbye":
                    return message.reply(courtesy(talk.kind, language))
                case "help":
                    files = files_of(self._version, by_name, MOST_CHOICES)
                    return message.reply(introduction(files.count, files.names, language))
                case "unclear":
                    newest = by_name.listing(MOST_CHOICES, order="newest")
                    if not may_ask or not newest.total:
                        return None
                    return message.reply(asked_for_more(titles(newest.documents), language))
                case "collection":
                    return self._collection(message, by_name, where, request)
                case "document" | "summary" | "overview":  # of one document, an overview is its summary
                    return self._summary(message, by_name, request, may_ask=may_ask, cited=cited)
                case "timeline" | "comparison":
                    return None

    async def clarification(self, evidence: Evidence, request: Request) -> Replied | None:
        """Return a clarification, if a few keywords fit several documents or sections, and none is a sure answer."""
        choices = _choices(evidence) if evidence.question.keyword_like else []
        if len(choices) < LEAST_CHOICES:
            return None
        models, own = self._version.models, self._version.settings.respond
        if await models.answerer().answerability(evidence, request) >= own.abstain_below:
            return None
        language = own.language_for(evidence.question.language)
        draft = asked_back(evidence.question.asked, choices, language)
        return Replied(evidence=evidence, draft=draft)

    # ------------------------------------------------------------ all documents

    def _collection(self, message: Message, by_name: ByName, where: Filter | None, request: Request) -> Replied | None:
        talk, language = message.talk, message.language
        texts = replies(language)
        if by_name.last() is None:
            return message.reply(plain_reply(texts.unmatched if where else texts.empty))
        match talk.fact:
            case "author":
                return self._author(message, by_name)
            case "authors" | "formats":
                keys = AUTHOR_KEYS if talk.fact == "authors" else ("kind",)
                lead = texts.authors if talk.fact == "authors" else texts.formats
                values = [one for key in keys for one in by_name.common_values(key, MOST_VALUES)]
                return message.reply(tallied(lead, values, language))
            case "newest" | "oldest" if not talk.format:
                listing = by_name.listing(1, order=talk.fact).documents
                return self._listed(message, texts.newest if talk.fact == "newest" else texts.oldest, listing)
            case _:
                pass
        if talk.title:
            return self._of_kind(message, by_name)
        narrowed = self._narrowed(talk, by_name)
        if talk.fact == "count" and talk.format and narrowed == _of_format(talk.format):
            known = dict(by_name.common_values("kind", MOST_FORMATS))  # the index of values knows how many
            if (total := sum(known.get(kind, 0) for kind in _kinds(talk.format))) > MOST_DATED:
                return message.reply(plain_reply(counted(total, language, selected=True)))
        if narrowed is not None:
            by_name = ByName(self._version, both(where, narrowed), request)
        if talk.fact in ("newest", "oldest"):
            listing = by_name.listing(MOST_DATED, order=talk.fact).documents
            if dated := [one for one in listing if date_of(one.metadata)]:
                choose, lead = (max, texts.dated_newest) if talk.fact == "newest" else (min, texts.dated_oldest)
                return self._listed(message, lead, [choose(dated, key=lambda one: date_of(one.metadata))])
        files = files_of(self._version, by_name, 0 if talk.fact == "count" else SHOWN)
        if not files.count:
            is_selected = narrowed is not None and not talk.author
            return message.reply(plain_reply(texts.unmatched)) if is_selected else None
        hits = self._hits(files.newest)
        lead = counted_files(files.count, files.rows, len(hits), language, selected=narrowed is not None)
        if talk.fact == "count":
            return message.reply(plain_reply(lead))
        return message.reply(listed(lead, hits, files.names if len(hits) == len(files.names) else ()), hits)

    def _of_kind(self, message: Message, by_name: ByName) -> Replied | None:
        """Return the documents of a kind, such as "minutes of meetings"; None if fewer than two are called so."""
        documents = by_name.of_kind(message.talk.title)
        if len(documents) < LEAST_CHOICES:
            return None
        return self._listed(message, counted(len(documents), message.language, selected=True), documents[:SHOWN])

    def _narrowed(self, talk: Talk, by_name: ByName) -> Filter | None:
        """Return the filter on what a question names of author, year, language and format; None if it names nothing."""
        keys, parts = self._version.catalog.metadata_keys(by_name.groups), list[Filter]()
        if talk.author:
            wanted, named = talk.author.casefold(), list[Filter]()
            for key in keys.intersection(AUTHOR_KEYS):
                known = by_name.common_values(key, MOST_AUTHORS)
                named.append(In(key=key, values=tuple(name for name, _ in known if wanted in name.casefold())))
            parts.append(Or(parts=tuple(named)))
        if talk.year:
            after = str(int(talk.year) + 1)
            dated: list[Filter] = [
                And(parts=(Compare(key=key, op=">=", value=talk.year), Compare(key=key, op="<", value=after)))
                for key in sorted(keys.intersection(DATE_KEYS))
            ]
            parts.append(Or(parts=(*dated, Compare(key="year", op="=", value=int(talk.year)))))
        if talk.written_in:
            parts.append(Compare(key="language", op="=", value=talk.written_in))
        if talk.format:
            parts.append(_of_format(talk.format))
        return And(parts=tuple(parts)) if len(parts) > 1 else next(iter(parts), None)

    def _author(self, message: Message, by_name: ByName) -> Replied | None:
        """Return the author of the document that a question names; None if it asks for the author of something else.

        An article about a song without an author says nothing about the author of the song.
        """
        is_document = bool(message.talk.called) or IS_FILE.search(message.talk.title) is not None
        documents = by_name.named(message.talk.title) if is_document else by_name.called(message.talk.title)
        if len(documents) != 1:
            return None
        about = documents[0].metadata
        # Elsewhere "from" may be anything, as a column of a timetable.
        keys = (*AUTHOR_KEYS, "from") if about.get("kind") in FORMATS["email"] else AUTHOR_KEYS
        named = [about.get(key, "") for key in keys]
        names = [str(one) for value in named for one in (value if isinstance(value, tuple) else (value,)) if one]
        if not names and not is_document:
            return None
        hits = self._hits(documents)
        return message.reply(authored(hits[0], ", ".join(names), message.language), hits) if hits else None

    def _listed(self, message: Message, lead: str, documents: Sequence[DocumentSummary]) -> Replied:
        hits = self._hits(documents)
        return message.reply(listed(lead, hits), hits)

    def _hits(self, documents: Sequence[DocumentSummary]) -> list[Hit]:
        """Return the first chunk of each document."""
        chunks = self._version.catalog.first_chunks([one.document_id for one in documents])
        return hits_of_chunks([chunks[one.document_id] for one in documents if one.document_id in chunks])

    # ------------------------------------------------------------ one document

    def _summary(
        self, message: Message, by_name: ByName, request: Request, *, may_ask: bool, cited: str
    ) -> Replied | None:
        """Return the outline of the named document; None if no document has the name in the question."""
        if message.talk.topic:  # a question about a topic without any document
            return None
        title, meant = message.talk.title, "the last one added"
        if not title:
            spoken_of = by_name.of_id(cited) if cited and not message.talk.added else None
            meant = "the one of the last answer" if spoken_of else meant
            documents = [one for one in [spoken_of or by_name.last()] if one]
        elif message.talk.kind == "summary" or (
            message.talk.called and not title.isdigit()
        ):  # "What does article 5 say?"
            documents = by_name.named(title)
        else:
            documents = by_name.called(title)
        if not documents:
            texts = replies(message.language)
            return None if title else message.reply(plain_reply(texts.unmatched if by_name.where else texts.empty))
        if len(documents) > 1:
            if len(documents) > MOST_CHOICES or not may_ask:
                return None
            return message.reply(asked_back(message.question.asked, titles(documents), message.language))
        (document_summary,) = documents
        catalog = self._version.catalog
        document = catalog.document(document_summary.document_id)
        sections = [
            Section(title=section.title, start=section.start, level=section.level)
            for section in Outlined.of(document).sections
        ]
        hits = hits_of_document(catalog, document_summary.document_id)
        draft = outline(
            sections,
            hits,
            title=name_of(document_summary),
            sentences=sentences,
            weigh=self._version.indexes.words().weigh,
            request=request,
            language=message.language,
        )
        notice = () if title or by_name.listing(1).total == 1 else (f"read as: {name_of(document_summary)}, {meant}",)
        return message.reply(draft, hits_of(draft, hits), notice)


def _of_format(name: str) -> Filter:
    """Return the filter on documents of a format."""
    return In(key="kind", values=_kinds(name))


def _kinds(format: str) -> tuple[str, ...]:
    return FORMATS.get(format, (format,))


def _choices(evidence: Evidence) -> list[str]:
    """Return the titles of the documents that have all content words of a short question, or else their sections."""
    wanted = evidence.question.keywords
    if not 0 < len(wanted) <= MOST_WORDS or len(evidence.question.text.split()) > 2 * MOST_WORDS:
        return []
    stems = [word[:STEM] for word in wanted]
    fitting = [
        hit.chunk
        for hit in evidence.hits
        if not hit.chunk.is_outside and all(stem in f"{hit.chunk.title} {hit.chunk.headed}".lower() for stem in stems)
    ]
    named = dict.fromkeys(chunk.title for chunk in fitting if chunk.title)
    if len(named) < LEAST_CHOICES:
        named = dict.fromkeys(chunk.heading for chunk in fitting if chunk.heading)
    return list(named)[:MOST_CHOICES]
