"""Vector search inside the process: exact while the set is small, by sketch and then exact above.

The vectors lie in one file that is mapped, not read. What the catalog has added or removed since that
file was written is kept in memory beside it; when that grows, the file is written anew.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.contracts import Filter, Match
from ragstone.index.catalog import Catalog
from ragstone.index.files import checksum, disposable, read_json, sync_folder, write_json
from ragstone.index.records import Stamp
from ragstone.index.sketch import Sketcher, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector
    from ragstone.index.sketch import Codes

LEAST_UNWRITTEN = 2000
"""So many changes since the file was written are always kept in memory; above, a tenth of the file."""
COMPARED = 1600
"""At least so many of the nearest by sketch are compared exactly, and a sixtieth of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """The vectors at one commit; never changed, only replaced, so that searches need no lock."""

    stamp: Stamp
    rows: NDArray[np.int64]
    written: Vector
    unwritten: Vector
    alive: NDArray[np.bool_]
    sketcher: Sketcher | None
    codes: Codes | None

    def take(self, positions: NDArray[np.intp]) -> Vector:
        """The vectors at these positions, wherever they lie."""
        late = positions >= len(self.written)
        out = np.empty((len(positions), self.unwritten.shape[1]), dtype=np.float32)
        out[~late] = self.written[positions[~late]]
        out[late] = self.unwritten[positions[late] - len(self.written)]
        return out


class EmbeddedVectors:
    """The in-process vector index; the reference that other engines are compared with."""

    def __init__(self, folder: Path, catalog: Catalog, *, dimensions: int, exact_limit: int) -> None:
        self._folder, self._catalog = folder, catalog
        self._dimensions, self._exact_limit = dimensions, exact_limit
        self._following = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        self._state = self._read()

    async def search(self, vector: Vector, k: int, where: Filter | None = None) -> list[Match]:
        """The ``k`` nearest chunks by cosine similarity, best first, of those ``where`` lets through."""
        return await asyncio.to_thread(self._search, vector, k, where)

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog this index was last brought up to."""
        return self._state.stamp

    def follow(self, *, write: bool) -> None:
        """Take in what the catalog has and this index has not.

        Args:
            write: whether the file may be written anew; only for the process that holds the lock.
        """
        with self._following:
            state = self._caught_up(self._state)
            changed = len(state.unwritten) + int(np.count_nonzero(~state.alive))
            if write and changed > max(LEAST_UNWRITTEN, len(state.written) // 10):
                with disposable(self._folder):
                    state = self._written(state)
            self._state = state

    def _search(self, vector: Vector, k: int, where: Filter | None) -> list[Match]:
        if self._state.stamp != self._catalog.stamp():
            self.follow(write=False)
        state = self._state
        chosen = state.alive
        if where is not None:
            chosen = state.alive & np.isin(state.rows, self._catalog.select(where), assume_unique=True)
        positions = np.flatnonzero(chosen)
        k = min(k, len(positions))
        if k < 1:
            return []
        if state.codes is not None and state.sketcher is not None:
            count = max(COMPARED, len(positions) // 60, k)
            if len(positions) > count:
                codes = state.codes if len(positions) == len(state.rows) else state.codes[:, positions]
                positions = positions[nearest(codes, state.sketcher.codes(vector[None]), count)]
        if len(positions) * 4 > len(state.rows):  # copying many vectors takes longer than comparing all
            scores = np.concatenate([state.written @ vector, state.unwritten @ vector])[positions]
        else:
            scores = state.take(positions) @ vector
        best = np.argpartition(-scores, k - 1)[:k]
        best = best[np.lexsort((state.rows[positions[best]], -scores[best]))]
        return [Match(row=int(state.rows[positions[i]]), score=float(scores[i])) for i in best]

    def _caught_up(self, state: _State) -> _State:
        with self._catalog.snapshot() as now:
            if now == state.stamp:
                return state
            if not self._catalog.knows(state.stamp):  # an older copy of the catalog was put in place
                state = self._empty()
            removed = self._catalog.removed_since(state.stamp.generation)
            rows, vectors = self._catalog.vectors_since(state.stamp.generation, self._dimensions)
        gone = np.isin(state.rows, np.array(removed, dtype=np.int64), assume_unique=True)
        codes = None
        if state.codes is not None and state.sketcher is not None:
            codes = np.concatenate([state.codes, state.sketcher.codes(vectors)], axis=1) if len(rows) else state.codes
        if len(state.unwritten):
            vectors = np.concatenate([state.unwritten, vectors])
        return replace(
            state,
            stamp=now,
            rows=np.concatenate([state.rows, rows]),
            unwritten=vectors,
            alive=np.concatenate([state.alive & ~gone, np.ones(len(rows), dtype=np.bool_)]),
            codes=codes,
        )

    def _written(self, state: _State) -> _State:
        """The same vectors, in a new file, without those that are gone."""
        rows, vectors = state.rows[state.alive], state.take(np.flatnonzero(state.alive))
        arrays = {"rows": rows, "vectors": vectors}
        if len(rows) > self._exact_limit:
            sketcher = Sketcher.of(vectors)
            arrays |= {"mean": sketcher.mean, "rotation": sketcher.rotation, "codes": sketcher.codes(vectors)}
        # A name never used before: another process may have mapped the old file, and must not see it change.
        names = {part: f"{part}-{state.stamp.generation}-{secrets.token_hex(4)}.npy" for part in arrays}
        for part, array in arrays.items():
            with (self._folder / names[part]).open("wb") as file:
                np.save(file, array, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())  # a manifest must not name what is not there
        sync_folder(self._folder)
        files = {part: [name, checksum(self._folder / name)] for part, name in names.items()}
        write_json(self._folder / "manifest.json", {"stamp": asdict(state.stamp), "files": files})
        for old in self._folder.glob("*.npy"):
            if old.name not in names.values():
                old.unlink()
        return self._read()

    def _read(self) -> _State:
        """The state the files hold; an empty one, to be filled from the catalog, where they are not sound."""
        manifest = read_json(self._folder / "manifest.json")
        arrays: dict[str, NDArray[Any]] = {}
        try:
            stamp = Stamp(**manifest["stamp"])
            for part, (name, expected) in manifest["files"].items():
                if checksum(self._folder / name) != expected:
                    raise ValueError(f"{name} is not what was written")
                arrays[part] = np.load(self._folder / name, mmap_mode="r", allow_pickle=False)
            rows, vectors = np.array(arrays["rows"]), arrays["vectors"]
            if vectors.shape != (len(rows), self._dimensions) or vectors.dtype != np.float32:
                raise ValueError("shapes differ")
            sketcher, codes = None, None
            if len(rows) > self._exact_limit and "codes" in arrays:
                sketcher = Sketcher(np.array(arrays["mean"]), np.array(arrays["rotation"]))
                codes = np.array(arrays["codes"])
        except (KeyError, ValueError, OSError, TypeError, AttributeError):
            return self._empty()
        return _State(
            stamp=stamp,
            rows=rows,
            written=vectors,
            unwritten=np.empty((0, self._dimensions), dtype=np.float32),
            alive=np.ones(len(rows), dtype=np.bool_),
            sketcher=sketcher,
            codes=codes,
        )

    def _empty(self) -> _State:
        nothing = np.empty((0, self._dimensions), dtype=np.float32)
        return _State(
            stamp=Stamp(),
            rows=np.empty(0, dtype=np.int64),
            written=nothing,
            unwritten=nothing,
            alive=np.empty(0, dtype=np.bool_),
            sketcher=None,
            codes=None,
        )
