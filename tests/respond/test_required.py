"""What a question fixes, in four languages, and which of it a passage lacks."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from evidence import hit
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.records import Chunk, Metadata
from ragstone.core.request import Request
from ragstone.language.places import _folded, _pattern, places
from ragstone.question import Context, read
from ragstone.respond.requirements.unmet import CAP, Contents, Lack, lacking, lowered


def fixed(question: str, language: str = "") -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in read(question, Context(language=language)).requirements]


def chunk(text: str, title: str = "", metadata: Metadata | None = None) -> Chunk:
    made = hit(text, title=title).chunk
    return Chunk(
        id=made.id,
        document_id=made.document_id,
        index=0,
        total=1,
        start=0,
        end=len(text),
        text=text,
        title=title,
        metadata=metadata or {},
    )


def lacks(
    question: str, passage: Chunk, *others: Chunk, known: bool = False, weight: float = 5.0, said: Sequence[str] = ()
) -> list[Lack]:
    def weigh(words: Sequence[str], request: Request) -> list[float]:
        del request
        return [*[weight] * (len(words) - 1), 9.0]  # the last word is one that no chunk has

    return lacking(
        read(question),
        [passage],
        [passage, *others],
        occurs=lambda words, _request: [known] * len(words),
        weigh=weigh,
        request=Request.by_owner(),
        said=said,
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was net revenue in 2030?", [("year", "2030")]),
        ("What did Best Buy earn in Q3 2022?", [("quarter", "Q3"), ("year", "2022"), ("name", "Best Buy")]),
        ("What does the Fairphone 5 cost?", [("version", "Fairphone 5"), ("name", "Fairphone")]),
        ("What does the T Phone 3 cost?", [("version", "T Phone 3"), ("name", "Phone")]),
        ("What does section 4.2 say?", [("version", "section 4.2")]),
        ("Does it run with python3.10?", [("version", "python3.10")]),
        ("Does it speak HTTP/3?", [("version", "HTTP/3"), ("name", "HTTP")]),
        ("I type 1/1/35, why is it 1935?", [("year", "1935")]),
        ("Do Polish masks help?", [("place", "Polish")]),
        ("Which is the largest city of Surrey, England?", [("name", "Surrey")]),
        ("Wie hoch war der Umsatz im dritten Quartal 2022?", [("quarter", "dritten Quartal"), ("year", "2022")]),
        ("Welche Regeln gelten in Polen?", [("place", "Polen")]),
        ("Was kostet ein Vertrag der Deutschen Telekom?", [("name", "Deutschen Telekom")]),
        ("Ar Lenkijoje reikia dėvėti kaukę?", [("place", "Lenkijoje")]),
        ("Kokios buvo pajamos 2022 metų trečiąjį ketvirtį?", [("year", "2022"), ("quarter", "trečiąjį ketvirtį")]),
        (
            "Berapakah hasil suku ketiga 2022 di Malaysia?",
            [("quarter", "suku ketiga"), ("year", "2022"), ("place", "Malaysia")],
        ),
    ],
)
def test_finds_what_a_question_fixes(question: str, expected: list[tuple[str, str]]):
    assert sorted(fixed(question)) == sorted(expected)


@pytest.mark.parametrize(
    "question",
    [
        "Where are masks sold?",
        "Welche Regeln gelten für eine Krankschreibung?",
        "Time Evolution and Trotter Decomposition",
        "What are the 3 main rules?",
        "Which Irish cities had a mayor?",
        "Is there a TV in the room?",
        "What may I bring?",
        "Kaip apsisaugti nuo viruso?",
    ],
)
def test_takes_nothing_else_for_fixed(question: str):
    assert fixed(question) == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was revenue in 2023?", "In FY23 revenue rose."),
        ("What was revenue in 2020?", "Revenue of 2019/20 rose."),
        ("Who ruled in 2001?", "From 1998 to 2005 the king ruled."),
        ("Who ruled in 2001?", "Van 1998 tot 2005 regeerde de koning."),
        ("Who ruled in 2001?", "Tussen 1998 en 2005 regeerde de koning."),
        ("Who ruled in 1994?", "In the 1990s the king ruled."),
        ("Who ruled in the 1990s?", "In 1994 the king ruled."),
        ("Who ruled in the 19th century?", "In 1850 the king ruled."),
        ("What was revenue in the first quarter?", "Revenue of Q1 rose."),
        ("What was revenue in Q2?", "Revenue of the 2nd quarter rose."),
        ("Wie hoch war der Umsatz in Q3?", "Im dritten Quartal stieg der Umsatz."),
        ("What does the Fairphone 5 cost?", "The Fairphone 4 and 5 cost the same."),
        ("Does it need CUDA 12.1?", "It needs CUDA 12."),
        ("Does it need CUDA 12?", "It needs CUDA 12.1.3."),
        ("What about COVID-19?", "Covid 19 is an illness."),
        ("Does it run with python3.10?", "Python version 3.10 or newer runs it."),
        ("Who won World War 2?", "World War II was won by the Allies."),
        ("What does the GPLv3 say?", "The GPL-3 says so."),
        ("What does the GPLv3 say?", "Version 3 of the GPL says so."),
        ("Is anything new in httpx 0.20?", "## 0.20.0\n\nRedirects are new in httpx."),
        ("Which Scottish rules hold?", "Scotland has rules."),
        ("Do Scottish rules hold?", "The rules of Scotland hold."),
        ("What do the rules of the US say?", "The rules of the United States say so."),
        ("What do the rules of the United States say?", "American rules say so."),
        ("What does the WHO advise?", "The World Health Organization advises rest."),
        ("What does the World Health Organization advise?", "The WHO advises rest."),
        ("Ar Lenkijoje reikia kaukės?", "Lenkijos taisyklės reikalauja kaukės."),
        ("Kas yra Vilniuje?", "Vilnius yra sostinė."),
        ("Gibt es polnische Regeln?", "In Polen gibt es Regeln."),
        ("When was Barack Obama born?", "Obama was born in 1961."),
        ("How does the Telekom pay?", "Die Telekomaktie zahlt."),
    ],
)
def test_recognises_other_forms(question: str, text: str):
    assert lacks(question, chunk(text)) == []


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was net revenue in 2030?", "Net revenue rose to 29 billion euros in 2022."),
        ("What was revenue in Q4?", "Revenue of Q3 rose."),
        ("What does the Fairphone 5 cost?", "The Fairphone 4 costs 579 euros and has 5 cameras."),
        ("Does it need CUDA 12.1?", "It needs CUDA 12.4."),
        ("What does section 4.2 say?", "Section 4.3 says so."),
        ("Does it run with python3.10?", "Python version 3.12 or newer runs it."),
        ("Does it run with python3.1?", "It runs with python3.10."),
        ("What does the GPLv3 say?", "The GPL-2 says so."),
        ("Is anything new in httpx 0.20?", "## 0.19.0\n\nRedirects are new in httpx."),
        ("Do Scottish rules hold?", "The rules of Wales hold."),
        ("Do Polish masks help?", "Masks of all kinds help."),
        ("Ar Lenkijoje reikia kaukės?", "Lietuvoje kaukės reikia."),
        ("Where is Austria?", "Australia is in the south."),
        ("Wer leitet die Deutsche Bahn?", "Herr Schmidt leitet das Amt."),
        ("Siapa perdana menteri Jepun?", "Perdana menteri Malaysia ialah Anwar."),
    ],
)
def test_says_what_is_missing(question: str, text: str):
    assert lacks(question, chunk(text)) != []


def test_reads_title_and_metadata():
    question = "What was revenue of Best Buy in 2022?"
    assert lacks(question, chunk("Revenue rose in 2021.")) != []
    assert lacks(question, chunk("Revenue rose in 2021.", title="Best Buy 2022")) == []
    of_metadata = chunk("Revenue rose in 2021.", metadata={"company": "Best Buy", "date": "2022-10-27"})
    assert lacks(question, of_metadata) == []
    assert lacks("What are the rules of Poland?", chunk("Masks are worn.", metadata={"country": "PL"})) == []
    assert lacks(question, chunk("Revenue of Best Buy rose in 2021.", metadata={"extracted_at": "2022-10-27"})) != []


def test_heading_has_the_version_of_what_is_below():
    question = "Which database does Syncthing 2.0 use?"
    below = chunk("The backend was switched to SQLite. Syncthing migrates.", title="Major changes in 2.0")
    assert lacks(question, below) == []
    assert lacks(question, chunk(below.text, title="Major changes in 1.9")) != []
    assert lacks(question, chunk("The backend was switched to SQLite.", title="Major changes in 2.0")) != []


def test_other_chunks_of_the_document_name_its_subject():
    question, text = "What does Fairphone say?", "It says so."
    other = hit("Fairphone is a company.", 1).chunk
    assert lacks(question, chunk(text), other)[0].found
    own = Chunk(
        id="next", document_id="d0", index=1, total=2, start=20, end=43, text="Fairphone is a company.", title=""
    )
    assert lacks(question, chunk(text), own) == []


def test_subject_of_all_documents_need_not_be_repeated():
    passage = chunk("Fees are paid in cash.")
    assert lacks("What are the fees of Acme?", passage, known=True, weight=0.5) == []
    assert lacks("What are the fees of Acme?", passage, known=True, weight=5.0) != []


def test_a_passage_without_years_may_be_of_any():
    assert lacks("What was revenue in 2030?", chunk("Revenue rose."), known=True) == []
    assert lacks("What was revenue in 2030?", chunk("Revenue rose."), known=False) != []


def test_a_comparison_may_rest_on_several_passages():
    one, other = hit("The Fairphone 4 weighs more.", 0).chunk, hit("The Fairphone 5 weighs less.", 1).chunk
    asked = "Compare the Fairphone 4 and the Fairphone 5."
    known = lambda words, _request: [True] * len(words)  # noqa: E731
    weigh = lambda words, _request: [9.0] * len(words)  # noqa: E731
    given = {"occurs": known, "weigh": weigh, "request": Request.by_owner()}
    assert lacking(read(asked), [one, other], [one, other], **given) == []
    assert lacking(read(asked), [one], [one], **given) != []


@given(st.floats(0, 1), st.sampled_from(["What of 2030?", "What of Poland?", "What of Q3 2030 in Poland?"]))
def test_lacks_never_raise_the_probability(probability: float, question: str):
    found = lacks(question, chunk("In 2022 and Q1 all was well."))
    assert found
    assert lowered(probability, found) <= min(probability, CAP)
    assert lowered(probability, []) == probability


NAME = st.text(st.characters(categories=["Ll"], max_codepoint=0x17F), min_size=1, max_size=12)


@given(st.lists(NAME, min_size=1, max_size=6))
def test_a_text_has_its_own_names(some: list[str]):
    text = "the " + " and ".join(name.title() for name in some)
    named = [one for one in read(f"Where is {text}?").requirements if one.kind == "name"]
    assert all(Contents(chunk(text)).has_name(one) for one in named)


@given(st.text(max_size=60))
def test_any_passage_has_what_it_says_itself(text: str):
    passage = chunk(text, title=text)
    assert [one for one in read(text).requirements if one.kind == "place" and lacks(text, passage)] == []


PLACES = ("Poland", "polish", "US", "us", "u.k.", "Lenkijoje", "vereinigte", "Arabische", "Emirate", "-", "", "der")


@given(st.lists(st.sampled_from(PLACES)))
def test_places_are_those_of_the_whole_pattern(some: list[str]):
    text = " ".join(some)
    plain = re.finditer(rf"\b{_pattern('').pattern}", _folded(text))
    assert list(places(text)) == list(dict.fromkeys(match.lastgroup for match in plain))


def test_place_of_all_languages():
    for text in (
        "Polish food",
        "in Polen",
        "polnische Küche",
        "Lenkijoje",
        "lenkų virtuvė",
        "makanan Poland",
        "Poolse keuken",
    ):
        assert list(places(text)) == ["PL"], text
    assert list(places("the US and us")) == ["US"]
    assert places("polish the floor") == {}


@pytest.mark.timeout(20)
def test_reads_numbers_of_any_length():
    digits = "3" * 20_000  # Python refuses to read so many
    assert [one.kind for one in read(f"Where are the digits {digits}?").requirements] == ["number"]
    year, number = lacks("Where are the 44 digits of 1997?", hit(f"They are {digits} of 1998.").chunk)
    assert (year.requirement.text, number.requirement.text) == ("1997", "44")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("question", [f"What is a1{'a' * 60}/?", "q1 " * 7000, "a-" * 10_000, "1 " * 10_000])
def test_reads_any_question_in_little_time(question: str):
    assert len(read(question).requirements) <= 2000


def test_a_passage_about_an_acronym_has_its_plural() -> None:
    assert fixed("Which books do NGOs keep?") == [("name", "NGOs")]
    assert fixed("Which page numbers do scanned PDFs keep?") == [], "a general word, as PDF is"
    assert [one.requirement.text for one in lacks("Which books do NGOs keep?", chunk("A shop keeps books."))] == [
        "NGOs"
    ]
    assert lacks("Which books do NGOs keep?", chunk("An NGO keeps books.")) == []


def test_sentences_about_another_year_do_not_answer() -> None:
    question = "How many guests came in 2017?"
    passage = chunk("The inn opened in 2017. In 2023 it had 900 guests.")
    (lack,) = lacks(question, passage, known=True, said=["In 2023 it had 900 guests."])
    assert lack.beside
    assert not lacks(question, passage, known=True, said=["The inn opened in 2017."])
    assert not lacks(question, passage, known=True, said=["It had 900 guests."])
    titled = chunk("It was 40 more than in 2016.", title="Guests 2017")
    assert not lacks(question, titled, known=True, said=["It was 40 more than in 2016."])


def test_sentences_below_another_month_do_not_answer() -> None:
    (month,) = read("What did the choir sing in July?").requirements
    question = replace(read("What did the choir sing in July?"), requirements=(replace(month, role="subject"),))
    minutes = chunk("The choir sang folk songs. It meets again on 9 July.", title="Minutes of 14 May")

    def missing(*said: str) -> list[Lack]:
        given = {"occurs": lambda some, _: [True] * len(some), "weigh": lambda some, _: [5.0] * len(some)}
        return lacking(question, [minutes], [minutes], **given, request=Request.by_owner(), said=said)

    assert missing("The choir sang folk songs.", "It meets again on 9 July.")
    assert not missing("It meets again on 9 July.")


def test_dates_elsewhere_in_a_document_say_nothing_of_a_passage() -> None:
    elsewhere = {"mentioned_dates": ("2017-05-01",)}
    assert lacks("How many guests came in 2017?", chunk("In 2023 it had 900 guests.", metadata=elsewhere), known=True)


def test_the_day_of_the_week_before_a_day_is_no_name_and_no_version() -> None:
    assert fixed("Who opens the shop on Thu 3 Dec?") == [("month", "Dec")]


def test_the_day_on_which_a_file_was_made_is_not_its_year() -> None:
    metadata = {"as_of": "2031", "created": "2032-01-20T10:00:00"}
    report = chunk("Four of the 30 thefts were solved.", "Annual report 2031", metadata)
    assert [one.requirement.text for one in lacks("How many thefts were there in 2032?", report, known=True)] == [
        "2032"
    ]
    assert not lacks("How many thefts were there in 2031?", report, known=True)
