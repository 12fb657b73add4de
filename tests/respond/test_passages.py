"""Which sentences become a quote, and how the quotes read."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import chunk
from ragstone.core.headings import MESSAGE_LEVEL
from ragstone.core.records import Chunk, Hit, Span
from ragstone.language import languages
from ragstone.language.facts import words
from ragstone.language.words import written_in
from ragstone.question import read
from ragstone.respond.drafts import cite
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.entries import entry_of
from ragstone.respond.quoting.quoted_text import have_rows, labels_of, written
from ragstone.respond.quoting.quotes import COMPARED, READ, Likely, are_neighbours, chosen, passages, quote_of
from ragstone.respond.quoting.rules import favoured
from ragstone.respond.quoting.scored import Sentence, Told, refers_back

STAFF = (
    "Corie Barry is the chief executive officer of Best Buy. Prior to her current role, she served as chief financial "
    "officer. The company sells electronics. It has stores in three countries. However, most sales are online."
)


def hit(text: str, title: str = "", document: str = "d") -> Hit:
    piece = Chunk(
        id=f"{document} {text}", document_id=document, index=0, total=1, start=0, end=len(text), text=text, title=title
    )
    return Hit(chunk=piece, score=1.0)


def likely_sentences(found: Hit, probabilities: list[float]) -> list[Likely]:
    spans = chunk.sentences(found.chunk.text)
    return [
        Likely(
            quote=Quote(hit=found, span=span),
            probability=probability,
            refers=refers_back(span.of(found.chunk.text), words(span.of(found.chunk.text)), "en"),
        )
        for span, probability in zip(spans, probabilities, strict=True)
    ]


def quoted(found: Hit, probabilities: list[float], limit: int = 4) -> list[str]:
    some = chosen(likely_sentences(found, probabilities), limit)
    return [quote.text for quote in passages([one.quote for one in some])]


def test_begins_with_the_sentence_referred_to():
    (text,) = quoted(hit(STAFF), [0.05, 0.9, 0.01, 0.01, 0.01])
    assert text.startswith("Corie Barry is")
    assert text.endswith("chief financial officer.")


def test_neighbours_are_one_quote():
    (text,) = quoted(hit(STAFF), [0.01, 0.01, 0.5, 0.4, 0.01])
    assert text == "The company sells electronics. It has stores in three countries."


def test_sure_sentence_apart_is_a_quote_of_its_own():
    text = "The shop opens at nine. Cats sleep. Dogs bark. Birds sing. Fish swim. The hall opens at ten."
    found = quoted(hit(text), [0.6, 0.01, 0.01, 0.01, 0.01, 0.9])
    assert found == ["The shop opens at nine.", "The hall opens at ten."]


def test_sentence_apart_is_in_the_language_of_the_others():
    english = hit("Rank fusion joins several lists into one, and it was proposed by three authors in 2009.")
    german = hit("Die Rangfusion verbindet mehrere Listen zu einer, und das hat sich bewährt.", document="e")
    other = hit("The fusion of ranks is a sum over lists, and it needs no weights.", document="f")
    some = [one for found in (english, german, other) for one in likely_sentences(found, [0.9])]
    assert [one.quote.hit for one in chosen(some, 4)] == [english, other]


def test_sentence_apart_must_not_refer_back():
    (text,) = quoted(hit(STAFF), [0.9, 0.01, 0.01, 0.8, 0.01])
    assert text == "Corie Barry is the chief executive officer of Best Buy."


def test_limit_of_one_gives_the_best_sentence():
    assert quoted(hit(STAFF), [0.5, 0.9, 0.4, 0.2, 0.2], limit=1) == [
        "Prior to her current role, she served as chief financial officer."
    ]


@given(st.lists(st.floats(0.01, 0.99), min_size=5, max_size=5), st.integers(1, 6))
def test_quotes_are_exact_and_within_the_limit(probabilities: list[float], limit: int):
    found = hit(STAFF)
    some = chosen(likely_sentences(found, probabilities), limit)
    assert 1 <= len(some) <= limit
    quotes = passages([one.quote for one in some])
    assert all(cite(1, one.hit, one.span).quote == STAFF[one.span.start : one.span.end] for one in quotes)
    assert all(one.span.end <= other.span.start for one, other in pairwise(quotes))
    assert max(len(chunk.sentences(one.text)) for one in quotes) <= max(COMPARED.longest, limit)
    text, statements = written([cite(n, one.hit, one.span) for n, one in enumerate(quotes, 1)], [""] * len(quotes), ())
    for statement, quote in zip(statements, quotes, strict=True):
        assert text[statement.start : statement.end].startswith(quote.text)


def test_quotes_more_of_what_was_read():
    told = Told(answers=1.0, evidence=1.0, short=1.0)
    likely = likely_sentences(hit(STAFF), [0.3, 0.08, 0.08, 0.08, 0.08])
    was_read = [replace(one, told=told) for one in likely]
    assert len(chosen(likely, 5)) == len(chosen(was_read, 5, COMPARED)) == COMPARED.longest
    assert len(chosen(was_read, 5)) == READ.longest > COMPARED.longest


def test_parts_of_a_document_are_joined_by_an_ellipsis():
    found = hit("One is here. Two is there. Three is left.")
    spans = [span for n, span in enumerate(chunk.sentences(found.chunk.text)) if n != 1]
    citations = [cite(n, found, span) for n, span in enumerate(spans, 1)]
    text, _ = written(citations, ["", ""], ())
    assert text == "One is here. [1] … Three is left. [2]"


def test_steps_come_whole():
    text = "To install:\n\n1. Open the box.\n2. Plug it in.\n3. Wait a minute.\n\nIt is ready."
    found = hit(text)
    span = Span(start=text.index("Plug"), end=text.index("in.") + 3)
    sentence = Sentence(hit=found, place=0, number=2, span=span, own=0.5)
    quote = quote_of(read("How do I install it?"), sentence, [found])
    assert quote is not None
    assert quote.text == "To install:\n\n1. Open the box.\n2. Plug it in.\n3. Wait a minute."


TERMS = (
    "TERMS OF THE MILL\n\n"
    "RPM     Revolutions per minute. The speed of the wheel, which the miller\n        reads twice a day.\n"
    "CW      Clockwise.\n"
    "CCW, AC Against the clock. The wheel never turns so.\n"
    "GRIST   Grain for one grinding. It is weighed first.\n"
    "▪ Toll: the grain that the miller keeps.\n"
)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        (
            "What does RPM mean?",
            "RPM     Revolutions per minute. The speed of the wheel, which the miller\n        reads twice a day.",
        ),
        ("Was bedeutet CW?", "CW      Clockwise."),
        (
            "What are revolutions per minute?",
            "RPM     Revolutions per minute. The speed of the wheel, which the miller",
        ),
        ("What is grist?", "GRIST   Grain for one grinding. It is weighed first."),
        ("What is the toll?", "Toll: the grain that the miller keeps."),
    ],
)
def test_entry_of_the_term_asked_for_comes_whole(question: str, quoted: str):
    found = hit(TERMS)
    scored = [
        Sentence(hit=found, place=0, number=n, span=span, own=0.5) for n, span in enumerate(chunk.sentences(TERMS))
    ]
    likely = favoured(read(question), scored, np.full(len(scored), 0.2))
    kept = [one for one, chance in zip(scored, likely, strict=True) if chance > 0.1]
    quotes = [quote_of(read(question), one, [found]) for one in kept]
    assert quotes
    assert all(one is not None and one.text.startswith(quoted) for one in quotes)


@pytest.mark.parametrize("question", ["What is the speed of the wheel?", "Who reads the RPM?", "What does WC mean?"])
def test_other_questions_ask_for_no_entry(question: str):
    spans = chunk.sentences(TERMS)
    assert all(entry_of(read(question), TERMS, span) is None for span in spans)


@given(st.lists(st.sampled_from(["A", " ", "\n", "  ", ":", "\t", "- ", "RPM", "stop.", "*"]), max_size=30))
def test_entries_lie_within_the_text(pieces: list[str]):
    text = "".join(pieces)
    for span in chunk.sentences(text):
        entry = entry_of(read("What does RPM mean?"), text, span)
        assert entry is None or (0 <= entry.start < entry.end <= len(text) and span.start < entry.end)


def test_rows_of_data_files_stand_on_lines_of_their_own():
    row = "mill: Forge; wheel: 4; water: Elbe"
    found = hit(row, title="Forge")
    facts = {"mill": "Forge", "wheel": 4, "water": "Elbe"}
    found = replace(found, chunk=replace(found.chunk, metadata=facts))
    quotes = [Quote(hit=one, span=Span(start=0, end=len(row))) for one in (found, hit(row))]
    assert [have_rows([one]) for one in quotes] == [True, False]
    citations = [cite(n, found, quotes[0].span) for n in (1, 2)]
    assert written(citations, ["", ""], (), apart=have_rows(quotes))[0] == f"{row} [1]\n{row} [2]"


def test_earlier_message_is_quoted_below_the_line_about_it():
    found = hit("It will cost 80.", title="Wheel")
    heading = "On 3 May 2024, Ann wrote"
    facts = {"section_title": heading, "section": heading, "section_level": MESSAGE_LEVEL}
    found = replace(found, chunk=replace(found.chunk, facts=facts))
    quote = Quote(hit=found, span=Span(start=0, end=len(found.chunk.text)))
    assert labels_of(read("What will the wheel cost?"), [quote]) == [heading]


def test_numbered_paragraphs_are_no_steps():
    text = (
        "1. The mill is closed on Mondays. The wheel is oiled on\nthat day.\n\n"
        "2. The feast is in May, on the first Sunday that has no rain. Bring\nbread.\n\n3. The cat is well."
    )
    found, span = hit(text), Span(start=text.index("The feast"), end=text.index("rain.") + 5)
    quote = quote_of(read("When is the feast?"), Sentence(hit=found, place=0, number=2, span=span, own=0.5), [found])
    assert quote is not None
    assert quote.text == "The feast is in May, on the first Sunday that has no rain. Bring\nbread."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is the wheel oiled?", "Wheel. It is oiled on Mondays, before the first sack."),
        ("How do I oil the wheel?", "{all}"),
        ("What is there to know about the wheel?", "Wheel. It is oiled on Mondays, before the first sack."),
    ],
)
def test_item_that_says_something_is_quoted_alone_unless_all_are_asked_for(question: str, expected: str):
    text = "1) Cat. Is well again.\n2) Wheel. It is oiled on Mondays, before the first sack.\n3) Feast. In May."
    found, span = hit(text), Span(start=text.index("It is oiled"), end=text.index("sack.") + 5)
    quote = quote_of(read(question), Sentence(hit=found, place=0, number=3, span=span, own=0.5), [found])
    assert quote is not None
    assert quote.text == expected.format(all=text)


def test_item_that_needs_its_list_is_quoted_with_it():
    text = "Bring to the feast:\n- a cup\n- bread of the mill\n- a coat"
    found, span = hit(text), Span(start=text.index("bread"), end=text.index(" mill") + 5)
    asked = read("What is there to eat at the feast?")
    quote = quote_of(asked, Sentence(hit=found, place=0, number=2, span=span, own=0.5), [found])
    assert quote is not None
    assert quote.text == text


def test_item_of_a_loose_list_stands_alone():
    text = "Notes\n\n- The shop opens at nine.\n- The hall is closed.\n\nThat is all."
    found = hit(text)
    span = Span(start=text.index("The hall"), end=text.index("closed.") + 7)
    quote = quote_of(read("What is the hall?"), Sentence(hit=found, place=0, number=1, span=span, own=0.5), [found])
    assert quote is not None
    assert quote.text == "The hall is closed."


def test_no_quote_ends_with_a_question():
    text = "46. The battery is reported as low.\nOr a variation like:\n47. It is charging. What can I do about this?\n"
    found = hit(text)
    for n, span in enumerate(chunk.sentences(text)):
        quote = quote_of(read("What is the hall?"), Sentence(hit=found, place=0, number=n, span=span, own=0.5), [found])
        assert quote is None or not quote.text.endswith("?")


@pytest.mark.parametrize("mark", ["-", "•", "▪", "1."])
def test_items_of_a_list_are_neighbours(mark: str):
    text = f"{mark} It opens at ten.\n{mark} It costs two euros."
    spans = [
        Span(start=text.index(one), end=text.index(one) + len(one)) for one in ("It opens at ten.", "It costs two")
    ]
    first, last = (Quote(hit=hit(text), span=span) for span in spans)
    assert are_neighbours(first, last)


def test_a_heading_between_parts_them():
    text = "It opens at ten.\n\nPrices\n\nIt costs two euros."
    found, spans = hit(text), chunk.sentences(text)
    first, last = (Quote(hit=found, span=spans[n]) for n in (0, 2))
    assert not are_neighbours(first, last)


@pytest.mark.parametrize(
    ("question", "text", "title", "label"),
    [
        ("Has the Fairphone 5 a battery?", "It has a battery that can be replaced.", "Fairphone 5", "Fairphone 5"),
        ("Does the Fairphone 5 have a battery?", "The Fairphone 5 has a battery.", "Fairphone 5", ""),
        ("Does the phone have a battery?", "Its battery can be replaced.", "Fairphone 5", "Fairphone 5"),
        ("Is there a battery?", "The battery can be replaced.", "Fairphone 5", ""),
        ("Who may enter?", "Everybody may enter.", "Who may enter?", ""),
        ("Does it have a battery?", "It has a battery.", "", ""),
    ],
)
def test_names_what_a_quote_is_about(question: str, text: str, title: str, label: str):
    quote = Quote(hit=hit(text, title), span=Span(start=0, end=len(text)))
    assert labels_of(read(question), [quote]) == [label]


@pytest.mark.parametrize(
    ("sentence", "language", "refers"),
    [
        ("It was built in 1921.", "en", True),
        ("Prior to her current role, she served there.", "en", True),
        ("However, most sales are online.", "en", True),
        ("Thomas said he would come.", "en", False),
        ("Italy is a country.", "en", False),
        ("On Monday the shop is closed.", "en", False),
        ("Er wurde 1921 gebaut.", "de", True),
        ("Außerdem ist der Eintritt frei.", "de", True),
        ("Sie können den Antrag online stellen.", "de", False),
        ("Tačiau muziejus uždarytas.", "lt", True),
        ("Beliau dilahirkan di Ipoh.", "ms", True),
        ("È importante saperlo.", "it", False),
        ("On jest lekarzem.", "pl", True),
        ("Dock är museet stängt.", "sv", True),
        ("It has words of a language without a list.", "fr", True),
    ],
)
def test_recognises_sentences_that_refer_back(sentence: str, language: str, refers: bool):
    assert refers_back(sentence, words(sentence), language) is refers


@pytest.mark.parametrize("language", languages())
def test_every_language_has_openings(language: str):
    lists = written_in(language)
    assert lists.pronouns
    assert not lists.openings.match("zzz")


def test_a_heading_with_its_unit_in_brackets_is_no_quote():
    text = "Cash flow\n\nCash flow (thousand euros)"  # above a table that is in the next chunk
    found = hit(text)
    below, elsewhere = (
        replace(found, chunk=replace(found.chunk, facts={"section": section})) for section in ("Cash flow", "Shares")
    )
    span = Span(start=11, end=len(text))
    quotes = [
        quote_of(read("Is there cash?"), Sentence(hit=one, place=0, number=1, span=span, own=0.5), [one])
        for one in (below, elsewhere)
    ]
    assert [quote is None for quote in quotes] == [True, False]
