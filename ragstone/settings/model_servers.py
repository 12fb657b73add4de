"""Servers of language models that speak the OpenAI protocol, by the names that models are given.

``ollama:llama3.2:3b`` is a model of Ollama on this machine. A key is used only for a model of its own server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from difflib import get_close_matches

from ragstone.core.frozen import frozen

KINDS = ("openai", "azure", "huggingface", "gguf")
"""The kinds of models that are not at one of `KNOWN_SERVERS`."""
OPENAI_ADDRESS = "https://api.openai.com/v1"
"""The API of OpenAI itself."""
SMALL_WINDOW = 4096
"""Tokens that Ollama gives a model by default on a machine without a large GPU."""


@frozen
class KnownServer:
    """A server: its address, the environment variable of its key, and the window assumed for its models."""

    address: str
    variable: str = ""
    window: int = 8192


KNOWN_SERVERS = {
    "ollama": KnownServer(address="http://127.0.0.1:11434/v1", window=SMALL_WINDOW),
    "lmstudio": KnownServer(address="http://127.0.0.1:1234/v1", window=SMALL_WINDOW),
    "vllm": KnownServer(address="http://127.0.0.1:8000/v1"),
    "llamacpp": KnownServer(address="http://127.0.0.1:8080/v1", window=SMALL_WINDOW),
    "anthropic": KnownServer(address="https://api.anthropic.com/v1", variable="ANTHROPIC_API_KEY", window=200_000),
    "gemini": KnownServer(
        address="https://generativelanguage.googleapis.com/v1beta/openai", variable="GEMINI_API_KEY", window=128_000
    ),
    "mistral": KnownServer(address="https://api.mistral.ai/v1", variable="MISTRAL_API_KEY", window=32_768),
    "groq": KnownServer(address="https://api.groq.com/openai/v1", variable="GROQ_API_KEY"),
    "deepseek": KnownServer(address="https://api.deepseek.com/v1", variable="DEEPSEEK_API_KEY", window=64_000),
    "openrouter": KnownServer(address="https://openrouter.ai/api/v1", variable="OPENROUTER_API_KEY", window=32_768),
}
"""The servers that need no address; those of this machine need no key either."""
LOCAL_SERVERS = tuple(name for name, server in KNOWN_SERVERS.items() if not server.variable)
_OLLAMA_TAG = re.compile(r"latest|(\d+x)?\d+(\.\d+)?[bm](-[\w.-]+)?", re.ASCII)
_ALSO_MODELS = ("mistral",)
"""Servers whose names are also names of models of Ollama."""
_LETTERS = re.compile(r"[A-Za-z_-]+")
_NEAR = 0.82
"""How alike a kind and a misspelt one are at least (`difflib`)."""
_OLLAMA_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*:[a-z0-9][a-z0-9._-]*|[\w.-]+(/[\w.-]+)+:[\w.-]+", re.ASCII)


@frozen
class Endpoint:
    """Where a model is served, and how to speak about it.

    ``section`` is the section of its settings, ``variable`` the environment variable of its key.
    """

    kind: str
    address: str
    key: str = field(repr=False)
    section: str
    variable: str
    window: int


@frozen
class Missing:
    """What a model lacks, and the setting that provides it."""

    what: str
    remedy: str


def lacking(place: Endpoint, model: str) -> Missing | None:
    """Return the setting that a model at a server needs and that is not set, or None."""
    if not place.address:
        remedy = "services.azure.endpoint, or AZURE_OPENAI_ENDPOINT in the environment"
        return Missing(what="the address of the Azure resource is not set", remedy=remedy)
    known = KNOWN_SERVERS.get(place.kind)
    own = place.kind != "azure" and place.address != (known.address if known else OPENAI_ADDRESS)
    if place.key or own or not place.variable:
        return None
    remedy = f"{place.section}.api_key, or {place.variable} in the environment"
    if place.kind == "openai":
        remedy += f"; or services.openai.base_url for a server of your own; a model of Ollama is named ollama:{model}"
    return Missing(what="there is no key", remedy=remedy)


def is_ollama_name(name: str) -> bool:
    """Return whether a name without a known kind is one of Ollama, such as ``llama3.2:3b`` or ``mistral:latest``."""
    kind, _, tag = name.partition(":")
    if kind in KNOWN_SERVERS:
        return kind in _ALSO_MODELS and bool(_OLLAMA_TAG.fullmatch(tag))
    return bool(_OLLAMA_NAME.fullmatch(name))


def meant(name: str, own: Iterable[str] = ()) -> str:
    """Return the name of a model whose kind is probably misspelt, with the nearest kind; empty if it is not.

    A name with a tag of Ollama, such as ``llava:7b``, is one of Ollama, and so are families of models such as
    ``llama3`` and ``deepseek-coder``.

    Args:
        name: of a model, with a kind that is not known.
        own: names of servers in the settings.
    """
    kind, _, model = name.partition(":")
    kinds = [one for one in (*KINDS, *KNOWN_SERVERS, *own) if one not in _ALSO_MODELS]
    if _OLLAMA_TAG.fullmatch(model) or not _LETTERS.fullmatch(kind) or kind.startswith(tuple(kinds)):
        return ""
    near = get_close_matches(kind.lower(), kinds, 1, _NEAR)
    return f"{near[0]}:{model}" if near else ""
