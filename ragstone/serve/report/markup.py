"""HTML and SVG as text. Every text is escaped, so that no document can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import TypeAlias

from ragstone.core.printable import printable


class Markup(str):
    """Text that is markup already; `tag` escapes any other text."""

    __slots__ = ()


Content: TypeAlias = "str | Iterable[Content]"
Attributes = Mapping[str, str | float]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy: the page fetches nothing and runs no script, whatever it holds."""
_VOID = {"meta", "line", "rect", "circle", "br"}


def tag(name: str, *content: Content, at: Attributes = MappingProxyType({})) -> Markup:
    """Return an element with its content and its attributes."""
    attributes = "".join(f' {key}="{escape(_value(value))}"' for key, value in at.items() if value != "")
    if name in _VOID and not content:
        return Markup(f"<{name}{attributes}/>")
    return Markup(f"<{name}{attributes}>{_inside(content)}</{name}>")


def _value(value: str | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _inside(content: Content) -> str:
    if isinstance(content, Markup):
        return str(content)
    if isinstance(content, str):
        return escape(printable(content), quote=False)
    return "".join(_inside(part) for part in content)


def table(columns: Sequence[str], rows: Iterable[Sequence[Content]], *, numbers: Iterable[int] = ()) -> Markup:
    """Return a table; ``numbers`` lists the columns, from 0, that are aligned to the right."""
    right = set(numbers)

    def cells(name: str, row: Sequence[Content]) -> Markup:
        numeric = {"class": "number"}
        return tag("tr", [tag(name, cell, at=numeric if place in right else {}) for place, cell in enumerate(row)])

    whole = tag("table", tag("thead", cells("th", columns)), tag("tbody", [cells("td", row) for row in rows]))
    return tag("div", whole, at={"class": "scroll"})


def page(title: str, subtitle: str, *sections: Content) -> str:
    """Return a whole document with its style inside."""
    style = files("ragstone.serve.report").joinpath("style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", at={"charset": "utf-8"}),
        tag("meta", at={"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        tag("meta", at={"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("title", title),
        tag("style", Markup(style)),
    )
    brand, lead = tag("p", "Ragstone", at={"class": "brand"}), tag("p", subtitle, at={"class": "lead"})
    body = tag("body", tag("main", tag("header", brand, tag("h1", title), lead), *sections))
    return f"<!doctype html>\n{tag('html', head, body, at={'lang': 'en'})}\n"
