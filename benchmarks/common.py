"""What the benchmarks share: arguments, tables, facts about the machine, and the page they are written to."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ragstone.config import leaves, load
from ragstone.sections import Settings

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
DATA = "RAGSTONE_TEST_DATA"


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
    """What a benchmark found: tables and notes for people, figures for programs; ``plot`` is an SVG."""

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
    """What the command line asks for. ``keep`` is where knowledge bases are kept; ``embedders`` are compared."""

    quick: bool = False
    keep: Path
    data: Path | None = None
    embedders: tuple[str, ...] = ("minilm",)

    def flags(self) -> str:
        compared = f" --embedders {','.join(self.embedders)}" if self.embedders != ("minilm",) else ""
        return (" --quick" if self.quick else "") + compared


Measure = Callable[[Options], Coroutine[Any, Any, Result]]


def main(benchmarks: Mapping[str, Measure], name: str) -> None:
    """Run benchmarks as the command line says: text, then one line of JSON."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    parser.add_argument("--quick", action="store_true", help="less of everything, in about a minute")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the knowledge bases there for the next run")
    parser.add_argument("--embedders", metavar="A,B", default="minilm", help="to compare; answers use the first")
    parser.add_argument("--write", type=Path, metavar="PAGE", nargs="?", const=PAGE, help=f"write to {PAGE.name}")
    given = parser.parse_args()
    for title in benchmarks if given.write else ():
        _around(given.write, title)  # what is wrong with the page is said before the hour is spent
    with ExitStack() as stack:
        keep = given.keep or Path(stack.enter_context(TemporaryDirectory(prefix="ragstone-bench-")))
        embedders = tuple(given.embedders.split(","))
        options = Options(quick=given.quick, keep=keep, data=data_folder(), embedders=embedders)
        figures = {}
        for title, measure in benchmarks.items():
            result = asyncio.run(measure(options))
            print(f"== {title}\n\n{result.plain()}\n", flush=True)
            figures[title] = result.figures
            if given.write and result.tables:
                write(given.write, title, result, f"python -m benchmarks.{title}{options.flags()}")
    print(json.dumps(figures if len(figures) > 1 else figures[name]))


def data_folder() -> Path | None:
    """The folder of data sets, if the environment names one."""
    named = os.environ.get(DATA)
    if named and not Path(named).is_dir():
        sys.exit(f"{DATA} is {named}, which is not a folder")
    return Path(named) if named else None


def skipped(what: str) -> Result:
    """Said in place of what needs the data sets where there are none."""
    return Result(figures={"skipped": True}, notes=[f"SKIPPED: {what}. Set {DATA} to the folder of data sets."])


def told(message: str) -> None:
    """Progress, apart from the results."""
    print(message, file=sys.stderr, flush=True)


def conditions() -> str:
    """Date, machine, and every setting that is not the default and would change the figures."""
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
    """Put a result between the markers of its name; the rest of the page stays."""
    before, after = _around(page, name)
    body = f"`{command}`: {conditions()}.\n\n{result.markdown()}"
    if result.plot:
        page.with_name(f"{name}.svg").write_text(result.plot, encoding="utf-8")
        body += f"\n\n![{name}]({name}.svg)"
    page.write_text(f"{before}\n{body}\n\n{after}", encoding="utf-8")


def _around(page: Path, name: str) -> tuple[str, str]:
    """The page up to the end of the first marker, and from the second on."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    text = page.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page} must have one line '{begin.strip()}' and one line '{end}'")
    return text.split(begin)[0] + begin, end + text.split(end)[1]


def _cpuinfo() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8") if path.is_file() else ""
