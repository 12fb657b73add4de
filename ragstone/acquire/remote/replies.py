"""The JSON of replies, checked as far as a source relies on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ragstone.core.errors import SourceError

Json = Mapping[str, Any]


def objects(reply: object, address: str, name: str = "") -> list[Json]:
    """Return the objects in a list of a reply; without a name the reply is the list.

    Raises:
        SourceError: the source with this address sent something else.
    """
    value = cast("Json", reply).get(name) if name and isinstance(reply, dict) else reply
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in cast("list[object]", value)):
        raise SourceError(f"{address} does not respond as documented" + (f": no list '{name}'" if name else ""))
    return cast("list[Json]", value)


def inside(value: Json, name: str) -> Json:
    """Return the object in a field; an empty one if the field is absent or null."""
    field = value.get(name)
    return cast("Json", field) if isinstance(field, dict) else {}


def texts(value: Json, name: str, of: str = "") -> list[str]:
    """Return the texts in a list of a field, or those in one field of its objects."""
    listed = cast("list[Any]", value.get(name) or [])
    found = [str(cast("Json", one).get(of) or "") if isinstance(one, dict) else str(one) for one in listed]
    return [text for text in found if text]
