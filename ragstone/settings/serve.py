"""Settings for serving a knowledge base over HTTP, and for its workers."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from ragstone.settings.services import Section, ServiceAddress


def _origin(text: str) -> str:
    """Return an origin as browsers send it: scheme, host and port."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or "@" in text:
        raise ValueError(f"'{text}' is not an origin; write it as https://HOST or http://HOST:PORT; * is not allowed")
    return f"{parts.scheme}://{parts.netloc}".lower()


Origin = Annotated[str, AfterValidator(_origin)]
QueueName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]


class LimitSettings(Section):
    """Quotas of a key that has none of its own. Without keys, only ``questions`` applies."""

    rate_per_minute: int = Field(default=300, ge=0, description="Requests per minute of a key. 0 sets no limit.")
    concurrent: int = Field(default=16, ge=0, description="Concurrent requests of a key. 0 sets no limit.")
    cost_per_day: float = Field(
        default=0.0, ge=0, description="Maximum cost of models per key and day (UTC). 0 sets no limit."
    )
    questions: int = Field(
        default=64,
        ge=1,
        description="Maximum number of concurrent questions of all keys; one per core if no service and no external"
        " engine is involved. Further questions wait, and keys take turns.",
    )


class UploadSettings(Section):
    """Files that clients upload."""

    file_mb: float = Field(default=50.0, gt=0, description="Maximum size of an uploaded file in megabytes.")
    total_mb: float = Field(
        default=2000.0, gt=0, description="Maximum size of all uploaded files together in megabytes."
    )
    attached_files: int = Field(
        default=10, ge=0, description="Maximum number of files attached to one conversation. 0 allows none."
    )
    attached_mb: float = Field(
        default=500.0,
        gt=0,
        description="Maximum size of all files that a person has attached to conversations, in megabytes.",
    )
    attached_days: float = Field(
        default=30.0, gt=0, description="Days until a file attached to a conversation is erased, at the latest."
    )


class TlsSettings(Section):
    """Encrypted connections."""

    certificate: str = Field(
        default="", description="PEM file with the certificate. If it is empty, `--tls` creates one."
    )
    key: str = Field(default="", description="PEM file with the private key of the certificate.")

    @model_validator(mode="after")
    def _check_pair(self) -> TlsSettings:
        if bool(self.certificate) != bool(self.key):
            raise ValueError("set certificate and key together, or neither")
        return self


def _issuer(text: str) -> str:
    """Return an issuer as it stands: its identity is the exact text, a slash at its end included."""
    parts = urlsplit(text)
    is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if text and (not parts.hostname or (parts.scheme != "https" and not (parts.scheme == "http" and is_local))):
        raise ValueError(f"'{text}' is not an issuer; write it as https://HOST/PATH (http only on this machine)")
    return text


class OidcSettings(Section):
    """Sign-in through a provider of OpenID Connect."""

    issuer: Annotated[str, AfterValidator(_issuer)] = Field(
        default="",
        description="Issuer of the provider, exactly as the provider names itself. If it is empty, this sign-in is"
        " off.",
    )
    client_id: str = Field(default="", description="Client id of this server at the provider.")
    client_secret_env: Annotated[str, StringConstraints(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = Field(
        default="",
        description="Environment variable with the client's secret. Leave it empty for a public client, which has"
        " only PKCE.",
    )
    name: str = Field(default="", description="The provider's name on the button. The default is its host name.")
    scopes: tuple[str, ...] = Field(
        default=("openid", "profile", "email"),
        description="Scopes to request. Some providers need an extra scope to return groups.",
    )
    groups_claim: str = Field(
        default="groups",
        description="Claim that lists a person's groups. Dots select fields of objects: `realm_access.roles`.",
    )
    may_sign_in: tuple[str, ...] = Field(
        default=(),
        description="Groups whose members may sign in. If it is empty, everyone with an account at the"
        " provider may sign in.",
    )
    may_read_all: tuple[str, ...] = Field(
        default=(),
        description="Groups whose members may read every document. Others read public documents and the documents of"
        " their groups.",
    )
    may_write: tuple[str, ...] = Field(default=(), description="Groups whose members may add and remove documents.")
    may_administer: tuple[str, ...] = Field(
        default=(), description="Groups whose members may administer: people, keys, settings, statistics."
    )

    @model_validator(mode="after")
    def _check_client(self) -> OidcSettings:
        if self.issuer and not self.client_id:
            raise ValueError("set client_id, too: the provider gives it when the server is registered there")
        if "openid" not in self.scopes:
            raise ValueError("scopes must contain openid")
        return self


class SessionSettings(Section):
    """How long people stay signed in."""

    hours: float = Field(default=12.0, gt=0, le=8_760, description="Hours after which a person has to sign in again.")
    idle_minutes: float = Field(
        default=120.0, ge=1, description="Minutes without a request after which a session ends."
    )


class WidgetSettings(Section):
    """The chat that a site shows with one script tag."""

    enabled: bool = Field(
        default=False, description="Let the sites in `origins` show the chat: serve `/widget.js` and make tokens."
    )
    origins: tuple[Origin, ...] = Field(
        default=(),
        description="Origins of these sites, such as `[https://www.example]`. Their pages may only ask and rate.",
    )
    anonymous: bool = Field(
        default=False,
        description="Let visitors without a token ask questions. They read only documents without groups.",
    )
    rate_per_minute: int = Field(default=10, ge=1, description="Questions and votes per minute of one visitor.")
    concurrent: int = Field(default=2, ge=1, description="Concurrent questions and votes of one visitor.")
    total_per_minute: int = Field(
        default=600, ge=0, description="Questions and votes per minute of all visitors together. 0 sets no limit."
    )
    cost_per_day: float = Field(
        default=0.0,
        ge=0,
        description="Maximum cost of models per day (UTC) for all visitors without a token. 0 sets no limit. The"
        " cost of a visitor with a token counts towards the key of the token.",
    )
    token_minutes: float = Field(
        default=10.0, ge=1, le=60, description="Minutes after which a visitor's token expires."
    )
    frame_ancestors: tuple[Origin, ...] = Field(
        default=(), description="Origins of sites that may show the whole page in a frame."
    )

    @model_validator(mode="after")
    def _check_origins(self) -> WidgetSettings:
        if self.enabled and not self.origins:
            raise ValueError("set origins, too: the sites that show the chat, such as [https://www.example]")
        return self


class ServeSettings(Section):
    """The HTTP server."""

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. Every address except loopback needs a key or sign-in.",
    )
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on. 0 picks a free port.")
    names: tuple[str, ...] = Field(
        default=(),
        description="Host names of the server in addition to its address. `*` accepts any name if keys are required.",
    )
    origins: tuple[Origin, ...] = Field(
        default=(), description="Origins of other web pages that may call the server, such as `[https://chat.example]`."
    )
    url: ServiceAddress = Field(
        default="",
        description="Address under which browsers reach the page, such as `https://docs.example`. The default is the"
        " address of the request.",
    )
    sources: tuple[str, ...] = Field(
        default=(),
        description="Files, folders, sites, and names or addresses of other sources that `POST /sync` may ingest. It"
        " refuses all others, except for those that administrators add while the server runs.",
    )
    models: tuple[str, ...] = Field(
        default=(),
        description="Language models that everyone who asks on the page may choose from, such as"
        " `[ollama:llama3.2:3b, openai:gpt-5.4-mini]`. `extractive` offers quotes without a model.",
    )
    web_pages: bool = Field(
        default=False,
        description="Let callers who may write and read everything add web pages and feeds by their address. Private"
        " addresses need `acquire.crawl.allow_private`.",
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Server processes. Each loads the models; several processes answer more questions on several"
        " cores.",
    )
    jobs: Literal["server", "workers"] = Field(
        default="server", description="What ingests uploads and sources: the server itself, or `ragstone worker`."
    )
    log: Literal["info", "warning"] = Field(
        default="info", description="Log every request (`info`), or only problems (`warning`)."
    )
    question_seconds: float = Field(default=180.0, gt=0, description="Seconds that a question may take.")
    request_seconds: float = Field(default=30.0, gt=0, description="Seconds that any other request may take.")
    stop_seconds: int = Field(
        default=30, ge=0, description="Seconds that running answers may take to finish when the server stops."
    )
    limits: LimitSettings = LimitSettings()
    uploads: UploadSettings = UploadSettings()
    tls: TlsSettings = TlsSettings()
    oidc: OidcSettings = OidcSettings()
    sessions: SessionSettings = SessionSettings()
    widget: WidgetSettings = WidgetSettings()

    @model_validator(mode="after")
    def _check_origins(self) -> ServeSettings:
        if both := set(self.origins) & set(self.widget.origins):
            raise ValueError(f"{', '.join(sorted(both))} is in origins and in widget.origins; only one of them applies")
        return self


class JobSettings(Section):
    """Ingest jobs that worker processes share."""

    queue: Literal["journal", "postgres"] = Field(
        default="journal",
        description="Store of the queue: the knowledge base, or PostgreSQL for workers on several hosts.",
    )
    name: QueueName = Field(
        default="ragstone", description="Name of the queue in PostgreSQL. Each knowledge base needs its own."
    )
    files: int = Field(default=50, ge=1, description="Maximum number of files in one job.")
    lease_seconds: float = Field(
        default=60.0,
        ge=1,
        description="Seconds without a renewal of the lease after which another worker takes the job.",
    )
    tries: int = Field(default=5, ge=1, description="Attempts at a job before it counts as failed.")
