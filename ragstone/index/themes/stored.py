"""The themes of a selection of chunks, kept in a file and brought up to date when they are asked for.

A selection is what a filter lets through, a reader's rights included: nobody's themes are made of chunks that they may
not read. The files are disposable. New chunks go to the nearest theme; the themes are made again when much has changed.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.catalog import IndexedCatalog, Stamp
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.filters import Filter, filter_key
from ragstone.index.themes.clusters import SAMPLE, Themes, centroids_of, nearest
from ragstone.storage.disk import drop, make_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

MOST_FILES = 32
"""Selections whose themes are kept; those that changed last stay."""
AT_ONCE = 10_000
"""Vectors to read at once."""


class StoredThemes:
    """The themes of one version of a knowledge base."""

    def __init__(self, folder: Path, catalog: IndexedCatalog) -> None:
        self._folder, self._catalog, self._making = folder, catalog, Lock()

    def of(self, where: Filter | None) -> Themes | None:
        """Return the themes of the chunks that a filter lets through; None if it lets none through.

        Reads all vectors of the selection the first time, and later those that came since.
        """
        catalog = self._catalog
        # Who asks at the same time waits for the file; always in this order, because callers hold snapshots.
        with catalog.snapshot() as now, self._making:
            rows = catalog.rows_since(0) if where is None else catalog.select(where)
            rows = np.sort(rows)
            if not len(rows):
                return None
            file = self._folder / f"{_name(where)}.npz"
            stamp, kept = _read(file)
            if kept is None or not catalog.knows(stamp):  # a catalog that was put back uses row numbers again
                themes = self._made(rows)
            elif stamp == now and np.array_equal(kept.rows, rows):
                return kept
            else:
                themes = self._updated(kept, rows)
                themes = self._made(rows) if themes.has_drifted else themes
            self._write(file, now, themes)
        return themes

    def _made(self, rows: Rows) -> Themes:
        """Return themes of these chunks, computed from at most `SAMPLE` of them."""
        sampled = rows[np.unique(np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows)), dtype=np.int64))]
        mean, centroids = centroids_of(np.concatenate([*self._vectors(sampled)]))
        theme, fit = self._assigned(rows, mean, centroids)
        themes = Themes(
            rows=rows,
            theme=theme,
            fit=fit,
            mean=mean,
            centroids=centroids,
            built=len(rows),
            built_fit=float(fit.mean()),
        )
        used = np.flatnonzero(themes.sizes())
        renumbered = np.searchsorted(used, theme).astype(np.int16)
        return replace(themes, centroids=centroids[used], theme=renumbered)

    def _updated(self, before: Themes, rows: Rows) -> Themes:
        """Return themes of the same centroids, without the chunks that went and with those that came."""
        stay = np.isin(before.rows, rows, assume_unique=True)
        came = np.setdiff1d(rows, before.rows, assume_unique=True)
        theme, fit = self._assigned(came, before.mean, before.centroids)
        together = np.concatenate([before.rows[stay], came])
        order = np.argsort(together, kind="stable")
        added = before.added + len(came)
        return replace(
            before,
            rows=together[order],
            theme=np.concatenate([before.theme[stay], theme])[order],
            fit=np.concatenate([before.fit[stay], fit])[order],
            changed=before.changed + len(came) + int((~stay).sum()),
            added=added,
            added_fit=(before.added_fit * before.added + float(fit.sum())) / max(added, 1),
        )

    def _assigned(self, rows: Rows, mean: Vector, centroids: Vector) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
        """Return theme and fit of chunks."""
        parts = [nearest(vectors, mean, centroids) for vectors in self._vectors(rows)]
        return (
            np.concatenate([np.empty(0, np.int16), *(theme for theme, _ in parts)]),
            np.concatenate([np.empty(0, np.float32), *(fit for _, fit in parts)]),
        )

    def _vectors(self, rows: Rows) -> Iterator[Vector]:
        """Yield the vectors (n, dimensions) of rows, in parts and in their order."""
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            vectors = self._catalog.vectors(part.tolist())
            yield np.stack([vectors[row] for row in part.tolist()])

    def _write(self, file: Path, stamp: Stamp, themes: Themes) -> None:
        """Keep the themes; a folder that cannot be written costs time, nothing else."""
        content = io.BytesIO()
        np.savez(content, generation=stamp.generation, mark=stamp.mark, **asdict(themes))
        with suppress(OSError, KnowledgeBaseError):
            make_folder(self._folder)
            replace_file(file, content.getvalue())
            kept = sorted(self._folder.glob("*.npz"), key=lambda one: one.stat().st_mtime, reverse=True)
            for old in kept[MOST_FILES:]:
                drop(old)


def _read(file: Path) -> tuple[Stamp, Themes | None]:
    """Return the themes in a file with the commit they are of; None if the file is missing or damaged."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            stamp = Stamp(generation=int(arrays["generation"]), mark=str(arrays["mark"]))
            return stamp, Themes(
                rows=arrays["rows"],
                theme=arrays["theme"],
                fit=arrays["fit"],
                mean=arrays["mean"],
                centroids=arrays["centroids"],
                built=int(arrays["built"]),
                built_fit=float(arrays["built_fit"]),
                changed=int(arrays["changed"]),
                added=int(arrays["added"]),
                added_fit=float(arrays["added_fit"]),
            )
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return Stamp(), None


def _name(where: Filter | None) -> str:
    return hashlib.sha256(filter_key(where).encode()).hexdigest()[:32] if where else "all"
