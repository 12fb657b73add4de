"""reStructuredText: the words of a page without its markup.

We read each file on its own and include nothing from other files; an unknown directive gives the text inside it.
docutils 0.23 does not know the directives of Sphinx: on the 65 pages of CUDA-Q it loses 9,900 of 45,800 words and 236
of 382 code blocks, and it takes 15 times as long. Sphinx itself needs the whole project and its extensions.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragstone.acquire.readers.numbers import whole
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text.plain import text_of
from ragstone.acquire.readers.text.restructured_table import grid_table, is_border, list_table, simple_table

_ADORNMENT = re.compile(r"([!-/:-@[-`{-~])\1*$")
_DIRECTIVE = re.compile(r"([\w:.+-]+?)::(?:[ \t]+(.*))?$")
_SUBSTITUTION = re.compile(r"\|[^|]{1,200}\|[ \t]")
_FOOTNOTE = re.compile(r"\[[^\]]{1,100}\][ \t]+")
_OPTION = re.compile(r":[\w-][\w -]*:(?:[ \t]|$)")
_ITEM = re.compile(r"(?:[-*+•]|\(?(?:\d{1,9}|[a-zA-Z]|#)[.)])(?:[ \t]+|$)")
_INLINE = [
    (re.compile(r"``([^`]+)``"), r"\1"),
    (re.compile(r":[a-z][\w:+.-]{0,40}:`[!~]?([^`]{1,2000}?)(?:\s{1,20}<[^`<>]{1,1000}>)?`"), r"\1"),
    (re.compile(r"`([^`]{1,2000}?)(?:\s{1,20}<[^`<>]{1,1000}>)?`(?:__?)?"), r"\1"),
    (re.compile(r"(?<![\w*])\*\*([^*\n]+)\*\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w*])\*([^*\s][^*\n]*)\*(?![\w*])"), r"\1"),
    (re.compile(r"(\[[^\]\s]{1,100}\])_\b"), r"\1"),
    (re.compile(r"\\[ \n]|\\(?=[*`_|\\])"), ""),
]
_CODE = {"code", "code-block", "sourcecode", "parsed-literal", "prompt", "ipython", "testcode", "highlight-code"}
_NOTHING = {
    "toctree", "image", "include", "literalinclude", "raw", "role", "contents", "index", "highlight", "meta",
    "default-role", "nbgallery", "sectnum", "currentmodule", "tabularcolumns", "testsetup", "testcleanup", "figure-md",
}  # fmt: skip
_DEEPEST = 40


def parse(file: File) -> Parsed:
    """Return a reStructuredText file. Its first heading is its title."""
    text, facts = text_of(file)
    return replace(parse_text(text), facts={"kind": "restructuredtext", **facts})


def parse_text(text: str) -> Parsed:
    """Return the words of a page, with headings, code and tables marked."""
    page = _Page()
    page.read([line.expandtabs(8).rstrip() for line in text.split("\n")], depth=0)
    return page.writer.parsed()


class _Page:
    def __init__(self) -> None:
        self.writer = Writer()
        self.styles: list[str] = []

    def read(self, lines: Sequence[str], *, depth: int) -> None:
        """Write the blocks of lines without their common indentation."""
        number = 0
        while number < len(lines):
            line = lines[number]
            if not line:
                number += 1
            elif line[0] == " ":
                end = _end_of_indented(lines, number)
                self._inside(lines[number:end], depth)
                number = end
            elif line == ".." or line.startswith(".. ") or line.startswith("__ "):
                end = _end_of_indented(lines, number + 1)
                if not line.startswith("__ "):
                    self._explicit(line[3:].strip(), lines[number + 1 : end], depth)
                number = end
            else:
                number = self._heading(lines, number) or self._table(lines, number) or self._text(lines, number, depth)

    def _inside(self, lines: Sequence[str], depth: int) -> None:
        if depth < _DEEPEST:
            self.read(_dedented(lines), depth=depth + 1)
        else:
            self.writer.paragraph("\n".join(lines))

    def _heading(self, lines: Sequence[str], number: int) -> int | None:
        """Write the heading that begins here, and return the line after it; a new underline is one level deeper."""
        line, below = lines[number], lines[number + 1] if number + 1 < len(lines) else ""
        under = lines[number + 2] if number + 2 < len(lines) else ""
        if _ADORNMENT.match(line) and len(line) > 1 and below and under == line:
            style, words, after = line[0] * 2, below.strip(), number + 3
        elif _ADORNMENT.match(below) and not _ADORNMENT.match(line) and len(below) >= min(len(line), 4):
            style, words, after = below[0], line, number + 2
        elif _ADORNMENT.match(line) and len(line) >= 4 and not below:
            return number + 1  # A horizontal rule.
        else:
            return None
        if style not in self.styles:
            self.styles.append(style)
        self.writer.heading(_inline(words), self.styles.index(style) + 1)
        return after

    def _table(self, lines: Sequence[str], number: int) -> int | None:
        line = lines[number]
        if line.startswith("+-"):
            end = number
            while end < len(lines) and lines[end][:1] in ("+", "|") and lines[end]:
                end += 1
            rows, header = grid_table(lines[number:end])
            self.writer.table(_plain_cells(rows), header=header)
            return end
        if is_border(line):
            borders = [n for n in range(number, _end_of_table(lines, number)) if is_border(lines[n])]
            end = borders[-1] + 1
            rows, header = simple_table(lines[number:end])
            self.writer.table(_plain_cells(rows), header=header)
            return end
        return None

    def _text(self, lines: Sequence[str], number: int, depth: int) -> int:
        """Write a paragraph, a list item or a field, and return the line after it."""
        line = lines[number]
        if item := _ITEM.match(line):
            end = _end_of_indented(lines, number + 1)
            first = [line[item.end() :], *_dedented(lines[number + 1 : end])]
            stop = first.index("") if "" in first else len(first)
            text = _inline("\n".join(first[:stop]))
            literal = text.endswith("::")
            self.writer.line(f"{item[0].strip()} {text.removesuffix(':') if literal else text}")
            if literal:
                self.writer.code("\n".join(_dedented(first[stop:])))
            else:
                self._inside(first[stop:], depth)
            return end
        if _OPTION.match(line) and line.count(":") >= 2 and "`" not in line.split(":", 2)[1]:
            end = _end_of_indented(lines, number + 1)
            words = line.split(":", 2)[2].strip()
            if words:  # A field without a value, such as :orphan:, says nothing.
                self.writer.line(_inline("\n".join([line.strip(":"), *_dedented(lines[number + 1 : end])])))
            return end
        end = number
        while end < len(lines) and lines[end] and (end == number or lines[end][0] != " "):
            end += 1
        text = "\n".join(lines[number:end])
        if text.startswith(">>> "):
            self.writer.code(text, "python")
            return end
        if not text.endswith("::"):
            self.writer.paragraph(_inline(text))
            return end
        self.writer.paragraph(_inline(text[:-1] if text[-3:-2].strip() else text[:-2]))
        after = _end_of_indented(lines, end)
        self.writer.code("\n".join(_dedented(lines[end:after])))
        return after

    def _explicit(self, head: str, body: Sequence[str], depth: int) -> None:
        """Write what follows two dots: a directive or a footnote. Comments and targets say nothing."""
        if _FOOTNOTE.match(head):
            self.writer.paragraph(_inline("\n".join([head, *_dedented(body)])))
            return
        directive = _DIRECTIVE.match(head)
        if not directive or _SUBSTITUTION.match(head) or head.startswith("_"):
            return
        name, argument = directive[1].lower(), (directive[2] or "").strip()
        body, options = [*_dedented(body)], dict[str, str]()
        while body and (not body[0] or _OPTION.match(body[0])):
            option, _, value = body.pop(0).lstrip(":").partition(":")
            options[option] = value.strip()
        if name in _NOTHING:
            return
        if name in _CODE:
            # Some pages have the code itself in place of the language.
            one_word = len(argument.split()) < 2
            self.writer.code("\n".join(body if one_word else [argument, *body]), argument if one_word else "")
        elif name == "list-table":
            self.writer.table(_plain_cells(list_table(body)), caption=_inline(argument), header=_header_rows(options))
        elif name == "csv-table":
            headings = _csv_rows([options["header"]]) if options.get("header") else []
            header = len(headings) + (_header_rows(options) or 0)
            rows = _plain_cells([*headings, *_csv_rows(body)])
            self.writer.table(rows, caption=_inline(argument), header=header or None)
        elif name == "math":
            self.writer.paragraph("\n".join([argument, *body]))
        else:
            if name != "figure" and not name.startswith("only"):
                self.writer.paragraph(_inline(argument))
            self._inside(body, depth)


def _inline(text: str) -> str:
    """Return the words of a text without roles, links, emphasis and literals."""
    for pattern, words in _INLINE:
        text = pattern.sub(words, text)
    return text


def _header_rows(options: Mapping[str, str]) -> int | None:
    return whole(options.get("header-rows"), None, 999)


def _csv_rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a CSV table; if it cannot be read, one row per line."""
    try:
        return list(csv.reader(lines))
    except csv.Error:  # such as a cell beyond 131,072 characters
        return [[line] for line in lines]


def _plain_cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[_inline(cell) for cell in row] for row in rows]


def _end_of_indented(lines: Sequence[str], number: int) -> int:
    """Return the first line from here on that is neither indented nor blank."""
    while number < len(lines) and (not lines[number] or lines[number][0] == " "):
        number += 1
    return number


def _end_of_table(lines: Sequence[str], number: int) -> int:
    """Return the line after a simple table, which ends with a border before a blank line or the end."""
    borders = 0
    for n in range(number, len(lines)):
        borders += is_border(lines[n])
        if borders >= 2 and is_border(lines[n]) and (n + 1 == len(lines) or not lines[n + 1]):
            return n + 1
    return number + 1


def _dedented(lines: Sequence[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return [line[margin:] for line in lines]
