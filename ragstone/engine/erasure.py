"""Erases documents: every trace of them in the versions, indexes, caches and the journal of a knowledge base.

The journal and the caches come first and the version in use last, because its text says what to look for. Whoever
repeats an interrupted erasure finds the text again, or only has to write databases and indexes anew. Until that is
done, a file names the documents.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import index
from ragstone.catalog.location import Location, is_leased, leftovers, versions_in
from ragstone.catalog.lock import Patience
from ragstone.catalog.protocol import Catalog
from ragstone.core.access import Reader, is_conversation
from ragstone.core.errors import KnowledgeBaseError, Locked, NotFound, UsageError
from ragstone.core.frozen import frozen
from ragstone.core.records import Document
from ragstone.core.traces import Traces, said_by, traces_of
from ragstone.engine.assembly import assemble_other
from ragstone.engine.attached import FOLDER, delete_files, expired, is_within, note_removed, noted, removed_in
from ragstone.engine.built import BuiltWith
from ragstone.engine.components import Components
from ragstone.engine.erasure_search import search
from ragstone.engine.following import locked
from ragstone.engine.roots import UPLOADS, forget_names
from ragstone.engine.sources import FOLDER as SOURCES
from ragstone.engine.sources import absolute
from ragstone.history.erasing import changes, erase, quotes
from ragstone.storage.disk import clear_away, drop
from ragstone.storage.files import read_json, write_json

if TYPE_CHECKING:
    from ragstone.services.postgres import Server

INDEXES = ("terms", "vectors", "themes")
"""Folders of a version whose files are built from its catalog."""
INTERRUPTED = "erasing.json"
"""A file that names the documents of an erasure until it is complete."""
BACKUPS = (
    "backups made before now, and copies of the folder or of its disk, such as snapshots",
    "free blocks of the disk, until the system writes over them",
)
_SERVER = "the server's log of changes (WAL), replicas and backups of PostgreSQL, until it removes them"
_HOSTS = "index files of other hosts, until each of them answers its next question"
_ENGINE = "the files of the server of {engine}, which it cleans itself"


@frozen
class Erasure:
    """What was erased, and the proof.

    ``rows`` of the journal were changed. The proof looked for ``words`` in ``searched_bytes`` of ``searched_files`` and
    in ``searched_rows`` of databases; ``found`` are the places that still have some, none if all went well.
    ``unreachable`` is what it could not search, and ``remaining`` the files outside of the knowledge base that the next
    sync would read again.
    """

    documents: tuple[str, ...]
    versions: tuple[str, ...]
    rows: int
    words: int
    searched_files: int
    searched_bytes: int
    searched_rows: int
    found: tuple[str, ...]
    unreachable: tuple[str, ...]
    remaining: tuple[str, ...]
    seconds: float


def forget(
    version: Components, names: Sequence[str], patience: Patience, *, reader: Reader, words: str = ""
) -> Erasure:
    """Erase documents; see `ragstone.engine.documents.Documents.forget`."""
    started = time.perf_counter()
    with _every_version(version, patience) as others:
        catalogs = [version.catalog, *others.values()]
        named = {name: _ids(version, catalogs, name, reader) for name in names}
        named = {name: {id for id in found if _is_known(catalogs, id, reader)} for name, found in named.items()}
        ids, unknown = sorted(set[str]().union(*named.values())), [name for name, found in named.items() if not found]
        documents = _stored(catalogs, ids)
        if not words:
            _refuse_unknown(version, unknown, reader)
        traces = _traces(version, catalogs, unknown, documents, words)
        sources = sorted({one.source for one in documents if one.source})
        interrupted = version.folder / INTERRUPTED
        write_json(interrupted, {"documents": [*names]})
        rows = _erase_history(version, traces)
        _remove_files(version, [*ids, *sources, *unknown], traces)
        _erase_documents(version, others, ids, sources)
        rows += _erase_history(version, traces)  # answers that were given meanwhile
        _clear_remains(version)
        drop(interrupted)
    searched = search(version.folder, traces, *_server(version))
    return Erasure(
        documents=(*ids, *unknown),
        versions=tuple(path.name for path in (version.source.path, *others)),
        rows=rows,
        words=len(traces.rare),
        searched_files=searched.files,
        searched_bytes=searched.bytes,
        searched_rows=searched.rows,
        found=searched.found,
        unreachable=_unreachable(version),
        remaining=tuple(sorted({file for one in sources if Path(file := one.partition("#")[0]).is_file()})),
        seconds=round(time.perf_counter() - started, 3),
    )


def forget_attached(version: Components, days: float, patience: Patience, waiting: Collection[str]) -> list[str]:
    """Erase what expired of the documents of conversations, and all that is left of removed ones; return their ids.

    Of what was asked and answered, only what names them is erased: it is their person's own. A removed document that
    was attached again stays, with the answers from it: `forget_answers` has erased the earlier ones.

    Args:
        version: of the knowledge base.
        days: that documents are kept at most.
        patience: as for `forget`.
        waiting: uploaded files that jobs have yet to read; they stay.

    Raises:
        Locked, KnowledgeBaseError, EngineError: as of `ragstone.engine.documents.Documents.forget`.
    """
    notes = noted(version.folder)
    if not notes.files and not expired(version, days, notes.ended):
        return []
    with _every_version(version, patience) as others:
        notes = noted(version.folder)  # another server may have erased everything meanwhile
        if over := expired(version, days, notes.ended):
            files = (*notes.files, note_removed(version.folder, over))  # nothing else names them after an interruption
        else:
            files = notes.files
        again = version.catalog.signatures([*notes.removed]).keys() - {*over, *removed_in(version.catalog, notes)}
        ids = sorted({*over, *notes.removed} - again)
        if ids or again:
            traces = Traces(names=frozenset(ids))
            sources = {one.source for one in _stored([version.catalog, *others.values()], ids) if one.source}
            _erase_history(version, traces)
            delete_files(version, ids, waiting)
            _erase_documents(version, others, ids, sorted(sources), earlier=sorted(again))
            _erase_history(version, traces)  # answers that were given meanwhile
            _clear_remains(version)
        for file in files:
            drop(file)
    return ids


def forget_answers(version: Components, conversation: str) -> None:
    """Erase from the journal what names removed documents of a conversation, given its group.

    Call it before files are attached to the conversation: later, their documents may have the same names.

    Raises:
        KnowledgeBaseError: the journal cannot be written.
    """
    names = [id for id in noted(version.folder).removed if is_within(id, conversation)]
    if names:
        erase(version.history.journal(), Traces(names=frozenset(names)))


@contextmanager
def _every_version(version: Components, patience: Patience) -> Generator[dict[Path, Catalog]]:
    """Hold the locks of a rebuild and of an ingest, and yield the catalogs of the versions besides the one in use.

    Raises:
        Locked: another process held one of them, or had another version open, until the patience ended.
    """
    location = version.location
    with location.rebuilding(patience), locked(version, patience), ExitStack() as opened:
        paths = _others(location, patience)
        yield {path: opened.enter_context(closing(location.catalog(path))) for path in paths}


def _stored(catalogs: Sequence[Catalog], ids: Sequence[str]) -> list[Document]:
    """Return the documents with these ids, of every version."""
    return [catalog.document(id) for catalog in catalogs for id in catalog.signatures(ids)]


def _erase_documents(
    version: Components,
    others: Mapping[Path, Catalog],
    ids: Sequence[str],
    sources: Sequence[str],
    earlier: Sequence[str] = (),
) -> None:
    """Erase documents from every version, the one in use last; ``earlier`` ones only from the others."""
    for catalog in (version.catalog, *others.values()):
        forget_names(catalog, ids)
    for path, catalog in others.items():
        catalog.erase([*ids, *earlier], sources)
        settings = BuiltWith(**catalog.built_with()).put_into(version.settings)
        other = assemble_other(version, path, catalog, settings)
        with closing(other.source.own):
            _rebuild(other, only_engines=True)
    version.catalog.erase(ids, sources)
    _rebuild(version)


def _clear_remains(version: Components) -> None:
    """Write the journal anew, and delete what interrupted writes and rebuilds have left."""
    version.history.journal().compact()
    for path in leftovers(version.location):
        clear_away(path) if path.is_dir() else drop(path)


def _others(location: Location, patience: Patience) -> list[Path]:
    """Return the versions besides the one in use that are needed, and delete the others.

    Raises:
        Locked: a process still had one open when the patience ended.
    """
    pause = patience.pauses()
    for path in [path for path in versions_in(location.folder) if path != location.current()]:
        while is_leased(path):
            time.sleep(pause(Locked(path, "a process that has this version open", "read")))
    paths = (location.next(), location.previous())
    location.clear(*paths)
    return [path for path in paths if path is not None]


def _ids(version: Components, catalogs: Sequence[Catalog], name: str, reader: Reader) -> set[str]:
    """Return the ids of the stored documents of a name, in every version: an id, or a file, which may contain many.

    The end of an id does not suffice, because nobody can take an erasure back.

    Raises:
        NotFound: a reader with limited rights may read no such document.
    """
    if reader.groups is not None:
        found = version.catalog.document(name, reader.names).id
        if found != name:
            raise NotFound(f"there is no document '{name}'")
        return {found}
    ids = {id for one in catalogs for id in one.signatures([name])}
    for root in {name, absolute(name, version.settings.acquire)}:
        parts = (f"{root}#", f"{root}/") if Path(root).is_file() else (f"{root}#",)
        under = (row for one in catalogs for row in one.documents_under(root))
        ids |= {id for id, source in under if source == root or source.startswith(parts)}
    return ids


def _is_known(catalogs: Sequence[Catalog], id: str, reader: Reader) -> bool:
    """Return whether a reader knows of a document: it is in no conversation, or in one of theirs."""
    groups = (group for one in catalogs for group in one.access_groups([id]).get(id, ()))
    return not any(is_conversation(group) and not reader.owns(group) for group in groups)


def _refuse_unknown(version: Components, names: Sequence[str], reader: Reader) -> None:
    """Refuse names that nothing in the knowledge base has, because they may be misspelt.

    Raises:
        UsageError: one is only the end of an id.
        NotFound: there is no trace of one.
    """
    begun = read_json(version.folder / INTERRUPTED).get("documents", ())
    attached = version.folder.resolve() / FOLDER
    for name in (one for one in names if one not in begun):
        if (version.folder.resolve() / name).is_relative_to(attached):  # else its file would be deleted
            raise NotFound(f"there is no document '{name}'")
        with suppress(NotFound):
            raise UsageError(f"'{name}' is not a whole id; pass: {version.catalog.document(name, reader.names).id}")
        with version.history.journal().reading() as db:
            if (db and changes(db, Traces(names=frozenset([name])))) or version.catalog.skipped(name):
                continue
        if not _uploaded(version, [name]):
            raise NotFound(
                f"there is no document '{name}', and no answer from it; if it was removed, pass its text with"
                " --words FILE"
            )


def _traces(
    version: Components, catalogs: Sequence[Catalog], unknown: Sequence[str], documents: Sequence[Document], words: str
) -> Traces:
    """Return what identifies the documents in other texts."""
    ids = {one.id for one in documents}
    named = {*unknown, *ids, *(one.source for one in documents if one.source)}
    if not _shares_file(version, documents):
        named |= {one.source.partition("#")[0] for one in documents if one.source}
    texts = [words, *map(said_by, documents)]
    with version.history.journal().reading() as db:
        texts += quotes(db, Traces(names=frozenset(named))) if db else ()
    others = (
        f"{said_by(one)}\n{one.source}" for catalog in catalogs for one in catalog.documents() if one.id not in ids
    )
    titles = [name for one in documents for name in (one.title, one.url)]
    return traces_of(named, titles, texts, others, index.vocabulary_words().__contains__)


def _shares_file(version: Components, documents: Sequence[Document]) -> bool:
    """Return whether other documents come from the files of these."""
    ids, files = {one.id for one in documents}, {one.source.partition("#")[0] for one in documents if one.source}
    return any(id not in ids for file in files for id, _ in version.catalog.documents_under(file))


def _erase_history(version: Components, traces: Traces) -> int:
    """Erase documents from the journal, the queue and the caches, and return the number of rows changed.

    Raises:
        KnowledgeBaseError: another process is using the cache.
    """
    rows = erase(version.history.journal(), traces)
    version.history.jobs().erase(traces)
    if not version.cache().clear():
        raise KnowledgeBaseError(
            f"the cache of {version.folder} could not be cleared, because another process is using it; try again"
        )
    return rows


def _remove_files(version: Components, names: Sequence[str], traces: Traces) -> None:
    """Remove uploaded files, the state of crawls, and what sources keep for their next sync."""
    from ragstone.acquire.crawl.state import State

    for file in _uploaded(version, names):
        if not any(not traces.names_document(id) for id, _ in version.catalog.documents_under(str(file))):
            file.unlink(missing_ok=True)
            with suppress(OSError):  # it has other files
                file.parent.rmdir()
    for path in sorted((version.folder / "crawl").glob("*.db")):
        with closing(State(path)) as state:
            state.erase(traces)
    if any("://" in name for name in names):
        clear_away(version.folder / SOURCES)


def _uploaded(version: Components, names: Sequence[str]) -> list[Path]:
    """Return the uploaded files of these names."""
    root = version.folder.resolve()
    files = (root / name.partition("#")[0] for name in names if len(name) < 1000 and "\0" not in name)
    return [file for file in files if file.is_relative_to(root / UPLOADS) and ".." not in file.parts and file.is_file()]


def _rebuild(version: Components, *, only_engines: bool = False) -> None:
    """Build the indexes of a version again; without ``only_engines``, also those in its folder.

    Raises:
        EngineError: an engine cannot be reached, or refuses.
    """
    for name in INDEXES if only_engines else INDEXES[1:]:  # the terms in use are searched until they are written again
        clear_away(version.source.path / name)
    terms = version.indexes.terms()
    if not only_engines or not terms.is_local:
        terms.follow()
    for leg in version.external_indexes():
        leg.follow(write=True)
    if not only_engines and version.has_embedder:
        version.indexes.vectors().follow(write=True)
    if version.indexes.mirror() is not None and (server := _server(version)[0]):
        with closing(server):
            server.rewrite("information_search")


def _server(version: Components) -> tuple[Server | None, str, str]:
    """Return the PostgreSQL server that has tables of the knowledge base, and expressions of their names."""
    settings = version.settings.services
    if not settings.postgres.dsn.get_secret_value():
        return None, "", ""
    from ragstone.services.postgres import Server

    shared = version.location.server("journal")
    home = re.escape(shared[1].removesuffix("_journal")) if shared else ""
    token = version.location.shelf.read("engines.json").get("token", "")
    schemas = rf"^{home}(_v\d+|_journal)?$" if home else "^$"
    return Server(settings.postgres, seconds=settings.engine_seconds), schemas, f"-{token}-" if token else "^$"


def _unreachable(version: Components) -> tuple[str, ...]:
    """Return what an erasure can neither change nor search."""
    engines = [_ENGINE.format(engine=leg.status().engine) for leg in version.external_indexes()]
    served = [_SERVER] if version.settings.services.postgres.dsn.get_secret_value() else []
    return (*BACKUPS, *served, *([_HOSTS] if version.location.is_shared else []), *engines)
