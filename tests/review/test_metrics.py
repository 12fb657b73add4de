"""Measures: their bounds as properties, and trec_eval's own expected outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.review.metrics import (
    Measure,
    ndcg,
    per_query,
    precision,
    ranked,
    recall,
    reciprocal_rank,
)

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
MEASURES: dict[str, Measure] = {
    "recip_rank": reciprocal_rank,
    "ndcg": ndcg,
    **{f"P_{k}": partial(precision, k=k) for k in CUTS},
    **{f"recall_{k}": partial(recall, k=k) for k in CUTS},
    **{f"ndcg_cut_{k}": partial(ndcg, k=k) for k in CUTS},
}

documents = st.sampled_from([f"d{n}" for n in range(8)])
judgements = st.dictionaries(documents, st.integers(-1, 4))
rankings = st.lists(documents, max_size=12)


# ---------------------------------------------------------------- properties


@pytest.mark.parametrize("name", ["recip_rank", "ndcg", "P_5", "recall_5", "ndcg_cut_5"])
@given(rankings, judgements)
def test_values_lie_between_0_and_1(name: str, ranking: list[str], judged: Mapping[str, int]) -> None:
    assert 0 <= MEASURES[name](ranking, judged) <= 1


@pytest.mark.parametrize("name", ["recip_rank", "ndcg", "recall_10", "ndcg_cut_5"])
@given(judgements)
def test_ideal_ranking_scores_1(name: str, judged: Mapping[str, int]) -> None:
    ideal = sorted(judged, key=lambda document: -judged[document])
    expected = 1.0 if any(relevance > 0 for relevance in judged.values()) else 0.0
    assert MEASURES[name](ideal, judged) == pytest.approx(expected)


@given(rankings, judgements)
def test_scores_and_ranking_agree(ranking: list[str], judged: Mapping[str, int]) -> None:
    scores = {document: -float(rank) for rank, document in reversed(list(enumerate(ranking)))}
    assert per_query(ndcg, {"q": scores}, {"q": judged}) == per_query(ndcg, {"q": ranking}, {"q": judged})


def test_ties_put_the_higher_document_first() -> None:
    assert ranked({"a": 1.0, "c": 1.0, "b": 1.0, "z": 0.5}) == ["c", "b", "a", "z"]
    assert ranked({"b": 1.0, "a": 1.0 + 1e-12}) == ["b", "a"], "equal in single precision"
    assert ranked({"b": 1e300, "a": 1e301, "c": -1e300}) == ["b", "a", "c"]


def test_missing_query_counts_as_0() -> None:
    assert per_query(ndcg, {"other": ["d1"]}, {"q": {"d1": 1}}) == {"q": 0.0}


def test_reciprocal_rank_within_k() -> None:
    assert reciprocal_rank(["a", "b", "c"], {"c": 1}, 3) == pytest.approx(1 / 3)
    assert reciprocal_rank(["a", "b", "c"], {"c": 1}, 2) == 0


# ---------------------------------------------------------------- trec_eval


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            query, _, document, relevance = line.split()
            qrels[query][document] = int(relevance)
    return qrels


def read_run(path: Path) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            query, _, document, _, score, *_ = line.split()
            run[query][document] = float(score)
    return run


def read_expected(path: Path) -> dict[tuple[str, str], float]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {(row[0], row[1]): float(row[2]) for row in rows if row[0] in MEASURES}


# What the Makefile of trec_eval runs under "quicktest": qrels, run, expected output, and the options that matter here:
# -c (queries the run lacks count as 0; here always so), -M100 (first 100 ranks only).
@pytest.mark.parametrize(
    ("qrels", "run", "expected", "first", "at_least"),
    [
        ("qrels.test", "results.test", "out.test", None, 10),
        ("qrels.test.with-comments", "results.test", "out.test", None, 10),
        ("qrels.comment.test", "results.comment.test", "out.comment.test", None, 10),
        ("qrels.test", "results.test", "out.test.a", None, 29),
        ("qrels.test", "results.test", "out.test.aq", None, 116),
        ("qrels.test", "results.trunc", "out.test.aqc", None, 116),
        ("qrels.test", "results.trunc", "out.test.aqcM", 100, 116),
    ],
)
def test_matches_trec_eval(
    data_dir: Path, qrels: str, run: str, expected: str, first: int | None, at_least: int
) -> None:
    folder = data_dir / "peer_suites/trec_eval/test"
    judged, found = read_qrels(folder / qrels), read_run(folder / run)
    rankings = {query: ranked(scores)[:first] for query, scores in found.items()}
    values = {name: per_query(measure, rankings, judged) for name, measure in MEASURES.items()}
    wanted = read_expected(folder / expected)
    assert len(wanted) >= at_least
    for (name, query), value in wanted.items():
        ours = np.mean(list(values[name].values())) if query == "all" else values[name][query]
        assert f"{ours:.4f}" == f"{value:.4f}", f"{name} of {query}"


def test_matches_graded_ndcg_of_trec_eval(data_dir: Path) -> None:
    """The output is of ``-l2``: it raises what counts as relevant for the binary measures, not the gains of nDCG."""
    folder = data_dir / "peer_suites/trec_eval/test"
    judged, found = read_qrels(folder / "qrels.rel_level"), read_run(folder / "results.test")
    wanted = {key: value for key, value in read_expected(folder / "out.test.aql").items() if key[0].startswith("ndcg")}
    assert len(wanted) == 40
    for (name, query), value in wanted.items():
        values = per_query(MEASURES[name], found, judged)
        ours = np.mean(list(values.values())) if query == "all" else values[query]
        assert f"{ours:.4f}" == f"{value:.4f}", f"{name} of {query}"
