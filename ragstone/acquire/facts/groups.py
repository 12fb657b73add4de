"""Which groups may read a document: by its own word, by its folder, or by default."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from ragstone.access import READERS, groups_in
from ragstone.contracts import Document
from ragstone.sections import AccessSettings


def with_groups(document: Document, settings: AccessSettings) -> Document:
    """The document with its groups under `READERS`; without, where nothing is said of them.

    Where something names groups and there is none, as in an empty cell, and nothing else says more, nobody may read it.
    """
    facts = document.metadata
    own = next((facts[key] for key in (READERS, settings.column) if key in facts), None)
    groups = groups_in(own) or _of_folder(document.source or document.id, settings.folders) or settings.default
    if not groups and own is None:
        return document
    return replace(document, metadata={**facts, READERS: groups})


def _of_folder(source: str, rules: tuple[str, ...]) -> tuple[str, ...]:
    """The groups of the first rule that fits."""
    for rule in rules:
        pattern, _, groups = rule.rpartition("=")
        if _compiled(pattern.strip().rstrip("/")).search(source):
            return groups_in(groups)
    return ()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern fits a file or folder of that path, and all that lies in it; without ``/`` in front, anywhere."""
    wild = {"**": ".*", "*": "[^/#]*", "?": "[^/#]"}
    parts = re.split(r"(\*\*|\*|\?)", pattern)
    middle = "".join(wild.get(part, re.escape(part)) for part in parts)
    return re.compile(f"{'^' if pattern.startswith('/') else '(?:^|[/#])'}{middle}(?:$|[/#])", re.DOTALL)
