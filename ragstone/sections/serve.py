"""How the knowledge base is served to others: the address, who may ask how much, and for how long."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from ragstone.services import Section


def _origin(text: str) -> str:
    """An origin as browsers send it: scheme, host and port, and nothing else."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or "@" in text:
        raise ValueError(f"'{text}' is no origin; write it as https://HOST or http://HOST:PORT; * is not allowed")
    return f"{parts.scheme}://{parts.netloc}".lower()


def _folder(text: str) -> str:
    """The name of a folder within the knowledge base."""
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError("must be the name of a folder within the knowledge base, such as uploads")
    return path.as_posix()


Origin = Annotated[str, AfterValidator(_origin)]
Folder = Annotated[str, AfterValidator(_folder)]


class LimitSettings(Section):
    """What one key may take, where it has no limits of its own. Where no key is needed, only the last one holds."""

    rate_per_minute: int = Field(default=300, ge=0, description="requests of a key in a minute; 0: no limit")
    burst: int = Field(default=60, ge=1, description="requests of a key at once; never more than in a minute")
    concurrent: int = Field(default=16, ge=0, description="requests of a key under way at the same time; 0: no limit")
    cost_per_day: float = Field(
        default=0.0, ge=0, description="money that models may cost a key in a day of UTC; 0: no limit"
    )
    questions: int = Field(
        default=64, ge=1, description="questions of all keys worked at at the same time; others wait"
    )


class UploadSettings(Section):
    """Files that are sent to the server."""

    folder: Folder = Field(default="uploads", description="where they are kept, within the knowledge base")
    files: int = Field(default=50, ge=1, le=1000, description="most files of one request")
    file_mb: float = Field(default=50.0, gt=0, description="largest file")
    request_mb: float = Field(default=200.0, gt=0, description="largest request with files")
    total_mb: float = Field(default=2000.0, gt=0, description="what all uploaded files together may take")


class TlsSettings(Section):
    """Encrypted connections."""

    certificate: str = Field(default="", description="file with the certificate, PEM; empty with --tls: one is made")
    key: str = Field(default="", description="file with the private key of the certificate, PEM")

    @model_validator(mode="after")
    def _both(self) -> TlsSettings:
        if bool(self.certificate) != bool(self.key):
            raise ValueError("certificate and key are set together, or neither")
        return self


class ServeSettings(Section):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="address to listen on; others than loopback need a key made")
    port: int = Field(default=8000, ge=0, le=65535, description="port to listen on; 0: any that is free")
    names: tuple[str, ...] = Field(
        default=(),
        description="host names the server is known by, beside its address; * for any, where keys are needed",
    )
    origins: tuple[Origin, ...] = Field(
        default=(), description="web pages elsewhere that may call it from a browser, such as [https://chat.example]"
    )
    sources: tuple[str, ...] = Field(
        default=(), description="files, folders and sites that POST /sync may follow; of others it does nothing"
    )
    jobs: Literal["server", "workers"] = Field(
        default="server", description="who reads uploads and follows sources: this process, or those of ragstone worker"
    )
    log: Literal["info", "warning"] = Field(
        default="info", description="what is written to standard error: every request, or what went wrong"
    )
    body_kb: int = Field(default=256, ge=1, description="largest request without files")
    question_seconds: float = Field(default=180.0, gt=0, description="longest that a question may take")
    request_seconds: float = Field(default=30.0, gt=0, description="longest that any other request may take")
    stop_seconds: int = Field(default=30, ge=0, description="how long running answers may finish when it is stopped")
    limits: LimitSettings = LimitSettings()
    uploads: UploadSettings = UploadSettings()
    tls: TlsSettings = TlsSettings()
