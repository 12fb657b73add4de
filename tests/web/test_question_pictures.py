"""A picture in a question, and the description of a picture in an answer."""

from __future__ import annotations

import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pictures import painted, saved
from playwright.sync_api import expect
from served import FIRST, Visit, served

from servers.openai_server import KEY, OpenAIServer, describing, pictures_in

Open = Callable[..., Visit]
SAYS = "A photo of a wall of Kentish ragstone with a brass plate."
PASTE = """(text) => {
    const data = new DataTransfer();
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    data.items.add(new File([bytes], "wall.png", { type: "image/png" }));
    const box = document.querySelector(".composer textarea");
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(describing(SAYS)) as model:
        yield model


@pytest.fixture(scope="module")
def seeing(kb: Path, model: OpenAIServer) -> Iterator[str]:
    """The address of a server with a vision model."""
    folder = shutil.copytree(kb, kb.parent / "seeing")
    env = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": KEY}
    with served(folder, "--set", "acquire.captions.model=openai:sees", **env) as url:
        yield url


def test_asks_about_a_chosen_picture(seeing: str, model: OpenAIServer, visit: Open) -> None:
    at = visit(seeing)
    expect(at.page.get_by_role("button", name="Ask about a picture")).to_be_visible()
    photo = {"name": "wall.png", "mimeType": "image/png", "buffer": saved(painted("gray", size=(3000, 2000)), "PNG")}
    at.page.locator(".composer input[accept]").set_input_files([photo])
    expect(at.page.get_by_text("Picture: wall.png")).to_be_visible()
    assert at.violations() == []
    turn = at.ask("Where was this stone quarried?")
    expect(turn.locator(".prose")).to_contain_text("Maidstone")
    expect(at.page.get_by_text("Picture: wall.png")).to_have_count(0)
    (sent,) = pictures_in(model.asked[-1].body["messages"])
    assert len(sent) < 100_000
    expect(turn.get_by_role("heading", level=2)).to_have_text("Where was this stone quarried?")
    expect(turn.get_by_role("img", name=SAYS)).to_be_visible()
    expect(turn.locator("figcaption")).to_have_text(f"description of a picture by openai:sees: {SAYS}")
    assert at.violations() == []
    at.page.reload()
    expect(turn.get_by_role("heading", level=2)).to_have_text("Where was this stone quarried?")
    expect(turn.locator("figcaption")).to_contain_text(SAYS)


def test_asks_about_a_pasted_picture(seeing: str, visit: Open) -> None:
    at = visit(seeing)
    expect(at.page.get_by_role("button", name="Ask about a picture")).to_be_visible()
    at.page.evaluate(PASTE, b64encode(saved(painted("brown"), "PNG")).decode())
    expect(at.page.get_by_text("Picture: wall.png")).to_be_visible()
    at.page.get_by_role("button", name="Ask without the picture wall.png").click()
    expect(at.page.get_by_text("Picture: wall.png")).to_have_count(0)


def test_shows_that_a_model_describes_a_picture(seeing: str, visit: Open) -> None:
    at = visit(seeing)
    photo = {"name": "plate.png", "mimeType": "image/png", "buffer": saved(painted("gold"), "PNG")}
    at.page.locator(".composer input[multiple]").set_input_files([photo])
    held = at.page.get_by_role("list", name="Files of this conversation")
    expect(held.get_by_role("button", name="Erase plate.png")).to_be_visible(timeout=4 * FIRST)
    turn = at.ask("Which wall has a brass plate?")
    expect(turn.locator(".prose")).to_contain_text("brass plate")
    expect(turn.locator(".card-place").first).to_contain_text("description of a picture by openai:sees")
    assert at.violations() == []
    turn.get_by_role("button", name="Citation 1").click()
    expect(at.page.locator("aside")).to_contain_text("description of a picture by openai:sees")


def test_takes_no_pictures_without_a_vision_model(quoted: str, visit: Open) -> None:
    at = visit(quoted)
    expect(at.page.get_by_role("button", name="Attach files to this conversation")).to_be_visible()
    expect(at.page.get_by_role("button", name="Ask about a picture")).to_have_count(0)
