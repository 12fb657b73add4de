"""Filters read against the documents: values of the field's own kind, and what is said if none matches."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Ragstone
from ragstone.core.access import Reader
from ragstone.core.errors import UsageError
from ragstone.core.records import Document
from ragstone.serve.plain_notices import plain_notice

ASKED = "What is the maximum speed in the yard?"
DOCUMENTS = [
    Document(
        id="a",
        text="The maximum speed in the yard is 20 km/h.",
        metadata={"status": "current", "date": "2025-05-01", "price": 8, "number": "253", "days": ("2025-01-15",)},
    ),
    Document(
        id="b",
        text="The maximum speed in the yard is 10 km/h.",
        metadata={"status": "superseded", "date": "2024-05-01", "price": 12, "number": "7"},
    ),
    Document(id="c", text="The board meets on Mondays.", metadata={"status": "secret", "readers": ("board",)}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filters") / "kb"
    with Ragstone(folder) as kb:
        kb.add(DOCUMENTS)
    return folder


@pytest.fixture
def kb(folder: Path) -> Iterator[Ragstone]:
    with Ragstone(folder) as kb:
        yield kb


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("date > 2024", "a"),
        ("date >= 2024", "ab"),
        ("date < 2025", "b"),
        ("date <= 2024", "b"),
        ("date = 2024", "b"),
        ("date != 2024 and exists date", "a"),
        ("date in (2024, 2025)", "ab"),
        ('date = "1 May 2024"', "b"),
        ('date > "1 June 2024"', "a"),
        ("days = 15.01.2025", "a"),
        ("number = 253", "a"),
        ('price > "10"', "b"),
        ("price > 10", "b"),
        ("not status = current and exists date", "b"),
    ],
)
def test_compares_by_kind_of_field(kb: Ragstone, where: str, found: str) -> None:
    assert {hit.chunk.document_id for hit in kb.search(ASKED, 10, where)} == set(found)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("date > soon", "'date' has dates such as .*, and 'soon' is none"),
        ("price > cheap", "'price' has numbers, and 'cheap' is none"),
    ],
)
def test_refuses_comparison_with_another_kind(kb: Ragstone, where: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        kb.search(ASKED, where=where)


@pytest.mark.parametrize(
    ("where", "notice"),
    [
        (
            "status = Superseded",
            "no document has status = Superseded; values of 'status' are superseded, current, secret",
        ),
        ("price = 9", "no document has price = 9; values of 'price' are 8, 12"),
        ("title = Yard", "no document has title = Yard; change the filter"),
        ("price = 8 and status = old", "no document has status = old; values of 'status' are"),
        ("price = 8 and status = superseded", "each condition of the filter has documents, but none meets all"),
    ],
)
def test_says_which_filter_has_no_match(kb: Ragstone, where: str, notice: str) -> None:
    answer, hits = kb.ask(ASKED, where), kb.search(ASKED, where=where)
    assert (answer.outcome, answer.answer) == ("refusal", "No document fits that.")
    for [said] in (answer.notices, hits.notices):
        assert said.startswith(notice)
        assert plain_notice(said) == said


def test_filter_without_a_match_is_named_for_each_question(kb: Ragstone) -> None:
    answer = kb.ask(f"{ASKED} And when does the board meet?", "status = old")
    assert answer.answer == "No document fits that."
    assert answer.notices[0].startswith("no document has status = old")


def test_names_no_values_of_hidden_documents(folder: Path) -> None:
    with Ragstone(folder, reader=Reader(name="guest", groups=frozenset())) as kb:
        [said] = kb.search(ASKED, where="status = secret").notices
        [groups] = kb.search(ASKED, where="status = secret and exists date").notices
    assert said == "no document has status = secret; values of 'status' are current, superseded; change the filter"
    assert "board" not in groups
