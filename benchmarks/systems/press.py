"""What the features of the preset `publications` share: the press releases and the knowledge bases of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks.common import ROOT
from benchmarks.systems.feature import SECONDS, Room, Site, System, Unavailable, expect, short

SYSTEM = System(preset="publications", data=("telekom_press",))
QUESTION = "What is the 5G campus network that Arburg installed at its headquarters?"
RELEASE = (
    "Telekom opens a lab in Bonn on 12.03.2024 with Microsoft Corporation. The 5G lab tests 5G phones and 5G cells."
)
UNDECODABLE = RELEASE.encode() + " Glasfaser für Köln, Düren, Münster.".encode() + b" \xff\x81"
WITHIN = {"search": 50.0, "rank": 200.0, "retrieval": 250.0}
"""The most milliseconds of each stage, at the median."""


def releases(room: Room) -> Path:
    """Return the folder of press releases, with an empty file and one with undecodable bytes, twice."""
    folder = room.folder / "releases"
    if not folder.exists():
        (folder / "copies").mkdir(parents=True)
        texts = sorted((room.data / "telekom_press/dev/txt").glob("*.txt"))
        judged = {document for _, document in relevant(room)}
        for number, text in enumerate(texts):
            if not room.quick or number % 3 == 0 or text.name in judged:
                shutil.copy(text, folder / text.name)
        (folder / "empty.txt").touch()
        (folder / "broken.txt").write_bytes(UNDECODABLE)
        shutil.copy(folder / "broken.txt", folder / "copies" / "broken.txt")
    return folder


def questions(room: Room) -> dict[str, str]:
    """Return the judged questions by id."""
    lines = (room.data / "telekom_press/dev/queries.jsonl").read_text(encoding="utf-8").splitlines()
    return {one["id"]: one["text"] for one in map(json.loads, lines)}


def relevant(room: Room) -> list[tuple[str, str]]:
    """Return the ids of questions with the names of the releases that answer them."""
    lines = (room.data / "telekom_press/dev/qrels.tsv").read_text(encoding="utf-8").splitlines()
    return [(query, document) for query, document, relevance in map(str.split, lines) if relevance != "0"]


def press(room: Room) -> Path:
    """Return the knowledge base of the press releases."""
    folder = releases(room)
    return room.added("press", folder)


def small(room: Room) -> Path:
    """Return a knowledge base of five press releases."""
    folder = room.folder / "few"
    if not folder.exists():
        folder.mkdir()
        for text in sorted((room.data / "telekom_press/dev/txt").glob("18*.txt"))[:5]:
            shutil.copy(text, folder / text.name)
    return room.added("small", folder)


def script(room: Room, code: str, *words: str | Path, **variables: str) -> str:
    """Run Python code with these arguments, as a user's own program; return what it prints."""
    paths = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    environment = {"HOME": str(room.folder), "PATH": os.environ["PATH"], "PYTHONPATH": paths, **variables}
    command = [sys.executable, "-c", code, *map(str, words)]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=room.folder, env=environment, timeout=SECONDS
    )
    expect(ended.returncode == 0, short(ended.stdout + ended.stderr))
    return ended.stdout


def needs(module: str, package: str) -> None:
    """Say that a feature cannot be tried without a package.

    Raises:
        Unavailable: it is not installed.
    """
    if find_spec(module) is None:
        raise Unavailable(f"{package} is not installed here")


def tested(*words: str) -> str:
    """Run tests of the repository; return the last line of the report."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=SECONDS)
    expect(ended.returncode == 0, short(ended.stdout))
    last = ended.stdout.strip().splitlines()[-1]
    if "passed" not in last:
        raise Unavailable(f"the tests were skipped: {last}")
    return last


def await_ready(site: Site) -> None:
    """Wait until no model need be loaded for a question."""
    end = time.monotonic() + 120
    while site.get("/ready").status != 200:
        expect(time.monotonic() < end, "not ready in two minutes")
        time.sleep(0.2)
