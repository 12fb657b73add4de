"""The evidence for a question: from the documents that it names, with their tables, and from outside if need be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from ragstone.core.access import both
from ragstone.core.answers import Adequacy, Turn
from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import Filter, In
from ragstone.core.frozen import frozen
from ragstone.core.question import Question, Wishes
from ragstone.core.records import Evidence, Hit
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.by_name import ByName, Meant, titles
from ragstone.engine.by_report import report_meant_in
from ragstone.engine.components import Components
from ragstone.engine.editions import in_meant_versions
from ragstone.engine.passages import with_passages
from ragstone.engine.search import Search
from ragstone.engine.whole_tables import with_rows
from ragstone.language.files import english_name
from ragstone.query.outside import why_search, with_outside
from ragstone.question import Context, read
from ragstone.respond.replies import is_choice
from ragstone.review.judge import sufficiency


@frozen
class Checked:
    """Evidence after the check whether it suffices: the verdict of a judge, and whether the web was searched.

    ``answerability`` is the probability, 0 to 1, that the documents answer; None if nothing depended on it.
    """

    evidence: Evidence
    adequacy: Adequacy | None = None
    answerability: float | None = None
    web_searched: bool = False


@frozen
class Several:
    """The evidence for a message with several questions: of all, of each, and of the message read as one question."""

    together: Checked
    each: tuple[Checked, ...]
    as_one: Checked


class Finding:
    """Finds and checks the evidence for questions in one version of a knowledge base."""

    def __init__(self, version: Components, search: Search) -> None:
        self._version, self._search = version, search

    async def found(
        self, question: Question, before: Sequence[Turn], where: Filter | None, request: Request, timings: Timings
    ) -> Checked:
        """Return the evidence for a turn of a conversation, checked, with all that an answerer reads."""
        evidence = await self._evidence(question, before, where, request, timings)
        checked = await self._checked(evidence, request, timings)
        read_by_model = await asyncio.to_thread(with_passages, self._version, checked.evidence)
        return replace(checked, evidence=read_by_model)

    async def of_parts(
        self, question: Question, before: Sequence[Turn], where: Filter | None, request: Request, timings: Timings
    ) -> Several:
        """Return the evidence for a message with several questions.

        "And why?" finds little alone, so the documents are searched for the message as one question, too.
        """
        parts = [await self.found(one, before, where, request, timings) for one in question.parts]
        whole = await self._evidence(replace(question, parts=()), before, where, request, timings)
        every = merged(question, [*(one.evidence for one in parts), whole])
        every = await asyncio.to_thread(with_passages, self._version, every)
        estimated = [one.answerability for one in parts if one.answerability is not None]
        rated = [one.adequacy for one in parts if one.adequacy]
        together = Checked(
            evidence=every,
            # A message is refused only if none of its questions can be answered.
            adequacy=max(rated, key=lambda one: one.confidence) if len(rated) == len(parts) else None,
            answerability=min(estimated, default=None),
            web_searched=any(one.web_searched for one in parts),
        )
        as_one = Checked(evidence=whole, adequacy=together.adequacy)
        return Several(together=together, each=tuple(parts), as_one=as_one)

    async def _evidence(
        self, question: Question, before: Sequence[Turn], where: Filter | None, request: Request, timings: Timings
    ) -> Evidence:
        """Return the evidence, from the documents that the question names if it names any, with rows of tables."""
        by_name = ByName(self._version, where, request)
        if (chosen := await asyncio.to_thread(_chosen, question, before, by_name)) and before:
            # The answer to a clarification: the previous question, about this document.
            *before, last = before
            again = replace(read(last.question, Context(before=before)), asked=question.asked, rewritten=last.question)
            meant = Meant(documents=chosen, question=again)
        else:
            meant = await asyncio.to_thread(_meant_in, question, by_name)
        evidence = await self._from(meant, where, before, request, timings)
        return await asyncio.to_thread(with_rows, self._version, evidence, where, request)

    async def _from(
        self, meant: Meant, where: Filter | None, before: Sequence[Turn], request: Request, timings: Timings
    ) -> Evidence:
        """Return the evidence from these documents, or from all if none is given."""
        ids = tuple(one.document_id for one in meant.documents)
        within = both(where, In(key="id", values=ids)) if ids else where
        evidence = await self._search.in_conversation(meant.question, before, within, request, timings)
        evidence = await asyncio.to_thread(in_meant_versions, self._version, evidence, within, request)
        notices = (f"only in: {', '.join(titles(meant.documents))}",) if ids else ()
        if self._version.models.chat() is None and (said := unfulfilled(meant.question.wishes)):
            notices = (*notices, said)
        return replace(evidence, notices=(*notices, *evidence.notices))

    async def _checked(self, evidence: Evidence, request: Request, timings: Timings) -> Checked:
        """Return the evidence with a judge's verdict; if it may not suffice, with what the web and tools say."""
        judge, own = self._version.models.judge(), self._version.settings.query
        outside = [one for one in self._version.models.outside() if one.may_be_used(request.reader)]
        if judge is None and not outside:
            return Checked(evidence=evidence)
        with timings.stage("judge"):
            adequacy, problem = await sufficiency(judge, evidence, request) if judge else (None, "")
            enough = await self._version.models.answerer().answerability(evidence, request) if outside else None
        if problem:
            evidence = replace(evidence, missing=(*evidence.missing, problem))
        if enough is None or not (reasons := why_search(adequacy, enough, evidence.question, own.web.threshold)):
            return Checked(evidence=evidence, adequacy=adequacy, answerability=enough)
        with timings.stage("outside"):
            evidence, useful = await with_outside(evidence, outside, request)
        if useful:
            names, were = " and ".join(map(str, useful)).capitalize(), "were" if len(useful) > 1 else "was"
            notice = f"{names} {were} searched because {', and '.join(reasons)}."
            evidence = replace(evidence, notices=(*evidence.notices, notice))
        web_searched = any(one.type == "web" for one in outside)
        adequacy = None if useful else adequacy
        return Checked(evidence=evidence, adequacy=adequacy, answerability=enough, web_searched=web_searched)


def merged(question: Question, every: Sequence[Evidence]) -> Evidence:
    """Return the evidence of several questions as one: the best hits of each first, without rows and passages."""

    def once(hits: Iterable[Hit | None]) -> tuple[Hit, ...]:
        return tuple({hit.chunk.id: hit for hit in hits if hit}.values())

    return replace(
        every[0],
        question=replace(question, language=question.language or every[0].question.language),
        hits=once(chain.from_iterable(zip_longest(*(one.hits for one in every)))),
        missing=tuple(dict.fromkeys(problem for one in every for problem in one.missing)),
        notices=tuple(dict.fromkeys(notice for one in every for notice in one.notices)),
        considered=tuple({one.document_id: one for some in every for one in some.considered}.values()),
        tables=once(hit for one in every for hit in one.tables),
        steps=tuple(step for one in every for step in one.steps),
        rows=(),
        further=once(hit for one in every for hit in one.further),
        versions=once(hit for one in every for hit in one.versions),
        passages=(),
    )


def unfulfilled(wishes: Wishes) -> str:
    """Return the notice about wishes that take a language model; empty if there are none."""
    language = english_name(wishes.language) or wishes.language
    names = (f"in {language}" if language else "", wishes.form, wishes.length)
    wished = ", ".join(filter(None, names))
    if not wished:
        return ""
    return f"the documents are quoted as they are; an answer {wished} takes a language model: set respond.model.name"


def _chosen(question: Question, before: Sequence[Turn], by_name: ByName) -> tuple[DocumentSummary, ...]:
    """Return the documents that the user chose of those in a clarification."""
    chosen = bool(before) and is_choice(question.asked, before[-1].answer)
    return tuple(by_name.called(question.asked)) if chosen else ()


def _meant_in(question: Question, by_name: ByName) -> Meant:
    """Return the documents to which a question limits the search: by name, as the report of a period, or by date."""
    meant = by_name.meant_in(question)
    meant = meant if meant.documents else report_meant_in(question, by_name)
    return meant if meant.documents else by_name.dated(question)
