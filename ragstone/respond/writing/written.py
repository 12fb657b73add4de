"""Answers written by a language model from the evidence and checked against the documents.

The model's answer is used only if the evidence is likely to answer. Every sentence is checked against the evidence, and
the citations are those found by the check, not those the model claims. If the model fails, or nothing that it writes is
proved, the answer is quoted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from ragstone.core.answers import Citation, Draft, Piece, Reply, SentenceClosed, Statement, TextWritten, Turn
from ragstone.core.errors import ModelError
from ragstone.core.protocols import Answerer, ChatModel, SentenceSplitter
from ragstone.core.records import Evidence, Hit
from ragstone.core.request import Request
from ragstone.respond import markdown
from ragstone.respond.drafts import abstained, cite
from ragstone.respond.proof.by_words import Checker, Quote
from ragstone.respond.proof.sentences import Proved, Prover
from ragstone.respond.tables import TableReader
from ragstone.respond.writing.claims import Claim, verdict
from ragstone.respond.writing.prompt import REFUSAL, ComposedPrompt, Prompt, PromptBudget, compose, load_prompt
from ragstone.respond.writing.transcript import Sentence, Transcript
from ragstone.services.chat import window_of
from ragstone.settings import RespondSettings

UNSUPPORTED_MARK = "[?]"
"""Follows the words that the documents do not support, or the sentence if they are not known."""
MAX_REPEATS = 3
"""Repeated sentences after which the model is stopped."""
MAX_REFUSAL = 2 * len(REFUSAL)
"""Characters of a refusal that are waited for, so that it ends properly and is kept; then the model is stopped."""
_RESERVED = 1024
"""Tokens of the window reserved for rules and examples."""


class WritingAnswerer:
    """Answers in a model's words. ``quoting`` decides when to abstain, and answers if the model fails."""

    def __init__(
        self,
        settings: RespondSettings,
        *,
        model: ChatModel,
        quoting: Answerer,
        tables: TableReader,
        checker: Checker,
        sentences: SentenceSplitter,
        notices: Sequence[str] = (),
    ) -> None:
        """Take the parts of other stages.

        Args:
            settings: of the answer.
            model: writes the answer.
            quoting: estimates whether the evidence answers, and answers without a model.
            tables: finds the table that the model should read.
            checker: checks sentences against the evidence.
            sentences: splits a text.
            notices: what a reader of every answer should know.
        """
        self._settings, self._model = settings, model
        self._quoting, self._tables, self._checker, self._sentences = quoting, tables, checker, sentences
        self._prompt, self._notices = load_prompt(settings.prompt), notices

    async def answerability(self, evidence: Evidence, request: Request) -> float:
        """Return the probability, 0 to 1, that an answer from this evidence is right."""
        return await self._quoting.answerability(evidence, request)

    async def stream(
        self, evidence: Evidence, request: Request, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield the answer as it is written and checked, then the complete `Draft`."""
        window = await window_of(self._model)
        prompt = self._prompt_for(window, self._tables.shown(evidence, request), before)
        async with aclosing(self._model.stream(prompt.messages, request)) as pieces:
            begun = asyncio.create_task(_first(pieces)) if self._settings.eager else None
            try:
                quoted = [part async for part in self._quoting.stream(evidence, request, before)]
                draft = quoted[-1]
                assert isinstance(draft, Draft), "an answerer ends with its draft"
                if draft.abstained:
                    for part in quoted:
                        yield part
                    return
                try:
                    reply = _continued(begun, pieces)
                    written = self.written(evidence, request, prompt.hits, reply, draft)
                    async with aclosing(reply), aclosing(written) as parts:
                        async for part in parts:
                            yield part
                except ModelError as error:
                    notice = f"The answer is quoted from the documents instead: {error}"
                    yield replace(draft, notices=(*draft.notices, notice), degraded=True)
            finally:
                if begun is not None:
                    begun.cancel()
                    await asyncio.gather(begun, return_exceptions=True)

    async def written(
        self,
        evidence: Evidence,
        request: Request,
        hits: Sequence[Hit],
        reply: AsyncGenerator[Piece],
        quoted: Draft,
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield a reply of the model as it is written and proved, then the complete draft.

        Args:
            evidence: whose question is answered.
            request: until when, and who pays.
            hits: the passages on which sentences are proved.
            reply: of the model.
            quoted: the answer without a model, which stands if nothing is proved.
        """
        transcript, answer = Transcript(self._sentences), _Answer(self._prompt)
        drops = self._settings.unsupported == "drop"
        prover = Prover(evidence.question, hits, self._checker, request, strict=drops)
        waiting, shown = True, ""  # the beginning, until it is clear whether it is a refusal
        async for piece in reply:
            end = isinstance(piece, Reply)
            text = transcript.end() if isinstance(piece, Reply) else transcript.add(piece)
            if waiting:
                shown = (shown + text).lstrip()
                refused = shown.startswith(REFUSAL)
                if refused and (end or len(shown) > MAX_REFUSAL):
                    break
                waiting = refused or _may_refuse(shown)
                if waiting and not end:  # do not show the words of a refusal
                    continue
                text, shown = shown, ""
            if not drops and text:
                yield TextWritten(text=text)
            new = [one for one in transcript.closed(everything=end) if not answer.is_repeated(one)]
            ready = [proved for one in new for proved in await prover.add(one)]
            for one in [*ready, *(await prover.end() if end else ())]:
                if drops and not one.proof.supported:
                    answer.dropped += 1
                    continue
                if drops:
                    yield TextWritten(text=f"{one.sentence.before or ' '}{one.sentence.text}")
                yield answer.closed(one)
            if isinstance(piece, Reply):
                answer.cut = piece.cut
            if answer.repeats > MAX_REPEATS:
                break
        yield self._draft(evidence, answer, quoted)

    def _prompt_for(self, window: int, evidence: Evidence, before: Sequence[Turn]) -> ComposedPrompt:
        own = self._settings
        room = own.model.room(window) - _RESERVED
        budget = PromptBudget(
            tokens=max(256, min(own.context_tokens, room)),
            characters=own.excerpt_characters,
            count=self._model.count,
        )
        return compose(self._prompt, evidence, before, budget=budget, language=own.language, shown=own.shown)

    def _draft(self, evidence: Evidence, answer: _Answer, quoted: Draft) -> Draft:
        name = self._model.name
        notices = [*self._notices, *quoted.notices]
        if answer.dropped:
            notices.append(f"{_counted(answer.dropped)} left out for lack of support in the documents")
        if answer.repeats > MAX_REPEATS:
            notices.append(f"{name} was stopped, because it kept repeating itself")
        if answer.cut:
            notices.append(f"The reply of {name} was cut off; raise respond.model.max_tokens for longer answers")
        claims = [one for one in answer.statements if one.markers or not one.supported]
        supported = sum(one.supported for one in claims)
        if not supported and answer.sentences and (answer.dropped or not answer.only_denies):
            notices.append(f"Nothing that {name} wrote is supported by the documents, so they are quoted instead")
            return replace(quoted, notices=tuple(notices), degraded=True)
        if not supported:
            return replace(
                abstained(evidence, quoted.answerability, (), self._settings), model=name, notices=tuple(notices)
            )
        if supported < len(claims):
            notices.append(f"{len(claims) - supported} of {_counted(len(claims))} not supported by the documents")
        return Draft(
            text=answer.text.strip(),
            citations=tuple(answer.citations.values()),
            answerability=quoted.answerability,
            statements=tuple(answer.statements),
            support=supported / len(claims),
            model=name,
            notices=tuple(notices),
        )


@dataclass(slots=True)
class _Answer:
    """The answer so far: its text with markers, and the citations of each sentence."""

    prompt: Prompt
    text: str = ""
    statements: list[Statement] = field(default_factory=list)
    citations: dict[tuple[str, int, int], Citation] = field(default_factory=dict)
    sentences: set[str] = field(default_factory=set[str])
    claims: set[Claim] = field(default_factory=set["Claim"])
    last: str = ""
    dropped: int = 0
    cut: bool = False
    repeats: int = 0

    def is_repeated(self, sentence: Sentence) -> bool:
        """Return whether the sentence occurred before. Repetitions are dropped; small models can repeat forever.

        The line below the head of a table, and yes or no, may occur again, but not twice in a row.
        """
        known = sentence.text in self.sentences
        self.sentences.add(sentence.text)
        found = verdict(sentence.text)
        if known and sentence.text != self.last and (markdown.is_rule(sentence.text) or (found and not found.rest)):
            known = False
        self.last = sentence.text
        self.repeats += known
        return known

    @property
    def only_denies(self) -> bool:
        """Return whether the answer only says that the documents do not tell."""
        return "absence" in self.claims and not self.claims & {"fact", "verdict"}

    def closed(self, proved: Proved) -> SentenceClosed:
        """Append a sentence with its markers and return its event."""
        sentence, proof = proved.sentence, proved.proof
        self.claims.add(proved.claim)
        before = len(self.text)
        cited = tuple(self._citation(quote) for quote in proof.quotes)
        web = {quote.hit.chunk.document_id for quote in proof.quotes if quote.hit.chunk.is_web}
        labels = [self.prompt.label(one.marker, web=one.document_id in web) for one in cited]
        self.text += (sentence.before or " ") if self.text else ""
        start = len(self.text)
        if proof.supported:
            self.text += markdown.marked(sentence.text, labels)
        else:
            self.text += markdown.doubted(sentence.text, proof.unsupported, UNSUPPORTED_MARK)
        markers = tuple(one.marker for one in cited)
        self.statements.append(
            Statement(
                start=start, end=len(self.text), support=proof.support, supported=proof.supported, markers=markers
            )
        )
        return SentenceClosed(
            text=sentence.text,
            supported=proof.supported,
            support=proof.support,
            citations=cited,
            as_shown=self.text[before:],
        )

    def _citation(self, quote: Quote) -> Citation:
        new = cite(len(self.citations) + 1, quote.hit, quote.span)
        return self.citations.setdefault((new.document_id, new.start, new.end), new)


async def _first(pieces: AsyncGenerator[Piece]) -> Piece | None:
    return await anext(pieces, None)


async def _continued(begun: asyncio.Task[Piece | None] | None, pieces: AsyncGenerator[Piece]) -> AsyncGenerator[Piece]:
    """Yield the pieces; the first may have been requested already."""
    if begun is not None:
        if (first := await begun) is None:
            return
        yield first
    async for piece in pieces:
        yield piece


def _may_refuse(shown: str) -> bool:
    """Return whether this beginning may still become a refusal."""
    begun = shown.strip()
    return len(begun) < len(REFUSAL) and REFUSAL.startswith(begun)


def _counted(sentences: int) -> str:
    return f"{sentences} sentence" if sentences == 1 else f"{sentences} sentences"
