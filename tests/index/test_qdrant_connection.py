"""What Ragstone asks of Qdrant, checked by a server that refuses what its published description does not have."""

from __future__ import annotations

import json
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from kb import commit
from pydantic import SecretStr, ValidationError

from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.catalog import Stamp
from ragstone.core.errors import EngineError, SettingsError
from ragstone.core.records import Document
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.synced_vectors import SyncedVectors
from ragstone.settings.services import QdrantSettings
from servers.qdrant_server import QdrantServer, shared

pytest.importorskip("qdrant_client", reason="needs qdrant-client")
pytest.importorskip("cryptography", reason="needs cryptography")
from ragstone.index.engines.qdrant.connection import QdrantClient, models
from ragstone.index.engines.qdrant.vectors import QdrantVectors
from ragstone.serve.http.certificate import self_signed

if TYPE_CHECKING:
    from ragstone.core.records import Vector

WIDTH = 32
KEY = "a-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A server with TLS and a key, and the file of its certificate."""

    server: QdrantServer
    authority: Path


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    shared()  # skips where there is no engine
    made = self_signed(tmp_path_factory.mktemp("tls"), [])
    server = QdrantServer(KEY, (made.certificate, made.key))
    yield Guarded(server=server, authority=made.certificate)
    server.stop()


@pytest.fixture(scope="module")
def vectors() -> Vector:
    made = np.random.default_rng(7).standard_normal((400, WIDTH)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with closing(create_catalog(tmp_path_factory.mktemp("catalog") / "catalog.db", {})) as catalog:
        commit(catalog, *(Document(id=f"d{i}", text=f"text {i}") for i in range(60)))
        yield catalog


def store(folder: Path, settings: QdrantSettings, *, seconds: float = 10.0, exact_limit: int = 1000) -> QdrantVectors:
    (folder / "v1").mkdir(exist_ok=True)
    names = CollectionNames(folder / "v1", "qdrant", "limits")
    return QdrantVectors(settings, names, WIDTH, exact_limit=exact_limit, seconds=seconds)


def fill(one: QdrantVectors, vectors: Vector) -> None:
    one.begin(vectors)
    one.put(np.arange(1, len(vectors) + 1), vectors)
    one.seal(Stamp(generation=1, mark="m"))


def told(path: str) -> Any:
    with urllib.request.urlopen(f"{shared().url}{path}") as answer:
        return json.loads(answer.read())["result"]


# ---------------------------------------------------------------- key, certificate, time limits


def test_sends_the_key_over_checked_tls(guarded: Guarded, tmp_path: Path, vectors: Vector) -> None:
    settings = QdrantSettings(
        url=guarded.server.url, api_key=SecretStr(KEY), certificate_authority=str(guarded.authority)
    )
    one = store(tmp_path, settings)
    fill(one, vectors[:20])
    assert one.nearest(vectors[3], 1, None).tolist() == [4]


@pytest.mark.parametrize("key", ["", "another-key"])
def test_says_that_the_key_is_refused(guarded: Guarded, tmp_path: Path, key: str) -> None:
    settings = QdrantSettings(
        url=guarded.server.url, api_key=SecretStr(key), certificate_authority=str(guarded.authority)
    )
    with pytest.raises(EngineError, match=r"refuses the key \(401\); set services\.qdrant\.api_key") as refused:
        store(tmp_path, settings).stamp()
    assert "another-key" not in str(refused.value)


@pytest.mark.parametrize("authority", ["", "another"])
def test_refuses_a_certificate_of_another_authority(guarded: Guarded, tmp_path: Path, authority: str) -> None:
    file = str(self_signed(tmp_path / "other", []).certificate) if authority else ""
    settings = QdrantSettings(url=guarded.server.url, api_key=SecretStr(KEY), certificate_authority=file)
    with pytest.raises(EngineError, match=r"not trusted .*services\.qdrant\.certificate_authority"):
        store(tmp_path, settings).stamp()


def test_refuses_a_certificate_of_another_name(guarded: Guarded, tmp_path: Path) -> None:
    url = guarded.server.url.replace("127.0.0.1", "127.0.0.2")  # the same server, by an address it has no name for
    settings = QdrantSettings(url=url, api_key=SecretStr(KEY), certificate_authority=str(guarded.authority))
    with pytest.raises(EngineError):
        store(tmp_path, settings).stamp()


def test_names_the_setting_of_an_unreadable_authority(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    settings = QdrantSettings(url="https://127.0.0.1:1", certificate_authority=str(tmp_path / "ca.pem"))
    with pytest.raises(SettingsError, match=r"services\.qdrant\.certificate_authority"):
        store(tmp_path, settings)


def test_warns_of_a_key_sent_unencrypted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store(tmp_path, QdrantSettings(url="http://qdrant.example:6333", api_key=SecretStr(KEY)))
    assert "unencrypted" in caplog.text
    assert KEY not in caplog.text


def test_gives_up_on_a_silent_server_after_a_fraction_of_a_second(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = QdrantSettings(url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EngineError, match="timed out"):
            store(tmp_path, settings, seconds=0.2).stamp()


def test_waits_for_a_connection_as_long_as_set(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first, socket.socket() as second:
        for one in (first, second):  # fill the queue, so that further connections are not accepted
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        settings = QdrantSettings(url=f"http://127.0.0.1:{full.getsockname()[1]}", connect_seconds=0.2)
        with pytest.raises(EngineError, match="timed out"):
            store(tmp_path, settings, seconds=600).stamp()


# ---------------------------------------------------------------- what a cluster is asked for


def test_asks_for_acknowledged_writes_and_agreeing_replicas(tmp_path: Path, vectors: Vector) -> None:
    settings = QdrantSettings(url=shared().url, write_ordering="strong", read_consistency="quorum")
    one = store(tmp_path, settings)
    fill(one, vectors[:20])
    one.drop(np.array([2]))
    one.nearest(vectors[3], 3, None)
    one.rows()
    one.differing(np.array([1]), vectors[:1])
    name = CollectionNames(tmp_path / "v1", "qdrant", "limits").current
    seen = [line.partition(" ")[::2] for line in told("/seen") if f"/{name}/points" in line]
    changes = [path for method, path in seen if method == "PUT" or "/points/delete" in path]
    reads = [path for _, path in seen if path not in changes and "/count" not in path]
    assert len(changes) >= 3
    assert all("wait=true" in path and "ordering=strong" in path and "timeout=120" in path for path in changes)
    assert len(reads) >= 3
    assert all("consistency=quorum" in path and "timeout=10" in path for path in reads)


class _Hasty(QdrantClient):
    """A server that has only noted a change when the time is up."""

    def upsert(self, *_: Any, **__: Any) -> models.UpdateResult:
        return models.UpdateResult(operation_id=1, status=models.UpdateStatus.ACKNOWLEDGED)


def test_does_not_seal_what_is_only_noted(tmp_path: Path, vectors: Vector) -> None:
    (tmp_path / "v1").mkdir()
    names = CollectionNames(tmp_path / "v1", "qdrant", "limits")
    client = _Hasty(":memory:")

    def hasty(settings: QdrantSettings, seconds: float) -> QdrantClient:
        del settings, seconds
        return client

    one = QdrantVectors(QdrantSettings(), names, WIDTH, exact_limit=10, connect=hasty)
    with pytest.raises(EngineError, match="has not finished"):
        fill(one, vectors[:5])
    assert names.current == ""


def test_makes_collections_as_set_and_tells_a_difference(tmp_path: Path, catalog: Catalog) -> None:
    settings = QdrantSettings(url=shared().url, shards=3, replicas=2, write_consistency=2, quantization="int8")
    SyncedVectors(store(tmp_path, settings), catalog, dimensions=WIDTH).follow(write=True)
    name = CollectionNames(tmp_path / "v1", "qdrant", "limits").current
    made = models.CollectionInfo.model_validate(told(f"/collections/{name}")).config
    params = made.params
    assert (params.shard_number, params.replication_factor, params.write_consistency_factor) == (3, 2, 2)
    assert isinstance(made.quantization_config, models.ScalarQuantization)

    same = SyncedVectors(store(tmp_path, QdrantSettings(url=shared().url, quantization="int8")), catalog, dimensions=32)
    assert same.status().unlike == ""
    wanted = settings.model_copy(update={"shards": 6, "quantization": "binary"})
    other = SyncedVectors(store(tmp_path, wanted), catalog, dimensions=WIDTH)
    told_of = other.status().unlike
    assert "made with shards 3, and services.qdrant.shards is 6" in told_of
    assert "made with quantization int8, and services.qdrant.quantization is binary" in told_of
    assert told_of in str(other.difference(mend=False))
    other.difference(mend=True)
    assert other.status().unlike == ""
    assert len(other.difference(mend=False)) == 0


@pytest.mark.parametrize(("codes", "least"), [("int8", 0.9), ("binary", 0.5)])  # 32 bits tell few vectors apart
def test_finds_the_nearest_by_codes_and_vectors(codes: Any, least: float, tmp_path: Path, vectors: Vector) -> None:
    one = store(tmp_path, QdrantSettings(url=shared().url, quantization=codes), exact_limit=0)
    fill(one, vectors)
    shared().optimize()
    one.stamp()
    found = [set(one.nearest(vector, 10, None).tolist()) for vector in vectors[:20]]
    nearest = np.argsort(-(vectors[:20] @ vectors.T), axis=1)[:, :10] + 1
    shares = [len(held & set(true.tolist())) / 10 for held, true in zip(found, nearest, strict=True)]
    assert np.mean(shares) > least


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"replicas": 2, "write_consistency": 3}, "must not be more than replicas"),
        ({"certificate_authority": "ca.pem"}, "needs an https"),
        ({"read_consistency": "most"}, "read_consistency"),
    ],
)
def test_refuses_settings_that_contradict(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        QdrantSettings.model_validate(given)
