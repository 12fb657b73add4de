"""What engines outside lack, or have and should not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragstone.errors import EngineError
from ragstone.index.following.protocol import Outside
from ragstone.index.records import Finding


def differences(legs: Iterable[Outside], *, mend: bool) -> Iterator[Finding]:
    """Each engine compared with the catalog.

    Args:
        legs: the indexes that are in them.
        mend: bring each up first, then put and delete what differs; only for who holds the lock.
    """
    for leg in legs:
        state = leg.status()
        name = f"{state.leg} in {state.engine}"
        try:
            if mend:
                leg.follow(write=True)
            missing, extra = leg.difference(mend=mend)
        except EngineError as error:
            yield Finding(part=name, what=str(error), remedy="start it, or see what it refuses; then ask again")
            continue
        if len(missing) or len(extra):
            what = f"it lacks {len(missing):,} chunks and has {len(extra):,} that are gone"
            yield Finding(part=name, what=what, mended=mend)
