"""Tools of other servers, called over the Model Context Protocol (streamable HTTP) with the official client.

A call is made once and never repeated, because a tool may do more than read. A server that asks for something in
return, such as a reply of a language model, gets an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import cast

from ragstone.core.errors import MissingExtra, RetrievalError
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.query.tool_results import Item, documents
from ragstone.services.pinned import tls
from ragstone.services.retries import Attempts
from ragstone.services.secrets import without_secret
from ragstone.settings.search import ToolSettings
from ragstone.settings.services import ServiceSettings

try:
    import httpx2
    import mcp_types as types
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.exceptions import MCPError
except ImportError as error:
    raise MissingExtra("query.tools", extra="mcp") from error

MAX_BYTES = 8_000_000
"""Size of all replies of a server to one call."""
MAX_PAGES = 20
"""Pages of a list of tools that are read."""
USUAL_ARGUMENTS = ("query", "q", "question", "search", "search_query", "text")
"""Arguments that take the words, if the tool requires several texts or none."""
_MAX_SHOWN = 200
"""Characters of a server's message that are shown."""


class McpTool:
    """Calls one tool of a server, in a session of its own each time."""

    def __init__(self, name: str, own: ToolSettings, services: ServiceSettings) -> None:
        self._name, self._own, self._services = name, own, services
        self._argument = own.argument

    async def search(self, query: str, k: int, request: Request) -> list[Document]:
        """Return at most ``k`` texts that the tool gives for some words.

        Raises:
            RetrievalError: the server cannot be reached, or refuses, or the tool fails.
        """
        own, section = self._own, f"query.tools.{self._name}"
        request.meter.note_sent(f"tool {self._name}", own.url, own.sent)
        transport = _Limited(section)
        try:
            async with (
                asyncio.timeout(Attempts(self._services, request.deadline).patience()),
                self._client(transport) as client,
            ):
                argument = self._argument or await self._words_of(client)
                result = await client.call_tool(own.tool, {**own.arguments, argument: query})
                self._argument = argument
        except TimeoutError:
            raise RetrievalError("no reply in time; raise services.timeout_seconds to wait longer") from None
        except Exception as error:
            raise RetrievalError(transport.problem or self._hidden(_reason(error))) from None
        items = [one for content in result.content if (one := _item(content))]
        if result.is_error:
            said = " ".join(" ".join(one.text for one in items).split())
            raise RetrievalError(f"{own.tool} failed: {self._hidden(said)[:_MAX_SHOWN] or 'it does not say why'}")
        found = documents(self._name, items, result.structured_content)
        if len(found) > k:
            request.meter.notices.append(
                f"The tool {self._name} found {len(found)}; {k} were read ({section}.results)."
            )
        return found[:k]

    @asynccontextmanager
    async def _client(self, transport: httpx2.AsyncBaseTransport) -> AsyncGenerator[Client]:
        key = self._own.api_key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        me = types.Implementation(name="ragstone", version=version("ragstone"))
        async with (
            httpx2.AsyncClient(headers=headers, transport=transport, timeout=self._services.timeout_seconds) as http,
            Client(streamable_http_client(self._own.url, http_client=http), client_info=me, cache=None) as client,
        ):
            yield client

    async def _words_of(self, client: Client) -> str:
        """Return the name of the argument that takes the words."""
        tools, cursor = list[types.Tool](), None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            if not (cursor := page.next_cursor):
                break
        tool = next((one for one in tools if one.name == self._own.tool), None)
        if tool is None:
            known = ", ".join(sorted(one.name for one in tools)) or "none"
            raise RetrievalError(f"there is no tool {self._own.tool}; the server has: {known}")
        texts = [name for name, kind in _properties(tool).items() if kind == "string"]
        free = [name for name in texts if name not in self._own.arguments]
        required = [name for name in tool.input_schema.get("required", ()) if name in free]
        usual = [name for name in USUAL_ARGUMENTS if name in free]
        if chosen := required if len(required) == 1 else usual or (free if len(free) == 1 else []):
            return chosen[0]
        which = f"one of {', '.join(free)}" if free else "the argument that takes the words"
        raise RetrievalError(f"it is not clear where the words go; set query.tools.{self._name}.argument to {which}")

    def _hidden(self, text: str) -> str:
        """Return a text without the key."""
        return without_secret(text, self._own.api_key.get_secret_value())


class _Limited(httpx2.AsyncBaseTransport):
    """Sends requests and ignores the proxies of the environment; it remembers a refusal, and replies that are too long.

    The client of the protocol does not tell the status of a refusal.
    """

    def __init__(self, section: str) -> None:
        self._section, self._inner, self._left = section, httpx2.AsyncHTTPTransport(verify=tls()), MAX_BYTES
        self.problem = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        status = response.status_code
        if status in (401, 403):
            self.problem = f"refuses the key (HTTP {status}); check {self._section}.api_key"
        elif 300 <= status < 400 or (status == 404 and request.method == "POST"):
            self.problem = f"does not know this address (HTTP {status}); check {self._section}.url"
        return httpx2.Response(
            status, headers=response.headers, stream=_Counted(response, self._count), extensions=response.extensions
        )

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            self.problem = f"the reply is larger than {MAX_BYTES // 1_000_000} MB"
            raise httpx2.ReadError(self.problem)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    """The body of a response, whose blocks are counted."""

    def __init__(self, response: httpx2.Response, count: Callable[[int], None]) -> None:
        self._response, self._count = response, count

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._response.aiter_raw():
            self._count(len(block))
            yield block

    async def aclose(self) -> None:
        await self._response.aclose()


def _properties(tool: types.Tool) -> dict[str, str]:
    """Return the type of each argument of a tool; empty for one that may have several."""
    own = tool.input_schema.get("properties", {})
    return {name: cast("dict[str, str]", one).get("type", "") for name, one in own.items() if isinstance(one, dict)}


def _item(content: object) -> Item | None:
    match content:
        case types.TextContent():
            return Item(text=content.text)
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return Item(text=resource.text, url=str(resource.uri))
        case types.ResourceLink():
            return Item(text=content.description or "", title=content.title or content.name, url=str(content.uri))
        case _:  # pictures and sound
            return None


def _reason(error: BaseException) -> str:
    """Return what went wrong; the client of the protocol wraps it in groups."""
    if isinstance(error, BaseExceptionGroup):
        return _reason(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    match error:
        case RetrievalError():
            return str(error)
        case MCPError():
            return f"refuses: {' '.join(error.error.message.split())[:_MAX_SHOWN]}"
        case httpx2.ConnectError() | httpx2.ConnectTimeout():
            return "cannot be reached; is its url right?"
        case httpx2.HTTPError():
            return f"the connection failed ({type(error).__name__})"
        case _:
            return f"does not follow the protocol ({type(error).__name__})"
