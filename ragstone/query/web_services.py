"""Search services: Exa, which sends the texts of pages, and SearXNG, which needs no key and sends excerpts.

Replies are validated before use; an entry without an address or a text is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

from ragstone.core.errors import RetrievalError, SettingsError
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.query.web_http import Service, ask
from ragstone.settings.services import EXA_ADDRESS, ServiceSettings

_MAX_FIELD = 500
"""Characters of a title, name or date."""


class ExaSearch:
    """Sends ``POST /search`` and lets Exa choose the kind of search."""

    def __init__(self, services: ServiceSettings, *, characters: int) -> None:
        """Take the key and the limits.

        Raises:
            SettingsError: there is no key.
        """
        own = services.exa
        self._key, self._services, self._characters = own.api_key.get_secret_value(), services, characters
        if not self._key:
            raise SettingsError("query.web.engine=exa needs a key: set services.exa.api_key, or EXA_API_KEY")
        self._service = Service(
            name="Exa",
            section="services.exa",
            base_url=own.base_url,
            allow_private=own.base_url != EXA_ADDRESS,
            secret=self._key,
        )

    async def search(self, query: str, k: int, request: Request) -> list[Document]:
        """Return the ``k`` best pages with their texts.

        Raises:
            RetrievalError: Exa cannot be reached, or refuses.
        """
        body: dict[str, Any] = {
            "query": query,
            "type": "auto",
            "numResults": k,
            "contents": {"text": {"maxCharacters": self._characters}},
        }
        headers = {"x-api-key": self._key}
        reply = await ask(self._service, self._services, "/search", request, headers=headers, body=body)
        return pages(self._service.name, reply, text="text", limit=k)


class SearxngSearch:
    """Sends ``GET /search?format=json``."""

    def __init__(self, services: ServiceSettings, *, characters: int) -> None:
        """Take the address and the limits.

        Raises:
            SettingsError: there is no address.
        """
        own = services.searxng
        if not own.base_url:
            raise SettingsError("query.web.engine=searxng needs an address: set services.searxng.base_url")
        self._services, self._characters = services, characters
        self._service = Service(name="SearXNG", section="services.searxng", base_url=own.base_url, allow_private=True)

    async def search(self, query: str, k: int, request: Request) -> list[Document]:
        """Return the ``k`` best pages with their excerpts.

        Raises:
            RetrievalError: the service cannot be reached, or refuses.
        """
        target = f"/search?{urlencode({'q': query, 'format': 'json'})}"
        reply = await ask(self._service, self._services, target, request)
        return pages(self._service.name, reply, text="content", limit=k, characters=self._characters)


def pages(service: str, reply: object, *, text: str, limit: int, characters: int | None = None) -> list[Document]:
    """Return the pages of a reply, best first.

    Args:
        service: name of the sender.
        reply: parsed JSON.
        text: name of the field with the text of a page.
        limit: most pages to return.
        characters: most characters of each text; None for all.

    Raises:
        RetrievalError: the reply has no list of results, or no result is a page.
    """
    results = _fields(reply).get("results")
    if not isinstance(results, list):
        raise RetrievalError(f"{service} sent no list of results, and no error message")
    entries = [_fields(entry) for entry in cast("Sequence[object]", results)]
    if entries and not any(isinstance(entry.get("url"), str) for entry in entries):
        raise RetrievalError(f"{service} sent {len(entries)} results, but none is a page")
    documents: list[Document] = []
    for entry in entries:
        url, body = entry.get("url"), entry.get(text)
        if isinstance(url, str) and isinstance(body, str) and body.strip():
            facts = {"author": _text(entry.get("author")), "published": _text(entry.get("publishedDate"))}
            documents.append(
                Document(
                    id=url,
                    text=body[:characters],
                    title=_text(entry.get("title")),
                    url=url,
                    metadata={name: value for name, value in facts.items() if value},
                )
            )
    return documents[:limit]


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return " ".join(value.split())[:_MAX_FIELD] if isinstance(value, str) else ""
