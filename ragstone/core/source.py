"""Sources other than files on disk: what they list, and the protocol that each of them implements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Protocol

from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.records import Skipped


@frozen
class Entry:
    """A file, message, row or page that a source lists.

    Attributes:
        name: its path within the source, such as ``reports/2024.pdf``. It stays the same while the content changes,
            is listed once, and does not begin with a slash. It is empty for the only entry of a source that is a
            single file.
        version: changes whenever the content does, such as an ETag or a revision. An entry without one is fetched
            every time.
        kind: the suffix that selects the reader, such as ``.html``; empty if the name has it.
        size: its bytes; 0 if unknown.
        title: replaces the title found in the content, if it is not empty.
        url: the address for people. Citations link to it.
        groups: the groups that may read it at most; None if the source does not know groups, empty if nobody may.
        metadata: metadata from the source, such as a date and an author. It replaces that of the content.
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

    Name your own in ``acquire.connections`` with an address such as ``package.module:Class``; the class takes
    the `ConnectionSettings`. `ragstone.testing.check_source` checks it. All calls come from one thread at a time.

    >>> from ragstone.testing import check_source
    >>> class Notes:
    ...     address = "notes://desk"
    ...     def entries(self):
    ...         yield Entry(name="mill.md", version="1")
    ...     def fetch(self, entry):
    ...         yield b"The mill grinds at dawn."
    ...     def close(self):
    ...         pass
    >>> check_source(Notes)
    """

    @property
    def address(self) -> str:
        """The prefix of the ids of all its documents, such as ``s3://bucket/docs``.

        It has a scheme, no password, no query and no slash at its end.
        """
        ...

    def entries(self) -> Iterator[Entry | Skipped]:
        """Yield every entry once, in the same order each time.

        For a part that cannot be listed, yield a `Skipped` with an address below the source's; its stored documents are
        kept. Documents of entries that are no longer listed are removed.

        Raises:
            SourceError: the list is unavailable or breaks off. Then nothing is removed.
        """
        ...

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        """Yield the content of an entry in blocks. The caller reads it before it asks for the next entry.

        Raises:
            SourceError, OSError: this entry is unavailable; the others are still read.
        """
        ...

    def close(self) -> None:
        """Release connections."""
        ...
