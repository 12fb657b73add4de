"""Faults of external engines: what they lack, or should not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragstone.core.catalog import Finding
from ragstone.core.errors import EngineError
from ragstone.index.follow.protocol import ExternalIndex

REMEDY = "start the engine, or find out why it refuses; then run: ragstone doctor"


def differences(legs: Iterable[ExternalIndex], *, mend: bool) -> Iterator[Finding]:
    """Compare the content of each engine with the catalog.

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
            difference = leg.difference(mend=mend)
        except EngineError as error:
            yield Finding(part=name, what=str(error), remedy=REMEDY)
            continue
        if len(difference):
            yield Finding(part=name, what=str(difference), mended=mend)
