"""What administrators do with language models while servers run: add servers, choose the model that answers.

Keys are stored beside the other changed settings, and nothing returns them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import SecretStr

from ragstone.core.errors import NotFound, SettingsError
from ragstone.core.frozen import frozen
from ragstone.serve.http.chosen_model import MODEL, OPENAI, SERVERS, full_name, server_of, tree_of
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.live_settings import LiveSettings
from ragstone.services.models import refuse_missing_package
from ragstone.settings.load import merge, validated
from ragstone.settings.model_servers import OPENAI_ADDRESS


@frozen
class ModelServer:
    """A server of models; ``added`` says that an administrator added it while servers ran."""

    name: str
    address: str
    has_key: bool
    added: bool


@dataclass(frozen=True, slots=True)
class LiveModels:
    """The models of a server's answers, as its administrators change them."""

    live: LiveSettings

    async def servers(self) -> list[ModelServer]:
        """Return the servers that the settings name or that were added, by name."""
        settings, changed = await self.live.settings(), await self.live.changed()
        names = {*settings.services.servers, *(one.removeprefix(SERVERS) for one in changed if one.startswith(SERVERS))}
        if settings.services.openai.api_key.get_secret_value() or settings.services.openai.base_url != OPENAI_ADDRESS:
            names.add(OPENAI)
        places = [place for name in sorted(names) if (place := settings.services.endpoint(name))]
        return [
            ModelServer(
                name=place.kind,
                address=place.address,
                has_key=bool(place.key),
                added=f"{SERVERS}{place.kind}" in changed,
            )
            for place in places
        ]

    async def add(self, name: str, address: str, key: SecretStr | None) -> None:
        """Store a server for all servers of the knowledge base, instead of one that has this name.

        Args:
            name: of the server; its models are called ``NAME:MODEL``.
            address: empty for the known address of this name.
            key: without one, the stored key stays if the address does. A key is never sent to another address than
                the one that it was given for, and one of the settings is never copied.

        Raises:
            SettingsError: a value is not allowed.
            Refused: the settings have a key for this address, and none was given instead.
            KnowledgeBaseError: it could not be stored.
        """
        settings, changed, path = await self.live.settings(), await self.live.changed(), f"{SERVERS}{name}"
        before = settings.services.endpoint(name)
        server = server_of(address=address, key=key or SecretStr(""))
        after = validated(merge(settings.model_dump(), tree_of(name, server))).services.endpoint(name)
        if after is None:
            raise SettingsError(f"'{name}' is no known server; give its address, such as http://HOST:PORT/v1")
        kept = before.key if key is None and before and before.address == after.address else ""
        if kept and path not in changed:
            raise Refused(
                "conflict", f"the settings name '{name}' at this address already; give the key that replaces theirs"
            )
        value = {"base_url": server.base_url, "api_key": kept or server.api_key.get_secret_value()}
        await self.live.store(path, json.dumps(value))

    async def remove(self, name: str) -> None:
        """Remove a server that was added.

        Raises:
            NotFound: none was added under this name.
            Refused: the model in use is one of it.
            KnowledgeBaseError: it could not be removed.
        """
        path, changed = f"{SERVERS}{name}", await self.live.changed()
        if path not in changed:
            raise NotFound(f"no server '{name}' was added while the server runs")
        if MODEL in changed and str(changed[MODEL].value).startswith(f"{name}:"):
            raise Refused("conflict", f"{changed[MODEL].value} answers now; choose another model first")
        await self.live.store(path, None)

    async def choose(self, name: str | None) -> str:
        """Choose the model that answers, and return its full name; None lets the settings hold again.

        Raises:
            SettingsError: it cannot be chosen.
            MissingExtra: its package is not installed.
            KnowledgeBaseError: it could not be stored.
        """
        if name is None:
            await self.live.store(MODEL, None)
            return self.live.engine.settings.respond.model.name
        settings = await self.live.settings()
        chosen = full_name(settings, name)
        refuse_missing_package(settings.respond.model.model_copy(update={"name": chosen}), settings.services)
        await self.live.store(MODEL, chosen)
        return chosen
