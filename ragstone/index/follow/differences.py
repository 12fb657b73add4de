"""Faults of external engines: what they lack, or should not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragstone.core.catalog import Finding
from ragstone.core.errors import EngineError
from ragstone.index.follow.protocol import ExternalIndex

REMEDY = "start the engine, or find out why it refuses; then run: ragstone doctor"


def differences(legs: Iterable[ExternalIndex], *, mend: bool) -> Iterator[Finding]:
    """Compare each engine with the catalog.

    Args:
        legs: the indexes in the engines.
        mend: sync each engine, then put and delete what differs; only for the holder of the lock.
    """
    for leg in legs:
        state = leg.status()
        name = f"{state.leg} in {state.engine}"
        try:
            if mend:
                leg.follow(write=True)
            missing, extra = leg.difference(mend=mend)
        except EngineError as error:
            yield Finding(part=name, what=str(error), remedy=REMEDY)
            continue
        if len(missing) or len(extra):
            what = f"it lacks {len(missing):,} chunks and has {len(extra):,} that are gone"
            yield Finding(part=name, what=what, mended=mend)
