"""What all benchmarks share: arguments, tables, child processes, and the page that results are written to."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ragstone.review.significance import Difference
from ragstone.settings import Settings
from ragstone.settings.load import leaves, load

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
DATA = "RAGSTONE_TEST_DATA"
COMMAND = (sys.executable, "-c", "from ragstone.serve.cli.app import main; main()")
"""The command line, followed by its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A heading, the names of the columns, and rows of text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def plain(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in self._all()]
        return "\n".join([self.title, *(line.rstrip() for line in lines)])

    def markdown(self) -> str:
        head, *rows = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in self._all()]
        return "\n".join([f"**{self.title}**", "", head, "|" + "---|" * len(self.columns), *rows])

    def _all(self) -> list[Sequence[str]]:
        return [self.columns, *self.rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a benchmark measured: tables and notes for people, figures for programs, and optionally a plot as SVG."""

    figures: dict[str, Any]
    plot: str = ""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = field(default=())

    def plain(self) -> str:
        return "\n\n".join([*(table.plain() for table in self.tables), *self.notes])

    def markdown(self) -> str:
        return "\n\n".join([*(table.markdown() for table in self.tables), *self.notes])


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command line; ``keep`` is the folder for knowledge bases."""

    quick: bool = False
    keep: Path
    data: Path | None = None
    embedders: tuple[str, ...] = ("minilm",)
    peers: str = ""

    def flags(self) -> str:
        compared = f" --embedders {','.join(self.embedders)}" if self.embedders != ("minilm",) else ""
        return (" --quick" if self.quick else "") + compared + (" --peers PYTHON" if self.peers else "")

    def folder(self, name: str) -> Path | None:
        """Return the folder of a data set, or None if it is not there."""
        return self.data / name if self.data and (self.data / name).exists() else None


Measure = Callable[[Options], Coroutine[Any, Any, Result]]


def main(benchmarks: Mapping[str, Measure], name: str) -> None:
    """Run benchmarks as the command line says; print text, then one line of JSON."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    parser.add_argument("--quick", action="store_true", help="measure less, in about a minute")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the knowledge bases in DIR for the next run")
    parser.add_argument("--embedders", metavar="A,B", default="minilm", help="embedding models; most use the first")
    parser.add_argument("--peers", metavar="PYTHON", default="", help="an interpreter with other document converters")
    parser.add_argument("--write", type=Path, metavar="PAGE", nargs="?", const=PAGE, help=f"write to {PAGE.name}")
    given = parser.parse_args()
    for title in benchmarks if given.write else ():
        _around(given.write, title)  # report a wrong page before an hour is spent
    with ExitStack() as stack:
        keep = given.keep or Path(stack.enter_context(TemporaryDirectory(prefix="ragstone-bench-")))
        embedders = tuple(given.embedders.split(","))
        options = Options(
            quick=given.quick, keep=keep.absolute(), data=data_folder(), embedders=embedders, peers=given.peers
        )
        options.keep.mkdir(parents=True, exist_ok=True)
        figures: dict[str, dict[str, Any]] = {}
        for title, measure in benchmarks.items():
            result = asyncio.run(measure(options))
            print(f"== {title}\n\n{result.plain()}\n", flush=True)
            figures[title] = result.figures
            if given.write and result.tables:
                write(given.write, title, result, f"python -m benchmarks.{title}{options.flags()}")
    print(json.dumps(figures if len(figures) > 1 else figures[name]))


def data_folder() -> Path | None:
    """Return the folder of data sets that the environment names, if any."""
    named = os.environ.get(DATA)
    if named and not Path(named).is_dir():
        sys.exit(f"{DATA} is {named}, which is not a folder")
    return Path(named) if named else None


def skipped(what: str) -> Result:
    """Return the result of a benchmark whose data sets are missing."""
    return unavailable(f"{what}. Set {DATA} to the folder of data sets.")


def unavailable(why: str) -> Result:
    """Return the result of a benchmark that cannot run here."""
    return Result(figures={"skipped": True}, notes=[f"SKIPPED: {why}"])


def progress(message: str) -> None:
    """Print progress to standard error, apart from the results."""
    print(message, file=sys.stderr, flush=True)


def peer_output(python: str, script: Path, name: str, paths: Sequence[Path], *, seconds: float) -> str | None:
    """Return what a script prints that reads files with one library; None if that is not installed, fails or is slow.

    Args:
        python: the interpreter that has the library; Ragstone is read from this checkout.
        script: called with the name of the library and the files.
        name: of the library, such as ``pymupdf``.
        paths: the files.
        seconds: how long it may take.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT) if name == "ragstone" else ""}
    command = [python, str(script), name, *map(str, paths)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment, check=False)
    except subprocess.TimeoutExpired:
        progress(f"{name} took more than {seconds:g} s")
        return None
    if run.returncode:
        progress(f"{name}: {run.stderr.strip().splitlines()[-1:]}")
        return None
    return run.stdout


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(values, percent)) if values else float("nan")


def interval(gain: Difference) -> str:
    return f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"


def child(*words: str, **variables: str) -> Any:
    """Run Python with these arguments in the project's root; return the last line of its output, which is JSON."""
    own = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    run = subprocess.run([sys.executable, *words], cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"{' '.join(words[:2])[:60]} failed: {run.stderr.strip()[-500:]}")
    return json.loads(run.stdout.splitlines()[-1])


def memory_mb(what: str = "VmRSS", pid: int | str = "self") -> float:
    """Return the megabytes that a process holds in memory, or with ``VmHWM`` held at most."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    return float("nan")


def conditions() -> str:
    """Return the date, the machine, and every setting that is not the default."""
    model = next(iter(re.findall(r"^model name\s*: (.+)$", _cpuinfo(), re.MULTILINE)), platform.processor())
    changed = [
        f"{path}={value}"
        for (path, _, value), (_, _, default) in zip(leaves(load().settings), leaves(Settings()), strict=True)
        if value != default
    ]
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} cores, {model.strip()};"
        f" settings: {', '.join(changed) or 'the defaults'}"
    )


def write(page: Path, name: str, result: Result, command: str) -> None:
    """Put a result between the markers of its name and leave the rest of the page as it is."""
    before, after = _around(page, name)
    body = f"`{command}`: {conditions()}.\n\n{result.markdown()}"
    if result.plot:
        page.with_name(f"{name}.svg").write_text(result.plot, encoding="utf-8")
        body += f"\n\n![{name}]({name}.svg)"
    page.write_text(f"{before}\n{body}\n\n{after}", encoding="utf-8")


def _around(page: Path, name: str) -> tuple[str, str]:
    """Return the page up to the end of the first marker, and from the second marker on."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    text = page.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page} must have one line '{begin.strip()}' and one line '{end}'")
    return text.split(begin)[0] + begin, end + text.split(end)[1]


def _cpuinfo() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8") if path.is_file() else ""
