"""Settings of models, and of the services outside that are called where the user names them.

Nothing here is contacted unless a setting, or a key in the environment, asks for it.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints

from ragstone.errors import SettingsError

OPENAI_ADDRESS = "https://api.openai.com/v1"
"""Where OpenAI's own models are."""


def _plain(address: str) -> str:
    """An address that may be shown: of HTTP, and without a user, a password or a query, where keys would stand."""
    try:
        parts = urlsplit(address)
        wrong = bool(address) and (parts.scheme not in ("http", "https") or not parts.hostname)
        secret = parts.username is not None or bool(parts.query)
    except ValueError:
        wrong, secret = True, False
    if wrong:
        raise ValueError("is not an address; write it as https://HOST/PATH")
    if secret:
        raise ValueError("must have no user, password or query; the key has a setting of its own, api_key")
    return address.rstrip("/")


def _sendable(key: SecretStr) -> SecretStr:
    """A key that can stand in a header; blanks around it came with copying."""
    text = key.get_secret_value().strip()
    if not all("!" <= char <= "~" for char in text):
        raise ValueError("is no key: it has blanks or characters beyond ASCII; copy it anew")
    return SecretStr(text)


def _nobodys(schema: str) -> str:
    """A schema that is neither the server's, nor made by Ragstone for something else."""
    if re.fullmatch(r"pg_.*|public|ragstone|information_.*|.*_v\d+", schema):
        raise ValueError("is somebody else's schema; name another")
    return schema


ServiceAddress = Annotated[str, AfterValidator(_plain)]
Key = Annotated[SecretStr, AfterValidator(_sendable)]
Secret = SecretStr
"""Text that is never shown."""
CatalogName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$"), AfterValidator(_nobodys)]
CollectionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{2,40}$")]


_Dollars = Annotated[float, Field(ge=0, le=1_000_000)]


class Section(BaseModel):
    """A group of settings. Unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


class ModelSettings(Section):
    """A language model and how it is asked."""

    name: str = Field(
        default="auto",
        description="auto (a key in the environment decides), extractive (no model: quoted sentences), openai:NAME,"
        " azure:DEPLOYMENT, huggingface:NAME (or a folder), gguf:FILE, or package.module:Class",
    )
    temperature: float = Field(default=0.3, ge=0, le=2, description="0: the likeliest words; higher: more varied ones")
    top_p: float = Field(default=1.0, gt=0, le=1, description="only words within this share of the probability")
    max_tokens: int = Field(default=768, ge=1, description="longest reply")
    window_tokens: int = Field(default=8192, ge=256, description="tokens the model reads, prompt and reply together")
    download: bool = Field(default=True, description="fetch a huggingface model that is named and not here yet")
    precision: Literal["auto", "full", "float16", "int8"] = Field(
        default="auto", description="of a local model: float16 on a GPU and int8 without one, unless said"
    )
    threads: int = Field(default=0, ge=0, description="threads of a local model; 0: all cores but one")


class OpenAISettings(Section):
    """A server that speaks the OpenAI protocol; most do."""

    api_key: Key = Field(default=SecretStr(""), description="key of the OpenAI-compatible server")
    base_url: ServiceAddress = Field(default=OPENAI_ADDRESS, description="address of the OpenAI-compatible server")


class AzureSettings(Section):
    """Deployments of Azure OpenAI."""

    api_key: Key = Field(default=SecretStr(""), description="key of the Azure resource")
    endpoint: ServiceAddress = Field(
        default="", description="address of the Azure resource, https://NAME.openai.azure.com"
    )
    deployment: str = Field(default="", description="chat deployment that writes where respond.model.name is auto")
    api_version: str = Field(default="2024-10-21", description="version of the Azure protocol")


class ExaSettings(Section):
    """Web search by Exa."""

    api_key: Key = Field(default=SecretStr(""), description="key of Exa")
    base_url: ServiceAddress = Field(default="https://api.exa.ai", description="address of Exa")
    allow_private: bool = Field(default=False, description="reach it on loopback and private networks too")


class SearxngSettings(Section):
    """Web search by a SearXNG of one's own, which needs no key."""

    base_url: ServiceAddress = Field(default="", description="address of a SearXNG that answers in JSON")
    allow_private: bool = Field(default=True, description="reach it on loopback and private networks too")


class ChromaSettings(Section):
    """Vectors in Chroma: in this process, or on a server of one's own."""

    url: ServiceAddress = Field(
        default="", description="address of a Chroma server; empty: in this process, in the folder of the version"
    )
    api_key: Key = Field(default=SecretStr(""), description="key of the Chroma server, sent as a bearer token")
    collection: CollectionName = Field(default="ragstone", description="beginning of the names of collections")
    timeout_seconds: float = Field(default=10.0, gt=0, description="longest wait for one reply of a Chroma server")


class QdrantSettings(Section):
    """Vectors or keywords in Qdrant: a server, or a cluster."""

    url: ServiceAddress = Field(
        default="http://localhost:6333", description="address of Qdrant; of a cluster, that of any node"
    )
    api_key: Key = Field(default=SecretStr(""), description="key of Qdrant")
    collection: CollectionName = Field(
        default="ragstone",
        description="alias of the collection in use, for programs beside Ragstone; its collections begin so. That of"
        " keywords has -keywords after it",
    )
    shards: int = Field(default=0, ge=0, description="shards of a new collection; 0: as the server has it")
    replicas: int = Field(default=0, ge=0, description="copies of each shard; 0: as the server has it")
    write_consistency: int = Field(
        default=0, ge=0, description="copies that must have written before a write counts; 0: as the server has it"
    )
    timeout_seconds: float = Field(default=10.0, gt=0, description="longest wait for one reply of Qdrant")


class PostgresSettings(Section):
    """Vectors, keywords, or the catalog in PostgreSQL."""

    dsn: Secret = Field(
        default=SecretStr(""), description="how it is reached: postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
    )
    catalog: CatalogName = Field(
        default="knowledge_base",
        description="schema of the catalog where `index.catalog` is postgres; each knowledge base has its own",
    )
    timeout_seconds: float = Field(default=10.0, gt=0, description="longest wait for one reply of PostgreSQL")
    documents: bool = Field(
        default=False, description="keep the documents in the tables that search_documents searches, for other programs"
    )
    configurations: dict[str, Annotated[str, StringConstraints(pattern=r"^([a-z_][a-z0-9_]*\.)?[a-z_][a-z0-9_]*$")]] = (
        Field(
            default={},
            description="text search configuration of these documents, by their language: `{de: german}`; of others it"
            " is simple",
        )
    )


class RedisSettings(Section):
    """A cache that hosts share, in Redis or Valkey."""

    url: Secret = Field(
        default=SecretStr(""),
        description="how it is reached: redis://USER:PASSWORD@HOST:6379/0, or rediss:// encrypted; empty: not at all",
    )
    timeout_seconds: float = Field(
        default=0.1, gt=0, description="longest wait for it; who waits longer is better off working it out"
    )
    days: float = Field(default=30.0, gt=0, description="days after which a value goes that nobody asked for")


class ServiceSettings(Section):
    """The services, and how long and how often they are tried."""

    openai: OpenAISettings = OpenAISettings()
    azure: AzureSettings = AzureSettings()
    exa: ExaSettings = ExaSettings()
    searxng: SearxngSettings = SearxngSettings()
    chroma: ChromaSettings = ChromaSettings()
    qdrant: QdrantSettings = QdrantSettings()
    postgres: PostgresSettings = PostgresSettings()
    redis: RedisSettings = RedisSettings()
    timeout_seconds: float = Field(default=60.0, gt=0, description="longest wait for a service, or its next piece")
    deadline_seconds: float = Field(
        default=120.0,
        gt=0,
        description="longest that a reply may take, attempts included; all calls for a question have it together",
    )
    retries: int = Field(default=3, ge=0, description="new attempts after a failure that may pass")
    first_wait_seconds: float = Field(
        default=0.5, ge=0, description="wait before the second attempt, doubled at each one; a part of it is chance"
    )
    max_wait_seconds: float = Field(default=20.0, ge=0, description="longest wait that a service may ask for")
    prices: dict[str, tuple[_Dollars, _Dollars]] = Field(
        default={},
        description="of a million tokens read, and written, by model: `{my-model: [0.5, 1.5]}`; they stand above the"
        " shipped ones, which are US dollars",
    )
    budget_per_question: float = Field(
        default=0.0, ge=0, description="money that models may cost for one question; 0: no limit"
    )
    budget_per_day: float = Field(
        default=0.0, ge=0, description="money that models may cost in a day of UTC, in all processes; 0: no limit"
    )

    def refuse_incomplete(self, name: str) -> None:
        """Refuse a model on a server that cannot be reached as it is set.

        Args:
            name: of the model, with its kind: ``openai:NAME`` or ``azure:DEPLOYMENT``.

        Raises:
            SettingsError: naming what is not set.
        """
        kind, _, rest = name.partition(":")
        if not rest:
            raise SettingsError(f"{name} names no model; write {kind}:NAME")
        if kind == "azure" and not self.azure.endpoint:
            raise SettingsError(f"{name} needs the address of the Azure resource: services.azure.endpoint")
        if kind == "azure" and not self.azure.api_key.get_secret_value():
            raise SettingsError(
                f"{name} needs a key: services.azure.api_key, or AZURE_OPENAI_API_KEY in the environment"
            )
        if kind == "openai" and self.openai.base_url == OPENAI_ADDRESS and not self.openai.api_key.get_secret_value():
            raise SettingsError(
                f"{name} needs a key: services.openai.api_key, or OPENAI_API_KEY in the environment;"
                " or the address of a server of your own: services.openai.base_url"
            )
