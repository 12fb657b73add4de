"""The JSON of replies, checked as far as a source relies on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from ragstone.core.errors import SourceError
from ragstone.core.records import Metadata

Json = Mapping[str, Any]
At = TypeVar("At")
_MOST_REPLIES = 10_000


def pages(fetch: Callable[[At], tuple[Sequence[Json], At]], first: At, address: str) -> Iterator[Json]:
    """Yield the objects of a list, from all replies.

    Args:
        fetch: returns the objects of a reply and where the next one is; nothing if there is none.
        first: where the first reply is, such as its number, token or URL.
        address: that of the source.

    Raises:
        SourceError: the list has too many replies.
    """
    at = first
    for _ in range(_MOST_REPLIES):
        found, at = fetch(at)
        yield from found
        if not at:
            return
    raise SourceError(f"the list of {address} does not end")


def same_server(url: str, base: str, address: str) -> str:
    """Return the URL of the next reply of a source; empty if there is none.

    Raises:
        SourceError: it is not below the base.
    """
    if url and not url.startswith(f"{base}/"):
        raise SourceError(f"{address} leads to another server")
    return url


def stated(facts: Metadata) -> Metadata:
    """Return the facts of an entry that are not empty."""
    return {name: fact for name, fact in facts.items() if fact != ""}


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


def text_in(value: Json, name: str) -> str:
    """Return the text or number in a field as text; empty if the field is absent or null."""
    field = value.get(name)
    return "" if field is None else str(field)


def texts(value: Json, name: str, of: str = "") -> list[str]:
    """Return the texts in a list of a field, or those in one field of its objects."""
    listed = cast("list[Any]", value.get(name) or [])
    found = [text_in(cast("Json", one), of) if isinstance(one, dict) else str(one) for one in listed]
    return [text for text in found if text]
