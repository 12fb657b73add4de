"""Ask servers which models they have, and how many tokens their context windows hold."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import ProxyHandler, build_opener
from urllib.request import Request as HttpRequest

from ragstone.core.frozen import frozen
from ragstone.services.network import is_here
from ragstone.settings.model_servers import KNOWN_SERVERS, LOCAL_SERVERS, SMALL_WINDOW, Endpoint

Fields = Mapping[str, Any]
_SECONDS = 2.0
"""Seconds to wait for what a server says of itself before a question is answered."""
_WINDOWS = ("loaded_context_length", "max_model_len", "context_length", "context_window", "max_context_length")
_MORE_WINDOWS = ("max_input_tokens", "inputTokenLimit", "n_ctx")
_MAX_BYTES = 16_000_000
_NO_CHAT = re.compile(r"embed|rerank|whisper|tts|bge-|clip|moderation|dall-e|diffusion", re.IGNORECASE)


@frozen
class ServedModel:
    """A model that a server offers; ``window`` is 0 if the server does not say."""

    name: str
    window: int = 0


async def learnt_window(endpoint: Endpoint, model: str) -> int | None:
    """Return the context window of a model as its server says, 0 if it does not say, or None if it does not answer."""
    if not _tells_windows(endpoint):
        return 0
    try:
        async with asyncio.timeout(_SECONDS):
            return await asyncio.to_thread(_window, endpoint, model, _SECONDS)
    except OSError:  # also if it takes too long
        return None


def served_models(endpoint: Endpoint, seconds: float) -> list[ServedModel]:
    """Return the chat models of a server.

    Raises:
        OSError: no server answers in time, or it speaks another protocol.
    """
    listed = _listed(endpoint, seconds)
    return [ServedModel(name=name, window=_window_in(endpoint, name, listed, seconds)) for name in _chat_models(listed)]


def served_names(endpoint: Endpoint, seconds: float) -> list[str]:
    """Return the names of the chat models of a server, with one request.

    Raises:
        OSError: no server answers in time, or it speaks another protocol.
    """
    return _chat_models(_listed(endpoint, seconds))


def _chat_models(listed: Mapping[str, Fields]) -> list[str]:
    """Return the names of models that chat and that are no answers of Ragstone itself."""
    return [
        name for name, one in listed.items() if name and not _NO_CHAT.search(name) and one.get("owned_by") != "ragstone"
    ]


def _tells_windows(endpoint: Endpoint) -> bool:
    """Return whether a question may wait for what the server says of itself, because servers of this kind say it."""
    return _kind(endpoint) not in ("openai", "azure", "anthropic", "deepseek", "gguf")


def _kind(endpoint: Endpoint) -> str:
    """Return the kind of a server; one of OpenAI's protocol at a usual port is what usually listens there."""
    if endpoint.kind != "openai":
        return endpoint.kind
    ports = {urlsplit(KNOWN_SERVERS[name].address).port: name for name in LOCAL_SERVERS}
    return ports.get(urlsplit(endpoint.address).port, endpoint.kind)


def _window(endpoint: Endpoint, model: str, seconds: float) -> int:
    return _window_in(endpoint, model, _listed(endpoint, seconds), seconds)


def _listed(endpoint: Endpoint, seconds: float) -> dict[str, Fields]:
    """Return what a server says of each of its models."""
    address = endpoint.address if urlsplit(endpoint.address).path else f"{endpoint.address}/v1"
    found = _json(f"{address}/models", endpoint.key, seconds)
    entries = found.get("data") or found.get("models")
    if not isinstance(entries, Sequence):
        raise OSError("it does not list models")
    models = [cast(Fields, one) for one in cast("Sequence[object]", entries) if isinstance(one, Mapping)]
    return {str(one.get("id") or one.get("name") or ""): one for one in models}


def _window_in(endpoint: Endpoint, model: str, listed: Mapping[str, Fields], seconds: float) -> int:
    none: Fields = {}
    entry = next((one for name, one in listed.items() if _bare(name) == _bare(model)), none)
    nested = [entry, *(cast(Fields, one) for one in entry.values() if isinstance(one, Mapping))]
    if window := next((found for one in nested if (found := _first(one))), 0):
        return window
    try:
        match _kind(endpoint):
            case "lmstudio":
                return _of_lmstudio(endpoint, model, seconds)
            case "ollama":
                return _of_ollama(endpoint, model, seconds)
            case "llamacpp":
                return _of_llamacpp(endpoint, seconds)
            case _:
                return 0
    except OSError:  # another kind of server
        return 0


def _of_lmstudio(endpoint: Endpoint, model: str, seconds: float) -> int:
    entry = _json(f"{_root(endpoint)}/api/v0/models/{quote(model)}", endpoint.key, seconds)
    return _first(entry) if entry.get("state") == "loaded" else min(_first(entry), SMALL_WINDOW)


def _of_ollama(endpoint: Endpoint, model: str, seconds: float) -> int:
    """Return the window that Ollama uses, which is smaller than the one that the model could have."""
    running = _json(f"{_root(endpoint)}/api/ps", endpoint.key, seconds).get("models")
    for one in cast("Sequence[Fields]", running or ()):
        if _bare(str(one.get("name", ""))) == _bare(model) and _first(one):
            return _first(one)
    told = _json(f"{_root(endpoint)}/api/show", endpoint.key, seconds, {"model": model})
    if found := re.search(r"^num_ctx\s+(\d+)", str(told.get("parameters") or ""), re.MULTILINE):
        return int(found[1])
    info = cast(Fields, told.get("model_info") or {})
    return min([SMALL_WINDOW, *(int(value) for name, value in info.items() if name.endswith(".context_length"))])


def _of_llamacpp(endpoint: Endpoint, seconds: float) -> int:
    told = _json(f"{_root(endpoint)}/props", endpoint.key, seconds)
    return _first(cast(Fields, told.get("default_generation_settings") or {}))


def _bare(model: str) -> str:
    """Return a name as Ollama's users write it."""
    return model.removesuffix(":latest")


def _root(endpoint: Endpoint) -> str:
    return endpoint.address.removesuffix("/v1")


def _first(entry: Fields) -> int:
    for name in (*_WINDOWS, *_MORE_WINDOWS):
        value = entry.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 256:
            return int(value)
    return 0


def _json(address: str, key: str, seconds: float, body: object = None) -> Fields:
    """Return the object that a server sends.

    Raises:
        OSError: it sends none in time.
    """
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = HttpRequest(address, None if body is None else json.dumps(body).encode(), headers)
    local = is_here(address)
    try:
        with (build_opener(ProxyHandler({})) if local else build_opener()).open(request, timeout=seconds) as answer:
            parsed = json.loads(answer.read(_MAX_BYTES))
    except HTTPError as error:
        error.close()
        raise OSError(f"it answers HTTP {error.code}") from error
    except URLError as error:
        raise OSError(f"it cannot be reached ({error.reason})") from error
    except (HTTPException, ValueError) as error:
        raise OSError("it does not speak the OpenAI protocol") from error
    if not isinstance(parsed, Mapping):
        raise OSError("it does not speak the OpenAI protocol")
    return cast(Fields, parsed)
