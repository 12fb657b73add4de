"""What the catalog and the indexes tell of themselves, and what an index tells where there is nothing to find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragstone.contracts import Matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    documents: int
    chunks: int
    vectors: int
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A commit: its number, and a random mark.

    A catalog put back from a copy counts on from there, so numbers, of commits and of chunks, come again
    with another meaning; marks do not. The stamp without a mark stands before all commits.
    """

    generation: int = 0
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatus:
    """An index that is not the embedded one: which leg it serves, by what, and how many commits it is ``behind``.

    ``problem`` says why it cannot be asked; then nothing is known of ``behind``.
    """

    leg: str
    engine: str
    behind: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What a catalog knows beside its documents: states of files, what was skipped, and when each was added.

    ``files`` are sources with their stamps, ``skipped`` sources with reasons, ``added`` ids with signatures and times.
    """

    files: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    added: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as it should be.

    ``documents`` are the ids of those it touches; ``remedy`` is what a person has to do, and empty where `doctor`
    can mend it, and ``mended`` says that it did.
    """

    part: str
    what: str
    documents: tuple[str, ...] = ()
    remedy: str = ""
    mended: bool = False


NO_MATCHES = Matches(rows=np.empty(0, dtype=np.int64), scores=np.empty(0, dtype=np.float32))
