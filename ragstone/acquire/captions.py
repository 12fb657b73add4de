"""Documents whose pictures a model has described: the words of the model stand where the pictures are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from ragstone.acquire.metadata.enrich import enrich, stamped
from ragstone.acquire.readers.parsed import tidy
from ragstone.core.frozen import frozen
from ragstone.core.reading import with_notice
from ragstone.core.records import Document, Mark, Skipped
from ragstone.settings import MetadataSettings

LONGEST = 2000
"""Characters of a description that are kept."""


@frozen
class Description:
    """What a model says of a picture: its words, or why there are none."""

    model: str
    text: str = ""
    failure: str = ""

    @property
    def block(self) -> str:
        """The paragraph that stands for the picture, which says whose words it has; empty without words."""
        words = " ".join(tidy(self.text).split())
        words = words if len(words) <= LONGEST else f"{words[:LONGEST].rsplit(' ', 1)[0]} …"
        return f"Picture, described by {self.model}:\n{words}" if words else ""


def described(
    document: Document, descriptions: Sequence[Description], settings: MetadataSettings
) -> Document | Skipped:
    """Return a document with descriptions in place of its pictures, and with the metadata derived from its text.

    A picture without a description leaves no trace in the text, but the document says why it has none. A document that
    consists of such pictures is `Skipped`.

    Args:
        document: with pictures, and with no metadata derived from its text yet.
        descriptions: one for each of its pictures, in order.
        settings: what is derived from texts.
    """
    failures = [one.failure for one in descriptions if not one.block]
    document = _replaced(document, descriptions)
    if failures:
        count = "1 picture was" if len(failures) == 1 else f"{len(failures)} pictures were"
        notice = f"{count} not described: {failures[0]}"
        if not document.text.strip():
            return Skipped(source=document.source or document.id, reason=notice)
        document = replace(document, metadata=with_notice(document.metadata, notice))
    return stamped(enrich(document, settings), settings)


@frozen
class _Change:
    """Characters ``start`` to ``end`` of a text that become others; ``by`` is how far this moves what follows."""

    start: int
    end: int
    text: str
    by: int


def _replaced(document: Document, descriptions: Sequence[Description]) -> Document:
    text, marks = document.text, [mark for mark in document.marks if mark.kind == "picture"]
    changes: list[_Change] = []
    by = 0
    for mark, one in zip(marks, descriptions, strict=True):
        # Without words, the white space before the picture goes with it.
        start = mark.start if one.block else len(text[: mark.start].rstrip())
        by += len(one.block) - (mark.end - start)
        changes.append(_Change(start=start, end=mark.end, text=one.block, by=by))
    ends = [change.end for change in changes]

    def moved(position: int) -> int:
        """Return where a position is after the changes; that of the place of a picture is where its words begin."""
        number = bisect_right(ends, position)
        before = changes[number - 1].by if number else 0
        if number < len(changes) and position > changes[number].start:
            position = changes[number].start
        return position + before

    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += [text[at : change.start], change.text]
        at = change.end
    whole = "".join([*pieces, text[at:]])
    begin = len(whole) - len(whole.lstrip()) if changes and not changes[0].start else 0
    models = iter([one.model for one in descriptions])
    new: list[Mark] = []
    for mark in document.marks:
        label = next(models) if mark.kind == "picture" else mark.label
        start, end = moved(mark.start), moved(mark.end)
        if mark.kind == "page":  # which may begin or end with a picture that is gone
            end = start + len(whole[start:end].rstrip())
            start = end - len(whole[start:end].lstrip())
        if start < end:
            new.append(replace(mark, start=start - begin, end=end - begin, label=label))
    placed = [replace(one, start=moved(one.start) - begin, end=moved(one.end) - begin) for one in document.placed]
    return replace(document, text=whole[begin:], marks=tuple(new), placed=tuple(placed), pictures=())
