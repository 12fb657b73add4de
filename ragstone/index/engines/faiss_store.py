"""Vectors in FAISS, in this process: Flat is exact, HNSW quick, IVF in between, PQ small.

An index is one file, rewritten when enough has changed and never altered, so any process may have it mapped. FAISS
numbers vectors by their place; which row stands where, and which are gone, is kept with them.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import asdict, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.catalog import Stamp
from ragstone.core.errors import Damaged, MissingExtra
from ragstone.core.frozen import frozen
from ragstone.index.follow.protocol import StoreContext
from ragstone.storage.columns import Column, Described, map_columns, verify, write_columns
from ragstone.storage.disk import drop, make_folder, sync_folder
from ragstone.storage.files import disposable, identity, read_json, write_json

try:
    faiss: Any = import_module("faiss")  # its type stubs do not fit its functions
except ImportError as error:
    raise MissingExtra("faiss-cpu", extra="faiss") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

LEARNABLE = 10_000
"""The least number of vectors to train IVF and PQ on; with fewer, Flat is as fast."""
OUTGROWN = 10
"""Growth after which they are trained again."""
LEAST, SHARE = 2000, 20
"""The file is written after this many changes, or after one in `SHARE` changed if that is more; at most `MOST`."""
MOST = 40_000
LINKS, BUILD_EFFORT, EFFORT = 32, 100, 256
"""Parameters of HNSW: neighbours of a vector, candidates when it is added, candidates of a search."""
LEAST_LISTS, LISTS_SHARE = 64, 8
"""Parameters of IVF: the least number of lists to read, and the share of all, one in `LISTS_SHARE`."""
REFINED = 8
"""How many times more rows PQ is asked for than wanted."""


@frozen(eq=False)
class _State:
    """The content of a file; never changed, only replaced. ``learnt`` is the number of vectors it was trained on."""

    index: Any
    rows: Rows
    alive: NDArray[np.bool_]
    kind: str
    stamp: Stamp = field(default_factory=Stamp)
    learnt: int = 0
    file: Described | None = None


class FaissStore:
    """A FAISS index in a folder, of a ``kind``: Flat, HNSW, IVF or PQ."""

    def __init__(self, folder: Path, kind: str, dimensions: int) -> None:
        self._folder, self._kind, self._dimensions = folder, kind, dimensions
        self._read_from = (-1, -1, -1)
        self._state = self._empty("Flat", 0)
        self._coming = self._state

    @property
    def name(self) -> str:
        return f"faiss:{self._kind}"

    @property
    def least(self) -> int:
        return min(MOST, max(LEAST, len(self._state.rows) // SHARE))

    @property
    def refine(self) -> int:
        return REFINED if self._state.kind == "PQ" else 1

    @property
    def worn(self) -> bool:
        state = self._state
        gone = len(state.rows) - int(state.alive.sum())
        learns = self._kind in ("IVF", "PQ")
        return gone * 4 > len(state.rows) or (
            learns and len(state.rows) > OUTGROWN * max(state.learnt, LEARNABLE // 10)
        )

    def stamp(self) -> Stamp:
        if identity(self._manifest) != self._read_from:
            self._state = self._read()
        return self._state.stamp

    # ------------------------------------------------------------ changing

    def begin(self, sample: Vector) -> None:
        learns = self._kind in ("IVF", "PQ")
        kind = "Flat" if learns and len(sample) < LEARNABLE else self._kind
        self._coming = self._empty(kind, len(sample))
        if learns and kind == self._kind:
            self._coming.index.train(sample)

    def drop(self, rows: Rows) -> None:
        """Copy the index before changing it, so that searches do not see the change."""
        state = self._state
        self._coming = replace(
            state, index=faiss.clone_index(state.index), alive=state.alive & ~np.isin(state.rows, rows)
        )

    def put(self, rows: Rows, vectors: Vector) -> None:
        state = self._coming
        present = np.isin(rows, state.rows)
        alive = state.alive | np.isin(state.rows, rows)
        state.index.add(np.ascontiguousarray(vectors[~present]))
        fresh = rows[~present]
        self._coming = replace(
            state,
            rows=np.concatenate([state.rows, fresh]),
            alive=np.concatenate([alive, np.ones(len(fresh), dtype=bool)]),
        )

    def seal(self, stamp: Stamp) -> None:
        state = replace(self._coming, stamp=stamp)
        with disposable(self._folder):
            make_folder(self._folder.absolute())
            arrays = {"rows": state.rows, "alive": state.alive, "index": faiss.serialize_index(state.index)}
            columns = {name: Column(dtype=one.dtype.str, shape=one.shape, pieces=[one]) for name, one in arrays.items()}
            file = write_columns(self._folder / f"index-{stamp.generation}-{secrets.token_hex(4)}.columns", columns)
            sync_folder(self._folder)
            about = {"stamp": asdict(stamp), "kind": state.kind, "learnt": state.learnt, "file": file.to_json()}
            write_json(self._manifest, about | {"dimensions": self._dimensions})
        self._read_from = identity(self._manifest)
        self._state = self._coming = replace(state, file=file)
        for old in self._folder.glob("*.columns"):
            if old.name != file.name:
                drop(old)

    def publish(self) -> None:
        """Do nothing: no other program uses the file."""

    # ------------------------------------------------------------ searching

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        state = self._state
        if not len(state.rows) or k < 1:
            return _none()
        mask = None if state.alive.all() else state.alive
        if allowed is not None:
            mask = np.isin(state.rows, allowed, assume_unique=True) & state.alive
        _, found = _searched(state, np.ascontiguousarray(vector[None]), min(k, len(state.rows)), mask)
        return state.rows[found[0][found[0] >= 0]]

    def rows(self) -> Rows:
        if self._state.file is not None:
            try:
                verify(self._folder, self._state.file)
            except (OSError, ValueError) as error:
                raise Damaged(str(error)) from error
        return np.sort(self._state.rows[self._state.alive])

    def differing(self, rows: Rows, vectors: Vector) -> Rows:
        del rows, vectors  # `rows` compares the file with its checksum; a kind that compresses holds other vectors
        return _none()

    # ------------------------------------------------------------ files

    @property
    def _manifest(self) -> Path:
        return self._folder / "manifest.json"

    def _read(self) -> _State:
        """Return the content of the files; empty if they are damaged or hold other vectors."""
        for _ in range(3):
            self._read_from = identity(self._manifest)
            about = read_json(self._manifest)
            with suppress(KeyError, ValueError, OSError, TypeError, AttributeError, RuntimeError):
                file = Described.from_json(about["file"])
                arrays = map_columns(self._folder, file)
                index = faiss.deserialize_index(np.array(arrays["index"]))
                if index.d != self._dimensions or index.ntotal != len(arrays["rows"]):
                    raise ValueError("it is of other vectors")
                return _State(
                    index=index,
                    rows=np.array(arrays["rows"]),
                    alive=np.array(arrays["alive"]),
                    kind=str(about["kind"]),
                    stamp=Stamp(**about["stamp"]),
                    learnt=int(about["learnt"]),
                    file=file,
                )
            if identity(self._manifest) == self._read_from:  # else it was replaced, with its file, meanwhile
                break
        return self._empty("Flat", 0)

    def _empty(self, kind: str, learnt: int) -> _State:
        index = _made(kind, self._dimensions, learnt)
        return _State(index=index, rows=_none(), alive=np.empty(0, dtype=bool), kind=kind, learnt=learnt)


def _made(kind: str, dimensions: int, count: int) -> Any:
    """Return an empty FAISS index; inner products are cosines, because the vectors have length 1."""
    metric = faiss.METRIC_INNER_PRODUCT
    match kind:
        case "HNSW":
            index = faiss.IndexHNSWFlat(dimensions, LINKS, metric)
            index.hnsw.efConstruction = BUILD_EFFORT
            return index
        case "IVF":
            lists = max(1, min(int(4 * count**0.5), count // 39))
            return faiss.IndexIVFFlat(faiss.IndexFlatIP(dimensions), dimensions, lists, metric)
        case "PQ":
            # One list, for FAISS's plain PQ takes no filter.
            width = next(width for width in (4, 3, 2, 1) if dimensions % width == 0)
            index = faiss.IndexIVFPQ(faiss.IndexFlatIP(dimensions), dimensions, 1, dimensions // width, 8, metric)
            index.by_residual = False
            return index
        case _:
            return faiss.IndexFlatIP(dimensions)


def _searched(state: _State, query: Vector, k: int, mask: NDArray[np.bool_] | None) -> Any:
    """Return search parameters that limit FAISS to the positions of a mask."""
    index, count = state.index, len(state.rows)
    share = 1.0 if mask is None else max(1, np.count_nonzero(mask)) / count
    # The bits are held here: FAISS keeps only where they are.
    bits = None if mask is None else np.packbits(mask, bitorder="little")
    selector = None if bits is None else faiss.IDSelectorBitmap(bits)
    match state.kind:
        case "HNSW" if share < 0.5 or k * 10 > count:  # the graph would lose its way; the vectors are all there
            storage = faiss.downcast_index(index.storage)
            return storage.search(query, k, params=faiss.SearchParameters(sel=selector))
        case "HNSW":
            effort = max(EFFORT, 2 * k)
            return index.search(query, k, params=faiss.SearchParametersHNSW(sel=selector, efSearch=effort))
        case "IVF":
            lists = max(LEAST_LISTS, index.nlist // LISTS_SHARE) / share * max(1.0, k * 20 / count)
            probes = min(index.nlist, int(lists))
            return index.search(query, k, params=faiss.SearchParametersIVF(sel=selector, nprobe=probes))
        case "PQ":
            return index.search(query, k, params=faiss.SearchParametersIVF(sel=selector, nprobe=1))
        case _:
            return index.search(query, k, params=faiss.SearchParameters(sel=selector))


def _none() -> Rows:
    return np.empty(0, dtype=np.int64)


def build(context: StoreContext) -> FaissStore:
    """Return the store of a version, in a folder of its own for each kind."""
    return FaissStore(context.version / f"faiss-{context.kind.lower()}", context.kind, context.dimensions)
