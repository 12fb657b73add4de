"""Vector search inside the process: exact while the set is small, by codes above.

The files are mapped, not read, and hold no vectors once there are many, only codes: the vectors are in the catalog,
which is asked for those of the best few. What the catalog has added since the files were written is kept in memory
and compared exactly; when that grows it becomes a file of its own, or part of one (`ragstone.index.vectors.segments`).
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.catalog import NO_MATCHES, IndexedCatalog, Stamp
from ragstone.core.errors import Damaged
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.records import Matches
from ragstone.index.vectors.segments import Segment, columns_of, mergeable, merged, nothing, segment_of
from ragstone.index.vectors.sketch import Sketcher
from ragstone.storage.columns import Column, Described, map_columns, verify, write_columns
from ragstone.storage.disk import drop, make_folder, sync_folder
from ragstone.storage.files import disposable, identity, read_json, write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

LEAST_UNWRITTEN = 2000
"""Changes to keep in memory before the files are written."""
EXACT = 24
"""Candidates by codes to compare by their vectors. Codes misplace few: with 12 or 24 the ten best are the same."""
OUTGROWN = 10
"""Growth after which all codes are computed again, around a new mean."""
SAMPLED = 20_000
"""Vectors to compute the mean from."""
QUICK = 200_000
"""Without a file to read or a filter to evaluate, this many chunks take a millisecond or two to search, which is faster
than switching to a thread and back."""


@frozen(eq=False)
class _State:
    """The index at one commit; never changed, only replaced, so that searches need no lock.

    Rows ascend from segment to segment and on to ``late``: those that came last, as vectors. ``drawn`` is how many
    there were when the sketcher was made, ``sketcher_file`` where it lies, ``written`` how many rows of segments
    were known to be removed when the manifest was written.
    """

    stamp: Stamp
    segments: tuple[Segment, ...]
    late: Segment
    sketcher: Sketcher | None = None
    sketcher_file: Described | None = None
    drawn: int = 0
    written: int = 0

    @property
    def parts(self) -> tuple[Segment, ...]:
        return (*self.segments, self.late) if len(self.late) else self.segments

    @property
    def living(self) -> int:
        return sum(part.living for part in self.parts)

    @property
    def removed(self) -> int:
        return sum(len(part) - part.living for part in self.segments)

    @property
    def unwritten(self) -> int:
        """Changes since the manifest was written."""
        memory = sum(len(part) for part in self.parts if part.file is None)
        return memory + self.removed - self.written


class EmbeddedVectors:
    """The embedded vector index, the reference for all other engines."""

    def __init__(self, folder: Path, catalog: IndexedCatalog, *, dimensions: int, exact_limit: int) -> None:
        self._folder, self._catalog = folder, catalog
        self._dimensions, self._exact_limit = dimensions, exact_limit
        self._following = threading.Lock()
        self._state = self._read()

    async def search(self, vector: Vector, k: int, where: Filter | None = None) -> Matches:
        """Return the ``k`` nearest chunks by cosine similarity that match ``where``, best first.

        Above ``exact_limit`` chunks most of the nearest are found, not always all; the similarities of the best few
        are exact, those of the rest within a thousandth or so.
        """
        state, catalog = self._state, self._catalog
        if sum(map(len, state.parts)) <= QUICK and state.stamp == catalog.stamp():
            selected = None if where is None else catalog.selected(where)
            if where is None or selected is not None:
                return self._nearest(state, vector, k, selected)
        return await asyncio.to_thread(self._search, vector, k, where)

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog this index was last synced to."""
        return self._state.stamp

    def follow(self, *, write: bool) -> None:
        """Take in what the catalog has and this index lacks.

        Args:
            write: whether files may be written; only for the process that holds the lock.
        """
        with self._following:
            state = self._state
            if not write and state.unwritten > LEAST_UNWRITTEN and identity(self._manifest) != self._read_from:
                state = self._read()  # another process may have written it already
            state = self._caught_up(state)
            if write and state.unwritten > LEAST_UNWRITTEN:
                with disposable(self._folder):
                    state = self._written(state)
            self._state = state

    def verify(self) -> None:
        """Read every file that the manifest names; large ones are not read whole when they are opened.

        A flipped bit in them costs a chunk its place among the near ones, no more: what is shown is in the catalog.

        Raises:
            Damaged: one is not what was written.
        """
        state = self._read()
        try:
            for file in (state.sketcher_file, *(part.file for part in state.segments)):
                if file is not None:
                    verify(self._folder, file)
        except (OSError, ValueError) as error:
            raise Damaged(str(error)) from error

    # ------------------------------------------------------------ searching

    def _search(self, vector: Vector, k: int, where: Filter | None) -> Matches:
        if self._state.stamp != self._catalog.stamp():
            self.follow(write=False)
        return self._nearest(self._state, vector, k, None if where is None else self._catalog.select(where))

    def _nearest(self, state: _State, vector: Vector, k: int, selected: NDArray[np.int64] | None) -> Matches:
        if k < 1 or not state.parts:
            return NO_MATCHES
        query = None if state.sketcher is None else state.sketcher.query(vector)
        wanted = max(k, EXACT) if query else k
        nearest = [part.nearest(vector, query, wanted, selected) for part in state.parts]
        rows = np.concatenate([rows for rows, _ in nearest])
        scores = np.concatenate([scores for _, scores in nearest])
        if len(rows) > wanted:
            best = np.argpartition(-scores, wanted - 1)[:wanted]
            rows, scores = rows[best], scores[best]
        if query:
            self._compare_exactly(vector, rows, scores)
        order = np.lexsort((rows, -scores))[:k]
        return Matches(rows=rows[order], scores=scores[order])

    def _compare_exactly(self, vector: Vector, rows: NDArray[np.int64], scores: Vector) -> None:
        """Replace the similarities by codes with those by vectors, for the best few."""
        best = np.argsort(-scores)[:EXACT]
        vectors = self._catalog.vectors(rows[best].tolist())
        kept = [place for place in best.tolist() if int(rows[place]) in vectors]  # a row may have been removed since
        if kept:
            scores[kept] = np.stack([vectors[int(rows[place])] for place in kept]) @ vector

    # ------------------------------------------------------------ following

    def _caught_up(self, state: _State) -> _State:
        with self._catalog.snapshot() as now:
            if now == state.stamp:
                return state
            if not self._catalog.knows(state.stamp):  # a backup of the catalog was restored
                state = self._empty()
            since = state.stamp.generation
            removed = np.array(self._catalog.removed_since(since), dtype=np.int64)
            if len(removed):
                late = state.late.without(removed).compact()
                segments = tuple(part.without(removed) for part in state.segments)
                state = replace(state, segments=segments, late=late)
            for rows, vectors in self._catalog.vectors_since(since, self._dimensions):
                state = self._with(state, rows, vectors)
        return replace(state, stamp=now)

    def _with(self, state: _State, rows: NDArray[np.int64], vectors: Vector) -> _State:
        """Return the state with chunks added."""
        vectors = np.concatenate([state.late.vectors, vectors]) if state.late.vectors is not None else vectors
        late = Segment(rows=np.concatenate([state.late.rows, rows]), vectors=vectors)
        state = replace(state, late=late)
        if state.sketcher is None and (living := state.living) > self._exact_limit:
            sketcher = Sketcher.of(self._catalog.sample_vectors(SAMPLED, self._dimensions))
            segments = tuple(part.coded(sketcher) for part in state.segments)
            state = replace(state, sketcher=sketcher, sketcher_file=None, drawn=living, segments=segments)
        return self._settled(state) if len(late) > LEAST_UNWRITTEN else state

    def _settled(self, state: _State) -> _State:
        """Return the state with the latest chunks merged into a segment in memory."""
        late = state.late.coded(state.sketcher) if state.sketcher else state.late
        memory = [part for part in state.segments if part.file is None]
        count = mergeable(memory, len(late))
        parts = [*memory[len(memory) - count :], late]
        kept = state.segments[: len(state.segments) - count]
        segment = merged(parts, self._dimensions) if count else late
        return replace(state, segments=(*kept, segment), late=nothing(self._dimensions))

    def _empty(self) -> _State:
        return _State(stamp=Stamp(), segments=(), late=nothing(self._dimensions))

    # ------------------------------------------------------------ files

    @property
    def _manifest(self) -> Path:
        return self._folder / "manifest.json"

    def _written(self, state: _State) -> _State:
        """Return the state with all chunks in files."""
        make_folder(self._folder.absolute())
        if state.sketcher and (state.living > OUTGROWN * state.drawn or state.living < self._exact_limit // 2):
            state = self._caught_up(self._empty())
        state = self._settled(state) if len(state.late) else state
        kept = [part for part in state.segments if part.file is not None]
        fresh = [part for part in state.segments if part.file is None]
        count = mergeable(kept, sum(map(len, fresh)))
        if state.removed * 4 > sum(map(len, state.segments)):
            count = len(kept)
        kept, fresh = kept[: len(kept) - count], [*kept[len(kept) - count :], *fresh]
        try:
            for part in fresh:
                if part.file is not None:
                    verify(self._folder, part.file)  # a damaged file must not get a new checksum
        except (OSError, ValueError):
            return self._written(self._caught_up(self._empty()))
        if any(part.living for part in fresh):
            kept.append(self._segment(self._file("segment", state.stamp, columns_of(fresh))))
        removed = np.concatenate([nothing(0).rows, *(part.removed for part in kept)])
        removed_file = self._file("removed", state.stamp, {"rows": _column(removed)}) if len(removed) else None
        sketcher, sketcher_file = state.sketcher, state.sketcher_file
        if sketcher is not None and sketcher_file is None:
            columns = {"mean": _column(sketcher.mean), "rotation": _column(sketcher.rotation)}
            sketcher_file = self._file("sketcher", state.stamp, columns)
        sync_folder(self._folder)
        files = {"sketcher": sketcher_file, "removed": removed_file}
        manifest = {
            "stamp": asdict(state.stamp),
            "drawn": state.drawn,
            "segments": [part.file.to_json() for part in kept if part.file],
            **{name: file and file.to_json() for name, file in files.items()},
        }
        write_json(self._manifest, manifest)
        self._read_from = identity(self._manifest)
        named = {file.name for file in (*files.values(), *(part.file for part in kept)) if file}
        for old in (*self._folder.glob("*.npy"), *self._folder.glob("*.columns")):
            if old.name not in named:
                drop(old)
        return replace(state, segments=tuple(kept), sketcher_file=sketcher_file, written=len(removed))

    def _file(self, kind: str, stamp: Stamp, columns: dict[str, Column]) -> Described:
        # A name never used before: another process may have mapped the old file, and must not see it change.
        return write_columns(self._folder / f"{kind}-{stamp.generation}-{secrets.token_hex(4)}.columns", columns)

    def _read(self) -> _State:
        """The state the files hold; an empty one, to be filled from the catalog, where they are not sound."""
        for _ in range(3):
            self._read_from = identity(self._manifest)
            try:
                return self._read_files(read_json(self._manifest))
            except (KeyError, ValueError, OSError, TypeError, AttributeError):
                if identity(self._manifest) == self._read_from:  # else it was replaced, with its files, meanwhile
                    break
        return self._empty()

    def _read_files(self, manifest: dict[str, Any]) -> _State:
        segments = tuple(self._segment(Described.from_json(one)) for one in manifest["segments"])
        if any(before.rows[-1] >= after.rows[0] for before, after in pairwise(segments)):
            raise ValueError("rows do not ascend")
        sketcher, sketcher_file = None, None
        if manifest["sketcher"]:
            sketcher_file = Described.from_json(manifest["sketcher"])
            arrays = map_columns(self._folder, sketcher_file)
            sketcher = Sketcher(mean=arrays["mean"], rotation=arrays["rotation"])
            if sketcher.rotation.shape != (self._dimensions, self._dimensions):
                raise ValueError("the rotation has another shape")
        if any(part.codes is not None for part in segments) != bool(sketcher and segments):
            raise ValueError("codes need a sketcher")
        removed = nothing(0).rows
        if manifest["removed"]:
            removed = map_columns(self._folder, Described.from_json(manifest["removed"]))["rows"]
        return _State(
            stamp=Stamp(**manifest["stamp"]),
            segments=tuple(part.without(removed) for part in segments),
            late=nothing(self._dimensions),
            sketcher=sketcher,
            sketcher_file=sketcher_file,
            drawn=int(manifest["drawn"]),
            written=len(removed),
        )

    def _segment(self, file: Described) -> Segment:
        return segment_of(map_columns(self._folder, file), self._dimensions, file)


def _column(array: NDArray[Any]) -> Column:
    return Column(dtype=array.dtype.str, shape=array.shape, pieces=[array])
