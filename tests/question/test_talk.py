"""What needs no search is recognised by rules, and nothing else is taken for it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.conversation import kind_cases
from ragstone.core.question import Talk
from ragstone.language.talk import talk_words, talking
from ragstone.question import read
from ragstone.question.frame import without_courtesy
from ragstone.question.named import dated_names, named_documents, without_name
from ragstone.question.talk import FACTS, FIRST, filled, needed, talk_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Hello!", "greeting"),
        ("Guten Morgen zusammen", "greeting"),
        ("hi, thanks a lot, bye", "goodbye"),
        ("Ačiū!", "thanks"),
        ("What can you do?", "help"),
        ("Apa yang boleh awak buat?", "help"),
        ("Was kannst du?", "help"),
        ("Could you please list all the documents?", "collection"),
        ("Wie viele Dokumente gibt es?", "collection"),
        ("Apie ką šis failas?", "document"),
        ("Please summarize the uploaded file", "summary"),
        ("hm", "unclear"),
    ],
)
def test_recognises_talk(question: str, kind: str) -> None:
    talk = talk_of(question)
    assert talk is not None
    assert talk.kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "Which documents do I need to register?",
        "How many files can I upload a day?",
        "Hello, how do I reset my password?",
        "Help for victims of the flood",
        "Thank you letter template",
        "Welche Unterlagen brauche ich?",
        "",
        "?!",
        "please",
    ],
)
def test_searches_for_everything_else(question: str) -> None:
    assert talk_of(question) is None


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How many documents from 2021?", {"fact": "count", "year": "2021"}),
        ("Who wrote Invoice.pdf?", {"fact": "author", "title": "Invoice.pdf"}),
        ("Which documents were written by Ada Berg?", {"fact": "list", "author": "Ada Berg"}),
        ("Which documents do you have about Fähren?", {"fact": "list", "topic": "Fähren"}),
        ("Summarize the document Island Guide, please", {"title": "Island Guide", "called": "document"}),
        ("List all PDF files", {"fact": "list", "format": "pdf"}),
        ("How many PDFs are there?", {"fact": "count", "format": "pdf"}),
        ("Welche E-Mails gibt es?", {"fact": "list", "format": "email"}),
        ("What is the latest mail?", {"fact": "newest", "format": "email"}),
        ("Which mails mention the recall?", {"fact": "list", "format": "email", "topic": "the recall"}),
        ("Which documents do you have about mails?", {"fact": "list", "format": "", "topic": "mails"}),
        ("Who sent the mail about the Recall?", {"fact": "author", "title": "Recall", "called": "mail"}),
    ],
)
def test_names_are_as_they_were_typed(question: str, named: dict[str, str]) -> None:
    talk = talk_of(question)
    assert talk is not None
    assert {name: getattr(talk, name) for name in named} == named


@given(st.text(max_size=80), st.sampled_from(["", "en", "de", "lt", "ms", "xx"]))
def test_understands_any_text(text: str, language: str) -> None:
    talk = talk_of(text, language)
    assert talk is None or (isinstance(talk, Talk) and talk.kind in FIRST)


@pytest.mark.parametrize(
    "text",
    [
        "all the " * 500,
        "hello " * 29,
        "x" * 100_000,
        "list the of " + "a " * 25,
        # What almost matches takes longest: each word may be read in two ways.
        "hello " * 28 + "xyz",
        "thanks " * 28 + "xyz",
        "tldr " + "pdf " * 26 + "xyz$",
        "kurze zusammenfassung " + "aufsatz " * 24 + "qq",
        "trumpa santrauka " + "pdf " * 24 + "qq",
        "rumuskan " + "dokumen " * 24 + "qq",
    ],
)
def test_long_text_is_read_quickly(text: str) -> None:
    before = time.process_time()
    talk_of(text)
    assert time.process_time() - before < 5


def test_every_language_has_every_kind() -> None:
    assert set(talking()) >= {"de", "en", "lt", "ms"}
    assert "list" in FACTS


def test_questions_of_data_sets_are_searched_for(data_dir: Path) -> None:
    asked = [case for case in kind_cases(data_dir, 200) if case.kind == "search"]
    taken = [case.text for case in asked if (talk := talk_of(case.text, case.language)) and not talk.title]
    assert len(asked) > 100
    assert len(taken) <= len(asked) // 100


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What was earned according to the 2022 report?", ["2022 report"]),
        ("What does invoice.pdf say on tax?", ["invoice.pdf"]),
        ('Who is thanked in "Island Guide"?', ["Island Guide"]),
        ('Who produced the music of the film "Island Guide"?', []),
        ("What must guests know?", []),
    ],
)
def test_finds_names_of_documents(question: str, names: list[str]) -> None:
    assert [one.name for one in named_documents(question, "en")] == names


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Who hunts the whale in moby.md?", "Who hunts the whale?"),
        ("In moby.md, who hunts the whale?", "who hunts the whale?"),
        ('Who is thanked in "Island Guide"?', "Who is thanked?"),
        ("What does invoice.pdf say on tax?", "What does invoice.pdf say on tax?"),
        ("What is in moby.md?", "What is in moby.md?"),
    ],
)
def test_removes_the_place_from_a_question(question: str, rest: str) -> None:
    (named,) = named_documents(question, "en")
    assert without_name(question, named.phrase, "en") == rest


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Thanks. Who is the pilot?", "Who is the pilot?"),
        ("Hello, who is the pilot?", "who is the pilot?"),
        ("Hello! Magazine: who owns it?", "Hello! Magazine: who owns it?"),
        ("Good morning, Vietnam: who directed it?", "Good morning, Vietnam: who directed it?"),
        ("Well, what is it?", "Well, what is it?"),
        ("Thanks", "Thanks"),
    ],
)
def test_removes_courtesies_before_a_question(question: str, rest: str) -> None:
    assert without_courtesy(question, "en") == rest


@pytest.mark.parametrize("language", talking())
@given(st.data())
def test_a_match_has_a_needed_word(language: str, data: st.DataObject) -> None:
    talk = talk_words(language)
    patterns = [one for some in (*talk.patterns.values(), *talk.collection.values()) for one in some]
    pattern = filled(data.draw(st.sampled_from(patterns)), talk.words)
    text = data.draw(st.from_regex(pattern.replace("(?>", "(?:"), fullmatch=True))
    assert all(any(one in text for one in words) for words in needed(pattern))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("what documents?", [("what document",)]),
        ("(show|list)( me)? it", [("show", "list"), (" it",)]),
        ("(show|list)? it", [(" it",)]),
        ("one|other", []),
        ("(a(b)?|c) then", [(" then",)]),
        ("a{0,2}", []),
        (r"\(x\) (?:yes|no)", [("yes", "no"), ("x",)]),
    ],
)
def test_finds_the_needed_words(pattern: str, words: list[tuple[str, ...]]) -> None:
    assert [*needed(pattern)] == words


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who attended the board meeting in March 2026?", ["March 2026 meeting board", "March 2026 meeting"]),
        ("What was decided in the April meeting?", ["April meeting", "April decided"]),
        ("What happens in April?", ["April happens"]),
        ("may picnic helpers", ["may picnic helpers", "may picnic"]),
        ("Who may vote?", ["may vote"]),
        ("Who attended the meetings of March and April?", []),
        ("Who attended the meeting of 2026?", []),
        ("What is the capital of France?", []),
    ],
)
def test_a_month_may_name_a_document_with_the_words_beside_it(question: str, names: list[str]) -> None:
    assert [one.text for one in dated_names(read(question))] == names
