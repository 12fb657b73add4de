"""Web search by Exa, which sends the texts of the pages it finds."""

from __future__ import annotations

from typing import Any

from ragstone.contracts import Document
from ragstone.errors import SettingsError
from ragstone.query.web_http import Service, ask
from ragstone.query.web_pages import pages
from ragstone.services import ServiceSettings


class ExaSearch:
    """Asks ``POST /search`` for the best pages with their texts, of the kind of search that Exa chooses itself."""

    def __init__(self, services: ServiceSettings, *, characters: int) -> None:
        """Take the key and the limits.

        Raises:
            SettingsError: there is no key, or no address.
        """
        own = services.exa
        self._key, self._services, self._characters = own.api_key.get_secret_value(), services, characters
        if not self._key:
            raise SettingsError("query.web.engine=exa needs a key: set services.exa.api_key, or EXA_API_KEY")
        self._service = Service(
            name="Exa",
            section="services.exa",
            base_url=own.base_url,
            allow_private=own.allow_private,
            secret=self._key,
        )

    async def search(self, query: str, k: int) -> list[Document]:
        """The ``k`` best pages.

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
        answer = await ask(self._service, self._services, "/search", headers=headers, body=body)
        return pages(self._service.name, answer, text="text", limit=k)
