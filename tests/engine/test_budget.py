"""Reranking within a budget of time, told by a clock that every look moves on by the same."""

import asyncio
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import add, answered, open_fast, parts

from ragstone.core.answers import Answer
from ragstone.core.errors import OutOfTime
from ragstone.core.protocols import no_deadline
from ragstone.core.records import Document
from ragstone.core.timing import TimeBudget

TEXTS = ("rain falls on the roof", "the roof of the house", "cats sleep in the house", "rain and cats", "a dog barks")


@dataclass
class Ticking:
    """Seconds; each look at it takes ``step``."""

    step: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    engine = open_fast(tmp_path / "kb")
    add(engine, *(Document(id=f"d{n}", text=text) for n, text in enumerate(TEXTS)))
    engine.close()
    return tmp_path / "kb"


def ask(folder: Path, *settings: str, step: float) -> Answer:
    with closing(open_fast(folder, *settings)) as engine:
        return asyncio.run(answered(replace(parts(engine), clock=Ticking(step)), "rain on the house"))


def test_reranking_that_fits_is_done(filled: Path):
    hurried = ask(filled, "rank.reranker=maxsim", "rank.budget_ms=1000", step=0.01)
    unlimited = ask(filled, "rank.reranker=maxsim", "cache.enabled=false", step=0.01)
    assert hurried.notices == ()
    assert "reranking" in hurried.retrieval_method
    assert max(hit.score for hit in hurried.hits) == 1
    assert min(hit.score for hit in hurried.hits) >= 0
    assert [(hit.chunk.id, hit.score) for hit in hurried.hits] == [(hit.chunk.id, hit.score) for hit in unlimited.hits]


def test_reranking_that_does_not_fit_is_left_out_and_said(filled: Path):
    late = ask(filled, "rank.reranker=maxsim", "rank.budget_ms=30", step=0.01)
    plain = ask(filled, step=0.01)
    assert late.notices == ("Reranking was skipped: it would not have finished within rank.budget_ms=30",)
    assert "reranking" not in late.retrieval_method
    assert [hit.chunk.id for hit in late.hits] == [hit.chunk.id for hit in plain.hits]


def test_what_was_left_out_for_want_of_time_is_tried_again(filled: Path):
    settings = ("rank.reranker=maxsim", "rank.budget_ms=200")
    assert ask(filled, *settings, step=1).notices
    again = ask(filled, *settings, step=0.001)
    assert again.notices == ()
    assert "reranking" in again.retrieval_method


def test_without_a_budget_the_clock_does_not_matter(filled: Path):
    assert "reranking" in ask(filled, "rank.reranker=maxsim", step=1000).retrieval_method
    assert TimeBudget(0, Ticking(1000)).pace() is no_deadline


@given(step=st.floats(0.0001, 1), budget=st.integers(1, 5000), total=st.integers(1, 50))
def test_no_part_begins_after_the_end_and_none_is_refused_with_time_to_spare(step: float, budget: int, total: int):
    clock = Ticking(step)
    pace = TimeBudget(budget, clock).pace()
    ends = step + budget / 1000
    try:
        for done in range(total):
            pace(done, total)
            assert clock.now <= ends
    except OutOfTime:
        # Each part is one tick long, and looks at most two.
        assert budget / 1000 < (2 * total + 2) * step
