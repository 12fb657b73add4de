"""Documents on the page: folders, groups, what failed in plain words, choosing, asking and deleting several."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from served import BY_SCHEME, FIRST, Visit, served

from ragstone.history.journal import Journal
from ragstone.history.keys import Keys

Open = Callable[..., Visit]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
DROP = """([tree]) => {
    const entry = (path, inside) => typeof inside === "string"
        ? {isFile: true, isDirectory: false, name: path.split("/").at(-1), fullPath: path,
           file: (done) => done(new File([inside], path.split("/").at(-1)))}
        : {isFile: false, isDirectory: true, name: path.split("/").at(-1), fullPath: path, createReader: () => {
              let left = [Object.entries(inside).map(([name, one]) => entry(`${path}/${name}`, one)), []];
              return {readEntries: (done) => done(left.shift())};
           }};
    const items = Object.entries(tree).map(([name, inside]) => ({webkitGetAsEntry: () => entry(`/${name}`, inside)}));
    const event = new Event("drop", {cancelable: true});
    event.dataTransfer = {items, files: [new File([""], "folder")], types: ["Files"]};
    dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of these tests' own, over an empty knowledge base."""
    with served(tmp_path_factory.mktemp("yard") / "kb") as url:
        yield url


def rows(at: Visit) -> Any:
    return at.page.get_by_role("list", name="Documents").get_by_role("listitem")


def test_a_dropped_folder_is_read_whole(yard: str, visit: Open) -> None:
    at = visit(yard, at="#/sources")
    expect(at.page.get_by_text("There are no documents yet.")).to_be_visible()
    tree = {
        "yard": {
            "readme.md": "# Timber\n\nOak is dried for seven years.",
            "north": {"readme.md": "# Granite\n\nGranite is cut with wire.", ".hidden": "x", "broken.pdf": "no pdf"},
        }
    }
    at.page.evaluate(DROP, [tree])
    told = at.page.get_by_role("region", name="Uploads")
    expect(told).to_contain_text("2 of 3 files ready for questions · 1 failed", timeout=4 * FIRST)
    expect(told.get_by_role("listitem").filter(has_text="broken.pdf")).to_contain_text("damaged")
    expect(rows(at)).to_have_count(2)
    expect(rows(at).filter(has_text="Granite")).to_contain_text("yard - north - readme.md")
    assert at.violations() == []
    told.get_by_role("button", name="Clear the list").click()
    expect(told).to_have_count(0)


def test_failures_are_told_in_plain_words(yard: str, visit: Open) -> None:
    at = visit(yard, at="#/sources", allow="400|415")
    files = [
        {"name": "empty.md", "mimeType": "text/markdown", "buffer": b""},
        {"name": "film.mp4", "mimeType": "video/mp4", "buffer": b"\x00\x01"},
        {"name": "broken.docx", "mimeType": "application/x", "buffer": b"PK\x03\x04 no archive"},
    ]
    at.page.locator("input[type=file]").first.set_input_files(files)
    told = at.page.get_by_role("region", name="Uploads")
    expect(told).to_contain_text("3 failed", timeout=4 * FIRST)
    words = told.inner_text()
    assert not re.search(r"pip |ragstone |acquire\.|serve\.|Error|/tmp|Traceback", words), words


def test_chosen_documents_are_asked_alone(yard: str, visit: Open) -> None:
    at = visit(yard, at="#/sources")
    rows(at).filter(has_text="Granite").get_by_role("button", name="Ask this document: Granite").click()
    box = at.page.get_by_label("Question", exact=True)
    expect(box).to_be_focused()
    expect(at.page.get_by_text("Only in: Granite")).to_be_visible()
    assert at.violations() == []
    turn = at.ask("How long is oak dried?")
    expect(turn).not_to_contain_text("seven years")
    expect(turn).to_contain_text("yard - north - readme.md")
    at.page.get_by_role("button", name="Ask all documents again, not only Granite").click()
    expect(at.ask("How long is oak dried?")).to_contain_text("seven years")


def test_documents_are_searched_sorted_and_deleted_together(yard: str, visit: Open) -> None:
    at = visit(yard, at="#/sources")
    for name in ("ash.md", "birch.md", "cedar.md"):
        file = {"name": name, "mimeType": "text/markdown", "buffer": f"# {name[:-3].title()}\n\nA tree.".encode()}
        at.page.locator("input[type=file]").first.set_input_files([file])
        expect(rows(at).filter(has_text=name)).to_have_count(1)
    expect(rows(at).first).to_contain_text("Cedar")
    expect(rows(at).first).to_contain_text(re.compile("cedar.md · markdown · \\d words · just now"))
    at.page.get_by_label("Order").select_option("oldest")
    expect(rows(at).last).to_contain_text("Cedar")
    at.page.get_by_label("Find a document by name").fill("ash")
    expect(rows(at)).to_have_count(1)
    at.page.get_by_label("Find a document by name").fill("")
    for name in ("Ash", "Birch", "Cedar"):
        at.page.get_by_role("checkbox", name=f"Select: {name}").check()
    bar = at.page.get_by_role("toolbar", name="3 documents selected")
    assert at.violations() == []
    bar.get_by_role("button", name="Delete").click()
    dialog = at.page.get_by_role("dialog", name="Delete 3 documents?")
    expect(dialog).to_contain_text("Cedar")
    dialog.get_by_role("button", name="Delete").click()
    expect(rows(at)).to_have_count(2)
    expect(bar).to_have_count(0)


def test_groups_are_named_at_upload_and_no_path_is_shown(kb: Path, visit: Open) -> None:
    keys = Keys(Journal(kb.parent / "managed"))
    try:
        _, writer = keys.make("mason", ["read", "write"], ["masons", "guild"])
        _, reader = keys.make("guest", ["read"], ["guild"])
    finally:
        keys.close()
    with served(kb.parent / "managed") as url:
        for key, count in ((writer, 1), (reader, 0)):
            at = visit(url, at="#/sources", allow="401")
            at.page.get_by_placeholder("rgs_").fill(key)
            at.page.get_by_role("button", name="Use this key").click()
            expect(rows(at).first).to_be_visible()
            if key == writer:
                at.page.get_by_label("Who may read them").fill("masons")
                file = {"name": "vault.md", "mimeType": "text/markdown", "buffer": b"# Vault\n\nThe vault is dry."}
                at.page.locator("input[type=file]").first.set_input_files([file])
                expect(at.page.get_by_text("Ready for questions")).to_be_visible()
                assert at.violations() == []
            at.page.get_by_label("Find a document by name").fill("vault")
            expect(rows(at)).to_have_count(count)
            assert str(kb.parent) not in at.page.content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_documents_fit_a_phone(yard: str, visit: Open, scheme: str) -> None:
    at = visit(yard, at="#/sources", color_scheme=scheme, **PHONE)
    expect(rows(at).first).to_be_visible()
    at.page.get_by_role("checkbox").first.check()
    assert not at.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert at.violations(*BY_SCHEME[scheme]) == []
