"""Proposals: replays of past questions, the screen of candidates, and eager steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.core.records import Considered
from ragstone.learning.eager import STEP_PART, propose_step
from ragstone.learning.log import AssignmentRecord, VoteRecord
from ragstone.learning.observation import Observation, ReplayCase
from ragstone.learning.policy import BOUNDS, Choices, Policy
from ragstone.learning.proposals import neighbours, propose_challenger, replay, replay_cases, screen

FULL = Choices(
    web_threshold=0.7,
    relevance=0.3,
    factuality=0.3,
    completeness=0.4,
    retrieval_share=0.5,
    slope=2.0,
    shift=0.0,
    vector_weight=0.5,
    top_k=5,
    rerank=False,
)
FIRST = Policy(version=0)


def voted(vote: int, **seen: Any) -> VoteRecord:
    return VoteRecord(response_id="r", voice="v", vote=vote, at=0, seen=Observation(**seen))


def step(
    choices: Choices, votes: Sequence[VoteRecord], before: Mapping[str, Any] = {}
) -> tuple[Choices, Mapping[str, Any]]:
    """Return the choices after a step, and its figures."""
    found = propose_step(FIRST, choices, votes, before)
    return (found.by_kind[""].with_defaults(choices), found.figures) if found else (choices, before)


def test_proposes_the_weight_that_finds_relevant_documents() -> None:
    """The relevant document is first by keywords and last by vectors."""
    seen = Observation(found=(("right", 0.1, 9.0), ("b", 0.9, 6.0), ("c", 0.8, 2.0)), right=("right",))
    asked = AssignmentRecord(response_id="", trial=0, version=0, probability=1, acted=0, kind="", voice="", at=0)
    cases = replay_cases([(asked, VoteRecord(response_id="", voice="", vote=1, at=0, seen=seen))] * 40)
    base = Choices(vector_weight=0.6, top_k=5)
    proposal = propose_challenger(FIRST, base, cases, [], [])
    assert proposal is not None
    assert proposal.by_kind[""].vector_weight == pytest.approx(0.4)
    again = propose_challenger(FIRST, base, cases, [Policy(version=1, by_kind=proposal.by_kind)], [])
    assert again is None or again.by_kind != proposal.by_kind
    assert propose_challenger(FIRST, base, cases[:1], [], []) is None


def web_votes(*, without: int) -> list[VoteRecord]:
    """Return liked answers with the web, and answers without it, just sure enough, with this vote."""
    return [voted(1, web=True, answerability=0.6)] * 15 + [voted(without, answerability=0.75)] * 25


def test_proposes_to_search_the_web_more() -> None:
    proposal = propose_challenger(FIRST, Choices(web_threshold=0.7), [], [], web_votes(without=-1))
    assert proposal is not None
    assert proposal.by_kind == {"": Choices(web_threshold=0.8)}
    assert proposal.figures["difference"] == pytest.approx(25 / 40)
    tried = [Policy(version=1, by_kind=proposal.by_kind)]
    assert propose_challenger(FIRST, Choices(web_threshold=0.7), [], tried, web_votes(without=-1)) is None
    assert propose_challenger(FIRST, Choices(web_threshold=0.7), [], [], web_votes(without=1)) is None


def test_proposes_to_search_the_web_less() -> None:
    votes = [voted(-1, web=True, answerability=0.65)] * 20 + [voted(1, answerability=0.9)] * 20
    proposal = propose_challenger(FIRST, Choices(web_threshold=0.7), [], [], votes)
    assert proposal is not None
    assert proposal.by_kind == {"": Choices(web_threshold=0.6)}


def test_needs_answers_of_both_kinds_to_move_the_web_threshold() -> None:
    votes = [voted(-1, answerability=0.75)] * 40
    assert propose_challenger(FIRST, Choices(web_threshold=0.7), [], [], votes) is None


def test_neighbours_move_one_replayable_choice() -> None:
    found = neighbours(FULL)
    assert len(found) == 4
    for one in found:
        (name,) = {name for name, value in asdict(one).items() if value != getattr(FULL, name)}
        assert BOUNDS[name].low <= getattr(one, name) <= BOUNDS[name].high
    assert neighbours(Choices()) == ()


def test_replay_ranks_found_documents_under_other_weights() -> None:
    found = (
        Considered(document_id="a", vector=1.0, keyword=0.1),
        Considered(document_id="b", keyword=1.0),
        Considered(document_id="c"),
    )
    cases = [ReplayCase(kind="", found=found, relevant={"b"}), ReplayCase(kind="", found=(), relevant={"b"})]
    assert replay(cases, Choices(vector_weight=1.0)).tolist() == [0.5, 0]
    assert replay(cases, Choices(vector_weight=0.0)).tolist() == [1.0, 0]
    assert replay(cases, Choices(vector_weight=1.0, top_k=1)).tolist() == [0, 0]


def test_screens_out_inferior_candidates() -> None:
    noise = np.random.default_rng(4).normal(0, 0.02, 300)
    better, same = screen(np.full(300, 0.03)), screen(noise)
    assert better is not None
    assert same is not None
    assert better.promise > same.promise
    assert screen(np.full(300, -0.05)) is None
    assert screen(np.array([0.5, -0.5, 0.0])) is None, "three questions are too few"
    assert screen(np.zeros(300)) is None, "nothing changes"


votes = st.builds(
    voted,
    st.sampled_from([1, -1]),
    web=st.booleans(),
    answerability=st.floats(0, 1),
    marks=st.none() | st.tuples(*[st.floats(0, 10)] * 3),
)


@settings(max_examples=40)
@given(st.lists(st.lists(votes, max_size=5), max_size=12))
def test_eager_steps_are_small_and_within_bounds(fives: list[list[VoteRecord]]) -> None:
    now, figures = FULL, dict[str, Any]()
    for five in fives:
        later, figures = step(now, five, figures)
        for name, bound in BOUNDS.items():
            value = getattr(later, name)
            assert bound.low <= value <= bound.high
            assert abs(value - getattr(now, name)) <= STEP_PART * bound.step + 1e-6
        now = later
    assert propose_step(FIRST, Choices(), fives[0] if fives else [], {}) is None


def test_eager_steps_follow_the_votes() -> None:
    disliked = [voted(-1)] * 5
    one, _ = step(FULL, disliked)
    assert (one.web_threshold or 0) > 0.7, "answers without the web are disliked"
    assert (step(one, [voted(-1, web=True)] * 5)[0].web_threshold or 0) < (one.web_threshold or 0)
    moved, _ = step(FULL, [voted(1, marks=(9, 5, 2)), voted(-1, marks=(2, 5, 9))])
    assert (moved.relevance, moved.factuality, moved.completeness) == (0.325, 0.3, 0.375)
    first, figures = step(FULL, [voted(1)] * 5)
    assert figures["direction"] == 1
    _, figures = step(first, [*[voted(1)] * 2, *disliked[:3]], figures)
    assert figures["direction"] == -1, "the votes are worse than the five before"
