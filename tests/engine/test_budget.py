"""Reranking within a budget of time, told by a clock that every look moves on by the same."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import add, open_fast

from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.errors import OutOfTime
from ragstone.monitor import Budget
from ragstone.protocols import unhurried

TEXTS = ("rain falls on the roof", "the roof of the house", "cats sleep in the house", "rain and cats", "a dog barks")


@dataclass
class Ticking:
    """Seconds; each look at it takes ``step``."""

    step: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def opened(folder: Path, *settings: str, step: float) -> Engine:
    engine = open_fast(folder, *settings)
    engine._clock = Ticking(step)
    return engine


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    engine = open_fast(tmp_path / "kb")
    add(engine, *(Document(id=f"d{n}", text=text) for n, text in enumerate(TEXTS)))
    engine.close()
    return tmp_path / "kb"


def ask(engine: Engine):
    try:
        return asyncio.run(engine.ask("rain on the house"))
    finally:
        engine.close()


def test_reranking_that_fits_is_done(filled: Path):
    hurried = ask(opened(filled, "rank.reranker=maxsim", "rank.budget_ms=1000", step=0.01))
    unlimited = ask(opened(filled, "rank.reranker=maxsim", "cache.enabled=false", step=0.01))
    assert hurried.notices == ()
    assert "maxsim" in hurried.retrieval_method
    assert max(hit.score for hit in hurried.hits) == 1
    assert min(hit.score for hit in hurried.hits) >= 0
    assert [(hit.chunk.id, hit.score) for hit in hurried.hits] == [(hit.chunk.id, hit.score) for hit in unlimited.hits]


def test_reranking_that_does_not_fit_is_left_out_and_said(filled: Path):
    late = ask(opened(filled, "rank.reranker=maxsim", "rank.budget_ms=30", step=0.01))
    plain = ask(opened(filled, step=0.01))
    assert late.notices == ("not reranked: that would not have ended within 30 ms",)
    assert "maxsim" not in late.retrieval_method
    assert [hit.chunk.id for hit in late.hits] == [hit.chunk.id for hit in plain.hits]


def test_what_was_left_out_for_want_of_time_is_tried_again(filled: Path):
    settings = ("rank.reranker=maxsim", "rank.budget_ms=200")
    assert ask(opened(filled, *settings, step=1)).notices
    again = ask(opened(filled, *settings, step=0.001))
    assert again.notices == ()
    assert "maxsim" in again.retrieval_method


def test_without_a_budget_the_clock_does_not_matter(filled: Path):
    assert "maxsim" in ask(opened(filled, "rank.reranker=maxsim", step=1000)).retrieval_method
    assert Budget(0, Ticking(1000)).pace() is unhurried


@given(step=st.floats(0.0001, 1), budget=st.integers(1, 5000), total=st.integers(1, 50))
def test_no_part_begins_after_the_end_and_none_is_refused_with_time_to_spare(step: float, budget: int, total: int):
    clock = Ticking(step)
    pace = Budget(budget, clock).pace()
    ends = step + budget / 1000
    try:
        for done in range(total):
            pace(done, total)
            assert clock.now <= ends
    except OutOfTime:
        # Each part is one tick long, and looks at most two.
        assert budget / 1000 < (2 * total + 2) * step
