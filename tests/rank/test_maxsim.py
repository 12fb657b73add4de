"""Late interaction with the embedded model."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from ragstone.core.protocols import Role
from ragstone.core.records import Chunk, Hit, Span, TokenVectors
from ragstone.core.request import Request
from ragstone.index.embed.local import MiniLM
from ragstone.rank import build_matcher, build_reranker
from ragstone.rank.maxsim import LateInteraction
from ragstone.settings import RankSettings


def even(words: Sequence[str], _request: Request) -> list[float]:
    return [1.0] * len(words)


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def hit(number: int, text: str, score: float) -> Hit:
    return Hit(
        chunk=Chunk(id=str(number), document_id="d", index=number, total=3, start=0, end=len(text), text=text),
        score=score,
    )


def test_text_matches_itself_best(model: MiniLM):
    question = "Cats sleep in the afternoon."
    same, other = asyncio.run(
        build_matcher(model, even).match(question, [question, "Stocks fell on Friday."], request=Request.by_owner())
    )
    assert same.score() == pytest.approx(1, abs=1e-3)
    assert other.score() < 0.6


def test_part_scores_no_more_than_whole(model: MiniLM):
    text = "Cats sleep a lot. Stocks fell on Friday."
    (match,) = asyncio.run(build_matcher(model, even).match("Why did stocks fall?", [text], request=Request.by_owner()))
    first, second = Span(start=0, end=17), Span(start=18, end=len(text))
    assert match.score(first) < match.score(second) <= match.score() + 1e-6
    assert match.score(Span(start=len(text), end=len(text))) == 0


def test_word_weights_sum_to_one(model: MiniLM):
    def rare(words: Sequence[str], _request: Request) -> list[float]:
        return [5.0 if word == "photosynthesis" else 0.0 for word in words]

    (match,) = asyncio.run(
        build_matcher(model, rare).match("the photosynthesis, the", ["Plants."], request=Request.by_owner())
    )
    assert match.weights.sum() == pytest.approx(1)
    assert match.weights[0] == 0


def test_reranking_keeps_hits_and_history(model: MiniLM):
    hits = [
        hit(0, "Stocks fell on Friday.", 0.9),
        hit(1, "Cats sleep in the afternoon.", 0.8),
        hit(2, "Rain is wet.", 0.1),
    ]
    reranker = build_reranker(RankSettings(reranker="maxsim"), build_matcher(model, even))
    assert reranker is not None
    ranked = asyncio.run(reranker.rerank("When do cats sleep?", hits, request=Request.by_owner()))
    assert ranked[0].chunk.id == "1"
    assert {h.chunk.id for h in ranked} == {"0", "1", "2"}
    assert [h.why[-1].stage for h in ranked] == ["maxsim"] * 3
    assert [h.why[-1].rank for h in ranked] == [1, 2, 3]
    assert asyncio.run(reranker.rerank("Nothing?", [], request=Request.by_owner())) == []


def test_weighs_a_very_long_question_quickly(model: MiniLM):
    question = "word " * 100_000
    spans = [Span(start=start, end=start + 4) for start in range(0, len(question), 5)]
    started = time.perf_counter()
    weights = LateInteraction(model, even)._token_weights(question, spans, Request.by_owner())
    assert time.perf_counter() - started < 5
    assert weights == pytest.approx(1 / len(spans))


@pytest.mark.parametrize("count", [5, 20, 40])
def test_embeds_passages_once_per_answer(count: int):
    """Each takes some 50 ms: an answer of many sentences from 20 passages took minutes."""
    embedded: list[str] = []

    class Counting(MiniLM):
        async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]:
            embedded.extend(texts if role == "passage" else ())
            return await super().embed_tokens(texts, role=role, request=request)

    matcher, passages = LateInteraction(Counting(), even), [f"Room {n}." for n in range(count)]

    async def check() -> None:
        for sentence in ("Cats sleep.", "Rain is wet.", "Stocks fell."):
            assert len(await matcher.match(sentence, passages, request=Request.by_owner())) == count

    asyncio.run(check())
    assert embedded == passages
