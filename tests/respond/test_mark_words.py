"""Marks that are words of their sentence become the title of their source; the others are taken out."""

import pytest
from evidence import hit

from ragstone import chunk
from ragstone.question import read as read_question
from ragstone.respond.writing.claims import Claims
from ragstone.respond.writing.marks import Marks
from ragstone.respond.writing.transcript import Sentence, Transcript

TITLES = ["Handbook", "Q1 report", "Travel policy"]


def read(text: str, size: int = 1000, titles: list[str] = TITLES) -> tuple[str, list[Sentence]]:
    transcript, shown, closed = Transcript(chunk.sentences, Marks(titles)), "", list[Sentence]()
    for start in range(0, len(text), size):
        shown += transcript.add(text[start : start + size])
        closed += transcript.closed()
    shown += transcript.end()
    return shown, [*closed, *transcript.closed(everything=True)]


WORDS = {
    "According to [1], it runs since May.": "According to “Handbook”, it runs since May.",
    "As [2] explains, it runs.": "As “Q1 report” explains, it runs.",
    "Both [1] and [2] show it.": "Both “Handbook” and “Q1 report” show it.",
    "See [1] for details.": "See “Handbook” for details.",
    "The left column is from [1] and the right one from [2].": (
        "The left column is from “Handbook” and the right one from “Q1 report”."
    ),
    "In [1] hotels cost up to £110, in [3] up to £135.": (
        "In “Handbook” hotels cost up to £110, in “Travel policy” up to £135."
    ),
    "[1], [2] and [3] confirm this.": "“Handbook”, “Q1 report” and “Travel policy” confirm this.",
    "It costs £110 [1], while [3] says £135.": "It costs £110, while “Travel policy” says £135.",
    "It costs £110 [1] and [3] says £135.": "It costs £110 and “Travel policy” says £135.",
    "As described in [1][2], it runs.": "As described in “Handbook”, “Q1 report”, it runs.",
    "According to[1], it runs.": "According to “Handbook”, it runs.",
    "According to [Handbook], it runs.": "According to “Handbook”, it runs.",
    "Vgl. [2] und [3].": "Vgl. “Q1 report” und “Travel policy”.",
    "Laut [2] kostet es 5 Euro.": "Laut “Q1 report” kostet es 5 Euro.",
    "Sowohl [1] als auch [2] zeigen es.": "Sowohl “Handbook” als auch “Q1 report” zeigen es.",
    "Pagal [1] tai kainuoja 5 eurus.": "Pagal “Handbook” tai kainuoja 5 eurus.",
    "Menurut [1], harganya 5 ringgit.": "Menurut “Handbook”, harganya 5 ringgit.",
    "Volgens [1] kost het 5 euro.": "Volgens “Handbook” kost het 5 euro.",
    "Secondo [1] costa 5 euro.": "Secondo “Handbook” costa 5 euro.",
    "Według [1] kosztuje to 5 euro.": "Według “Handbook” kosztuje to 5 euro.",
    "Enligt [1] kostar det 5 euro.": "Enligt “Handbook” kostar det 5 euro.",
}


@pytest.mark.parametrize("written", WORDS)
def test_a_mark_that_is_a_word_becomes_its_title(written: str):
    shown, closed = read(written)
    assert shown == WORDS[written]
    assert len(closed) == 1
    assert {f"[{number}]" for number in closed[0].claimed} >= {f"[{n}]" for n in (1, 2, 3) if f"[{n}]" in written}


CITATIONS = {
    "It opens at ten [1]. It closes at five [2].": "It opens at ten. It closes at five.",
    "You must be logged in [1]. The light is on [2].": "You must be logged in. The light is on.",
    "It opens at ten [1] and [2].": "It opens at ten.",
    "It opens at ten [1], [2]. It closes at five.": "It opens at ten. It closes at five.",
    "It opens at ten [1], but not on Mondays [2].": "It opens at ten, but not on Mondays.",
    "It opens at ten (see [1] and [2]).": "It opens at ten.",
    "Das Licht geht aus [1]. Die Tür bleibt zu [2].": "Das Licht geht aus. Die Tür bleibt zu.",
    "It opens at ten. [1] It closes at five. [2]": "It opens at ten. It closes at five.",
    "That is where it is from. [1] It is made of it. [2]": "That is where it is from. It is made of it.",
}


@pytest.mark.parametrize("written", CITATIONS)
def test_a_mark_behind_what_it_proves_is_taken_out(written: str):
    shown, closed = read(written)
    assert shown == CITATIONS[written]
    assert not any(one.titles for one in closed)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 30])
@pytest.mark.parametrize("written", [*WORDS, *CITATIONS])
def test_pieces_do_not_change_what_a_mark_is(written: str, size: int):
    assert read(f"{written} So it is [1].", size) == read(f"{written} So it is [1].")


def test_what_the_sources_say_is_proved_without_the_title():
    _, (sentence,) = read("According to [1], it opens at ten [2].")
    assert (sentence.stated, sentence.claimed) == ("According to , it opens at ten.", (1, 2))


def test_what_only_refers_to_a_source_claims_nothing():
    claims = Claims(read_question("Where are masks sold?"), [hit("Masks are sold at the entrance.")])
    for written in ("See [1] for details.", "Siehe [1].", "More details are given in [1]."):
        _, (sentence,) = read(written)
        assert (claims.of(sentence.stated), sentence.is_cited) == ("nothing", False)


def test_a_title_stays_within_its_sentence():
    shown, closed = read(
        "As [1] says, it opens.", titles=["| A [link](https://evil.example) `x` “y” | " + "long " * 40]
    )
    assert shown.startswith("As “A link (https://evil.example) x 'y' long")
    assert len(shown) < 120
    assert [one.text for one in closed] == [shown]


def test_a_line_that_begins_with_a_mark_stays_a_line():
    shown, closed = read("Sources:\n[1] Handbook\n[2] Report\n\nIt opens at ten.\n[3]\n")
    assert shown.strip() == "Sources:\nHandbook\nReport\n\nIt opens at ten."
    assert [one.claimed for one in closed] == [(), (1,), (2,), (3,)]
