"""The language model that administrators chose while servers run, and the servers of models that they added.

Only models of servers can be chosen: a file or a class of Python stays a matter of the settings.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import SecretStr, ValidationError

from ragstone.core.answers import EXTRACTIVE
from ragstone.core.errors import SettingsError
from ragstone.history.changed_settings import ChangedSetting
from ragstone.services.models import choose
from ragstone.settings import Settings
from ragstone.settings.load import Tree, merge, nested, validated
from ragstone.settings.model_servers import OPENAI_ADDRESS
from ragstone.settings.services import ServerSettings

MODEL = "respond.model.name"
SERVERS = "services.servers."
"""Begins the path under which a server is stored, address and key in one value, so that they change together."""
OPENAI = "openai"


def full_name(settings: Settings, name: str) -> str:
    """Return the full name of a model that may be chosen while servers run.

    Raises:
        SettingsError: it is no model of a server, or a key is missing.
    """
    chosen = choose(settings.respond.model.model_copy(update={"name": name}), settings.services).name
    if chosen != EXTRACTIVE:
        if settings.services.endpoint(chosen.partition(":")[0]) is None:
            raise SettingsError(f"'{name}' is no model of a server; write SERVER:NAME, or name it in {MODEL}")
        settings.services.refuse_incomplete(chosen)
    return chosen


def with_models(settings: Settings, changed: Mapping[str, ChangedSetting]) -> Settings:
    """Return the settings with the servers that were added and the model that was chosen, as far as they still fit."""
    tree: Tree = {}
    for path, one in changed.items():
        if path.startswith(SERVERS) and (server := _stored(one)):
            tree = merge(tree, tree_of(path.removeprefix(SERVERS), server))
    try:
        if tree:
            settings = validated(merge(settings.model_dump(), tree))
        if MODEL in changed:
            settings = writing(settings, full_name(settings, str(changed[MODEL].value)))
    except SettingsError:  # another version of Ragstone stored them, or a server is gone
        pass
    return settings


def writing(settings: Settings, model: str) -> Settings:
    """Return the settings under which a model writes.

    Raises:
        SettingsError: another setting contradicts that.
    """
    return validated(merge(settings.model_dump(), nested(MODEL, model)))


def server_of(*, address: str, key: SecretStr) -> ServerSettings:
    """Return a server as the settings describe it.

    Raises:
        SettingsError: the address or the key cannot be one.
    """
    try:
        return ServerSettings(base_url=address, api_key=key)
    except ValidationError as error:
        raise SettingsError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def tree_of(name: str, server: ServerSettings) -> Tree:
    """Return the settings of a server under a name, its address and its key together."""
    if name == OPENAI:
        return nested("services.openai", {"base_url": server.base_url or OPENAI_ADDRESS, "api_key": server.api_key})
    return nested(f"{SERVERS}{name}", {"base_url": server.base_url, "api_key": server.api_key})


def _stored(one: ChangedSetting) -> ServerSettings | None:
    try:
        return ServerSettings.model_validate_json(str(one.value))
    except ValidationError:
        return None
