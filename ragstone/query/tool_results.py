"""What a tool returns, as texts that can be quoted: prose as it is, and each object of JSON as lines "Name: value"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from ragstone.core.frozen import frozen
from ragstone.core.records import Document

_TITLES = ("title", "name", "summary", "subject", "headline", "key", "id")
_ADDRESSES = ("url", "html_url", "web_url", "weburl", "link", "permalink", "href", "uri")
_TEXTS = ("text", "content", "body", "markdown", "snippet", "excerpt", "description")
_MAX_TITLE, _MAX_DEPTH = 200, 4
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+")


@frozen
class Item:
    """A piece of a result, with the title and address that the tool gives for it."""

    text: str
    title: str = ""
    url: str = ""


def documents(tool: str, items: Sequence[Item], structured: object) -> list[Document]:
    """Return the texts of a result in its order, each with a title that begins with the name of the tool.

    Args:
        tool: its name.
        items: the pieces of the result that are meant to be read.
        structured: the same as decoded JSON, which is read if there are no pieces; None if there is none.
    """
    found = [one for item in items if item.text.strip() for one in _of_item(item)] or [*_of_json(structured)]
    return [
        Document(id=f"{tool}#{number}", text=one.text, title=f"{tool}: {one.title}" if one.title else tool, url=one.url)
        for number, one in enumerate(found)
        if one.text.strip()
    ]


def _of_item(item: Item) -> Iterator[Item]:
    try:
        # 12.50 stays as it is written.
        value = json.loads(item.text, parse_float=str) if item.text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        value = None
    return _of_json(value) if value else iter((item,))


def _of_json(value: object) -> Iterator[Item]:
    """Yield each object of a list as one piece, also of the only list in an object, such as its results."""
    fields, several = _fields(value), _several(value)
    lists = [name for name, one in fields.items() if any(map(_fields, _several(one)))]
    if len(lists) == 1:
        several = _several(fields[lists[0]])
        fields = {name: one for name, one in fields.items() if name != lists[0]}
    for one in several:
        yield _of_object(own) if (own := _fields(one)) else Item(text=_line(one))
    if fields:
        yield _of_object(fields)
    elif not several:
        yield Item(text=_line(value))


def _of_object(fields: Mapping[str, object]) -> Item:
    by_name = {name.lower(): value for name, value in fields.items()}
    title = next((text for name in _TITLES if (text := _line(by_name.get(name)))), "")
    url = next((text for name in _ADDRESSES if (text := _line(by_name.get(name))).startswith("http")), "")
    body = next((text for name in _TEXTS if isinstance(text := by_name.get(name), str) and text.strip()), "")
    rest = [f"{name}: {text}" for name, text, value in _leaves(fields) if value != body and value != url]
    return Item(text="\n\n".join(filter(None, (body.strip(), "\n".join(rest)))), title=title[:_MAX_TITLE], url=url)


def _leaves(fields: Mapping[str, object], above: str = "", depth: int = 0) -> Iterator[tuple[str, str, object]]:
    """Yield the name, the text and the value of each field that has one; fields of an object have both names."""
    for key, value in fields.items():
        name = f"{above} {_WORDS.sub(' ', key)}".strip()
        if (inside := _fields(value)) and depth < _MAX_DEPTH:
            yield from _leaves(inside, name, depth + 1)
        elif text := _line(value):
            yield name[:1].upper() + name[1:], text, value


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _several(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _line(value: object) -> str:
    """Return a value on one line; empty for none."""
    several = _several(value)
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        text = str(value)
    elif several and not any(isinstance(one, list | Mapping) for one in several):
        text = ", ".join(map(str, several))
    else:
        text = json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())
