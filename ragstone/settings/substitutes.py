"""Substitutes for engines, models and services that a built-in preset names and that are not available.

A preset describes a complete system. It should also work without the system's servers and keys, so embedded engines
and models take their places, with a notice. What the user names is never substituted: if something is missing, opening
the knowledge base fails. A key alone never selects a service; `unused_keys` reports such keys.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, cast

from ragstone.core.answers import EXTRACTIVE
from ragstone.core.errors import MissingExtra, SettingsError
from ragstone.core.frozen import frozen
from ragstone.core.installation import install_command
from ragstone.settings import AUTO, Settings
from ragstone.settings.model_servers import OPENAI_ADDRESS

EMBEDDED = "embedded"
NO_ADDRESS = (
    "PostgreSQL needs an address: services.postgres.dsn, or DATABASE_URL in the environment, as"
    " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
)


@frozen
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
LOCAL = {
    "sentence-transformers:": Needs(package="sentence-transformers", module="sentence_transformers"),
    "cross-encoder:": Needs(package="sentence-transformers", module="sentence_transformers"),
    "huggingface:": Needs(package="transformers", module="transformers"),
}
"""Packages, named like their extras, that run a model of the Hugging Face hub."""
ENDED = frozenset({"openai:gpt-4", "openai:gpt-4-turbo"})
"""Models that OpenAI shut down on 2026-10-23. A server of your own may have them."""
SUCCESSOR = "openai:gpt-5.4-mini"
_WEB = "query.web.engine"


@frozen
class _Role:
    """What a model does, the embedded part that replaces it, and the effect."""

    does: str
    instead: str
    effect: str


_ROLES = {
    "index.embedder": _Role(does="embeds with", instead=AUTO, effect="an embedded model is used"),
    "rank.reranker": _Role(does="reranks with", instead="maxsim", effect="an embedded model reranks"),
    "respond.model.name": _Role(does="answers with", instead=EXTRACTIVE, effect="answers quote the documents"),
}


@frozen
class Substitute:
    """A setting of a preset, the value it asks for, the value used instead, and a notice for the user."""

    path: str
    wanted: str
    instead: str
    told: str


def needs_of(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the parts that settings name and that are not in this package, each with what it needs."""
    for wanted in (settings.index.vectors, settings.index.keywords):
        if needs := ENGINES.get(wanted.partition(":")[0]):
            yield wanted, f"{needs.package}{f' and {needs.server}' if needs.server else ''}"
    for path in _ROLES:
        wanted = _value(settings, path)
        kind = f"{wanted.partition(':')[0]}:"
        if kind in HOSTED:
            yield (
                wanted,
                f"openai, and {'OPENAI_API_KEY' if kind == 'openai:' else 'AZURE_OPENAI_ENDPOINT and its key'}",
            )
        elif kind in LOCAL:
            yield wanted, f"{LOCAL[kind].package}, and the model from the Hugging Face hub"
    if settings.query.web.engine == "exa":
        yield "exa", "EXA_API_KEY"


def substitutes(settings: Settings, fixed: Mapping[str, Any]) -> tuple[Substitute, ...]:
    """Return the substitutes for what a preset names and this installation does not have.

    Args:
        settings: the settings with those of the preset.
        fixed: the settings of the user and of the knowledge base, as a tree. They are never substituted.
    """
    out = [
        *(_engine(settings, fixed, leg) for leg in LEGS),
        *(_model(settings, path) for path in _ROLES if _at(fixed, path) is None),
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


def _model(settings: Settings, path: str) -> Substitute | None:
    wanted, role = _value(settings, path), _ROLES[path]
    kind, usable, instead, effect = f"{wanted.partition(':')[0]}:", wanted, role.instead, role.effect
    lacks: list[str] = []
    remedies: list[str] = []
    if kind in HOSTED:
        is_ended = wanted in ENDED and settings.services.openai.base_url == OPENAI_ADDRESS
        usable = SUCCESSOR if is_ended else wanted
        if missing := settings.services.missing(usable):
            lacks.append(missing.what)
            remedies.append(f"set {missing.remedy}")
        if not find_spec("openai"):
            lacks.append("openai is not installed")
            remedies.append(install_command("openai"))
        if is_ended:
            if not lacks:
                usable, instead, effect = "another", SUCCESSOR, f"{SUCCESSOR} is used"
                remedies.append(f"set {path}=openai:NAME")
            lacks.append("OpenAI ended this model")
    elif kind in LOCAL:
        if not find_spec(LOCAL[kind].module):
            lacks.append(f"{LOCAL[kind].package} is not installed")
            remedies.append(install_command(LOCAL[kind].package))
        if not _is_downloaded(wanted.removeprefix(kind)):
            lacks.append("the model is not on this machine")
            remedies.append(f"set {path}={wanted}, which downloads it")
    if not lacks:
        return None
    notice = (
        f"the preset {settings.preset} {role.does} {wanted}, but {' and '.join(lacks)}: {effect} instead."
        f" To use {usable}: {', and '.join(remedies)}. To accept this: {path}={instead}"
    )
    return Substitute(path=path, wanted=wanted, instead=instead, told=notice)


def _is_downloaded(name: str) -> bool:
    """Return whether a model of the Hugging Face hub is in its folder on this machine."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    hub = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
    return any((hub / f"models--{name.replace('/', '--')}" / "snapshots").glob("*/config.json"))


def unused_keys(settings: Settings) -> str:
    """Return a notice about keys of services that no setting uses; an empty string if there are none."""
    services = settings.services
    models = (
        settings.respond.model.name,
        settings.respond.cheap,
        settings.review.judge_model,
        settings.acquire.captions.model,
        settings.index.embedder,
    )
    unnamed = any(name and ":" not in name and name != EXTRACTIVE for name in models[:4])
    keys = {
        "OPENAI_API_KEY": (services.openai.api_key, "respond.model.name=openai:gpt-5.4-mini", "openai:"),
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
    if settings.review.telemetry.to and not (find_spec("opentelemetry") and find_spec("opentelemetry.sdk")):
        raise MissingExtra("opentelemetry-sdk", extra="otel")


def _value(settings: Settings, path: str) -> str:
    here: Any = settings
    for part in path.split("."):
        here = getattr(here, part)
    return here


def _at(tree: Mapping[str, Any], path: str) -> Any:
    here: Any = tree
    for part in path.split("."):
        here = cast(Mapping[str, Any], here).get(part) if isinstance(here, Mapping) else None
    return here
