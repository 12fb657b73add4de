"""HTML and SVG as text in which nothing from outside can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import TypeAlias

from ragstone.serve.screen import printable


class Markup(str):
    """Text that is markup already; any other text is escaped where it is put in."""

    __slots__ = ()


Content: TypeAlias = "str | Iterable[Content]"
Attributes = Mapping[str, str | float]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Told to the browser: nothing may be fetched and no script may run, whatever the page holds."""
_VOID = {"meta", "line", "rect", "circle", "br"}
_NUMBER = {"class": "number"}


def tag(name: str, *content: Content, at: Attributes = MappingProxyType({})) -> Markup:
    """An element with its content and its attributes."""
    told = "".join(f' {key}="{escape(_value(value))}"' for key, value in at.items() if value != "")
    if name in _VOID and not content:
        return Markup(f"<{name}{told}/>")
    return Markup(f"<{name}{told}>{_inside(content)}</{name}>")


def _value(value: str | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _inside(content: Content) -> str:
    if isinstance(content, Markup):
        return str(content)
    if isinstance(content, str):
        return escape(printable(content), quote=False)
    return "".join(_inside(part) for part in content)


def table(columns: Sequence[str], rows: Iterable[Sequence[Content]], *, numbers: Iterable[int] = ()) -> Markup:
    """A table; the columns whose places (from 0) are in ``numbers`` stand flush right, in figures of one width."""
    right = set(numbers)

    def cells(name: str, row: Sequence[Content]) -> Markup:
        return tag("tr", [tag(name, cell, at=_NUMBER if place in right else {}) for place, cell in enumerate(row)])

    whole = tag("table", tag("thead", cells("th", columns)), tag("tbody", [cells("td", row) for row in rows]))
    return tag("div", whole, at={"class": "scroll"})


def preformatted(text: str) -> Markup:
    """A text as it stands, with its lines and blanks."""
    return tag("pre", tag("code", Markup(escape(printable(text), quote=False))))


def page(title: str, subtitle: str, *sections: Content) -> str:
    """A whole document. Its style is in it, and nothing else is needed."""
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
