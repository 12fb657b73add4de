"""Other wordings of a question, and the search for them beside it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import add, open_fast

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.query.fuse import RULES
from ragstone.query.variations import variations
from ragstone.question import Context, read

SYNONYMS = {"mask*": ("face covering", "respirator"), "fee": ("price",)}
LISTS = {"place": ("Vilni*",)}


def of(text: str, most: int = 9) -> tuple[str, ...]:
    return variations(text, read(text, Context(language="en", entities=LISTS)), SYNONYMS, most)


def test_synonyms_precede_keywords_precede_names() -> None:
    assert of("Where is the fee for masks in Vilnius?") == (
        "Where is the price for face covering in Vilnius?",
        "Where is the fee for respirator in Vilnius?",
        "fee masks vilnius",
        "vilnius place",
    )


@pytest.mark.parametrize("text", ["", "?", "masonry"])
def test_plain_question_has_no_variations(text: str) -> None:
    assert of(text) == ()


def test_replaces_whole_words_literally() -> None:
    assert variations("a fee, a coffee", read(""), {"fee": (r"\1 [x]",)}, 1) == (r"a \1 [x], a coffee",)


@given(st.text(max_size=80), st.integers(0, 4))
def test_limits_and_deduplicates_variations(text: str, most: int) -> None:
    found = of(text, most)
    assert len(found) == len(set(found)) <= most
    assert text not in found


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    engine = open_fast(tmp_path / "kb")
    add(
        engine,
        *(Document(id=f"d{n}", text=f"All about number {n} and the weather of that day") for n in range(8)),
        Document(id="right", text="A face covering is worn indoors"),
    )
    engine.close()
    return tmp_path / "kb"


@pytest.mark.parametrize("method", ["hybrid", "bm25", "vector"])
@pytest.mark.parametrize("fusion", list(RULES))
def test_synonym_finds_what_the_question_lacks(filled: Path, method: str, fusion: str) -> None:
    asked = (f"query.method={method}", f"query.fusion={fusion}", "query.synonyms={mask*: [face covering]}")
    engine = open_fast(filled, *asked, "query.variations=1", create=False)
    try:
        answer = asyncio.run(engine.ask("masks worn?", reader=OWNER))
    finally:
        engine.close()
    assert answer.hits[0].chunk.document_id == "right"
    assert "searched also for: face covering worn?" in answer.notices
    stages = {step.stage for step in answer.hits[0].why}
    assert stages & {"vector 1", "bm25 1"}


def test_no_setting_means_no_variations(filled: Path) -> None:
    engine = open_fast(filled, "query.synonyms={mask*: [face covering]}", create=False)
    try:
        answer = asyncio.run(engine.ask("masks worn?", reader=OWNER))
    finally:
        engine.close()
    assert answer.notices == ()
    assert {step.stage for hit in answer.hits for step in hit.why} <= {"vector", "bm25", "fusion"}
