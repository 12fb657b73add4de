"""What a message asks, without what is around it, in four languages; and what only describes the asker's case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.answers import Turn
from ragstone.core.question import Role, Wishes
from ragstone.question import Context, read
from ragstone.question.frame import unframed

ASKED = Turn(question="How long is the guarantee of the bicycle?", answer="It lasts two years [1].")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Hi all,\n\nwhere do I leave the ladder?\n\nCheers\nTom", "where do I leave the ladder?"),
        ("Dear Ms Reed,\nWho signs the lease?\nKind regards,\nP. Oduya\nTenant, flat 4", "Who signs the lease?"),
        ("Who signs the lease?\n\nOn Monday Ana wrote:\n> The lease is ready.", "Who signs the lease?"),
        ("Hello, will the pool be open?", "will the pool be open?"),
        ("Hallo zusammen,\nwann kommt der Bus?\nViele Grüße\nJonas", "wann kommt der Bus?"),
        ("Sehr geehrte Frau Roth,\nwer prüft die Leiter?\nMit freundlichen Grüßen\nK. Blum", "wer prüft die Leiter?"),
        ("Laba diena,\nkada veža šiukšles?\nPagarbiai\nRasa", "kada veža šiukšles?"),
        ("Salam tuan,\nbila kolam dibuka?\nTerima kasih\nAina", "bila kolam dibuka?"),
        ("Where is the ladder? /no_think", "Where is the ladder?"),
        ("Good morning, Vietnam", "Good morning, Vietnam"),
        ("Thanks", "Thanks"),
        ("Line one\nLine two", "Line one\nLine two"),
    ],
)
def test_takes_off_the_ends_of_a_mail(message: str, text: str) -> None:
    assert unframed(message).text == text


@pytest.mark.parametrize(
    ("message", "text", "wishes"),
    [
        ("Who has the key? Answer in French.", "Who has the key?", Wishes(language="fr")),
        ("Please reply in Lithuanian. Who has the key?", "Who has the key?", Wishes(language="lt")),
        ("Who has the key, in German please?", "Who has the key?", Wishes(language="de")),
        ("Who has the key? Please answer as a table.", "Who has the key?", Wishes(form="as a table")),
        ("Who has the key? Step by step.", "Who has the key?", Wishes(form="step by step")),
        ("Who has the key? Keep it short.", "Who has the key?", Wishes(length="short")),
        ("Who has the key? Answer in two sentences.", "Who has the key?", Wishes(length="in two sentences")),
        ("Who has the key? Give your sources.", "Who has the key?", Wishes(sources=True)),
        ("Wer hat den Schlüssel? Antworte auf Englisch.", "Wer hat den Schlüssel?", Wishes(language="en")),
        ("Wer hat den Schlüssel? Bitte kurz.", "Wer hat den Schlüssel?", Wishes(length="kurz")),
        ("Wer hat den Schlüssel? Bitte als Liste.", "Wer hat den Schlüssel?", Wishes(form="als liste")),
        ("Kas turi raktą? Atsakyk vokiškai.", "Kas turi raktą?", Wishes(language="de")),
        ("Kas turi raktą? Trumpai, prašau.", "Kas turi raktą?", Wishes(length="trumpai")),
        ("Siapa ada kunci? Jawab dalam bahasa Inggeris.", "Siapa ada kunci?", Wishes(language="en")),
        ("Siapa ada kunci? Tolong jawab secara ringkas.", "Siapa ada kunci?", Wishes(length="secara ringkas")),
    ],
)
def test_keeps_wishes_apart_from_the_question(message: str, text: str, wishes: Wishes) -> None:
    question = read(message)
    assert (question.text, question.wishes) == (text, wishes)


@pytest.mark.parametrize(
    "text",
    [
        "How do you say key in German?",
        "Which table lists the keys?",
        "What is written in the German edition?",
        "Is the short form enough?",
    ],
)
def test_takes_no_part_of_a_question_for_a_wish(text: str) -> None:
    assert read(text).text == text
    assert not read(text).wishes


@pytest.mark.parametrize(
    "text",
    [
        "and in German?",
        "shorter please",
        "as a list",
        "What is your source?",
        "Where does it say that?",
        "Are you sure?",
        "Auf Englisch bitte",
        "Wo steht das?",
        "Bist du sicher?",
        "Trumpiau",
        "Kur tai parašyta?",
        "Dalam bahasa Inggeris",
        "Adakah anda pasti?",
        "Really?",
        "Is that still correct?",
        "Which page?",
        "More details",
        "Show me the passage",
        "Geht das kürzer?",
        "Woher weißt du das?",
        "Ist das noch aktuell?",
        "Ar galima trumpiau?",
        "Koks šaltinis?",
        "Betul ke?",
        "Op welke pagina?",
    ],
)
def test_asks_again_for_what_is_about_the_answer(text: str) -> None:
    question = read(text, Context(before=(ASKED, Turn(question="Shorter, please", answer="Two years [1]."))))
    assert question.about_answer
    assert question.text == ASKED.question
    assert question.asked == text


@pytest.mark.parametrize("junk", ["x" * 300, "!!! ???", "…", "😀😀"])
def test_junk_leans_on_no_turn(junk: str) -> None:
    assert ASKED.question not in read(junk, Context(before=(ASKED,))).text


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("I live in Portugal. How long may I stay here?", "case"),
        ("We moved from Spain, who registers the car?", "case"),
        ("Ich wohne in Spanien. Wer meldet das Auto an?", "case"),
        ("Can a 15-year-old rent a boat?", "case"),
        ("Darf ein 15-jähriger ein Boot mieten?", "case"),
        ("What does the ferry cost in July?", "case"),
        ("Was the mill built before 1900?", "threshold"),
        ("Is a parcel of more than 300 grams a letter?", "threshold"),
        ("Wurde die Mühle vor 1900 gebaut?", "threshold"),
        ("What was revenue (in USD)?", "unit"),
        ("How long may I stay in Portugal?", "subject"),
        ("What was revenue in 2023?", "subject"),
        ("My Fairphone 4 is slow, who repairs it?", "subject"),
    ],
)
def test_tells_what_a_requirement_is_for(text: str, role: Role) -> None:
    assert {one.role for one in read(text).requirements} == {role}


@pytest.mark.timeout(20)
@given(st.text(max_size=300))
def test_frame_never_takes_everything(message: str) -> None:
    assert bool(unframed(message).text.strip()) == bool(message.strip())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["please ", "and in ", "a, ", "> a\n", "? ", "- ", "(in "])
def test_reads_a_long_message_in_little_time(part: str) -> None:
    assert read(part * 2000).text
