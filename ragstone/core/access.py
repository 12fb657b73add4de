"""Access control: documents name groups, and readers belong to groups.

A document names its groups in its metadata under `READERS`. Everyone may read a document without this key; nobody may
read one with an empty list. Every index filters by access before it ranks.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from ragstone.core.errors import UsageError
from ragstone.core.filters import And, Exists, Filter, In, Not, Or, Scalar
from ragstone.core.records import Metadata

READERS = "readers"
"""Metadata key for the groups that may read a document."""
EVERYONE = "*"
"""The group of all readers."""
NOBODY = ""
"""Stored in place of an empty list of groups; no reader can be in a group of this name."""
VISITORS = "visitors"
"""The name of the reader that all visitors of sites share who have no token."""
VISITOR = "visitor:"
"""The beginning of the name of a visitor with a token."""
_SEPARATORS = re.compile(r"[;,|]")
NAMESPACE_MARK = "\x1f"
"""First character of every stored conversation name, except those of the owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who asks: a name, which separates conversations, and groups.

    ``groups=None`` is the owner of the files, who may read everything. A reader with an empty set of groups may read
    only public documents.

    >>> Reader(name="ann", groups=frozenset({"staff"})) == Reader.of("staff", name="ann")
    True
    """

    name: str = ""
    groups: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.groups, str):  # frozenset would split it into letters
            raise UsageError(f"groups must be a set of names, not the text '{self.groups}'")
        if self.groups is not None:
            object.__setattr__(self, "groups", frozenset(map(group, self.groups)))

    @classmethod
    def of(cls, groups: str | None, *, name: str = "") -> Reader:
        """Return a reader in groups such as ``staff,hr``; None gives the owner.

        Raises:
            UsageError: a name is blank.
        """
        return OWNER if groups is None else cls(name=name, groups=frozenset(_SEPARATORS.split(groups)))

    @property
    def is_owner(self) -> bool:
        """Whether this reader owns the files."""
        return self.groups is None and not self.name

    @property
    def allowed(self) -> Filter | None:
        """The filter on what this reader may read; None admits everything."""
        if self.groups is None:
            return None
        return Or(parts=(Not(part=Exists(key=READERS)), In(key=READERS, values=self.names)))

    @property
    def names(self) -> tuple[str, ...]:
        """The groups, including `EVERYONE`, in order."""
        return tuple(sorted({EVERYONE, *(self.groups or ())}))

    def may_read(self, metadata: Metadata) -> bool:
        """Return whether this reader may read a document with this metadata."""
        named = metadata.get(READERS)
        if self.groups is None or named is None:
            return True
        return not {EVERYONE, *self.groups}.isdisjoint(named if isinstance(named, tuple) else (named,))

    @property
    def who(self) -> str:
        """The key of this reader in stored records; empty for the owner."""
        return "" if self.is_owner else json.dumps(self.name or sorted(self.groups or ()))

    def session(self, name: str) -> str:
        """Return the stored name of a conversation, which differs from those of all other readers.

        Raises:
            UsageError: the name contains `NAMESPACE_MARK`.
        """
        if NAMESPACE_MARK in name:
            raise UsageError("the name of a conversation contains the reserved character U+001F; choose another name")
        return f"{self.namespace}{name}"

    @property
    def namespace(self) -> str:
        """The prefix of this reader's stored conversation names."""
        return f"{NAMESPACE_MARK}{self.who}{NAMESPACE_MARK}" if self.who else ""


def refuse_reserved(name: str) -> None:
    """Refuse the name of a visitor: whoever had it too would share conversations and votes with visitors.

    Raises:
        UsageError: the name is reserved.
    """
    plain = unicodedata.normalize("NFC", name).strip().casefold()
    if plain == VISITORS or plain.startswith(VISITOR):
        raise UsageError(f"the name '{name}' is reserved for visitors of sites; choose another name")


def owner_of(session: str) -> str:
    """Return the `Reader.who` of the reader whose conversation has this stored name."""
    return session.split(NAMESPACE_MARK, 2)[1] if session.startswith(NAMESPACE_MARK) else ""


def both(allowed: Filter | None, where: Filter | None) -> Filter | None:
    """Return the conjunction of two filters; None stands for no filter."""
    return And(parts=(allowed, where)) if allowed and where else allowed or where


OWNER = Reader()
"""The reader who may read everything."""


def group(name: str) -> str:
    """Return the canonical name of a group: stripped, in Unicode NFC.

    Raises:
        UsageError: the name is blank.
    """
    plain = unicodedata.normalize("NFC", str(name)).strip()
    if not plain:
        raise UsageError("the name of a group is blank")
    return plain


def groups_in(value: Scalar | Iterable[Scalar] | None) -> tuple[str, ...]:
    """Return the distinct groups in a value, in order: a list, or a text separated by ``;``, ``,`` or ``|``."""
    members = _SEPARATORS.split(value) if isinstance(value, str) else value
    if not isinstance(members, Iterable):
        members = () if members is None else (members,)
    named = (str(member).lower() if isinstance(member, bool) else str(member) for member in members)
    return tuple(sorted({group(one) for one in named if one.strip()}))


def narrowed(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the groups in every list, in order. A list with `EVERYONE` narrows nothing."""
    kept: set[str] | None = None
    for groups in map(frozenset, lists):
        if EVERYONE not in groups:
            kept = {*groups} if kept is None else kept & groups
    return (EVERYONE,) if kept is None else tuple(sorted(kept))
