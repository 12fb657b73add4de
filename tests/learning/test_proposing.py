"""What votes suggest: a change that deserves a trial, weights of marks, how sure answers may be said to be."""

from __future__ import annotations

import random

import pytest

from ragstone.learning.policy import Choices, Policy, to_json
from ragstone.policies.log import Assigned, Voted
from ragstone.policies.proposing import challenger, known_by, weights
from ragstone.review.confidence import confidence
from ragstone.sections import ConfidenceWeights, MarkWeights


def voted(number: int, vote: int, **seen: object) -> tuple[Assigned, Voted]:
    usual = {"answerability": 0.5, "support": 1.0, "abstained": False, "marks": None, "web": False}
    told = {**usual, "found": [], "right": [], **seen}
    asked = Assigned(
        response_id=str(number), trial=0, version=0, probability=1, acted=0, kind="", voice=str(number), at=number
    )
    return asked, Voted(response_id=str(number), voice=str(number), vote=vote, at=number, seen=told)


def test_what_found_the_right_documents_better_is_proposed() -> None:
    """The right document is first by keywords and last by vectors."""
    found = [["right", 0.1, 9.0], ["b", 0.9, 6.0], ["c", 0.8, 2.0]]
    votes = [voted(n, 1, found=found, right=["right"]) for n in range(40)]
    base = Choices(vector_weight=0.6, top_k=5)
    proposal = challenger(Policy(version=0), base, known_by(votes), [])
    assert proposal is not None
    assert proposal.by_kind[""].vector_weight == pytest.approx(0.4)
    same = Policy(version=1, by_kind=proposal.by_kind)
    again = challenger(Policy(version=0), base, known_by(votes), [same])
    assert again is None or again.by_kind != proposal.by_kind
    assert challenger(Policy(version=0), base, known_by(votes[:1]), []) is None


def test_weights_follow_the_mark_that_foretells_votes() -> None:
    chance = random.Random(1)
    votes = []
    for n in range(300):
        marks = [chance.uniform(0, 10) for _ in range(3)]
        votes.append(voted(n, 1 if marks[1] > 5 else -1, marks=marks)[1])
    base = Choices(relevance=1 / 3, factuality=1 / 3, completeness=1 / 3, retrieval_share=0.5)
    proposal = weights(Policy(version=0), base, votes)
    assert proposal is not None
    chosen = proposal.by_kind[""]
    assert chosen.factuality is not None
    assert chosen.factuality > 0.5
    assert to_json(Policy(version=1, by_kind=proposal.by_kind))


def test_noise_moves_no_weight_and_calibrates_what_claimed_to_know() -> None:
    chance = random.Random(2)
    base = Choices(relevance=1 / 3, factuality=1 / 3, completeness=1 / 3, retrieval_share=0.5)
    noise = [voted(n, chance.choice([1, -1]), marks=[chance.uniform(0, 10) for _ in range(3)])[1] for n in range(300)]
    proposal = weights(Policy(version=0), base, noise)
    if proposal is not None:
        assert proposal.by_kind[""].factuality is None
        assert proposal.by_kind[""].slope is not None


def test_an_overconfident_knowledge_base_learns_how_sure_it_may_be() -> None:
    """Answers said to be 50% to 100% sure are right 30% less often; there was no judge."""
    chance = random.Random(3)

    def votes(count: int, spoilt: float, **seen: object) -> list[Voted]:
        sure = [chance.uniform(0.5, 1) for _ in range(count)]
        ups = [1 if chance.random() < one - spoilt else -1 for one in sure]
        return [voted(n, up, answerability=one, **seen)[1] for n, (up, one) in enumerate(zip(ups, sure, strict=True))]

    proposal = weights(Policy(version=0), Choices(), votes(400, 0.3))
    assert proposal is not None
    chosen = proposal.by_kind[""]
    assert chosen.slope is not None
    assert chosen.shift is not None
    marks, line = MarkWeights(), ConfidenceWeights(slope=chosen.slope, shift=chosen.shift)
    assert confidence(0.8, 1.0, None, marks, line) == pytest.approx(0.5, abs=0.1)
    assert confidence(0.8, 0.0, None, marks, line) == 0, "nothing of it is proved"
    again = weights(Policy(version=1, by_kind=proposal.by_kind), Choices(), votes(400, 0.3))
    assert again is None or again.by_kind[""].shift == pytest.approx(chosen.shift, abs=0.5)
    assert weights(Policy(version=0), Choices(), votes(400, 0.0)) is None
    assert weights(Policy(version=0), Choices(), votes(400, 0.3, abstained=True)) is None
