"""Open the lab on this project's documents in Chromium, with votes made up, and write what it shows to docs/lab-*.png.

Needs Debian's `chromium` and the packages of the tests; the script drives the browser by its own protocol.
`python tools/lab_pictures.py [CHROMIUM]` runs it.
"""

from __future__ import annotations

import base64
import io
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from websockets.sync.client import ClientConnection, connect

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from voting import cast  # noqa: E402  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

from ragstone.engine.knowledge_base import KnowledgeBase  # noqa: E402
from ragstone.learning.policy import Choices  # noqa: E402

QUESTION = "How are vectors and keywords combined?"
SOURCES = ("README.md", "ARCHITECTURE.md", "docs/settings.md", "docs/measuring.md", "examples/knowledge-base.csv")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--hide-scrollbars",
        "--remote-debugging-port=0",
    ),
)
WIDTH, HEIGHT = 1360, 900
LARGEST = 150_000
"""The most bytes of a picture."""


class Browser:
    """One page of a browser."""

    def __init__(self, line: ClientConnection) -> None:
        self._line, self._sent = line, 0

    def tell(self, method: str, **what: Any) -> Any:
        """Send a command of the protocol and return its result."""
        self._sent += 1
        self._line.send(json.dumps({"id": self._sent, "method": method, "params": what}))
        while (heard := json.loads(self._line.recv(timeout=60))).get("id") != self._sent:
            pass
        return heard["result"]

    def look(self, script: str) -> Any:
        """Return the value of a line of JavaScript."""
        return self.tell("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until a line of JavaScript is true."""
        ends = time.monotonic() + 20
        while not self.look(f"Boolean({script})"):
            if time.monotonic() > ends:
                raise TimeoutError(script)
            time.sleep(0.1)

    def click(self, text: str, *, last: bool = False) -> None:
        """Click the first button with this text, or the last one."""
        every = "[...document.querySelectorAll('button, summary, label, [role=radio], p')]"
        found = f"{every}.{'findLast' if last else 'find'}(one => one.innerText.trim() === {text!r})"
        self.wait(found)
        self.look(f"{found}.click()")
        time.sleep(1)

    def type(self, label: str, text: str) -> None:
        """Type into the field with this label."""
        found = f'document.querySelector("input[aria-label={label!r}]")'
        self.wait(found)
        self.look(f"{found}.focus(); {found}.select()")
        self.tell("Input.insertText", text=text)
        for kind in ("keyDown", "keyUp"):
            self.tell(
                "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r"
            )
        time.sleep(1.5)

    def picture(self, name: str) -> None:
        """Write what is shown, in few colours."""
        time.sleep(2)
        shot = base64.b64decode(self.tell("Page.captureScreenshot", format="png")["data"])
        few = Image.open(io.BytesIO(shot)).convert("RGB").quantize(128, dither=Image.Dither.NONE)
        file = ROOT / "docs" / f"lab-{name}.png"
        few.save(file, optimize=True)
        if file.stat().st_size > LARGEST:
            raise ValueError(f"{file.name} has {file.stat().st_size:,} bytes")


def main() -> None:
    """Write the pictures."""
    with TemporaryDirectory() as folder, served(Path(folder)) as address, opened(address, Path(folder)) as browser:
        browser.wait("document.querySelector('.rs-brand')")
        browser.click("B")
        browser.click("Rank")
        browser.type("reranker", "maxsim")
        browser.type("Question", QUESTION)
        browser.wait("document.querySelector('.rs-times')")
        browser.picture("sides")
        browser.click("Stages")
        browser.click("B", last=True)
        browser.wait("document.querySelector('.rs-stages') && document.querySelector('canvas, svg.marks')")
        browser.picture("stages")
        browser.click("Learning")
        browser.wait("document.querySelectorAll('canvas, svg.marks').length == 2")
        browser.look("document.querySelector('.rs-tiles').scrollIntoView()")
        browser.picture("learning")


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve the lab on a knowledge base of this project's documents; yield its address."""
    for source in SOURCES:
        (folder / source).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / source, folder / source)
    program = [sys.executable, "-c", "from ragstone.serve.cli.app import main; main()"]
    subprocess.run([*program, "add", *SOURCES, "--kb", "demo"], cwd=folder, check=True)
    os.environ["RAGSTONE_LEARNING__MODE"] = "gated"
    _vote(folder / "demo")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([*program, "lab", "--kb", "demo", "--port", str(port)], cwd=folder) as lab:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            lab.terminate()


def _vote(kb: Path) -> None:
    """Cast random votes on a change that is slightly better, and stop before it is proved."""
    chance, evidence = random.Random(4), 1.0

    def likes(version: int) -> bool:
        return chance.random() < (0.7 if version else 0.5)

    with closing(KnowledgeBase.open(kb)) as engine:
        engine.learning.start_trial({"": Choices(top_k=8)})
        while not 5 < evidence < 20:
            cast(engine, 5, likes)
            evidence = next(
                (one.arm.evidence or 1 for one in engine.learning.report().arms if one.role == "challenger"), 1
            )


@contextmanager
def opened(address: str, folder: Path) -> Generator[Browser]:
    """Open a page in a browser."""
    chromium = sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium") or "chromium"
    words = [
        chromium,
        *FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={WIDTH},{HEIGHT}",
        "about:blank",
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as program:
        try:
            assert program.stderr is not None
            listening = next(line for line in program.stderr if "DevTools listening on" in line).split()[-1]
            with connect(listening, max_size=None) as whole:
                targets = Browser(whole).tell("Target.getTargets")["targetInfos"]
            page = next(one["targetId"] for one in targets if one["type"] == "page")
            with connect(f"{listening.split('/devtools')[0]}/devtools/page/{page}", max_size=None) as line:
                browser = Browser(line)
                size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
                browser.tell("Emulation.setDeviceMetricsOverride", **size)
                browser.tell("Page.navigate", url=address)
                yield browser
        finally:
            program.terminate()


if __name__ == "__main__":
    main()
