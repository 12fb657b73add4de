"""Selection: subsets of what came in, spread as promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.records import Chunk, Hit, Step
from ragstone.rank.select import mmr, one_per_document, round_robin, unit_scaled


def hit(document: str, score: float, n: int = 0, vector: list[float] | None = None) -> Hit:
    chunk = Chunk(id=f"{document}#{n}", document_id=document, index=n, total=9, start=0, end=1, text="x")
    unit = None if vector is None else np.array(vector, dtype=np.float32) / np.float32(np.linalg.norm(vector))
    return Hit(chunk=chunk, score=score, vector=unit, why=(Step(stage="fusion", score=score, rank=1),))


def ids(hits: list[Hit]) -> list[str]:
    return [hit.chunk.id for hit in hits]


@st.composite
def some_hits(draw: st.DrawFn) -> list[Hit]:
    found = draw(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(-1e3, 1e3)), max_size=9))
    angles = draw(st.lists(st.floats(0, 6.28), min_size=len(found), max_size=len(found)))
    return [
        hit(document, score, n, [float(np.cos(angle)), float(np.sin(angle))])
        for n, ((document, score), angle) in enumerate(zip(found, angles, strict=True))
    ]


@given(some_hits(), st.integers(0, 10), st.floats(0, 1))
def test_selections_are_subsets_with_ranks(hits: list[Hit], k: int, lambda_: float) -> None:
    for stage, chosen, most in (
        ("round_robin", round_robin(hits, k), k),
        ("mmr", mmr(hits, k, lambda_), k),
        ("one_per_document", one_per_document(hits), len({hit.chunk.document_id for hit in hits})),
    ):
        assert len(chosen) == min(most, len(hits))
        assert len(set(ids(chosen))) == len(chosen)
        given_hits = {hit.chunk.id: hit for hit in hits}
        for rank, picked in enumerate(chosen, start=1):
            before = given_hits[picked.chunk.id]
            assert picked.score == before.score
            assert picked.why[:-1] == before.why
            assert (picked.why[-1].stage, picked.why[-1].rank) == (stage, rank)


@given(some_hits())
def test_selecting_all_is_a_permutation(hits: list[Hit]) -> None:
    assert sorted(ids(round_robin(hits, len(hits)))) == sorted(ids(hits))
    assert sorted(ids(mmr(hits, len(hits), 0.5))) == sorted(ids(hits))


@given(some_hits())
def test_round_robin_begins_with_best_of_each(hits: list[Hit]) -> None:
    best = one_per_document(hits)
    assert ids(round_robin(hits, len(best))) == ids(best)
    assert [hit.score for hit in best] == sorted((hit.score for hit in best), reverse=True)


@given(some_hits(), st.integers(0, 10))
def test_shorter_selection_begins_the_longer_one(hits: list[Hit], k: int) -> None:
    assert ids(round_robin(hits, k)) == ids(round_robin(hits, len(hits)))[:k]
    assert ids(mmr(hits, k, 0.3)) == ids(mmr(hits, len(hits), 0.3))[:k]


@given(some_hits())
def test_mmr_without_novelty_sorts_by_score(hits: list[Hit]) -> None:
    assert [hit.score for hit in mmr(hits, len(hits), 1.0)] == sorted((hit.score for hit in hits), reverse=True)


def test_takes_three_sources_in_turn() -> None:
    hits = [
        hit("6", 0.89, 1),
        hit("6", 0.87, 2),
        hit("6", 0.84, 3),
        hit("11", 0.82, 1),
        hit("11", 0.81, 2),
        hit("28", 0.79, 1),
    ]
    assert [(hit.score, hit.chunk.document_id) for hit in round_robin(hits, 3)] == [
        (0.89, "6"),
        (0.82, "11"),
        (0.79, "28"),
    ]
    assert [hit.score for hit in round_robin(hits, 6)] == [0.89, 0.82, 0.79, 0.87, 0.81, 0.84]
    assert [hit.why[-1].note for hit in round_robin(hits, 4)] == ["round 1", "round 1", "round 1", "round 2"]


def test_mmr_prefers_novelty() -> None:
    hits = [hit("a", 1.0, 1, [1, 0]), hit("b", 0.9, 1, [1, 0.01]), hit("c", 0.5, 1, [0, 1]), hit("d", 0.0, 1, [-1, 0])]
    assert ids(mmr(hits, 3, 0.5)) == ["a#1", "d#1", "c#1"]
    assert ids(mmr(hits, 3, 1.0)) == ["a#1", "b#1", "c#1"]
    first, second, _ = mmr(hits, 3, 0.5)
    assert first.why[-1].score == pytest.approx(0.5)
    assert second.why[-1].score == pytest.approx(0.5 * 0 - 0.5 * -1)


def test_mmr_follows_its_definition() -> None:
    rng = np.random.default_rng(1)
    hits = [hit("a", float(score), n, list(rng.normal(size=4))) for n, score in enumerate(rng.normal(size=30))]
    low, high = min(h.score for h in hits), max(h.score for h in hits)
    picked: list[Hit] = []
    while len(picked) < 10:
        left = [h for h in hits if h not in picked]
        picked.append(
            max(
                left,
                key=lambda h: (
                    0.4 * (h.score - low) / (high - low)
                    - 0.6 * max((float(h.vector @ other.vector) for other in picked), default=0.0)
                ),
            )
        )
    assert ids(mmr(hits, 10, 0.4)) == ids(picked)


def test_mmr_needs_vectors_and_a_share() -> None:
    with pytest.raises(ValueError, match="vector"):
        mmr([hit("a", 1.0, 1, [1, 0]), replace(hit("b", 0.5), vector=None)], 2, 0.5)
    with pytest.raises(ValueError, match=r"0\.\.1"):
        mmr([], 2, 1.5)


def test_rest_scores_below_reranked_hits() -> None:
    """A reranker gives scores below 0, and fusion none: by them, the twenty-first would pass the second."""
    ranked, rest = [hit("a", 7.4), hit("b", -0.3), hit("c", -2.6)], [hit("d", 0.016), hit("e", 0.015)]
    scaled = unit_scaled(ranked, rest)
    assert [one.score for one in scaled] == pytest.approx([1, 0.23, 0, 0, 0])
    assert ids(one_per_document(scaled)) == ids([*ranked, *rest])
    assert [one.why for one in scaled] == [one.why for one in (*ranked, *rest)]
    assert [one.score for one in unit_scaled([hit("a", -5)])] == [1]
    assert unit_scaled([], rest) == rest
