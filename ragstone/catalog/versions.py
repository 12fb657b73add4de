"""Two versions of a knowledge base compared, and what one takes over from the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragstone.core.catalog import CatalogReader, ChangeLog
from ragstone.core.errors import NotFound
from ragstone.core.frozen import frozen
from ragstone.core.records import Document


@frozen
class Difference:
    """Ids of documents that a catalog lacks or has in another form, in order of adding, and of those to be removed."""

    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


def difference(live: ChangeLog, other: ChangeLog) -> Difference:
    """Return what another version has yet to take in. Signatures are compared, which depend on no setting."""
    missing: list[tuple[int, str]] = []
    gone: list[str] = []
    for id, ours, theirs in _by_id(live.ordered_signatures(), other.ordered_signatures()):
        if ours is None:
            gone.append(id)
        elif theirs is None or ours[1] != theirs[1]:
            missing.append((ours[2], id))
    return Difference(changed=tuple(id for _, id in sorted(missing)), gone=tuple(gone))


_Row = tuple[str, str, int]


def _by_id(ours: Iterator[_Row], theirs: Iterator[_Row]) -> Iterator[tuple[str, _Row | None, _Row | None]]:
    """Yield each id with its row on either side; both sides come in order of ids."""
    here, there = next(ours, None), next(theirs, None)
    while here or there:
        id = min(row[0] for row in (here, there) if row)
        mine, other = (row if row and row[0] == id else None for row in (here, there))
        yield id, mine, other
        here = next(ours, None) if mine else here
        there = next(theirs, None) if other else there


def documents(catalog: CatalogReader, ids: Sequence[str]) -> Iterator[Document]:
    """Yield these documents with their boxes, without those removed in the meantime."""
    for id in ids:
        try:
            document = replace(catalog.document(id), placed=catalog.layout(id))
        except NotFound:
            continue
        if document.id == id:  # and not another one, whose id ends so
            yield document
