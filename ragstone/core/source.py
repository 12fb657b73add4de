"""Sources other than files on disk: what they list, and the protocol that each of them implements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ragstone.core.filters import Scalar
from ragstone.core.records import Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file, message, row or page that a source lists.

    Attributes:
        name: its path within the source, such as ``reports/2024.pdf``. It stays the same while the content changes.
            It is empty for the only entry of a source that is a single file.
        version: changes whenever the content does, such as an ETag or a revision. An entry without one is fetched
            every time.
        kind: the suffix that says how it is read, such as ``.html``; empty if the name says it.
        size: its bytes; 0 if unknown.
        title: replaces the title found in the content, if it is not empty.
        url: where people read it. Citations link to it.
        groups: the groups that may read it; None if the source does not know groups, empty if nobody may.
        metadata: facts that the source knows, such as a date and an author. They replace those of the content.
    """

    name: str
    version: str = ""
    kind: str = ""
    size: int = 0
    title: str = ""
    url: str = ""
    groups: tuple[str, ...] | None = None
    metadata: Mapping[str, Scalar | tuple[Scalar, ...]] = field(
        default_factory=dict[str, "Scalar | tuple[Scalar, ...]"]
    )


class Source(Protocol):
    """Lists entries with their versions, and fetches single ones.

    Name one of your own in ``acquire.connections`` with an address such as ``package.module:Class``; the class takes
    the `ConnectionSettings`. `ragstone.testing.check_source` checks it. All calls come from one thread at a time.
    """

    @property
    def address(self) -> str:
        """What the ids of all its documents begin with, such as ``s3://bucket/docs``. It contains no secret."""
        ...

    def entries(self) -> Iterator[Entry | Skipped]:
        """Yield every entry once, in the same order each time.

        A part that cannot be listed is a `Skipped` with an address below that of the source; what is stored of it is
        kept. Entries that are no longer listed are removed.

        Raises:
            SourceError: the list cannot be had, or breaks off. Nothing is removed then.
        """
        ...

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        """Yield the content of an entry in blocks. It is asked for before the next entry is.

        Raises:
            SourceError, OSError: this entry cannot be had; the others are read all the same.
        """
        ...

    def close(self) -> None:
        """Release connections."""
        ...
