"""What the ids of documents on disk begin with: nothing in the base folder, the name of an added folder outside of it.

Readers see ids, and must not learn from them where files lie on the server. The catalog stores the names, so that the
id of a file stays the same, whichever folder above it is added later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path

from ragstone.catalog.protocol import Catalog
from ragstone.engine.built import BuiltWith
from ragstone.engine.components import Components

UPLOADS = "uploads"
"""The folder of uploaded files in a knowledge base, with which the ids of their documents begin."""


def base(version: Components) -> Path:
    """Return the base folder of the paths of documents."""
    return version.folder.resolve().parent


def names(version: Components, folders: Iterable[Path]) -> Mapping[str, str]:
    """Return the stored names by folder, and new ones for those of these folders that need one."""
    named = {**BuiltWith(**version.catalog.built_with()).roots}
    within = {str(base(version)), *named}
    for folder in folders:
        if within.isdisjoint(map(str, (folder, *folder.parents))):
            used = {*named.values()}
            named[str(folder)] = next(one for one in _names(folder) if one not in used and not _is_used(version, one))
            within.add(str(folder))
    return named


def keep_names(version: Components, folders: Iterable[Path]) -> None:
    """Store the names of these folders. Call it under the lock, before their documents are read."""
    stored, named = BuiltWith(**version.catalog.built_with()), names(version, folders)
    if named != stored.roots:
        version.catalog.set_built_with(replace(stored, roots=named).to_json())


def forget_names(catalog: Catalog, ids: Collection[str]) -> None:
    """Forget the names of folders that hold no documents but these, which are about to be erased."""
    stored = BuiltWith(**catalog.built_with())
    kept = {
        folder: name
        for folder, name in stored.roots.items()
        if any(id not in ids for id, _ in catalog.documents_under(folder))
    }
    if kept != stored.roots:
        catalog.set_built_with(replace(stored, roots=kept).to_json())


def _names(folder: Path) -> Iterator[str]:
    name = folder.name or "files"
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def _is_used(version: Components, name: str) -> bool:
    """Return whether ids of documents in the base folder, or of uploads, begin with a name."""
    inside = base(version) / name
    return name == UPLOADS or inside.exists() or bool(version.catalog.documents_under(str(inside)))
