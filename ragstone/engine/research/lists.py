"""Complete lists: all documents that fit, each decided and cited, with an estimate of how many fit in all.

If a table has all that a question names in its columns and values, its rows are listed instead.

What a question fixes by metadata, such as a year or a publisher, becomes a filter. If nothing else is asked, the
filter decides. Otherwise both legs of the search are read to the end, and each document is decided by its best
sentence.

Two searches that overlap much have missed little: with ``n`` and ``m`` documents that fit, ``k`` of them in both, about
(n + 1)(m + 1) / (k + 1) - 1 fit in all (Chapman 1951, "Some properties of the hypergeometric distribution with
applications to zoological sample censuses"). The legs find the same easy documents, so this is rather too low.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragstone import index
from ragstone.chunk import sentences
from ragstone.core.access import both
from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import And, Compare, Filter, In, Or
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.question import Comparison, Question
from ragstone.core.records import BOOKKEEPING, DATE_KEYS, MENTIONS, Chunk, Hit, Matches, Span, date_of
from ragstone.core.request import Request
from ragstone.core.research import Item, ItemList
from ragstone.core.timing import Timings
from ragstone.engine.by_name import ByName
from ragstone.engine.components import Components
from ragstone.engine.replied import hits_of_chunks
from ragstone.engine.search import Search
from ragstone.engine.whole_tables import rows_of
from ragstone.index.keyword.analyze import STEM
from ragstone.language.facts import alike_in_topic, beginning_in_topic
from ragstone.language.facts import words as words_of
from ragstone.language.talk import list_words
from ragstone.query import steps
from ragstone.question.wanted import WantedDocuments
from ragstone.respond.drafts import cite
from ragstone.respond.replies import opening
from ragstone.respond.tables.whole import EXACT, fitting_rows

BY_KEYWORDS, BY_VECTORS = 4000, 400
"""Chunks that each leg gives; fewer by keywords are all that have a word of the subject."""
MOST, PAGE = 10_000, 200
"""Documents that are listed, and that are read at once."""
FITS = 0.75
"""Share of the words of the subject, by how rare they are, that a sentence of a document that fits has, its title
included."""
ALL_OF, LEAST = 2, 0.66
"""Words of a short subject that must all be there, and least share of those of a longer one."""
SHARE_OF_WORD = 0.5
"""Least share of the letters of a word that a stem of all of it has; that of a part of a compound has fewer."""
SURE = 0.95
"""Probability that such a document fits."""
_ALIAS = re.compile(r"[(),;/]")
_LONGEST_VALUE, _MOST_VALUES = 80, 2000
_DATE = re.compile(r"(?:1[5-9]|20)\d\d(?:-\d\d.*)?")


@frozen
class Limits:
    """The filter that a question means, and the words that are left of its subject.

    ``kind`` names the documents, such as "letters", if a folder is called so, and ``of_kind`` are the ids of those that
    say by their folder, name or title that they are. Others fit only if they say so in their text.
    """

    where: Filter | None
    subject: str
    years: tuple[int, ...] = ()
    kind: str = ""
    of_kind: frozenset[str] = frozenset()


class Lists:
    """Lists documents of one version of a knowledge base."""

    def __init__(self, version: Components, where: Filter | None, request: Request) -> None:
        self._version, self._request, self._where = version, request, where
        self._allowed = both(request.allowed, where)

    def limits(self, wanted: WantedDocuments) -> Limits:
        """Return the metadata that a question fixes, as a filter, and the rest of its subject."""
        by_name = ByName(self._version, self._where, self._request)
        keys = sorted(self._version.catalog.metadata_keys(by_name.groups) - BOOKKEEPING - MENTIONS - {"id", "title"})
        subject, parts, years = wanted.subject, list[Filter](), wanted.years
        words = list_words(wanted.language)
        values = {key: [value for value, _ in by_name.common_values(key, _MOST_VALUES)] for key in keys}
        for key in keys:
            for value in sorted(values[key], key=len, reverse=True):
                if rest := _without_value(subject, value, words.origin):
                    parts.append(In(key=key, values=(value,)))
                    subject = rest.strip()
        dates = [key for key in keys if key in DATE_KEYS or _are_dates(values[key])]
        if years and dates:
            parts.append(Or(parts=tuple(_in_year(key, year) for key in dates for year in years)))
        elif years:
            subject, years = " ".join([subject, *map(str, years)]), ()
        kind, of_kind = self._kind(by_name, wanted.noun)
        subject = re.sub(rf"^\s*(?:{words.about}|{words.verbs})\s", " ", subject, flags=re.IGNORECASE)
        subject = re.sub(rf"\b(?:{words.parts})\b", " ", subject, flags=re.IGNORECASE)
        subject = " ".join(subject.split())
        is_empty = all(word.stop and not word.capitals for word in words_of(subject))
        if is_empty and kind:
            parts.append(In(key="id", values=tuple(sorted(of_kind))))
        where = And(parts=tuple(parts)) if len(parts) > 1 else parts[0] if parts else None
        return Limits(where=where, subject="" if is_empty else subject, years=years, kind=kind, of_kind=of_kind)

    async def listed(self, wanted: WantedDocuments, limits: Limits) -> tuple[ItemList, list[Hit]]:
        """Return the documents that fit, and the passages that are cited.

        Raises:
            RetrievalError: no leg of the search could be run.
        """
        shown = ", ".join(filter(None, (wanted.noun, limits.subject)))
        if not limits.subject:
            return await asyncio.to_thread(self._by_filter, shown, limits)
        allowed = both(self._allowed, limits.where)
        legs = await self._legs(limits.subject, wanted.language, allowed)
        return await asyncio.to_thread(self._decided, shown, limits, wanted.language, legs)

    async def rows(self, wanted: Comparison, question: Question) -> tuple[ItemList, list[Hit]] | None:
        """Return the rows of a table that a question wants listed, and their passages; None if no table has them.

        Raises:
            RetrievalError: no leg of the search could be run.
        """
        search, k = Search(self._version), self._version.settings.rank.top_k
        evidence = await search.evidence(question, self._where, k, self._request, Timings())
        tables = await asyncio.to_thread(rows_of, self._version, evidence, self._where, self._request)
        if (found := fitting_rows(wanted, tables)) is None:
            return None
        items = [
            replace(self._item(one.hit, one.row.span, EXACT, at), title=one.row.label)
            for at, one in enumerate(found.cells[:MOST], start=1)
        ]
        listed = ItemList(
            wanted=found.said,
            items=tuple(items),
            examined=found.examined,
            expected=len(found.cells),
            is_complete=len(items) == len(found.cells),
            are_rows=True,
        )
        return listed, list({one.hit.chunk.id: one.hit for one in found.cells}.values())

    # ------------------------------------------------------------ by metadata

    def _by_filter(self, shown: str, limits: Limits) -> tuple[ItemList, list[Hit]]:
        """Return the documents that the filter admits, `MOST` at most, each cited by its first words."""
        by_name = ByName(self._version, both(self._where, limits.where), self._request)
        read, total = self._summaries(by_name)
        summaries = [one for one in read if _is_of(date_of(one.metadata), limits.years)]
        chunks = self._version.catalog.first_chunks([one.document_id for one in summaries])
        hits = hits_of_chunks([chunks[one.document_id] for one in summaries if one.document_id in chunks])
        items = [self._item(hit, opening(hit), 1.0, at) for at, hit in enumerate(hits, start=1)]
        listed = ItemList(
            wanted=shown,
            items=tuple(items),
            examined=len(summaries),
            expected=len(items) + total - len(read),
            is_complete=total == len(read),
        )
        return listed, hits

    def _summaries(self, by_name: ByName) -> tuple[list[DocumentSummary], int]:
        """Return the first documents of a filter, and how many it has."""
        listing = self._version.catalog.listing(by_name.groups, "", "", min(PAGE, MOST), where=by_name.where)
        read, total = [*listing.documents], listing.total
        while listing.next and len(read) < MOST:
            listing = self._version.catalog.listing(
                by_name.groups, "", listing.next, min(PAGE, MOST - len(read)), where=by_name.where
            )
            read += listing.documents
        return read, max(total, len(read))

    # ------------------------------------------------------------ by subject

    async def _legs(self, subject: str, language: str, allowed: Filter | None) -> dict[str, Matches]:
        """Return the chunks that each leg finds for the subject, best first."""
        version, request = self._version, self._request
        terms = index.question_terms(version.indexes.analyzer(), subject, language)
        found = {"keywords": await version.indexes.keywords().search(terms, BY_KEYWORDS, allowed)}
        if version.has_embedder:
            vector = await version.vector_of(subject, request)
            found["vectors"] = await version.indexes.vectors().search(vector, BY_VECTORS, allowed)
        return found

    def _decided(
        self, shown: str, limits: Limits, language: str, legs: Mapping[str, Matches]
    ) -> tuple[ItemList, list[Hit]]:
        """Return the documents with a sentence about the subject, in the order of the legs."""
        catalog = self._version.catalog
        is_complete = len(legs["keywords"]) < BY_KEYWORDS
        rows = list(dict.fromkeys(row for matches in legs.values() for row in matches.rows.tolist()))
        chunks = catalog.chunks(rows)
        by_document = defaultdict[str, list[tuple[int, Chunk]]](list)
        for row in rows:
            if row in chunks and self._request.reader.may_read(chunks[row].metadata):
                by_document[chunks[row].document_id].append((row, chunks[row]))
        subject = _Subject(self._version, limits.subject, language, self._request)
        kind = f"{limits.kind} {limits.subject}"
        also = _Subject(self._version, kind, language, self._request) if limits.kind else subject
        items, hits = list[Item](), list[Hit]()
        for own in by_document.values():
            if not _is_of(date_of(own[0][1].metadata), limits.years):
                continue
            asked = subject if own[0][1].document_id in limits.of_kind else also
            share, hit, span = max(map(asked.best, (chunk for _, chunk in own)), key=lambda one: one[0])
            if share >= FITS and span:
                hits.append(hit)
                items.append(self._item(hit, span, SURE * share, len(items) + 1))
        fitting = {one.document_id for one in items}
        found_by = {
            leg: {chunks[row].document_id for row in matches.rows.tolist() if row in chunks} & fitting
            for leg, matches in legs.items()
        }
        listed = ItemList(
            wanted=shown,
            items=tuple(items),
            examined=len(by_document),
            expected=float(len(items)) if is_complete else max(float(len(items)), _chapman([*found_by.values()])),
            is_complete=is_complete,
        )
        return listed, hits

    def _item(self, hit: Hit, span: Span, probability: float, marker: int) -> Item:
        chunk = hit.chunk
        return Item(
            document_id=chunk.document_id,
            title=name_of(chunk),
            date=date_of(chunk.metadata),
            citation=cite(marker, hit, span),
            probability=round(probability, 4),
        )

    def _kind(self, by_name: ByName, noun: str) -> tuple[str, frozenset[str]]:
        """Return the word of a noun that names a folder, such as "letters", and the documents that say so.

        Letters may lie elsewhere, too: those whose name or title has the word in any form. Both are empty if no folder
        is called so.
        """
        kind = noun.casefold().rpartition(" ")[2]
        beginning = beginning_in_topic(kind)
        found = by_name.listing(MOST, wanted=beginning).documents if kind else ()
        folders = {name for one in found for name in one.document_id.casefold().split("/")[:-1]}
        if not any(alike_in_topic(kind, name) for name in folders):
            return "", frozenset()
        said = {one.document_id: re.findall(r"[^\W_]+", f"{one.document_id} {one.title}".casefold()) for one in found}
        return kind, frozenset(id for id, names in said.items() if any(alike_in_topic(kind, name) for name in names))


class _Subject:
    """The words that documents must be about, and how much of them a passage has."""

    def __init__(self, version: Components, text: str, language: str, request: Request) -> None:
        self._analyzer, self._language = version.indexes.analyzer(), language
        names = [name for one in steps.names(text) if len(name := steps.words(one)) > 1]
        self._names = [name for name in names if not all(map(str.isdigit, name))]
        """Names of several words, which must stand together."""
        parts = {word for name in self._names for word in name}
        content = (word for word in words_of(text) if word.lower not in parts and (word.capitals or not word.stop))
        self._words = list(dict.fromkeys(word.lower for word in content))
        weigh = version.indexes.words().weigh
        rare = [max(weigh(name, request)) for name in self._names] + (
            weigh(self._words, request) if self._words else []
        )
        self._weights = [weight or 1.0 for weight in rare]
        self._terms = [frozenset(self._stems(word)) for word in self._words]

    def _stems(self, word: str) -> Iterator[str]:
        """Yield the terms of a word that stand for all of it, and not for a part of a compound."""
        for term in self._analyzer(word, self._language):
            stem = term.removeprefix(STEM)
            if stem != term and len(stem) >= SHARE_OF_WORD * len(word) and stem[:2] == word[:2]:
                yield term

    def best(self, chunk: Chunk) -> tuple[float, Hit, Span | None]:
        """Return the largest share of the subject, 0 to 1, in a sentence with the title, and the sentence."""
        hit = Hit(chunk=chunk, score=0.0)
        title = self._has(f"{chunk.title} {chunk.heading}")
        whole = self._share([a or b for a, b in zip(title, self._has(chunk.text), strict=True)])
        if whole < FITS:
            return 0.0, hit, None
        best, found = 0.0, None
        for span in sentences(chunk.text):
            own = self._has(span.of(chunk.text))
            share = self._share([a or b for a, b in zip(title, own, strict=True)]) + 0.01 * self._share(own)
            if share > best:
                best, found = share, span
        return min(best, 1.0), hit, found

    def _share(self, has: Sequence[bool]) -> float:
        """Return the share of the subject, 0 to 1, that these of its words are; 0 if one of a few is missing."""
        if sum(has) < max(min(ALL_OF, len(has)), LEAST * len(has)):
            return 0.0
        return sum(weight for there, weight in zip(has, self._weights, strict=True) if there) / sum(self._weights)

    def _has(self, text: str) -> list[bool]:
        said, terms = {word.lower for word in words_of(text)}, frozenset(self._analyzer(text, self._language))
        mentions = steps.Mentions(text) if self._names else None
        names = [mentions is not None and mentions.has(name) for name in self._names]
        return names + [
            word in said or bool(own & terms) or any(alike_in_topic(word, other) for other in said)
            for word, own in zip(self._words, self._terms, strict=True)
        ]


def _without_value(subject: str, value: str, origins: str) -> str:
    """Return a subject without a value of metadata and the word before it; empty if it does not name the value."""
    if not 1 < len(value) <= _LONGEST_VALUE or value.isdigit():
        return ""
    for alias in dict.fromkeys((value, *map(str.strip, _ALIAS.split(value)))):
        named = r"\W+".join(map(re.escape, re.findall(r"\w+", alias)))
        if len(alias) > 1 and named:
            rest, count = re.subn(
                rf"(?:^|\s)(?:{origins})\s+(?:the\s+)?{named}(?!\w)\W*", " ", subject, flags=re.IGNORECASE
            )
            if count:
                return f" {rest}"
    return ""


def _are_dates(values: Sequence[str]) -> bool:
    return bool(values) and all(_DATE.fullmatch(value) for value in values[:50])


def _in_year(key: str, year: int) -> Filter:
    if key == "year":
        return Or(parts=(Compare(key=key, op="=", value=year), Compare(key=key, op="=", value=str(year))))
    begins, ends = Compare(key=key, op=">=", value=str(year)), Compare(key=key, op="<", value=str(year + 1))
    return And(parts=(begins, ends))


def _is_of(date: str, years: Sequence[int]) -> bool:
    """Return whether a date is in one of some years; a document without a known date key was admitted by the filter."""
    return not years or not date or int(date[:4]) in years


def _chapman(found_by: Sequence[set[str]]) -> float:
    """Return the estimated number of all documents that fit, from those that two searches found."""
    if len(found_by) < 2:
        return float(len(found_by[0])) if found_by else 0.0
    first, second = found_by
    return (len(first) + 1) * (len(second) + 1) / (len(first & second) + 1) - 1
