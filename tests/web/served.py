"""What the tests of the page share: a server as a user starts it, and a visit to it."""

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
START = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli import main; main()"
FIRST = 15_000
"""Milliseconds that something may take to be seen; a loaded machine is slow."""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
STARTED = 60.0
"""Seconds that a server may take to start."""
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
    """Serve a knowledge base on a free port; its address."""
    command = [sys.executable, "-u", "-c", START, "serve", "--kb", str(kb), "--port", "0", *words]
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
    """A window of its own, with nothing remembered. Notes what it asks for and what goes wrong."""

    def __init__(self, browser: Any, url: str, *, at: str = "", allow: str = "(?!)", **options: Any) -> None:
        """
        Args:
            browser: to open it in.
            url: of the server.
            at: place within the page.
            allow: pattern of complaints that are expected.
            options: of the window, such as its size.
        """
        size = {"width": 1280, "height": 800}
        self._context = browser.new_context(**{"viewport": size, "reduced_motion": "reduce", **options})
        self._context.set_default_timeout(FIRST)
        self.url, self.foreign, self.troubles = url, [], []
        self.page = self._context.new_page()
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.on("console", lambda said: self._heard(said, allow))
        self.page.goto(f"{url}/{at}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(f"{self.url}/"):
            self.foreign.append(request.url)

    def _heard(self, said: Any, allow: str) -> None:
        if said.type in ("error", "warning") and not re.search(allow, said.text):
            self.troubles.append(said.text)

    def ask(self, question: str) -> Any:
        """Ask with the keyboard, and wait for the end; the turn."""
        turns = self.page.locator("article.turn")
        count = turns.count()
        box = self.page.get_by_label("Question", exact=True)
        box.fill(question)
        box.press("Enter")
        turn = turns.nth(count)
        turn.locator(".turn-foot").wait_for()
        return turn

    def violations(self, *rules: str) -> list[str]:
        """What axe finds wrong for those who do not see, or do not use a mouse; by some rules, or by all."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        chosen = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
        found = self.page.evaluate("chosen => axe.run({runOnly: chosen})", chosen)["violations"]
        return [f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']]}" for one in found]

    def close(self) -> None:
        self._context.close()


def pdf(*pages: str) -> bytes:
    """A PDF with a line on each page."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>"]
    objects.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for number, page in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({page}) Tj ET"
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {4 + 2 * number} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
    body, table = "%PDF-1.4\n", "0000000000 65535 f \n"
    for number, text in enumerate(objects, 1):
        table += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{text}\nendobj\n"
    size = len(objects) + 1
    end = f"trailer\n<</Root 1 0 R/Size {size}>>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {size}\n{table}{end}".encode("latin-1")
