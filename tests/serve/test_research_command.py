"""The command `ragstone research`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from running import Run

from ragstone import Document, Ragstone
from ragstone.serve.as_report import html_of

PRICES = {2022: 40, 2023: 45}

pytestmark = pytest.mark.usefixtures("kb")


def test_tells_the_cost_and_each_step_on_standard_error(run: Run) -> None:
    printed = run("research", "When does the canteen open?")
    assert printed.code == 0
    assert printed.err.startswith("research: about 1 search, no model call; at most 40 searches and 600 s\n")
    assert "search: When does the canteen open?" in printed.err
    assert "about 1 search" not in printed.out


def test_json_has_the_actions(run: Run) -> None:
    printed = run("research", "When does the canteen open?", "--effort", "thorough", "--json")
    told = json.loads(printed.out)
    (notes,) = told["research"]
    assert notes["actions"][0]["action"]["kind"] == "search"
    assert told["outcome"]
    assert printed.err == ""


def test_refuses_an_unknown_effort(run: Run) -> None:
    printed = run("research", "Why?", "--effort", "heroic")
    assert (printed.code, printed.err) == (
        2,
        "ragstone: --effort heroic does not exist; choose quick, thorough, research\n",
    )


def test_writes_a_report(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    assert run("research", "When does the canteen open?", "--report", str(report)).code == 0
    text = report.read_text(encoding="utf-8")
    assert text.startswith("# When does the canteen open?\n")
    assert "| no. | document | place | words |" in text


def test_shows_a_comparison_as_a_table(run: Run, kb: Path, tmp_path: Path) -> None:
    texts = {
        year: f"# Tariff {year}\n\n## Beds\n\nA bed costs {price} euros a night." for year, price in PRICES.items()
    }
    with Ragstone(kb) as base:
        base.add(
            [Document(id=f"t{one}", title=f"Tariff {one}", text=text, kind="markdown") for one, text in texts.items()]
        )
    csv = tmp_path / "out.csv"
    printed = run("research", "Compare tariff 2022 and tariff 2023", "--csv", str(csv))
    head, beds = printed.out.splitlines()[:2]
    assert head.split() == ["Aspect", "tariff", "2022", "tariff", "2023"]
    assert "A bed costs 40 euros a night. [1]" in beds
    assert beds.endswith("A bed costs 45 euros a night. [2]")
    assert csv.read_text(encoding="utf-8").startswith("aspect,tariff 2022,source of tariff 2022,tariff 2023,")


def test_writes_a_report_for_word(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.docx"
    assert run("research", "When does the canteen open?", "--report", str(report)).code == 0
    with Ragstone(tmp_path / "read") as base:
        base.add(report)
        document = base.document(base.documents().documents[0].document_id)
    assert "no. | document | place | words" in document.text
    headings = [mark.label for mark in document.marks if mark.kind == "heading"]
    assert (headings[0], "Sources" in headings) == ("When does the canteen open?", True)


def test_refuses_a_report_in_a_folder_that_is_missing(run: Run) -> None:
    printed = run("research", "Why?", "--report", "out/report.md")
    assert (printed.code, printed.err) == (2, "ragstone: --report out/report.md: there is no folder out\n")


def test_text_of_documents_stays_text_in_a_report(kb: Path) -> None:
    with Ragstone(kb) as base:
        answer = base.ask("What is room 7 called?")
    quoted = replace(answer.citations[0], quote="&lt;b&gt; ~~not~~ | `x`")
    told = html_of(replace(answer, answer="It ends in code:\n```\nx = 1", citations=(quoted,)))
    assert "<td>&amp;lt;b&amp;gt; ~~not~~ | `x`</td>" in told
    assert "<h2>Sources</h2>" in told


def test_refuses_a_report_of_another_format(run: Run) -> None:
    printed = run("research", "Why?", "--report", "report.odt")
    assert (printed.code, printed.err) == (
        2,
        "ragstone: --report report.odt: name a file that ends in .md, .html or .docx\n",
    )
