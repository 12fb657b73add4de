"""What `ragstone postgres` says, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.serve.screen import Line, line

if TYPE_CHECKING:
    from ragstone.index.postgres.schema import Applied, Looked


def applied(done: Applied) -> Iterator[Line]:
    if not done.done:
        yield line(f"{done.server}: nothing to do, it has version {done.version}")
        return
    was = f"version {done.before}" if done.before else "nothing"
    yield line(f"{done.server}: had {was}, has version {done.version} now")
    for name in done.done:
        yield line(f"applied {name}", indent=2)


def looked(server: str, looked: Sequence[Looked]) -> Iterator[Line]:
    yield line((server, "bold"))
    for one in looked:
        state = {True: ("ok", "green"), False: ("wrong", "red"), None: ("note", "yellow")}[one.well]
        yield line(state, f"  {one.what}: ", (one.detail, "dim"), indent=2)
