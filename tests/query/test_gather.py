"""How much each leg of a search may bring, and how good it must be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.records import Matches
from ragstone.query.gather import above, allocate, by_document
from ragstone.question import read


def matches(*scores: float) -> Matches:
    return Matches(rows=np.arange(len(scores)), scores=np.array(scores))


def test_suitable_leg_gets_the_full_limit() -> None:
    words, sentence = read("three short words"), read("Which of these words are short?")
    assert allocate(words, 10, "by_kind") == {"vector": 5, "bm25": 10}
    assert allocate(sentence, 10, "by_kind") == {"vector": 10, "bm25": 5}
    assert allocate(sentence, 1, "by_kind") == {"vector": 1, "bm25": 1}
    assert allocate(words, 10, "equal") == {"vector": 10, "bm25": 10}


def test_thresholds_are_cosine_and_share_of_best() -> None:
    found = {"vector": matches(0.9, 0.5, 0.4), "bm25": matches(20.0, 9.0, 8.9)}
    left = above(found, 0.5, 0.45)
    assert {name: len(some) for name, some in left.items()} == {"vector": 2, "bm25": 2}
    assert above({"bm25": matches()}, 0.5, 0.45)["bm25"].rows.tolist() == []


@given(st.lists(st.floats(0, 30), max_size=9), st.floats(0, 1), st.floats(0, 1))
def test_lower_threshold_keeps_at_least_as_many(scores: list[float], one: float, other: float) -> None:
    found = {"bm25": matches(*sorted(scores, reverse=True))}
    low, high = sorted((one, other))
    assert len(above(found, 0, low)["bm25"]) >= len(above(found, 0, high)["bm25"])


def test_documents_stand_under_one_chunk_in_all_legs() -> None:
    vector = Matches(rows=np.array([1, 2, 3, 9]), scores=np.array([0.9, 0.8, 0.7, 0.6]))
    bm25 = Matches(rows=np.array([4, 2, 5]), scores=np.array([9.0, 8.0, 7.0]))
    documents = {1: "a", 2: "b", 3: "a", 4: "a", 5: "c"}  # 9 was removed meanwhile
    order = [2, 4, 1, 3, 9, 5]
    best = by_document({"vector": vector, "bm25": bm25}, order, documents, {"vector": 20, "bm25": 2})
    assert (best["vector"].rows.tolist(), best["vector"].scores.tolist()) == ([4, 2], [0.9, 0.8])
    assert (best["bm25"].rows.tolist(), best["bm25"].scores.tolist()) == ([4, 2], [9.0, 8.0])
