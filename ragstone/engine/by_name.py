"""Documents that a question names: by a title, the name of a file, or as "this file"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.access import both
from ragstone.core.catalog import FIELDS, DocumentSummary, Listing, ListingOrder
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.naming import file_name, name_of
from ragstone.core.question import Question, Requirement
from ragstone.core.request import Request
from ragstone.core.words import Word
from ragstone.engine.components import Components
from ragstone.language.facts import STEM, alike, words
from ragstone.question import read_again
from ragstone.question.named import NamedDocument, dated_names, named_documents, naming_words, without_name

MAX_COMPARED = 200
"""Maximum number of documents with a word of a name whose titles are compared with the name."""
MOST_OF_KIND = 1000
"""Maximum number of documents among which those of a kind are chosen."""
MOST_MEANT = 5
"""Documents to which a name may limit a search; a name that more documents have is ignored."""
IS_FILE = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{1,4}$")
"""The end of a file's name."""
_WORD = re.compile(r"\w+")


@frozen
class Meant:
    """The documents to which a question limits the search, if any, and the question to ask of them."""

    documents: tuple[DocumentSummary, ...]
    question: Question


class ByName:
    """Finds documents by their names, among those that the reader may read and that match a filter."""

    def __init__(self, version: Components, where: Filter | None, request: Request) -> None:
        self._version, self._request, self.where = version, request, where
        reader = request.reader
        self.groups = reader.names
        # Only the owner sees the paths of sources on this machine.
        self._fields = FIELDS if reader.is_owner else tuple(name for name in FIELDS if name != "source")

    def within(self, where: Filter) -> ByName:
        """Return the same, limited to documents that also match another filter."""
        return ByName(self._version, both(self.where, where), self._request)

    def listing(self, limit: int, *, wanted: str = "", order: ListingOrder = "id", exactly: bool = False) -> Listing:
        """Return the documents with a text in their title, id, address or source; with ``exactly``, equal to it."""
        fields = ("id", "title") if exactly else self._fields
        return self._version.catalog.listing(
            self.groups, wanted, "", limit, fields=fields, where=self.where, order=order, exactly=exactly
        )

    def common_values(self, key: str, limit: int) -> list[tuple[str, int]]:
        """Return the commonest texts that these documents have under a metadata key, with their numbers."""
        return self._version.catalog.common_values(self.groups, key, limit, where=self.where)

    def called(self, name: str) -> list[DocumentSummary]:
        """Return the documents of this title or file name, in any case."""
        return list(self.listing(MAX_COMPARED, wanted=name, exactly=True).documents)

    def named(self, name: str) -> list[DocumentSummary]:
        """Return the documents of this title or file name; if there is none, those whose titles have all its words."""
        asked = _words(name)
        if (exactly := self.called(name)) or not asked:
            return exactly
        rarest = max(asked, key=len)
        found = self.listing(MAX_COMPARED, wanted=rarest).documents
        called = [one for one in found if _words(one.title) == asked]  # it differs in punctuation alone
        return called or [one for one in found if asked <= _words(f"{one.title} {file_name(one.document_id)}")]

    def either(self, name: str, other: str, language: str) -> tuple[DocumentSummary | None, DocumentSummary | None]:
        """Return the documents of two names that are set side by side: "the 2022 and the 2023 annual report".

        Args:
            name: the first name, which may lack what both have in common.
            other: the second name.
            language: of the question; its words for documents and its articles name nothing.
        """
        first, second = naming_words(name, language), naming_words(other, language)
        common = [word for word in second if not word.isdigit()] if all(map(str.isdigit, first)) else []
        document = self.only(name, [*first, *common]) or self.only(name, first)
        return document, self.only(other, second)

    def only(self, name: str, words: Sequence[str]) -> DocumentSummary | None:
        """Return the document of a name, or else the only one whose title or file name has all its words; else None.

        A single word names no document if it is a small part of the title: cats are not "Why cats purr at night".
        """
        documents = self.called(name) or (self.named(" ".join(words)) if words else [])
        if len(documents) != 1:
            return None
        is_word = len(words) == 1 and not words[0].isdigit() and not IS_FILE.search(name)
        return None if is_word and len(naming_words(name_of(documents[0]))) > 2 else documents[0]

    def meant_in(self, question: Question) -> Meant:
        """Return the few documents that a question names, and what it asks of them."""
        meant, names = dict[str, DocumentSummary](), list[NamedDocument]()
        for named_document in named_documents(question.wording.typed, question.language):
            found = self.named(named_document.name) if named_document.described else self.called(named_document.name)
            if 0 < len(found) <= MOST_MEANT:
                meant |= {document.document_id: document for document in found}
                names.append(named_document)
        asked = without_phrase(question, names[0].phrase) if len(names) == 1 else question
        return Meant(documents=tuple(meant.values()), question=asked)

    def dated(self, question: Question) -> Meant:
        """Return the few documents that a question names by a word and a month or quarter of their titles.

        If documents of this kind have such dates, and none has the one asked for, a passage must be about this month:
        what was decided in July does not stand in the minutes of May, though they say when the next meeting is.
        """
        names = [*dated_names(question)]
        for name in names:
            found = self.named(name.text) or self._with_all(name.words, question.text)
            if 0 < len(found) <= MOST_MEANT:
                return Meant(documents=tuple(found), question=question)
        if any(name.sure and self._have_months(name.beside, question.text) for name in names):
            question = replace(question, requirements=tuple(map(_of_month, question.requirements)))
        return Meant(documents=(), question=question)

    def _have_months(self, kind: Sequence[Word], text: str) -> bool:
        """Return whether several documents of a kind, in words of a text, name a month in their titles or paths."""
        months = (any(map(_is_month, words(_name_and_path(one)))) for one in self._with_all(kind, text))
        return sum(months) > 1

    def of_kind(self, kind: str) -> list[DocumentSummary]:
        """Return the documents whose title or path has each content word of a kind in any form: "minutes of meetings".

        Rows of tables are left out, because their names are those of things.
        """
        return self._with_all(words(kind), kind)

    def _with_all(self, some: Sequence[Word], text: str) -> list[DocumentSummary]:
        """Return the documents whose title or path has all content words of these, which stand in a text."""
        wanted = [word for word in some if not word.stop]
        named = [word for word in wanted if not word.value]
        if not named:
            return []
        rarest = max(named, key=lambda word: len(word.lower)).span.of(text)
        listed = self.listing(MOST_OF_KIND, wanted=rarest[:STEM], order="newest").documents
        own_words = ((one, words(_name_and_path(one))) for one in listed if "#" not in one.document_id)
        return [one for one, own in own_words if all(_has(own, word) for word in wanted)]

    def of_id(self, id: str) -> DocumentSummary | None:
        """Return the document with this id; None if it is gone, or the reader may not read it."""
        return next((one for one in self.called(id) if one.document_id == id), None)

    def last(self) -> DocumentSummary | None:
        """Return the document that was added or changed last."""
        return next(iter(self.listing(1, order="newest").documents), None)


def without_phrase(question: Question, phrase: str) -> Question:
    """Return a question without the phrase that names a document, which is not searched for inside it."""
    if not phrase:
        return question
    rest = without_name(question.wording.typed, phrase, question.language)
    return question if rest == question.wording.typed else read_again(question, rest)


def titles(documents: Sequence[DocumentSummary]) -> list[str]:
    """Return the distinct names of documents, in order."""
    return list(dict.fromkeys(map(name_of, documents)))


def _of_month(one: Requirement) -> Requirement:
    return replace(one, role="subject") if one.kind == "month" else one


def _is_month(word: Word) -> bool:
    return word.value.startswith("month ")


def _name_and_path(document: DocumentSummary) -> str:
    return f"{document.title} {re.sub(r'[_/.]', ' ', document.document_id)}"


def _has(own: Sequence[Word], wanted: Word) -> bool:
    """Return whether a word, or another form of it, is among others, alone or at the end of a compound."""
    start = wanted.lower[:STEM]
    rests = (one.lower[at:] for one in own for at in {0, max(0, one.lower.find(start))})
    return any(wanted.value == one.value for one in own) if wanted.value else any(alike(wanted.lower, r) for r in rests)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text.replace("_", " "))}
