"""The groups that metadata names as readers of a document: one decision for every format.

Metadata comes from front matter, tables, JSON, HTML, other programs and much more, and people write access lists in
many forms. A list that is not understood hides the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import cast

from ragstone.core.access import EVERYONE, READERS, group, narrowed
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.records import UNCLEAR

_UNCLEAR = UNCLEAR.replace("_", "")
_CLEAR = frozenset({READERS, _UNCLEAR, "allowedreaders", "allowedgroups", "accessgroups"})
"""Names of access lists, wherever they are."""
_COMMON = frozenset({"groups", "groupids", "acl", "accesscontrol", "access", "permissions", "visibility"})
"""Names that only name an access list in what describes a document; in other data they mean many things."""
_LISTS = frozenset({"groups", "groupids", "acl", "access"})
"""Names of `_COMMON` that name one in other data too, if they have a list of names."""
_TEXTS = frozenset({"text", "content", "body", "pagecontent", "markdown", "html"})
"""A record with one of these describes a document."""
_AROUND = frozenset({"meta", "metadata"})
_READING = frozenset({"read", "view", "names", "members"}) | _CLEAR | _COMMON
_OTHER_RIGHTS = frozenset({"write", "edit", "delete", "admin", "manage"})
_ENTRY = frozenset({"name", "id", "group", "groupid"})
_ABOUT_ENTRY = frozenset({"type", "kind"})
_PUBLIC = frozenset({EVERYONE, "public", "everyone", "anyone", "all", "open"})
_NO_NAMES = frozenset({"true", "false", "null", "none", "~", "yes", "no"})
_CLOSED = frozenset({"private", "internal", "restricted", "confidential", "secret", "hidden"})
_SEPARATORS = re.compile(r"[;,|\n]")
_QUOTED = re.compile(r"\s*(?:\"([^\"]*)\"|'((?:[^']|'(?!\s*(?:,|$)))*)'|([^,\[\]{}\"']*))\s*(?:,|$)")
_DAMAGED = re.compile(r"[\[\]{}<>\"`\0-\x1f]|^'|'$|^[&@!%]|[:=](?:\s|$)")
_DEEPEST, _DEEPEST_LIST = 40, 4
_LONGEST = 10_000


@frozen
class Named:
    """The groups that metadata names. ``problem`` says what is not understood; nobody may read the document then."""

    groups: tuple[str, ...] = ()
    problem: str = ""

    def facts(self) -> dict[str, Scalar | tuple[Scalar, ...]]:
        """Return the metadata of a document that says the same."""
        return {READERS: (), UNCLEAR: self.problem} if self.problem else {READERS: self.groups}


def facts_of(named: Named | None) -> dict[str, Scalar | tuple[Scalar, ...]]:
    """Return what metadata names as metadata of a document; nothing if it names none."""
    return named.facts() if named else {}


def together(*parts: Named | None) -> Named | None:
    """Return what several parts of metadata name: the groups that all of them name."""
    named = [one for one in parts if one is not None]
    if not named:
        return None
    if problem := next((one.problem for one in named if one.problem), ""):
        return Named(problem=problem)
    groups = narrowed([one.groups for one in named])
    if not groups and all(one.groups for one in named):
        return Named(problem="its access lists have no group in common")
    return Named(groups=groups)


def is_clear_name(name: str, column: str = READERS) -> bool:
    """Return whether a key such as ``readers`` or ``doc.readers`` always has an access list."""
    last = name if " " in name else name.rpartition(".")[2]
    return _plain(last) in _CLEAR or _plain(name) == _plain(column)


def is_access_name(name: str, column: str = READERS) -> bool:
    """Return whether a key of this name may have an access list."""
    return is_clear_name(name, column) or _plain(name) in _COMMON


def is_text_name(name: str) -> bool:
    """Return whether a key of this name has the text of a document, which the other keys then describe."""
    return _plain(name) in _TEXTS


def named_in(fields: Mapping[str, object], column: str = READERS, *, describes: bool = True) -> Named | None:
    """Return the groups that fields name as readers; None if they name none.

    Args:
        fields: names and values of any kind, from any reader.
        column: the name of an access list in the settings.
        describes: whether the fields describe a document, like front matter. In other data, such as a table of
            measurements, `groups` may mean anything.
    """
    return together(*_found(fields, column, set(), describes=describes, depth=0))


def is_access_list(name: str, value: object, column: str = READERS, *, describes: bool = False) -> bool:
    """Return whether a field names readers; the arguments are those of `named_in`."""
    return is_access_name(name, column) and named_in({name: value}, column, describes=describes) is not None


def named_anywhere(content: object, column: str = READERS) -> Named | None:
    """Return the groups that data such as a JSON file name at any depth; None if they name none."""
    fields = cast("Mapping[str, object]", content) if isinstance(content, Mapping) else {"": content}
    return together(*_found(fields, column, set(), describes=False, depth=0))


def _found(
    fields: Mapping[str, object], column: str, seen: set[int], *, describes: bool, depth: int
) -> Iterator[Named]:
    """Yield what fields name; ``seen`` has what was looked at, because YAML can repeat a part without end."""
    if depth > _DEEPEST:
        yield Named(problem="it is nested too deep to look for access lists")
        return
    describes = describes or any(is_text_name(str(name)) for name in fields)
    for key, value in fields.items():
        name = str(key)
        is_common = is_access_name(name) and (describes or (depth <= 1 and _is_list_of_names(name, value)))
        if is_common or is_clear_name(name, column):
            if found := _named(name, value):
                yield found
        elif isinstance(value, Mapping | list | tuple) and id(cast("object", value)) not in seen:
            seen.add(id(cast("object", value)))
            around = describes and _plain(name) in _AROUND
            for one in cast("Iterable[object]", [value] if isinstance(value, Mapping) else value):
                if isinstance(one, Mapping | list | tuple):
                    inner = cast("Mapping[str, object]", one if isinstance(one, Mapping) else {"": one})
                    yield from _found(inner, column, seen, describes=around, depth=depth + 1)


def _is_list_of_names(name: str, value: object) -> bool:
    """Return whether data that do not describe a document have an access list under this common name."""
    match value:
        case str():
            word = value.strip().casefold()
            return _plain(name) == "groups" and word not in _PUBLIC and any(map(str.isalpha, word))
        case Mapping():
            return _members(cast("Mapping[str, object]", value)) is not None
        case list() | tuple():
            values = cast("list[object]", value)
            return _plain(name) in _LISTS and not all(isinstance(one, int) for one in values) and bool(_members(values))
        case _:
            return False


def _named(name: str, value: object) -> Named | None:
    if _plain(name) == _UNCLEAR:
        return Named(problem=str(value))
    members = _members(value)
    if _plain(name) in ("access", "permissions", "visibility"):
        if not isinstance(value, Mapping | list | tuple | set | frozenset | str):
            return None  # a number, such as that of a file's mode
        if isinstance(value, str) and value.strip().casefold() in _PUBLIC:
            members = (EVERYONE,)
        elif isinstance(value, str) and value.strip().casefold() in _CLOSED:
            members = None
        elif not members and members is not None:
            return None
    if members is None:
        return Named(
            problem=f"its access list '{name.strip()}' is not understood; write, for example: readers: [staff, hr]"
        )
    return Named(groups=tuple(sorted(set(members))))


def _members(value: object, depth: int = 0) -> tuple[str, ...] | None:
    """Return the groups in a value; None if it is not understood."""
    match value:
        case _ if depth > _DEEPEST_LIST:
            return None
        case None:
            return ()
        case bool():
            return None
        case str():
            return _in_text(value, depth)
        case int():
            return (str(value),)
        case Mapping():
            return _in_mapping(cast("Mapping[str, object]", value), depth)
        case list() | tuple() | set() | frozenset():
            return _in_list(cast("Iterable[object]", value), depth)
        case _:
            return None


def _in_text(text: str, depth: int) -> tuple[str, ...] | None:
    bare = text.strip()
    if len(bare) > _LONGEST:
        return None
    if bare[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            return _members(json.loads(bare), depth + 1)
    if bare.startswith("["):
        if not bare.endswith("]"):
            return None
        bare, at, parts = bare[1:-1], 0, list[str]()
        while at < len(bare):
            match = _QUOTED.match(bare, at)
            if not match or match.end() == at:
                return None
            parts.append("".join(part or "" for part in match.groups()))
            at = match.end()
    else:
        whole = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'"
        parts = _SEPARATORS.split(bare[1:-1] if whole else bare)
    names = [part.strip() for part in parts if part.strip()]
    if any(_DAMAGED.search(name) or name.casefold() in _NO_NAMES for name in names):
        return None
    return tuple(group(name) for name in names)


def _in_list(values: Iterable[object], depth: int) -> tuple[str, ...] | None:
    groups = list[str]()
    for value in values:
        if isinstance(value, str):
            if value.strip().casefold() in _NO_NAMES or _DAMAGED.search(value.strip()):
                return None
            groups += [group(value)] if value.strip() else []
            continue
        if value is None or isinstance(value, list | tuple):
            return None
        members = _members(value, depth + 1)
        if members is None:
            return None
        groups += members
    return tuple(groups)


def _in_mapping(fields: Mapping[str, object], depth: int) -> tuple[str, ...] | None:
    """Return the groups in ``{"read": ["hr"]}``, ``{"groups": ["hr"]}`` or ``{"name": "hr"}``."""
    plain = {_plain(str(name)): value for name, value in fields.items()}
    if plain.keys() & _ENTRY:
        if not plain.keys() <= _ENTRY | _ABOUT_ENTRY or str(plain.get("type", "group")).casefold() != "group":
            return None
        return _members(next(value for name, value in plain.items() if name in _ENTRY), depth + 1)
    lists = [_members(value, depth + 1) for name, value in plain.items() if name in _READING]
    if not lists or not plain.keys() <= _READING | _OTHER_RIGHTS or any(one is None for one in lists):
        return None
    return narrowed([one for one in lists if one is not None])


@lru_cache(1024)  # each row of a table has the same names
def _plain(name: str) -> str:
    """Return a name as all its spellings: ``allowed_groups``, ``allowedGroups``, ``X-Allowed-Groups``."""
    return re.sub(r"[\W_]", "", re.sub(r"^x[-_]", "", name.strip().casefold()))
