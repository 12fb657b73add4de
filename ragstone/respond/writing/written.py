"""Answers written by a language model from the evidence and checked against the documents.

The model reads the passages and says whether they answer; no estimate speaks for it before it has read, and nothing
that it writes is replaced. Every sentence is compared with the evidence: the passage that the model names is cited if
it says the sentence, another one if only that does, and one that the evidence denies or lacks is marked. If the
model fails, the documents are quoted, and the first line says so.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ragstone.core.answers import Citation, Draft, Piece, Reply, SentenceClosed, Statement, TextWritten, Turn
from ragstone.core.errors import ContextTooLong, ModelError
from ragstone.core.naming import file_name, name_of
from ragstone.core.protocols import Answerer, ChatModel, SentenceSplitter
from ragstone.core.question import Question
from ragstone.core.records import Evidence, Hit
from ragstone.core.request import Request
from ragstone.language import phrases
from ragstone.respond import markdown
from ragstone.respond.drafts import cite, instead, refused, replayed
from ragstone.respond.links import strip_links
from ragstone.respond.passage_structure import ends_in_code
from ragstone.respond.proof.by_model import ModelChecker
from ragstone.respond.proof.records import UNCHECKED, Checker, Proof
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.rivals import called
from ragstone.respond.tables import TableReader
from ragstone.respond.writing.claims import Claim, verdict
from ragstone.respond.writing.marks import Marks
from ragstone.respond.writing.newer import newer
from ragstone.respond.writing.preamble import Turns
from ragstone.respond.writing.prompt import (
    LEAST_TOKENS,
    RESERVED,
    ComposedPrompt,
    Prompt,
    load_prompt,
    prompt_for,
    room,
)
from ragstone.respond.writing.proving import Proved, Prover, Proving, resting
from ragstone.respond.writing.rightness import features, probability
from ragstone.respond.writing.told import FirstLine, Told, told_by
from ragstone.respond.writing.transcript import Sentence, Transcript
from ragstone.services.chat import window_of
from ragstone.settings import RespondSettings

FLAG = "[?]"
"""Follows a sentence that the evidence denies or lacks."""
CHARACTERS = 10
"""Characters of a reply for each of its tokens, at most; a longer one is stopped."""
MAX_REPEATS = 3
"""Repeated sentences after which the model is stopped."""
MAX_PROMPTS = 3
"""Prompts that are tried, each with half of the evidence of the one before, if the window is too small."""

_END = re.compile(r"[.!?:…。！？|`][\"'”“»)\]*_]*\s*$")
"""How a whole sentence, a row of a table or code ends."""


class WritingAnswerer:
    """Answers in a model's words. ``quoting`` finds the closest passages, and answers if the model fails."""

    def __init__(
        self,
        settings: RespondSettings,
        *,
        model: ChatModel,
        quoting: Answerer,
        tables: TableReader,
        checker: Checker,
        sentences: SentenceSplitter,
        second: ModelChecker | None = None,
        notices: Sequence[str] = (),
        today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat(),
    ) -> None:
        """Take the parts of other stages.

        Args:
            settings: of the answer.
            model: writes the answer.
            quoting: answers without a model.
            tables: finds the table that the model should read.
            checker: checks sentences against the evidence.
            sentences: splits a text.
            second: checks the whole answer once more, by a language model.
            notices: what a reader of every answer should know.
            today: returns the date of today, in ISO 8601.
        """
        self._settings, self._model = settings, model
        self._quoting, self._tables, self._checker, self._sentences = quoting, tables, checker, sentences
        self._second = second
        self._prompt, self._notices, self._today = load_prompt(settings.prompt), tuple(notices), today

    async def answerability(self, evidence: Evidence, request: Request) -> float:
        """Return the probability, 0 to 1, that an answer from this evidence is right."""
        return await self._quoting.answerability(evidence, request)

    async def stream(
        self, evidence: Evidence, request: Request, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield the answer as it is written and checked, then the complete `Draft`."""
        if not evidence.hits or await self._is_unlikely(evidence, request):
            async with aclosing(self._quoting.stream(evidence, request, before)) as parts:
                async for part in parts:
                    yield part
            return
        try:
            async with aclosing(self._answered(evidence, request, before)) as parts:
                async for part in parts:
                    yield await self._draft(part, evidence, request) if isinstance(part, WrittenAnswer) else part
        except ModelError as error:
            quoted = await self.quoted(evidence, request)
            draft = instead(quoted, str(error), self._settings.language_for(evidence.question.language))
            for event in replayed(draft):
                yield event
            yield draft

    async def written(
        self, question: Question, request: Request, hits: Sequence[Hit], reply: AsyncGenerator[Piece]
    ) -> AsyncGenerator[TextWritten | SentenceClosed | WrittenAnswer]:
        """Yield a reply of the model as it is written and checked, then the whole of it.

        Args:
            question: what is asked.
            request: until when, and who pays.
            hits: the passages that the model read, in the order of their numbers.
            reply: of the model.
        """
        titled = phrases(self._settings.language_for(question.language)).titled
        titles, files = [name_of(hit.chunk) for hit in hits], [file_name(hit.chunk.document_id) for hit in hits]
        said = [hit.chunk.text.casefold() for hit in hits]
        marks = Marks(titles, titled, files=files, is_said=lambda form: any(form.casefold() in one for one in said))
        streamed = ""
        transcript, answer = Transcript(self._sentences, marks), WrittenAnswer(self._prompt)
        first, turns = FirstLine(), Turns(question.asked, question.text)
        drops = self._settings.unsupported == "drop"
        proving = Proving(Prover(question, hits, self._checker, _beside(request), strict=drops))
        ended, failure, half = False, None, None  # half: the last sentence, if it was cut off
        try:
            async for piece in _until_failure(reply):
                if isinstance(piece, ModelError):
                    failure = piece  # what was written before is proved, too
                    break
                ended = isinstance(piece, Reply)
                streamed += "" if isinstance(piece, Reply) else piece
                if isinstance(piece, Reply) and piece.text.strip() != streamed.strip():
                    # It was thinking without its first tag.
                    async for part in self.written(question, request, hits, _whole(piece)):
                        yield part
                    return
                begun = first.end() if isinstance(piece, Reply) else first.add(piece)
                text = transcript.add(turns.add(begun, ended=ended))
                text += transcript.end() if ended else ""
                if text and not drops:
                    yield TextWritten(text=text)
                closed = list(transcript.closed(everything=ended))
                if isinstance(piece, Reply) and piece.cut and closed and not _END.search(closed[-1].text):
                    half = closed.pop()
                for sentence in closed:
                    if not answer.is_repeated(sentence):
                        proving.add(sentence)
                for proved in proving.ready():
                    for part in answer.after(proved, drops=drops):
                        yield part
                if isinstance(piece, Reply):
                    answer.cut = piece.cut
                if len(streamed) > CHARACTERS * self._settings.model.max_tokens:
                    answer.cut = True  # by a server that knows no limit
                if answer.repeats > MAX_REPEATS or answer.cut:
                    break
            async with aclosing(proving.rest(ended=ended)) as rest:
                async for proved in rest:
                    for part in answer.after(proved, drops=drops):
                        yield part
            if half:
                for part in answer.after(Proved(sentence=half, claim="nothing", proof=UNCHECKED), drops=drops):
                    yield part
        finally:
            await proving.stop()
        if failure:
            raise failure
        answer.told = told_by(first.told, answer.claims)
        for proved in self._newer(answer, question, hits) if answer.told != "nothing" else ():
            yield TextWritten(text=f"{proved.sentence.before}{proved.sentence.text}")
            yield answer.closed(proved)
        yield answer

    def _newer(self, answer: WrittenAnswer, question: Question, hits: Sequence[Hit]) -> Iterator[Proved]:
        """Yield what newer versions say below an answer that rests on older ones, as sentences that claim nothing."""
        cited = [quote for one in answer.proved for quote in one.proof.quotes]
        lead = f"\n\n{phrases(self._settings.language_for(question.language)).newer}"
        for quote in newer(cited, hits, question, self._sentences):
            text = f"{called(quote)}: {' '.join(strip_links(quote.text).split())}"
            proof = Proof(state="supported", support=1.0, quotes=(quote,))
            yield Proved(sentence=Sentence(before=f"{lead}\n", text=text, claimed=()), claim="nothing", proof=proof)
            lead = ""

    async def _is_unlikely(self, evidence: Evidence, request: Request) -> bool:
        """Return whether the settings save the call, because an answer is unlikely."""
        least = self._settings.ask_from
        return least > 0 and await self._quoting.answerability(evidence, request) < least

    async def quoted(self, evidence: Evidence, request: Request) -> Draft:
        """Return what would be quoted without the model."""
        draft = [part async for part in self._quoting.stream(evidence, request)][-1]
        assert isinstance(draft, Draft), "an answerer ends with its draft"
        return draft

    async def _answered(
        self, evidence: Evidence, request: Request, before: Sequence[Turn]
    ) -> AsyncGenerator[TextWritten | SentenceClosed | WrittenAnswer]:
        """Yield the parts of the model's answer; ask again with less evidence if the prompt is too long.

        Raises:
            ModelError: the model failed.
        """
        evidence = await self._tables.shown(evidence, request)
        tokens = room(self._settings, await window_of(self._model))
        for left in reversed(range(MAX_PROMPTS)):
            prompt = self.prompt(evidence, before, tokens)
            try:
                reply = self._model.stream(prompt.messages, request)
                written = self.written(evidence.question, request, prompt.hits, reply)
                async with aclosing(reply), aclosing(written) as parts:
                    async for part in parts:
                        if isinstance(part, WrittenAnswer):
                            part.unread = len(evidence.hits) - len(prompt.hits)
                            part = await self.checked_again(part, prompt.hits, request)
                        yield part
                return
            except ContextTooLong as error:
                if not left or tokens <= LEAST_TOKENS:
                    raise
                tokens = max(LEAST_TOKENS, min(tokens // 2, (error.limit or tokens) - RESERVED))

    async def checked_again(self, answer: WrittenAnswer, hits: Sequence[Hit], request: Request) -> WrittenAnswer:
        """Return an answer after its second check, by one call of a model; as it is if the settings want none."""
        facts = [one for one in answer.proved if one.claim == "fact"]
        if self._second is None or not facts:
            return answer
        said = [markdown.bare(one.sentence.text) for one in facts]
        try:
            proofs = await self._second.check_all(said, resting(facts, hits), request, [one.proof for one in facts])
        except ModelError as error:
            answer.troubles.append(f"A second check failed: {error}")
            return answer
        checked = iter(proofs)
        again = replace(answer, text="", statements=[], citations={}, proved=[])
        for one in answer.proved:
            again.closed(replace(one, proof=next(checked)) if one.claim == "fact" else one)
        return again

    def prompt(self, evidence: Evidence, before: Sequence[Turn], tokens: int | None = None) -> ComposedPrompt:
        """Return the messages for the model, with at most so many tokens of evidence and conversation, if given."""
        tokens = room(self._settings) if tokens is None else tokens
        return prompt_for(self._settings, self._model.count, evidence, before, tokens, self._today())

    async def _draft(self, answer: WrittenAnswer, evidence: Evidence, request: Request) -> Draft:
        """Return the draft of what the model wrote: an answer, or a refusal with the closest passages."""
        draft = Draft(
            text=answer.text.strip(),
            citations=tuple(answer.citations.values()),
            answerability=None,
            statements=tuple(answer.statements),
            support=answer.support,
            rightness=probability(features(answer.proofs)),
            model=self._model.name,
            notices=(*self._notices, *answer.notices(self._model.name)),
        )
        if answer.told == "nothing" or not draft.text:
            return refused(draft, evidence, await self.quoted(evidence, request), self._settings)
        return draft


@dataclass(slots=True)
class WrittenAnswer:
    """A reply so far: its text with the marks of citations, and what its sentences claim and rest on.

    ``told`` is how much of the question it answers; ``unread`` counts the hits that did not fit into the prompt.
    """

    prompt: Prompt
    text: str = ""
    statements: list[Statement] = field(default_factory=list)
    citations: dict[tuple[str, int, int], Citation] = field(default_factory=dict)
    sentences: set[str] = field(default_factory=set[str])
    claims: list[Claim] = field(default_factory=list["Claim"])
    proved: list[Proved] = field(default_factory=list["Proved"])
    troubles: list[str] = field(default_factory=list[str])
    told: Told = "all"
    last: str = ""
    dropped: int = 0
    unread: int = 0
    cut: bool = False
    repeats: int = 0

    @property
    def support(self) -> float:
        """The share of claims that the evidence supports."""
        return sum(one.supported for one in self.proofs) / len(self.proofs) if self.proofs else 1.0

    @property
    def proofs(self) -> list[Proof]:
        """The proofs of the sentences that claim something."""
        return [one.proof for one in self.proved if one.claim in ("fact", "verdict")]

    def is_repeated(self, sentence: Sentence) -> bool:
        """Return whether the sentence occurred before. Repetitions are dropped; small models can repeat forever.

        The line below the head of a table, and yes or no, may occur again, but not twice in a row.
        """
        repeated = sentence.text in self.sentences
        self.sentences.add(sentence.text)
        found = verdict(sentence.text)
        if repeated and sentence.text != self.last and (markdown.is_rule(sentence.text) or (found and not found.rest)):
            repeated = False
        self.last = sentence.text
        self.repeats += repeated
        return repeated

    def after(self, proved: Proved, *, drops: bool) -> Iterator[TextWritten | SentenceClosed]:
        """Append a proved sentence, and yield its events; none if it is flagged and the settings drop it."""
        self.claims.append(proved.claim)
        if drops and proved.proof.flagged:
            self.dropped += 1
            return
        if drops:
            yield TextWritten(text=f"{proved.sentence.before or ' '}{proved.sentence.text}")
        yield self.closed(proved)

    def closed(self, proved: Proved) -> SentenceClosed:
        """Append a sentence with its marks and return its event."""
        sentence, proof = proved.sentence, proved.proof
        self.proved.append(proved)
        before = len(self.text)
        cited = tuple(self._citation(quote) for quote in proof.quotes)
        chunks = {quote.hit.chunk.document_id: quote.hit.chunk for quote in proof.quotes}
        labels = [self.prompt.label(one.marker, chunks[one.document_id].source_type) for one in cited]
        self.text += self._between(sentence) if self.text else ""
        start = len(self.text)
        flags = [FLAG] if proof.flagged else []
        self.text += markdown.marked(sentence.text, [*labels, *flags])
        self.statements.append(
            Statement(
                start=start,
                end=len(self.text),
                state=proof.state,
                support=proof.support,
                markers=tuple(one.marker for one in cited),
                reason=proof.reason,
            )
        )
        return SentenceClosed(
            text=sentence.text,
            citations=cited,
            as_shown=self.text[before:],
            state=proof.state,
            support=proof.support,
            reason=proof.reason,
        )

    def _between(self, sentence: Sentence) -> str:
        """Return what stands before a sentence: a new line at least below code, whose last line must stay alone."""
        return "\n\n" if ends_in_code(self.text) and "\n" not in sentence.before else sentence.before or " "

    def notices(self, model: str) -> list[str]:
        """Return what a reader should know of the reply."""
        out = list(self.troubles)
        if self.unread > 0:
            out.append(f"{_counted(self.unread, 'passage')} did not fit into the prompt; raise respond.context_tokens")
        if self.dropped:
            out.append(f"{_counted(self.dropped, 'sentence')} left out, because the documents deny or lack it")
        if self.repeats > MAX_REPEATS:
            out.append(f"{model} was stopped, because it kept repeating itself")
        if self.cut:
            out.append(f"The reply of {model} was cut off; raise respond.model.max_tokens for longer answers")
        return out

    def _citation(self, quote: Quote) -> Citation:
        new = cite(len(self.citations) + 1, quote.hit, quote.span)
        return self.citations.setdefault((new.document_id, new.start, new.end), new)


def _beside(request: Request) -> Request:
    """Return the request of what is read beside an answer that is being written."""
    return replace(request, can_wait=True)


async def _until_failure(reply: AsyncGenerator[Piece]) -> AsyncGenerator[Piece | ModelError]:
    """Yield the pieces of a reply, and last the error if the model fails."""
    try:
        async for piece in reply:
            yield piece
    except ModelError as error:
        yield error


async def _whole(reply: Reply) -> AsyncGenerator[Piece]:
    """Yield a reply in one piece."""
    yield reply.text
    yield reply


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"
