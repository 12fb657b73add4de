"""What a document says of the version that it is."""

from typing import Any

import pytest

from ragstone.acquire.metadata.editions import edition
from ragstone.core.editions import Edition, edition_of
from ragstone.core.records import Document


@pytest.mark.parametrize(
    ("id", "title", "text", "facts", "found"),
    [
        ("policy-2019.md", "Travel policy", "", {}, {"as_of": "2019"}),
        ("a.md", "Travel policy 2024", "", {}, {"as_of": "2024"}),
        ("a.md", "Travel policy v1.2", "", {}, {"version": "1.2"}),
        ("a.md", "Travel policy, 2nd edition", "", {}, {"version": "2"}),
        ("a.md", "Travel policy", "", {"date": "2021-05-01"}, {"as_of": "2021-05-01"}),
        ("a.md", "Travel policy", "", {"date": "1 May 2021"}, {"as_of": "2021-05-01"}),
        ("a.md", "Travel policy 2019", "", {"created": "2024-01-01"}, {"as_of": "2019"}),
        ("a.md", "Travel policy", "", {"status": "superseded"}, {"outdated": True}),
        ("a.md", "Travel policy (archived)", "", {}, {"outdated": True}),
        ("a.md", "Travel policy", "", {"superseded_by": "b.md"}, {"outdated": True}),
        ("archive/a.md", "Travel policy", "", {}, {"outdated": True}),
        ("travel_policy_old.md", "", "", {}, {"outdated": True}),
        ("2019/a.md", "Travel policy", "", {}, {"as_of": "2019"}),
        ("20240501_travel_policy_v3.pdf", "", "", {}, {"as_of": "2024-05-01", "version": "3"}),
        (
            "a.md",
            "Travel policy",
            "Effective from 1 May 2023. It replaces that of 2 May 2020.",
            {},
            {"as_of": "2023-05-01"},
        ),
        ("a.md", "Travel policy", "Valid until 31 December 2023.", {}, {"valid_until": "2023-12-31"}),
        ("a.md", "Travel policy", "Stand: 1. Mai 2023", {}, {"as_of": "2023-05-01"}),
        ("a.md", "Travel policy", "Galioja nuo 2023 m. sausio 1 d.", {}, {"as_of": "2023-01-01"}),
        ("a.md", "Travel policy", "These rules apply from 1 May 2023.", {}, {"as_of": "2023-05-01"}),
        ("a.md", "Travel policy", "Last updated: 2023-05-01", {}, {"as_of": "2023-05-01"}),
        (
            "a.md",
            "Travel policy",
            "Version of 1 May 2023. Ask Ann.",
            {"created": "2026-07-01"},
            {"as_of": "2023-05-01"},
        ),
        ("a.md", "Travel policy", "This replaces the version of 1 May 2023.", {}, {}),
        ("a.md", "Travel policy", "Many were sold in 2019, and an article was published in 2020.", {}, {}),
    ],
)
def test_reads_version_from_document(
    id: str, title: str, text: str, facts: dict[str, Any], found: dict[str, Any]
) -> None:
    document = Document(id=id, title=title, text=text, metadata=facts)
    assert edition(document) == {"version_of": "travel policy", **found}


@pytest.mark.parametrize(
    "title", ["Mill meeting, 3 September 2026", "Mill meeting 18.6.2026", "2026-03-12 Mill meeting"]
)
def test_meetings_of_several_days_are_versions_of_one_document(title: str) -> None:
    assert edition(Document(id="notes.md", title=title, text=""))["version_of"] == "mill meeting"


def test_rows_and_numbered_files_are_no_versions() -> None:
    assert edition(Document(id="fees.csv#3", title="Fee", text="", metadata={"path": "fees.csv"})) == {}
    assert edition(Document(id="12.txt", text="")) == {}


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ({"as_of": "2024"}, {"as_of": "2023-12-31"}),
        ({"version": "1.10"}, {"version": "1.9"}),
        ({"version": "2", "as_of": "2023"}, {"version": "1", "as_of": "2024"}),
        ({}, {"outdated": True, "as_of": "2024"}),
        ({"as_of": "2020"}, {"as_of": "2024", "valid_until": "2024-12-31"}),
    ],
)
def test_one_place_orders_versions(newer: dict[str, Any], older: dict[str, Any]) -> None:
    one, other = edition_of(newer), edition_of(older)
    assert one.is_newer(other)
    assert not other.is_newer(one)
    assert (one.order(other), other.order(one)) == (-1, 1)


def test_orders_no_versions_without_dates() -> None:
    dated, vague = Edition(in_force=True, number=(), date="2024-05"), Edition(in_force=True, number=(), date="2024")
    undated = Edition(in_force=True, number=(), date="")
    for one, other in ((dated, vague), (dated, undated)):
        assert one.order(other) == other.order(one) == 0
