"""What leaves this machine: the services that the settings name, and what each one is sent."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from ragstone.core.errors import SettingsError
from ragstone.core.frozen import frozen
from ragstone.services.models import choose
from ragstone.settings import Settings
from ragstone.settings.services import ModelSettings, ServiceSettings

QUESTION = "the question as typed"


@frozen
class Destination:
    """A service that a setting names: its kind, its address, and what it is sent."""

    kind: str
    address: str
    sent: str
    setting: str


def destinations(settings: Settings) -> tuple[Destination, ...]:
    """Return every service that these settings name; none if nothing leaves this machine."""
    return tuple(one for one in _named(settings) if one.address)


def model_address(named: ModelSettings, services: ServiceSettings) -> str:
    """Return the address of the server of a language model; empty if the model runs in this process.

    Raises:
        SettingsError: the name is not a name of a model.
    """
    return served_at(choose(named, services).name, services)


def served_at(name: str, services: ServiceSettings) -> str:
    """Return the address of the server of a model or embedder; empty if it runs in this process."""
    kind, colon, _ = name.partition(":")
    if colon and (served := services.endpoint(kind)):
        return served.address
    return _unknown(name)


def engine_address(engine: str, services: ServiceSettings) -> str:
    """Return the address of a search engine or database; empty if it is embedded or in files."""
    match engine:
        case "qdrant":
            return services.qdrant.url
        case "chroma":
            return services.chroma.url
        case "postgres":
            return _host(services.postgres.dsn.get_secret_value())
        case name:
            return _unknown(name)


def _unknown(component: str) -> str:
    """Return what stands for the address of a component outside Ragstone; empty for one of its own."""
    module, colon, _ = component.partition(":")
    return f"wherever {component} sends it" if colon and "." in module else ""


def _named(settings: Settings) -> Iterator[Destination]:
    services, respond, own = settings.services, settings.respond, settings.index
    yield Destination(
        kind="embedding service",
        address=served_at(own.embedder, services),
        sent="the text of every chunk; each question, also with its spelling corrected",
        setting=f"index.embedder={own.embedder}",
    )
    material = f"{QUESTION}, passages, and earlier turns of the conversation"
    reranked = f"; up to {settings.rank.pool} passages to sort" if settings.rank.reranker == "model" else ""
    models = {
        "respond.model.name": (respond.model.name, f"{material}{reranked}"),
        "respond.cheap": (respond.cheap, material),
        "review.judge_model": (settings.review.judge_model, f"{QUESTION}, passages, and the answer"),
    }
    for setting, (name, sent) in models.items():
        if name:
            address = _address(respond.model.model_copy(update={"name": name}), services)
            yield Destination(kind="language model", address=address, sent=sent, setting=f"{setting}={name}")
    if describer := settings.acquire.captions.model:
        yield Destination(
            kind="vision model",
            address=_address(ModelSettings(name=describer), services),
            sent="each picture in the documents and in questions, reduced and without data on time and place",
            setting=f"acquire.captions.model={describer}",
        )
    reranker = settings.rank.reranker
    yield Destination(
        kind="reranker",
        address=_unknown(reranker),
        sent=f"{QUESTION}, and up to {settings.rank.pool} passages to sort",
        setting=f"rank.reranker={reranker}",
    )
    engine = settings.query.web.engine
    web = {"exa": services.exa.base_url, "searxng": services.searxng.base_url}
    yield Destination(
        kind="web search",
        address=web.get(engine, ""),
        sent=f"{QUESTION}, if the documents may not answer it",
        setting=f"query.web.engine={engine}",
    )
    for name, tool in settings.query.tools.items():
        yield Destination(
            kind="tool",
            address=tool.url,
            sent=f"{tool.sent}, if the documents may not answer it",
            setting=f"query.tools.{name}",
        )
    destinations = {
        "index.vectors": (own.vectors, "the vector of every chunk, and of each question"),
        "index.keywords": (own.keywords, "the words of every chunk, and of each question"),
        "index.catalog": (own.catalog, "all documents, conversations, answers and votes"),
    }
    for setting, (name, sent) in destinations.items():
        address = engine_address(name, services)
        yield Destination(kind="search engine or database", address=address, sent=sent, setting=f"{setting}={name}")
    yield Destination(
        kind="cache",
        address=_host(services.redis.url.get_secret_value()),
        sent="counts of requests, jobs, and results that are kept: vectors, evidence, answers and replies of models",
        setting="services.redis.url",
    )
    tracking = settings.review.mlflow
    yield Destination(
        kind="tracking",
        address=_host(tracking) if "://" in tracking else "",
        sent="settings, times, scores, and each question with its answer",
        setting="review.mlflow",
    )
    telemetry = settings.review.telemetry
    yield Destination(
        kind="telemetry",
        address="wherever the program's own SDK sends it" if telemetry.to == "sdk" else telemetry.to,
        sent="times, counts and outcomes of questions"
        + (", each with its answer" if telemetry.texts else "; no texts"),
        setting="review.telemetry.to",
    )
    issuer = settings.serve.oidc.issuer
    yield Destination(kind="identity provider", address=issuer, sent="sign-ins of people", setting="serve.oidc.issuer")
    for name, one in settings.acquire.connections.items():
        yield Destination(
            kind="source",
            address=_host(one.address),
            sent="requests for its documents, with its credentials",
            setting=f"acquire.connections.{name}",
        )


def _address(named: ModelSettings, services: ServiceSettings) -> str:
    try:
        return model_address(named, services)
    except SettingsError:  # such a model cannot be asked
        return ""


def _host(address: str) -> str:
    """Return an address without its user, password, path and query; empty if it names no host."""
    parts = urlsplit(address)
    if not parts.hostname:
        return ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"
