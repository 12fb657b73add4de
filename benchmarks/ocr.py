"""Scans and pictures: how many characters are read wrong, and how many pages a minute are read.

Files go the way of every other file, through `ragstone.acquire.read`, and no language is named. The character error
rate (CER) of a set is the edit distance between its text and the truth, over the characters of the truth. The order of
reading counts: a column that comes too early is wrong twice. What does not count: white space, the bars between cells,
kinds of quotes and dashes, the long s, and the case of receipts, whose labels are in capitals. The peers are RapidOCR,
as its package comes, and the program Tesseract, which is told the language of each file; both read the same pictures.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from shutil import which
from typing import Any, cast

import numpy as np
import pypdfium2  # pyright: ignore[reportMissingTypeStubs]
from PIL import Image, ImageSequence

from benchmarks.common import Options, Result, Table, main, progress, skipped, unavailable, verdict
from ragstone.acquire import read_files
from ragstone.core.installation import install_command
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

SETS = {"made": "clean", "sroie": "receipts", "misc": "mixed"}
"""The folders of the sets, and what the figures call them."""
TARGETS = {"clean_cer": 0.02, "receipts_cer": 0.08}
PAGES_PER_MINUTE = 20.0
QUICK = 5
"""Every fifth file is read with ``--quick``."""
_ONE_SIGN = str.maketrans(
    {**dict.fromkeys("„“”‟«»", '"'), **dict.fromkeys("‚‘’‛`´", "'"), **dict.fromkeys("–—−‐‑", "-")}
)
_DPI = 200
_PEER_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file and what is known of it. ``text`` is the truth; ``kind`` says what was done to it, and ``language``."""

    path: Path
    text: str
    language: str
    kind: str


Reads = Callable[[Sequence[Page]], list[str]]
"""A system: the texts of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a system made of a file: wrong characters, and characters of the truth."""

    page: Page
    wrong: int
    length: int


async def measure(options: Options) -> Result:
    if not which("tesseract") and find_spec("rapidocr") is None:
        return unavailable(f"nothing that reads pictures is installed; run: {install_command('ocr')}")
    folders = {name: options.folder(f"scans/{name}/dev") for name in SETS}
    if not all(folders.values()):
        return skipped("ocr needs the files of scans")
    pages = {
        name: known(folder)[:: QUICK if options.quick else 1] for name, folder in folders.items() if folder is not None
    }
    systems: dict[str, Reads] = {"ragstone": ours}
    if not options.quick:
        systems |= peers()
    scores: dict[str, dict[str, list[Score]]] = {}
    speed: dict[str, dict[str, float]] = {}
    for system, reads in systems.items():
        for name, files in pages.items():
            began, spent = time.monotonic(), cpu_seconds()
            texts = reads(files)
            if name == "made":
                wall, cpu = time.monotonic() - began, cpu_seconds() - spent
                speed[system] = {"pages_per_minute": 60 * len(files) / wall, "cpu_seconds_per_page": cpu / len(files)}
            compared = zip(files, texts, strict=True)
            scores.setdefault(system, {})[name] = [scored(one, text, name) for one, text in compared]
            progress(f"{system}: {name}: {rate(scores[system][name]):.4f} in {time.monotonic() - began:.0f} s")
    return summary(scores, speed)


# ---------------------------------------------------------------- what is true, and how it is compared


def known(folder: Path) -> list[Page]:
    """Return the files of a set. The number at the foot of a made page belongs to its text."""
    found: list[Page] = []
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        text = "\n".join([one["text"], one.get("footer", "")])
        kind = str(one.get("note", "")).partition(":")[0].partition(",")[0]
        found.append(Page(path=folder / one["file"], text=text, language=one.get("lang", "eng"), kind=kind))
    return found


def plain(text: str, *, fold: bool) -> str:
    """Return what of a text is compared."""
    text = unicodedata.normalize("NFKC", text).translate(_ONE_SIGN).replace("ſ", "s").replace("|", " ")
    text = " ".join(text.replace("\ufeff", "").split())
    return text.casefold() if fold else text


def edits(one: str, other: str) -> int:
    """Return the fewest insertions, deletions and replacements that turn one text into another."""
    codes, steps = np.array([ord(letter) for letter in one], np.int64), np.arange(len(one) + 1)
    row = steps.copy()
    for number, letter in enumerate(other, 1):
        changed = np.minimum(row[1:] + 1, row[:-1] + (codes != ord(letter)))
        row = np.concatenate([np.array([number]), changed])
        # An insertion costs one more than what stands on the left of it.
        row = np.minimum.accumulate(row - steps) + steps
    return int(row[-1])


def scored(page: Page, text: str, name: str) -> Score:
    fold = name == "sroie"
    truth = plain(page.text, fold=fold)
    return Score(page=page, wrong=min(edits(truth, plain(text, fold=fold)), 2 * len(truth)), length=len(truth))


def rate(scores: Sequence[Score]) -> float:
    """Return the character error rate of files together."""
    return sum(one.wrong for one in scores) / max(sum(one.length for one in scores), 1)


# ---------------------------------------------------------------- who reads


def ours(pages: Sequence[Page]) -> list[str]:
    """Return the texts of files as Ragstone reads them, one after the other, without a named language."""
    paths = [page.path for page in pages]
    texts: dict[str, str] = {}
    for one in read_files(paths, AcquireSettings(), base=paths[0].parent):
        if isinstance(one, Document):
            texts[one.source] = one.text
        elif isinstance(one, Skipped):
            progress(f"skipped: {one.source}: {one.reason}")
    return [texts.get(str(path), "") for path in paths]


def peers() -> dict[str, Reads]:
    """Return the peers that are installed."""
    found: dict[str, Reads] = {}
    if find_spec("rapidocr") and find_spec("cv2"):
        found["RapidOCR"] = rapidocr
    if which("tesseract"):
        found["Tesseract"] = tesseract
    return found


def rapidocr(pages: Sequence[Page]) -> list[str]:
    """Return what RapidOCR reads, as its package comes: lines in its own order."""
    engine = cast("Any", import_module("rapidocr")).RapidOCR(params={"Global.log_level": "critical"})
    texts: list[str] = []
    for page in pages:
        found = [engine(np.asarray(image)) for image in pictures(page.path)]
        texts.append("\n".join(text for one in found for text in one.txts or ()))
    return texts


def tesseract(pages: Sequence[Page]) -> list[str]:
    """Return what Tesseract prints, in its own order."""
    texts: list[str] = []
    for page in pages:
        command = ["tesseract", "stdin", "stdout", "-l", page.language, "--psm", "1"]
        printed: list[str] = []
        for image in pictures(page.path):
            data = BytesIO()
            image.save(data, "PNG", dpi=(_DPI, _DPI))
            done = subprocess.run(
                command, input=data.getvalue(), capture_output=True, timeout=_PEER_SECONDS, check=False
            )
            printed.append(done.stdout.decode("utf-8", "replace"))
        texts.append("\n".join(printed))
    return texts


def pictures(path: Path) -> list[Image.Image]:
    """Return the pages of a file as pictures in colour."""
    if path.suffix != ".pdf":
        with Image.open(path) as image:
            return [frame.convert("RGB") for frame in ImageSequence.Iterator(image)]
    book = cast("Any", pypdfium2.PdfDocument(path))
    return [book[number].render(scale=_DPI / 72).to_pil().convert("RGB") for number in range(len(book))]


def cpu_seconds() -> float:
    """Return the processor time of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


# ---------------------------------------------------------------- what is shown


def summary(scores: Mapping[str, Mapping[str, Sequence[Score]]], speed: Mapping[str, Mapping[str, float]]) -> Result:
    mine = scores["ragstone"]
    figures: dict[str, Any] = {f"{title}_cer": round(rate(mine[name]), 4) for name, title in SETS.items()}
    figures |= {name: round(value, 2) for name, value in speed["ragstone"].items()}
    figures["cores"] = len(os.sched_getaffinity(0))
    figures["by_language"] = _by(mine["made"], lambda page: page.language)
    figures["by_kind"] = _by(mine["made"], lambda page: page.kind.partition(" ")[0])
    figures["peers"] = {
        system: {**{f"{SETS[name]}_cer": round(rate(of), 4) for name, of in sets.items()}, **_rounded(speed[system])}
        for system, sets in scores.items()
        if system != "ragstone"
    }
    rows = [
        [system, *(f"{rate(sets[name]):.4f}" for name in SETS), f"{speed[system]['pages_per_minute']:.1f}"]
        for system, sets in scores.items()
    ]
    met = {name: figures[name] <= most for name, most in TARGETS.items()}
    met["pages_per_minute"] = figures["pages_per_minute"] >= PAGES_PER_MINUTE
    worst = sorted(mine["misc"], key=lambda one: -one.wrong / max(one.length, 1))
    return Result(
        figures=figures,
        tables=[
            Table(title="Character error rate", columns=["system", *SETS.values(), "pages a minute"], rows=rows),
            Table(
                title="Mixed files",
                columns=["file", "what it is", "CER"],
                rows=[[one.page.path.name, one.page.kind, f"{one.wrong / max(one.length, 1):.4f}"] for one in worst],
            ),
        ],
        notes=[f"{name}: {verdict(is_met)}" for name, is_met in met.items()],
    )


def _by(scores: Sequence[Score], key: Callable[[Page], str]) -> dict[str, float]:
    groups: dict[str, list[Score]] = {}
    for one in scores:
        groups.setdefault(key(one.page), []).append(one)
    return {name: round(rate(of), 4) for name, of in sorted(groups.items())}


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in values.items()}


if __name__ == "__main__":
    main({"ocr": measure}, "ocr")
