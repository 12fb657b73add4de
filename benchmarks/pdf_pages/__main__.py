"""Headings, lists, running lines, order and words of PDF pages, beside what other libraries read in the same run.

The items of lists, each on a line that begins with its mark, are compared with those that people tagged. Headings are
compared with those that people tagged in the files (``pdf/tagged``) or reviewed (``pdf/docling``). The
text is compared with the text of these tags, without white space, headers and footers. The checks of ``olmocr_sample``
say which words must occur, must not, or must come before others. ``--peers PYTHON`` names an interpreter with
pdfplumber, pymupdf or pypdfium2.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.common import Options, Result, Table, main, peer_output, progress, skipped
from benchmarks.parsing import read_one
from benchmarks.pdf_pages.similarity import matched, plain, similarity
from ragstone.core.records import Document

PEERS = ("pypdfium2", "pymupdf", "pdfplumber")
PEER = Path(__file__).with_name("peer.py")
PEER_SECONDS = 900
QUICK = 4
RUNNING = {"page_header", "page_footer"}
LINE = re.compile(r"[^\n]+")
ITEM = re.compile(r"\s*(?:\[\d{1,3}\]|[•‣◦▪●·–*\-■█❖➢]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]{2,4}[.)])\s+\S")
CHECKS = ("present", "absent", "order")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a file: the text in reading order, its headings and items; None if nobody marked them."""

    text: str
    headings: Sequence[str] | None
    items: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many headings or items a file has, how many were found in it, and how many of those are right."""

    known: int
    found: int
    right: int


async def measure(options: Options) -> Result:
    folder = options.folder("pdf")
    if folder is None:
        return skipped("pdf_pages needs the files of pdf")
    sets = {"tagged": tagged(folder / "tagged/dev"), "docling": labelled(folder / "docling/dev")}
    if options.quick:
        sets = {name: dict(list(files.items())[:QUICK]) for name, files in sets.items()}
    checks = [json.loads(line) for line in (folder / "olmocr_sample/dev/tests.jsonl").read_text("utf-8").splitlines()]
    checked = [folder / "olmocr_sample/dev" / name for name in sorted({one["file"] for one in checks})]
    paths = [path for files in sets.values() for path in files] + checked
    documents = {path: document(path) for path in paths}
    headings = {
        name: {path: found_in(documents[path], known.headings) for path, known in files.items() if known.headings}
        for name, files in sets.items()
    }
    lists = {
        path: items_in(documents[path], known.items) for path, known in sets.get("tagged", {}).items() if known.headings
    }
    systems = ("ragstone", *PEERS) if options.peers else ("ragstone",)
    given = {name: texts_of(name, options.peers, paths) for name in systems}
    texts = {name: one["texts"] for name, one in given.items() if one}
    seconds = {name: float(one["seconds"]) for name, one in given.items() if one}
    alike = {
        system: {
            name: mean(similarity(plain(known.text), plain(text[str(path)])) for path, known in files.items())
            for name, files in sets.items()
        }
        for system, text in texts.items()
    }
    passed = {
        system: {kind: share(kind, checks, folder / "olmocr_sample/dev", text) for kind in CHECKS}
        for system, text in texts.items()
    }
    return summary(headings, lists, alike, passed, seconds)


def document(path: Path) -> Document | None:
    return next((one for one in read_one(path) if isinstance(one, Document)), None)


# ---------------------------------------------------------------- what is true


def tagged(folder: Path) -> dict[Path, Known]:
    """Return what the tags of the files say. Files whose tags name no heading are not asked for headings."""
    found: dict[Path, Known] = {}
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        headings = [text for _, _, text in one["headings"]]
        text = "\n".join(text for _, _, text in one["blocks"])
        items = [text for _, kind, text in one["blocks"] if kind == "LI"]
        found[folder / one["file"]] = Known(text=text, headings=headings or None, items=items or None)
    return found


def labelled(folder: Path) -> dict[Path, Known]:
    """Return what the labels of docling's files say, without running headers and footers."""
    found: dict[Path, Known] = {}
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        headings = [text for label, text in one["labels"] if label in ("section_header", "title")]
        text = "\n".join(text for label, text in one["labels"] if label not in RUNNING)
        found[folder / one["file"]] = Known(text=text, headings=headings)
    return found


# ---------------------------------------------------------------- what is found


def found_in(document: Document | None, known: Sequence[str] | None) -> Count:
    """Compare the headings of a document with the known ones."""
    marks = document.marks if document else ()
    found = [plain(mark.label) for mark in marks if mark.kind == "heading"]
    right = [text for text in map(plain, known or ()) if text]
    return Count(known=len(right), found=len(found), right=matched(right, found))


def items_in(document: Document | None, known: Sequence[str] | None) -> Count:
    """Compare the items of lists in a document with the known ones. Rows of tables and headings are none."""
    others = [mark for mark in document.marks if mark.kind in ("table", "heading")] if document else []
    lines = LINE.finditer(document.text) if document else ()
    outside = (one for one in lines if not any(mark.start <= one.start() < mark.end for mark in others))
    found = [plain(one[0]) for one in outside if ITEM.match(one[0])]
    right = [text for text in map(plain, known or ()) if text]
    return Count(known=len(right), found=len(found), right=matched(right, found))


def texts_of(name: str, python: str, paths: Sequence[Path]) -> dict[str, Any] | None:
    """Return the texts and seconds of a library; None if it is not installed or too slow."""
    progress(f"pdf_pages: {name}")
    interpreter = sys.executable if name == "ragstone" else python
    printed = peer_output(interpreter, PEER, name, paths, seconds=PEER_SECONDS)
    return None if printed is None else json.loads(printed.splitlines()[-1])


def share(kind: str, checks: Sequence[Mapping[str, Any]], folder: Path, texts: Mapping[str, str]) -> float:
    """Return the share of the checks of one kind that pass, in files that have text at all."""
    results: list[bool] = []
    for check in checks:
        text = plain(texts.get(str(folder / check["file"]), ""))
        if check["type"] != kind or not text:
            continue
        if kind == "order":
            before, after = text.find(plain(check["before"])), text.find(plain(check["after"]))
            results.append(0 <= before < after)
            continue
        where = text[-int(check["last_n"]) :] if "last_n" in check else text
        results.append((plain(check["text"]) in where) == (kind == "present"))
    return mean(results) if results else 0.0


# ---------------------------------------------------------------- the results


def rates(headings: Sequence[Count]) -> tuple[float, float]:
    """Return precision and recall over all headings of the files."""
    known, found = sum(one.known for one in headings), sum(one.found for one in headings)
    right = sum(one.right for one in headings)
    return (right / found if found else 0.0), (right / known if known else 0.0)


def summary(
    headings: Mapping[str, Mapping[Path, Count]],
    lists: Mapping[Path, Count],
    alike: Mapping[str, Mapping[str, float]],
    passed: Mapping[str, Mapping[str, float]],
    seconds: Mapping[str, float],
) -> Result:
    """Return the headings by file and in total, and the texts by library."""
    every = [one for files in headings.values() for one in files.values()]
    precision, recall = rates(every)
    of_items = rates([*lists.values()])
    rows = [
        [path.stem[:40], str(one.known), str(one.found), str(one.right)]
        for files in headings.values()
        for path, one in files.items()
    ]
    by_set = {name: rates([*files.values()]) for name, files in headings.items()}
    figures = {
        "headings": {"precision": round(precision, 3), "recall": round(recall, 3)},
        "headings_by_set": {name: [round(one, 3) for one in both] for name, both in by_set.items()},
        "items": {"precision": round(of_items[0], 3), "recall": round(of_items[1], 3)},
        "similarity": {name: {key: round(one, 3) for key, one in sets.items()} for name, sets in alike.items()},
        "checks": {name: {kind: round(one, 3) for kind, one in kinds.items()} for name, kinds in passed.items()},
        "cpu_seconds": {name: round(one, 1) for name, one in seconds.items()},
    }
    texts = [
        [
            name,
            *(f"{one:.3f}" for one in sets.values()),
            *(f"{passed[name][kind]:.2f}" for kind in CHECKS),
            f"{seconds[name]:.1f}",
        ]
        for name, sets in alike.items()
    ]
    return Result(
        figures=figures,
        tables=[
            Table(title="Headings", columns=["file", "known", "found", "right"], rows=rows),
            Table(
                title="Items of lists",
                columns=["file", "known", "found", "right"],
                rows=[[path.stem[:40], str(one.known), str(one.found), str(one.right)] for path, one in lists.items()],
            ),
            Table(title="Text and order", columns=["", *headings, *CHECKS, "CPU s"], rows=texts),
        ],
        notes=[
            f"Of the headings found, {precision:.1%} are right; of those known, {recall:.1%} are found.",
            f"Of the items found, {of_items[0]:.1%} are right; of those known, {of_items[1]:.1%} are found.",
        ],
    )


if __name__ == "__main__":
    main({"pdf_pages": measure}, "pdf_pages")
