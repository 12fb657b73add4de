"""Shared by the tests of the page: a server as a user starts it, and a visit to it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

ROOT = Path(__file__).parent.parent.parent
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    f"sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli.app import main; main()"
)
"""Python code that runs a command. It handles Ctrl-C even if the tests were started with SIGINT ignored."""
FIRST = 15_000
"""Milliseconds until something has to be visible, on a busy machine."""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
BY_SCHEME: dict[str, tuple[str, ...]] = {"light": (), "dark": ("color-contrast", "link-in-text-block")}
"""The rules of axe to check by colour scheme: all rules in one, and in the other those of colours."""
STARTED = 60.0
"""Seconds until a server has to have started."""
GUIDE = """\
# 🪨 A guide to stone 🧱

The first lines have characters that are two units long in a browser: 🪨🧱👩‍👩‍👧.

## Kentish ragstone

Kentish ragstone is a hard grey limestone. The Romans shipped it down the river Medway to build
the wall of London around the year 200. It was quarried near Maidstone.

## Slate

Slate splits into thin sheets, which is why roofs are made of it.
"""
HARM = """\
# <img src=x onerror=alert(1)> Sandstone

Sandstone <script>document.title='taken'</script> is made of grains of sand. <img src="https://evil.example/pixel.png">
The colour of sandstone is often red ![chart](https://evil.example/chart.png) because of iron oxide.
[Read more](javascript:alert(1)) about <a href="https://evil.example">iron oxide</a><style>body{display:none}</style>.
"""


ARTICLES = """\
id,title,text,lang
bm25,What is BM25?,"BM25 is a ranking function for keyword search. It weighs how rare a word is.",en
bm25-de,Was ist BM25?,"BM25 ist eine Rangfunktion für die Stichwortsuche. Sie gewichtet, wie selten ein Wort ist.",de
idf,What is inverse document frequency?,"How much a word tells. Karen Spärck Jones introduced it in 1972.",en
"""
DOCUMENTS = {"guide.md": GUIDE, "harm.md": HARM, "articles.csv": ARTICLES}


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONUTF8": "1", **more}


@contextmanager
def served(kb: Path, *words: str, **env: str) -> Iterator[str]:
    """Serve a knowledge base on a free port; yield its address."""
    command = [sys.executable, "-u", "-c", START, "serve", "--create", "--kb", str(kb), "--port", "0", *words]
    with TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment(**env), cwd=kb.parent)
        try:
            yield _address(process, log)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def _address(process: subprocess.Popen[bytes], log: IO[str]) -> str:
    until = time.monotonic() + STARTED
    while time.monotonic() < until and process.poll() is None:
        log.seek(0)
        if told := re.search(r"https?://\S+:\d+", log.read()):
            return told[0]
        time.sleep(0.05)
    log.seek(0)
    raise AssertionError(f"the server did not start: {log.read()}")


class Visit:
    """A fresh browser window that records foreign requests and errors."""

    def __init__(
        self, browser: Any, url: str, *, at: str = "", allow: str = "(?!)", trusted: str | None = None, **options: Any
    ) -> None:
        """
        Args:
            browser: to open it in.
            url: of the server.
            at: place within the page.
            allow: pattern of complaints that are expected.
            trusted: address of another server that the page may go to.
            options: of the window, such as its size.
        """
        size = {"width": 1280, "height": 800}
        self._context = browser.new_context(**{"viewport": size, "reduced_motion": "reduce", **options})
        self._context.set_default_timeout(FIRST)
        self.url, self.foreign, self.troubles = url, [], []
        self._known = tuple(f"{one}/" for one in (url, trusted) if one)
        self.page = self._context.new_page()
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.on("console", lambda said: self._heard(said, allow))
        self.page.goto(f"{url}/{at}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self._known):
            self.foreign.append(request.url)

    def _heard(self, said: Any, allow: str) -> None:
        if said.type in ("error", "warning") and not re.search(allow, said.text):
            self.troubles.append(said.text)

    def ask(self, question: str) -> Any:
        """Ask with the keyboard, wait for the answer, and return its element."""
        turns = self.page.locator("article.turn")
        count = turns.count()
        box = self.page.get_by_label("Question", exact=True)
        box.fill(question)
        box.press("Enter")
        turn = turns.nth(count)
        turn.locator(".turn-foot").wait_for()
        return turn

    def violations(self, *rules: str) -> list[str]:
        """Return the accessibility violations that axe finds, by some rules or by all."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        chosen = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
        # Passed checks and paths to their elements take axe as long as the checks.
        options = {"runOnly": chosen, "resultTypes": ["violations"], "selectors": False}
        found = self.page.evaluate("options => axe.run(options)", options)["violations"]
        return [f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']]}" for one in found]

    def close(self) -> None:
        self._context.close()
