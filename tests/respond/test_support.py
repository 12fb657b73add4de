"""Sentences proved by evidence, with the embedded model."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from ragstone import chunk
from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ModelError
from ragstone.core.records import Document, Hit
from ragstone.core.request import Request
from ragstone.index.embed.local import MiniLM
from ragstone.rank import build_matcher
from ragstone.respond.facts import words
from ragstone.respond.proof.by_model import ModelChecker
from ragstone.respond.proof.by_words import SupportChecker
from ragstone.respond.proof.records import Proof
from ragstone.settings import ChunkSettings

BRIDGE = Document(
    id="bridge",
    title="The Albert Bridge",
    text=(
        "The Albert Bridge was built by Rowland Ordish between 1870 and 1873. It crosses the Thames and connects "
        "Chelsea on the north bank to Battersea on the south bank. The bridge is 710 feet long. Motor traffic above "
        "two tonnes is not allowed on it. Since 1975 the bridge has been a listed building of the second grade."
    ),
)
CATS = Document(
    id="cats", title="Cats", text="Cats sleep for most of the day. Unlike dogs, they are seldom taken for walks."
)


@pytest.fixture(scope="module")
def checker() -> SupportChecker:
    model = MiniLM()
    matcher = build_matcher(model, even)
    return SupportChecker(matcher=matcher, sentences=chunk.sentences, weigh=even)


@pytest.fixture(scope="module")
def hits() -> list[Hit]:
    model = MiniLM()
    pieces = [piece for one in (BRIDGE, CATS) for piece in chunk.split(one, ChunkSettings(), model.tokens)]
    return [Hit(chunk=piece, score=1 - n / 100) for n, piece in enumerate(pieces)]


def even(words: Sequence[str], _request: Request) -> list[float]:
    return [1.0] * len(words)


def proof(checker: SupportChecker, hits: list[Hit], sentence: str, before: str = "") -> Proof:
    return asyncio.run(checker.check(sentence, hits, Request.by_owner(), before))


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge is 710 feet long.",
        "The Albert Bridge was built by Rowland Ordish between 1870 and 1873.",
        "Rowland Ordish built the Albert Bridge, which is 710 feet long.",
        "The bridge connects Chelsea to Battersea across the Thames.",
        "Vehicles above two tonnes are not allowed on the bridge.",
        "Vehicles above 2 tonnes are not allowed on the bridge.",
    ],
)
def test_supports_what_the_evidence_says(checker: SupportChecker, hits: list[Hit], sentence: str):
    found = proof(checker, hits, sentence)
    assert found.supported
    assert found.support > 0.5
    assert all(quote.hit.chunk.document_id == "bridge" for quote in found.quotes)
    assert all(quote.span.of(quote.hit.chunk.text) in BRIDGE.text for quote in found.quotes)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge is 810 feet long.",
        "The bridge is 710 metres long.",
        "The Albert Bridge was built by Joseph Bazalgette between 1870 and 1873.",
        "The Albert Bridge was built by Rowland Ordish between 1870 and 1975.",
        "Motor traffic above two tonnes is allowed on it.",
        "The bridge is not a listed building of the second grade since 1975.",
        "Motor traffic below two tonnes is not allowed on it.",
        "The museum of modern art opens at ten.",
    ],
)
def test_does_not_support_other_claims(checker: SupportChecker, hits: list[Hit], sentence: str):
    found = proof(checker, hits, sentence)
    assert not found.supported
    assert found.support < 0.5


def test_quotes_the_supporting_sentence(checker: SupportChecker, hits: list[Hit]):
    found = proof(checker, hits, "The bridge is 710 feet long.")
    assert [quote.span.of(quote.hit.chunk.text) for quote in found.quotes] == ["The bridge is 710 feet long."]


def test_several_sentences_support_several_clauses(checker: SupportChecker, hits: list[Hit]):
    found = proof(checker, hits, "The bridge is 710 feet long and was built by Rowland Ordish.")
    assert found.supported
    assert len(found.quotes) == 2


def test_nothing_supports_without_evidence(checker: SupportChecker, hits: list[Hit]):
    assert not proof(checker, [], "The bridge is 710 feet long.").supported
    assert not proof(checker, hits, " … ").supported


def test_normalises_numbers_and_dates():
    def values(text: str) -> list[str]:
        return [word.value for word in words(text) if word.value]

    assert values("1,000 km") == values("1.000 km") == values("1\u00a0000 km") == ["1000"]
    assert values("2.50") == values("2,5") == ["2.5"]
    assert values("12 March 2020") == values("2020-03-12") == values("12.03.2020") == ["12", "month 3", "2020"]
    assert values("zwölf Tage") == values("twelve days") == ["12"]


def test_distinguishes_names_from_sentence_starts():
    named = [word.lower for word in words("Yesterday the Thames rose. In Chelsea, NATO met.") if word.named]
    assert named == ["thames", "chelsea", "nato"]


# ---------------------------------------------------------------- a model looks again


class Says:
    """A model that gives the same reply to everything."""

    name = "says:always"

    def __init__(self, reply: str | None) -> None:
        self.reply, self.asked = reply, list[str]()

    def count(self, text: str) -> int:
        return len(text)

    async def stream(self, messages: Sequence[Message], request: Request, form: object = None) -> AsyncGenerator[Piece]:  # noqa: ARG002
        self.asked.append(messages[-1].content)
        if self.reply is None:
            raise ModelError("it is not there")
        yield self.reply
        yield Reply(text=self.reply)


def second(checker: SupportChecker, hits: list[Hit], sentence: str, reply: str | None) -> Proof:
    look = ModelChecker(by_words=checker, otherwise=checker, model=Says(reply))
    return asyncio.run(look.check(sentence, hits, request=Request.by_owner()))


def test_trusts_a_model_with_an_existing_quote(checker: SupportChecker, hits: list[Hit]):
    reply = '{"supported": true, "quote": "It crosses  the Thames"}'
    found = second(checker, hits, "One gets over the river on it.", reply)
    assert found.supported
    assert [quote.span.of(quote.hit.chunk.text) for quote in found.quotes] == ["It crosses the Thames"]


@pytest.mark.parametrize(
    ("sentence", "reply"),
    [
        ("The bridge is 710 feet long.", '{"supported": true, "quote": "It is 710 feet in length"}'),
        ("The bridge is 710 feet long.", '{"supported": true, "quote": ""}'),
        ("The bridge is 710 feet long.", '{"supported": false, "quote": ""}'),
        ("The bridge is 810 feet long.", '{"supported": true, "quote": "The bridge is 710 feet long."}'),
    ],
)
def test_distrusts_a_model_without_quote_or_numbers(
    checker: SupportChecker, hits: list[Hit], sentence: str, reply: str
):
    found = second(checker, hits, sentence, reply)
    assert not found.supported
    assert found.quotes == ()


def test_falls_back_to_words_if_model_fails(checker: SupportChecker, hits: list[Hit]):
    assert second(checker, hits, "The bridge is 710 feet long.", None).supported
    assert not second(checker, hits, "The bridge is 810 feet long.", None).supported


def test_repeated_words_are_not_a_sentence(checker: SupportChecker):
    text = "bridge Thames 710 " * 200
    chunk_ = chunk.split(Document(id="d", text=text), ChunkSettings(size=4000), MiniLM().tokens)
    found = [Hit(chunk=piece, score=1.0) for piece in chunk_]
    assert proof(checker, found, "Thames bridge 711 " * 200).supported is False
