"""The groups that may read a document: the narrowest of what the document, its source and the settings say."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from ragstone.core.access import ATTACHED, EVERYONE, READERS, groups_in, is_conversation, narrowed
from ragstone.core.frozen import frozen
from ragstone.core.named_groups import Named, is_access_list, named_in, together
from ragstone.core.records import UNCLEAR, Document, Skipped
from ragstone.settings import AccessSettings


@frozen
class Given:
    """What is known of the readers of a file from outside.

    Attributes:
        limits: lists of groups, such as those of an upload or a connection; only groups in all of them may read.
        writer: the groups of the person who adds the file, who may name no others; None for an administrator.
        named: the groups that the file, or the one around it, names; None if it names none.
        conversation: the group of the conversation that the file is attached to, which alone decides then.
    """

    limits: tuple[tuple[str, ...], ...] = ()
    writer: tuple[str, ...] | None = None
    named: Named | None = None
    conversation: str = ""

    def also(self, named: Named | None) -> Given:
        """Return the same with what a file names, too."""
        return replace(self, named=together(self.named, named)) if named else self


NOTHING_GIVEN = Given()


def with_groups(
    document: Document, settings: AccessSettings, given: Given = NOTHING_GIVEN, *, describes: bool = False
) -> Document | Skipped:
    """Return the document with its groups under `READERS`, or without that key if nothing names groups.

    Every document passes through here before it is stored. Nobody may read a document if it names nobody and no rule
    names a group, or if it is unclear who may read it; `UNCLEAR` says why then. A document is `Skipped` if its writer
    may not add it.

    Args:
        document: with the metadata that its reader, its source or its program gave it.
        settings: the rules of folders, and the default.
        given: what is known from outside.
        describes: whether all its metadata describe it, as for `named_in`.
    """
    column = settings.column
    lists = {
        key: fact for key, fact in document.metadata.items() if is_access_list(key, fact, column, describes=describes)
    }
    if given.conversation:
        facts = {key: fact for key, fact in document.metadata.items() if key not in lists}
        facts |= {READERS: (given.conversation,), ATTACHED: given.conversation}
        return replace(document, metadata=facts)
    named = together(named_in(lists, column), given.named)
    if named and given.writer is not None and (reason := _refusal(named, given.writer)):
        return Skipped(source=document.source or document.id, reason=reason)
    of_folder = _of_folder(document.source or document.id, settings.folders)
    rules = [*given.limits, *([of_folder] if of_folder else [])]
    groups, problem = _decided(named, rules, settings.default)
    if any(map(is_conversation, groups or ())):
        groups, problem = (), "it names the group of a conversation; name other groups"
    # Only the decision stays: the lists may name groups that readers of the document must not learn of.
    facts = {key: fact for key, fact in document.metadata.items() if key not in lists and key != ATTACHED}
    facts |= {READERS: groups} if groups is not None else {}
    facts |= {UNCLEAR: problem} if problem else {}
    return document if facts == document.metadata else replace(document, metadata=facts)


def _decided(
    named: Named | None, rules: list[tuple[str, ...]], default: tuple[str, ...]
) -> tuple[tuple[str, ...] | None, str]:
    """Return the groups, None if nothing names any, and why nobody may read the document if that is unclear."""
    if named and named.problem:
        return (), named.problem
    lists = rules or ([default] if default else [])
    if named and named.groups:
        lists = [named.groups, *rules]
    elif named:  # an empty list opens nothing, but a rule that names groups says who is meant
        lists = [one for one in lists if EVERYONE not in one] or [()]
    if not lists:
        return None, ""
    groups = narrowed(lists)
    if groups or not all(lists):
        return groups, ""
    different = " and ".join(f"[{', '.join(one)}]" for one in lists)
    return (), f"its access lists have no group in common: {different}"


def _refusal(named: Named, writer: tuple[str, ...]) -> str:
    """Return why a person may not add a document that names these groups; empty if they may."""
    if named.problem:
        return f"not added: {named.problem}"
    foreign = [one for one in named.groups if one not in {*writer, EVERYONE}]
    if not foreign:
        return ""
    return f"not added: it names the group '{foreign[0]}', which you do not belong to; name groups of yours"


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
