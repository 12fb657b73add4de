"""Qdrant's own engine behind HTTP on loopback: the process that `qdrant_server` starts.

Qdrant's server has no Python package, but its engine has one, Qdrant Edge: one shard with the storage, the graph and
the filters of the server. This module adds the part of the server's protocol that Ragstone uses. Every request must
follow the published OpenAPI description, from which the models of the client are generated: a body or a parameter that
the description does not have is refused. Numbers of shards and replicas are kept and told, and change nothing. A graph
is built when it is asked for. Until then every vector is compared, as on a server that has not built its graph yet.
"""

from __future__ import annotations

import json
import re
import shutil
import ssl
import sys
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from pydantic import PositiveInt, TypeAdapter, ValidationError
from qdrant_client import models
from qdrant_edge import (
    BinaryQuantizationConfig,
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    Filter,
    HasIdCondition,
    HnswIndexConfig,
    Point,
    QuantizationSearchParams,
    Query,
    QueryRequest,
    ScalarQuantizationConfig,
    ScalarType,
    ScrollRequest,
    SearchParams,
    SparseVector,
    UpdateOperation,
)

Body = dict[str, Any]
SMALL = 100
"""Kilobytes of vectors from which on a graph is built; all other options are the engine's defaults."""
WAITING = {"timeout": PositiveInt}
READING = {**WAITING, "consistency": models.ReadConsistencyType | PositiveInt}
WRITING = {**WAITING, "wait": bool, "ordering": models.WriteOrdering}
DESCRIBED: dict[str, tuple[Body, Any]] = {
    "PUT /collections/NAME": (WAITING, models.CreateCollection),
    "DELETE /collections/NAME": (WAITING, None),
    "POST /collections/aliases": (WAITING, models.ChangeAliasesOperation),
    "PUT /collections/NAME/points": (WRITING, models.PointInsertOperations),
    "POST /collections/NAME/points/delete": (WRITING, models.PointsSelector),
    "POST /collections/NAME/points": (READING, models.PointRequest),
    "POST /collections/NAME/points/query": (READING, models.QueryRequest),
    "POST /collections/NAME/points/count": (READING, models.CountRequest),
    "POST /collections/NAME/points/scroll": (READING, models.ScrollRequest),
}
"""By request: the parameters of its address, and the model of its body."""


class _Refused(Exception):
    """A request that the server refuses."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Store:
    """The collections, one shard each, and their aliases."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._aliases = folder / "collections", folder / "aliases.json"
        self._whole = folder / "whole"
        for path in (self._folder, self._whole):
            path.mkdir(exist_ok=True)
        self._changing = threading.Lock()
        for path in self._folder.iterdir():
            if not (self._whole / path.name).exists():  # killed while it was made or dropped
                shutil.rmtree(path)
        self.shards = {path.name: EdgeShard.load(str(path)) for path in self._folder.iterdir()}
        self.asked: dict[str, Body] = {
            path.name: json.loads((self._whole / path.name).read_text(encoding="utf-8"))
            for path in self._folder.iterdir()
        }

    @property
    def aliases(self) -> dict[str, str]:
        return json.loads(self._aliases.read_text(encoding="utf-8")) if self._aliases.is_file() else {}

    def shard(self, name: str) -> EdgeShard:
        found = self.shards.get(self.aliases.get(name, name))
        if found is None:
            raise _Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return found

    def create(self, name: str, body: Body) -> None:
        if name in self.shards:
            raise _Refused(409, f"Wrong input: Collection `{name}` already exists!")
        dense: dict[str, Body] = body.get("vectors") or {}
        terms: dict[str, Body] = body.get("sparse_vectors") or {}
        vectors = {
            one: EdgeVectorParams(
                size=params["size"], distance=getattr(Distance, params["distance"]), on_disk=params.get("on_disk")
            )
            for one, params in dense.items()
        }
        sparse = {one: EdgeSparseVectorParams(on_disk=params["index"]["on_disk"]) for one, params in terms.items()}
        (self._folder / name).mkdir()
        config = EdgeConfig(
            vectors=vectors,
            sparse_vectors=sparse,
            on_disk_payload=body.get("on_disk_payload"),
            quantization_config=_codes(body.get("quantization_config")),
            optimizers=EdgeOptimizersConfig(indexing_threshold=SMALL),
            hnsw_config=HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=SMALL),
        )
        self.asked[name] = body
        self.shards[name] = EdgeShard.create(str(self._folder / name), config)
        coming = self._folder.parent / f"{name}.new"
        coming.write_text(json.dumps(body), encoding="utf-8")
        coming.replace(self._whole / name)

    def drop(self, name: str) -> None:
        with self._changing:
            (self._whole / name).unlink()
            self.shards.pop(name).close()
        shutil.rmtree(self._folder / name)

    def change(self, name: str, operation: UpdateOperation) -> None:
        with self._changing:
            self.shard(name).update(operation)

    def rename(self, actions: list[Body]) -> None:
        """Change aliases in one step."""
        aliases = self.aliases
        for action in actions:
            if gone := action.get("delete_alias"):
                aliases.pop(gone["alias_name"], None)
            if made := action.get("create_alias"):
                if made["alias_name"] in self.shards:
                    raise _Refused(400, f"Collection `{made['alias_name']}` already exists!")
                aliases[made["alias_name"]] = made["collection_name"]
        coming = self._aliases.with_suffix(".new")
        coming.write_text(json.dumps(aliases), encoding="utf-8")
        coming.replace(self._aliases)


class _Handler(BaseHTTPRequestHandler):
    """A handler that passes each request to the method named after its route."""

    protocol_version = "HTTP/1.1"
    store: _Store
    key = ""
    seen: ClassVar[deque[str]] = deque(maxlen=1000)
    """The last requests: method, address, and a space between."""

    def _take(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        path, _, query = self.path.partition("?")
        status, problem = 200, ""
        try:
            if self.key and self.headers.get("api-key") != self.key:
                raise _Refused(401, "Must provide an API key or an Authorization bearer token")
            self.seen.append(f"{self.command} {self.path}")
            body: Body = json.loads(raw) if raw else {}
            _check(self.command, path, dict(parse_qsl(query)), body)
            result = self._routed(f"{self.command} {path}", body)
        except _Refused as refused:
            result, status, problem = None, refused.status, str(refused)
        except Exception as error:  # a server reports it and continues
            result, status, problem = None, 500, f"{type(error).__name__}: {error}"
        reply = {"result": result, "status": {"error": problem} if problem else "ok", "time": 0.0}
        self._send(status, json.dumps(reply).encode())

    do_GET = do_PUT = do_POST = do_DELETE = _take

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _routed(self, request: str, body: Body) -> Any:
        if request == "GET /collections":
            return {"collections": [{"name": name} for name in self.store.shards]}
        if request == "GET /seen":
            return list(self.seen)
        if request == "GET /optimize":
            made = [shard.optimize() for shard in self.store.shards.values()]
            return {
                "made": made,
                "vectors": sum(one.info().indexed_vectors_count for one in self.store.shards.values()),
            }
        if request == "GET /aliases":
            named = self.store.aliases.items()
            return {"aliases": [{"alias_name": alias, "collection_name": name} for alias, name in named]}
        if request == "POST /collections/aliases":
            self.store.rename(body["actions"])
            return True
        method, _, path = request.partition(" ")
        found = re.fullmatch(r"/collections/([^/]+)((?:/[a-z]+)*)", path)
        if found is None:
            raise _Refused(404, path)
        name, rest = found.groups()
        match f"{method} {rest}":
            case "GET ":
                return _info(self.store.shard(name), self.store.asked[name])
            case "GET /exists":
                return {"exists": name in self.store.shards}
            case "PUT ":
                self.store.create(name, body)
            case "DELETE ":
                self.store.drop(name)
            case "PUT /points":
                self.store.change(name, UpdateOperation.upsert_points(_points(body)))
            case "POST /points/delete":
                self.store.change(name, UpdateOperation.delete_points(body["points"]))
            case "POST /points":
                vectors = bool(body.get("with_vector"))
                records = self.store.shard(name).retrieve(body["ids"], bool(body.get("with_payload", True)), vectors)
                return [{"id": one.id, "payload": one.payload, "vector": _told(one.vector)} for one in records]
            case "POST /points/query":
                return self._query(name, body)
            case "POST /points/count":
                return {"count": self.store.shard(name).count(CountRequest(exact=body["exact"]))}
            case "POST /points/scroll":
                asked = ScrollRequest(
                    offset=body.get("offset"), limit=body["limit"], with_payload=False, with_vector=False
                )
                records, offset = self.store.shard(name).scroll(asked)
                return {"points": [{"id": one.id} for one in records], "next_page_offset": offset}
            case _:
                raise _Refused(404, request)
        return {"operation_id": 1, "status": "completed"} if rest else True

    def _query(self, name: str, body: Body) -> Body:
        only = None
        if body.get("filter"):
            only = Filter(must=[HasIdCondition(set(one["has_id"])) for one in body["filter"]["must"]])
        params: Body = body.get("params") or {}
        asked = QueryRequest(
            limit=body["limit"],
            query=Query.Nearest(_vector(body["query"]["nearest"]), using=body["using"]),
            filter=only,
            params=SearchParams(
                exact=bool(params.get("exact")),
                hnsw_ef=params.get("hnsw_ef"),
                quantization=_searched_by(params.get("quantization")),
            ),
            with_payload=body["with_payload"],
            with_vector=False,
        )
        found = self.store.shard(name).query(asked)
        points = [
            {"id": one.id, "version": one.version, "score": one.score, "payload": one.payload or None} for one in found
        ]
        return {"points": points}

    def log_message(self, format: str, *args: object) -> None:
        pass


def _points(body: Body) -> list[Point]:
    if "batch" in body:
        batch = body["batch"]
        (name, vectors), *_ = batch["vectors"].items()
        return [Point(id, {name: vector}) for id, vector in zip(batch["ids"], vectors, strict=True)]
    points = [(one["id"], one["vector"].items(), one.get("payload")) for one in body["points"]]
    return [Point(id, {name: _vector(value) for name, value in vectors}, payload) for id, vectors, payload in points]


def _vector(value: list[float] | Body) -> list[float] | SparseVector:
    """Return the engine's form of a dense or sparse vector in Qdrant's JSON."""
    return SparseVector(value["indices"], value["values"]) if isinstance(value, dict) else value


def _told(vectors: Any) -> Body | None:
    """Return the vectors of a point in Qdrant's JSON."""
    return vectors and {
        name: {"indices": one.indices, "values": one.values} if isinstance(one, SparseVector) else one
        for name, one in vectors.items()
    }


def _info(shard: EdgeShard, asked: Body) -> Body:
    """Return what the server tells of a collection, with its defaults where nothing was asked."""
    kept = ("vectors", "sparse_vectors", "shard_number", "replication_factor", "write_consistency_factor")
    params = {"shard_number": 1, "replication_factor": 1, "write_consistency_factor": 1}
    params |= {name: asked[name] for name in (*kept, "on_disk_payload") if asked.get(name) is not None}
    graph = {"m": 16, "ef_construct": 100, "full_scan_threshold": SMALL}
    optimizer = {
        "deleted_threshold": 0.2,
        "vacuum_min_vector_number": 1000,
        "default_segment_number": 0,
        "flush_interval_sec": 5,
    }
    config = {"params": params, "hnsw_config": graph, "optimizer_config": optimizer}
    if codes := asked.get("quantization_config"):
        config["quantization_config"] = codes
    points = shard.count(CountRequest(exact=True))
    told: Body = {"status": "green", "optimizer_status": "ok", "segments_count": 1, "payload_schema": {}}
    return {**told, "points_count": points, "config": config}


def _codes(asked: Body | None) -> ScalarQuantizationConfig | BinaryQuantizationConfig | None:
    if not asked:
        return None
    if scalar := asked.get("scalar"):
        return ScalarQuantizationConfig(
            type=ScalarType.Int8, quantile=scalar.get("quantile"), always_ram=scalar.get("always_ram")
        )
    return BinaryQuantizationConfig(always_ram=asked["binary"].get("always_ram"))


def _searched_by(asked: Body | None) -> QuantizationSearchParams | None:
    if not asked:
        return None
    return QuantizationSearchParams(
        ignore=bool(asked.get("ignore")), rescore=asked.get("rescore"), oversampling=asked.get("oversampling")
    )


def _check(method: str, path: str, query: Body, body: Body) -> None:
    """Refuse what the OpenAPI description does not have: in the body, and in the parameters of the address."""
    shape = re.sub(r"^/collections/(?!aliases$)[^/]+", "/collections/NAME", path)
    parameters, kind = DESCRIBED.get(f"{method} {shape}", ({}, None))
    try:
        for name, value in query.items():
            if name not in parameters:
                raise _Refused(400, f"{method} {shape} has no parameter {name}")
            TypeAdapter(parameters[name]).validate_python(value)
        if kind is not None:
            TypeAdapter(kind).validate_python(body)
    except ValidationError as error:
        raise _Refused(422, f"{method} {shape}: {error}") from error


def main(folder: str, port: str, key: str = "", certificate: str = "", private: str = "") -> None:
    _Handler.store, _Handler.key = _Store(Path(folder)), key
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), _Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, private)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
