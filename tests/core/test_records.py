"""What is shown of the metadata of a document beside one of its passages."""

from ragstone.core.records import beside

FACTS = {
    "author": "Ann",
    "mentioned_companies": ("Acme", "Acme AG", "Best Buy", "Bay"),
    "mentioned_dates": ("2024-05-06",),
}


def test_shows_the_companies_that_the_passage_names() -> None:
    assert beside("Acme AG builds in the Bayou.", FACTS) == {"author": "Ann", "mentioned_companies": ("Acme AG",)}


def test_shows_no_companies_beside_a_passage_without_them() -> None:
    assert beside("It rains.", FACTS) == {"author": "Ann"}
    assert beside("It rains.", {}) == {}
