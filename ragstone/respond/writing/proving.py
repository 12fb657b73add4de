"""Prove the sentences of a written answer in order, each when it is clear what it claims.

"Yes." is proved by the sentence after it, or by the question if none follows. A lead-in, a heading and the head of a
table claim nothing, nor does a sentence that introduces a list, whose items are proved; if sentences are left out, they
wait for what they introduce, and go with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ragstone.core.frozen import frozen
from ragstone.core.question import Question
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.core.threads import computed
from ragstone.respond import markdown
from ragstone.respond.proof.records import UNCHECKED, Checker, Proof
from ragstone.respond.proof.said import NOTHING
from ragstone.respond.writing.claims import Claim, Claims, is_label_of_sources, verdict
from ragstone.respond.writing.transcript import Sentence

FREE = Proof(state="supported", support=1.0)
"""Of a sentence that claims nothing."""
AGAINST = Proof(state="contradicted", support=0.0, reason="the answer says the opposite of its yes or no")
"""Of yes or no that the answer itself denies."""


@frozen
class Proved:
    """A sentence of an answer, what it claims, and its proof."""

    sentence: Sentence
    claim: Claim
    proof: Proof


def resting(facts: Sequence[Proved], hits: Sequence[Hit]) -> list[Hit]:
    """Return the passages that sentences name or quote, in order; all of them if a sentence does neither."""
    rest = [
        {hits[number - 1].chunk.id for number in one.sentence.claimed if 0 < number <= len(hits)}
        | {quote.hit.chunk.id for quote in one.proof.quotes}
        for one in facts
    ]
    return [hit for hit in hits if not all(rest) or any(hit.chunk.id in some for some in rest)]


class Prover:
    """Proves the sentences of one answer."""

    def __init__(
        self, question: Question, hits: Sequence[Hit], checker: Checker, request: Request, *, strict: bool
    ) -> None:
        """Take what the answer rests on.

        Args:
            question: what is asked.
            hits: the evidence, in the order in which the model numbers its sources.
            checker: checks sentences against the evidence.
            request: who asks.
            strict: whether flagged sentences will be left out, so that what introduces them must wait.
        """
        self._question, self._hits, self._strict = question.text, hits, strict
        self._checker, self._request = checker, request
        self._read: object = None  # held, because many answers at once read many passages
        self._claims = Claims(question, hits)
        self._held: list[tuple[Sentence, Claim]] = []
        self._is_stale = False  # whether what the held sentences introduce was left out
        self._in_table = self._in_sources = False
        self._leading: Sentence | None = None  # introduces a list, if one follows
        self._before = NOTHING.and_then(question.text)  # and the sentences that were proved

    async def add(self, sentence: Sentence) -> list[Proved]:
        """Add a sentence and return those that are now proved or not, in order."""
        out = await self._led(lists=_begins_list(sentence))
        claim = self._claim(sentence)
        if claim == "fact" and self._claims.leads_in(sentence.stated):
            self._leading = sentence
            return out
        return [*out, *await self._added(sentence, claim)]

    async def _led(self, *, lists: bool) -> list[Proved]:
        """Return the sentence that waits for a list, and what it releases; ``lists`` if a list follows."""
        leading, self._leading = self._leading, None
        if leading is None:
            return []
        if lists:
            self._before = self._before.and_then(markdown.bare(leading.stated))
        return await self._added(leading, "nothing" if lists else "fact")

    async def _added(self, sentence: Sentence, claim: Claim) -> list[Proved]:
        if claim == "verdict" or (claim == "nothing" and (self._strict or self._held)):
            if self._is_stale and not self._in_table:
                self._held, self._is_stale = [], False
            self._held.append((sentence, claim))
            return []
        if claim == "nothing":
            return [Proved(sentence=sentence, claim=claim, proof=FREE)]
        if claim == "absence":
            return [*await self.end(), Proved(sentence=sentence, claim=claim, proof=FREE)]
        proof = await self._proof(sentence)
        ready = Proved(sentence=sentence, claim=claim, proof=proof)
        if self._strict and proof.flagged:
            self._is_stale = True
            verdicts = [one for one in self._held if one[1] == "verdict"]
            self._held = [one for one in self._held if one[1] != "verdict"]
            return [*(Proved(sentence=one, claim=kind, proof=UNCHECKED) for one, kind in verdicts), ready]
        return [*self._released(sentence, proof), ready]

    async def end(self) -> list[Proved]:
        """Return the sentences that still wait, because nothing followed them."""
        out = await self._led(lists=False)
        held, self._held, self._is_stale = self._held, [], False
        for sentence, claim in held:
            if claim == "verdict":
                out.append(Proved(sentence=sentence, claim=claim, proof=await self._answered(sentence)))
            elif not self._strict:
                out.append(Proved(sentence=sentence, claim=claim, proof=FREE))
        return out

    def _claim(self, sentence: Sentence) -> Claim:
        is_source = self._in_sources and markdown.is_item(sentence.text) and sentence.claimed and not sentence.is_cited
        self._in_sources = bool(is_source) or is_label_of_sources(sentence.text)
        if is_source:
            return "nothing"
        is_row = markdown.is_row(sentence.text)
        is_head, self._in_table = is_row and not self._in_table, is_row
        if is_head and self._claims.is_head(sentence.text):
            self._before = self._before.and_then(markdown.bare(sentence.text))
            return "nothing"
        return self._claims.of(sentence.stated, sentence.claimed if sentence.is_cited else ())

    def _released(self, after: Sentence, proof: Proof) -> list[Proved]:
        """Return the sentences that waited for this one."""
        held, self._held, self._is_stale = self._held, [], False
        out: list[Proved] = []
        for sentence, claim in held:
            found = verdict(sentence.text) if claim == "verdict" else None
            own = FREE
            if found is not None:
                denied = self._claims.contradicts(found, after.text)
                own = AGAINST if denied else replace(proof, quotes=())
            out.append(Proved(sentence=sentence, claim=claim, proof=own))
        return out

    async def _proof(self, sentence: Sentence) -> Proof:
        self._read = self._read or await computed(
            partial(self._checker.read_ahead, self._hits), can_wait=self._request.can_wait
        )
        claimed = [self._hits[number - 1] for number in sentence.claimed if 0 < number <= len(self._hits)]
        hits, named = [*claimed, *(hit for hit in self._hits if hit not in claimed)], len(claimed)
        stated, text = verdict(sentence.stated), markdown.bare(sentence.stated)
        before, self._before = self._before, self._before.and_then(text)
        if stated is None:
            return await self._checker.check(text, hits, self._request, before, named)
        proof = await self._checker.check(stated.rest, hits, self._request, before, named)
        return AGAINST if self._claims.contradicts(stated, stated.rest) else proof

    async def _answered(self, sentence: Sentence) -> Proof:
        """Return the proof of yes or no alone: whether the evidence says, or denies, what the question asks."""
        found = verdict(sentence.text)
        assert found is not None
        stated = self._question.rstrip(" ?")
        return await self._checker.check(stated if found.agrees else f"not {stated}", self._hits, self._request)


def _begins_list(sentence: Sentence) -> bool:
    """Return whether a sentence is the first item of a list, or the first row of a table, on a line of its own."""
    return "\n" in sentence.before and (markdown.is_item(sentence.text) or markdown.is_row(sentence.text))


class Proving:
    """Proves the sentences of one answer beside what writes it, so that no word waits for the proof of another one."""

    def __init__(self, prover: Prover) -> None:
        self._prover = prover
        self._sentences, self._proved = asyncio.Queue[Sentence | bool](), asyncio.Queue[Proved | None]()
        self._work = asyncio.create_task(self._prove())

    def add(self, sentence: Sentence) -> None:
        """Add a sentence."""
        self._sentences.put_nowait(sentence)

    def ready(self) -> Iterator[Proved]:
        """Yield the sentences that are now proved or not, in order."""
        if self._work.done():  # before its end only by an error
            self._work.result()
        while not self._proved.empty():
            if proved := self._proved.get_nowait():
                yield proved

    async def rest(self, *, ended: bool) -> AsyncGenerator[Proved]:
        """Yield the others as they are proved or not; ``ended`` if no sentence is missing."""
        self._sentences.put_nowait(ended)
        while proved := await self._proved.get():
            yield proved
        await self._work

    async def stop(self) -> None:
        """Stop proving."""
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    async def _prove(self) -> None:
        try:
            while not isinstance(sentence := await self._sentences.get(), bool):
                for proved in await self._prover.add(sentence):
                    self._proved.put_nowait(proved)
            for proved in await self._prover.end() if sentence else ():
                self._proved.put_nowait(proved)
        finally:
            self._proved.put_nowait(None)
