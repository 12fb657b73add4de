"""The command `ragstone research`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Run

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


def test_refuses_a_report_of_another_format(run: Run) -> None:
    printed = run("research", "Why?", "--report", "report.odt")
    assert (printed.code, printed.err) == (2, "ragstone: --report report.odt: name a file that ends in .md or .html\n")
