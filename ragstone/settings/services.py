"""Settings of language models and external services.

A service is contacted only if another setting names it. A key or an address alone is never a reason to use one.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    field_validator,
    model_validator,
)

from ragstone.core.answers import EXTRACTIVE
from ragstone.core.errors import SettingsError
from ragstone.settings.model_servers import KINDS, KNOWN_SERVERS, OPENAI_ADDRESS, Endpoint, Missing, lacking

EXA_ADDRESS = "https://api.exa.ai"
ENGINE_SECONDS = 10.0
_USUAL_WINDOW = 8192


def _plain(address: str) -> str:
    """Return an HTTP address without a trailing slash. Refuse one with a part that may hold a key."""
    try:
        parts = urlsplit(address)
        wrong = bool(address) and (parts.scheme not in ("http", "https") or not parts.hostname)
        secret = parts.username is not None or bool(parts.query or parts.fragment)
    except ValueError:
        wrong, secret = True, False
    if wrong:
        raise ValueError("this is not an address; write it as https://HOST/PATH")
    if secret:
        raise ValueError("an address must have no user, password, query or fragment; a key has a setting of its own")
    return address.strip().rstrip("/")


def _sendable(key: SecretStr) -> SecretStr:
    """Return a key without surrounding white space. Refuse one that cannot be sent in a header."""
    text = key.get_secret_value().strip()
    if not all("!" <= char <= "~" for char in text):
        raise ValueError("this is not a key: it contains white space or non-ASCII characters; copy it again")
    return SecretStr(text)


def _free(schema: str) -> str:
    """Return the name of a schema. Refuse schemas that PostgreSQL or Ragstone use for something else."""
    if re.fullmatch(r"pg_.*|public|ragstone|information_.*|.*_v\d+", schema):
        raise ValueError("this schema is reserved; choose another name")
    return schema


def _unreserved(server: str) -> str:
    """Return the name of a server. Refuse a name that means something else before a colon."""
    if server in (*KINDS, EXTRACTIVE):
        raise ValueError("this name is taken; a server of OpenAI's protocol at another address may have any other name")
    return server


ServiceAddress = Annotated[str, AfterValidator(_plain)]
Key = Annotated[SecretStr, AfterValidator(_sendable)]
Secret = SecretStr
"""Text that is never printed."""
ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AfterValidator(_unreserved)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
CatalogName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$"), AfterValidator(_free)]
CollectionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{2,40}$")]


_Dollars = Annotated[float, Field(ge=0, le=1_000_000)]
_Seconds = Annotated[float, Field(ge=0)]


class Section(BaseModel):
    """A group of settings that refuses unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


class ModelSettings(Section):
    """A language model and its parameters."""

    name: str = Field(
        default=EXTRACTIVE,
        description="Language model that answers: `extractive` (no model; answers quote sentences), `openai:NAME`,"
        " `azure:DEPLOYMENT`, `ollama:NAME` and the like (`SERVER:NAME`), `huggingface:NAME` (or a folder),"
        " `gguf:FILE`, or `package.module:Class`.",
    )
    temperature: float = Field(default=0.3, ge=0, le=2, description="Sampling temperature. 0 is deterministic.")
    top_p: float = Field(default=1.0, gt=0, le=1, description="Nucleus sampling: share of probability to sample from.")
    max_tokens: int = Field(default=4096, ge=1, description="Maximum tokens of a reply, including its reasoning.")
    window_tokens: int = Field(
        default=0,
        ge=0,
        description="Context window of the model in tokens, including the reply. 0 asks the server; if it does not"
        " say, the window is assumed small.",
    )
    precision: Literal["auto", "full", "float16", "int8"] = Field(
        default="auto", description="Precision of a local model. `auto` is float16 on a GPU and int8 on a CPU."
    )

    def room(self, window: int = 0) -> int:
        """Return the tokens of a window that a prompt may take; the reply needs the rest.

        Args:
            window: as the model knows it; 0 if it does not. A set window counts instead.
        """
        whole = self.window_tokens or window or _USUAL_WINDOW
        return whole - min(self.max_tokens, whole // 4)

    @field_validator("name")
    @classmethod
    def _refuse_auto(cls, name: str) -> str:
        if name.strip() in ("auto", ""):
            raise ValueError("a key no longer selects a model; name one, such as openai:gpt-5.4-mini, or extractive")
        return name


class ServerSettings(Section):
    """A server of language models with the OpenAI protocol."""

    api_key: Key = Field(
        default=SecretStr(""), description="API key. It is used only if a setting names a model of this server."
    )
    base_url: ServiceAddress = Field(
        default="", description="URL of the server. The default is the known address of this name."
    )


class OpenAISettings(Section):
    """A server with the OpenAI protocol."""

    api_key: Key = Field(
        default=SecretStr(""), description="API key. It is used only if a setting names an `openai:` model."
    )
    base_url: ServiceAddress = Field(default=OPENAI_ADDRESS, description="URL of the server.")


class AzureSettings(Section):
    """A resource of Azure OpenAI."""

    api_key: Key = Field(
        default=SecretStr(""), description="API key. It is used only if a setting names an `azure:` deployment."
    )
    endpoint: ServiceAddress = Field(
        default="", description="URL of the resource, such as https://NAME.openai.azure.com."
    )
    api_version: str = Field(default="2024-10-21", description="Version of the Azure OpenAI API.")
    models: dict[str, str] = Field(
        default={},
        description="Model of each deployment whose name is not that of its model, such as `{answers: gpt-4o-mini}`."
        " It determines the price, and the dimensions of vectors.",
    )


class ExaSettings(Section):
    """Web search with Exa."""

    api_key: Key = Field(default=SecretStr(""), description="API key. It is used only with `query.web.engine=exa`.")
    base_url: ServiceAddress = Field(
        default=EXA_ADDRESS, description="URL of Exa. Another URL may also be on a private network."
    )


class SearxngSettings(Section):
    """Web search with your own SearXNG, which needs no key."""

    base_url: ServiceAddress = Field(default="", description="URL of a SearXNG server with its JSON format enabled.")


class ChromaSettings(Section):
    """Chroma, in this process or on a server."""

    url: ServiceAddress = Field(
        default="", description="URL of the Chroma server. If it is empty, Chroma runs in this process."
    )
    api_key: Key = Field(default=SecretStr(""), description="API key, sent as a bearer token.")


class QdrantSettings(Section):
    """Qdrant, on a server or a cluster."""

    url: ServiceAddress = Field(
        default="http://localhost:6333", description="URL of the Qdrant server, or of any node of a cluster."
    )
    api_key: Key = Field(default=SecretStr(""), description="API key of Qdrant.")
    certificate_authority: str = Field(
        default="",
        description="PEM file with the certificates that verify an https server. The default is the trust store of"
        " the system.",
    )
    connect_seconds: float = Field(
        default=5.0,
        gt=0,
        description="Seconds to wait for a connection to Qdrant. `services.engine_seconds` limits replies.",
    )
    collection: CollectionName = Field(
        default="ragstone",
        description="Alias of the current collection, and prefix of collection names. The collection of keywords"
        " appends `-keywords`. Each knowledge base needs its own.",
    )
    shards: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="Shards of a new collection. 0 leaves the number to the server, as in the next two settings.",
    )
    replicas: int = Field(default=0, ge=0, le=100, description="Copies of each shard of a new collection.")
    write_consistency: int = Field(
        default=0, ge=0, le=100, description="Replicas that must store a change before it counts."
    )
    write_ordering: Literal["weak", "medium", "strong"] = Field(
        default="medium",
        description="Order of changes in a cluster: `medium` sends them through a leader that may change, `strong`"
        " through a fixed leader, `weak` through any node.",
    )
    read_consistency: Literal["one", "majority", "quorum", "all"] = Field(
        default="one",
        description="Replicas that a read asks: any `one`, a random `majority`, all with the answer of a `quorum`,"
        " or `all`, which must agree.",
    )
    quantization: Literal["none", "int8", "binary"] = Field(
        default="none",
        description="Codes of the vectors that a new collection keeps in memory: none, one byte per dimension, or"
        " one bit. With codes, the vectors themselves are on disk.",
    )

    @model_validator(mode="after")
    def _check_replicas(self) -> QdrantSettings:
        if self.replicas and self.write_consistency > self.replicas:
            raise ValueError(
                f"write_consistency ({self.write_consistency}) must not be more than replicas ({self.replicas})"
            )
        if self.certificate_authority and not self.url.startswith("https://"):
            raise ValueError("certificate_authority needs an https:// address in url")
        return self


class PostgresSettings(Section):
    """PostgreSQL, for vectors, keywords, the catalog or the queue."""

    dsn: Secret = Field(
        default=SecretStr(""), description="Connection URL, postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
    )
    catalog: CatalogName = Field(
        default="knowledge_base",
        description="Schema of the catalog with `index.catalog=postgres`. Each knowledge base needs its own.",
    )
    partitions: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Hash partitions of a new table of vectors, each with its own graph. 0 makes none.",
    )
    build_mb: int = Field(
        default=256,
        ge=16,
        description="Megabytes that the server may use to build a graph. If the graph of a partition does not fit (2 KB"
        " per vector of 384 dimensions), building is slow.",
    )
    documents: bool = Field(
        default=False,
        description="Also keep the documents in the tables of the function `search_documents`, for other programs.",
    )
    configurations: dict[str, Annotated[str, StringConstraints(pattern=r"^([a-z_][a-z0-9_]*\.)?[a-z_][a-z0-9_]*$")]] = (
        Field(
            default={},
            description="Text search configuration of these documents by language, such as `{de: german}`. The default"
            " is `simple`.",
        )
    )


class RedisSettings(Section):
    """Redis or Valkey, as a cache that several hosts share."""

    url: Secret = Field(
        default=SecretStr(""),
        description="Connection URL, redis://USER:PASSWORD@HOST:6379/0, or rediss:// with TLS. If it is empty, hosts"
        " share no cache.",
    )


class ServiceSettings(Section):
    """Services, and how long and how often they are tried."""

    openai: OpenAISettings = OpenAISettings()
    azure: AzureSettings = AzureSettings()
    servers: dict[ServerName, ServerSettings] = Field(
        default={},
        description="Servers of language models by name, each with a `base_url` and an `api_key`, such as"
        " `{mine: {base_url: https://...}}` for models `mine:NAME`.",
    )
    exa: ExaSettings = ExaSettings()
    searxng: SearxngSettings = SearxngSettings()
    chroma: ChromaSettings = ChromaSettings()
    qdrant: QdrantSettings = QdrantSettings()
    postgres: PostgresSettings = PostgresSettings()
    redis: RedisSettings = RedisSettings()
    timeout_seconds: float = Field(
        default=60.0, gt=0, description="Seconds to wait for the next data from a model or a web search."
    )
    deadline_seconds: float = Field(
        default=120.0,
        gt=0,
        description="Seconds that a complete reply may take, including retries. All calls for a question share them.",
    )
    engine_seconds: float = Field(
        default=ENGINE_SECONDS, gt=0, description="Seconds to wait for a reply of Chroma, Qdrant or PostgreSQL."
    )
    retries: int = Field(default=3, ge=0, description="Retries after a temporary failure.")
    backoff_seconds: tuple[_Seconds, _Seconds] = Field(
        default=(0.5, 20.0),
        description="Seconds to wait before the first retry, and the maximum wait. The wait doubles with each retry.",
    )
    prices: dict[str, tuple[_Dollars, _Dollars]] = Field(
        default={},
        description="Prices of a million input and output tokens by model, such as `{my-model: [0.5, 1.5]}`. They"
        " override the built-in prices, which are in US dollars.",
    )
    budget_per_question: float = Field(
        default=0.0, ge=0, description="Maximum cost of models per question. 0 sets no limit."
    )
    budget_per_day: float = Field(
        default=0.0, ge=0, description="Maximum cost of models per day (UTC), over all processes. 0 sets no limit."
    )

    @field_validator("backoff_seconds")
    @classmethod
    def _check_order(cls, waits: tuple[float, float]) -> tuple[float, float]:
        if waits[0] > waits[1]:
            raise ValueError("the first wait must not be longer than the longest; write it as [0.5, 20]")
        return waits

    def model_behind(self, name: str) -> str:
        """Return the model that a name calls; for an Azure deployment, the one that ``azure.models`` names."""
        kind, _, deployment = name.partition(":")
        model = self.azure.models.get(deployment) if kind == "azure" else None
        return f"openai:{model}" if model else name

    def endpoint(self, kind: str) -> Endpoint | None:
        """Return where the models of a kind are served, such as ``openai`` or ``ollama``; None if no server does."""
        if kind == "azure":
            address, key, variable = self.azure.endpoint, self.azure.api_key, "AZURE_OPENAI_API_KEY"
            section, window = "services.azure", 16_384
        elif kind == "openai":
            address, key, variable = self.openai.base_url, self.openai.api_key, "OPENAI_API_KEY"
            section, window = "services.openai", 16_384 if address == OPENAI_ADDRESS else 8192
        else:
            usual, own = KNOWN_SERVERS.get(kind), self.servers.get(kind, ServerSettings())
            if usual is None and not own.base_url:
                return None
            address, key = own.base_url or (usual.address if usual else ""), own.api_key
            section, variable = f"services.servers.{kind}", usual.variable if usual else ""
            window = usual.window if usual else 8192
        return Endpoint(
            kind=kind,
            address=address.removesuffix("/chat/completions"),
            key=key.get_secret_value(),
            section=section,
            variable=variable,
            window=window,
        )

    def missing(self, name: str) -> Missing | None:
        """Return the setting that a model of a server needs and that is not set, or None.

        Args:
            name: the model with its kind, such as ``openai:NAME`` or ``azure:DEPLOYMENT``.
        """
        kind, _, model = name.partition(":")
        place = self.endpoint(kind)
        return lacking(place, model) if place else None

    def refuse_incomplete(self, name: str) -> None:
        """Refuse a model whose service is not configured.

        Args:
            name: the model with its kind, such as ``openai:NAME`` or ``azure:DEPLOYMENT``.

        Raises:
            SettingsError: a setting is missing; the message names it.
        """
        kind, _, rest = name.partition(":")
        if not rest:
            raise SettingsError(f"{name} names no model; write {kind}:NAME")
        if missing := self.missing(name):
            raise SettingsError(f"{name} cannot be used, because {missing.what}; set {missing.remedy}")
