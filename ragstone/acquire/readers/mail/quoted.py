"""The plain text of a message: its own words first, and earlier messages that it quotes below the line about them.

Programs write ">" before each line of an earlier message, once for each message in between, and a line such as "On 3
May, Ann wrote:" above it. Without these marks a quoted message reads as it did when it was sent, and its line becomes
the heading of its text. No word is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from ragstone.acquire.readers.parsed import Writer
from ragstone.core.frozen import frozen
from ragstone.core.headings import MESSAGE_LEVEL

_MARKS = re.compile(r"(?:>[ \t]?)+")
_DATE_OR_ADDRESS = re.compile(r"\d|@")
_LONGEST_LINE, _MOST_LINES, _FEW_WORDS = 200, 3, 4
"""Characters of the line about a message, lines over which programs wrap it, and words of one without a date."""
_SIGNATURE = "--"


@frozen
class _Part:
    """The lines of one message within another, without their marks; ``depth`` is the number of messages around it."""

    depth: int
    lines: Sequence[str]


def write_plain(writer: Writer, text: str) -> None:
    """Write the plain text of a message, with the line about each quoted message as a heading above it.

    If words follow below what they quote, the marks remain: they tell who says what.
    """
    parts = list(_parts(text))
    if any(below.depth < above.depth for above, below in pairwise(parts)):
        writer.paragraph(text)
        return
    about: list[str] = []
    for part, below in zip(parts, [*parts[1:], None], strict=True):
        lines = [*part.lines]
        if part.depth and not about:
            about = _about(lines, first=True)
            lines = lines[len(about) :]
        writer.heading(" ".join(about).rstrip(" :："), MESSAGE_LEVEL)
        about = _about(lines, first=False) if below else []
        writer.paragraph("\n".join(lines[: len(lines) - len(about)]))


def unflowed(text: str) -> str:
    """Return a text of ``format=flowed`` with each paragraph on one line, as its author wrote it."""
    joined: list[tuple[int, str]] = []
    goes_on = False
    for depth, line in map(_depth_and_line, text.splitlines()):
        words = line if depth else line.removeprefix(" ")  # a space protects "From" and ">" at the beginning
        if goes_on and joined[-1][0] == depth:
            joined[-1] = (depth, joined[-1][1] + words)
        else:
            joined.append((depth, words))
        goes_on = words.endswith(" ") and words.rstrip() != _SIGNATURE
    return "\n".join(f"{'>' * depth} {line}" if depth else line for depth, line in joined)


def _parts(text: str) -> Iterator[_Part]:
    """Yield the messages in a text that have words, the text itself first."""
    lines = [(depth, line.rstrip()) for depth, line in map(_depth_and_line, text.splitlines())]
    # Some programs write no mark before an empty line.
    depths = [depth for depth, _ in lines]
    for at in range(1, len(lines)):
        if not lines[at][1]:
            depths[at] = depths[at - 1]
    for depth, some in groupby(zip(depths, lines, strict=True), key=lambda one: one[0]):
        written = [line for _, (_, line) in some]
        if any(written):
            yield _Part(depth=depth, lines=_trimmed(written))


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Return lines without empty ones at both ends."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return [*lines[filled[0] : filled[-1] + 1]]


def _depth_and_line(line: str) -> tuple[int, str]:
    """Return how many marks of quotation begin a line, and the line without them."""
    marks = _MARKS.match(line)
    return (marks.group().count(">"), line[marks.end() :]) if marks else (0, line)


def _about(lines: Sequence[str], *, first: bool) -> list[str]:
    """Return the lines that say who wrote the message below, which are the first or the last of a part; or none."""
    ordered = lines if first else [*reversed(lines)]
    found: list[str] = []
    for line in ordered[:_MOST_LINES]:
        if not line.strip():
            break
        found = [*found, line] if first else [line, *found]
        words = " ".join(found)
        is_whole = words.rstrip().endswith((":", "："))
        if first and not is_whole:
            continue
        if not is_whole or len(words) > _LONGEST_LINE:
            return []
        if _DATE_OR_ADDRESS.search(words) or len(words.split()) <= _FEW_WORDS:
            return found if first else _with_wrapped(lines, found)
    return []


def _with_wrapped(lines: Sequence[str], found: list[str]) -> list[str]:
    """Return the last lines of a paragraph, all of them if it is only one line that a program wrapped."""
    before = lines[: len(lines) - len(found)]
    while before and before[-1].strip() and len(found) < _MOST_LINES:
        found, before = [before[-1], *found], before[:-1]
    is_own = not before or not before[-1].strip()
    return found if is_own and len(" ".join(found)) <= _LONGEST_LINE else [*lines[-1:]]
