"""The hard facts of a text: numbers, dates and names."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.language.facts import alike_in_topic, beginning_in_topic, words


def values(text: str) -> list[str]:
    return [word.value for word in words(text) if word.value]


def test_normalises_numbers_and_dates() -> None:
    assert values("1,000 km") == values("1.000 km") == values("1\u00a0000 km") == ["1000"]
    assert values("2.50") == values("2,5") == ["2.5"]
    assert values("1,234.50 euro") == values("1.234,50 euro") == values("1\u00a0234,50 euro") == ["1234.5"]
    assert values("10,000.00") == values("10.000,00") == values("10000") == ["10000"]
    assert values("0.125 l") == values("0,125 l") == ["0.125"]
    assert values("release 1.10.4 on 10.0.0.1") == ["1.10.4", "10.0.0.1"]
    assert values("12 March 2020") == values("2020-03-12") == values("12.03.2020") == ["12", "month 3", "2020"]
    assert values("zwölf Tage") == values("twelve days") == ["12"]


def test_distinguishes_names_from_sentence_starts() -> None:
    named = [word.lower for word in words("Yesterday the Thames rose. In Chelsea, NATO met.") if word.named]
    assert named == ["thames", "chelsea", "nato"]


def test_the_plural_of_an_acronym_is_the_same_word() -> None:
    found = [(word.lower, word.capitals) for word in words("PDFs, APIs’ and the API's GPUs, not gas, As, US or DOS.")]
    assert found == [
        ("pdf", True),
        ("api", True),
        ("and", False),
        ("the", False),
        ("api", True),
        ("gpu", True),
        ("not", False),
        ("gas", False),
        ("as", False),
        ("us", True),
        ("or", False),
        ("dos", True),
    ]


@given(st.text("ab", max_size=12), st.integers(0, 12), st.text("ab", max_size=6))
def test_forms_in_a_topic_begin_alike(word: str, kept: int, ending: str) -> None:
    other = word[:kept] + ending
    assert not alike_in_topic(word, other) or other.startswith(beginning_in_topic(word))


def test_a_folder_may_be_named_in_the_singular() -> None:
    assert alike_in_topic("letters", "letter")
    assert not alike_in_topic("letters", "lettuce")
    assert beginning_in_topic("letters") == "lette"
