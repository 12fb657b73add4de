"""Two models, the cheaper one first: the second is asked only where the first does not satisfy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from evidence import evidence

from ragstone.answers import Draft, SentenceClosed, TextWritten, Turn
from ragstone.contracts import Evidence
from ragstone.errors import ModelError
from ragstone.respond.tiers import TieredAnswerer, unproved

FOUND = evidence("Why?", "Because.")
Part = TextWritten | SentenceClosed | Draft


def draft(text: str, **fields: object) -> Draft:
    told = {"answerability": 0.9, "abstained": False, **fields}
    return Draft(text=text, citations=(), **told)  # pyright: ignore[reportArgumentType]


class Fixed:
    """An answerer that has its answer already."""

    def __init__(self, *parts: Part | Exception) -> None:
        self.parts, self.asked = parts, 0

    async def answerability(self, evidence: Evidence) -> float:  # noqa: ARG002
        return 0.5

    async def stream(self, evidence: Evidence, before: Sequence[Turn] = ()) -> AsyncGenerator[Part]:  # noqa: ARG002
        self.asked += 1
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            yield part


async def proof(_evidence: Evidence, draft: Draft) -> str:
    return unproved(draft, least=0.8, abstain_below=0.5)


def run(cheap: Fixed, dear: Fixed) -> list[Part]:
    async def parts() -> list[Part]:
        return [part async for part in TieredAnswerer(cheap, dear, proof).stream(FOUND)]

    return asyncio.run(parts())


def test_an_answer_that_satisfies_is_the_answer() -> None:
    cheap, dear = Fixed(TextWritten(text="Good."), draft("Good.")), Fixed(draft("Better."))
    assert run(cheap, dear) == [TextWritten(text="Good."), draft("Good.")]
    assert dear.asked == 0


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (draft("Poor.", support=0.5), "only 50% of the first model's sentences are proved"),
        (draft("Nothing.", abstained=True), "found no answer in documents that likely have one"),
        (draft("Quoted.", degraded=True, notices=("it refused",)), "it refused"),
        (ModelError("it is not there"), "it is not there"),
    ],
    ids=["unproved", "refused", "degraded", "failed"],
)
def test_where_it_does_not_the_second_is_asked_and_nothing_of_the_first_is_shown(
    first: Draft | ModelError, why: str
) -> None:
    parts = run(Fixed(TextWritten(text="Poor."), first), Fixed(TextWritten(text="Good."), draft("Good.")))
    assert parts[0] == TextWritten(text="Good.")
    assert isinstance(parts[-1], Draft)
    assert parts[-1].text == "Good."
    assert why in parts[-1].notices[-1]
    assert len(parts) == 2


def test_where_the_documents_do_not_tell_no_second_model_is_paid() -> None:
    dear = Fixed(draft("Invented."))
    (only,) = run(Fixed(draft("They do not tell.", abstained=True, answerability=0.2)), dear)
    assert isinstance(only, Draft)
    assert only.abstained
    assert dear.asked == 0


def test_where_the_second_fails_the_first_answer_stands() -> None:
    """As where a budget is used up: half an answer is better than quotes, and it says so."""
    poor = draft("Half.", support=0.5, notices=("half of it is not proved",))
    (only,) = run(Fixed(poor), Fixed(draft("Quoted.", degraded=True, notices=("over the budget",))))
    assert isinstance(only, Draft)
    assert only.text == "Half."
    assert only.degraded
    assert "over the budget" in only.notices[-1]


def test_where_both_fail_that_is_told() -> None:
    failed = draft("Quoted.", degraded=True, notices=("it is not there",))
    (only,) = run(Fixed(failed), Fixed(failed))
    assert isinstance(only, Draft)
    assert only.notices[0] == "it is not there"


def test_the_answerability_is_that_of_the_evidence() -> None:
    assert asyncio.run(TieredAnswerer(Fixed(), Fixed(), proof).answerability(FOUND)) == 0.5
