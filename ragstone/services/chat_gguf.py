"""A language model in a GGUF file, run by llama.cpp in this process.

llama.cpp starts a server that speaks the OpenAI protocol. It listens locally, requires a random key, and is
called by the same client as any other server. Closing the connection stops the model.
"""

# xllamacpp is untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false, reportMissingTypeStubs=false

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener
from urllib.request import Request as HttpRequest

from pydantic import BaseModel

from ragstone.core.answers import Message, Piece
from ragstone.core.errors import MissingExtra, ModelError, SettingsError
from ragstone.core.processors import processors
from ragstone.core.request import Request
from ragstone.services.chat_openai import OpenAIChat
from ragstone.settings.model_servers import Endpoint
from ragstone.settings.services import ModelSettings, ServiceSettings

try:
    from xllamacpp.xllamacpp import CommonParams, Server
except ModuleNotFoundError as error:
    raise MissingExtra("xllamacpp", extra="gguf") from error

PREFIX = "gguf:"
_MAGIC = b"GGUF"
_AT_ONCE = 256
"""Tokens of a prompt that are read between two checks whether the caller has left."""
_PATIENCE = 3600.0
"""Seconds for a reply. Slowness is not a failure; a caller can close the stream at any time."""
_SILENT = -1
_WINDOW = 8192
"""Tokens of the window if the settings leave it open: a larger one takes memory before the first question."""


class GGUFChat:
    """A model in a file. It writes one reply at a time; other calls wait.

    Args:
        name: as in the settings: ``gguf:`` and the path of the file.
        settings: of the model, with its window and its threads.

    Raises:
        SettingsError: there is no such file, or it has another format.
        ModelError: it cannot be loaded.
    """

    def __init__(self, name: str, settings: ModelSettings) -> None:
        path = Path(name.removeprefix(PREFIX)).expanduser()
        _refuse_other_files(path)
        self.name = name
        key = secrets.token_urlsafe(24)
        self._window = settings.window_tokens or _WINDOW
        self._server = _started(path, self._window, key)
        self._address = str(self._server.listening_address)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._web = build_opener(ProxyHandler({}))
        services = ServiceSettings(
            timeout_seconds=_PATIENCE,
            deadline_seconds=_PATIENCE,
            retries=0,
        )
        endpoint = Endpoint(
            kind="gguf",
            address=f"{self._address}/v1",
            key=key,
            section="respond.model",
            variable="",
            window=self._window,
        )
        self._chat = OpenAIChat(name, settings, services, endpoint)

    def __repr__(self) -> str:
        return f"GGUFChat({self.name})"

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, by the model's tokenizer."""
        return len(self._post("tokenize", {"content": text})["tokens"])

    async def window(self) -> int:
        """Return the tokens of the context window."""
        return self._window

    def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        """Yield the reply piece by piece, then the complete `Reply`; a grammar enforces the form.

        Raises:
            ContextTooLong: the conversation is longer than the model's window.
            ModelError: the model fails.
        """
        return self._chat.stream(messages, request, form)

    def _post(self, path: str, body: Any) -> Any:
        request = HttpRequest(f"{self._address}/{path}", json.dumps(body).encode(), self._headers)
        try:
            with self._web.open(request, timeout=_PATIENCE) as answer:
                return json.load(answer)
        except (URLError, OSError, ValueError) as error:
            raise ModelError(f"{self.name} failed: {error}") from error


def _refuse_other_files(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise SettingsError(f"respond.model.name is {PREFIX}{path}, which cannot be read: {error.strerror}") from error
    if magic != _MAGIC:
        raise SettingsError(f"respond.model.name is {PREFIX}{path}, which is not a GGUF file")


def _started(path: Path, window: int, key: str) -> Server:
    chosen = CommonParams()
    chosen.model.path = str(path)
    chosen.n_ctx = window
    chosen.n_parallel = 1
    chosen.n_batch = chosen.n_ubatch = _AT_ONCE
    threads = max(1, processors() - 1)
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = threads
    chosen.api_keys = [key]
    chosen.warmup = chosen.ui = False
    chosen.verbosity = _SILENT
    try:
        return Server(chosen)
    except Exception as error:  # any error of the C++ library
        raise ModelError(f"{PREFIX}{path} cannot be loaded: {error}") from error
