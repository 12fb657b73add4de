"""What gives the unit of figures."""

import pytest

from ragstone.language.units import factors_in, is_unit_line, unit_of


def test_finds_units() -> None:
    assert unit_of("(In millions, except per share data)") == "in millions"
    assert unit_of("US$ million") == "in millions"
    assert unit_of("Dollars in thousands") == "in thousands"
    assert unit_of("A million reasons to stay") == ""
    assert unit_of("Angaben in Mio. EUR") == "Angaben in Mio. EUR"
    assert unit_of("US$ bn") == "US$ bn"


@pytest.mark.parametrize(
    "line",
    [
        "(in millions, except per share data)",
        "Dollars in thousands",
        "(unaudited)",
        "$ in millions",
        "dalam ribu",
    ],
)
def test_lines_of_units_are_told_from_text(line: str) -> None:
    assert is_unit_line(line)
    assert not is_unit_line(f"The company was founded {line}")


@pytest.mark.parametrize(
    ("text", "factor"),
    [("in $ millions", "millions"), ("in Mio. €", "mio"), ("TEUR", "teur"), ("(000s)", "000s"), ("w tys. zł", "tys")],
)
def test_tables_say_by_what_to_multiply(text: str, factor: str) -> None:
    assert factors_in(text) == {factor}
