"""Claims made by rule from sentences: what is said of each is right, and its words are where they are said to be."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.changes import CONTRADICTED, SUPPORTED, UNKNOWN, UNSUPPORTED, Changed, changes

OWN = ["The river Neris runs through Vilnius.", "It was dammed in 1959 to make electricity."]
OTHERS = ["The Bank of England raised its rate after the crisis of 2008.", "Most cats sleep for sixteen hours."]


def made(sentence: str, seed: int = 1) -> dict[str, list[Changed]]:
    out: dict[str, list[Changed]] = {}
    for one in changes(sentence, OWN, OTHERS, random.Random(seed)):
        out.setdefault(one.kind, []).append(one)
    return out


@pytest.mark.parametrize(
    ("sentence", "kind", "label", "text"),
    [
        ("The drug may help.", "hedge twin", SUPPORTED, "The drug might help."),
        ("Each member votes.", "quantifier twin", SUPPORTED, "Every member votes."),
        ("The bridge is 5 km long.", "unit twin", SUPPORTED, "The bridge is 5 kilo"),
        ("The town has 1,200 houses.", "number twin", SUPPORTED, "The town has 1200 houses."),
        ("The town has 3 schools.", "number twin", SUPPORTED, "The town has three schools."),
        ("Prices rose in May.", "opposite", CONTRADICTED, "Prices fell in May."),
        ("Prices were high in May.", "negation", CONTRADICTED, "Prices were not high in May."),
        (
            "The whole council met in Old Riga, which lies on a river.",
            "clause dropped",
            SUPPORTED,
            "The whole council met in Old Riga.",
        ),
        (
            "The harbour was closed because of the heavy storms.",
            "cause twin",
            SUPPORTED,
            "Because of the heavy storms, the harbour was closed.",
        ),
        (
            "The harbour was closed because of the heavy storms.",
            "cause",
            UNSUPPORTED,
            "The heavy storms because of the harbour was closed.",
        ),
    ],
)
def test_each_kind_of_change(sentence: str, kind: str, label: str, text: str) -> None:
    found = [one for seed in range(8) for one in made(sentence, seed).get(kind, [])]
    assert any(one.label == label and one.text.startswith(text) for one in found), found


def test_a_dropped_hedge_says_more_than_the_sentence() -> None:
    found = made("The drug may help.")["hedge"]
    assert [one.label for one in found] == [UNKNOWN]
    assert found[0].text in {"The drug will help.", "The drug must help."}


def test_an_added_clause_is_supported_only_if_the_evidence_has_it() -> None:
    found = made("The old town is small.")
    [joined], [added] = found["clause joined"], found["clause added"]
    assert joined.label == SUPPORTED
    assert joined.spans == ()
    assert added.label == UNKNOWN
    assert added.spans is not None
    (start, end), *_ = added.spans
    assert any(added.text[start:end].rstrip(".").lower() in one.lower() for one in OTHERS)


@given(
    sentence=st.from_regex(
        r"(?:[A-Z][a-z]{1,8}|[a-z]{1,8}|\d{1,4}|may|some|all|is)(?: (?:[A-Za-z]{1,9}|\d{1,4})){2,14}\.", fullmatch=True
    ),
    seed=st.integers(min_value=0, max_value=50),
)
def test_marked_words_are_in_the_claim_and_true_claims_have_none(sentence: str, seed: int) -> None:
    for one in changes(sentence, OWN, OTHERS, random.Random(seed)):
        assert one.text != sentence
        assert one.label in {SUPPORTED, CONTRADICTED, UNKNOWN, UNSUPPORTED}
        for start, end in one.spans or ():
            assert one.label != SUPPORTED
            assert 0 <= start < end <= len(one.text)
