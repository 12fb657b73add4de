"""What it costs to keep up with a folder of documents: the first run, one that finds nothing new, and one in a hundred.

The documents are made up, a chunk each, of words drawn at random: no two are the same, and every vector must be
computed once. The embedder is the one of a new knowledge base.
"""

from __future__ import annotations

import os
import random
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import Options, Result, Table, main, told
from ragstone.engine import Engine
from ragstone.reports import AddReport

DOCUMENTS, QUICK_DOCUMENTS = 2000, 300
TARGET = 2.0
"""Seconds that a run over unchanged documents may take."""
WORDS = (
    "room mill tide river bread garden letter window winter summer engine paper market bridge teacher student music "
    "number colour answer question morning evening table water stone glass house street village island harbour north "
    "south early late small large old new quiet bright open closed green grey red carries finds makes opens closes "
    "keeps leaves reads writes holds turns moves grows falls rises"
)


async def measure(options: Options) -> Result:
    count = QUICK_DOCUMENTS if options.quick else DOCUMENTS
    with TemporaryDirectory(prefix="ragstone-sync-") as place:
        folder = Path(place) / "documents"
        folder.mkdir()
        chance = random.Random(1)
        paths = [folder / f"{number:05}.txt" for number in range(count)]
        for path in paths:
            path.write_text(_document(chance), encoding="utf-8")
        runs: dict[str, tuple[float, AddReport]] = {}
        with closing(Engine.open(Path(place) / "kb", create=True)) as engine:
            for name in ("first", "unchanged", "1% changed"):
                told(f"sync: {name}")
                for path in paths[::100] if name == "1% changed" else ():
                    _change(path, chance)
                started = time.perf_counter()
                report = await engine.sync([str(folder)])
                runs[name] = time.perf_counter() - started, report
    return summary(runs)


def summary(runs: dict[str, tuple[float, AddReport]]) -> Result:
    """A row for each run, and whether the one without changes was fast enough."""
    rows = [
        [name, f"{seconds:.2f}", *(f"{n:,}" for n in (r.added, r.updated, r.unchanged, r.chunks, r.embedded))]
        for name, (seconds, r) in runs.items()
    ]
    columns = ["run", "seconds", "added", "updated", "unchanged", "chunks", "embedded"]
    figures = {
        name: {"seconds": round(seconds, 3), "chunks": report.chunks, "embedded": report.embedded}
        for name, (seconds, report) in runs.items()
    }
    verdict = "met" if runs["unchanged"][0] < TARGET else "MISSED"
    note = f"Target: a run without changes in less than {TARGET:g} s: {verdict}."
    return Result(figures=figures, tables=[Table(title="sync of a folder", columns=columns, rows=rows)], notes=[note])


def _document(chance: random.Random) -> str:
    return "\n\n".join(_paragraph(chance) for _ in range(2))


def _paragraph(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS.split(), k=30)).capitalize() + "."


def _change(path: Path, chance: random.Random) -> None:
    """Another last paragraph; the rest stays. The time is set, for clocks of some disks are coarse."""
    kept = path.read_text(encoding="utf-8").rpartition("\n\n")[0]
    now = path.stat().st_mtime_ns
    path.write_text(f"{kept}\n\n{_paragraph(chance)}", encoding="utf-8")
    os.utime(path, ns=(now + 10**9, now + 10**9))


if __name__ == "__main__":
    main({"sync": measure}, "sync")
