"""A language model in a GGUF file, run by llama.cpp in this process.

llama.cpp brings a server of its own that speaks the OpenAI protocol. It listens on this machine only, wants a key that
is drawn anew each time, and is asked by the same client as any other: closing the connection stops the model.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from pydantic import BaseModel, SecretStr

from ragstone.answers import Message, Piece
from ragstone.errors import MissingExtra, ModelError, SettingsError
from ragstone.respond.chat_openai import OpenAIChat
from ragstone.services import ModelSettings, OpenAISettings, ServiceSettings

try:
    from xllamacpp.xllamacpp import CommonParams, Server
except ModuleNotFoundError as error:
    raise MissingExtra("xllamacpp", extra="gguf") from error

PREFIX = "gguf:"
_MAGIC = b"GGUF"
_AT_ONCE = 256
"""Tokens of a prompt that are read between two looks at whether the caller is still there."""
_PATIENCE = 3600.0
"""Seconds for a reply. A slow machine is no failure; a caller who has waited enough closes the stream."""
_SILENT = -1


class GGUFChat:
    """A model in a file. One reply is written at a time; others wait.

    Args:
        name: as the settings have it: ``gguf:`` and the path of the file.
        settings: how the model is asked, how much it reads, and on how many threads.

    Raises:
        SettingsError: there is no such file, or it is none of this format.
        ModelError: it cannot be loaded.
    """

    def __init__(self, name: str, settings: ModelSettings) -> None:
        path = Path(name.removeprefix(PREFIX)).expanduser()
        _refuse_other_files(path)
        self.name = name
        key = secrets.token_urlsafe(24)
        self._server = _started(path, settings, key)
        self._address = str(self._server.listening_address)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._web = build_opener(ProxyHandler({}))
        services = ServiceSettings(
            openai=OpenAISettings(base_url=f"{self._address}/v1", api_key=SecretStr(key)),
            timeout_seconds=_PATIENCE,
            deadline_seconds=_PATIENCE,
            retries=0,
        )
        self._chat = OpenAIChat(name, settings, services, keeps_limits=True)

    def __repr__(self) -> str:
        return f"GGUFChat({self.name})"

    def count(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer."""
        return len(self._asked("tokenize", {"content": text})["tokens"])

    def stream(self, messages: Sequence[Message], form: type[BaseModel] | None = None) -> AsyncGenerator[Piece]:
        """The reply piece by piece, and last the whole of it; a form is kept to by a grammar.

        Raises:
            ModelError: the model fails, or the conversation is longer than it reads.
        """
        return self._chat.stream(messages, form)

    def _asked(self, path: str, body: Any) -> Any:
        request = Request(f"{self._address}/{path}", json.dumps(body).encode(), self._headers)
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


def _started(path: Path, settings: ModelSettings, key: str) -> Server:
    chosen = CommonParams()
    chosen.model.path = str(path)
    chosen.n_ctx = settings.window_tokens
    chosen.n_parallel = 1
    chosen.n_batch = chosen.n_ubatch = _AT_ONCE
    threads = settings.threads or max(1, len(os.sched_getaffinity(0)) - 1)
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = threads
    chosen.api_keys = [key]
    chosen.warmup = chosen.ui = False
    chosen.verbosity = _SILENT
    try:
        return Server(chosen)
    except Exception as error:  # whatever the C++ side says
        raise ModelError(f"{PREFIX}{path} cannot be loaded: {error}") from error
