"""Answers without a language model: the sentences that answer, quoted exactly.

Every sentence of the best chunks is scored by late interaction, its tokens embedded within their paragraph so
that "it" is read in context, and a trained model reads English chunks together with the question (`scored`). A fitted
model says of each how likely it is evidence, and the most likely passage is quoted, with what it needs to be understood
(`passages`). Whether the evidence answers at all is a probability (`answerability`); below a threshold the answer says
what was looked for, and that it was not found.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from ragstone.core.answers import Draft, SentenceClosed, TextWritten, Turn
from ragstone.core.frozen import frozen
from ragstone.core.kinds import Kind
from ragstone.core.protocols import PassageReader, SentenceSplitter, TokenMatcher, Weigher
from ragstone.core.question import Question
from ragstone.core.records import Chunk, Evidence, date_of
from ragstone.core.request import Request
from ragstone.language import facts, phrases
from ragstone.respond.drafts import (
    MAX_PASSAGES,
    ClosestPassage,
    abstained,
    cite,
    moved,
    replayed,
)
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.answerability import HALF, Estimate, Features
from ragstone.respond.quoting.evidence_model import evidence_model, features_of
from ragstone.respond.quoting.likely_passage import likely_draft
from ragstone.respond.quoting.older_rows import older_rows
from ragstone.respond.quoting.question_words import QuestionWords
from ragstone.respond.quoting.quoted_text import have_rows, labels_of, written
from ragstone.respond.quoting.quotes import (
    WHOLE_LISTS,
    Likely,
    best,
    chosen,
    likely_of,
    passages,
    whole_lists,
    words_of,
)
from ragstone.respond.quoting.rivals import (
    Rivals,
    are_of_several_versions,
    called,
    covered,
    is_newer,
    rivals,
    with_older,
)
from ragstone.respond.quoting.rules import bounded, favoured
from ragstone.respond.quoting.scored import Sentence, read
from ragstone.respond.remembered import Remembered
from ragstone.respond.requirements.unmet import Known, Lack, lacking, linked, lowered
from ragstone.respond.requirements.unseen import unseen
from ragstone.respond.tables import TableReader, draft_of
from ragstone.respond.tables.answer import WORTH_READING
from ragstone.respond.tables.lookup import Looked
from ragstone.settings import RespondSettings

_WORD = re.compile(r"\w+")
OF_SOMETHING: frozenset[Kind] = frozenset({"confirmation"})
"""The kinds of question whose answer must be about everything that they name, because it may be no."""

_WORTH_A_LOOK = 0.1
"""The least probability of a second passage, or of one in a newer version, as a share of the likeliest one's.

Below it, 3 of 214 second passages had an answer that the first lacked, on 13 sets of questions; above it, 72 of 598.
"""
_MOST_LIKELY = 1 - 1e-6
"""The largest probability of a sentence whose odds are finite."""
_RISK_TOO_SMALL = (
    "respond.risk is smaller than this embedder can guarantee, so no question is answered; raise it or set it to 0"
)


@frozen
class _Reading:
    """The sentences of the evidence, those that can be quoted, those that are, and what others say instead."""

    scored: Sequence[Sentence]
    likely: Sequence[Likely]
    quoted: Sequence[Likely]
    rivals: Rivals | None = None


class ExtractiveAnswerer:
    """Quotes the sentences that answer a question, or abstains."""

    def __init__(
        self,
        settings: RespondSettings,
        *,
        matcher: TokenMatcher,
        sentences: SentenceSplitter,
        tables: TableReader,
        occurs: Known,
        weigh: Weigher,
        estimate: Estimate,
        abstain_below: float,
        reader: PassageReader | None = None,
        notices: Sequence[str] = (),
    ) -> None:
        """Take the parts of other stages.

        Args:
            settings: how many passages and sentences, and when to abstain.
            matcher: late interaction between a question and texts.
            sentences: splits a text.
            tables: finds the cells that answer.
            occurs: says for each word whether any document contains it.
            weigh: weighs words.
            estimate: estimates the probability of an answer; fitted to the matcher's embedder.
            abstain_below: least probability of an answer; above 1 to refuse every question.
            reader: reads the passages; without one their words are compared alone.
            notices: what a reader of every answer should know.
        """
        self._settings, self._matcher, self._sentences = settings, matcher, sentences
        self._occurs, self._weigh = occurs, weigh
        self._estimate, self._abstain_below = estimate, abstain_below
        self._reader, self._notices = reader, tuple(notices)
        self._tables, self._found = tables, Remembered[_Reading | None]()

    async def stream(
        self,
        evidence: Evidence,
        request: Request,
        before: Sequence[Turn] = (),  # noqa: ARG002
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield quotes that answer the question, or a refusal; earlier turns have no effect."""
        draft = await self._draft(evidence, request)
        draft = replace(draft, notices=(*draft.notices, *self._notices))
        for event in replayed(draft):
            yield event
        yield draft

    async def _draft(self, evidence: Evidence, request: Request) -> Draft:
        question = evidence.question
        reading = await self._read(evidence, request)
        answerability, lacks = self._assessed(reading, evidence, request) if reading else (0.0, [])
        if reading and lacks and (other := self._with_all(reading, evidence, request)):
            second, others = self._assessed(other, evidence, request)
            if second > answerability:
                reading, answerability, lacks = other, second, others
        cells = await self._tables.read(evidence, request)
        if cells and cells.probability >= self._abstain_below:
            quotes = _with_chunks(reading) if reading else []
            if self._tables.outweighs(cells, quotes, answerability, question, request):
                return self._of_cells(cells, evidence)
        if reading and answerability >= self._abstain_below:
            quotes = _with_lists(question, _quotes(reading.quoted))
            return self._answer(question, quotes, reading.rivals, answerability)
        notices = (_RISK_TOO_SMALL,) if self._abstain_below > 1 else ()
        return replace(self._unsure(evidence, reading, cells, answerability, lacks), notices=notices)

    def _of_cells(self, cells: Looked, evidence: Evidence) -> Draft:
        """Return cells as an answer, with what older versions say instead."""
        draft = draft_of(cells)
        older = older_rows(cells, evidence.versions, evidence.question)
        texts = phrases(self._settings.language_for(evidence.question.language))
        return with_older(draft, older, texts.older) if older else draft

    def _unsure(
        self,
        evidence: Evidence,
        reading: _Reading | None,
        cells: Looked | None,
        answerability: float,
        lacks: Sequence[Lack],
    ) -> Draft:
        """Return what may answer, or a refusal; a row of a table first if it is likelier than the sentences."""
        least = self._settings.closest_from
        surer = cells if cells and cells.probability > max(answerability, least if reading else 0.0) else None
        missing = surer.lacks if surer else lacks
        least_row = max(least, WORTH_READING) if reading else least
        if answerability >= least or (surer and surer.probability >= least_row):
            beside = reading if not (surer and lacks) else None  # not about another thing than the row
            quotes = _with_lists(evidence.question, _of_passages(beside)) if beside else []
            return likely_draft(evidence, quotes, surer, answerability, self._settings, missing)
        rows = [ClosestPassage(hit=one.hit, span=one.row.span) for one in surer.cells[:1]] if surer else []
        closest = [*rows, *(_closest(reading.likely) if reading else ())][:MAX_PASSAGES]
        return abstained(evidence, answerability, self._settings, closest, missing)

    def _answer(self, question: Question, quoted: Sequence[Quote], rivals: Rivals | None, probability: float) -> Draft:
        """Return the quotes as an answer, with what other documents and older versions say instead."""
        if rivals is None or not (rivals.older or rivals.against):
            names = [*map(called, quoted)] if are_of_several_versions(quoted) else ()
            return _draft_of(question, quoted, probability, names=names)
        texts = phrases(self._settings.language_for(question.language))
        quotes, lead = rivals.among(quoted), f"{texts.disagree}\n" if rivals.against else ""
        draft = _draft_of(question, quotes, probability, lead, [*map(called, quotes)])
        return with_older(draft, rivals.older, rivals.older_lead(texts)) if rivals.older else draft

    async def answerability(self, evidence: Evidence, request: Request) -> float:
        """Return the probability, 0 to 1, that an answer from this evidence is right."""
        found = await self._read(evidence, request)
        cells = await self._tables.read(evidence, request)
        quoted = self._assessed(found, evidence, request)[0] if found else 0.0
        return max(quoted, cells.probability) if cells else quoted

    async def features(self, evidence: Evidence, request: Request) -> Features | None:
        """Return the input of the estimate; None if the evidence has no sentences."""
        found = await self._read(evidence, request)
        return self._features(found, evidence, request) if found else None

    def _assessed(self, reading: _Reading, evidence: Evidence, request: Request) -> tuple[float, list[Lack]]:
        """Return the probability of an answer, and what the question fixes and the best passage lacks."""
        ranked = sorted(reading.quoted, key=lambda one: -one.probability)
        quoted_chunks = [one.quote.hit.chunk for one in ranked]
        lacks = lacking(
            evidence.question,
            quoted_chunks,
            [hit.chunk for hit in evidence.hits],
            occurs=self._occurs,
            weigh=self._weigh,
            request=request,
            linked=linked(evidence, quoted_chunks[0].id),
            said=[one.quote.text for one in ranked if one.quote.hit.chunk.id == quoted_chunks[0].id],
        )
        if evidence.question.kind in OF_SOMETHING and not any(one.requirement.kind == "name" for one in lacks):
            near = next(one.near for one in reading.scored if one.hit.chunk.id == quoted_chunks[0].id)
            lacks += filter(None, [unseen(evidence.question, near, self._occurs, request)])
        return lowered(self._probability(reading, evidence, request), lacks), lacks

    def _with_all(self, reading: _Reading, evidence: Evidence, request: Request) -> _Reading | None:
        """Return the same with quotes from the passages alone that have all that the question fixes; None without one.

        The sentence most like the question may be about another year or person.
        """
        have = {
            hit.chunk.id
            for hit in evidence.hits
            if not lacking(
                evidence.question,
                [hit.chunk],
                [hit.chunk],
                occurs=self._occurs,
                weigh=self._weigh,
                request=request,
            )
        }
        likely = [one for one in reading.likely if one.quote.hit.chunk.id in have]
        if not likely:
            return None
        scored = [one for one in reading.scored if one.hit.chunk.id in have]
        return _Reading(scored=scored, likely=likely, quoted=chosen(likely, self._settings.sentences))

    def _probability(self, reading: _Reading, evidence: Evidence, request: Request) -> float:
        estimate = self._estimate(self._features(reading, evidence, request))
        return bounded(evidence.question, [one.quote for one in reading.quoted], estimate)

    def _features(self, reading: _Reading, evidence: Evidence, request: Request) -> Features:
        surest = best(reading.quoted)
        chunk = surest.quote.hit.chunk
        own_quotes = _quotes([one for one in reading.quoted if one.quote.hit.chunk.document_id == chunk.document_id])
        chunk = own_quotes[0].hit.chunk
        asked = QuestionWords(evidence.question, self._weigh, request)
        said = [word for quote in own_quotes for word in facts.words(quote.text)]
        match = asked.match(said, facts.words(f"{chunk.context} {chunk.title} {date_of(chunk.metadata)}"))
        words = _WORD.findall(evidence.question.text)
        share_known = sum(self._occurs(words, request)) / len(words) if words else 1.0
        likelihood = min(surest.probability, _MOST_LIKELY)
        top, *others = sorted((one.own for one in reading.scored), reverse=True)
        return Features(
            best=top,
            others=sum(others) / max(len(others), 1),
            sentences=len(reading.scored),
            covered=match.covered,
            mistyped=float(match.number < 0 or match.name < 0),
            words=math.log(1 + len(asked)),
            foreign=max(0.0, 1 - share_known / HALF),
            odds=math.log(likelihood / (1 - likelihood)),
            total=sum(one.probability for one in reading.quoted),
            told=surest.told,
            behind=max(one.told.answers for one in reading.scored if one.told) - surest.told.answers
            if surest.told
            else 0.0,
        )

    async def _read(self, evidence: Evidence, request: Request) -> _Reading | None:
        """Return what can be quoted, and what is; None without a sentence."""
        if known := self._found.of(evidence, request):
            return known[0]
        return self._found.keep(evidence, request, await self._newly_read(evidence, request))

    async def _newly_read(self, evidence: Evidence, request: Request) -> _Reading | None:
        scored = await read(evidence, self._matcher, self._sentences, request, self._reader)
        if not scored:
            return None
        features = features_of(evidence.question, scored, self._weigh, request)
        probabilities = favoured(evidence.question, scored, evidence_model(scored).probabilities(features))
        likely = likely_of(evidence.question, scored, features, probabilities.tolist(), evidence.hits)
        if not likely:
            return None
        quoted = chosen(likely, self._settings.sentences)
        return self._in_newest(_Reading(scored=scored, likely=likely, quoted=quoted), evidence, request)

    def _in_newest(self, reading: _Reading, evidence: Evidence, request: Request) -> _Reading:
        """Return the same with the best sentence in its newest version, and with what others say instead."""
        question, first = evidence.question, best(reading.quoted)
        asked = QuestionWords(question, self._weigh, request)
        newer = [
            one
            for one in reading.likely
            if is_newer(one.quote, first.quote, question)
            and one.probability >= _WORTH_A_LOOK * first.probability
            and covered(asked, one.quote) >= covered(asked, first.quote) / 2
        ]
        first = replace(best(newer), probability=first.probability) if newer else first
        replaced = [one.quote for one in reading.quoted if is_newer(first.quote, one.quote, question)]
        others = [Quote(hit=one.hit, place=one.place, span=one.span) for one in reading.scored]
        counterparts = [
            Quote(hit=hit, place=place, span=span)
            for place, hit in enumerate(evidence.versions, start=len(evidence.hits))
            for span in self._sentences(hit.chunk.text)
        ]
        versions = rivals(first.quote, others, lambda one: covered(asked, one), question, counterparts)
        if replaced:
            versions = (versions or Rivals(quote=first.quote)).also_older(passages(replaced))
        if versions is None:
            return reading
        apart = {(one.hit.chunk.id, one.span.start) for one in (*versions.older, *versions.against)}
        left = {one.hit.chunk.document_id for one in (first.quote, *replaced)} - {versions.quote.hit.chunk.document_id}
        kept = [
            one
            for one in reading.quoted
            if one.quote is not first.quote
            and (one.quote.hit.chunk.id, one.quote.span.start) not in apart
            and one.quote.hit.chunk.document_id not in left
        ]
        return replace(reading, quoted=[replace(first, quote=versions.quote), *kept], rivals=versions)


def _best_of_documents(likely: Sequence[Likely]) -> list[Likely]:
    """Return the best sentence of each document, the most likely first."""
    found: dict[str, Likely] = {}
    for one in sorted(likely, key=lambda some: -some.probability):
        found.setdefault(one.quote.hit.chunk.document_id, one)
    return list(found.values())


def _with_lists(question: Question, quotes: Sequence[Quote]) -> list[Quote]:
    """Return quotes with all of their lists, if the question asks for one."""
    return whole_lists(quotes) if question.kind in WHOLE_LISTS else list(quotes)


def _of_passages(reading: _Reading) -> list[Quote]:
    """Return what is quoted of the likeliest passage, and the best sentence of another one if that is worth reading."""
    surest = best(reading.quoted)
    # A longer quote with the same words may stand in its place.
    own = next((one for one in _quotes(reading.quoted) if _contains(one, surest.quote)), surest.quote)
    rest = [
        one
        for one in reading.likely
        if one.quote.hit.chunk.id != own.hit.chunk.id
        and words_of(one.quote.text) != words_of(surest.quote.text)  # a copy of the document says the same
        and one.probability >= _WORTH_A_LOOK * surest.probability
    ]
    return [own, best(rest).quote] if rest else [own]


def _contains(quote: Quote, other: Quote) -> bool:
    return quote.hit.chunk.id == other.hit.chunk.id and quote.span.start <= other.span.start < quote.span.end


def _closest(likely: Sequence[Likely]) -> tuple[ClosestPassage, ...]:
    """Return the best sentence of each document, closest documents first."""
    quotes = [one.quote for one in _best_of_documents(likely)[:MAX_PASSAGES]]
    return tuple(ClosestPassage(hit=one.hit, span=one.span) for one in quotes)


def _draft_of(
    question: Question, quotes: Sequence[Quote], answerability: float, lead: str = "", names: Sequence[str] = ()
) -> Draft:
    """Return an answer of quotes; behind a ``lead``, each begins a line with its name, if there are ``names``.

    Rows of data files do so in any case.
    """
    citations = tuple(cite(marker, one.hit, one.span) for marker, one in enumerate(quotes, start=1))
    code = {marker for marker, one in enumerate(quotes, start=1) if one.is_code}
    apart = bool(lead) or have_rows(quotes)
    text, statements = written(citations, names or labels_of(question, quotes), code, apart=apart)
    return Draft(
        text=f"{lead}{text}",
        citations=citations,
        answerability=answerability,
        statements=tuple(moved(one, len(lead)) for one in statements),
    )


def _with_chunks(reading: _Reading) -> list[tuple[str, Chunk]]:
    """Return the quotes, each with its chunk."""
    return [(one.quote.text, one.quote.hit.chunk) for one in reading.quoted]


def _quotes(likely: Sequence[Likely]) -> list[Quote]:
    return passages([one.quote for one in likely])
