"""Companies in texts."""

import pytest

from ragstone.acquire.metadata import companies


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "The Nextcloud GmbH and Arburg GmbH + Co KG agreed.",
            ["Arburg", "Arburg GmbH + Co KG", "Nextcloud", "Nextcloud GmbH"],
        ),
        (
            "Microsoft Corporation and Foo Bar Sdn. Bhd.",
            ["Foo Bar", "Foo Bar Sdn. Bhd", "Microsoft", "Microsoft Corporation"],
        ),
        ("Vodafone Group Plc; Acme Inc.", ["Acme", "Acme Inc", "Vodafone", "Vodafone Group", "Vodafone Group Plc"]),
        ("a deal of Müller & Söhne AG & Co. KGaA", ["Müller & Söhne", "Müller & Söhne AG & Co. KGaA"]),
        ("UAB „Maxima“ ir „Vilniaus Vandenys“, UAB Senukai", ["Maxima", "Senukai"]),
        ("Jane Doe, CEO of Fairphone, and John Roe, Head of Sales at Rezilion.", ["Fairphone", "Rezilion"]),
        ("Gutermann CEO Uri Gutermann", ["Gutermann"]),
        ("the Dutch company RanMarine and its partner YellowFox.", ["RanMarine", "YellowFox"]),
        ("The Boer Group collects. The Group reports.", ["Boer Group"]),
        ("Visit Deutsche Telekom's stand; the Siemens-Konzern; apple juice", ["Deutsche Telekom", "Siemens"]),
        ("Head of Sales. President of Lithuania. 5G Corp", []),
        ("", []),
    ],
)
def test_finds_companies(text: str, found: list[str]) -> None:
    assert [*companies.find(text)] == found
