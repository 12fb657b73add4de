"""Two versions of a knowledge base side by side: how they differ, and what one takes over from the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.contracts import Document
from ragstone.errors import NotFound
from ragstone.index.catalog.any_catalog import AnyCatalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Ids of the documents that a catalog lacks or has otherwise, in order of adding, and of those it has too many."""

    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


def behind(live: AnyCatalog, other: AnyCatalog) -> Behind:
    """What another version has yet to take in. Signatures are compared: they depend on no setting."""
    missing: list[tuple[int, str]] = []
    gone: list[str] = []
    for id, ours, theirs in _side_by_side(live.in_order(), other.in_order()):
        if ours is None:
            gone.append(id)
        elif theirs is None or ours[1] != theirs[1]:
            missing.append((ours[2], id))
    return Behind(changed=tuple(id for _, id in sorted(missing)), gone=tuple(gone))


_Row = tuple[str, str, int]


def _side_by_side(ours: Iterator[_Row], theirs: Iterator[_Row]) -> Iterator[tuple[str, _Row | None, _Row | None]]:
    """Rows of two tables in order of their ids, those with the same id together."""
    here, there = next(ours, None), next(theirs, None)
    while here or there:
        id = min(row[0] for row in (here, there) if row)
        mine, other = (row if row and row[0] == id else None for row in (here, there))
        yield id, mine, other
        here = next(ours, None) if mine else here
        there = next(theirs, None) if other else there


def documents(catalog: AnyCatalog, ids: Sequence[str]) -> Iterator[Document]:
    """These documents, but for those that were removed meanwhile."""
    for id in ids:
        try:
            document = catalog.document(id)
        except NotFound:
            continue
        if document.id == id:  # not another one, whose id ends so
            yield document
