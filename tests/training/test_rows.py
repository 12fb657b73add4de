"""Questions about rows of small tables, made by rule."""

from collections import Counter

import pytest

from training.rows import KEPT_BACK, VALUES, made, topics


@pytest.mark.parametrize("split", ["train", "valid"])
def test_marks_the_row_and_the_value_that_answer(split: str) -> None:
    counts = Counter[float]()
    for pair in made(split):
        counts[pair.answers] += 1
        assert (pair.evidence == ()) is (pair.answer is None) is (pair.answers == 0)
        if pair.answer:
            (start, end) = pair.evidence[0] if pair.evidence else (0, 0)
            assert start < pair.answer[0] < pair.answer[1] <= end
            assert pair.evidence[0] in pair.sentences
        lines = pair.second.split("\n")
        assert all(pair.second[slice(*one)] in lines for one in pair.sentences)
    assert min(counts.values()) > sum(counts.values()) / 3


def test_keeps_the_questions_of_some_rows_back() -> None:
    asked = {split: {pair.first.strip("?").lower() for pair in made(split)} for split in ("train", "valid")}
    assert not asked["train"] & asked["valid"]
    for topic in topics():
        assert len(topic.rows) > KEPT_BACK
        assert {row.kind for row in topic.rows} <= VALUES.keys()
        assert len({label for row in topic.rows for label in row.labels}) == sum(len(row.labels) for row in topic.rows)
