"""Hits and documents for libraries that have their own: what goes into their metadata, and what comes out of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.core.access import Reader
from ragstone.core.filters import Scalar
from ragstone.core.hits import Hits
from ragstone.core.named_groups import is_clear_name
from ragstone.core.records import Hit
from ragstone.serve import as_json
from ragstone.serve.blocking import Ragstone

_FOLDER = re.compile(r"(?:file://)?(?:/|[A-Za-z]:[\\/]|\\\\).*[\\/]", re.DOTALL)
"""The folder of an absolute path, on any system."""
OWN = ("source", "title", "url", "marks")
"""Fields of a `Document` that other libraries keep in the metadata."""


async def search(kb: Ragstone, question: str, k: int | None, where: str | None, reader: Reader | None) -> Hits:
    """Return the best chunks for a reader, that of the knowledge base if none is given."""
    return await kb.knowledge_base().search(question, k, where, reader=kb.reader if reader is None else reader)


def with_metadata(hits: Hits) -> Iterator[tuple[Hit, dict[str, Any]]]:
    """Yield each hit with what is known of it besides its text.

    That is the metadata of the document and the facts of the chunk, with ``score``, ``rank`` and the place; the later
    replace fields of the same name. ``note`` says what the search lacked, if anything.
    """
    note = as_json.search_note(hits)
    for rank, one in enumerate(hits, start=1):
        yield one, {**_metadata(one, rank), **({"note": note} if note else {})}


def _metadata(hit: Hit, rank: int) -> dict[str, Any]:
    fields = as_json.hit(hit, rank)
    del fields["text"]
    metadata = fields.pop("metadata")
    source = hit.chunk.url or hit.chunk.document_id
    own = {"source": source, "section": hit.chunk.facts.get("section", ""), "page": hit.chunk.facts.get("page", "")}
    return {**plain(metadata), **own, **fields}


def plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as JSON has it."""
    return {name: [*value] if isinstance(value, tuple) else value for name, value in facts.items()}


def facts_of(metadata: Mapping[str, Any], source: str = "") -> dict[str, Scalar | tuple[Scalar, ...]]:
    """Return foreign metadata as filters know it; what they cannot compare becomes text.

    Paths in the folder of the source lose it, because readers see metadata.
    """
    folder = _folder(source)
    facts = {name: fact for name, raw in metadata.items() if (fact := _fact(raw)) is not None}
    if folder:
        facts = {name: one.removeprefix(folder) if isinstance(one, str) else one for name, one in facts.items()}
    # A missing list of readers must not open a document that names nobody.
    return facts | {name: () for name, raw in metadata.items() if raw is None and is_clear_name(name)}


class Ids:
    """Gives ids to documents of which several may have the same source."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def of(self, id: str, source: str, page: object, text: str) -> str:
        """Return the id of a document: its own; else its source, with the page; else a hash of its text.

        Readers see ids, so a hash stands for the folder of the source if it is an absolute path.
        """
        if (folder := _folder(source)) and id.startswith(folder):
            id = _hashed(id, folder)
        source = _hashed(source, folder)
        if not id and source:
            id = f"{source}#page={page}" if page not in (None, "") else source
        id = id or hashlib.sha256(text.encode()).hexdigest()[:32]
        self._used[id] += 1
        return id if self._used[id] == 1 else f"{id}#{self._used[id]}"


def _folder(path: str) -> str:
    """Return the folder of an absolute path with its last slash; empty if the path is none."""
    found = _FOLDER.match(path)
    return found.group() if found else ""


def _hashed(path: str, folder: str) -> str:
    """Return a path with a hash in place of its folder, if there is one."""
    return f"{hashlib.sha256(folder.encode()).hexdigest()[:8]}/{path.removeprefix(folder)}" if folder else path


def _fact(value: Any) -> Scalar | tuple[Scalar, ...] | None:
    """Return a value as filters know it, or None."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple | set):
        items: list[Any] = [*value]
        if isinstance(value, set):
            items.sort(key=str)
        if all(isinstance(one, str | int | float | bool) for one in items):
            return tuple(items)
    return json.dumps(value, ensure_ascii=False, default=str)
