"""Engines and services that the settings name: what each needs, and what stands in where a preset names one in vain.

A preset says how its system was built, engines included. Whoever tries it should get an answer at once, so where the
package is not installed, or no server is named, the embedded index takes the place, and that is said. Without a key of
the service that searches the web, it is not searched. An engine that the user names is never replaced: what it lacks is
an error at the opening, not at the first question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ragstone.errors import MissingExtra, SettingsError
from ragstone.sections import Settings

EMBEDDED = "embedded"
NO_ADDRESS = (
    "PostgreSQL needs an address: services.postgres.dsn, or DATABASE_URL in the environment, as"
    " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The package of an engine and the module it brings; the setting that names its server, where it needs one."""

    package: str
    module: str
    server: str = ""


ENGINES = {
    "faiss": Needs(package="faiss-cpu", module="faiss"),
    "chroma": Needs(package="chromadb", module="chromadb"),
    "qdrant": Needs(package="qdrant-client", module="qdrant_client", server="services.qdrant.url"),
    "postgres": Needs(package="psycopg", module="psycopg", server="services.postgres.dsn"),
}
"""By the names of their extras."""
LEGS = {"index.vectors": "vectors", "index.keywords": "keywords"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitute:
    """What takes the place of something that a preset names: the setting, both values, and a sentence for the user."""

    path: str
    wanted: str
    instead: str
    told: str


def substitutes(settings: Settings, asked: Mapping[str, Any]) -> tuple[Substitute, ...]:
    """What stands in for engines and services that a preset names and that are not to be had here.

    Args:
        settings: with what the preset names.
        asked: what the user named, as a tree; engines and servers among it are meant.
    """
    found = [_leg(settings, asked, path) for path in LEGS if _at(asked, path) is None]
    web = settings.query.web.engine
    if web == "exa" and not settings.services.exa.api_key.get_secret_value() and _at(asked, _WEB) is None:
        told = (
            f"the preset {settings.preset} searches the web with exa, but there is no key: the web is not searched."
            f" To have it: set EXA_API_KEY, or name {_WEB}=searxng. To keep it so: {_WEB}=none"
        )
        found.append(Substitute(path=_WEB, wanted=web, instead="none", told=told))
    return tuple(one for one in found if one is not None)


_WEB = "query.web.engine"


def _leg(settings: Settings, asked: Mapping[str, Any], path: str) -> Substitute | None:
    leg = LEGS[path]
    wanted = getattr(settings.index, leg)
    if wanted == EMBEDDED:
        return None
    extra = wanted.partition(":")[0]
    needs = ENGINES[extra]
    lacks, remedies = [], []
    if not find_spec(needs.module):
        lacks.append(f"{needs.package} is not installed")
        remedies.append(f"pip install 'ragstone[{extra}]'")
    if needs.server and _at(asked, needs.server) is None:
        lacks.append("no server is named")
        remedies.append(f"set {needs.server}")
    if not lacks:
        return None
    told = (
        f"the preset {settings.preset} keeps {leg} in {wanted}, but {' and '.join(lacks)}: the embedded index stands"
        f" in. To get {wanted}: {', and '.join(remedies)}. To keep it so: {path}={EMBEDDED}"
    )
    return Substitute(path=path, wanted=wanted, instead=EMBEDDED, told=told)


def refuse_unavailable(settings: Settings) -> None:
    """Refuse engines that cannot be had.

    Raises:
        MissingExtra: the package of one is not installed.
        SettingsError: no server is named for one that needs it.
    """
    named = [getattr(settings.index, leg) for leg in LEGS.values()]
    for extra in [one.partition(":")[0] for one in named] + ["postgres"] * settings.services.postgres.documents:
        if extra != EMBEDDED and not find_spec(ENGINES[extra].module):
            raise MissingExtra(ENGINES[extra].package, extra=extra)
        if extra == "postgres" and not settings.services.postgres.dsn.get_secret_value():
            raise SettingsError(NO_ADDRESS)


def _at(tree: Mapping[str, Any], path: str) -> Any:
    here: Any = tree
    for part in path.split("."):
        here = here.get(part) if isinstance(here, Mapping) else None
    return here
