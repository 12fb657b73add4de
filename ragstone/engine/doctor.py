"""Checks a knowledge base for damage, rebuilds derived data, and reports faults that need a person."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone import chunk, index
from ragstone.catalog.folder_location import FolderLocation
from ragstone.catalog.location import Location, engines_in_use, leftovers, public_files
from ragstone.catalog.lock import Patience
from ragstone.catalog.verify import RESTORE
from ragstone.core.catalog import Finding, Stamp
from ragstone.core.errors import Damaged, EmbeddingError, KnowledgeBaseError, MissingExtra, NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.request import Request
from ragstone.engine.assembly import assemble
from ragstone.engine.built import BuiltWith
from ragstone.engine.components import Components
from ragstone.engine.erasure import INTERRUPTED
from ragstone.engine.location import home_at, open_journal
from ragstone.engine.parts.source import Source
from ragstone.index.follow.differences import differences
from ragstone.settings.load import load
from ragstone.storage.disk import clear_away, drop
from ragstone.storage.files import read_json
from ragstone.storage.sqlite import LATER, Failed, connect_to_check

if TYPE_CHECKING:
    from ragstone.core.catalog import Rows
    from ragstone.core.records import Vector

EMBED_BATCH = 256
BEHIND = "keyword search"
"""The part of the finding that the keyword index is whole and not up to date."""
SIMILARITY_TOLERANCE = 0.01
"""Allowed error of similarities from quantized codes; about a thousandth in practice."""


@frozen
class Health:
    """The extent of a check and its findings."""

    folder: str
    documents: int
    chunks: int
    findings: tuple[Finding, ...]

    @property
    def well(self) -> bool:
        """Whether every finding was mended."""
        return all(one.mended for one in self.findings)


def doctor(folder: Path, *, mend: bool = False, patience: Patience | None = None) -> Health:
    """Check all of a knowledge base and return the findings.

    Args:
        folder: folder of the knowledge base.
        mend: rebuild derived data (indexes, vectors, the version pointer) and remove leftovers.
        patience: how long to wait for an indexing process before mending.

    Raises:
        NotFound: there is no knowledge base.
        KnowledgeBaseError: ``mend`` is set, and the folder cannot be written.
        Locked: ``mend`` is set while another process is indexing.
    """
    location = home_at(folder)
    if not folder.is_dir():
        raise NotFound(f"there is no knowledge base at {folder}")
    if unreadable := list(_check_access(folder)):
        return Health(folder=str(folder), documents=0, chunks=0, findings=tuple(unreadable))
    with location.indexing(patience) if mend else nullcontext():
        pointer = _check_pointer(location, mend=mend)
        try:
            version = location.current()
        except KnowledgeBaseError:
            version = None
        if version is None:
            if not pointer:
                raise NotFound(
                    f"there is no knowledge base at {folder}; create one with: ragstone add SOURCE --kb {folder}"
                )
            return Health(folder=str(folder), documents=0, chunks=0, findings=tuple(pointer))
        findings = [
            *pointer,
            *_check_leftovers(location, mend=mend),
            *_check_erasure(folder),
            *_check_permissions(location),
            *_check_crawls(location),
            *_check_journal(location),
        ]
        try:
            catalog = location.catalog(version)
        except KnowledgeBaseError as error:
            remedy = RESTORE if isinstance(error, Damaged) else LATER
            findings.append(Finding(part="catalog", what=str(error), remedy=remedy))
            return Health(folder=str(folder), documents=0, chunks=0, findings=tuple(findings))
        with closing(catalog):
            of_part = catalog.verify(chunk.chunk_id)
            documents = chunks = 0
            if not any(one.part == "catalog" for one in of_part):
                built = BuiltWith(**catalog.built_with())
                settings = load(remembered=built.remembered(engines_in_use(location.shelf))).settings
                source = Source(location=location, path=version, catalog=catalog, build_embedder=index.build_embedder)
                with closing(source.shared), closing(source.own):
                    opened = assemble(source, built.settled(settings) if built.embedder else settings, built)
                    of_part = [one for each in of_part for one in (_mended(opened, each) if mend else [each])]
                    vectors_changed = any(one.part == "stored vectors" for one in of_part)
                    for part in _own_indexes(opened):
                        of_part += _possible(f"index {part}", partial(_check_index, opened, part))
                    if mend:
                        of_part = _mend_indexes(opened, of_part, vectors_changed=vectors_changed)
                    of_part += _possible("engines", lambda: differences(opened.external_indexes(), mend=mend))
                counts = catalog.counts()
                documents, chunks = counts.documents, counts.chunks
        return Health(folder=str(folder), documents=documents, chunks=chunks, findings=(*findings, *of_part))


def _check_journal(location: Location) -> list[Finding]:
    with closing(open_journal(location)) as journal:
        return journal.findings()


def _possible(part: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Return the findings of a check, or one that says why it was not possible here, such as a missing package."""
    try:
        return list(check())
    except (MissingExtra, EmbeddingError, UsageError) as error:
        return [Finding(part=part, what=f"not checked: {error}", remedy=LATER)]


def _mended(version: Components, finding: Finding) -> list[Finding]:
    """Rebuild what can be derived from the catalog, and return the updated finding, or why that was not possible."""

    def mend() -> list[Finding]:
        match finding.part:
            case "database indexes":
                version.catalog.reindex()
            case "stored vectors":
                asyncio.run(_embed_again(version, finding.documents))
            case _:
                return [finding]
        return [replace(finding, mended=True)]

    return _possible(finding.part, mend)


async def _embed_again(version: Components, ids: tuple[str, ...]) -> None:
    items, embedder = list(version.catalog.chunks_of(ids).items()), version.models.embedder()
    for start in range(0, len(items), EMBED_BATCH):
        part = dict(items[start : start + EMBED_BATCH])
        texts = [one.embedded for one in part.values()]
        vectors = await embedder.embed(texts, role="passage", request=Request.by_owner("ingest"))
        version.catalog.put_vectors(dict(zip(part, vectors, strict=True)))


def _own_indexes(version: Components) -> tuple[str, ...]:
    """Return the indexes in files of this host: terms, vectors or both."""
    terms = ("terms",) if version.indexes.terms().is_local else ()
    return (*terms, "vectors") if version.settings.index.vectors == "embedded" else terms


def _check_index(version: Components, part: str) -> Iterator[Finding]:
    """Yield why an index is damaged, behind, or of commits that the catalog does not have."""
    now, folder = version.catalog.stamp(), version.source.path / part
    stamp = version.indexes.terms().stamp if part == "terms" else version.indexes.vectors().stamp
    if stamp == Stamp():
        # No files, no damage: the first question writes them, and a small knowledge base needs none.
        if now.generation and folder.is_dir() and any(folder.iterdir()):
            yield Finding(part=f"index {part}", what="is damaged or was written by another version")
    elif not version.catalog.knows(stamp):
        if stamp.generation >= now.generation:
            yield Finding(
                part="catalog",
                what=f"it ends at commit {now.generation}, but the index {part} was built from commit"
                f" {stamp.generation} of another history: the last commits are lost, or an older copy was restored",
                remedy="add the sources again: ragstone sync SOURCE; or " + RESTORE,
            )
        yield Finding(part=f"index {part}", what="was built from commits that the catalog does not have")
    elif part == "terms" and stamp != now:
        changes = version.catalog.changes_since(stamp.generation)
        behind = "1 change" if changes == 1 else f"{changes:,} changes"
        what = f"its index is {behind} behind and does not know the newest documents"
        yield Finding(part=BEHIND, what=what)
    elif part == "vectors" and not _vectors_agree(version):
        yield Finding(part="index vectors", what="differs from the vectors in the catalog")


def _mend_indexes(version: Components, findings: list[Finding], *, vectors_changed: bool) -> list[Finding]:
    """Rebuild the faulty indexes, bring the others up to date, and return the updated findings."""
    faulty = {one.part for one in findings if not one.remedy}
    parts = _own_indexes(version)
    for part in parts:
        if f"index {part}" in faulty or (vectors_changed and part == "vectors"):
            clear_away(version.source.path / part)
    version.source.own.close()  # closes what was read from damaged files
    again, failed = assemble(version.source, version.settings, version.built), dict[str, str]()
    for part in parts:
        try:
            (again.indexes.terms() if part == "terms" else again.indexes.vectors()).follow(write=True)
        except (KnowledgeBaseError, MissingExtra, EmbeddingError, UsageError) as error:
            failed[part] = str(error)
    about = {"index terms": "terms", BEHIND: "terms", "index vectors": "vectors"}
    updated = [
        replace(one, mended=True) if one.part in about and not one.remedy else one
        for one in findings
        if about.get(one.part) not in failed
    ]
    return [*updated, *(Finding(part=f"index {part}", what=what, remedy=LATER) for part, what in failed.items())]


def _vectors_agree(version: Components) -> bool:
    """Return whether an exhaustive search finds every chunk with the similarity of its stored vector."""
    probe, numbers, scores = None, list["Rows"](), list["Vector"]()
    for rows, vectors in version.catalog.vectors_since(0, version.models.embedder().dimensions):
        probe = vectors[0].copy() if probe is None else probe
        numbers.append(rows)
        scores.append(vectors @ probe)
    if probe is None:
        return True
    wanted, expected = np.concatenate(numbers), np.concatenate(scores)
    matches = asyncio.run(version.indexes.vectors().search(probe, len(wanted)))
    order = np.argsort(matches.rows)
    return np.array_equal(matches.rows[order], wanted) and bool(
        np.allclose(matches.scores[order], expected, atol=SIMILARITY_TOLERANCE)
    )


def _check_pointer(location: Location, *, mend: bool) -> list[Finding]:
    if not isinstance(location, FolderLocation):
        return []
    try:
        if location.current() is not None:
            return []
        what = "it is missing"
    except Damaged as error:
        what = str(error)
    versions = location.versions()
    if len(versions) != 1:
        names = ", ".join(version.name for version in versions)
        remedy = f"write the name of the version in use into it: {names}" if versions else RESTORE
        return [Finding(part="CURRENT", what=what, remedy=remedy)] if versions or what != "it is missing" else []
    if mend:
        location.point(versions[0])
    return [Finding(part="CURRENT", what=f"{what}; there is one version, {versions[0].name}", mended=mend)]


def _check_leftovers(location: Location, *, mend: bool) -> Iterator[Finding]:
    for path in leftovers(location):
        if mend:
            clear_away(path) if path.is_dir() else drop(path)
            yield Finding(part="leftover", what=f"an interrupted command left {path} behind", mended=True)


def _check_erasure(folder: Path) -> Iterator[Finding]:
    if names := read_json(folder / INTERRUPTED).get("documents"):
        remedy = f"run: ragstone forget {shlex.join(names)} --kb {folder}"
        yield Finding(part="erasure", what="an erasure of documents was interrupted", remedy=remedy)


def _check_access(folder: Path) -> Iterator[Finding]:
    """Yield the files that this account may not read, because they could not be checked."""
    remedy = f"use the account that owns it, or let this one read it: chmod -R u+rX {folder}"
    for path in (folder, *sorted(folder.glob("*")), *sorted(folder.glob("v*/*")), *sorted(folder.glob("v*/*/*"))):
        needed = os.R_OK | os.X_OK if path.is_dir() else os.R_OK
        if not os.access(path, needed, effective_ids=os.access in os.supports_effective_ids):
            yield Finding(part="permissions", what=f"this account may not read {path}", remedy=remedy)
            return


def _check_permissions(location: Location) -> Iterator[Finding]:
    if files := public_files(location.folder):
        what = f"every account on this machine can read {', '.join(path.name for path in files)}"
        yield Finding(part="permissions", what=what, remedy=f"chmod -R go-rwx {location.folder}")


def _check_crawls(location: Location) -> Iterator[Finding]:
    for path in sorted((location.folder / "crawl").glob("*.db")):
        try:
            with closing(connect_to_check(path)) as db:
                lines = [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
        except Failed as error:
            lines = [str(error)]
        if lines:
            yield Finding(part="crawl", what=f"{path}: {lines[0]}", remedy=f"remove {path}; the next crawl starts over")
