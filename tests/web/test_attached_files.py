"""Files that a person attaches to a conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pdf_file import pdf
from playwright.sync_api import expect
from served import FIRST, Visit, served

Open = Callable[..., Visit]
DROP = """(text) => {
    const files = new DataTransfer();
    files.items.add(new File([text], "glaze.md", { type: "text/markdown" }));
    for (const type of ["dragover", "drop"])
        dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
}"""


def test_a_dropped_file_is_asked_in_its_conversation_alone(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    expect(at.page.get_by_role("button", name="Attach files to this conversation")).to_be_visible()
    at.page.evaluate(DROP, "# Glaze\n\nThe celadon glaze is fired at 1260 degrees.")
    held = at.page.get_by_role("list", name="Files of this conversation")
    expect(held.get_by_role("button", name="Erase glaze.md")).to_be_visible(timeout=4 * FIRST)
    expect(at.page.get_by_text("Only in: glaze.md")).to_be_visible()
    assert at.violations() == []
    turn = at.ask("At how many degrees is the celadon glaze fired?")
    expect(turn.locator(".prose")).to_contain_text("1260 degrees")
    expect(turn.locator(".card-place").first).to_contain_text("attached file")
    turn.get_by_role("button", name="Citation 1").click()
    expect(at.page.locator("aside mark").first).to_contain_text("1260 degrees")
    at.page.keyboard.press("Escape")

    at.page.reload()
    expect(held.get_by_role("button", name="Erase glaze.md")).to_be_visible()
    at.page.get_by_role("link", name="Sources").click()
    at.page.get_by_label("Find a document by name").fill("glaze")
    expect(at.page.get_by_text("No document has this name.")).to_be_visible()
    at.page.get_by_role("link", name="New conversation").click()
    expect(held).to_have_count(0)
    expect(at.ask("At how many degrees is the celadon glaze fired?")).not_to_contain_text("1260")

    at.page.get_by_role("link", name="At how many degrees").last.click()
    # Its answer goes with the file: a page that still asks for it would be told that there is none.
    expect(at.page.get_by_role("button", name="Citation 1")).to_be_visible()
    with at.page.expect_response(lambda told: told.request.method == "DELETE" and told.status == 200):
        held.get_by_role("button", name="Erase glaze.md").click()
    expect(held).to_have_count(0)


def test_a_chosen_file_that_cannot_be_read_is_told(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    files = [
        {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"no pdf"},
        {"name": "marble.pdf", "mimeType": "application/pdf", "buffer": pdf(["Marble is polished with tin oxide."])},
    ]
    at.page.locator(".composer input[type=file]").set_input_files(files)
    held = at.page.get_by_role("list", name="Files of this conversation")
    expect(held.get_by_role("button", name="Erase marble.pdf")).to_be_visible(timeout=4 * FIRST)
    expect(held).to_contain_text("broken.pdf: ")
    assert at.violations() == []
    held.get_by_role("button", name="Remove from the list: broken.pdf").click()
    expect(held).not_to_contain_text("broken.pdf")
    expect(held.get_by_role("button")).to_have_count(1)


def test_a_file_beyond_the_limit_of_its_person_is_told(tmp_path: Path, visit: Open) -> None:
    with served(tmp_path / "kb", "--set", "serve.uploads.attached_mb=0.001") as url:
        at = visit(url, allow="413")
        large = {"name": "marble.txt", "mimeType": "text/plain", "buffer": b"Marble is polished. " * 100}
        at.page.locator(".composer input[type=file]").set_input_files([large])
        told = at.page.get_by_role("list", name="Files of this conversation")
        expect(told).to_contain_text(
            "marble.txt: the files that you attach to conversations may take 0.001 MB in total;"
        )
        assert at.violations() == []
