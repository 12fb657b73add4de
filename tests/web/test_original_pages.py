"""The original beside the answer: pages with marked words, tables with marked cells, files to save."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pdf_file import pdf
from playwright.sync_api import expect
from served import BY_SCHEME, FIRST, Visit

Open = Callable[..., Visit]
SEASONS = """Clay is dug in spring and lies in the open until the first frost has broken it.
Horses then tread it with sand and with the ashes of the year before.
Moulders press it into frames of beech and turn the bricks out to dry.
The sheds of the yard hold forty thousand of them side by side."""
KILN = "The kiln of Hoxton burned peat that came by barge from the fens.\nIts chimney was ninety feet high."
CLAY = pdf([SEASONS, KILN])
SHOPS = "# Prices\n\n| Stone | 2023 | 2024 |\n|---|---|---|\n| Travertine | 71 | 83 |\n| Basalt | 40 | 44 |\n"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
INK = """([left, top, right, bottom]) => {
    const canvas = document.querySelector(".paper canvas");
    const [x, y] = [left * canvas.width, top * canvas.height];
    const [wide, high] = [(right - left) * canvas.width, (bottom - top) * canvas.height];
    const seen = canvas.getContext("2d").getImageData(x, y, wide, high).data;
    let dark = 0;
    for (let at = 0; at < seen.length; at += 4) dark += seen[at] < 128;
    return dark / (seen.length / 4);
}"""


@pytest.fixture(scope="module")
def clay(quoted: str, chromium: Any) -> str:
    """The server, with a PDF and a table uploaded through its page."""
    at = Visit(chromium, quoted, at="#/sources")
    files = [
        {"name": "clay.pdf", "mimeType": "application/pdf", "buffer": CLAY},
        {"name": "prices.md", "mimeType": "text/markdown", "buffer": SHOPS.encode()},
    ]
    at.page.locator("input[type=file]").first.set_input_files(files)
    expect(at.page.locator(".uploads .done")).to_have_count(2, timeout=4 * FIRST)
    at.close()
    return quoted


def box_of(at: Visit) -> list[float]:
    """Return where the mark stands on the page, as shares of its size."""
    return at.page.evaluate("""() => {
        const page = document.querySelector(".paper canvas").getBoundingClientRect();
        const mark = document.querySelector(".paper-mark").getBoundingClientRect();
        const [wide, high] = [page.width, page.height];
        return [(mark.left - page.left) / wide, (mark.top - page.top) / high,
                (mark.right - page.left) / wide, (mark.bottom - page.top) / high];
    }""")


def test_cited_words_are_marked_on_the_drawn_page(clay: str, visit: Open) -> None:
    at = visit(clay, allow="willReadFrequently")
    turn = at.ask("What did the kiln of Hoxton burn?")
    turn.get_by_role("button", name="Citation 1").click()
    source = at.page.get_by_role("complementary", name="Source")
    picture = source.get_by_role("img", name=re.compile("^Page 2 of clay.pdf as an image. Cited words: The kiln"))
    expect(picture).to_be_visible()
    mark = source.locator(".paper-mark").first
    expect(mark).to_be_in_viewport()
    left, top, right, bottom = box_of(at)
    inside = at.page.evaluate(INK, [left, top, right, bottom])
    assert inside > 0.08, "the mark lies on the words"
    assert at.page.evaluate(INK, [left, top - 0.1, right, top - 0.01]) == 0, "and not beside them"


def test_pages_turn_and_grow(clay: str, visit: Open) -> None:
    at = visit(clay)
    at.ask("What did the kiln of Hoxton burn?").get_by_role("button", name="Citation 1").click()
    source = at.page.get_by_role("complementary", name="Source")
    expect(source.locator(".paper-mark").first).to_be_visible()
    expect(source).to_contain_text("Page 2 of 2")
    expect(source.get_by_role("button", name="Next page")).to_be_disabled()
    source.get_by_role("button", name="Previous page").click()
    expect(source.get_by_role("img", name="Page 1 of clay.pdf as an image", exact=True)).to_be_visible()
    expect(source.locator(".paper-mark")).to_have_count(0)
    source.get_by_role("button", name="Back to the cited page").click()
    expect(source.locator(".paper-mark").first).to_be_visible()
    before = source.locator(".paper canvas").bounding_box()["width"]
    source.get_by_role("button", name="Larger").click()
    expect(source.locator(".paper canvas[width]")).to_be_visible()
    after = source.locator(".paper canvas").bounding_box()["width"]
    assert after == pytest.approx(1.5 * before, rel=0.02)
    expect(source.locator(".paper-mark").first).to_be_in_viewport()


def test_the_text_is_a_key_away(clay: str, visit: Open) -> None:
    at = visit(clay)
    at.ask("What did the kiln of Hoxton burn?").get_by_role("button", name="Citation 1").click()
    source = at.page.get_by_role("complementary", name="Source")
    original = source.get_by_role("radio", name="Original")
    expect(original).to_be_checked()
    original.focus()
    at.page.keyboard.press("ArrowRight")
    expect(source.get_by_role("radio", name="Text")).to_be_checked()
    expect(source.get_by_label("Text of the source").locator("mark").first).to_contain_text("The kiln of Hoxton")


def test_shows_how_a_file_was_read_and_cut(clay: str, visit: Open) -> None:
    at = visit(clay, allow="willReadFrequently")
    at.ask("What did the kiln of Hoxton burn?").get_by_role("button", name="Citation 1").click()
    source = at.page.get_by_role("complementary", name="Source")
    source.locator("label", has_text="How it was read").click()
    report = source.get_by_role("region", name="How it was read")
    expect(report).to_contain_text("Nothing was left out")
    expect(report).to_contain_text(re.compile(r"pdf · \d+ characters · 2 pages · .*chunk"))
    chunk = report.get_by_role("listitem").filter(has_text="Clay is dug in spring").first
    expect(chunk).to_contain_text("1 · Page 1")
    chunk.get_by_role("button").click()
    expect(source.get_by_role("img", name="Page 1 of clay.pdf as an image")).to_be_visible()
    mark = source.locator(".paper-mark").first
    expect(mark).to_be_in_viewport()
    assert at.page.evaluate(INK, box_of(at)) > 0.05, "the mark lies on the words of the chunk"
    source.locator("label", has_text="How it was read").click()
    expect(report.get_by_role("listitem").first).to_be_visible()
    assert at.violations() == []


def test_cited_cells_are_marked_in_their_table(clay: str, visit: Open) -> None:
    at = visit(clay)
    turn = at.ask("What did Travertine cost in 2024?")
    turn.locator(".card, .marker").first.click()
    table = at.page.get_by_role("complementary", name="Source").get_by_role("table")
    expect(table.get_by_role("columnheader", name="2024")).to_be_visible()
    expect(table.get_by_role("rowheader", name="Travertine")).to_be_visible()
    assert "83" in " ".join(table.locator("mark").all_inner_texts())
    expect(table.locator("mark").first).to_be_in_viewport()


def test_the_file_is_saved_as_it_was_read(clay: str, visit: Open, tmp_path: Path) -> None:
    at = visit(clay)
    at.ask("What did the kiln of Hoxton burn?").get_by_role("button", name="Citation 1").click()
    with at.page.expect_download() as saving:
        at.page.get_by_role("button", name="Save the file: clay.pdf").click()
    saving.value.save_as(tmp_path / "saved.pdf")
    assert saving.value.suggested_filename == "clay.pdf"
    assert (tmp_path / "saved.pdf").read_bytes() == CLAY


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_the_original_is_accessible(clay: str, visit: Open, scheme: str, phone: bool) -> None:
    at = visit(clay, color_scheme=scheme, **(PHONE if phone else {}))
    turn = at.ask("What did the kiln of Hoxton burn?")
    turn.get_by_role("button", name="Citation 1").click()
    expect(at.page.locator(".paper-mark").first).to_be_visible()
    assert at.violations(*BY_SCHEME[scheme]) == []
    at.page.locator(".choices label", has_text="Text").click()
    expect(at.page.locator("aside mark").first).to_be_visible()
    assert at.violations(*BY_SCHEME[scheme]) == []
    at.page.get_by_role("button", name="Close the source").click()
    at.ask("What did Travertine cost in 2024?").locator(".card, .marker").first.click()
    expect(at.page.get_by_role("table")).to_be_visible()
    assert at.violations(*BY_SCHEME[scheme]) == []
