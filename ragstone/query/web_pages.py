"""What a search service sent, as documents. Nothing of it is believed before it has the form it should."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.contracts import Document
from ragstone.errors import RetrievalError

_LONGEST = 500
"""Characters of a title, name or date that are kept."""


def pages(service: str, answer: Any, *, text: str, limit: int, characters: int | None = None) -> list[Document]:
    """The pages of an answer, the best first; an entry that is none is passed over.

    Args:
        service: who sent it.
        answer: JSON as it was parsed.
        text: the field that holds a page's text.
        limit: pages that are taken.
        characters: of each text that are taken; all of them where it is not given.

    Raises:
        RetrievalError: the answer has no list of results, or one without anything that is a result.
    """
    results = answer.get("results") if isinstance(answer, Mapping) else None
    if not isinstance(results, list):
        raise RetrievalError(f"{service} sent no results, and nothing that says why")
    if results and not any(isinstance(entry, Mapping) and isinstance(entry.get("url"), str) for entry in results):
        raise RetrievalError(f"{service} sent {len(results)} results, none of which is a page")
    found = []
    for entry in results:
        one: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
        url, body = one.get("url"), one.get(text)
        if isinstance(url, str) and isinstance(body, str) and body.strip():
            facts = {"author": _text(one.get("author")), "published": _text(one.get("publishedDate"))}
            found.append(
                Document(
                    id=url,
                    text=body[:characters],
                    title=_text(one.get("title")),
                    url=url,
                    metadata={name: value for name, value in facts.items() if value},
                )
            )
    return found[:limit]


def _text(value: Any) -> str:
    return " ".join(value.split())[:_LONGEST] if isinstance(value, str) else ""
