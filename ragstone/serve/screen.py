"""Where lines go: to a terminal in colour and wrapped at words, to anything else as plain text.

Everything shown passes `printable` here, once, so that no text of a document or a question can move the
cursor, change colours or reorder what is read.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from ragstone.reports import AddReport, Progress

Part = tuple[str, str]
"""A text and its style, in the words of rich: ``bold``, ``dim``, ``cyan``."""

TOLD_EVERY = 1000
"""Where no terminal listens, progress is told after so many chunks."""

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for tab and line feed, marks that reorder text, and halves of characters."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output, before it is wrapped; what is wrapped stands beside ``head``, not below it."""

    parts: tuple[Part, ...]
    indent: int = 0
    head: Part = ("", "")


def line(*parts: str | Part, indent: int = 0, head: Part = ("", "")) -> Line:
    """A line of texts, each plain or with a style."""
    return Line(tuple(part if isinstance(part, tuple) else (part, "") for part in parts), indent, head)


def printable(text: str) -> str:
    """A text without the characters that a terminal obeys instead of showing."""
    return _UNSAFE.sub("", text)


def one_line(text: str) -> str:
    """A text in which nothing begins a line of its own, such as a false source below an answer."""
    return " ".join(printable(text).split())


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def write(lines: Iterable[Line], stream: TextIO | None = None) -> None:
    """Print lines to standard output, or to ``stream``."""
    out = stream or sys.stdout
    if is_terminal(out):
        _write_styled(lines, out)
        return
    for each in lines:
        head, text = printable(each.head[0]), printable("".join(part for part, _ in each.parts))
        beside = " " * (each.indent + len(head))
        print((" " * each.indent + head + text.replace("\n", "\n" + beside)).rstrip(" "), file=out)


def _write_styled(lines: Iterable[Line], stream: TextIO) -> None:
    # Imported only where a terminal listens: a program that asks for JSON need not wait for it.
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for each in lines:
        head = Text(" " * each.indent).append(printable(each.head[0]), each.head[1])
        text = Text.assemble(*[(printable(part), style) for part, style in each.parts])
        for row in text.wrap(console, max(20, console.width - head.cell_len)):
            row.rstrip()
            console.print(head + row, soft_wrap=True)
            head = Text(" " * head.cell_len)


def write_json(value: Any) -> None:
    """Print one JSON object; what a terminal would obey is written as an escape."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    text = json.dumps(value, ensure_ascii=encoding != "utf8", indent=2)
    print(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def write_error(text: str) -> None:
    """One line on standard error, in the form of every error."""
    write([line(("ragstone: ", "bold red"), one_line(text))], sys.stderr)


@contextmanager
def progress(*, verbose: bool = False, ids_to: TextIO | None = None) -> Iterator[Callable[[Progress], None]]:
    """What an ingest reports to: standard error, moving on a terminal, a line now and then elsewhere.

    Args:
        verbose: print ``added ID`` for every document as soon as it is durable, instead of counts.
        ids_to: where those lines go; standard output if not given.
    """
    started, told = time.perf_counter(), 0

    def counts(now: Progress) -> str:
        spent = max(time.perf_counter() - started, 0.001)
        left = f", about {spent * (1 / now.share - 1):,.0f} s left" if 0 < now.share < 1 else ""
        return f"{now.documents:,} documents, {now.chunks:,} chunks stored ({now.chunks / spent:,.0f} chunks/s{left})"

    def ids(now: Progress) -> None:
        out = ids_to or sys.stdout
        out.write("".join(f"added {one_line(id)}\n" for id in now.committed))
        out.flush()

    def now_and_then(now: Progress) -> None:
        nonlocal told
        if now.chunks >= told + TOLD_EVERY:
            told = now.chunks
            print(counts(now), file=sys.stderr, flush=True)

    if verbose:
        yield ids
    elif not sys.stderr.isatty():
        yield now_and_then
    else:
        with spinner("reading and embedding") as update:
            yield lambda now: update(counts(now))


@contextmanager
def crawling() -> Iterator[Callable[[int, int, AddReport], None]]:
    """What a crawl reports to, on standard error."""
    with spinner("crawling") as update:

        def told(visited: int, waiting: int, report: AddReport) -> None:
            text = f"{visited:,} addresses visited, {waiting:,} waiting; {report.added + report.updated:,} pages stored"
            update(text)
            if not sys.stderr.isatty():
                print(text, file=sys.stderr, flush=True)

        yield told


@contextmanager
def spinner(text: str) -> Iterator[Callable[[str], None]]:
    """A moving line on a terminal's standard error; gives what changes its text, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    # Four times a second: the cores are needed for embedding.
    with Console(stderr=True).status(Text(text), refresh_per_second=4) as status:
        yield lambda now: status.update(Text(now))
