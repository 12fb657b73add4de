"""Two models, the cheaper one first: the second is asked only where the first does not satisfy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from evidence import evidence

from ragstone.core.answers import Draft, SentenceClosed, TextWritten, Turn
from ragstone.core.errors import ModelError
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.respond.writing.tiers import TieredAnswerer, unproved

FOUND = evidence("Why?", "Because.")
Part = TextWritten | SentenceClosed | Draft


def draft(text: str, **fields: object) -> Draft:
    told = {"answerability": 0.9, **fields}
    return Draft(text=text, citations=(), **told)  # pyright: ignore[reportArgumentType]


class Fixed:
    """An answerer that has its answer already."""

    def __init__(self, *parts: Part | Exception) -> None:
        self.parts, self.asked = parts, 0

    async def answerability(self, evidence: Evidence, request: Request) -> float:  # noqa: ARG002
        return 0.5

    async def stream(
        self,
        evidence: Evidence,  # noqa: ARG002
        request: Request,  # noqa: ARG002
        before: Sequence[Turn] = (),  # noqa: ARG002
    ) -> AsyncGenerator[Part]:
        self.asked += 1
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            yield part


async def proof(_evidence: Evidence, draft: Draft, _request: Request) -> str:
    return unproved(draft, least=0.8, abstain_below=0.5)


def run(cheap: Fixed, dear: Fixed) -> list[Part]:
    async def parts() -> list[Part]:
        return [part async for part in TieredAnswerer(cheap, dear, proof).stream(FOUND, request=Request.by_owner())]

    return asyncio.run(parts())


def test_good_first_answer_is_used() -> None:
    cheap, dear = Fixed(TextWritten(text="Good."), draft("Good.")), Fixed(draft("Better."))
    assert run(cheap, dear) == [TextWritten(text="Good."), draft("Good.")]
    assert dear.asked == 0


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (draft("Poor.", support=0.5), "only 50% of the first model's sentences are supported"),
        (draft("Nothing.", outcome="refusal"), "found no answer in documents that likely contain one"),
        (draft("Quoted.", degraded=True, notices=("it refused",)), "it refused"),
        (ModelError("it is not there"), "it is not there"),
    ],
    ids=["unproved", "refused", "degraded", "failed"],
)
def test_poor_first_answer_is_replaced_unseen(first: Draft | ModelError, why: str) -> None:
    parts = run(Fixed(TextWritten(text="Poor."), first), Fixed(TextWritten(text="Good."), draft("Good.")))
    assert parts[0] == TextWritten(text="Good.")
    assert isinstance(parts[-1], Draft)
    assert parts[-1].text == "Good."
    assert why in parts[-1].notices[-1]
    assert len(parts) == 2


def test_right_abstention_asks_no_second_model() -> None:
    dear = Fixed(draft("Invented."))
    (only,) = run(Fixed(draft("They do not tell.", outcome="refusal", answerability=0.2)), dear)
    assert isinstance(only, Draft)
    assert only.abstained
    assert dear.asked == 0


def test_first_answer_stands_if_second_fails() -> None:
    """As where a budget is used up: half an answer is better than quotes, and it says so."""
    poor = draft("Half.", support=0.5, notices=("half of it is not proved",))
    (only,) = run(Fixed(poor), Fixed(draft("Quoted.", degraded=True, notices=("over the budget",))))
    assert isinstance(only, Draft)
    assert only.text == "Half."
    assert only.degraded
    assert "over the budget" in only.notices[-1]


def test_reports_the_failure_of_both() -> None:
    failed = draft("Quoted.", degraded=True, notices=("it is not there",))
    (only,) = run(Fixed(failed), Fixed(failed))
    assert isinstance(only, Draft)
    assert only.notices[0] == "it is not there"


def test_answerability_is_that_of_the_evidence() -> None:
    assert asyncio.run(TieredAnswerer(Fixed(), Fixed(), proof).answerability(FOUND, request=Request.by_owner())) == 0.5
