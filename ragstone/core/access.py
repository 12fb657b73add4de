"""Access control: documents name groups, and readers belong to groups.

A document names its groups in its metadata under `READERS`. Everyone may read a document without this key; nobody may
read one with an empty list. Every index filters by access before it ranks.

A document that is attached to a conversation names the group of that conversation alone, under `READERS` and under
`ATTACHED`. Its only member is the person of the conversation, and a search is in the group only within it. Readers who
may read everything else are no exception.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from ragstone.core.errors import UsageError
from ragstone.core.filters import And, Exists, Filter, In, Not, Or, Scalar
from ragstone.core.frozen import frozen
from ragstone.core.records import ATTACHED, Metadata

READERS = "readers"
"""Metadata key for the groups that may read a document."""
EVERYONE = "*"
"""The group of all readers."""
EVERYTHING = "**"
"""The group of readers who may read all documents that are not attached to a conversation."""
_CONVERSATION = "conversation:"
"""The beginning of the groups of conversations; no key and no person can be in a group of this name."""
REMOVED = f"{_CONVERSATION}removed"
"""The group of attached documents that were removed and are not erased yet. Nobody is in it."""
NOBODY = ""
"""Stored in place of an empty list of groups; no reader can be in a group of this name."""
VISITORS = "visitors"
"""The name of the reader that all visitors of sites share who have no token."""
VISITOR = "visitor:"
"""The beginning of the name of a visitor with a token."""
_SEPARATORS = re.compile(r"[;,|]")
NAMESPACE_MARK = "\x1f"
"""First character of every stored conversation name, except those of the owner."""


@frozen
class Reader:
    """Who asks: a name, which separates conversations, and groups.

    ``groups=None`` may read everything, as the owner of the files may, except what is attached to conversations. A
    reader with an empty set of groups may read only public documents. ``conversation`` is the group of the conversation
    that they ask in; `within` sets it.

    >>> Reader(name="ann", groups=frozenset({"staff"})) == Reader.of("staff", name="ann")
    True
    """

    name: str = ""
    groups: frozenset[str] | None = None
    conversation: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.groups, str):  # frozenset would split it into letters
            raise UsageError(f"groups must be a set of names, not the text '{self.groups}'")
        if self.groups is not None:
            object.__setattr__(self, "groups", frozenset(map(group, self.groups)))
            if reserved := [name for name in sorted(self.groups) if name == EVERYTHING or is_conversation(name)]:
                raise UsageError(f"the group '{reserved[0]}' is reserved; choose another name")

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
    def allowed(self) -> Filter:
        """The filter on what this reader may read."""
        key = deciding_key(self.names)
        return Or(parts=(Not(part=Exists(key=key)), In(key=key, values=self.names)))

    @property
    def names(self) -> tuple[str, ...]:
        """All groups, in order: also `EVERYONE` or `EVERYTHING`, and that of the conversation."""
        common = {EVERYTHING} if self.groups is None else {EVERYONE, *self.groups}
        return tuple(sorted(common | ({self.conversation} if self.conversation else set())))

    def may_read(self, metadata: Metadata) -> bool:
        """Return whether this reader may read a document with this metadata, also in their other conversations."""
        named = metadata.get(READERS)
        if named is None:
            return True
        groups = named if isinstance(named, tuple) else (named,)
        if any(isinstance(one, str) and self.owns(one) for one in groups):
            return True
        if self.groups is None:
            return not any(isinstance(one, str) and is_conversation(one) for one in groups)
        return not {EVERYONE, *self.groups}.isdisjoint(groups)

    def within(self, session: str) -> Reader:
        """Return this reader in a conversation, whose attached documents they may read there; '' is none.

        Raises:
            UsageError: the name contains `NAMESPACE_MARK`.
        """
        return replace(self, conversation=conversation_group(self.session(session)) if session else "")

    def owns(self, group: str) -> bool:
        """Return whether a group is that of a conversation of this reader."""
        return group.startswith(_conversations_of(self.who))

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


def conversation_group(session: str) -> str:
    """Return the group of the conversation with this stored name, which only its person is in."""
    return f"{_conversations_of(owner_of(session))}{_digest(session)}"


def is_conversation(group: str) -> bool:
    """Return whether a group is that of a conversation."""
    return group.startswith(_CONVERSATION)


def deciding_key(groups: Iterable[str]) -> str:
    """Return the metadata key that decides what readers in these groups may read.

    A document without it may be read, and one with it by readers in a group that it names.
    """
    return ATTACHED if EVERYTHING in groups else READERS


def _conversations_of(who: str) -> str:
    return f"{_CONVERSATION}{_digest(who)}:"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


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
"""The owner of the files, who may read everything but what is attached to conversations."""


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
