"""Several versions of a document, and documents that disagree: what is answered, and what is named beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragstone import Ragstone
from ragstone.core.access import Reader
from ragstone.question import read


@dataclass(frozen=True, kw_only=True)
class Wording:
    title: str
    fact: str
    asked: str
    in_2021: str
    since: str
    replaced: str
    older: str


WORDINGS = {
    "en": Wording(
        title="Travel policy",
        fact="The daily allowance for trips inside the country is {} euros.",
        asked="What is the daily allowance for trips inside the country?",
        in_2021="What was the daily allowance for trips inside the country in 2021?",
        since="Effective from 1 January {}.",
        replaced="superseded",
        older="Older versions say:",
    ),
    "de": Wording(
        title="Reiserichtlinie",
        fact="Das Tagegeld für Reisen im Inland beträgt {} Euro.",
        asked="Wie hoch ist das Tagegeld für Reisen im Inland?",
        in_2021="Wie hoch war das Tagegeld für Reisen im Inland im Jahr 2021?",
        since="Stand: 1. Januar {}.",
        replaced="ersetzt",
        older="In älteren Fassungen steht:",
    ),
    "lt": Wording(
        title="Kelionių tvarka",
        fact="Dienpinigiai už keliones šalies viduje yra {} eurų.",
        asked="Kokie yra dienpinigiai už keliones šalies viduje?",
        in_2021="Kokie buvo dienpinigiai už keliones šalies viduje 2021 metais?",
        since="Galioja nuo {} m. sausio 1 d.",
        replaced="negalioja",
        older="Ankstesnėse versijose rašoma:",
    ),
}
AMOUNTS = {2023: 24, 2019: 20, 2024: 25, 2021: 22}
"""By year, in the order of the names of the files where these say nothing."""

KINDS: dict[str, Callable[[Wording, int, str], tuple[str, str]]] = {
    "name": lambda w, year, fact: (f"policy-{year}.md", f"# {w.title}\n\n{fact}"),
    "title": lambda w, year, fact: (f"{AMOUNTS[year] % 7}.md", f"# {w.title} {year}\n\n{fact}"),
    "number": lambda w, year, fact: (f"{AMOUNTS[year] % 7}.md", f"# {w.title} v{year - 2015}.0\n\n{fact}"),
    "head": lambda w, year, fact: (f"{AMOUNTS[year] % 7}.md", f"---\ndate: {year}-01-01\n---\n# {w.title}\n\n{fact}"),
    "status": lambda w, year, fact: (
        f"{AMOUNTS[year] % 7}.md",
        f"---\nstatus: {'' if year == 2024 else w.replaced}\n---\n# {w.title}\n\n{fact}",
    ),
    "text": lambda w, year, fact: (f"{AMOUNTS[year] % 7}.md", f"# {w.title}\n\n{w.since.format(year)}\n\n{fact}"),
    "folder": lambda w, year, fact: (f"{year}/policy.md", f"# {w.title}\n\n{fact}"),
}


def open_with(folder: Path, files: dict[str, str]) -> Ragstone:
    for name, text in files.items():
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text)
    # Whether to abstain is a matter of calibration, measured elsewhere.
    kb = Ragstone(folder / "kb", settings=["respond.abstain_below=0"])
    kb.add(folder / "docs")
    return kb


@pytest.mark.parametrize(
    ("language", "kind"),
    [
        *(("en", kind) for kind in KINDS),
        *(("de", kind) for kind in ("head", "status", "text")),
        *(("lt", kind) for kind in ("name", "status", "text")),
    ],
)
def test_newest_version_answers(tmp_path: Path, language: str, kind: str) -> None:
    wording = WORDINGS[language]
    files = dict(KINDS[kind](wording, year, wording.fact.format(amount)) for year, amount in AMOUNTS.items())
    with open_with(tmp_path, files) as kb:
        first, lead, *older = kb.ask(wording.asked).answer.split("\n")
        in_2021 = kb.ask(wording.in_2021).answer.split("\n")
    assert wording.fact.format(25) in first
    assert lead == wording.older
    assert {amount for amount in AMOUNTS.values() for line in older if wording.fact.format(amount) in line} == {
        20,
        22,
        24,
    }
    if kind not in ("number", "status"):
        assert wording.fact.format(22) in in_2021[0]
        assert len(in_2021) == 1


def test_unreadable_version_stays_hidden(tmp_path: Path) -> None:
    files = {
        "a.md": "# Travel policy 2023\n\nThe daily allowance is 24 euros.",
        "b.md": "---\nreaders: [board]\n---\n# Travel policy 2024\n\nThe daily allowance is 25 euros.",
    }
    open_with(tmp_path, files).close()
    asked = "What is the daily allowance?"
    with Ragstone(tmp_path / "kb", reader=Reader(name="guest", groups=frozenset())) as kb:
        answer = kb.ask(asked)
    with Ragstone(tmp_path / "kb", reader=Reader(name="chair", groups=frozenset({"board"}))) as kb:
        assert "25 euros" in kb.ask(asked).answer.split("\n")[0]
    assert "24 euros" in answer.answer
    assert "25" not in answer.answer


def test_versions_keep_apart_whom_they_are_about(tmp_path: Path) -> None:
    text = "# Rental contract\n\nDate: {day}\n\n{name} rents the flat. The monthly rent of {name} is {rent} euros."
    files = {
        "smith.md": text.format(day="1 May 2020", name="Anna Smith", rent=900),
        "jones.md": text.format(day="1 May 2024", name="Bob Jones", rent=1200),
    }
    with open_with(tmp_path, files) as kb:
        answer = kb.ask("What is the monthly rent of Anna Smith?").answer
    assert "900 euros" in answer
    assert "1200" not in answer


def test_newest_version_leads_where_it_takes_back_what_older_ones_say(tmp_path: Path) -> None:
    files = {
        "remote-work-2022.md": "# Remote work\n\nStaff who work abroad for more than ten days need a signed addendum to"
        " their contract. The addendum is issued by the people team within five working days.",
        "remote-work-2024.md": "# Remote work\n\nNo addendum is needed any more for work abroad of up to thirty days."
        " Longer stays are agreed with the people team.",
    }
    with open_with(tmp_path, files) as kb:
        said = kb.ask("Do I need an addendum to my contract for work abroad?").answer.split("\n")
    assert "No addendum is needed any more" in said[0]
    assert said[1] == "Older versions say:"
    assert "need a signed addendum" in said[2]


def test_newest_version_of_each_document_disagrees(tmp_path: Path) -> None:
    fact = "The mileage rate for private cars is {} euros per kilometre."
    files = {
        f"handbook-{year}.md": f"# Handbook {year}\n\n{fact.format(rate)}"
        for year, rate in ((2023, 0.34), (2024, 0.38))
    }
    files["memo.md"] = f"---\ndate: 2023-06-01\n---\n# Memo\n\n{fact.format(0.36)}"
    with open_with(tmp_path, files) as kb:
        any_time = kb.ask("What is the mileage rate for private cars?").answer
        today = kb.ask("What is the current mileage rate?").answer
    newest = ["Handbook 2024: " + fact.format(0.38), "Memo (2023-06-01): " + fact.format(0.36)]
    lead, *said = any_time.split("\n")
    assert lead == "The documents disagree:"
    assert [line.rsplit(" [", 1)[0] for line in said[:2]] == newest
    assert today.startswith(newest[0])
    assert today.split("\n")[1] == "Older documents say:"
    assert newest[1] in today


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("What was the rate before 2024?", None),
        ("What was the rate in 2022 and in 2023?", None),
        ("What was the rate in 2023?", ["2023"]),
        ("What is the rate now?", []),
    ],
)
def test_question_names_the_version_it_means(asked: str, meant: list[str] | None) -> None:
    versions = read(asked).versions_meant
    assert (versions if versions is None else [one.text for one in versions]) == meant


def test_same_words_in_a_newer_version_are_cited_there(tmp_path: Path) -> None:
    text = "# Leave {}\n\nEmployees have 25 days of leave."
    with open_with(tmp_path, {f"{year}.md": text.format(year) for year in (2022, 2023)}) as kb:
        answer = kb.ask("How many days of leave do employees have?")
    assert "\n" not in answer.answer
    assert [one.title for one in answer.citations] == ["Leave 2023"]


@pytest.mark.parametrize("folder", ["a", "zz/y"])
def test_documents_that_disagree_are_shown_together(tmp_path: Path, folder: str) -> None:
    files = {
        f"{folder}/yard.md": "---\ndate: 2020-01-01\n---\n# Yard\n\nSmoking is allowed in the yard.",
        "rules.md": "---\ndate: 2022-01-01\n---\n# House rules\n\nSmoking is not allowed in the yard.",
    }
    with open_with(tmp_path, files) as kb:
        answer = kb.ask("Is smoking allowed in the yard?").answer
    lead, *said = answer.split("\n")
    assert lead == "The documents disagree:"
    assert [line.split(":")[0] for line in sorted(said)] == ["House rules (2022-01-01)", "Yard (2020-01-01)"]


_LOANS = """# Lending rules, version {version}

Valid from 1 January {year}.

## Loans

{loans}

## Fees

| Item | Loan in days | Fee per day (EUR) |
|---|---|---|
| Book | {days} | 0.20 |
| Film | 7 | {fee} |

Fees are paid at the desk. Every reader may have a card, and the card is free for readers under eighteen.
"""
_OLD = "You may borrow up to eight books. Children need the written consent of a parent. Laptops are not lent."
_NEW = (
    "A reader may now borrow up to twelve books at a time. Children need the written consent of a parent. Laptops are"
    " lent to readers with a card."
)


@pytest.mark.parametrize(
    ("asked", "now", "before"),
    [
        ("How many books may a reader borrow?", "twelve books", "eight books"),
        ("Are laptops lent to readers?", "Laptops are lent", "Laptops are not lent"),
        ("What is the fee per day for a film?", "1.50", "Film | 7 | 1.00"),
    ],
)
def test_shows_what_an_older_version_says_in_other_words(tmp_path: Path, asked: str, now: str, before: str) -> None:
    files = {
        "lending-2021.md": _LOANS.format(version=1, year=2021, loans=_OLD, days=28, fee="1.00"),
        "lending-2025.md": _LOANS.format(version=2, year=2025, loans=_NEW, days=28, fee="1.50"),
    }
    with open_with(tmp_path, files) as kb:
        answer, _, older = kb.ask(asked).answer.partition("Older versions say:")
    assert now in answer
    assert before in older.replace("| Film | 7 | 1.00 |", "Film | 7 | 1.00")
    assert "consent" not in older
