"""Fusion: algebraic properties, and the tests of another implementation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.records import Matches
from ragstone.query.fuse import RULES, Fused, Legs, fuse, min_max, reciprocal_rank, standardised, strongest
from ragstone.settings import QuerySettings

ROOM = dict.fromkeys(("vector", "bm25", "title", "web"), 200)
METHODS = tuple(RULES)


def leg(scores: dict[int, float]) -> Matches:
    best_first = sorted(scores.items(), key=lambda item: -item[1])
    return Matches(
        rows=np.array([row for row, _ in best_first], dtype=np.int64),
        scores=np.array([score for _, score in best_first], dtype=np.float64),
    )


def scores_of(fused: Fused) -> dict[int, float]:
    return dict(zip(fused.rows.tolist(), fused.scores.tolist(), strict=True))


def test_settings_name_every_rule() -> None:
    assert set(get_args(QuerySettings.model_fields["fusion"].annotation)) == RULES.keys()


scores = st.dictionaries(st.integers(0, 12), st.floats(-1e6, 1e6), max_size=8).map(leg)
some_legs = st.dictionaries(st.sampled_from(["vector", "bm25", "title", "web"]), scores, max_size=4)
some_weights = st.fixed_dictionaries({name: st.floats(0, 1) for name in ("vector", "bm25", "title", "web")})
methods = st.sampled_from(METHODS).map(lambda method: QuerySettings(fusion=method))


@given(some_legs, some_weights, methods, st.randoms())
def test_ignores_the_order_of_the_legs(legs: Legs, weights, settings, random) -> None:
    names = list(legs)
    random.shuffle(names)
    shuffled = fuse({name: legs[name] for name in names}, weights, settings, ROOM)
    assert shuffled.candidates() == fuse(legs, weights, settings, ROOM).candidates()


@given(some_legs, some_weights, methods)
def test_returns_each_found_row_once_best_first(legs: Legs, weights, settings) -> None:
    fused = fuse(legs, weights, settings, ROOM).candidates()
    found = {row for matches in legs.values() for row in matches.rows.tolist()}
    assert sorted(candidate.row for candidate in fused) == sorted(found)
    assert [c.score for c in fused] == sorted((c.score for c in fused), reverse=True)
    if sum(bool(len(matches)) for matches in legs.values()) > 1:
        keys = [(-candidate.score, candidate.row) for candidate in fused]
        assert keys == sorted(keys), "equal scores are ordered by row"


@given(some_legs, some_weights, methods)
def test_leaves_its_inputs_unchanged(legs: Legs, weights, settings) -> None:
    def copied() -> object:
        return {name: (one.rows.tolist(), one.scores.tolist()) for name, one in legs.items()}, dict(weights)

    before = copied()
    fuse(legs, weights, settings, ROOM)
    assert copied() == before


@given(scores, st.floats(0, 1), methods)
def test_keeps_the_order_of_a_single_leg(matches: Matches, weight: float, settings) -> None:
    fused = fuse({"vector": matches, "bm25": leg({})}, {"vector": weight}, settings, ROOM)
    assert fused.rows.tolist() == matches.rows.tolist()


@given(scores, some_weights, methods)
def test_the_only_leg_keeps_its_scores(matches: Matches, weights, settings) -> None:
    fused = fuse({"vector": matches}, weights, settings, ROOM)
    assert (fused.rows.tolist(), fused.scores.tolist()) == (matches.rows.tolist(), matches.scores.tolist())


@given(some_legs, some_weights, methods)
def test_history_has_raw_scores_and_ranks(legs: Legs, weights, settings) -> None:
    fused = fuse(legs, weights, settings, ROOM)
    assert fused.candidates(2, 5) == fused.candidates()[2:5]
    for rank, candidate in enumerate(fused.candidates(), start=1):
        *found, fusion = candidate.why
        assert (fusion.stage, fusion.score, fusion.rank) == ("fusion", candidate.score, rank)
        assert fusion.note.startswith(settings.fusion if len(legs) > 1 else f"{next(iter(legs))} alone")
        for step in found:
            matches = legs[step.stage]
            assert matches.rows[step.rank - 1] == candidate.row
            assert matches.scores[step.rank - 1] == step.score
        assert len(found) == sum(candidate.row in matches.rows for matches in legs.values())


@given(some_legs, some_weights)
def test_min_max_stays_within_sum_of_weights(legs: Legs, weights) -> None:
    scores = min_max(legs, weights).scores
    assert ((scores >= 0) & (scores <= sum(weights.values()) + 1e-9)).all()


@given(
    st.dictionaries(st.integers(0, 9), st.floats(-100, 100), min_size=2, max_size=6),
    st.floats(0.1, 10),
    st.floats(-9, 9),
)
def test_standardised_ignores_scale_and_offset(found: dict[int, float], factor: float, offset: float) -> None:
    other = {"bm25": leg({1: 5.0, 2: 3.0, 7: 1.0})}
    weights = {"vector": 0.5, "bm25": 0.5}
    if max(found.values()) - min(found.values()) < 1e-3:
        return
    room = {"vector": len(found), "bm25": 3}
    plain = scores_of(standardised({"vector": leg(found), **other}, weights, room))
    moved = scores_of(
        standardised(
            {"vector": leg({row: score * factor + offset for row, score in found.items()}), **other},
            weights,
            room,
        )
    )
    assert moved == pytest.approx(plain, abs=1e-6)


def test_min_max_of_both_legs() -> None:
    fused = min_max(
        {"vector": leg({1: 0.9, 2: 0.8, 3: 0.7}), "bm25": leg({2: 12.0, 4: 4.0})}, {"vector": 0.7, "bm25": 0.3}
    )
    assert fused.rows.tolist() == [1, 2, 3, 4]
    assert scores_of(fused) == pytest.approx({1: 0.7, 2: 0.7 * 0.5 + 0.3, 3: 0.0, 4: 0.0})


def test_plain_reciprocal_rank_fusion() -> None:
    legs = {"vector": leg({1: 0.9, 2: 0.8}), "bm25": leg({2: 12.0, 4: 4.0})}
    fused = scores_of(reciprocal_rank(legs, {"vector": 1.0, "bm25": 1.0}))
    assert fused == pytest.approx({2: 1 / 62 + 1 / 61, 1: 1 / 61, 4: 1 / 62})
    assert list(fused) == [2, 1, 4]


def test_equal_scores() -> None:
    assert scores_of(min_max({"bm25": leg({1: 3.0, 2: 3.0})}, {"bm25": 0.3})) == {1: 0.3, 2: 0.3}
    assert scores_of(standardised({"bm25": leg({1: 0.1, 2: 0.1, 3: 0.1})}, {"bm25": 0.3}, {"bm25": 3})) == {
        1: 0.0,
        2: 0.0,
        3: 0.0,
    }


@given(st.floats(-1, 1), st.floats(0, 50), st.floats(0, 1))
def test_single_candidate_scores_its_similarity(cosine: float, bm25: float, weight: float) -> None:
    legs, weights = {"vector": leg({7: cosine}), "bm25": leg({7: bm25})}, {"vector": weight, "bm25": 1 - weight}
    (score,) = standardised(legs, weights, ROOM).scores
    assert score == pytest.approx(max(0, cosine))


def test_single_candidate_without_a_vector_scores_by_its_words() -> None:
    legs = {"vector": leg({}), "bm25": leg({7: 0.8})}
    assert scores_of(standardised(legs, {"vector": 0.5, "bm25": 0.5}, ROOM)) == pytest.approx({7: 0.4})


def test_missing_chunk_scores_as_lowest_of_full_leg() -> None:
    legs = {"vector": leg({1: 4.0, 2: 1.0}), "bm25": leg({3: 1.0})}
    cut_off = scores_of(standardised(legs, {"vector": 1, "bm25": 0}, {"vector": 2, "bm25": 2}))
    assert cut_off == pytest.approx({1: 2**0.5, 2: -(0.5**0.5), 3: -(0.5**0.5)})  # candidates count as 4, 1 and 1


@given(
    st.dictionaries(st.integers(0, 9), st.floats(0.1, 100), min_size=1, max_size=6),
    st.dictionaries(st.integers(0, 9), st.floats(0.1, 100), min_size=1, max_size=6),
    st.integers(0, 6),
)
def test_limit_applies_to_each_leg_separately(vector: dict[int, float], bm25: dict[int, float], further: int) -> None:
    legs, weights = {"vector": leg(vector), "bm25": leg(bm25)}, {"vector": 1.0, "bm25": 0.0}
    cut_off = {"vector": len(vector), "bm25": len(bm25) + further}
    fused = scores_of(standardised(legs, weights, cut_off))
    lowest = min(fused[row] for row in vector)
    # The next match would have scored about the lowest, so no chunk of the other leg is estimated below it.
    assert all(score == pytest.approx(lowest) for row, score in fused.items() if row not in vector)
    # The limit of the other leg does not matter to this one.
    assert fused == scores_of(standardised(legs, weights, cut_off | {"bm25": 1}))


def test_single_match_of_a_leg_stands_out() -> None:
    legs = {"vector": leg({row: 0.5 - row / 100 for row in range(20)}), "bm25": leg({33: 9.0})}
    fused = standardised(legs, {"vector": 0.5, "bm25": 0.5}, ROOM)
    assert fused.rows[0] == 33


def test_refuses_a_leg_without_weight() -> None:
    with pytest.raises(KeyError, match="bm25"):
        min_max({"bm25": leg({1: 1.0})}, {"vector": 1.0})


def test_passes_the_tests_of_ranx(data_dir: Path) -> None:
    """Shared with ranx (github.com/AmenRa/ranx): reciprocal rank fusion with k = 60 and all weights 1, and the
    min-max and zero-mean-unit-variance norms of a list with unequal scores.

    Not shared: ranx gives equal scores the min-max norm 0, ours is 1; a document that a run lacks adds 0
    to its sums after the z-norm, with ours the lowest score of the run; inverted norms are not ours.
    """
    options = ["-p", "ranx_adapter", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "/", "-k", "not invert"]
    folder = data_dir / "peer_suites/ranx/tests/unit/ranx"
    names = ("fusion/rrf_test.py", "normalization/min_max_norm_test.py", "normalization/zmuv_norm_test.py")
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *options, *(folder / name for name in names)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


@given(some_legs, some_weights)
def test_strongest_takes_the_best_leg(legs: Legs, weights: dict[str, float]) -> None:
    greatest = max(weights.values()) or 1.0
    worth: dict[int, list[float]] = {}
    for name, matches in legs.items():
        unit = max([1.0, *matches.scores.tolist()])
        for row, score in zip(matches.rows.tolist(), matches.scores.tolist(), strict=True):
            worth.setdefault(row, []).append(weights[name] / greatest * (score / unit))
    assert scores_of(strongest(legs, weights)) == pytest.approx({row: max(some) for row, some in worth.items()})


def test_strongest_brings_scales_together() -> None:
    legs = {"vector": leg({1: 0.8, 2: 0.7}), "bm25": leg({2: 12.0, 3: 6.0})}
    assert scores_of(strongest(legs, {"vector": 1.0, "bm25": 0.9})) == pytest.approx({2: 0.9, 1: 0.8, 3: 0.45})
