"""Web search by a SearXNG, which needs no key. It sends what the engines it asked show of each page."""

from __future__ import annotations

from urllib.parse import urlencode

from ragstone.contracts import Document
from ragstone.errors import SettingsError
from ragstone.query.web_http import Service, ask
from ragstone.query.web_pages import pages
from ragstone.services import ServiceSettings


class SearxngSearch:
    """Asks ``GET /search?format=json``."""

    def __init__(self, services: ServiceSettings, *, characters: int) -> None:
        """Take the address and the limits.

        Raises:
            SettingsError: there is no address.
        """
        own = services.searxng
        if not own.base_url:
            raise SettingsError("query.web.engine=searxng needs an address: set services.searxng.base_url")
        self._services, self._characters = services, characters
        self._service = Service(
            name="SearXNG", section="services.searxng", base_url=own.base_url, allow_private=own.allow_private
        )

    async def search(self, query: str, k: int) -> list[Document]:
        """The ``k`` best pages, as far as they are shown.

        Raises:
            RetrievalError: it cannot be reached, or refuses.
        """
        answer = await ask(self._service, self._services, f"/search?{urlencode({'q': query, 'format': 'json'})}")
        return pages(self._service.name, answer, text="content", limit=k, characters=self._characters)
