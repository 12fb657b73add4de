"""The head of a text: front matter, or lines such as ``readers: hr`` before everything else.

Any text file may have one, whatever reads it. The head says who may read the file, so a damaged head is not ignored.
"""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, cast

import yaml

from ragstone.core.access import READERS
from ragstone.core.frozen import frozen
from ragstone.core.named_groups import (
    Named,
    is_access_name,
    is_clear_name,
    is_text_name,
    named_anywhere,
    named_in,
    together,
)

LONGEST = 65_536
"""Characters of a text in which its head is."""
_BLANK = "\ufeff\u200b \t\n"
_FENCE = re.compile(r"[ \t]*(-{3,}|\+{3,}|;{3,}|[—–]+|`{3}(?:ya?ml|toml|json)?)[ \t]*(?:\n|\Z)")
_ENDS = {
    "---": re.compile(r"^[ \t]*(?:-{3}|\.{3})[ \t]*(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^[ \t]*\+{3}[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_STAR = re.compile(r"(?m)([:\[,]|^\s*-)([ \t]*)\*(?=[ \t]*(?:[,\]#]|$))")
"""The group of everyone without quotes, which is an alias in YAML."""
_COMMENT = re.compile(r"\s*<!--(?:(?!-->).)*-->", re.DOTALL)
_ENTRY = re.compile(r"[\s#%/*;.:<>!\-\"'@{\[(]{0,12}([A-Za-z][\w .-]{0,40}?)[\"'*`]{0,2}[ \t]*(=>|[:=])(.*)$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_FURNITURE = re.compile(r"[\s#%/*;.:<>!\-\"'@{}\[\](),+]*$")
_WORD = re.compile(r"\W{0,12}([\w-]{1,40})")
_NAMES = re.compile(r"(?:[,;|]\s*)?[\w.@-]+(?:\s*[,;|]\s*[\w.@-]+)*(?:\s*[,;|])?|\[[^\[\]]*\]?", re.ASCII)
_DAMAGED = "it is damaged where it names readers; write, for example: readers: [staff, hr]"
_MOST_LINES = 200
_LONGEST_LINE = 2_000
_YAML: Any = yaml  # whose types are incomplete
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Makes nothing but texts, lists and mappings."""


@frozen
class FrontMatter:
    """The entries of front matter, and where the text begins after it.

    ``inside`` is front matter that is no correct YAML, such as ``title: Rent: how to pay``; its entries are its lines.
    """

    fields: Mapping[str, object]
    end: int
    inside: str = ""


def front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a text in YAML, TOML or JSON; None if there is none, or if it has no end.

    Blank lines before it, and an equal indentation of all its lines, do no harm.
    """
    head = text[:LONGEST]
    start = len(head) - len(head.lstrip(_BLANK))
    if head[start : start + 1] == "{":
        return _json(head, start)
    fence = _FENCE.match(head, start)
    closing = _ENDS[fence[1]].search(head, fence.end()) if fence and fence[1] in _ENDS else None
    if not fence or not closing:
        return None
    inside = textwrap.dedent(head[fence.end() : closing.start()])
    fields = _toml(inside) if fence[1] == "+++" else _yaml(inside)
    if fields is not None:
        return FrontMatter(fields=fields, end=closing.end())
    entries = [found for line in inside.split("\n") if (found := _ENTRY.match(line[:_LONGEST_LINE]))]
    fields = {entry[1]: _unquoted(_bare(entry[3])) for entry in reversed(entries)}
    return FrontMatter(fields=fields, end=closing.end(), inside=inside) if fields else None


def has_fence(text: str) -> bool:
    """Return whether a text begins like front matter."""
    return bool(_FENCE.match(text[:LONGEST].lstrip(_BLANK)))


def named_in_head(text: str, column: str = READERS) -> Named | None:
    """Return the groups that the head of a text names; None if it names none."""
    head = text[:LONGEST].lstrip(_BLANK)
    while comment := _COMMENT.match(head):
        if found := together(*_lines(comment[0], column, _Form.BARE)):
            return found
        head = head[comment.end() :].lstrip(_BLANK)
    front = front_matter(head)
    if front and front.inside:
        return together(*_lines(front.inside, column, _Form.CLOSED))
    if front:
        is_all = head.startswith("{") and not head[front.end :].strip()  # a file of JSON, and not its head
        return named_anywhere(front.fields, column) if is_all else named_in(front.fields, column)
    fence = _FENCE.match(head)
    return together(*_lines(head[fence.end() :] if fence else head, column, _Form.OPEN if fence else _Form.BARE))


def named_on_lines(text: str, column: str = READERS) -> Named | None:
    """Return the groups that lines such as ``readers = hr`` name anywhere in settings; None if they name none."""
    found = [one for line in text.split("\n") if (one := _ENTRY.match(line[:_LONGEST_LINE]))]
    describes = any(is_text_name(one[1]) for one in found)
    is_list = is_access_name if describes else is_clear_name
    return named_in({one[1]: _bare(one[3]) for one in found if is_list(one[1], column)}, column)


def named_in_broken(text: str, column: str = READERS) -> Named | None:
    """Return a problem if text that should be YAML or TOML, and is not, seems to name readers."""
    return Named(problem=_DAMAGED) if together(named_in_head(text, column), named_on_lines(text, column)) else None


class _Form(Enum):
    """What the lines of a head are: front matter that is no correct YAML, or has no end, or lines without a fence."""

    CLOSED = "closed"
    OPEN = "open"
    BARE = "bare"


def _lines(text: str, column: str, form: _Form) -> Iterator[Named]:
    """Yield what the lines of a head name.

    A head without an end ends at the first line that is no entry.
    """
    name, values, is_apart = "", list[str](), False
    for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
        line = line[:_LONGEST_LINE].rstrip()
        entry = _ENTRY.match(line)
        if not line and form is _Form.BARE:
            yield from _entry(name, values, column, form, is_apart=is_apart)
            name, is_apart = "", True
        elif name and (item := _ITEM.match(line)) and not (entry and is_access_name(entry[1], column)):
            values.append(_bare(item[1]))
        elif name and line[:1] in (" ", "\t") and not entry:
            values.append(_bare(line))
        elif entry:
            yield from _entry(name, values, column, form, is_apart=is_apart)
            name, values = entry[1], [_bare(entry[3])]
        elif form is not _Form.BARE and (word := _WORD.match(line)) and is_clear_name(word[1], column):
            yield Named(problem=_DAMAGED)
        elif form is not _Form.CLOSED and not _FURNITURE.match(line):
            break
    yield from _entry(name, values, column, form, is_apart=is_apart)


def _entry(name: str, values: list[str], column: str, form: _Form, *, is_apart: bool) -> Iterator[Named]:
    """Yield what an entry names. Without a fence, it is prose unless it lists names or has the clear name of a list.

    Below a blank line, which ``is_apart`` says, only a list of names is one.
    """
    if not is_access_name(name, column):
        return
    value = ", ".join(one for one in values if one)
    if form is _Form.OPEN:
        yield Named(problem=_DAMAGED)
        return
    is_clear = form is _Form.CLOSED or (is_clear_name(name, column) and not is_apart)
    is_list = is_clear or _NAMES.fullmatch(value)
    if is_list and (found := named_in({name: value}, column)):
        yield found


def _unquoted(value: str) -> str | list[str]:
    if value.startswith("[") and value.endswith("]"):
        return [one.strip().strip("\"'") for one in value[1:-1].split(",")]
    return value.strip("\"'").strip()


def _bare(value: str) -> str:
    """Return a value without a comment after it, and without what ends a comment or an entry of JSON."""
    value = re.sub(r"\s(?:#|//).*$|(?:--|\*)[>/]\s*$", "", value).strip()
    return value.rstrip(",").strip() if value[:1] in "\"'[" else value


def _yaml(text: str) -> dict[str, object] | None:
    """Return YAML as texts, lists and mappings; None if it is no mapping, or has aliases, which can be bombs."""
    text = _STAR.sub(r'\1\2"*"', text)
    try:
        events = cast("Iterator[object]", _YAML.parse(text, Loader=LOADER))
        if any(isinstance(one, yaml.AliasEvent) for one in events):
            return None
        content: Any = yaml.load(text, Loader=LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return _with_text_keys(content)


def _toml(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _json(head: str, start: int) -> FrontMatter | None:
    try:
        content, end = json.JSONDecoder().raw_decode(head, start)
    except (ValueError, RecursionError):
        return None
    fields = _with_text_keys(content)
    return None if fields is None else FrontMatter(fields=fields, end=end)


def _with_text_keys(content: object) -> dict[str, object] | None:
    if not isinstance(content, dict):
        return None
    return {str(key): value for key, value in cast("dict[object, object]", content).items()}
