"""Embeddings of a service: batches, order, long texts, what is counted, and answers that are none."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ragstone.core.access import OWNER
from ragstone.core.errors import EmbeddingError, SettingsError
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index import build_embedder
from ragstone.index.embed.openai_embedder import OpenAIEmbedder
from ragstone.settings import IndexSettings
from ragstone.settings.services import ServiceSettings
from servers.openai_server import KEY, Fault, OpenAIServer, hashed, refusal
from servers.openapi import Description

TEXTS = [f"text {number} of some" for number in range(600)]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


def services(server: OpenAIServer, **limits: object) -> ServiceSettings:
    known = {"backoff_seconds": (0.01, 20), "timeout_seconds": 5.0, "deadline_seconds": 10.0, **limits}
    return ServiceSettings.model_validate({"openai": {"base_url": server.url, "api_key": KEY}, **known})


def embedder(server: OpenAIServer, model: str = "a-model", dimensions: int = 32, **limits: object) -> OpenAIEmbedder:
    return OpenAIEmbedder(f"openai:{model}", services(server, **limits), dimensions=dimensions)


def embed(made: OpenAIEmbedder, *texts: str) -> np.ndarray:
    return asyncio.run(made.embed(texts, role="passage", request=Request.by_owner()))


def test_batches_are_bounded_and_vectors_in_the_order_of_the_texts(server: OpenAIServer):
    patient = embedder(server, timeout_seconds=30, deadline_seconds=60)  # the server reads 250,000 words
    vectors = embed(patient, *TEXTS)
    assert np.abs(vectors - np.array([hashed(text, 32) for text in TEXTS])).max() < 1e-6
    assert [len(asked.body["input"]) for asked in server.asked] == [256, 256, 88]
    server.asked.clear()
    embed(patient, *["word " * 5000] * 50)
    assert max(len(asked.body["input"]) for asked in server.asked) < 25  # by tokens


def test_a_server_that_takes_fewer_texts_is_asked_for_fewer_from_then_on():
    with OpenAIServer(most=100) as server:
        made = embedder(server)
        assert embed(made, *TEXTS).shape == (600, 32)
        assert embed(made, *TEXTS).shape == (600, 32)
        sizes = [len(asked.body["input"]) for asked in server.asked]
        assert sizes[:4] == [256, 128, 64, 64]
        assert max(sizes[3:]) == 64


def test_a_text_beyond_the_models_reach_is_read_to_its_end(server: OpenAIServer):
    start = "the council met in the town hall " * 2000
    one, other = embed(embedder(server), start + "and spoke of bread", start + "and spoke of war " * 500)
    assert float(one @ other) < 0.999
    assert all(len(text.split()) <= server.limit for asked in server.asked for text in asked.body["input"])
    assert sum(len(asked.body["input"]) for asked in server.asked) > 3


def test_empty_texts_and_broken_characters_are_embedded(server: OpenAIServer):
    vectors = embed(embedder(server), "", " \n", "\ud800 half a pair", "a text")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_requests_are_as_the_description_has_them(data_dir: Path):
    path = data_dir / "peer_suites" / "openai_openapi" / "openapi.yaml"
    if not path.is_file():
        pytest.skip("the description of the OpenAI protocol is not among the test data")
    with OpenAIServer(description=Description(path)) as server:
        embed(embedder(server, "text-embedding-3-small", 64), *TEXTS[:3])
        assert server.problems == []
        assert server.asked[0].body["dimensions"] == 64


# ---------------------------------------------------------------- dimensions and fingerprints


def test_known_models_have_their_own_dimensions(server: OpenAIServer):
    ada = embedder(server, "text-embedding-ada-002", 0)
    assert ada.dimensions == 1536
    server.dimensions = 1536
    assert embed(ada, "a").shape == (1, 1536)
    assert "dimensions" not in server.asked[0].body
    assert embedder(server, "text-embedding-3-large", 0).dimensions == 3072
    assert embedder(server, "text-embedding-3-large", 256).dimensions == 256


@pytest.mark.parametrize(("model", "asked"), [("text-embedding-ada-002", 256), ("text-embedding-3-small", 4096)])
def test_dimensions_that_a_model_does_not_give(server: OpenAIServer, model: str, asked: int):
    with pytest.raises(SettingsError, match=f"index.dimensions is {asked}, but {model} has 1536"):
        embedder(server, model, asked)


def test_dimensions_of_other_models_are_found_out(server: OpenAIServer):
    made = embedder(server, dimensions=0)
    assert server.asked == []
    assert made.dimensions == 32
    assert embed(made, "a", "b").shape == (2, 32)
    assert len(server.asked) == 2


def test_a_server_that_takes_no_dimensions_is_asked_without(server: OpenAIServer):
    original = server._embed

    def picky(handler, body, fault) -> None:
        from servers.openai_server import _send

        if "dimensions" in body:
            _send(handler, 400, refusal("This model does not support dimensions", param="dimensions"))
        else:
            original(handler, body, fault)

    server._embed = picky
    assert embed(embedder(server), "a").shape == (1, 32)
    with pytest.raises(EmbeddingError, match=r"gave vectors of 32 dimensions, not 16; set index\.dimensions"):
        embed(embedder(server, dimensions=16), "a")


def test_the_fingerprint_tells_model_dimensions_and_host_but_no_key(server: OpenAIServer):
    host = server.origin.removeprefix("http://")
    assert embedder(server).fingerprint == f"openai:a-model-32-{host}"
    prints = {
        embedder(server, *one).fingerprint for one in (("a", 0), ("a", 8), ("b", 8), ("text-embedding-3-small", 0))
    }
    assert len(prints) == 4
    assert not any(KEY in one for one in prints)


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("kind", ["status", "slow", "count", "numbers", "malformed", "type"])
def test_what_may_pass_is_tried_again(server: OpenAIServer, kind: str):
    server.faults.append(Fault(kind=kind, status=503, seconds=5))
    made = embedder(server, timeout_seconds=0.5)
    request = Request.by_owner()
    assert asyncio.run(made.embed(["a text"], role="passage", request=request)).shape == (1, 32)
    meter = request.meter
    assert (meter.embedding_calls, meter.embedding_tokens, meter.embedding_retries) == (1, 2, 1)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(kind="count"), "not in the OpenAI protocol"),
        (Fault(kind="numbers"), "not in the OpenAI protocol"),
        (Fault(kind="width"), "gave vectors of 33 dimensions, not 32"),
        (Fault(kind="type"), "not in the OpenAI protocol"),
        (Fault(kind="status", status=401, body=refusal(f"wrong key {KEY}")), r"refuses the key: wrong key \*\*\*"),
        (Fault(kind="status", status=400, body=refusal(f"bad {KEY}")), r"bad \*\*\*"),
        (Fault(kind="status", status=429, headers={"Retry-After": "999"}), "asks to wait 999 s"),
        (Fault(kind="status", status=500), "1 attempt"),
    ],
    ids=str,
)
def test_what_does_not_pass_is_told_and_never_with_the_key(server: OpenAIServer, fault: Fault, words: str):
    server.faults.append(fault)
    with pytest.raises(EmbeddingError) as caught:
        embed(embedder(server, retries=0), "a text")
    assert re.search(words, str(caught.value))
    assert "openai:a-model at http://127.0.0.1" in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


# ---------------------------------------------------------------- a knowledge base


def test_a_knowledge_base_on_a_service(server: OpenAIServer, workdir: Path):
    settings = (
        "index.embedder=openai:a-model",
        "index.dimensions=32",
        f"services.openai.base_url={server.url}",
        f"services.openai.api_key={KEY}",
        "services.backoff_seconds=[0.01, 20]",
        "respond.abstain_below=0.2",
    )
    server.faults.append(Fault(kind="status", status=503))
    documents = [Document(id=f"d{n}", source=f"d{n}", text=f"The tower {n} has {n} steps.") for n in range(5)]
    with closing(KnowledgeBase.open(workdir / "kb", settings, create=True)) as engine:
        report = asyncio.run(engine.documents.add(documents))
        assert (report.embedded, report.embedding_calls, report.embedding_retries) == (5, 1, 1)
        assert report.embedding_tokens > 20
        answer = asyncio.run(engine.ask("How many steps has tower 3?", reader=OWNER))
        assert (answer.usage.embedding_calls, answer.citations[0].document_id) == (1, "d3")
    kept = b"".join(file.read_bytes() for file in (workdir / "kb").rglob("*") if file.is_file())
    assert KEY.encode() not in kept
    with closing(KnowledgeBase.open(workdir / "kb", settings[2:])) as engine:  # the rest it remembers
        assert engine.settings.index.dimensions == 32
        server.faults.extend([Fault(kind="status", status=503)] * 9)
        answer = asyncio.run(engine.ask("How many steps are there in tower 4?", reader=OWNER))
        assert any("vector search failed: openai:a-model" in notice for notice in answer.notices)
        assert answer.citations[0].document_id == "d4"


def test_named_without_vendor_or_key():
    assert IndexSettings(embedder="text-embedding-ada-002").embedder == "openai:text-embedding-ada-002"
    with pytest.raises(SettingsError, match=r"there is no key; set services\.openai\.api_key, or OPENAI_API_KEY"):
        build_embedder(IndexSettings(embedder="text-embedding-ada-002"))
    with pytest.raises(SettingsError, match=r"services\.azure\.endpoint"):
        build_embedder(IndexSettings(embedder="azure:one"))
