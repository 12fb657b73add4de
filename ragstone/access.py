"""Who may read what: groups that documents name, and readers that belong to some of them.

A document names its groups in its metadata, under `READERS`; one that names none is for everyone, and one that names
an empty list is for nobody. What a reader may not read is filtered out inside every index, before anything is ranked.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from ragstone.conditions import And, Exists, Filter, In, Not, Or, Scalar
from ragstone.contracts import Metadata
from ragstone.errors import UsageError

READERS = "readers"
"""Key of a document's metadata that names the groups which may read it."""
EVERYONE = "*"
"""The group that every reader is in."""
NOBODY = ""
"""Stands for an empty list where filters look: no reader can be in a group of this name."""
_APART = re.compile(r"[;,|]")
OTHERS = "\x1f"
"""What the names of conversations begin with where they are kept, but for the owner's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who asks: a name, which keeps conversations apart, and groups; no ``groups`` at all may read everything.

    That is the owner of the files, whom nothing can be hidden from. A reader with an empty set of groups reads only
    what is for everyone.
    """

    name: str = ""
    groups: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.groups, str):  # would be taken for a set of its letters
            raise UsageError(f"groups are a set of names, not the text '{self.groups}'")
        if self.groups is not None:
            object.__setattr__(self, "groups", frozenset(map(group, self.groups)))

    @classmethod
    def of(cls, groups: str | None, *, name: str = "") -> Reader:
        """A reader in these groups, written as ``staff,hr``; nothing, not even an empty text, stands for the owner.

        Raises:
            UsageError: one of them is blank.
        """
        return OWNER if groups is None else cls(name=name, groups=frozenset(_APART.split(groups)))

    @property
    def is_owner(self) -> bool:
        """Whether this reader is who owns the files."""
        return self.groups is None and not self.name

    @property
    def allowed(self) -> Filter | None:
        """What lets through exactly what this reader may read; nothing where that is everything."""
        if self.groups is None:
            return None
        return Or(parts=(Not(part=Exists(key=READERS)), In(key=READERS, values=self.names)))

    @property
    def names(self) -> tuple[str, ...]:
        """The groups, with that of everyone, in order."""
        return tuple(sorted({EVERYONE, *(self.groups or ())}))

    def may_read(self, metadata: Metadata) -> bool:
        """Whether a document with these facts is for this reader."""
        named = metadata.get(READERS)
        if self.groups is None or named is None:
            return True
        return not {EVERYONE, *self.groups}.isdisjoint(named if isinstance(named, tuple) else (named,))

    @property
    def who(self) -> str:
        """This reader, as what is kept for one says whose it is; empty: the owner's."""
        return "" if self.is_owner else json.dumps(self.name or sorted(self.groups or ()))

    def session(self, name: str) -> str:
        """Under what a conversation of this reader is kept, apart from those of all others.

        Raises:
            UsageError: the name looks like that of somebody else's.
        """
        if OTHERS in name:
            raise UsageError("the name of a conversation has a character that cannot be used, U+001F")
        return f"{self.namespace}{name}"

    @property
    def namespace(self) -> str:
        """What the names of this reader's conversations begin with where they are kept."""
        return f"{OTHERS}{self.who}{OTHERS}" if self.who else ""


def both(allowed: Filter | None, where: Filter | None) -> Filter | None:
    """What both let through; nothing stands for everything."""
    return And(parts=(allowed, where)) if allowed and where else allowed or where


OWNER = Reader()
"""May read everything."""


def group(name: str) -> str:
    """The name of a group as it is compared: without blanks around it, its letters composed.

    Raises:
        UsageError: there is nothing left of it.
    """
    plain = unicodedata.normalize("NFC", str(name)).strip()
    if not plain:
        raise UsageError("the name of a group is blank")
    return plain


def groups_in(value: Scalar | Iterable[Scalar] | None) -> tuple[str, ...]:
    """The groups that a value names, in order, each once: a list of them, or one text with ``;``, ``,`` or ``|``."""
    members = _APART.split(value) if isinstance(value, str) else value
    if not isinstance(members, Iterable):
        members = () if members is None else (members,)
    named = (str(member).lower() if isinstance(member, bool) else str(member) for member in members)
    return tuple(sorted({group(one) for one in named if one.strip()}))
