"""Policies: bounds, differences, JSON, and the settings they lead to."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.core.errors import UsageError
from ragstone.learning.policy import BOUNDS, Choices, Policy, diff, overridden, under
from ragstone.settings import Settings

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
def test_json_round_trip_is_canonical(policy: Policy) -> None:
    line = policy.to_json()
    assert Policy.from_json(line) == policy
    assert Policy.from_json(line).to_json() == line
    shuffled = json.dumps(dict(reversed(json.loads(line).items())), indent=1)
    assert Policy.from_json(shuffled).to_json() == line


@settings(max_examples=20)
@given(policies, policies)
def test_diff_lists_differing_choices(a: Policy, b: Policy) -> None:
    assert diff(a, a) == ()
    for one in diff(a, b):
        assert getattr(a.choices(one.kind), one.name) == one.a
        assert getattr(b.choices(one.kind), one.name) == one.b
        assert one.a != one.b
    assert len(diff(a, b)) == len(diff(b, a))


def test_choices_fall_back_to_settings() -> None:
    set_ = Choices(web_threshold=0.7, top_k=5, rerank=False)
    assert Policy(version=0).choices("how_to").with_defaults(set_) == set_
    of_kind = Policy(version=1, parent=0, by_kind={"": Choices(top_k=8), "how_to": Choices(rerank=True)})
    assert of_kind.choices("time").with_defaults(set_) == Choices(web_threshold=0.7, top_k=8, rerank=False)
    assert of_kind.choices("how_to").with_defaults(set_) == Choices(web_threshold=0.7, top_k=5, rerank=True)


def test_refuses_invalid_policies() -> None:
    with pytest.raises(UsageError, match="top_k must be 1 to 20, not 50"):
        Policy(version=1, by_kind={"": Choices(top_k=50)})
    with pytest.raises(UsageError, match="at most 4 kinds"):
        Policy(version=1, by_kind={kind: Choices() for kind in "abcde"})
    for text in ("", "[]", "{}", Policy(version=1).to_json().replace("top_k", "top_q").replace("1", "x")):
        with pytest.raises(UsageError, match="this is not a policy"):
            Policy.from_json(text)


def test_choices_become_settings() -> None:
    plain = Settings()
    assert under(plain, Choices()) is plain
    chosen = under(
        plain, Choices(top_k=15, vector_weight=0.4, web_threshold=0.5, rerank=True, slope=2.0, factuality=0.6)
    )
    assert (chosen.rank.top_k, chosen.query.vector_weight, chosen.query.web.threshold) == (15, 0.4, 0.5)
    assert chosen.rank.pool >= 15
    assert chosen.rank.reranker == "maxsim"
    assert chosen.review.confidence.slope == 2.0
    assert chosen.review.marks.factuality == 0.6
    assert under(chosen, Choices(rerank=False)).rank.reranker == "none"


def test_finds_overrides_of_learned_settings() -> None:
    assert overridden(["rank.top_k=4", "review.marks.relevance=1", "rank.pool=9"]) == (
        "rank.top_k",
        "review.marks.relevance",
    )
