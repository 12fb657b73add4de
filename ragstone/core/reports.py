"""Reports of an ingest: its plan, progress and result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from ragstone.core.frozen import frozen
from ragstone.core.records import Decoded, Skipped


@frozen
class AddReport:
    """The result of an ingest.

    ``added``, ``updated``, ``unchanged`` and ``removed`` count documents; ``chunks`` and ``embedded`` count chunks and
    new vectors, and ``cached`` vectors from earlier calls of an embedding service. ``decoded`` lists files whose
    text may be wrong or lack parts. ``embedding_*`` count the calls of an embedding service, and ``cost`` is
    their price, as far as it is known. ``notices`` are messages for the user.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     print(kb.add("docs/").added, kb.add("docs/").added)
    1 0
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    decoded: tuple[Decoded, ...] = ()
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    seconds: float = 0.0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    embedding_retries: int = 0
    cost: float = 0.0
    notices: tuple[str, ...] = ()

    def plus(self, other: AddReport) -> AddReport:
        """Return the sum of two reports, without duplicate notices and files."""
        names = [one.name for one in fields(self)]
        both = AddReport(**{part: getattr(self, part) + getattr(other, part) for part in names})
        unique = dict.fromkeys
        return replace(both, notices=tuple(unique(both.notices)), decoded=tuple(unique(both.decoded)))


MOST_REASONS = 10
"""Reasons that notices on hidden documents give."""
MOST_NAMED = 5
"""Documents that a notice names."""


def some_of(documents: Sequence[str], count: int) -> str:
    """Return the first of ``count`` documents for a notice, and how many more there are."""
    more = f" and {count - MOST_NAMED:,} more" if count > MOST_NAMED else ""
    return f"{', '.join(documents[:MOST_NAMED])}{more}"


def hidden_notices(hidden: Mapping[str, tuple[int, Sequence[str]]]) -> tuple[str, ...]:
    """Return notices on documents that nobody may read, because it is unclear who may.

    Args:
        hidden: by the reason, the number of documents and the ids of some.
    """
    notices = list[str]()
    for reason, (count, ids) in list(hidden.items())[:MOST_REASONS]:
        what = f"{count:,} documents are" if count > 1 else "1 document is"
        notices.append(f"{what} hidden from everyone except administrators: {some_of(ids, count)}: {reason}")
    if len(hidden) > MOST_REASONS:
        notices.append("more documents are hidden for other reasons; correct these first")
    return tuple(notices)


@frozen
class Plan:
    """The effect that a sync would have: ids of documents, and skipped sources."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]


@frozen
class Progress:
    """The progress of an ingest. It counts only what is durable.

    ``committed`` are the ids of the documents stored since the last event; there are none in an event between two
    commits. ``files`` counts files, or the addresses of a web site, and ``total`` is how many there are, 0 if unknown;
    ``growing`` says that the number may still grow. ``pages`` counts pages of documents that have pages. ``current`` is
    the file or address that was opened last, and ``seconds`` is the time since the start. ``waiting`` names the process
    that is indexing while a job waits for it; it is empty while the job works.

    >>> from ragstone import Progress, Ragstone
    >>> def show(progress: Progress) -> None:
    ...     for id in progress.committed:
    ...         print("stored", id)
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/", on_progress=show)
    stored docs/pump.md
    """

    committed: tuple[str, ...] = ()
    documents: int = 0
    chunks: int = 0
    embedded: int = 0
    pages: int = 0
    files: int = 0
    total: int = 0
    growing: bool = False
    current: str = ""
    seconds: float = 0.0
    waiting: str = ""

    @property
    def share(self) -> float:
        """The share of files that are done, 0 to 1; 0 if their number is unknown."""
        return min(1.0, self.files / self.total) if self.total else 0.0

    @property
    def rate(self) -> float:
        """Chunks stored per second."""
        return self.chunks / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimate the seconds left; None if the number of files is unknown or grows, or before the first is done."""
        share = 0.0 if self.growing else self.share
        return self.seconds * (1 / share - 1) if share else None
