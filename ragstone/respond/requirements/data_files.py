"""Files that programs read: their lines are no prose, so that they answer only a question about the file itself."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from ragstone.core.question import Question
from ragstone.core.records import Chunk

_KINDS = frozenset({"json", "yaml"})
"""Kinds of documents, as their readers name them. Settings in INI and TOML read like a list of what is set."""
_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:[_./]\w+)+|[a-z]+[A-Z]\w*")
"""A name that only programs write: session_ttl, server.port, maxConnections."""
_WORD = re.compile(r"\w+")


def is_data(chunk: Chunk) -> bool:
    """Return whether a chunk is a part of a data file. The row of a table is none: it is written as a record."""
    return chunk.metadata.get("kind") in _KINDS and "#" not in chunk.document_id


def names_data(question: Question, chunk: Chunk) -> bool:
    """Return whether a question asks about a data file: it names the file or its kind, or writes a name as it does."""
    said = set(_WORD.findall(question.text.lower()))
    if said & {str(chunk.metadata.get("kind")), *_WORD.findall(PurePosixPath(chunk.path).stem.lower())}:
        return True
    return any(one in chunk.text for one in _IDENTIFIER.findall(question.text))
