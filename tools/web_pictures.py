"""Open the page in Chromium on the demonstration's knowledge base, and write the pictures of docs/.

It needs Debian's Chromium and the packages of the tests: ``python tools/web_pictures.py``.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
START = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli.app import main; main()"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
CASH = "How much cash did the company have on 31 March 2026?"
DIVIDEND = "What dividend did Alderwren pay in 2025?"
LARGEST = 150_000
SMALL, WIDE, PHONE = {"width": 1060, "height": 680}, {"width": 1180, "height": 720}, {"width": 390, "height": 760}


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        moving_picture(Camera(browser, url, SMALL))
        other_views(Camera(browser, url, WIDE, color_scheme="dark"), Camera(browser, url, PHONE))
        browser.close()


def moving_picture(camera: Camera) -> None:
    """Write half a minute with the page: a question, its answer, the cited cell on its page, a refusal."""
    page = camera.page
    frames: list[tuple[Image.Image, int]] = []
    page.get_by_role("list", name="Suggested questions").wait_for()
    frames.append((camera.shot(), 1000))
    frames += camera.typed(CASH)
    camera.ask(CASH)
    frames.append((camera.shot(), 2500))
    page.get_by_role("button", name="Citation 1").click()
    page.locator(".paper-mark").first.wait_for()
    frames.append((camera.shot(), 4500))
    page.keyboard.press("Escape")
    page.get_by_role("link", name="New conversation").click()
    frames += camera.typed(DIVIDEND)
    camera.ask(DIVIDEND)
    frames.append((camera.shot(), 4500))
    path = DOCS / "demo.webp"
    (first, _), *others = frames
    durations = [milliseconds for _, milliseconds in frames]
    first.save(
        path,
        save_all=True,
        append_images=[shot for shot, _ in others],
        duration=durations,
        loop=0,
        quality=70,
        method=6,
    )
    print(f"wrote {path}, {path.stat().st_size // 1000} kB")


def other_views(dark: Camera, phone: Camera) -> None:
    """Write a picture in the dark and one on a phone."""
    dark.ask("How much may a hotel cost per night?")
    dark.page.get_by_role("button", name=re.compile("^Citation")).first.click()
    dark.page.locator("aside mark").first.wait_for()
    written("web-dark", dark.shot())
    phone.ask(CASH)
    left = phone.shot()
    phone.page.get_by_role("button", name="Citation 1").click()
    phone.page.locator(".paper-mark").first.wait_for()
    right = phone.shot()
    both = Image.new("RGB", (left.width + right.width + 24, left.height), "#8a8d84")
    both.paste(left, (0, 0))
    both.paste(right, (left.width + 24, 0))
    written("web-phone", both)


class Camera:
    """A window and its pictures."""

    def __init__(self, browser: Any, url: str, size: dict[str, int], **options: Any) -> None:
        context = browser.new_context(viewport=size, device_scale_factor=1.5, reduced_motion="reduce", **options)
        self.page = context.new_page()
        self.page.goto(url)

    def ask(self, question: str) -> None:
        count = self.page.locator("article.turn").count()
        box = self.page.get_by_label("Question", exact=True)
        box.fill(question)
        box.press("Enter")
        self.page.locator("article.turn").nth(count).locator(".turn-foot").wait_for()
        self.page.locator("nav.sidebar").get_by_text(question).first.wait_for(state="attached")

    def shot(self) -> Image.Image:
        self.page.wait_for_timeout(300)
        return Image.open(io.BytesIO(self.page.screenshot(caret="initial"))).convert("RGB")

    def typed(self, question: str) -> list[tuple[Image.Image, int]]:
        """Return frames of the question while it is typed, each with its milliseconds."""
        box = self.page.get_by_label("Question", exact=True)
        frames: list[tuple[Image.Image, int]] = []
        words = question.split()
        for count in range(1, len(words) + 1):
            box.fill(" ".join(words[:count]))
            frames.append((self.shot(), 160))
        return frames


def written(name: str, picture: Image.Image) -> None:
    """Write a picture, small enough for a page."""
    path = DOCS / f"{name}.webp"
    for quality in (85, 70, 55):
        picture.save(path, quality=quality, method=6)
        if path.stat().st_size < LARGEST:
            break
    print(f"wrote {path}, {path.stat().st_size // 1000} kB")


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve the demonstration's knowledge base; yield its address."""
    kb = str(folder / "kb")
    documents = str(ROOT / "examples" / "alderwren")
    subprocess.run([sys.executable, "-c", START, "add", documents, "--kb", kb], check=True, stdout=subprocess.DEVNULL)
    with (folder / "log").open("w+") as log:
        command = [sys.executable, "-u", "-c", START, "serve", "--kb", kb, "--port", "0"]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ)
        try:
            while not (found := re.search(r"http://\S+:\d+", (folder / "log").read_text())):
                assert process.poll() is None, (folder / "log").read_text()
                time.sleep(0.1)
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


if __name__ == "__main__":
    main()
