"""Find the servers of language models that run on this machine or that the settings name, and try one of their models.

Only loopback addresses are looked at, and servers that a setting names.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

from pydantic import BaseModel

from ragstone.core.answers import Message, Reply
from ragstone.core.errors import ModelError
from ragstone.core.frozen import frozen
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.chat import complete, has_form, window_of
from ragstone.services.network import is_here
from ragstone.services.windows import ServedModel, served_models, served_names
from ragstone.settings.model_servers import LOCAL_SERVERS, OPENAI_ADDRESS, Endpoint
from ragstone.settings.services import ServiceSettings

_GLANCE = 0.2
"""Seconds that a look at this machine may take beside an answer."""
_LOOK = 3.0
"""Seconds that a server has to list its models."""


@frozen
class RunningServer:
    """A server and its models; ``trouble`` says why it lists none."""

    kind: str
    address: str
    models: tuple[ServedModel, ...] = ()
    trouble: str = ""

    def name_of(self, model: ServedModel) -> str:
        """Return the name of a model for ``respond.model.name``."""
        return f"{self.kind}:{model.name}"


@frozen
class Trial:
    """What one question showed of a model; ``keeps_form`` says whether it sent the JSON asked for."""

    answer: str
    first_seconds: float
    seconds: float
    tokens: int
    window: int
    keeps_form: bool

    @property
    def speed(self) -> float:
        """Tokens per second of the whole reply, with the time that the prompt takes."""
        return self.tokens / max(self.seconds, 0.001)


class _Opened(BaseModel):
    year: int


_ASKED = "1. The bridge over the Avon was planned for 1929 and opened in 1932.\n\nWhen did the bridge open?"
_IN_WORDS = Message(role="system", content="Answer in one sentence from the passages.")
_AS_JSON = Message(role="system", content='Answer from the passages with JSON alone, such as {"year": 1900}.')


def running_servers(services: ServiceSettings, named: Sequence[str]) -> list[RunningServer]:
    """Return the servers of this machine that answer, and all servers that the settings name.

    Args:
        services: addresses and keys.
        named: the models that the settings name, such as ``groq:NAME``.
    """
    places = _places(services, named)
    with ThreadPoolExecutor(len(places)) as pool:
        found = list(pool.map(_looked, places))
    chosen = {place.kind for place in places if _is_named(place, services, named)}
    return [one for one in found if one.models or one.kind in chosen]


def model_here(services: ServiceSettings) -> str:
    """Return the name of a model that runs on this machine, after a short look; empty if there is none."""
    here = (place for place in _places(services, ()) if place.kind in LOCAL_SERVERS)
    places = [place for place in here if is_here(place.address)]
    with ThreadPoolExecutor(max(1, len(places))) as pool:
        found = pool.map(_glanced, places)
    return next((name for name in found if name), "")


async def tried(model: ChatModel, request: Request) -> Trial:
    """Ask a model one question, in words and as JSON.

    Raises:
        ModelError: it cannot be reached, refuses or fails.
    """
    question = Message(role="user", content=_ASKED)
    start, first, reply = time.monotonic(), 0.0, None
    async with aclosing(model.stream((_IN_WORDS, question), request)) as pieces:
        async for piece in pieces:
            first = first or time.monotonic() - start
            reply = piece if isinstance(piece, Reply) else reply
    if reply is None:
        raise ModelError(f"{model.name} ended without a reply")
    seconds = time.monotonic() - start
    try:
        form = await complete(model, (_AS_JSON, question), request, _Opened)
        keeps_form = has_form(form.text, _Opened)
    except ModelError:  # such as no words
        keeps_form = False
    return Trial(
        answer=reply.text,
        first_seconds=first,
        seconds=seconds,
        tokens=reply.completion_tokens,
        window=await window_of(model),
        keeps_form=keeps_form,
    )


def _places(services: ServiceSettings, named: Sequence[str]) -> list[Endpoint]:
    """Return the servers to look at, each address once."""
    kinds = [name.partition(":")[0] for name in named]
    own = [name for name, server in services.servers.items() if server.base_url]
    places: dict[str, Endpoint] = {}
    for kind in dict.fromkeys([*kinds, "openai", *own, *LOCAL_SERVERS]):
        place = services.endpoint(kind)
        if place and place.address and (kind in LOCAL_SERVERS or _is_named(place, services, named)):
            places.setdefault(place.address.replace("//localhost:", "//127.0.0.1:"), place)
    return list(places.values())


def _is_named(place: Endpoint, services: ServiceSettings, named: Sequence[str]) -> bool:
    """Return whether the settings name a server, by its address or by one of its models; a key alone does not."""
    own = services.servers.get(place.kind)
    if any(name.startswith(f"{place.kind}:") for name in named) or (own and own.base_url):
        return place.kind != "azure"  # which does not list its deployments
    return place.kind == "openai" and place.address != OPENAI_ADDRESS


def _looked(place: Endpoint) -> RunningServer:
    try:
        models = served_models(place, _LOOK)
    except OSError as error:
        return RunningServer(kind=place.kind, address=place.address, trouble=str(error))
    trouble = "" if models else "it has no model yet"
    return RunningServer(kind=place.kind, address=place.address, models=tuple(models), trouble=trouble)


def _glanced(place: Endpoint) -> str:
    try:
        names = served_names(place, _GLANCE)
    except OSError:
        return ""
    return f"{place.kind}:{names[0]}" if names else ""
