"""Documents that are attached to a conversation: read and searched for it alone, and erased with it.

Each is a document as any other, in the group of its conversation (`ragstone.core.access`). Its file is in a folder of
the conversation below the uploaded files. The name of that folder begins with that of its person, so that the files of
a person can be counted before any of them is read.

Removing a document takes a moment, erasing its traces rewrites everything that is stored. So whoever removes one, or
ends a conversation, leaves a note, and servers erase what the notes name, many documents at a time. A removed document
is hidden from everybody at once, also while an ingest holds the lock.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.catalog.location import writing
from ragstone.core.access import ATTACHED, REMOVED, Reader, conversation_group
from ragstone.core.catalog import selected
from ragstone.core.filters import Compare, Exists
from ragstone.core.frozen import frozen
from ragstone.engine.roots import UPLOADS
from ragstone.history.store import DAY
from ragstone.history.users import Users
from ragstone.storage.disk import make_folder
from ragstone.storage.files import read_json, write_json

if TYPE_CHECKING:
    from ragstone.catalog.protocol import Catalog
    from ragstone.engine.components import Components

UNASKED_SECONDS = DAY
"""Time that a file is kept for a conversation without a question."""
FOLDER = f"{UPLOADS}/conversations/"
"""The folder of all attached files, below that of the knowledge base."""
NOTES = "erasing"
"""The folder of the notes. Each is a file of its own, so that nobody needs a lock to leave one."""


@frozen
class Attached:
    """A document of a conversation. ``file`` is the name of the file that it came from; a file may have several."""

    document_id: str
    title: str
    file: str
    characters: int
    added: str


@frozen
class Noted:
    """What the notes in ``files`` name: documents that were removed, and conversations, as groups, that have ended.

    Each has its time, in seconds since 1970.
    """

    files: tuple[Path, ...]
    removed: Mapping[str, float]
    ended: Mapping[str, float]


def admitted(catalog: Catalog, id: str, reader: Reader) -> Reader:
    """Return the reader within the conversation that a document is attached to, if that is one of theirs."""
    groups = catalog.access_groups([id]).get(id, ())
    return next((replace(reader, conversation=group) for group in groups if reader.owns(group)), reader)


def folder_of(conversation: str) -> str:
    """Return the folder of the files of a conversation, below that of the knowledge base, given its group."""
    _, person, session = conversation.split(":")
    return f"{FOLDER}{person}-{session}"


def is_within(id: str, conversation: str) -> bool:
    """Return whether a document is or was attached to a conversation, given its group."""
    folder = id.removeprefix(FOLDER).partition("/")[0]
    return id.startswith(FOLDER) and folder.endswith(conversation.rpartition(":")[2])


def bytes_of_person(folder: Path, conversation: str, leaving: Collection[str] = ()) -> int:
    """Return the size of all files that a person has attached to conversations, read or not.

    Args:
        folder: of the knowledge base.
        conversation: the group of one of their conversations.
        leaving: names of files of this conversation that do not count.
    """
    _, person, _ = conversation.split(":")
    own, used = folder / folder_of(conversation), 0
    for file in (folder / FOLDER).glob(f"{person}-*/*"):
        if file.parent != own or file.name not in leaving:
            with suppress(FileNotFoundError):  # another request removes it
                used += file.stat().st_size
    return used


def attached_to(catalog: Catalog, conversation: str) -> list[Attached]:
    """Return the documents of a conversation, given its group, in the order of their ids."""
    where = Compare(key=ATTACHED, op="=", value=conversation)
    return [
        Attached(
            document_id=one.document_id,
            title=one.title,
            file=_path_of(one.document_id).rpartition("/")[2],
            characters=one.characters,
            added=one.added,
        )
        for one in selected(catalog, where)
    ]


def until(added: str, days: float) -> str:
    """Return when an attached document is erased at the latest, in ISO 8601, given when it was added."""
    return (datetime.fromisoformat(added) + timedelta(days=days)).isoformat(timespec="seconds")


def note_removed(folder: Path, ids: Collection[str]) -> Path:
    """Note, durably, that nothing of some removed documents may stay in a knowledge base, and return the note.

    Raises:
        KnowledgeBaseError: the note could not be written.
    """
    return _note(folder, {"documents": [*ids], "at": time.time()})


def note_ended(folder: Path, conversation: str) -> None:
    """Note, durably, that a conversation has ended, given its group.

    Raises:
        KnowledgeBaseError: the note could not be written.
    """
    _note(folder, {"conversation": conversation, "at": time.time()})


def noted(folder: Path) -> Noted:
    """Return what is still to be erased from a knowledge base."""
    files = tuple(sorted((folder / NOTES).glob("*.json")))
    notes = [read_json(file) for file in files]
    return Noted(
        files=files,
        removed={id: note.get("at", 0.0) for note in sorted(notes, key=_at) for id in note.get("documents", ())},
        ended={note["conversation"]: note["at"] for note in notes if "conversation" in note},
    )


def removed_in(catalog: Catalog, notes: Noted) -> list[str]:
    """Return the ids of removed documents that are still stored, without those that were attached again later."""
    return [
        one.document_id
        for one in selected(catalog, Exists(key=ATTACHED))
        if _seconds(one.added) <= notes.removed.get(one.document_id, 0.0)
    ]


def delete_files(version: Components, ids: Collection[str], waiting: Collection[str]) -> None:
    """Delete the files that attached documents came from, except those that others come from, too.

    Args:
        version: of the knowledge base.
        ids: the documents, stored or not.
        waiting: files that jobs have yet to read, below the folder of the knowledge base; they stay.
    """
    kept = {
        _path_of(one.document_id)
        for one in selected(version.catalog, Exists(key=ATTACHED))
        if one.document_id not in ids
    }
    for path in sorted({_path_of(id) for id in ids} - kept - {*waiting}):
        file = version.folder / path
        file.unlink(missing_ok=True)
        with suppress(OSError):  # it has other files
            file.parent.rmdir()


def clear_files(version: Components) -> None:
    """Delete attached files without a document, such as those of which another host has erased the documents."""
    files = [*(version.folder / FOLDER).glob("*/*")]
    if not files:
        return
    # By ids, which a restored knowledge base keeps in another folder.
    held = [one.document_id for one in selected(version.catalog, Exists(key=ATTACHED))]
    for file in files:
        name = file.relative_to(version.folder).as_posix()
        with suppress(OSError):  # another process deletes it
            is_old = time.time() - file.stat().st_mtime > UNASKED_SECONDS
            if is_old and not any(id == name or id.startswith((f"{name}#", f"{name}/")) for id in held):
                file.unlink()
                file.parent.rmdir()


def expired(version: Components, days: float, ended: Mapping[str, float]) -> list[str]:
    """Return the ids of attached documents that are to be erased.

    Args:
        version: of the knowledge base.
        days: that they are kept at most.
        ended: the groups of conversations that have ended, and when; what was attached later stays.
    """
    catalog, now = version.catalog, time.time()
    if not catalog.restricts(Reader().names):
        return []
    going_on = {conversation_group(name) for name in version.history.conversations().names()}
    gone = [Reader(name=name) for name in Users(version.history.journal()).departed()]

    def is_over(group: str, added: float) -> bool:
        return (
            group == REMOVED
            or now - added > days * DAY
            or added <= ended.get(group, 0.0)
            or (now - added > UNASKED_SECONDS and group not in going_on)
            or any(person.owns(group) for person in gone)
        )

    return [
        one.document_id
        for one in selected(catalog, Exists(key=ATTACHED))
        if is_over(str(one.metadata[ATTACHED]), _seconds(one.added))
    ]


def _path_of(id: str) -> str:
    """Return the file that an attached document came from, below the folder of the knowledge base."""
    folder, _, inside = id.removeprefix(FOLDER).partition("/")
    return f"{FOLDER}{folder}/{inside.partition('#')[0].partition('/')[0]}"


def _seconds(time: str) -> float:
    """Return a time in ISO 8601 in seconds since 1970."""
    return datetime.fromisoformat(time).timestamp()


def _at(note: Mapping[str, Any]) -> float:
    return note.get("at", 0.0)


def _note(folder: Path, note: dict[str, Any]) -> Path:
    path = folder / NOTES / f"{uuid.uuid4().hex}.json"
    with writing(folder):
        make_folder(folder.absolute() / NOTES)
        write_json(path, note)
    return path
