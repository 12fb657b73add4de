"""Reading documents: what becomes of good and broken files, and pages per second of CPU time.

``--peers PYTHON`` names an interpreter with other converters; those installed there read the same files in the
same run: markitdown, and pypdf with python-docx.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.common import PAGE as PAGE_OF_ALL
from benchmarks.common import Result, Table, data_folder, skipped, told, write
from ragstone.acquire import read
from ragstone.contracts import Document, Skipped
from ragstone.sections import AcquireSettings

KINDS = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".html": "html",
    ".ipynb": "ipynb",
    ".epub": "epub",
}
QUICK = 30
PAGE = 3000
"""Characters that count as a page where the format has none."""
PEER_SECONDS = 300
PEER = Path(__file__).with_name("parsing_peer.py")


def measure(peers: str | None, *, quick: bool) -> Result:
    data = data_folder()
    if data is None:
        return skipped("parsing_corpus")
    folder = data / "parsing_corpus" / "dev"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "expected")
    files = files[:: max(1, len(files) // QUICK)] if quick else files
    given = {path: read_one(path) for path in files}
    outcomes = Counter(outcome(one) for results in given.values() for one in results)
    speeds, tables, notes = {}, [], []
    good = {
        kind: [path for path in files if KINDS.get(path.suffix) == kind and usable(path)] for kind in KINDS.values()
    }
    for kind, paths in good.items():
        if paths:
            told(f"{kind}: {len(paths)} files")
            speeds[kind] = speed(paths, peers)
    names = sorted({name for one in speeds.values() for name in one["cpu_s"] if name != "ragstone"})
    if not names:
        notes.append("No ratio to other converters: name an interpreter that has them with --peers PYTHON.")
    tables.append(Table(title="What became of the files", columns=["outcome", "files"], rows=as_rows(outcomes)))
    tables.append(
        Table(
            title="Pages per second of CPU time, and how many times those of others",
            columns=["kind", "files", "pages", "ragstone", *(f"times {name}" for name in names)],
            rows=[
                [kind, str(one["files"]), str(one["pages"]), f"{one['pages_per_cpu_s']:.0f}",
                 *(f"{one['ratio'][name]:.1f}" if name in one["ratio"] else "-" for name in names)]
                for kind, one in speeds.items()
            ],
        )
    )  # fmt: skip
    tables.append(each_file(given))
    figures = {"files": len(files), **{name: outcomes[name] for name in OUTCOMES}, "speed": speeds}
    return Result(figures=figures, tables=tables, notes=notes)


OUTCOMES = ("parsed", "partial", "typed_errors", "crashed", "hung")


def outcome(result: Document | Skipped) -> str:
    if isinstance(result, Document):
        return "partial" if "partial" in result.metadata else "parsed"
    return (
        "crashed" if result.reason.startswith("crashed") else "hung" if "took more" in result.reason else "typed_errors"
    )


def each_file(given: Mapping[Path, list[Document | Skipped]]) -> Table:
    """What each file gave, and why it gave no more."""
    rows = []
    for path, results in given.items():
        for one in results:
            text = isinstance(one, Document)
            told = f"{len(one.text):,} characters" if text else one.reason.partition("; known are")[0]
            rows.append([path.name, outcome(one), told])
    return Table(title="What each file gave", columns=["file", "outcome", ""], rows=rows)


def read_one(path: Path) -> list[Document | Skipped]:
    results = read(str(path), AcquireSettings(), base=path.parent)
    return [one for one in results if isinstance(one, Document | Skipped)]


def usable(path: Path) -> bool:
    """Whether a file is worth timing: the hand-built broken ones have a line of text each."""
    return path.stat().st_size > 1000 and all(isinstance(one, Document) for one in read_one(path))


def pages(documents: Iterable[Document | Skipped]) -> float:
    return sum(
        float(str(one.metadata.get("pages", max(1, round(len(one.text) / PAGE)))))
        for one in documents
        if isinstance(one, Document)
    )


def speed(paths: list[Path], peers: str | None) -> dict[str, Any]:
    """CPU seconds for some files, each converter in one new process of its own, its imports not counted."""
    count = sum(pages(read_one(path)) for path in paths)
    cpu = {"ragstone": cpu_seconds(sys.executable, "ragstone", paths)}
    for name in ("markitdown", "pypdf+python-docx") if peers else ():
        if (took := cpu_seconds(peers or "", name, paths)) is not None:
            cpu[name] = took
    ours = cpu["ragstone"] or 1e-9
    return {
        "files": len(paths),
        "pages": round(count),
        "pages_per_cpu_s": round(count / ours, 1),
        "cpu_s": {name: round(took, 3) for name, took in cpu.items() if took is not None},
        "ratio": {name: round(took / ours, 2) for name, took in cpu.items() if name != "ragstone" and took is not None},
    }


def cpu_seconds(python: str, name: str, paths: list[Path]) -> float | None:
    """Nothing where the converter is not installed, cannot read the kind, or takes too long."""
    command = [python, str(PEER), name, *map(str, paths)]
    environment = {**os.environ, "PYTHONPATH": str(PEER.parent.parent) if name == "ragstone" else ""}
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=PEER_SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        told(f"{name}: more than {PEER_SECONDS} s")
        return None
    if run.returncode:
        told(f"{name}: {run.stderr.strip().splitlines()[-1:]}")
        return None
    seconds, failed = run.stdout.split()[-2:]
    if int(failed):
        told(f"{name}: {failed} of {len(paths)} files failed")
    return float(seconds)


def as_rows(counts: Mapping[str, int]) -> list[list[str]]:
    return [[name, str(counts.get(name, 0))] for name in OUTCOMES]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parsing")
    parser.add_argument("--quick", action="store_true", help="about thirty files")
    parser.add_argument("--peers", metavar="PYTHON", help="an interpreter with other converters")
    parser.add_argument("--write", action="store_true", help=f"write to {PAGE_OF_ALL.name}")
    given = parser.parse_args()
    result = measure(given.peers, quick=given.quick)
    if given.write:
        write(PAGE_OF_ALL, "parsing", result, "python -m benchmarks.parsing --peers PYTHON")
    print(f"== parsing\n\n{result.plain()}\n")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(json.dumps({**result.figures, "children_peak_mb": round(peak)}))


if __name__ == "__main__":
    main()
