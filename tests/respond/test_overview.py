"""Overviews of passages: exact quotes, labels of their own words, and the frames by which sentences are compared."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ragstone.chunk import sentences
from ragstone.core.records import Chunk, Hit, Metadata
from ragstone.core.request import Request
from ragstone.respond.overview.comparison import compared, frame_of
from ragstone.respond.overview.page import rests_on
from ragstone.respond.overview.telling import Telling, quotable
from ragstone.respond.overview.themes import labels
from ragstone.respond.overview.topic import Topic

OWNER = Request.by_owner()
WORDS = st.lists(st.sampled_from(["harbour", "bread", "honey", "12", "4.5", "May", "rises", "falls"]), min_size=1)


def weigh(words: Sequence[str], request: Request) -> list[float]:
    del request
    return [1.0] * len(words)


def hit(text: str, id: str = "d", facts: Metadata | None = None) -> Hit:
    chunk = Chunk(
        id=id, document_id=id, index=0, total=1, start=0, end=len(text), text=text, title=id, facts=facts or {}
    )
    return Hit(chunk=chunk, score=1.0)


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=6))
def test_comparisons_quote_exactly(one: list[list[str]], other: list[list[str]]) -> None:
    texts = {
        id: " ".join(f"The {' '.join(words)} in town." for words in said) for id, said in (("a", one), ("b", other))
    }
    draft = compared(
        [hit(texts["a"], "a")], [hit(texts["b"], "b")], sentences=sentences, weigh=weigh, request=OWNER, language="en"
    )
    for cited in draft.citations if draft else ():
        assert texts[cited.document_id][cited.start : cited.end] == cited.quote
    assert [s.markers for s in draft.statements] == [(c.marker,) for c in draft.citations] if draft else True


def test_frames_are_equal_but_for_figures_and_months() -> None:
    assert frame_of("In May 2022 it had 1,200 shops.") == frame_of("In June 2023 it had 7 shops.")
    assert frame_of("It had 7 shops.") != frame_of("It sold 7 shops.")


def test_cells_of_one_row_and_column_are_set_side_by_side() -> None:
    facts: Metadata = {"is_table": True, "table_header": "Item | Amount | Change"}
    left = hit("Revenue | 4.5 | 2%\nStaff | 100 | 1%", "a", facts)
    right = hit("Revenue | 5.1 | 2%\nStaff | 120 | 1%", "b", facts)
    draft = compared([left], [right], sentences=sentences, weigh=weigh, request=OWNER, language="en")
    assert draft is not None
    assert [one.quote for one in draft.citations] == ["4.5", "5.1", "100", "120"]


def test_labels_tell_themes_apart() -> None:
    found = labels(
        [["Rye bread rises.", "Fresh rye bread cools."], ["A sailing ship sinks.", "The sailing ship sails."]]
    )
    assert "rye bread" in found[0].lower()
    assert "sailing ship" in found[1].lower()


def test_chosen_sentences_do_not_repeat_each_other() -> None:
    text = "The harbour opens at six today. The harbour opens at six daily. Bread is baked in the old mill."
    chosen = Telling(quotable([hit(text)], sentences), weigh, OWNER).chosen(2)
    assert any("Bread" in one.span.of(text) for one in chosen)


def test_a_topic_needs_most_of_its_words() -> None:
    topic = Topic("the Fairphone", weigh, OWNER)
    assert topic.fitting([hit("Fairphones last long.", "a"), hit("The Fairplay Guide is out.", "b")]) == [
        hit("Fairphones last long.", "a")
    ]
    assert not Topic("", weigh, OWNER).fitting([hit("Anything.")])


def test_an_answer_rests_on_the_document_with_its_words() -> None:
    hits = [hit("Ships need wind to sail.", "ships"), hit("Bees make honey in a hive.", "bees")]
    assert rests_on("Bees make honey. [1]", hits) == "bees"
    assert rests_on("Nothing was found about penguins.", hits) == ""
