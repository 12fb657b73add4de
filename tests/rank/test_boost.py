"""Rules that move scores, and the room that the chosen have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.question import Question
from ragstone.core.records import Chunk, Hit, Metadata, Step
from ragstone.rank.boost import boost
from ragstone.rank.select import join_neighbours, within_budget
from ragstone.settings import BoostSettings

DOCS_SITE = BoostSettings(kind=0.2, code=0.1, keywords=0.15, difficulty=0.1, short=0.1)
NONE: Metadata = {}
TEXT = "".join(chr(ord("a") + i % 26) for i in range(300))

NOTHING = Question(asked="", text="")


def hit(
    score: float, *, text: str = "x" * 200, document: str = "d", start: int = 0, title: str = "", facts: Metadata = NONE
) -> Hit:
    chunk = Chunk(
        id=f"{document}:{start}",
        document_id=document,
        index=start,
        total=99,
        start=start,
        end=start + len(text),
        text=text,
        title=title,
        facts=facts,
    )
    return Hit(chunk=chunk, score=score, why=(Step(stage="fusion", score=score, rank=1),))


def test_each_rule_of_a_documentation_site() -> None:
    question = Question(
        asked="", text="", kind="how_to", wants_code=True, difficulty="beginner", keywords=("install", "cudaq::qubit")
    )
    cases = [
        (hit(0.5, facts={"chunk_kind": "how_to"}), 0.7),
        (hit(0.5, facts={"chunk_kind": "reference"}), 0.5),
        (hit(0.5, facts={"is_code": True}), 0.6),
        (hit(0.5, facts={"difficulty": "beginner"}), 0.6),
        (hit(0.5, text="to install it " + "x" * 200), 0.575),
        (hit(0.5, text="Install cudaq::qubit " + "x" * 200), 0.65),
        (hit(0.5, text="short"), 0.4),
    ]
    for one, expected in cases:
        (moved,) = boost([one], question, DOCS_SITE)
        assert moved.score == pytest.approx(expected)
        assert moved.why[:-1] == one.why
        assert (moved.why[-1].stage, moved.why[-1].score) == ("boost", moved.score)


def test_length_and_title_are_factors() -> None:
    settings = BoostSettings(full_length=500, title=1.05)
    assert boost([hit(0.8, text="x" * 250)], NOTHING, settings)[0].score == pytest.approx(0.4)
    assert boost([hit(0.8, text="x" * 900, title="T")], NOTHING, settings)[0].score == pytest.approx(0.84)


def test_no_difficulty_means_no_preference() -> None:
    assert boost([hit(0.5, facts={"difficulty": "beginner"})], NOTHING, DOCS_SITE)[0].score == 0.5
    assert boost([hit(0.5)], NOTHING, DOCS_SITE)[0].score == 0.5


scores = st.lists(st.floats(-1, 1), max_size=8)


@given(scores)
def test_without_rules_only_sorts(values: list[float]) -> None:
    hits = [hit(score, start=n) for n, score in enumerate(values)]
    assert [one.score for one in boost(hits, NOTHING, BoostSettings())] == sorted(values, reverse=True)


@given(st.lists(st.integers(0, 50), max_size=10), st.integers(0, 6), st.integers(0, 100))
def test_selection_never_exceeds_its_budget(lengths: list[int], k: int, tokens: int) -> None:
    hits = [hit(1.0, text="x" * length, start=n) for n, length in enumerate(lengths)]
    chosen = within_budget(hits, k, tokens, len)
    assert len(chosen) <= k
    assert sum(len(one.chunk.text) for one in chosen) <= tokens
    assert [one for one in hits if one in chosen] == chosen
    if len(chosen) < k:  # what was left out would not have fitted when its turn came
        used = 0
        for one in hits:
            if one in chosen:
                used += len(one.chunk.text)
            else:
                assert used + len(one.chunk.text) > tokens


spans = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 250), st.integers(1, 50)), max_size=8, unique=True)


@given(spans)
def test_joined_chunks_equal_their_document(found: list[tuple[str, int, int]]) -> None:
    by_place = {(document, start): length for document, start, length in found}
    hits = [
        hit(1 - n / 10, document=document, start=start, text=TEXT[start : start + length])
        for n, ((document, start), length) in enumerate(by_place.items())
    ]
    joined = join_neighbours(hits)
    covered = {(one.chunk.document_id, i) for one in hits for i in range(one.chunk.start, one.chunk.end)}
    pieces = [(one.chunk.document_id, i) for one in joined for i in range(one.chunk.start, one.chunk.end)]
    assert len(pieces) == len(set(pieces))
    assert set(pieces) == covered
    for one in joined:
        assert one.chunk.text == TEXT[one.chunk.start : one.chunk.end]
        assert one.chunk.id in {before.chunk.id for before in hits}
    assert [one.score for one in joined] == sorted((one.score for one in joined), reverse=True)


def test_joins_rows_only_with_rows_of_the_same_table() -> None:
    text = "Fish | May\nCod | 17\nEel | 23\nDay | Gate\nMonday | 6"
    starts = (0, text.index("Eel"), text.index("Day"))
    facts = (
        {"is_table": True, "table_header": "Fish | May", "header_rows": 1},
        {"is_table": True, "table_header": "Fish | May", "header_rows": 0},
        {"is_table": True, "table_header": "Day | Gate", "header_rows": 1},
    )
    hits = [
        hit(score, start=start, text=text[start:end], facts=own)
        for score, start, end, own in zip((0.8, 0.9, 0.7), starts, (*starts[1:], len(text)), facts, strict=True)
    ]
    catch, hours = join_neighbours(sorted(hits, key=lambda one: -one.score))
    assert catch.chunk.text + hours.chunk.text == text
    assert catch.chunk.facts == facts[0], "the headings are in the text once more"
    assert hours.chunk.facts == facts[2]
