"""The groups that the text of a file names, whatever reads it: in its head, or as settings and markup do."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import takewhile

import yaml

from ragstone.acquire.metadata.head import LOADER, LONGEST, has_fence, named_in_broken, named_in_head, named_on_lines
from ragstone.acquire.readers.decode import start_of
from ragstone.acquire.readers.names import LANGUAGES, SETTINGS
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.tables.rows import required
from ragstone.core.named_groups import Named, is_access_name, is_clear_name, named_anywhere, named_in, together

_ROWS = (".json", ".jsonl", ".ndjson", ".ipynb")
"""Files whose readers look for access lists in their fields."""
_TABLES = (".csv", ".tsv")
_FEEDS = (".rss", ".atom", ".rdf")
_LARGEST = 2_000_000
"""Bytes of settings or XML in which access lists are looked for."""
_DELIMITERS = re.compile(r"[,;|\t]")
_MOST_LINES = 20
_TAG = re.compile(r"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)((?:\s[^<>]*)?)(?:>|\Z)")
_ATTRIBUTE = re.compile(r"(?<![\w.:-])(?:[\w.-]{1,40}:)?([A-Za-z][\w.-]{0,40})\s{0,9}=\s{0,9}(?:\"([^\"]*)|'([^']*))")
_ITEM = re.compile(r"<(/?)(?:item|entry)\b[^<>]*>")
_LONGEST_LIST = 2_000


def named_in_file(file: File) -> Named | None:
    """Return the groups that the text of a file names; None if it names none, or is no text."""
    if file.suffix in _ROWS:
        return None
    column = file.settings.access.column
    if file.suffix in _TABLES:
        head = start_of(file.path, LONGEST)
        return together(named_in_head(head, column), _below_header(head, file))
    form = "xml" if file.suffix in _FEEDS else SETTINGS.get(file.suffix, "")
    text = start_of(file.path, _LARGEST if form else LONGEST)
    match form:
        case "yaml":
            return _in_yaml(text, column)
        case "toml":
            return _in_toml(text, column)
        case "xml":
            return _in_xml(text, column)
        case "ini":
            return together(named_in_head(text, column), named_on_lines(text, column))
        case _ if file.suffix in LANGUAGES and not has_fence(text):
            return named_in_head(_comments(text), column)
        case _:
            return named_in_head(text, column)


def _comments(text: str) -> str:
    """Return the comments that code begins with: its first lines that begin with a mark."""
    return "\n".join(takewhile(lambda line: not line.strip() or not line.lstrip()[0].isalnum(), text.split("\n")))


def _below_header(head: str, file: File) -> Named | None:
    """Return a problem if a line below the first is a header with an access list."""
    settings, column = file.settings.columns, file.settings.access.column
    others = {one.casefold() for one in (settings.id, settings.url, *settings.title, *required(settings))}
    lines = [line for line in head.split("\n", _MOST_LINES)[:_MOST_LINES] if line.strip()]
    for line in lines[1:]:
        cells = [cell.strip(" \"'") for cell in _DELIMITERS.split(line)]
        is_header = not others.isdisjoint(map(str.casefold, cells))
        if is_header and any(is_access_name(cell, column) for cell in cells):
            return Named(
                problem="its header, which has an access list, is not its first line; remove the lines above it"
            )
    return None


def _in_yaml(text: str, column: str) -> Named | None:
    try:
        return named_anywhere([*yaml.load_all(text, Loader=LOADER)], column)
    except (yaml.YAMLError, ValueError, RecursionError):
        return named_in_broken(text, column)


def _in_toml(text: str, column: str) -> Named | None:
    try:
        return named_anywhere(tomllib.loads(text), column)
    except (ValueError, RecursionError):
        return named_in_broken(text, column)


def _in_xml(text: str, column: str) -> Named | None:
    """Return the groups in elements and attributes; the reader of feeds looks at their entries."""
    return together(named_in_head(text, column), *_elements(_without_items(text), column))


def _without_items(text: str) -> str:
    """Return a feed without its whole entries."""
    kept, begin, end = list[str](), 0, 0
    for tag in _ITEM.finditer(text):
        if not tag[1]:
            begin = tag.start()
        elif begin >= end:
            kept.append(text[end:begin])
            end = tag.end()
    return "".join([*kept, text[end:]])


def _elements(text: str, column: str) -> Iterator[Named]:
    for tag in _TAG.finditer(text):
        attributes = {name: double or single for name, double, single in _ATTRIBUTE.findall(tag[2])}
        if is_clear_name(tag[1], column) and not tag[2].endswith("/"):
            inside, end, _ = text[tag.end() : tag.end() + _LONGEST_LIST].partition(f"{tag[1]}>")
            # Without its end, the list is not understood.
            attributes[tag[1]] = _TAG.sub(" ", re.sub(r"</[^<>]*>", ",", inside.rpartition("</")[0])) if end else "<"
        if named := named_in({name: one for name, one in attributes.items() if is_clear_name(name, column)}, column):
            yield named
