"""The terminal: draws views, reports progress, and shows an answer while it is written.

A terminal gets colours and wrapped lines, anything else plain text. `printable` removes every character from a
document or a question that could move the cursor, change colours or reorder text.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeGuard

from ragstone.core.answers import Answer, Event, TextWritten, answer_in
from ragstone.core.errors import RagstoneError, UsageError
from ragstone.core.printable import escaped, one_line, printable
from ragstone.core.reports import Progress
from ragstone.serve.views.blocks import Block, Line, Section, Table, View, line, parts_of
from ragstone.serve.views.unmarked import unmarked

if TYPE_CHECKING:
    from rich.console import RenderableType

PROGRESS_EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""


# ---------------------------------------------------------------- views


def write(view: View, stream: TextIO | None = None) -> None:
    """Print a view to standard output or to ``stream``."""
    out = stream or sys.stdout
    if out.isatty() or os.environ.get("FORCE_COLOR"):
        _write_styled(view, out)
    else:
        _write_plain(view, out)


def _visible(block: Block) -> TypeGuard[Line | Table | Section]:
    """Return whether a terminal shows a block; tiles, plots and sources are for pages."""
    if isinstance(block, Section):
        return not block.closed and any(map(_visible, block.blocks))
    return isinstance(block, (Line, Table))


def _heading(block: Section) -> Line:
    return line((block.title, "bold"), f": {block.note}" if block.note else "")


def _write_plain(view: View, out: TextIO, indent: int = 0) -> None:
    for block in filter(_visible, view):
        match block:
            case Line():
                head = " " * (block.indent + indent) + printable(block.head[0])
                text = printable("".join(text for text, _ in block.parts))
                print((head + text.replace("\n", "\n" + " " * len(head))).rstrip(" "), file=out)
            case Table():
                rows = [[one_line(column.title) for column in block.columns]]
                rows += [["".join(one_line(text) for text, _ in parts_of(cell)) for cell in row] for row in block.rows]
                widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
                for row in rows:
                    cells = [
                        cell.rjust(width) if column.number else cell.ljust(width)
                        for cell, width, column in zip(row, widths, block.columns, strict=True)
                    ]
                    print((" " * (block.indent + indent) + "  ".join(cells)).rstrip(), file=out)
            case Section():
                print(file=out)
                _write_plain([_heading(block)], out, indent)
                _write_plain(block.blocks, out, indent + 2)


def _write_styled(view: View, out: TextIO) -> None:
    # rich is imported only for a terminal: a program that requests JSON need not wait for it.
    from rich.console import Console

    console = Console(file=out, highlight=False, markup=False, emoji=False)
    for drawn in _styled(view, 0):
        console.print(drawn)


def _styled(view: View, indent: int) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    for block in filter(_visible, view):
        left = indent + (0 if isinstance(block, Section) else block.indent)
        match block:
            case Line():
                head, text = Text(printable(block.head[0]), block.head[1]), Text()
                for part, style in block.parts:
                    text.append(printable(part), "" if style in ("code", "small") else style)
                drawn: RenderableType = text
                if head:  # wrapped text is aligned with the end of the head
                    drawn = grid = Grid.grid()
                    grid.add_column(no_wrap=True)
                    grid.add_column(overflow="fold")
                    grid.add_row(head, text)
                yield Padding(drawn, (0, 0, 0, left), expand=False)
            case Table():
                grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
                for column in block.columns:
                    grid.add_column(
                        one_line(column.title), justify="right" if column.number else "left", no_wrap=column.number
                    )
                for row in block.rows:
                    cells = [
                        Text.assemble(
                            *((one_line(text), "" if style in ("code", "small") else style) for text, style in parts)
                        )
                        for parts in map(parts_of, row)
                    ]
                    grid.add_row(*cells)
                yield Padding(grid, (0, 0, 0, left), expand=False)
            case Section():
                yield ""
                yield from _styled([_heading(block)], indent)
                yield from _styled(block.blocks, indent + 2)


def write_json(value: Any) -> None:
    """Print one JSON object; control characters become escapes."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    print(escaped(json.dumps(value, ensure_ascii=encoding != "utf8", indent=2)))


def show(value: Any, view: View, *, as_json: bool) -> None:
    """Print one JSON object or a view."""
    if as_json:
        write_json(value)
    else:
        write(view)


# ---------------------------------------------------------------- errors


def explain(error: Exception) -> tuple[str, int]:
    """Return the line that explains an error, and the exit code: 2 for wrong usage, otherwise 1."""
    match error:
        case UsageError():
            return str(error), 2
        case RagstoneError():
            return str(error), 1
        case OSError(filename=None):
            return error.strerror or str(error), 1
        case OSError():
            return f"{error.filename}: {error.strerror}", 1
        case _ if hasattr(error, "format_message"):
            return _wrong_usage(error), 2
        case _:
            kind = type(error).__name__
            return f"unexpected {kind}: {error}; to see the traceback, put --debug before the command", 1


def _wrong_usage(error: Any) -> str:
    # The parser's own errors; their class is typer's or click's, depending on typer's version.
    path: str = error.ctx.command_path if error.ctx else "ragstone"
    message: str = error.format_message().strip().rstrip(".")
    if "extra argument" in message and path.endswith((" ask", " search")):
        return f"{message}; put the question in quotes"
    return f"{message}; see: {path} --help"


def write_error(text: str) -> None:
    """Print one line to standard error, in the form of every error."""
    write([line(("ragstone: ", "bold red"), one_line(text))], sys.stderr)


# ---------------------------------------------------------------- progress


@contextmanager
def progress(*, verbose: bool = False, ids_to: TextIO | None = None) -> Generator[Callable[[Progress], None]]:
    """Yield the function that an ingest reports its progress to.

    Progress goes to standard error: a moving line on a terminal, occasional lines elsewhere.

    Args:
        verbose: print ``added ID`` for every document once it is durable, instead of counts.
        ids_to: the stream for these lines; standard output by default.
    """
    from ragstone.serve.views.stored import progress_line

    printed = 0.0

    def ids(now: Progress) -> None:
        out = ids_to or sys.stdout
        out.write("".join(f"added {one_line(id)}\n" for id in now.committed))
        out.flush()

    def now_and_then(now: Progress) -> None:
        nonlocal printed
        if now.seconds >= printed + PROGRESS_EVERY:
            printed = now.seconds
            print(progress_line(now), file=sys.stderr, flush=True)

    if verbose:
        yield ids
    elif not sys.stderr.isatty():
        yield now_and_then
    else:
        with spinner("reading and embedding") as update:
            yield lambda now: update(progress_line(now, _columns()))


def _columns() -> int:
    """Return how many characters follow the spinner in a line of the terminal."""
    return shutil.get_terminal_size().columns - 3


@contextmanager
def spinner(text: str) -> Generator[Callable[[str], None]]:
    """Show a moving line on a terminal's standard error; yield the function that changes its text."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    # Four times a second: the cores are needed for embedding.
    with Console(stderr=True).status(Text(text), refresh_per_second=4) as status:
        yield lambda now: status.update(Text(now))


async def watch(events: AsyncGenerator[Event], *, quiet: bool = False) -> Answer:
    """Return the answer of a stream; a terminal shows its words as they arrive, and clears them at the end."""
    text = ""
    with _area(quiet=quiet) as show:

        async def heard(event: Event) -> None:
            nonlocal text
            if isinstance(event, TextWritten):
                text += event.text
                show(text)

        return await answer_in(events, heard)


@contextmanager
def _area(*, quiet: bool) -> Generator[Callable[[str], None]]:
    """Yield the function that replaces the text shown on a terminal; elsewhere it shows nothing."""
    if quiet or not sys.stdout.isatty():
        yield lambda _: None
        return
    from rich.live import Live
    from rich.text import Text

    with Live(Text(""), refresh_per_second=12, transient=True) as live:
        yield lambda text: live.update(Text(printable(unmarked(text))))
