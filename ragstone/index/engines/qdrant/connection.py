"""How Qdrant is reached: key, certificate and time limits; and what changes and readings ask of a cluster."""

from __future__ import annotations

import logging
import math
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragstone.core.errors import EngineError, MissingExtra, SettingsError
from ragstone.services.network import is_loopback

try:
    import httpx  # the client's own
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
except ImportError as error:
    raise MissingExtra("qdrant-client", extra="qdrant") from error

if TYPE_CHECKING:
    from ragstone.settings.services import QdrantSettings

Connect = Callable[["QdrantSettings", float], QdrantClient]
_log = logging.getLogger(__name__)
_KEY = "api-key"
_CODES: dict[str, models.ScalarQuantization | models.BinaryQuantization] = {
    "int8": models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
    ),
    "binary": models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True)),
}
_OVERSAMPLED = {"int8": 2.0, "binary": 4.0}
"""Candidates taken by codes, at least, for each one that is wanted; they are then compared by their vectors."""
_LEAST = {"int8": 0, "binary": 640}
"""Candidates taken by codes, at least. On 28,881 real passages 40 by bits hold .82 of the ten nearest, 640 hold .98."""


class _Transport(httpx.HTTPTransport):
    """Sends requests with a limit of its own for connecting; the client itself knows one limit in whole seconds."""

    def __init__(self, verify: ssl.SSLContext | bool, limits: httpx.Limits, times: httpx.Timeout) -> None:
        super().__init__(verify=verify, limits=limits)
        self._times = times.as_dict()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions = {**request.extensions, "timeout": self._times}
        return super().handle_request(request)


def connect(settings: QdrantSettings, seconds: float) -> QdrantClient:
    """Return a client, which sends nothing before it is used.

    Args:
        settings: address, key, authorities and the limit for connecting.
        seconds: to wait for each part of a reply.

    Raises:
        SettingsError: the file of the authorities cannot be read.
    """
    address, key = urlsplit(settings.url), settings.api_key.get_secret_value()
    local = is_loopback(address.hostname or "")
    if key and address.scheme == "http" and not local:
        _log.warning("services.qdrant.url is http, so the API key is sent to %s unencrypted", address.hostname)
    # On loopback, a connection that is kept delays small requests by 40 ms; the client does the same.
    limits = httpx.Limits(max_keepalive_connections=0) if local else httpx.Limits()
    times = httpx.Timeout(seconds, connect=min(settings.connect_seconds, seconds))
    transport = _Transport(_trusted(settings.certificate_authority, address.scheme), limits, times)
    return QdrantClient(
        url=settings.url,
        port=address.port or {"https": 443, "http": 80}[address.scheme],  # the client would take 6333
        headers={_KEY: key} if key else None,
        timeout=math.ceil(seconds),
        check_compatibility=False,
        transport=transport,
    )


def _trusted(authorities: str, scheme: str) -> ssl.SSLContext | bool:
    if scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and reads no file
    if not authorities:
        return True
    try:
        return ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"services.qdrant.certificate_authority: {authorities} is not a file of PEM certificates ({error})"
        ) from error


@contextmanager
def translating(name: str) -> Generator[None]:
    """Translate the errors of the client; ``name`` is the engine and its address."""
    try:
        yield
    except EngineError:
        raise
    except UnexpectedResponse as error:
        if error.status_code in (401, 403):
            raise EngineError(f"{name} refuses the key ({error.status_code}); set services.qdrant.api_key") from error
        raise EngineError(f"{name} refused: {error.status_code} {error.reason_phrase}") from error
    except ResponseHandlingException as error:
        text = str(error)
        if "CERTIFICATE_VERIFY_FAILED" in text:
            remedy = "set services.qdrant.certificate_authority to the file of its authority"
            raise EngineError(f"{name} has a certificate that is not trusted ({text}); {remedy}") from error
        raise EngineError(f"{name} cannot be reached: {text or type(error.source).__name__}") from error
    except Exception as error:  # connections fail in many ways, by several libraries
        raise EngineError(f"{name} cannot be reached: {error}") from error


# ---------------------------------------------------------------- what is asked of a cluster


def ordering(settings: QdrantSettings) -> models.WriteOrdering:
    return models.WriteOrdering(settings.write_ordering)


def consistency(settings: QdrantSettings) -> models.ReadConsistencyType | None:
    """Return how many replicas a reading asks; None for one, the server's default."""
    return None if settings.read_consistency == "one" else models.ReadConsistencyType(settings.read_consistency)


def quantized(settings: QdrantSettings) -> models.ScalarQuantization | models.BinaryQuantization | None:
    """Return the codes that a collection of vectors keeps in memory, if any."""
    return _CODES.get(settings.quantization)


def oversampled(settings: QdrantSettings, k: int) -> models.QuantizationSearchParams | None:
    """Return how ``k`` points are looked for by codes: with more candidates, which are compared by their vectors."""
    codes = settings.quantization
    if codes == "none":
        return None
    return models.QuantizationSearchParams(rescore=True, oversampling=max(_OVERSAMPLED[codes], _LEAST[codes] / k))


def unlike(settings: QdrantSettings, made: models.CollectionConfig, *, has_vectors: bool) -> str:
    """Return how a collection differs from the settings, which apply to new ones only; empty if it does not.

    Args:
        settings: 0 of them leaves a number to the server, so that nothing differs.
        made: what the server says of the collection.
        has_vectors: whether it holds dense vectors, which may have codes.
    """
    params, codes = made.params, made.quantization_config
    pairs: list[tuple[str, object, object]] = [
        ("shards", settings.shards, params.shard_number or 1),
        ("replicas", settings.replicas, params.replication_factor or 1),
        ("write_consistency", settings.write_consistency, params.write_consistency_factor or 1),
    ]
    told = [(name, wanted, held) for name, wanted, held in pairs if wanted and wanted != held]
    if has_vectors and (held := _kind(codes)) != settings.quantization:
        told.append(("quantization", settings.quantization, held))
    return "; ".join(
        f"it was made with {name} {held}, and services.qdrant.{name} is {wanted}" for name, wanted, held in told
    )


def _kind(codes: models.QuantizationConfig | None) -> str:
    if codes is None:
        return "none"
    if isinstance(codes, models.ScalarQuantization):
        return codes.scalar.type.value
    return "binary" if isinstance(codes, models.BinaryQuantization) else type(codes).__name__
