"""Markdown: the text as it is written, with its headings, code and tables marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, time
from itertools import islice, pairwise
from typing import cast

from ragstone.acquire.metadata.head import front_matter
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.tables.fields import Json, as_fact, typed
from ragstone.acquire.readers.text.plain import text_of
from ragstone.core.catalog import FIELDS
from ragstone.core.filters import Scalar
from ragstone.core.named_groups import is_access_name
from ragstone.core.reading import PARTIAL
from ragstone.core.records import BOOKKEEPING, Mark

# A line may be millions of characters long, so every pattern takes time linear in its length.
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})([^`]*)$")
_HASHES = re.compile(r" {0,3}(#{1,6})(?=[ \t])")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_NO_PARAGRAPH = re.compile(r"\s*(?:$|[-*+>|#=]|\d+[.)]\s)")
_DELIMITER_ROW = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_HEADING_ALONE = re.compile(r"(?:\A|\n[ \t]*\n) {0,3}(#{1,6})[ \t]+\w[^\n]*(?=\n[ \t]*\n)")
_TABLE = re.compile(r"\n\|[^\n]*\|[ \t]*\n\|(?:[ \t]*:?-{3,}:?[ \t]*\|){2,}[ \t]*\n\|")
_LOOKED_AT = 200_000
"""Characters in which headings and tables are looked for."""
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()]{0,1000}\)")
_MOST_FACTS, _LONGEST_FACT = 40, 400
_RESERVED = BOOKKEEPING | {*FIELDS, PARTIAL}
"""Keys that say what the file is, not what its author wants known of it."""


def parse(file: File) -> Parsed:
    """Return a Markdown file without its front matter. Its title comes from there, or else from its first heading.

    The other entries of the front matter become facts, except those that name who may read the document. It is the text
    only of a file that has no other.
    """
    return _parsed(file, *text_of(file))


def parse_any_text(file: File) -> Parsed:
    """Return a file whose name does not say that it is Markdown, as that if its headings or tables do."""
    text, facts = text_of(file)
    return _parsed(file, text, facts) if _is_markdown(text) else Parsed(text=text, facts={"kind": "text", **facts})


def _is_markdown(text: str) -> bool:
    """Return whether a text has headings of several levels, each between empty lines, or a table between bars."""
    start = text[:_LOOKED_AT]
    levels = {len(found[1]) for found in _HEADING_ALONE.finditer(start)}
    return len(levels) > 1 or _TABLE.search(start) is not None


def _parsed(file: File, text: str, facts: Mapping[str, Scalar]) -> Parsed:
    front = front_matter(text)
    if front and (body := text[front.end :].lstrip("\n")).strip():
        text = body
    fields: Mapping[str, object] = front.fields if front else {}
    title = next((str(value) for name, value in fields.items() if name.lower() == "title"), "")
    own = _facts(fields, file.settings.access.column)
    return Parsed(text=text, title=title, marks=find_marks(text), facts={**own, "kind": "markdown", **facts})


def find_marks(text: str) -> tuple[Mark, ...]:
    """Return the headings, code blocks and tables of a Markdown text.

    A code block spans its code without the fences; a heading spans the line of its words.
    """
    return tuple(_Scan(text).marks())


def _facts(fields: Mapping[str, object], column: str) -> dict[str, Scalar | tuple[Scalar, ...]]:
    """Return the entries of front matter as metadata, of the types that cells of a table would have."""
    facts: dict[str, Scalar | tuple[Scalar, ...]] = {}
    for name, value in islice(fields.items(), _MOST_FACTS):
        key, fact = name.lower().replace("-", "_"), _fact(value)
        is_own = key not in _RESERVED and not is_access_name(key, column)
        if is_own and fact is not None and len(str(fact)) <= _LONGEST_FACT:
            facts.setdefault(key, fact)
    return facts


def _fact(value: object) -> Scalar | tuple[Scalar, ...] | None:
    match value:
        case str():
            return as_fact(typed(value))
        case date() | time():
            return value.isoformat()
        case list():
            return as_fact([typed(one) if isinstance(one, str) else one for one in cast("list[Json]", value)])
        case _:
            return as_fact(cast("Json", value))


class _Scan:
    """A single pass over the lines of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        front = front_matter(text)
        first = front.end if front else 0
        starts = [first, *(match.end() for match in re.finditer("\n", text[first:]))]
        starts = [starts[0], *(start + first for start in starts[1:])]
        # A line ends before its line break.
        self.lines = [(a, b - 1) for a, b in pairwise([*starts, len(text) + 1])]

    def line(self, number: int) -> str:
        start, end = self.lines[number]
        return self.text[start:end]

    def marks(self) -> Iterator[Mark]:
        number = 0
        paragraph = in_list = False
        while number < len(self.lines):
            line = self.line(number)
            found, number_after = self._block_at(number, paragraph=paragraph, in_list=in_list)
            if found:
                yield found
            if not line.strip() or number_after > number + 1 or found:
                paragraph = False
            else:
                paragraph = not _NO_PARAGRAPH.match(line)
                # A list ends at the first line at the margin that is not an item.
                in_list = bool(_ITEM.match(line)) or (in_list and line[:1] in " \t")
            number = number_after

    def _block_at(self, number: int, *, paragraph: bool, in_list: bool) -> tuple[Mark | None, int]:
        """Return the block that begins at a line, if any, and the number of the line after it."""
        line = self.line(number)
        if (fence := _FENCE.match(line)) and (in_list or len(fence[1].expandtabs(4)) < 4):
            return self._fenced(number, fence[2], fence[3])
        if (hashes := _HASHES.match(line)) and (words := _without_closing(line[hashes.end() :])):
            return self._heading(number, len(hashes[1]), words), number + 1
        if number + 1 < len(self.lines):
            below = self.line(number + 1)
            starts = not _NO_PARAGRAPH.match(line) and not _INDENTED.match(line)
            if starts and not paragraph and (rule := _UNDERLINE.match(below)):
                return self._heading(number, 1 if rule[1][0] == "=" else 2, line), number + 2
            if "|" in line and "|" in below and _DELIMITER_ROW.match(below):
                return self._table(number)
        if not paragraph and not in_list and _INDENTED.match(line):
            return self._indented(number)
        return None, number + 1

    def _heading(self, number: int, level: int, words: str) -> Mark:
        start, end = self.lines[number]
        return Mark(kind="heading", start=start, end=end, level=level, label=_plain(words))

    def _fenced(self, number: int, fence: str, info: str) -> tuple[Mark | None, int]:
        last = number + 1
        while last < len(self.lines):
            line = self.line(last).strip()
            if line.startswith(fence) and not line.strip(fence[0]):
                break
            last += 1
        return self._code(number + 1, last, _language(info)), last + 1

    def _indented(self, number: int) -> tuple[Mark | None, int]:
        last = number
        while last < len(self.lines) and (_INDENTED.match(self.line(last)) or not self.line(last).strip()):
            last += 1
        after = last
        while not self.line(last - 1).strip():
            last -= 1
        return self._code(number, last, ""), after

    def _code(self, first: int, last: int, language: str) -> Mark | None:
        """Return the mark of the code in these lines, the last excluded; None if they are blank."""
        if first >= last or first >= len(self.lines):
            return None
        start, end = self.lines[first][0], self.lines[last - 1][1]
        return Mark(kind="code", start=start, end=end, label=language) if self.text[start:end].strip() else None

    def _table(self, number: int) -> tuple[Mark, int]:
        last = number + 2
        while last < len(self.lines) and "|" in self.line(last):
            last += 1
        return Mark(kind="table", start=self.lines[number][0], end=self.lines[last - 1][1], header=1), last


def _plain(heading: str) -> str:
    """Return the words of a heading without links, emphasis and code."""
    return re.sub(r"[*`]|\\(?=\W)", "", _LINK.sub(r"\1", heading)).strip()


def _without_closing(words: str) -> str:
    """Return the words of a heading without closing hashes."""
    words = words.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else words


def _language(info: str) -> str:
    """Return the language of a fence: ``python``, ``{.python}``, or ``{code-block} python``."""
    words = info.split()
    if len(words) > 1 and words[0].startswith("{") and words[0].endswith("}"):
        return words[1]
    return words[0].strip("{}.") if words else ""
