"""Versions of policies: their bounds, their differences, and one spelling of each."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import UsageError
from ragstone.learning.policy import BOUNDS, Bound, Choices, Policy, diff, from_json, to_json

numbers = {name: st.none() | st.floats(bound.low, bound.high) for name, bound in BOUNDS.items() if name != "top_k"}
choices = st.builds(Choices, **numbers, top_k=st.none() | st.integers(1, 20), rerank=st.none() | st.booleans())
kinds = st.dictionaries(st.sampled_from(["", "how_to", "définition", "time", "reason"]), choices, max_size=5)
policies = st.builds(
    Policy,
    version=st.integers(0, 99),
    parent=st.none() | st.integers(0, 98),
    at=st.floats(0, 2e9),
    by_kind=kinds,
    evidence=st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.floats(-1, 1), max_size=3),
)


@settings(max_examples=30)
@given(policies)
def test_a_policy_comes_back_from_its_json_and_has_one_spelling(policy: Policy) -> None:
    line = to_json(policy)
    assert from_json(line) == policy
    assert to_json(from_json(line)) == line
    shuffled = json.dumps(dict(reversed(json.loads(line).items())), indent=1)
    assert to_json(from_json(shuffled)) == line


@settings(max_examples=20)
@given(policies, policies)
def test_a_difference_is_what_turns_one_into_the_other(a: Policy, b: Policy) -> None:
    assert diff(a, a) == ()
    for one in diff(a, b):
        assert getattr(a.choices(one.kind), one.name) == one.a
        assert getattr(b.choices(one.kind), one.name) == one.b
        assert one.a != one.b
    assert len(diff(a, b)) == len(diff(b, a))


@given(st.floats(-2, 2), st.floats(0, 1), st.floats(-2, 2), st.floats(0, 1), st.floats(-9, 9))
def test_a_bound_is_kept_and_so_is_the_step(low: float, step: float, now: float, width: float, wanted: float) -> None:
    bound = Bound(low=low, high=low + width, step=step)
    moved = bound.moved(min(max(now, bound.low), bound.high), wanted)
    assert bound.low <= moved <= bound.high
    assert abs(moved - min(max(now, bound.low), bound.high)) <= step + 1e-9


def test_version_0_leaves_everything_as_it_is_set() -> None:
    set_ = Choices(web_threshold=0.7, top_k=5, rerank=False)
    assert Policy(version=0).choices("how_to").over(set_) == set_
    of_kind = Policy(version=1, parent=0, by_kind={"": Choices(top_k=8), "how_to": Choices(rerank=True)})
    assert of_kind.choices("time").over(set_) == Choices(web_threshold=0.7, top_k=8, rerank=False)
    assert of_kind.choices("how_to").over(set_) == Choices(web_threshold=0.7, top_k=5, rerank=True)


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(UsageError, match="top_k must be 1 to 20, not 50"):
        Policy(version=1, by_kind={"": Choices(top_k=50)})
    with pytest.raises(UsageError, match="at most 4 kinds"):
        Policy(version=1, by_kind={kind: Choices() for kind in "abcde"})
    for text in ("", "[]", "{}", to_json(Policy(version=1)).replace("top_k", "top_q").replace("1", "x")):
        with pytest.raises(UsageError, match="this is no policy"):
            from_json(text)
