"""Run the commands of the demonstration in a terminal, and write what it shows to docs/demo.svg."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "demo.svg"
WIDTH = 92
COMMANDS = (
    ("add", "alderwren"),
    ("ask", "How much may a hotel cost per night?"),
    ("ask", "Was kostet eine Inspektion für den Otter?"),
    ("ask", "What dividend did Alderwren pay in 2025?"),
)


def main() -> None:
    """Write the picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples" / "alderwren", Path(folder) / "alderwren")
        for number, words in enumerate(COMMANDS):
            typed = " ".join(f'"{word}"' if " " in word else word for word in words)
            console.print(Text.assemble(("\n$ " if number else "$ ", "green"), (f"ragstone {typed}", "bold")))
            console.print(Text.from_ansi(shown(words, Path(folder))))
    picture = console.export_svg(title="ragstone", unique_id="demo")
    # The page must not fetch a font from somewhere; the viewer's own monospace font takes its place.
    picture = re.sub(r"\s*@font-face \{.*?\}|\s*<!--.*?-->", "", picture, flags=re.DOTALL)
    PICTURE.write_text(picture.replace("Fira Code, ", ""), encoding="utf-8")
    print(f"wrote {PICTURE}")


def shown(words: tuple[str, ...], folder: Path) -> str:
    """Return what the program writes to a terminal of our width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli.app import main; main()"
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
    # Standard error is left out: progress is gone from a terminal by the time a command has ended.
    process = subprocess.Popen(
        [sys.executable, "-c", start, *words],
        stdin=its,
        stdout=its,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={name: value for name, value in environment.items() if name != "NO_COLOR"},
    )
    os.close(its)
    written = b""
    while part := _read(ours):
        written += part
    os.close(ours)
    _, complaint = process.communicate()
    if process.returncode:
        raise SystemExit(f"ragstone {' '.join(words)} failed: {complaint.decode()}")
    return settled(written.decode().replace("\r\n", "\n")).rstrip("\n")


def settled(written: str) -> str:
    """Return what is left on a terminal at the end, without text that was overwritten."""
    rows, at = [""], 0
    for part in re.split(r"(\n|\r|\x1b\[\d*[AK]|\x1b\[\?25[hl])", written):
        if part == "\n":
            at += 1
            rows += [""] * (at == len(rows))
        elif re.fullmatch(r"\x1b\[\d*A", part):
            at = max(0, at - int(part[2:-1] or 1))
        elif re.fullmatch(r"\x1b\[\d*K", part):
            rows[at] = ""
        elif part != "\r" and not part.startswith("\x1b[?25"):
            rows[at] += part
    return "\n".join(rows)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""


if __name__ == "__main__":
    main()
