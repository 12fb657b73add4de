"""Tables in reStructuredText: grids, columns between rules, and lists of lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BORDER = re.compile(r"=+(?: +=+)+$")
_RULE = re.compile(r"\+(?:[-=]+\+)+$")


def is_border(line: str) -> bool:
    """Return whether a line is a rule of a simple table, such as ``===  ===``."""
    return bool(_BORDER.match(line))


def grid_table(lines: Sequence[str]) -> tuple[list[list[str]], int | None]:
    """Return the rows of a table drawn with ``+---+`` and bars, and how many are headings, if a rule tells.

    A cell that spans rows belongs to the first of them.
    """
    rows: list[list[str]] = []
    header: int | None = None
    cells: list[str] | None = None
    for line in lines:
        if line.startswith("+"):
            if cells:
                rows.append(cells)
            cells = None
            if line.startswith("+="):
                header = len(rows)
            if not _RULE.match(line):  # A cell continues next to the rule.
                continue
        else:
            parts = [part.strip() for part in line.strip("|").split("|")]
            before = cells or [""] * len(parts)
            cells = [
                f"{a} {b}".strip() for a, b in zip(before, parts + [""] * (len(before) - len(parts)), strict=False)
            ]
    return rows + ([cells] if cells else []), header


def simple_table(lines: Sequence[str]) -> tuple[list[list[str]], int | None]:
    """Return the rows of a table whose columns lie below the runs of its first rule, and how many are headings.

    They stand above a second rule, if there is one before the last.
    """
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    ends = [*starts[1:], None]
    rows: list[list[str]] = []
    header: int | None = None
    for number, line in enumerate(lines[1:], 1):
        if is_border(line) and header is None and number + 1 < len(lines):
            header = len(rows)
        if not line or is_border(line) or set(line) <= {"-", " "}:
            continue
        cells = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        if cells[0] or not rows:
            rows.append(cells)
        else:  # A line without a first cell continues the row above.
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
    return rows, header


def list_table(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a list of lists: ``* -`` begins a row and ``-`` a cell."""
    rows: list[list[str]] = []
    for line in lines:
        words = line.strip()
        if line.startswith("* "):
            rows.append([])
            words = words[2:].strip()
        if not rows:
            continue
        if words == "-" or words.startswith("- "):
            rows[-1].append(words[2:].strip())
        elif words and rows[-1]:
            rows[-1][-1] = f"{rows[-1][-1]} {words}".strip()
    return rows
