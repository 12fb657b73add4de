"""What a document is called wherever people or models read it: never by the folders that it lies in."""

from __future__ import annotations

import re
from typing import Protocol


class Named(Protocol):
    """A record of a document, or of a part of one."""

    @property
    def document_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def url(self) -> str: ...


def name_of(one: Named) -> str:
    """Return the title of a document; without one its address, or the name of its file."""
    return one.title or one.url or file_name(one.document_id)


def file_name(id: str) -> str:
    """Return the name of a file without the folders; an address as it is."""
    return id if "://" in id else re.split(r"[/\\]", id.rstrip("/\\"))[-1]


def is_path(source: str) -> bool:
    """Return whether a source is a path on the server, and not an address."""
    return source.startswith(("/", "\\", "file:")) or source[1:3] in (":/", ":\\")
