"""The program ``ragstone serve`` as a user starts it, in a process of its own."""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from live import SLOW

ROOT = Path(__file__).parent.parent.parent.parent
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    f"sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests')!r}]; "
    "from ragstone.serve.cli.app import main; main()"
)
"""Python code that runs a command."""


@contextmanager
def program(
    folder: Path, *words: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client, list[str]]]:
    """Run ``ragstone serve``; yield the process, a client, and the lines of its log as they come."""
    started = subprocess.Popen(
        [sys.executable, "-c", START, "serve", "--kb", "kb", "--port", "0", *words],
        cwd=folder,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    lines: list[str] = []
    assert started.stderr is not None
    found = None
    while not found:
        line = started.stderr.readline()
        assert line, f"it ended: {lines}"
        lines.append(line)
        found = re.search(r"at (https?)://[^ ]*:(\d+);", line)
    reading = threading.Thread(target=lambda: lines.extend(started.stderr or ()), daemon=True)
    reading.start()
    trust: ssl.SSLContext | bool = True
    if found[1] == "https":
        trust = ssl.create_default_context(cafile=str(folder / "kb" / "tls" / "certificate.pem"))
    try:
        with httpx2.Client(base_url=f"{found[1]}://127.0.0.1:{found[2]}", timeout=SLOW, verify=trust) as client:
            yield started, client, lines
    finally:
        started.kill()
        started.wait(SLOW)
        reading.join(SLOW)
        started.stderr.close()
