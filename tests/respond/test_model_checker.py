"""An answer checked by one call of a language model."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ModelError
from ragstone.core.request import Request
from ragstone.respond.proof.by_model import ModelChecker, located
from ragstone.respond.proof.records import Proof
from tests.respond.proofs import LEAVE, PASSAGES, PUMP, REPORT, checker, hits


class Says:
    """A model that replies the same to everything."""

    name = "says:always"

    def __init__(self, reply: str | None) -> None:
        self.reply, self.asked = reply, list[str]()

    def count(self, text: str) -> int:
        return len(text)

    async def stream(self, messages: Sequence[Message], request: Request, form: object = None) -> AsyncGenerator[Piece]:  # noqa: ARG002
        self.asked.append(messages[-1].content)
        if self.reply is None:
            raise ModelError("it is not there")
        yield Reply(text=self.reply)


def checked(reply: str | None, *sentences: str) -> list[Proof]:
    model = ModelChecker(checker=checker(), model=Says(reply))
    return asyncio.run(model.check_all(sentences, hits(*PASSAGES), Request.by_owner()))


def test_one_call_checks_all_sentences() -> None:
    says = Says("")
    model = ModelChecker(checker=checker(), model=says)
    asyncio.run(model.check_all(["One thing.", "Another."], hits(*PASSAGES), Request.by_owner()))
    assert len(says.asked) == 1
    assert all(text in says.asked[0] for text in (LEAVE, REPORT, PUMP, "One thing.", "Another."))


def test_believes_a_yes_with_a_quote_that_stands_there() -> None:
    [found] = checked(
        '{"sentence": 1, "verdict": "yes", "quote": "It must  not run dry for more than 30 seconds"}',
        "Avoid operating it without liquid.",
    )
    assert found.state == "supported"
    assert [quote.text for quote in found.quotes] == ["It must not run dry for more than 30 seconds"]


@pytest.mark.parametrize("quote", ["It may run dry for an hour", "", "dry"])
def test_disbelieves_a_yes_without_such_a_quote(quote: str) -> None:
    sentence = "Avoid operating it without liquid."
    assert checked(f'{{"sentence": 1, "verdict": "yes", "quote": "{quote}"}}', sentence) == checked("", sentence)


def test_a_wrong_figure_stays_wrong() -> None:
    reply = '{"sentence": 1, "verdict": "yes", "quote": "The pump delivers 12 litres per minute"}'
    [found] = checked(reply, "The pump delivers 21 litres per minute.")
    assert found.state == "contradicted"


def test_believes_a_no_with_a_quote() -> None:
    reply = '{"sentence": 1, "verdict": "no", "quote": "Stop the motor before you open the housing."}'
    [found] = checked(reply, "You can open the housing while the motor runs.")
    assert found.state == "contradicted"
    assert found.reason == "the passage says: Stop the motor before you open the housing"


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n[{"sentence": 1, "verdict": "absent", "quote": ""},\n{"sentence": 2, "verdict": "absent"}]\n```',
        'Sure!\n{"sentence": "1", "verdict": "Absent", "quote": null}\n{"sentence": 2, "verdict": false}\n{"sen',
        '{"sentence": 1, "verdict": "unsupported", "quote": "", "why": "not there"}',
        '{"checks": [{"sentence": 1, "verdict": "absent", "quote": "no {braces} here"}]}',
    ],
)
def test_reads_replies_leniently(reply: str) -> None:
    first, _ = checked(reply, "The mayor attended.", "It rained.")
    assert first.state == "missing"
    assert first.reason == "no source says this"


def test_a_failing_model_changes_nothing() -> None:
    model = ModelChecker(checker=checker(), model=Says(None))
    found = asyncio.run(model.check("The pump delivers 12 litres per minute.", hits(PUMP), Request.by_owner()))
    assert found.state == "supported"


def test_finds_a_quote_with_other_spaces_and_signs() -> None:
    assert located("“Half days  are possible … **single hours** are not”", hits(LEAVE)) is not None
    assert located("Half days are impossible", hits(LEAVE)) is None
