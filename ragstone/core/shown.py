"""How records present themselves at a prompt and in a notebook; `showing` does the writing."""

from __future__ import annotations


def shown(self: object) -> str:
    """Return the short ``repr`` of a record."""
    from ragstone.core.printable import one_line
    from ragstone.core.showing import summary

    return f"<{type(self).__name__} {one_line(summary(self))}>"


def shown_html(self: object) -> str:
    """Return a record as HTML, in which every text of a document is escaped; notebooks call this as ``_repr_html_``."""
    from ragstone.core.showing import to_html

    return to_html(self)
