"""How records present themselves at a prompt and in a notebook; `showing` does the writing."""

from __future__ import annotations


class Shown:
    """A record with a short ``repr`` for reading, and HTML for notebooks."""

    __slots__ = ()

    def __repr__(self) -> str:
        from ragstone.core.showing import summary

        return f"<{type(self).__name__} {summary(self)}>"

    def _repr_html_(self) -> str:
        """Return HTML, in which every text of a document is escaped; notebooks call this."""
        from ragstone.core.showing import to_html

        return to_html(self)
