"""Is all of a knowledge base what was written? Looks at everything, mends what can be made again, names what cannot."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ragstone import chunk, index
from ragstone.config import load
from ragstone.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.index import Finding, Home, Patience, Stamp
from ragstone.index.disk import clear_away, drop
from ragstone.index.journal import findings as journal_findings
from ragstone.keeping.built import BuiltWith
from ragstone.keeping.homes import home_at
from ragstone.parts import Parts

MEND_AT_ONCE = 256
ROUNDED = 0.01
"""Similarities that are told from codes are within a thousandth or so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What was looked at, and all that was found."""

    folder: str
    documents: int
    chunks: int
    findings: tuple[Finding, ...]

    @property
    def well(self) -> bool:
        """Nothing was found, or all that was found was mended."""
        return all(one.mended for one in self.findings)


def doctor(folder: Path, *, mend: bool = False, patience: Patience | None = None) -> Health:
    """Look at a knowledge base from end to end.

    Args:
        folder: where it lies.
        mend: make again what can be made from the rest: indexes, vectors, the pointer; and clear leftovers away.
        patience: how long to wait for an indexer before mending.

    Raises:
        NotFound: there is none.
        Locked: something is to be mended while another process is indexing.
    """
    home = home_at(folder)
    if not folder.is_dir():
        raise NotFound(f"there is no knowledge base at {folder}")
    with home.indexing(patience) if mend else nullcontext():
        pointer = _pointer(home, mend=mend)
        try:
            version = home.current()
        except KnowledgeBaseError:
            version = None
        if version is None:
            if not pointer:
                raise NotFound(f"there is no knowledge base at {folder}; make one: ragstone add SOURCE --kb {folder}")
            return Health(folder=str(folder), documents=0, chunks=0, findings=tuple(pointer))
        findings = [*pointer, *_leftovers(home, mend=mend), *_crawls(home), *journal_findings(folder)]
        try:
            catalog = home.catalog(version)
        except KnowledgeBaseError as error:
            findings.append(Finding(part="catalog", what=str(error), remedy=index.RESTORE))
            return Health(folder=str(folder), documents=0, chunks=0, findings=tuple(findings))
        with closing(catalog):
            found = catalog.verify(chunk.chunk_id)
            documents = chunks = 0
            if not any(one.part == "catalog" for one in found):
                remembered = BuiltWith(**catalog.built_with()).remembered(home.engines())
                patient = _Patient(version, catalog, load(remembered=remembered).settings)
                found = [patient.treat(one) if mend else one for one in found]
                found += patient.indexes(mend=mend, anew=any(one.part == "stored vectors" for one in found))
                found += index.differences(patient._outside(), mend=mend)
                counts = catalog.counts()
                documents, chunks = counts.documents, counts.chunks
        return Health(folder=str(folder), documents=documents, chunks=chunks, findings=(*findings, *found))


class _Patient(Parts):
    """The parts of a knowledge base, to be made again."""

    def treat(self, finding: Finding) -> Finding:
        """Mend what the catalog can tell of itself."""
        match finding.part:
            case "database indexes":
                self._catalog.reindex()
            case "stored vectors":
                asyncio.run(self._embed_again(finding.documents))
            case _:
                return finding
        return replace(finding, mended=True)

    async def _embed_again(self, ids: tuple[str, ...]) -> None:
        chunks = self._catalog.chunks_of(ids)
        items = list(chunks.items())
        for start in range(0, len(items), MEND_AT_ONCE):
            part = items[start : start + MEND_AT_ONCE]
            vectors = await self._embedder.embed([one.headed for one in dict(part).values()], role="passage")
            self._catalog.put_vectors(dict(zip(dict(part), vectors, strict=True)))

    def indexes(self, *, mend: bool, anew: bool) -> Iterator[Finding]:
        """What is wrong with the indexes: damaged, or of commits that the catalog does not have."""
        now = self._catalog.stamp()
        for part, folder in (("terms", self._version / "terms"), ("vectors", self._version / "vectors")):
            if part == "vectors" and self.settings.index.vectors != "embedded":
                continue
            stamp = self._terms.stamp if part == "terms" else self._vectors.stamp
            written = folder.is_dir() and any(folder.iterdir())
            what = ""
            if stamp == Stamp():
                # An index without files is not damaged: nothing was asked yet, or so little is stored that none are.
                what = "is damaged, or made by another version" if written and now.generation else ""
            elif not self._catalog.knows(stamp):
                what = "is made from commits that the catalog does not have"
                if stamp.generation >= now.generation:
                    yield Finding(
                        part="catalog",
                        what=f"it ends at commit {now.generation}, and the index {part} was made from commit"
                        f" {stamp.generation} of another end: the last commits are lost, or an older copy was put back",
                        remedy="add the sources again: ragstone sync SOURCE; or " + index.RESTORE,
                    )
            elif not (part == "terms" or self._vectors_agree()):
                what = "does not hold the vectors of the catalog"
            if mend and (what or (anew and part == "vectors")):
                clear_away(folder)
            if what:
                yield Finding(part=f"index {part}", what=what, mended=mend)
        if mend:
            again = Parts(self._version, self._catalog, self.settings)
            again._terms.follow()
            if self.settings.index.vectors == "embedded":
                again._vectors.follow(write=True)

    def _vectors_agree(self) -> bool:
        """Whether a search over everything finds every chunk, with the similarity that the catalog's vector has."""
        probe, numbers, scores = None, [], []
        for rows, vectors in self._catalog.vectors_since(0, self._embedder.dimensions):
            probe = vectors[0].copy() if probe is None else probe
            numbers.append(rows)
            scores.append(vectors @ probe)
        if probe is None:
            return True
        wanted, expected = np.concatenate(numbers), np.concatenate(scores)
        matches = asyncio.run(self._vectors.search(probe, len(wanted)))
        order = np.argsort(matches.rows)
        return np.array_equal(matches.rows[order], wanted) and bool(
            np.allclose(matches.scores[order], expected, atol=ROUNDED)
        )


def _pointer(home: Home, *, mend: bool) -> list[Finding]:
    if home.is_shared:
        return []
    try:
        if home.current() is not None:
            return []
        what = "it is gone"
    except Damaged as error:
        what = str(error)
    versions = home.versions()
    if len(versions) != 1:
        names = ", ".join(version.name for version in versions)
        remedy = f"write the name of the version in use into it: {names}" if versions else index.RESTORE
        return [Finding(part="CURRENT", what=what, remedy=remedy)] if versions or what != "it is gone" else []
    if mend:
        home.point(versions[0])
    return [Finding(part="CURRENT", what=f"{what}; there is one version, {versions[0].name}", mended=mend)]


def _leftovers(home: Home, *, mend: bool) -> Iterator[Finding]:
    for path in home.leftovers():
        if mend:
            clear_away(path) if path.is_dir() else drop(path)
            yield Finding(part="leftover", what=f"{path} was left by an interrupted command", mended=True)


def _crawls(home: Home) -> Iterator[Finding]:
    for path in sorted((home.folder / "crawl").glob("*.db")):
        try:
            with closing(sqlite3.connect(path)) as db:
                lines = [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
        except sqlite3.DatabaseError as error:
            lines = [str(error)]
        if lines:
            yield Finding(part="crawl", what=f"{path}: {lines[0]}", remedy=f"remove {path}; the next crawl begins anew")
