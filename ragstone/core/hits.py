"""The result of a search without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ragstone.core.frozen import frozen
from ragstone.core.records import Hit


@frozen
class Hits(Sequence[Hit]):
    """The hits of a search, best first; ``notices`` say what the search lacked and how it read the question."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, at: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[at]

    def __len__(self) -> int:
        return len(self.hits)
