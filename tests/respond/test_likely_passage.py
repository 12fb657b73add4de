"""The passage that may answer: whole paragraphs around the likely words, and a text that marks them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.records import Chunk, Evidence, Hit, Span
from ragstone.language import phrases
from ragstone.question import read
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.likely_passage import LONGEST, likely_draft, passage_around
from ragstone.settings import RespondSettings

TEXT = (
    "The pump stands in hall three.\n\n"
    "It was built in 1987. It runs at 4 bar. Nobody may open it alone.\n\n"
    "## Valves\n\n"
    "Valves are tested each year."
)


def at(text: str, words: str) -> Span:
    start = text.index(words)
    return Span(start=start, end=start + len(words))


def test_passage_takes_paragraphs_up_to_a_heading():
    assert passage_around(TEXT, at(TEXT, "It runs at 4 bar."), 900).of(TEXT) == TEXT[: TEXT.index("\n\n## Valves")]


def test_passage_begins_below_its_heading():
    assert passage_around(TEXT, at(TEXT, "Valves are tested"), 900).of(TEXT) == "Valves are tested each year."


@pytest.mark.parametrize(("total", "shown"), [(2, "It runs at 4 bar. [1]"), (1, "It runs at 4 bar. [1]\nHall four")])
def test_heading_of_the_next_passage_is_left_out(total: int, shown: str):
    text = "It runs at 4 bar.\n\nHall four"
    chunk = Chunk(id="c", document_id="a", index=0, total=total, start=0, end=len(text), text=text, title="Pumps")
    quote = Quote(hit=Hit(chunk=chunk, score=1.0), span=at(text, "It runs at 4 bar."))
    question = read("How much pressure?")
    draft = likely_draft(
        Evidence(question=question, hits=(quote.hit,), method="hybrid"), [quote], None, 0.3, RespondSettings(), ()
    )
    assert draft.text.endswith(f"Pumps:\n{shown}")


def test_long_paragraph_is_cut_between_sentences():
    text = " ".join(f"Sentence number {number} is here." for number in range(40))
    passage = passage_around(text, at(text, "Sentence number 20 is here."), 200).of(text)
    assert "Sentence number 20 is here." in passage
    assert passage.startswith("Sentence")
    assert passage.endswith(".")
    assert len(passage) <= 200


@given(st.text(alphabet="ab.\n# ", max_size=300), st.integers(0, 300), st.integers(0, 60), st.integers(1, 200))
def test_passage_contains_the_words_within_the_limit(text: str, start: int, length: int, longest: int):
    span = Span(start=min(start, len(text)), end=min(start + length, len(text)))
    passage = passage_around(text, span, longest)
    assert passage.start <= span.start <= span.end <= passage.end
    assert passage == span or passage.end - passage.start <= longest


@pytest.mark.parametrize("language", ["en", "de", "lt"])
def test_marks_the_likely_words_within_their_passage(language: str):
    chunk = Chunk(
        id="c1", document_id="pumps", index=0, total=1, text=TEXT, start=0, end=len(TEXT), title="Pumps",
        metadata={"date": "2024-05-01"},
    )  # fmt: skip
    quote = Quote(hit=Hit(chunk=chunk, score=1.0, why=()), span=at(TEXT, "It was built in 1987."))
    evidence = Evidence(question=read("When was the pump built?"), hits=(quote.hit,), method="hybrid")
    draft = likely_draft(evidence, [quote], None, 0.3, RespondSettings(language=language), ())
    first, named = draft.text.splitlines()[0], draft.text.splitlines()[2]
    assert (first, named) == (phrases(language).likely, "Pumps, 2024-05-01:")
    assert draft.outcome == "closest"
    assert draft.abstained
    (statement,), (citation,) = draft.statements, draft.citations
    assert draft.text[statement.start : statement.end] == "It was built in 1987. [1]"
    assert draft.text.endswith("[1] It runs at 4 bar. Nobody may open it alone.")
    assert citation.quote == TEXT[citation.start : citation.end] == TEXT[: TEXT.index("\n\n## Valves")]
    assert len(citation.quote) <= LONGEST[0]


@pytest.mark.parametrize(
    ("title", "facts", "named"),
    [
        ("Pumps", {"as_of": "2024-02-01", "created": "2026-05-01", "path": "mill/pumps.pdf"}, "Pumps, 2024-02-01:"),
        ("Pumps", {"as_of": "2024", "created": "2026-05-01", "path": "mill/2024/pumps.pdf"}, "Pumps:"),
        ("Pumps", {"as_of": "2026-05-01", "created": "2026-05-01T08:49:18", "path": "mill/pumps.xlsx"}, "Pumps:"),
        ("Pumps of " * 8 + "2024", {"as_of": "2024-05-01", "path": "p.pdf"}, f"{'Pumps of ' * 6}Pumps …, 2024-05-01:"),
        ("Pumps, 1 May 2024", {"as_of": "2024-05-01", "path": "pumps.pdf"}, "Pumps, 1 May 2024:"),
    ],
)
def test_passage_has_the_date_of_its_document_once(title: str, facts: dict[str, str], named: str):
    chunk = Chunk(
        id="c", document_id="d", index=0, total=1, start=0, end=len(TEXT), text=TEXT, title=title, metadata=facts
    )
    quote = Quote(hit=Hit(chunk=chunk, score=1.0), span=at(TEXT, "It was built in 1987."))
    evidence = Evidence(question=read("When was it built?"), hits=(quote.hit,), method="hybrid")
    assert named in likely_draft(evidence, [quote], None, 0.3, RespondSettings(), ()).text.splitlines()


def test_name_above_a_passage_is_not_repeated():
    text = "Valves\n\nValves are tested each year. The mill is closed then."
    chunk = Chunk(id="c", document_id="valves", index=0, total=1, text=text, start=0, end=len(text), title="Valves")
    quote = Quote(hit=Hit(chunk=chunk, score=1.0), span=at(text, "Valves are tested each year."))
    evidence = Evidence(question=read("How often are valves tested?"), hits=(quote.hit,), method="hybrid")
    draft = likely_draft(evidence, [quote], None, 0.3, RespondSettings(), ())
    assert draft.text.count("Valves\n") == 0
    assert "Valves:\nValves are tested each year. [1] The mill is closed then." in draft.text
    assert draft.citations[0].quote == text[text.index("Valves are") :]


def test_heading_is_that_of_the_words_and_not_of_their_chunk():
    facts = {"section": "Works > Pumps"}
    chunk = Chunk(
        id="c", document_id="d", index=0, total=1, text=TEXT, start=0, end=len(TEXT), title="Works", facts=facts
    )
    for words, heading in (("It was built in 1987.", "Pumps"), ("Valves are tested each year.", "Valves")):
        quote = Quote(hit=Hit(chunk=chunk, score=1.0), span=at(TEXT, words))
        evidence = Evidence(question=read("What was built or tested?"), hits=(quote.hit,), method="hybrid")
        draft = likely_draft(evidence, [quote], None, 0.3, RespondSettings(), ())
        assert draft.text.splitlines()[2] == f"Works, {heading}:"
