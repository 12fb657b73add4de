"""The groups that may read a document: named by the document, by its folder, or by default."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from ragstone.core.access import READERS, groups_in
from ragstone.core.records import Document
from ragstone.settings import AccessSettings


def with_groups(document: Document, settings: AccessSettings) -> Document:
    """Return the document with its groups under `READERS`, or without that key if nothing names groups.

    If the document has an empty list of groups, and neither its folder nor the default names one, nobody may read it.
    """
    facts = document.metadata
    own = next((facts[key] for key in (READERS, settings.column) if key in facts), None)
    groups = groups_in(own) or _of_folder(document.source or document.id, settings.folders) or settings.default
    if not groups and own is None:
        return document
    return replace(document, metadata={**facts, READERS: groups})


def _of_folder(source: str, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the groups of the first rule that matches."""
    for rule in rules:
        pattern, _, groups = rule.rpartition("=")
        if _compiled(pattern.strip().rstrip("/")).search(source):
            return groups_in(groups)
    return ()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that matches a path and all that lies in it; anywhere, unless it begins with ``/``."""
    wild = {"**": ".*", "*": "[^/#]*", "?": "[^/#]"}
    parts = re.split(r"(\*\*|\*|\?)", pattern)
    middle = "".join(wild.get(part, re.escape(part)) for part in parts)
    return re.compile(f"{'^' if pattern.startswith('/') else '(?:^|[/#])'}{middle}(?:$|[/#])", re.DOTALL)
