"""Sentences that say different things of the same."""

import pytest

from ragstone.core.editions import VERSION_OF
from ragstone.core.records import Chunk, Hit, Span
from ragstone.language import phrases
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.rivals import Rivals, are_of_several_versions, called, says_otherwise


def quote(title: str, **metadata: str) -> Quote:
    text = "An addendum is needed."
    chunk = Chunk(
        id=title, document_id=title, index=0, total=1, start=0, end=len(text), text=text, title=title, metadata=metadata
    )
    return Quote(hit=Hit(chunk=chunk, score=1.0), span=Span(start=0, end=len(text)))


def test_versions_quoted_together_have_names() -> None:
    older, newer = (quote(f"Handbook {year}", **{VERSION_OF: "handbook", "version": year}) for year in ("2023", "2024"))
    assert are_of_several_versions([older, newer])
    assert [called(older), called(newer)] == ["Handbook 2023", "Handbook 2024"]
    assert not are_of_several_versions([newer, newer])
    assert not are_of_several_versions([quote("Menu"), quote("Prices")])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The daily allowance is 20 euros.", "The daily allowance is 25 euros."),
        ("Smoking is allowed in the yard.", "Smoking is not allowed in the yard."),
        ("Smoking is allowed in the yard.", "Smoking in the yard is forbidden."),
        ("The contact for visas is Anna Smith.", "The contact for visas is Bob Jones."),
        ("The gate opens from 8:00 to 17:00.", "The gate opens from 9:00 to 18:00."),
        ("Das Tagegeld im Inland beträgt 20 Euro.", "Das Tagegeld im Inland beträgt 25 Euro."),
        ("Rauchen ist im Hof erlaubt.", "Rauchen ist im Hof verboten."),
        ("Kieme rūkyti leidžiama.", "Kieme rūkyti draudžiama."),
    ],
)
def test_finds_another_value_for_the_same(one: str, other: str) -> None:
    assert says_otherwise(one, other)
    assert says_otherwise(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The daily allowance is 20 euros.", "The daily allowance is 20 euros."),
        ("The allowance at home is 20 euros.", "The allowance abroad is 40 euros."),
        ("Room 1 seats 20 people.", "Room 2 seats 30 people."),
        ("Platform A opens at 8:00.", "Platform B opens at 9:00."),
        ("The capital of France is Paris.", "The capital of Italy is Rome."),
        ("The fee is 1,000 euros.", "The fee is 1000 EUR."),
        ("The house has 3 floors.", "The house has 12 windows."),
        ("It is 5.", "It is 6."),
    ],
)
def test_tells_apart_what_is_not_the_same(one: str, other: str) -> None:
    assert not says_otherwise(one, other)


def test_documents_of_their_own_are_no_older_versions() -> None:
    texts = phrases("en")
    newest, version = (quote(f"Rota {year}", **{VERSION_OF: "rota", "as_of": year}) for year in ("2024", "2023"))
    other = quote("Minutes of 14 May 2022", **{VERSION_OF: "minutes of 14 may", "as_of": "2022-05-14"})
    assert Rivals(quote=newest, older=(version,)).older_lead(texts) == texts.older
    assert Rivals(quote=newest, older=(version, other)).older_lead(texts) == texts.earlier
    assert called(other) == "Minutes of 14 May 2022", "the name has the day"
