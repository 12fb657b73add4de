"""Sentences of written answers, checked by their figures, names and polarity, and by the packaged model."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import chunk
from ragstone.core.readings import Judgement
from ragstone.core.records import Chunk, Hit, Span
from ragstone.core.request import Request
from ragstone.respond.proof.checker import supported, unsupported_words
from ragstone.respond.proof.passages import MAX_CACHED, Passages
from ragstone.respond.proof.records import Proof
from ragstone.respond.proof.said import NOTHING
from tests.respond.proofs import FALSE, LEAVE, PUMP, REPORT, TRUE, checker, hits, proof

LAKE = (
    "The lake may have formed when a glacier melted. Some of its fish are found nowhere else. The town council closed "
    "the beach in 2019 because of algae. Swimmers must stay within 50 metres of the shore. The old boathouse was sold "
    "to a hotel, which turned it into a restaurant."
)


@pytest.mark.parametrize(("named", "sentence"), TRUE)
def test_marks_no_true_sentence(named: str, sentence: str) -> None:
    found = proof(sentence, first=named)
    assert not found.flagged, found.reason
    assert [quote.hit.chunk.text for quote in found.quotes] == [named] * len(found.quotes)


@pytest.mark.parametrize(("named", "sentence", "wrong"), FALSE)
def test_marks_false_words_with_a_reason(named: str, sentence: str, wrong: str) -> None:
    found = proof(sentence, first=named)
    assert found.flagged
    assert any(wrong in part or part in wrong for part in found.unsupported)
    assert found.reason.startswith(("no source ", "the passage ", "the cited passage "))
    assert (found.state == "contradicted") == ("the passage " in found.reason)


def test_names_the_right_figure() -> None:
    assert proof("It pumps 21 litres a minute at 3 bar.", first=PUMP).reason == (
        "the passage says 12 litres, not 21 litres"
    )


def test_reads_the_column_of_a_period() -> None:
    assert proof("Revenue in 2022 was 39,669 million euros.", first=REPORT).state == "contradicted"
    assert proof("Revenue in 2022 was 36,120 million euros.", first=REPORT).state == "supported"


BALANCE = Chunk(
    id="b",
    document_id="report.pdf",
    index=3,
    total=9,
    start=0,
    end=98,
    text=" | 31 March 2026 | 31 December 2025\nCash | 1,284 | 1,097\nInventory | 2,110 | 2,245\nBikes | 48 | 61",
    title="Report",
    facts={"is_table": True, "table_header": " | 31 March 2026 | 31 December 2025", "header_rows": 1,
           "table_caption": "Balance sheet, extract (£ thousand)", "section": "Balance sheet (£ thousand)"},
    context="Balance sheet, extract (£ thousand)",
)  # fmt: skip


def of_table(sentence: str, before: str = "") -> Proof:
    found = checker().check(sentence, [Hit(chunk=BALANCE, score=1.0)], Request.by_owner(), NOTHING.and_then(before), 1)
    return asyncio.run(found)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("On 31 March 2026 the company had £1,284 thousand in cash.", ""),
        ("Cash was £1,097,000 on 31 December 2025 and £1,284,000 on 31 March 2026.", ""),
        ("There were 48 bikes in March 2026.", ""),
        ("On 31 March 2026 the company had £1,097 thousand in cash.", "the passage says 1,284, not £1,097 thousand"),
        ("Inventory was £2.11 million on 31 December 2025.", "the passage says 2,245, not £2.11 million"),
        ("There were 61 bikes in March 2026.", "the passage says 48, not 61"),
    ],
)
def test_reads_the_columns_of_a_table_in_a_report(sentence: str, reason: str) -> None:
    assert of_table(sentence).reason == reason


def test_quotes_the_row_that_has_the_figure() -> None:
    (quote,) = of_table("The company had £1,284,000 on 31 March 2026.").quotes
    assert quote.span.of(BALANCE.text) == "Cash | 1,284 | 1,097"


HOTELS = "## Hotels\n\nHotels cost up to £135 a night. Five days can be carried over. 24 bikes were sold."


@pytest.mark.parametrize("sentence", ["There are three dealers in the north:", "Two policies are about hotels."])
def test_other_things_deny_no_count(sentence: str) -> None:
    assert not proof(sentence, first=HOTELS, texts=[HOTELS]).flagged


def test_a_count_of_the_same_things_is_denied() -> None:
    assert proof("Seven days can be carried over.", first=HOTELS, texts=[HOTELS]).reason.startswith("the passage says")


def test_a_heading_is_no_evidence() -> None:
    found = proof("Hotels matter.", first=HOTELS, texts=[HOTELS])
    assert all("#" not in quote.text for quote in found.quotes)


PLANE = (
    "The airline took over its first A320 in Toulouse in 2019. A painter refitted the cabin for long routes in 2021. "
    "Passengers wear masks because of the virus. Earnings per share rose by 17% from the same quarter of last year."
)


def test_names_the_other_version_of_a_code() -> None:
    found = proof("The first A330 was taken over in Toulouse.", first=PLANE, texts=[PLANE])
    assert found.reason == "the passage says A320, not A330"


def test_a_year_must_not_take_the_place_of_another() -> None:
    wrong = proof("The airline took over its first A320 in Toulouse in 2021.", first=PLANE, texts=[PLANE])
    assert wrong.reason == "the passage says 2019, not 2021"
    assert not proof("It took over the A320 in 2019.", first=PLANE, texts=[PLANE]).flagged


@pytest.mark.parametrize(
    "sentence", ["Passengers wear masks because of COVID-19.", "The EPS rose by 17% YoY.", "They wear FFP2 masks."]
)
def test_codes_and_abbreviations_may_stand_for_words(sentence: str) -> None:
    assert not proof(sentence, first=PLANE, texts=[PLANE]).flagged


def test_only_amounts_are_in_thousands() -> None:
    text = "The fort is of the 8th century. Visitors (in thousands): 12 in 2019, 15 in 2020."
    assert not proof("It was built in the 8th century.", first=text, texts=[text]).flagged
    assert not proof("12,000 people came in 2019.", first=text, texts=[text]).flagged


def test_the_question_claims_nothing() -> None:
    sentence = "A refund within 14 days of a Paris trip is not mentioned."
    assert proof(sentence, first=LEAVE).flagged
    assert not proof(sentence, first=LEAVE, before="Is a Paris trip refunded within 14 days?").flagged


def test_quotes_the_named_passage() -> None:
    found = proof("The motor must be stopped before anyone opens the housing.", first=PUMP)
    assert [quote.text for quote in found.quotes] == ["Stop the motor before you open the housing."]


def test_quotes_another_passage_if_the_named_one_says_nothing() -> None:
    found = proof("The filter is cleaned every 500 hours of operation.", first=LEAVE)
    assert [quote.hit.chunk.text for quote in found.quotes] == [PUMP]


def test_a_figure_alone_does_not_replace_the_named_passage() -> None:
    staff = "| Name | Extension |\n|---|---|\n| Jonas Falk | 30 |\n| Ida Lind | 31 |"
    result = "| in thousand euros | 2025 | 2024 |\n|---|---|---|\n| Result | 68 | 38 |"
    found = proof(
        "That is 30 thousand euros more.", before="How did the result change?", first=result, texts=[staff, result]
    )
    assert [quote.hit.chunk.text for quote in found.quotes] == [result]


def test_quotes_nothing_without_a_named_or_close_passage() -> None:
    assert proof("It depends on several other circumstances.").quotes == ()


def test_a_question_is_no_evidence() -> None:
    text = "Can it be spread through food? No, there is no evidence of that."
    found = proof("It can be spread through food.", first=text, texts=[text])
    assert all("?" not in quote.text for quote in found.quotes)


def test_nothing_is_checked_without_evidence() -> None:
    assert proof("The bridge is 710 feet long.", texts=[]).state == "unchecked"
    assert proof(" … ", first=LEAVE).state == "unchecked"


def test_a_german_sentence_is_compared_by_figures_and_names() -> None:
    right = "Vollzeitkräfte erhalten 28 Tage bezahlten Urlaub im Jahr."
    assert not proof(right, first=LEAVE, trained=True).flagged
    wrong = proof(right.replace("28", "32"), first=LEAVE, trained=True)
    assert wrong.unsupported == ("32 Tage",)


@pytest.mark.parametrize(
    "sentence",
    [
        "The lake may have formed when a glacier melted.",
        "Some of the fish in the lake are found nowhere else.",
        "The beach was closed by the town council in 2019 because of algae.",
    ],
)
def test_the_model_supports_what_the_evidence_says(sentence: str) -> None:
    found = proof(sentence, first=LAKE, texts=[LAKE], trained=True)
    assert found.state == "supported"
    assert found.unsupported == ()


@given(
    sentence=st.text(alphabet="ab ,.é", min_size=1, max_size=40),
    shares=st.lists(st.floats(min_value=0, max_value=1), min_size=20, max_size=20),
)
def test_marked_words_are_whole_words_in_order(sentence: str, shares: list[float]) -> None:
    spans = tuple(Span(start=i, end=i + 1) for i, letter in enumerate(sentence) if letter.isalpha())[:20]
    judgement = Judgement(
        supported=0.2,
        contradicted=0.3,
        unknown=0.5,
        unsupported=np.array(shares[: len(spans)], dtype=np.float32),
        spans=spans,
    )
    found = unsupported_words(sentence, judgement)
    assert list(found) == sorted(found)
    for one in found:
        assert not sentence[: one.start][-1:].isalnum()
        assert not sentence[one.end :][:1].isalnum()
    assert all(one.end < other.start for one, other in pairwise(found))


def test_passages_that_somebody_holds_are_read_once() -> None:
    read: list[str] = []

    def split(text: str) -> list[Span]:
        read.append(text)
        return chunk.sentences(text)

    passages = Passages(split)
    first, others = hits("The mill opens in May."), hits(*(f"Pump {n} runs at 4 bar." for n in range(2 * MAX_CACHED)))
    held = passages.of(first)
    passages.of(others)
    assert passages.of(first)[0] is held[0]
    del held
    passages.of(others)
    passages.of(first)
    assert read.count("The mill opens in May.") == 2


SEASON = "From 1 June to 31 August the reading room is open until 20:00 on Fridays."
HARVEST = ("Row 7: the Aldgate orchard gave 36,700 kilos.", "Row 9: the Birchwood orchard gave 35,950 kilos.")
DEPOSIT = "For larger sums the courier brings a guard, who costs extra."
SPEED = "Für größere Fahrzeuge gilt im Hof eine Grenze von 10 km/h, für kleinere eine von 20 km/h."


@pytest.mark.parametrize("month", ["June", "July", "August"])
def test_a_month_stands_in_a_range_around_it(month: str) -> None:
    assert not proof(
        f"In {month} the reading room is open until 20:00 on Fridays.", first=SEASON, texts=[SEASON, LAKE]
    ).flagged


def test_a_month_outside_of_a_range_is_flagged() -> None:
    assert proof(
        "In October the reading room is open until 20:00 on Fridays.", first=SEASON, texts=[SEASON, LAKE]
    ).flagged


def test_one_sentence_may_rest_on_several_passages() -> None:
    found = checker(trained=True).check(
        "The Aldgate orchard gave 36,700 kilos and the Birchwood orchard 35,950 kilos.",
        hits(*HARVEST, LAKE),
        Request.by_owner(),
        named=2,
    )
    proved = asyncio.run(found)
    assert not proved.flagged, proved.reason
    assert {quote.hit.chunk.text for quote in proved.quotes} == {*HARVEST}


def test_words_do_not_replace_a_named_passage_in_another_language() -> None:
    found = proof("Für größere Beträge ist eine Wache nötig, die extra kostet.", first=DEPOSIT, texts=[DEPOSIT, SPEED])
    assert [quote.text for quote in found.quotes] == [DEPOSIT]


def test_a_named_passage_stays_beside_a_figure_that_stands_nowhere() -> None:
    found = proof("The Aldgate orchard gave 40,100 kilos of row 7.", first=HARVEST[0], texts=[HARVEST[0], LAKE])
    assert found.flagged
    assert [quote.hit.chunk.text for quote in found.quotes] == [HARVEST[0]]


PIER = """## Dogs
A ticket for the pier costs 8 EUR since 4 June 2025 (before: 6).
No dogs under 5 months on the boat; the dogs corner is looked after by Nils.
2) The regatta. It moves to Sunday 14 June. From 10 to 17 h.
At most 12 boats a day without notice."""


@pytest.mark.parametrize(
    "sentence",
    [
        "The ticket for the pier costs 8 EUR since 2025-06-04.",
        "Nils looks after the dogs corner.",
        "The regatta takes place on Sunday, 14 June, from 10 to 17 h.",
        "For 20 boats you must give notice.",
        "You may not bring 20 boats without notice.",
    ],
)
def test_reads_dates_items_and_denials(sentence: str) -> None:
    assert not proof(sentence, before="May I bring 20 boats?", texts=[PIER]).flagged


def test_quotes_the_row_that_the_sentence_before_is_about() -> None:
    rows = "| Club | Members | Chair |\n|---|---|---|\n| Chess | 14 | Ida Holm |\n| Rowing | 14 | Per Lund |"
    found = proof("It has 14 members.", before="The chair of the rowing club is Per Lund.", texts=[rows])
    assert [quote.text for quote in found.quotes] == ["| Rowing | 14 | Per Lund |"]


DEPOT = (
    "The tram depot opens for visitors on 4 June. Groups book by mail. Lena Marsh leads the visits of the depot on "
    "Sundays.",
    "The old workshop stays shut until 31 October 2027. Its crane is from 1911.",
    "Tom Ashdown sells the tickets at the gate.",
)


@pytest.mark.parametrize(
    ("sentence", "state"),
    [
        ("The workshop remains closed until 31 October 2027.", "supported"),
        ("The workshop remains closed until 4 June.", "unchecked"),
        ("Visitors can see the tram depot from 4 June on.", "supported"),
        ("Lena Marsh leads the visits of the depot on Sundays.", "supported"),
        ("Tom Ashdown leads the visits of the depot on Sundays.", "unchecked"),
    ],
)
def test_what_the_quotes_lack_is_not_supported_by_them(sentence: str, state: str) -> None:
    found = proof(sentence, texts=DEPOT, trained=True)
    assert found.state == state, (found, [one.text for one in found.quotes])


def test_a_sentence_without_quotes_lacks_nothing_of_them() -> None:
    other = "Ida Holm bought the old boats of the harbour in spring for the rowing club, said the paper and the mayor."
    found = proof(
        "Ida Holm likes strong coffee, sweet cakes, long novels, quiet evenings and warm summers.",
        first="The mill opens at six.",
        texts=("The mill opens at six.", other),
    )
    assert not found.quotes
    assert found.support == supported(0.0, None)


def test_a_sentence_is_quoted_and_not_words_from_all_over_a_passage() -> None:
    diary = (
        "Four people came. The vans were washed. In the week after, nobody called. We now wait for October. It rained. "
        "The order is expected soon. The roof was tarred on the 6th."
    )
    mail = "The four electric vans come in the week of 6 October and not in August. A maker of shelves went bankrupt."
    found = proof("The four vans are now expected in the week of 6 October.", texts=(diary, mail))
    assert [one.text for one in found.quotes] == [mail[: mail.index(" A maker")]]


MILL = (
    "Revenue in thousand euros\n\n| | H1 2027 | H1 2026 |\n|---|---|---|\n| Flour (outside customers) | 226 | 178 |\n"
    "| Rents | 31 | 30 |\n\nOutside customers at the end of June numbered 312, compared with 274 a year earlier."
)


def test_two_figures_of_one_row_are_not_denied_by_another_sentence() -> None:
    true = "Outside revenue of flour was 226 thousand in the first half, compared with 178 thousand a year earlier."
    found = proof(true, texts=(MILL,))
    assert not found.flagged, found.reason
