"""Questions to begin with, or to go on with. Each was asked, and its own document answered it, before it is shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import TypeVar

from ragstone.core.access import Reader
from ragstone.core.answers import Answer, Answered
from ragstone.core.errors import RagstoneError
from ragstone.core.filters import Compare, Filter
from ragstone.core.frozen import frozen
from ragstone.core.headings import is_question
from ragstone.core.records import Document
from ragstone.core.request import Deadline, Meter, Payer, Request
from ragstone.engine.ask import Ask
from ragstone.engine.attached import admitted
from ragstone.engine.components import Components
from ragstone.language import Drafts, begins_a_question, drafts

MOST_TRIED = 12
"""Questions that are asked at most to find those to suggest."""
LISTED = 200
"""Documents that first questions are chosen from."""
SURE = 0.6
"""The least confidence of an answer to a suggested question."""
LEAST_SAID = 40
"""Characters that an answer has at least, besides the question's own."""
_LENGTHS = range(5, 81)
_WORD = re.compile(r"[^\W\d_]{3}")
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*[.):]?|\(?[a-zA-Z]\)|[IVXLC]+[.)])\s+(?=\S)")
"""The number of a heading."""
T = TypeVar("T")


@frozen
class Suggestion:
    """A question that a document answers, and the document, within which it is to be asked."""

    question: str
    document_id: str
    title: str


async def suggested(
    version: Components,
    reader: Reader,
    payer: Payer | None,
    count: int,
    near: tuple[str, int] | None,
    where: Filter | None,
) -> list[Suggestion]:
    """Return questions that are answered.

    Args:
        version: to ask, under settings of `assembly.quoting`.
        reader: who is to read the answers.
        payer: charged with embedding the questions.
        count: how many.
        near: the id of the document to stay in, and a character of it; None for all documents.
        where: filter on the documents that first questions are about.

    Raises:
        NotFound: this reader may read no such document.
    """
    if near:
        reader = admitted(version.catalog, near[0], reader)
        document = version.catalog.document(near[0], reader.names)
        candidates = [_suggestion(document, name) for name in _headings(document, near[1])]
    else:
        candidates = list(_first(version, reader.names, where))
    out: list[Suggestion] = []
    for candidate in candidates[:MOST_TRIED]:
        if len(out) == count:
            break
        if near or all(one.document_id != candidate.document_id for one in out):
            try:
                answer = await _asked(version, candidate, reader, payer)
            except RagstoneError:  # such as a document that was removed meanwhile
                continue
            if _answers(answer, candidate):
                out.append(candidate)
    return out


def _first(version: Components, groups: Sequence[str] | None, where: Filter | None) -> Iterator[Suggestion]:
    """Yield first questions: titles that are questions, and then headings, each time from other documents."""
    listed = version.catalog.listing(groups, "", "", LISTED, where=where).documents
    asked = [one for one in listed if is_question(one.title)]
    for one in _spread(asked, MOST_TRIED // 2):
        yield Suggestion(question=one.title, document_id=one.document_id, title=one.title)
    others = {one.title or one.document_id: one.document_id for one in listed if "#" not in one.document_id}
    documents = [version.catalog.document(id, groups) for id in _spread([*others.values()], 2 * MOST_TRIED)]
    found = [(one, _headings(one, 0)) for one in documents]
    # A heading of several documents, such as that of a part of all minutes, does not say which one is meant.
    counts = Counter(name for _, names in found for name in names)
    headings = [(one, sorted((name for name in names if counts[name] == 1), key=_rank)) for one, names in found]
    best = sorted((one for one in headings if one[1]), key=lambda one: _rank(one[1][0]))[: MOST_TRIED // 2]
    for place in range(2):
        for document, names in best:
            if place < len(names):
                yield _suggestion(document, names[place])


def _headings(document: Document, start: int) -> list[str]:
    """Return headings that can be asked, nearest to a character first, without the one above it and the title."""
    headings = [mark for mark in document.marks if mark.kind == "heading"]
    own = max((n for n, mark in enumerate(headings) if mark.start <= start), default=0)
    near = sorted(range(len(headings)), key=lambda n: (abs(n - own), -n))
    words = drafts(str(document.metadata.get("language", "")))
    found = dict.fromkeys(_question(headings[n].label, words) for n in near if headings[n].level >= headings[own].level)
    unwanted = {document.title, _question(headings[own].label, words) if headings else ""}
    return [name for name in found if name not in unwanted and _can_be_asked(name)]


def _question(heading: str, words: Drafts) -> str:
    """Return a heading without its number, and one that tells how to do something as a question."""
    text = _unnumbered(heading)
    how = re.fullmatch(words.how_heading, text, re.IGNORECASE) if words.how_heading else None
    return words.how.format(task=how["task"]) if how and not is_question(text) else text


def _unnumbered(heading: str) -> str:
    """Return a heading without its number, as "Parking" of "4.2 Parking"."""
    number = _NUMBERED.match(heading)
    return heading[number.end() :] if number else heading


def _can_be_asked(heading: str) -> bool:
    """Return whether a heading is a question or names a subject, which one such as "How it began" does not."""
    if len(heading) not in _LENGTHS or not _WORD.search(heading):
        return False
    return is_question(heading) or not begins_a_question(heading)


def _rank(heading: str) -> tuple[bool, int]:
    """Order headings: questions first, and those of several words before those of one, which say less."""
    return not is_question(heading), -min(4, len(heading.split()))


def _suggestion(document: Document, heading: str) -> Suggestion:
    return Suggestion(question=heading, document_id=document.id, title=document.title)


async def _asked(version: Components, candidate: Suggestion, reader: Reader, payer: Payer | None) -> Answer | None:
    request = Request(
        reader=reader,
        deadline=Deadline.after(version.settings.services.deadline_seconds),
        meter=Meter(purpose="other", payer=payer),
        is_kept=False,
        restricts=partial(version.catalog.restricts, reader.names),
    )
    within: Filter = Compare(key="id", op="=", value=candidate.document_id)
    async with aclosing(Ask(version).stream(candidate.question, within, request)) as events:
        async for event in events:
            if isinstance(event, Answered):
                return event.answer
    return None


def _answers(answer: Answer | None, candidate: Suggestion) -> bool:
    if answer is None or answer.outcome != "answer" or answer.confidence < SURE:
        return False
    said = sum(len(one.quote.replace(candidate.question, "")) for one in answer.citations)
    is_own = all(one.document_id == candidate.document_id for one in answer.citations)
    return is_own and said >= LEAST_SAID


def _spread(all: Sequence[T], count: int) -> list[T]:
    """Return a few items, evenly spaced."""
    return list(all) if len(all) <= count else [all[n * len(all) // count] for n in range(count)]
