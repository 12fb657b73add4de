"""Documents that are attached to a conversation: read and searched for it alone, and erased with it.

Each is a document as any other, in the group of its conversation (`ragstone.core.access`). Its file is in a folder of
the conversation below the uploaded files.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragstone.core.access import ATTACHED, Reader, conversation_group
from ragstone.core.catalog import selected
from ragstone.core.filters import Compare, Exists
from ragstone.engine.roots import UPLOADS

if TYPE_CHECKING:
    from ragstone.catalog.protocol import Catalog
    from ragstone.engine.components import Components

DAY = 86_400.0
UNASKED_SECONDS = DAY
"""Time that a file is kept for a conversation without a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """A document of a conversation. ``file`` is the name of the file that it came from; a file may have several."""

    document_id: str
    title: str
    file: str
    characters: int
    added: str


def admitted(catalog: Catalog, id: str, reader: Reader) -> Reader:
    """Return the reader within the conversation that a document is attached to, if that is one of theirs."""
    groups = catalog.access_groups([id]).get(id, ())
    return next((replace(reader, conversation=group) for group in groups if reader.owns(group)), reader)


def folder_of(conversation: str) -> str:
    """Return the folder of the files of a conversation, below that of the knowledge base, given its group."""
    return f"{UPLOADS}conversations/{conversation.rpartition(':')[2]}"


def attached_to(catalog: Catalog, conversation: str) -> list[Attached]:
    """Return the documents of a conversation, given its group, in the order of their ids."""
    where = Compare(key=ATTACHED, op="=", value=conversation)
    return [
        Attached(
            document_id=one.document_id,
            title=one.title,
            file=one.document_id.removeprefix(f"{folder_of(conversation)}/").partition("#")[0].partition("/")[0],
            characters=one.characters,
            added=one.added,
        )
        for one in selected(catalog, where)
    ]


def until(added: str, days: float) -> str:
    """Return when an attached document is erased at the latest, in ISO 8601, given when it was added."""
    return (datetime.fromisoformat(added) + timedelta(days=days)).isoformat(timespec="seconds")


def clear_files(version: Components) -> None:
    """Delete attached files without a document, such as those of which another host has erased the documents."""
    files = [*(version.folder / UPLOADS / "conversations").glob("*/*")]
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


def expired(version: Components, days: float, ended: Collection[str] = ()) -> list[str]:
    """Return the ids of attached documents that are to be erased.

    Args:
        version: of the knowledge base.
        days: that they are kept at most.
        ended: the groups of conversations that were deleted just now.
    """
    catalog, now = version.catalog, time.time()
    if not catalog.restricts(Reader().names):
        return []
    going_on = {conversation_group(name) for name in version.history.conversations().names()}
    return [
        one.document_id
        for one in selected(catalog, Exists(key=ATTACHED))
        if (age := now - datetime.fromisoformat(one.added).timestamp()) > days * DAY
        or one.metadata[ATTACHED] in ended
        or (age > UNASKED_SECONDS and one.metadata[ATTACHED] not in going_on)
    ]
