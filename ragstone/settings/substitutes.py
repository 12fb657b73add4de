"""Substitutes for engines, models and services that a built-in preset names and that are not available.

A preset describes a complete system. It should also work without the system's servers and keys, so embedded engines
and models take their places, with a notice. What the user names is never substituted: if something is missing, opening
the knowledge base fails. A key alone never selects a service; `unused_keys` reports such keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, cast

from ragstone.core.errors import MissingExtra, SettingsError
from ragstone.core.installation import install_command
from ragstone.settings import AUTO, Settings

EMBEDDED = "embedded"
EXTRACTIVE = "extractive"
NO_ADDRESS = (
    "PostgreSQL needs an address: services.postgres.dsn, or DATABASE_URL in the environment, as"
    " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What an engine needs: a package, the module in it, and the setting with the address of its server."""

    package: str
    module: str
    server: str = ""


ENGINES = {
    "faiss": Needs(package="faiss-cpu", module="faiss"),
    "chroma": Needs(package="chromadb", module="chromadb"),
    "qdrant": Needs(package="qdrant-client", module="qdrant_client", server="services.qdrant.url"),
    "postgres": Needs(package="psycopg", module="psycopg", server="services.postgres.dsn"),
}
"""Engines that need a package, by the names of their extras."""
LEGS: tuple[Literal["vectors", "keywords"], ...] = ("vectors", "keywords")
HOSTED = ("openai:", "azure:")
_WEB = "query.web.engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitute:
    """A setting of a preset, the value it asks for, the value used instead, and a notice for the user."""

    path: str
    wanted: str
    instead: str
    told: str


def substitutes(settings: Settings, fixed: Mapping[str, Any]) -> tuple[Substitute, ...]:
    """Return the substitutes for what a preset names and this installation does not have.

    Args:
        settings: the settings with those of the preset.
        fixed: the settings of the user and of the knowledge base, as a tree. They are never substituted.
    """
    embedder, writer = settings.index.embedder, settings.respond.model.name
    out = [
        *(_engine(settings, fixed, leg) for leg in LEGS),
        _model(settings, fixed, "index.embedder", embedder, AUTO, "embeds with"),
        _model(settings, fixed, "respond.model.name", writer, EXTRACTIVE, "answers with"),
    ]
    web = settings.query.web.engine
    if web == "exa" and not settings.services.exa.api_key.get_secret_value() and _at(fixed, _WEB) is None:
        notice = (
            f"the preset {settings.preset} searches the web with exa, but there is no key: the web is not searched."
            f" To use exa: set EXA_API_KEY. To search with your own server: {_WEB}=searxng. To accept this: {_WEB}=none"
        )
        out.append(Substitute(path=_WEB, wanted=web, instead="none", told=notice))
    return tuple(one for one in out if one is not None)


def _engine(settings: Settings, fixed: Mapping[str, Any], leg: Literal["vectors", "keywords"]) -> Substitute | None:
    path = f"index.{leg}"
    wanted = settings.index.vectors if leg == "vectors" else settings.index.keywords
    extra = wanted.partition(":")[0]
    needs = ENGINES.get(extra)
    if needs is None or _at(fixed, path) is not None:
        return None
    lacks: list[str] = []
    remedies: list[str] = []
    if not find_spec(needs.module):
        lacks.append(f"{needs.package} is not installed")
        remedies.append(install_command(extra))
    if needs.server and _at(fixed, needs.server) is None:
        lacks.append("no server is named")
        remedies.append(f"set {needs.server}")
    if not lacks:
        return None
    notice = (
        f"the preset {settings.preset} keeps {leg} in {wanted}, but {' and '.join(lacks)}: the embedded index is used"
        f" instead. To use {wanted}: {', and '.join(remedies)}. To accept this: {path}={EMBEDDED}"
    )
    return Substitute(path=path, wanted=wanted, instead=EMBEDDED, told=notice)


def _model(
    settings: Settings, fixed: Mapping[str, Any], path: str, wanted: str, instead: str, does: str
) -> Substitute | None:
    if not wanted.startswith(HOSTED) or _at(fixed, path) is not None:
        return None
    missing, installed = settings.services.missing(wanted), find_spec("openai") is not None
    if not missing and installed:
        return None
    lacks = [missing.what] if missing else []
    remedies = [f"set {missing.remedy}"] if missing else []
    if not installed:
        lacks.append("openai is not installed")
        remedies.append(install_command("openai"))
    effect = "answers quote the documents" if instead == EXTRACTIVE else "an embedded model is used"
    notice = (
        f"the preset {settings.preset} {does} {wanted}, but {' and '.join(lacks)}: {effect} instead."
        f" To use {wanted}: {', and '.join(remedies)}. To accept this: {path}={instead}"
    )
    return Substitute(path=path, wanted=wanted, instead=instead, told=notice)


def unused_keys(settings: Settings) -> str:
    """Return a notice about keys of services that no setting uses; an empty string if there are none."""
    services = settings.services
    models = (
        settings.respond.model.name,
        settings.respond.cheap,
        settings.review.judge_model,
        settings.index.embedder,
    )
    unnamed = any(name and ":" not in name and name != EXTRACTIVE for name in models[:3])
    keys = {
        "OPENAI_API_KEY": (services.openai.api_key, "respond.model.name=openai:gpt-4o-mini", "openai:"),
        "AZURE_OPENAI_API_KEY": (services.azure.api_key, "respond.model.name=azure:DEPLOYMENT", "azure:"),
    }
    unused = {
        variable: remedy
        for variable, (key, remedy, kind) in keys.items()
        if key.get_secret_value() and not unnamed and not any(name.startswith(kind) for name in models)
    }
    if services.exa.api_key.get_secret_value() and settings.query.web.engine != "exa":
        unused["EXA_API_KEY"] = f"{_WEB}=exa"
    if not unused:
        return ""
    verb = "is" if len(unused) == 1 else "are"
    return f"{', '.join(unused)} {verb} set but not used; to use a service, name it: {', '.join(unused.values())}"


def refuse_unavailable(settings: Settings) -> None:
    """Refuse engines and a tracking store that are not available.

    Raises:
        MissingExtra: the package of an engine or of the store is not installed.
        SettingsError: the address of a server is missing.
    """
    named = [settings.index.vectors, settings.index.keywords]
    for extra in [one.partition(":")[0] for one in named] + ["postgres"] * settings.services.postgres.documents:
        if (needs := ENGINES.get(extra)) and not find_spec(needs.module):
            raise MissingExtra(needs.package, extra=extra)
        if extra == "postgres" and not settings.services.postgres.dsn.get_secret_value():
            raise SettingsError(NO_ADDRESS)
    if settings.review.mlflow and not find_spec("mlflow"):
        raise MissingExtra("mlflow-skinny", extra="mlflow")


def _at(tree: Mapping[str, Any], path: str) -> Any:
    here: Any = tree
    for part in path.split("."):
        here = cast(Mapping[str, Any], here).get(part) if isinstance(here, Mapping) else None
    return here
