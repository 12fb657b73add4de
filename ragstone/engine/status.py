"""The content of a knowledge base: counts, sizes, costs, engines and jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from ragstone.catalog.location import Location
from ragstone.catalog.protocol import Catalog
from ragstone.core.access import Reader
from ragstone.core.catalog import EngineStatus
from ragstone.core.errors import Damaged, EngineError, KnowledgeBaseError
from ragstone.core.filters import Compare, Exists
from ragstone.core.frozen import frozen
from ragstone.core.reading import PARTIAL, partial_of
from ragstone.core.records import UNCLEAR, Skipped
from ragstone.core.reports import MOST_NAMED, MOST_REASONS, hidden_notices, some_of
from ragstone.engine import languages
from ragstone.engine.built import BuiltWith
from ragstone.engine.by_file import tables_of
from ragstone.engine.caching import by_level
from ragstone.engine.components import Components
from ragstone.engine.jobs.queue import JobCounts
from ragstone.engine.progress import Running, running
from ragstone.history.spending import Costs
from ragstone.storage.cache import CacheStatus

_MOST_LISTED = 500
"""Documents that are looked at for what they lack."""


@frozen
class OtherVersion:
    """A version besides the one in use: the ``next`` one, complete or not, or the ``previous`` one."""

    name: str
    role: str
    megabytes: float


@frozen
class Status:
    """What a knowledge base holds.

    ``rows`` are those of the documents that are rows of ``tables``, which people count as one document each.
    ``behind`` counts the commits that keyword search lacks; ``costs`` is None if the journal cannot be
    read; ``engines`` are the external ones; ``substitutes`` are the replacements of engines and services of the preset;
    ``catalog`` says where the catalog is, if not in the folder; ``jobs`` counts those for workers; ``running`` are the
    ingests that run now and write to this folder; ``notices`` advise changes, with the commands. For readers other than
    the owner, it counts only their documents and omits everything about others.
    """

    folder: str
    built_with: BuiltWith
    documents: int
    chunks: int
    generation: int
    behind: int
    megabytes: float
    skipped: tuple[Skipped, ...]
    others: tuple[OtherVersion, ...] = ()
    cache: tuple[CacheStatus, ...] = ()
    costs: Costs | None = None
    engines: tuple[EngineStatus, ...] = ()
    jobs: JobCounts = field(default_factory=JobCounts)
    substitutes: tuple[str, ...] = ()
    catalog: str = ""
    running: tuple[Running, ...] = ()
    notices: tuple[str, ...] = ()
    rows: int = 0
    tables: int = 0


def status_of(version: Components, reader: Reader) -> Status:
    """Return the content of a version, and its surroundings.

    Readers other than the owner see only their documents, and no skipped sources, costs, jobs or caches.
    """
    own = _readable_status(version, reader)
    if not reader.is_owner:
        return own
    costs = None
    with suppress(KnowledgeBaseError):  # `ragstone doctor` reports the faults of the journal
        costs = version.history.spending().costs()
    return replace(
        own,
        megabytes=megabytes(version.source.path),
        others=_other_versions(version.location),
        skipped=tuple(version.catalog.skipped()),
        cache=by_level(version.cache().status()),
        costs=costs,
        substitutes=tuple(one.told for one in version.substitutes),
        catalog=version.location.address,
        jobs=_job_counts(version),
        running=running(version.folder),
        notices=(
            *_on_hidden(version.catalog, reader.names),
            *_on_partial(version.catalog, reader.names),
            *_on_languages(version),
            *_on_engines(own.engines),
        ),
    )


def _readable_status(version: Components, reader: Reader) -> Status:
    catalog = version.catalog
    with catalog.snapshot():
        counts = catalog.counts()
        documents = catalog.listing(reader.names, "", "", 1).total
        tables = tables_of(catalog, reader.names)
        chunks = len(catalog.select(reader.allowed)) if catalog.restricts(reader.names) else counts.chunks
    return Status(
        folder=str(version.folder),
        built_with=version.built,
        documents=documents,
        rows=sum(tables.values()),
        tables=len(tables),
        chunks=chunks,
        generation=counts.generation,
        behind=counts.generation - version.indexes.terms().stamp.generation,
        megabytes=0.0,
        skipped=(),
        engines=tuple(leg.status() for leg in version.external_indexes()),
    )


def _on_hidden(catalog: Catalog, groups: Sequence[str]) -> tuple[str, ...]:
    """Return which documents nobody may read because it is unclear who may."""
    hidden: dict[str, tuple[int, list[str]]] = {}
    for reason, count in catalog.common_values(groups, UNCLEAR, MOST_REASONS + 1):
        found = catalog.listing(groups, "", "", MOST_NAMED, where=Compare(key=UNCLEAR, op="=", value=reason))
        hidden[reason] = (count, [one.document_id for one in found.documents])
    return hidden_notices(hidden)


def _on_partial(catalog: Catalog, groups: Sequence[str]) -> tuple[str, ...]:
    """Return which documents lack parts of their files."""
    listing = catalog.listing(groups, "", "", _MOST_LISTED, where=Exists(key=PARTIAL))
    notes = {one.document_id: note for one in listing.documents if (note := partial_of(one))}
    if not notes:
        return ()
    count = listing.total - len(listing.documents) + len(notes)
    what = f"{count:,} documents were" if count > 1 else "1 document was"
    return (f"{what} read only in part: {some_of([f'{id} ({note})' for id, note in notes.items()], count)}",)


def _on_languages(version: Components) -> tuple[str, ...]:
    """Return advice if the documents are now in languages that the embedder does not know."""
    if not version.has_embedder or version.settings.index.embedder != languages.ENGLISH:
        return ()
    with suppress(Damaged):  # keyword search reports it
        return languages.advice(languages.foreign_among(version.indexes.terms().languages()), version.folder)
    return ()


def _on_engines(engines: Iterable[EngineStatus]) -> Iterator[str]:
    """Yield how engines differ from the settings that apply when they are filled."""
    for one in engines:
        if one.unlike:
            yield f"{one.leg} in {one.engine}: {one.unlike}; to fill it again, run: ragstone index verify --mend"


def megabytes(version: Path) -> float:
    """Return the size of all files of a version."""
    size = 0
    for file in version.rglob("*"):
        with suppress(FileNotFoundError):  # an ingest may be running
            size += file.stat().st_size
    return round(size / 1e6, 2)


def _other_versions(location: Location) -> tuple[OtherVersion, ...]:
    roles = {"next": location.next(), "previous": location.previous()}
    return tuple(
        OtherVersion(name=version.name, role=role, megabytes=megabytes(version))
        for role, version in roles.items()
        if version is not None
    )


def _job_counts(version: Components) -> JobCounts:
    try:
        return version.history.jobs().counts()
    except (EngineError, KnowledgeBaseError) as error:
        return JobCounts(problem=str(error))
