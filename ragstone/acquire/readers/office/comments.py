"""Comments in Office files: who says what, and about what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.package import Element, Package, Relations, local
from ragstone.acquire.readers.parsed import Writer, iso_date
from ragstone.core.frozen import frozen

_COMMENTS = {"comment", "threadedComment", "cm", "reply"}
_AUTHORS = {"author", "cmAuthor", "person"}
_COPY = "[Threaded comment]"
"""Begins the copy of a discussion for programs that cannot show discussions."""
_DEEPEST = 20


@frozen
class Comment:
    """A comment: its words, its author and its day if the file has them, and what it is about.

    ``at`` is the cell of a sheet or the number of the comment, which the text of a document refers to.
    """

    text: str
    author: str = ""
    created: str = ""
    at: str = ""

    def written(self, about: str = "") -> str:
        """Return the comment as a paragraph that says that it is one.

        Args:
            about: what it is about, if its place does not say so.
        """
        by, on = (f"by {self.author}" if self.author else ""), (f"on {about}" if about else "")
        head = " ".join(part for part in ("Comment", by, on) if part)
        return f"{head}, {self.created}: {self.text}" if self.created else f"{head}: {self.text}"


def comments(writer: Writer, package: Package, relations: Relations, authors: Relations) -> list[Comment]:
    """Return the comments on a part of an Office file in order, those of a discussion one after the other.

    Args:
        writer: notes what cannot be read.
        package: the file.
        relations: what the part refers to, as `Package.relations` returns it.
        authors: what the main part refers to; some of it names the authors.
    """
    names: dict[str, str] = {}
    for kind, name in authors.values():
        if kind in ("commentAuthors", "authors", "person") and name in package.names:
            with suppress(Unreadable):  # the comments are read without their authors
                names |= _names(package.xml(name))
    written: list[Comment] = []
    for kind, name in relations.values():
        if kind in ("comments", "threadedComment") and name in package.names:
            try:
                written += _read(package.xml(name), names)
            except Unreadable:
                writer.left_out("part with comments")
    return [comment for comment in written if comment.text and not comment.text.startswith(_COPY)]


def _names(part: Element) -> dict[str, str]:
    """Return the names of authors by their ids, or by their places in a list without ids."""
    authors = (one for one in part.iter() if local(one) in _AUTHORS)
    return {
        one.get("id", str(place)): one.get("name") or one.get("displayName") or (one.text or "").strip()
        for place, one in enumerate(authors)
    }


def _read(part: Element, names: Mapping[str, str]) -> Iterator[Comment]:
    names = {**names, **_names(part)}
    for element in part.iter():
        if local(element) in _COMMENTS:
            facts = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
            author = facts.get("authorId", facts.get("personId", ""))
            written = next((facts[key] for key in ("date", "dT", "dt", "created") if key in facts), "")
            yield Comment(
                text=" ".join("".join(_words(element)).split()),
                author=facts.get("author") or names.get(author, ""),
                created=iso_date(written)[:10],
                at=facts.get("ref") or facts.get("id", ""),
            )


def _words(element: Element, depth: int = 0) -> Iterator[str]:
    """Yield the words of a comment, without those of the replies in it."""
    for child in element:
        if local(child) in ("t", "text"):
            yield child.text or ""
        if local(child) in ("p", "br"):
            yield " "
        if local(child) not in ("t", *_COMMENTS) and depth < _DEEPEST:
            yield from _words(child, depth + 1)
