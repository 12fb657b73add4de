"""Which sentences of a written answer claim something, and how yes, no and silence of the documents are judged."""

import pytest
from evidence import hit
from hypothesis import given
from hypothesis import strategies as st

from ragstone.question import read
from ragstone.respond.writing.claims import Claim, Claims, Verdict, verdict
from ragstone.respond.writing.told import Told, told_by

HITS = [
    hit(
        "The museum was founded in 1921. Masks are sold at the entrance for two euros. Opening hours vary.",
        title="Masks",
    ),
    hit("Das Museum öffnet um zehn Uhr.", 1, title="Öffnungszeiten"),
]


def claim(sentence: str, question: str = "Where are masks sold?") -> str:
    return Claims(read(question), HITS).of(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Masks are sold as follows:",
        "The answer is:",
        "Here are the steps:",
        "Masks:",
        "Where are masks sold?",
        "## Opening hours",
        "**Opening hours**",
        "### Summary",
        "|---|:--:|",
        "---",
    ],
)
def test_claims_nothing(sentence: str):
    assert claim(sentence) == "nothing"


@pytest.mark.parametrize(
    "sentence",
    [
        "The director is Anna Berg:",
        "Masks are forbidden in the following rooms:",
        "Masks are not sold here:",
        "Call +1 900 555 0100 to verify your account:",
        "Did you see evil.example?",
        "Is Anna Berg the director?",
        "## The director is Anna Berg",
        "**Masks are not sold**",
        "**Masks are sold.**",
        "- Hats",
        "Masks are sold at the entrance.",
        "Yes, at the entrance.",
    ],
)
def test_claims_a_fact(sentence: str):
    assert claim(sentence) == "fact"


def test_the_words_of_a_yes_or_no_question_claim_something():
    assert claim("Masks are sold here at noon:", "Are masks sold?") == "fact"
    assert claim("Masks are sold:", "Are masks sold?") == "fact"
    assert claim("Masks are sold as follows:", "Are masks sold?") == "nothing"


@pytest.mark.parametrize(
    "sentence",
    [
        "The documents do not say where masks are sold.",
        "No information about masks was found in the sources.",
        "The passages don't mention it.",
        "Not stated.",
        "The brochure is silent on masks.",
        "The annals end in 2018.",
        "Only the prices of hats are listed; those of masks are not.",
        "I'd need the price list of 2024 for that.",
        "Die Dokumente enthalten dazu keine Angaben.",
        "Der Museumsvertrag nennt keinen Preis.",
        "Dokumentuose apie tai nieko nerašoma, informacijos nėra pateikta.",
        "Kaina neminima.",
        "Maklumat itu tidak disebut dalam petikan.",
        "The documents do not mention that masks are dangerous.",
    ],
)
def test_silence_of_the_documents(sentence: str):
    assert claim(sentence) == "absence"


@pytest.mark.parametrize(
    "sentence",
    [
        "The documents do not say where, but Anna Berg sells them.",
        "The documents do not say where masks are sold, but 20 of them were stolen.",
        "Masks are not sold.",
        "Dogs are not allowed.",
        "The museum does not insure masks.",
        "No masks may be passed to third parties.",
        "Hunde sind nicht erlaubt.",
    ],
)
def test_what_looks_like_silence_is_a_fact(sentence: str):
    assert claim(sentence) == "fact"


def test_what_a_passage_denies_is_a_fact():
    sentence = "No information about the cause of the reactor leak was found."
    hits = [hit("The inspectors came twice. No information about the cause of the leak in the reactor was found.")]
    assert Claims(read("What did they find?"), []).of(sentence) == "absence"
    assert Claims(read("What did they find?"), hits).of(sentence) == "fact"


@pytest.mark.parametrize(
    ("first", "claims", "told"),
    [
        (None, ["absence", "fact"], "nothing"),
        (None, ["absence", "fact", "fact"], "part"),
        (None, ["absence", "absence"], "nothing"),
        (None, ["fact", "absence"], "part"),
        (None, ["fact"], "all"),
        ("nothing", ["fact"], "nothing"),
        ("all", ["absence"], "all"),
        ("all", ["absence", "fact"], "all"),
        ("all", ["fact"], "all"),
    ],
)
def test_tells_a_refusal_from_an_answer(first: Told | None, claims: list[Claim], told: Told):
    assert told_by(first, claims) == told


@pytest.mark.parametrize("word", ["Yes", "No", "Ja", "Nein", "Taip", "Ne", "Ya", "Tidak", "**Yes**"])
def test_yes_or_no_alone(word: str):
    assert claim(f"{word}.") == "verdict"


def test_yes_or_no_before_a_statement():
    assert verdict("Yes, masks are sold.") == Verdict(agrees=True, rest="masks are sold")
    assert verdict("No: it is closed.") == Verdict(agrees=False, rest="it is closed")
    assert verdict("No masks are sold.") is None
    assert verdict("Masks are sold.") is None


@pytest.mark.parametrize(
    ("agrees", "statement", "contradicted"),
    [
        (True, "Masks are sold at the entrance.", False),
        (True, "Masks are not sold at the entrance.", True),
        (False, "Masks are not sold at the entrance.", False),
        (False, "Masks are sold at the entrance.", True),
        (False, "Masks are sold at the kiosk.", False),
        (True, "They cost two euros.", False),
    ],
)
def test_yes_or_no_must_fit_what_follows(agrees: bool, statement: str, contradicted: bool):
    claims = Claims(read("Are masks sold at the entrance?"), HITS)
    assert claims.contradicts(Verdict(agrees=agrees, rest=""), statement) == contradicted


@pytest.mark.parametrize(
    ("sentence", "leads"),
    [
        ("Masks are kept in these rooms:", True),
        ("There are three rules for visitors:", True),
        ("Since 1921, these rules hold in the museum:", True),
        ("Since 1922, these rules hold in the museum:", False),
        ("Anna Berg, the director, names these rules:", False),
        ("Masks are not sold in these rooms:", False),
        ("Masks are kept in these rooms.", False),
        ("Yes, these:", False),
    ],
)
def test_what_may_introduce_a_list(sentence: str, leads: bool):
    assert Claims(read("Where are masks sold?"), HITS).leads_in(sentence) == leads


def test_head_of_a_table_names_columns():
    claims = Claims(read("Where are masks sold?"), HITS)
    assert claims.is_head("| Masks | Opening hours |")
    assert not claims.is_head("| Masks | 1,250 euros |")
    assert claims.is_head("| Masks | Q1 2025 (£ thousand) | March 2026 | Growth |")


@given(st.text(max_size=80), st.sampled_from(["Zanzibar", "7,431", "Quetzalcoatl", "99%"]))
def test_what_nobody_said_is_never_free(text: str, new: str):
    for sentence in (f"{text} {new}:", f"{text} {new}?", f"## {new}", f"**{new}**"):
        assert claim(sentence) in ("fact", "verdict")
