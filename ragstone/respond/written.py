"""Answers that a language model writes from the evidence, and that the documents must prove.

The model is asked only where the evidence is likely to answer. Every sentence it writes is matched to the words of the
evidence; the citations are those found, not those it claims. Where it fails, the answer is quoted instead.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from ragstone.answers import Citation, Draft, Piece, Reply, SentenceClosed, Statement, TextWritten, Turn
from ragstone.contracts import Evidence, Hit
from ragstone.errors import ModelError
from ragstone.protocols import Answerer, ChatModel, SentenceSplitter
from ragstone.respond.abstention import abstained
from ragstone.respond.cite import cite
from ragstone.respond.prompt import REFUSAL, Budget, Prompt, Request, compose, load_prompt
from ragstone.respond.support import Checker, Proof, Quote
from ragstone.respond.transcript import Sentence, Transcript
from ragstone.sections import RespondSettings

UNPROVED = "[?]"
"""Stands behind a sentence that the documents do not prove."""
AGAIN = 3
"""Sentences a model may say again before it is stopped."""
LEADING = 80
"""Characters of a sentence that leads on to the next and is not proved, so that it does not claim something."""
_TELLING = re.compile(r"[\d@/$€£]|\w\.\w")
"""Numbers, money and addresses."""
_RESERVED = 1024
"""Tokens of the window kept for rules and examples."""


class WritingAnswerer:
    """Answers in a model's words. What it quotes where the model fails, and when it abstains, is ``quoting``'s."""

    def __init__(
        self,
        settings: RespondSettings,
        *,
        model: ChatModel,
        quoting: Answerer,
        checker: Checker,
        sentences: SentenceSplitter,
    ) -> None:
        """Take the parts it needs.

        Args:
            settings: of the answer.
            model: writes.
            quoting: estimates whether the evidence answers, and answers without a model.
            checker: proves sentences.
            sentences: splits a text.
        """
        self._settings, self._model = settings, model
        self._quoting, self._checker, self._sentences = quoting, checker, sentences
        self._prompt = load_prompt(settings.prompt)

    async def answerability(self, evidence: Evidence) -> float:
        """The probability, 0 to 1, that the evidence answers its question."""
        return await self._quoting.answerability(evidence)

    async def stream(
        self, evidence: Evidence, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """The answer as it is written and checked, and last the whole `Draft`."""
        request = self._request(evidence, before)
        async with aclosing(self._model.stream(request.messages)) as pieces:
            begun = asyncio.create_task(_first(pieces)) if self._settings.eager else None
            try:
                quoted = [part async for part in self._quoting.stream(evidence, before)]
                draft = quoted[-1]
                assert isinstance(draft, Draft), "an answerer ends with its draft"
                if draft.abstained:
                    for part in quoted:
                        yield part
                    return
                try:
                    reply = _continued(begun, pieces)
                    written = self._written(evidence, request.hits, reply, draft)
                    async with aclosing(reply), aclosing(written) as parts:
                        async for part in parts:
                            yield part
                except ModelError as error:
                    told = f"{error}; the answer is quoted from the documents instead"
                    yield replace(draft, notices=(*draft.notices, told), degraded=True)
            finally:
                if begun is not None:
                    begun.cancel()
                    await asyncio.gather(begun, return_exceptions=True)

    async def _written(
        self, evidence: Evidence, hits: Sequence[Hit], reply: AsyncGenerator[Piece], quoted: Draft
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        transcript, answer = Transcript(self._sentences), _Answer(self._prompt)
        waiting, shown = True, ""  # as much of the beginning as tells whether it is a refusal
        async for piece in reply:
            end = isinstance(piece, Reply)
            text = transcript.end() if isinstance(piece, Reply) else transcript.add(piece)
            if waiting:
                shown = (shown + text).lstrip()
                waiting = _may_refuse(shown)
                if waiting and not end:  # a refusal is not shown word by word
                    continue
                if shown.startswith(REFUSAL):
                    break
                text, shown = shown, ""
            if self._settings.unsupported == "flag" and text:
                yield TextWritten(text=text)
            for sentence in transcript.closed(all_of_it=end):
                if answer.is_said_again(sentence):
                    continue
                proof = await self._proof(sentence, hits)
                if self._settings.unsupported == "drop":
                    if not proof.supported:
                        answer.dropped += 1
                        continue
                    yield TextWritten(text=f"{sentence.before or ' '}{sentence.text}")
                before = len(answer.text)
                cited = answer.add(sentence, proof)
                yield SentenceClosed(
                    text=sentence.text,
                    supported=proof.supported,
                    support=proof.support,
                    citations=cited,
                    as_shown=answer.text[before:],
                )
            if isinstance(piece, Reply):
                answer.cut = piece.cut
            if answer.again > AGAIN:
                break
        yield self._draft(evidence, answer, quoted)

    def _request(self, evidence: Evidence, before: Sequence[Turn]) -> Request:
        own = self._settings
        window = own.model.window_tokens - own.model.max_tokens - _RESERVED
        budget = Budget(
            tokens=max(256, min(own.context_tokens, window)),
            characters=own.excerpt_characters,
            count=self._model.count,
        )
        return compose(self._prompt, evidence, before, budget=budget, language=own.language, metadata=own.metadata)

    async def _proof(self, sentence: Sentence, hits: Sequence[Hit]) -> Proof:
        if _leads_on(sentence.text):
            return Proof(supported=True, support=1.0, quotes=())
        claimed = [hits[number - 1] for number in sentence.hints if 0 < number <= len(hits)]
        return await self._checker.check(sentence.text, [*claimed, *(hit for hit in hits if hit not in claimed)])

    def _draft(self, evidence: Evidence, answer: _Answer, quoted: Draft) -> Draft:
        name = self._model.name
        notices = list(quoted.notices)
        if answer.dropped:
            notices.append(f"left out, for the documents do not prove them: {answer.dropped} sentence(s)")
        if answer.again > AGAIN:
            notices.append(f"{name} was stopped, for it said the same again and again")
        if answer.cut:
            notices.append(f"{name} was cut off; respond.model.max_tokens allows longer answers")
        if not answer.text.strip():
            return replace(
                abstained(evidence, quoted.answerability, (), self._settings), model=name, notices=tuple(notices)
            )
        claims = [one for one in answer.statements if one.markers or not one.supported]
        proved = sum(one.supported for one in claims)
        if proved < len(claims):
            notices.append(f"not proved by the documents: {len(claims) - proved} of {len(claims)} sentence(s)")
        return Draft(
            text=answer.text.strip(),
            citations=tuple(answer.citations.values()),
            answerability=quoted.answerability,
            abstained=False,
            statements=tuple(answer.statements),
            support=proved / len(claims) if claims else 0.0,
            model=name,
            notices=tuple(notices),
        )


@dataclass(slots=True)
class _Answer:
    """The answer so far: its text with markers, and what each sentence rests on."""

    prompt: Prompt
    text: str = ""
    statements: list[Statement] = field(default_factory=list)
    citations: dict[tuple[str, int, int], Citation] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    dropped: int = 0
    cut: bool = False
    again: int = 0

    def is_said_again(self, sentence: Sentence) -> bool:
        """Whether it was said before; such a one is left out, for small models fall into saying the same for ever."""
        known = sentence.text in self.said
        self.said.add(sentence.text)
        self.again += known
        return known

    def add(self, sentence: Sentence, proof: Proof) -> tuple[Citation, ...]:
        """Append a sentence with its markers; what it cites."""
        cited = tuple(self._citation(quote) for quote in proof.quotes)
        web = {quote.hit.chunk.document_id for quote in proof.quotes if quote.hit.chunk.is_web}
        labels = [self.prompt.label(one.marker, web=one.document_id in web) for one in cited]
        if not proof.supported:
            labels = [UNPROVED]
        self.text += (sentence.before or " ") if self.text else ""
        start = len(self.text)
        self.text += " ".join([sentence.text, *labels])
        markers = tuple(one.marker for one in cited)
        self.statements.append(
            Statement(
                start=start, end=len(self.text), support=proof.support, supported=proof.supported, markers=markers
            )
        )
        return cited

    def _citation(self, quote: Quote) -> Citation:
        new = cite(len(self.citations) + 1, quote.hit, quote.span)
        return self.citations.setdefault((new.document_id, new.start, new.end), new)


async def _first(pieces: AsyncGenerator[Piece]) -> Piece | None:
    return await anext(pieces, None)


async def _continued(begun: asyncio.Task[Piece | None] | None, pieces: AsyncGenerator[Piece]) -> AsyncGenerator[Piece]:
    """The pieces, of which the first may be under way already."""
    if begun is not None:
        if (first := await begun) is None:
            return
        yield first
    async for piece in pieces:
        yield piece


def _leads_on(sentence: str) -> bool:
    """Whether it claims nothing: a short question, or a few words before a list, in which nothing can be looked up."""
    bare = sentence.strip()
    return bare.endswith((":", "?")) and len(bare) <= LEADING and not _TELLING.search(bare)


def _may_refuse(shown: str) -> bool:
    """Whether so short a beginning may still become a refusal."""
    begun = shown.strip()
    return len(begun) < len(REFUSAL) and REFUSAL.startswith(begun)
