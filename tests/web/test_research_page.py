"""Research on the page: steps, an early end, and lists as tables that can be saved."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect
from served import START, Visit, environment, served

Open = Callable[..., Visit]
STEPS = "What did the Romans ship down the river Medway, and who introduced inverse document frequency?"


def research(at: Visit, question: str, effort: str = "Research") -> None:
    at.page.get_by_label("Effort").select_option(label=effort)
    box = at.page.get_by_label("Question", exact=True)
    box.fill(question)
    box.press("Enter")


def test_lists_are_tables_that_can_be_saved(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    research(at, "All documents about BM25")
    table = at.page.get_by_role("region", name="Documents")
    expect(table.get_by_role("row")).to_have_count(3)
    expect(at.page.locator(".prose")).to_have_text("Documents that fit: 2.")
    assert at.violations() == []
    table.get_by_role("button", name="Citation 1").click()
    source = at.page.get_by_role("complementary", name="Source")
    expect(source.locator("mark").first).to_be_in_viewport()
    with at.page.expect_download() as download:
        at.page.get_by_role("button", name="Save as CSV").click()
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {one["title"] for one in rows} == {"What is BM25?", "Was ist BM25?"}
    assert all("BM25" in one["quote"] for one in rows)
    at.page.reload()
    expect(at.page.get_by_role("region", name="Documents").get_by_role("row")).to_have_count(3)


def test_comparisons_are_tables_that_can_be_saved(visit: Open, tmp_path: Path) -> None:
    for year, beds in ((2023, 40), (2024, 45)):
        text = f"# Tariff {year}\n\n## Beds\n\nA bed costs {beds} euros a night.\n"
        (tmp_path / f"tariff-{year}.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", START, "add", ".", "--kb", "kb"]
    subprocess.run(command, cwd=tmp_path, env=environment(), check=True, capture_output=True, timeout=120)
    with served(tmp_path / "kb") as address:
        at = visit(address)
        research(at, "Compare tariff 2023 and tariff 2024")
        table = at.page.locator("article.turn").get_by_role("table")
        expect(table.get_by_role("columnheader")).to_have_text(["Aspect", "tariff 2023", "tariff 2024"])
        cells = ["Beds", "A bed costs 40 euros a night.1", "A bed costs 45 euros a night.2"]
        expect(table.get_by_role("cell")).to_have_text(cells)
        assert at.violations() == []
        table.get_by_role("button", name="Citation 2").click()
        source = at.page.get_by_role("complementary", name="Source")
        expect(source.locator("mark").first).to_have_text("A bed costs 45 euros a night.")
        with at.page.expect_download() as download:
            at.page.get_by_role("button", name="Save as CSV").click()
        saved = download.value.path().read_text(encoding="utf-8-sig")
        assert saved.startswith("Aspect,tariff 2023,tariff 2024\nBeds,A bed costs 40 euros a night. [1],")


def test_shows_forecast_and_steps(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    research(at, STEPS, "Thorough search")
    turn = at.page.locator("article.turn")
    turn.locator(".turn-foot").wait_for()
    turn.get_by_text(re.compile("^[0-9]+ steps?")).click()
    expect(turn.locator(".steps")).to_contain_text("Expected: ")
    expect(turn.locator(".steps")).to_contain_text("no language model; at most 3 minutes.")
    expect(turn.locator(".steps li").first).to_contain_text("Searched for: ")
    assert at.violations() == []


def test_ends_early_with_what_was_found(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    stops = list[str]()

    def held(route: object) -> None:
        """Press Stop before the server sees the question, so that the search cannot be faster."""
        at.page.get_by_role("button", name="Stop").click()
        expect(at.page.get_by_text("Answering from what was found so far")).to_be_visible()
        route.continue_()  # pyright: ignore

    at.page.on("response", lambda got: stops.append(str(got.status)) if got.url.endswith("/research/stop") else None)
    at.page.route("**/research", held)
    research(at, STEPS)
    turn = at.page.locator("article.turn")
    turn.locator(".turn-foot").wait_for()
    assert stops == ["204"]
    expect(turn.locator(".steps summary")).to_have_text(re.compile("^2 steps"))


def test_reports_have_sections(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    research(at, STEPS, "Report")
    turn = at.page.locator("article.turn")
    turn.locator(".turn-foot").wait_for()
    expect(turn.locator(".prose h3").first).to_be_visible()
    assert at.violations() == []
