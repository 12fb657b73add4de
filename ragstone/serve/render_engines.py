"""What `ragstone index` says, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.serve.screen import Line, line, one_line

if TYPE_CHECKING:
    from ragstone.index import EngineStatus, Finding


def used(engines: Mapping[str, str], outside: Sequence[EngineStatus]) -> Iterator[Line]:
    """Which engines are asked from now on."""
    for leg, name in engines.items():
        yield line((leg, "bold"), f": {one_line(name)} from now on")
    yield from _states(outside)


def compared(outside: Sequence[EngineStatus], findings: Sequence[Finding]) -> Iterator[Line]:
    """How far engines are, and what was found."""
    yield from _states(outside)
    for found in findings:
        yield line(one_line(f"{found.part}: {found.what}"))
        yield line(
            "mended" if found.mended else one_line(found.remedy) or "run: ragstone index verify --mend", indent=2
        )
    if not outside:
        yield line("all indexes are embedded; ragstone doctor looks at them")
    elif any(one.behind for one in outside):
        yield line("what they lack is put there with the next change; or now: ragstone index verify --mend")
    elif not findings:
        yield line("all is well")


def _states(outside: Sequence[EngineStatus]) -> Iterator[Line]:
    for one in outside:
        behind = f"{one.behind:,} changes behind" if one.behind else "up to date"
        yield line(one_line(f"{one.leg} in {one.engine}: {one.problem or behind}"), indent=2)
