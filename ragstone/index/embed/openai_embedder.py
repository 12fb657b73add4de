"""Embeddings of servers that speak the OpenAI protocol, and of Azure deployments.

Texts are sent in batches, limited by number and tokens. A text longer than the model's window is sent in windows of
nearly equal length, and their vectors are added, as the local models do. Replies are validated: the number of vectors,
equal lengths, and finite numbers.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from pydantic import BaseModel, ValidationError

from ragstone.core.errors import EmbeddingError, SettingsError
from ragstone.core.printable import encodable
from ragstone.core.protocols import Role
from ragstone.core.records import Span
from ragstone.core.request import Meter, Request
from ragstone.services import estimate
from ragstone.services.openai_api import APIStatusError, AsyncOpenAI, OpenAIServer, said_by
from ragstone.services.retries import Attempts, Setback, persist
from ragstone.settings.services import ServiceSettings

if TYPE_CHECKING:
    from ragstone.core.records import Vector

OWN = {"text-embedding-ada-002": 1536, "text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
"""Dimensions of known models."""
FIXED = frozenset({"text-embedding-ada-002"})
"""Models whose dimensions cannot be reduced."""
WINDOW = 8000
"""Estimated tokens of a text that is sent as a whole; OpenAI's models read 8,191."""
BATCH_TOKENS = 100_000
"""Estimated tokens per request at most; OpenAI accepts 300,000."""


class _One(BaseModel):
    index: int
    embedding: list[float | None] | str


class _Tokens(BaseModel):
    total_tokens: int = 0


class _Answer(BaseModel):
    """The fields of a reply that are read."""

    data: list[_One]
    usage: _Tokens | None = None


class OpenAIEmbedder:
    """An embedding model on a server.

    Args:
        name: as in the settings: ``openai:text-embedding-ada-002``, or ``azure:`` and a deployment.
        services: address, time-outs and retries.
        dimensions: of the vectors; 0 for the model's own. Of an unknown model the first reply tells them, or one letter
            that is embedded if they are asked for before.
        batch: texts per request at most.

    Raises:
        SettingsError: the model does not support these dimensions.
    """

    def __init__(self, name: str, services: ServiceSettings, *, dimensions: int = 0, batch: int = 256) -> None:
        vendor, _, self._model = name.partition(":")
        self._name, self._services, self._asked_for = name, services, dimensions
        model = services.model_behind(name).partition(":")[2]
        own = OWN.get(model, 0)
        if own and dimensions and (dimensions > own or (model in FIXED and dimensions != own)):
            raise SettingsError(f"index.dimensions is {dimensions}, but {model} has {own}")
        self._known = dimensions or own
        endpoint = services.endpoint(vendor)
        assert endpoint is not None, "the caller chose a server"
        self._server = OpenAIServer(services, endpoint)
        self._most = batch
        self._sends_dimensions = bool(dimensions) and dimensions != own
        host = urlsplit(self._server.address).netloc
        self.fingerprint = f"{name}-{dimensions or OWN.get(self._model) or 'own'}-{host}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        if not self._known:
            self._known = _run_in_thread(self._probe)
        return self._known

    def familiarity(self, text: str) -> float:  # noqa: ARG002
        """Return 1, because the vocabulary is not known."""
        return 1.0

    def tokens(self, text: str) -> list[Span]:
        """Estimate the tokens; only the server has the tokenizer."""
        return estimate.spans(text)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:  # noqa: ARG002
        """Return one L2-normalised vector per text, shape (texts, dimensions).

        Raises:
            EmbeddingError: the server cannot be reached, refuses, or sends an invalid reply.
        """
        windows = [(owner, window) for owner, text in enumerate(texts) for window in _windows(text)]
        parts: list[Vector] = []
        async with self._server.connected() as client:
            start, most = 0, self._most
            while start < len(windows):
                batch = windows[start : start + _fitting(windows[start : start + most])]
                vectors = await self._batch(client, [window for _, window in batch], request)
                if vectors is None:
                    most = len(batch) // 2
                    continue
                self._most = most  # only after success, so that other failures do not shrink it
                self._known = self._known or vectors.shape[1]
                parts.append(self._of_width(vectors))
                start += len(batch)
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if parts:
            np.add.at(sums, [owner for owner, _ in windows], np.concatenate(parts))
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)

    async def _batch(self, client: AsyncOpenAI, texts: Sequence[str], request: Request) -> Vector | None:
        """Return the vectors of a batch, shape (texts, dimensions); None if the batch was too large."""

        async def once(attempts: Attempts) -> Vector | None:
            if attempts.made > 1:
                request.meter.count_embedding_calls(calls=0, tokens=0, retries=1)
            return await self._attempt(client, texts, attempts, request.meter)

        try:
            return await persist(once, self._services, request.deadline)
        except Setback as setback:
            raise EmbeddingError(f"{self._name} at {self._server.address}: {setback}") from setback

    async def _attempt(
        self, client: AsyncOpenAI, texts: Sequence[str], attempts: Attempts, meter: Meter
    ) -> Vector | None:
        body: dict[str, Any] = {"model": self._model, "input": list(texts), "encoding_format": "base64"}
        if self._sends_dimensions:
            body["dimensions"] = self._asked_for
        try:
            async with self._server.within(attempts.patience()):
                answer = await client.post("/embeddings", cast_to=object, body=body)
        except APIStatusError as error:
            if self._sends_dimensions and "dimensions" in said_by(error)[0]:
                self._sends_dimensions = False  # the width of the reply is checked
                return await self._attempt(client, texts, attempts, meter)
            if len(texts) > 1:
                return None
            self._server.fail(error)
        try:
            read = _Answer.model_validate(answer)
            vectors = _vectors(read, len(texts))
        except (ValidationError, ValueError, binascii.Error) as error:
            self._server.fail(error)
        tokens = read.usage.total_tokens if read.usage else sum(map(estimate.count, texts))
        meter.count_embedding_calls(calls=1, tokens=tokens, retries=0)
        return vectors

    def _of_width(self, vectors: Vector) -> Vector:
        if vectors.shape[1] != self.dimensions:
            raise EmbeddingError(
                f"{self._name} at {self._server.address}: gave vectors of {vectors.shape[1]} dimensions, not"
                f" {self.dimensions}; set index.dimensions to what the model has"
            )
        return vectors

    async def _probe(self) -> int:
        async with self._server.connected() as client:
            vectors = await self._batch(client, ["a"], Request.by_owner())
        assert vectors is not None, "one text is not too many"
        return vectors.shape[1]


def _vectors(answer: _Answer, texts: int) -> Vector:
    """Return the vectors in the order of the texts.

    Raises:
        ValueError: the number of vectors is wrong, or they are not finite.
    """
    rows: list[Any] = [None] * texts
    for item in answer.data:
        if not 0 <= item.index < texts or rows[item.index] is not None:
            raise ValueError(f"a vector for text {item.index} of {texts}")
        packed = item.embedding
        if isinstance(packed, str):
            rows[item.index] = np.frombuffer(base64.b64decode(packed, validate=True), "<f4")
        else:
            rows[item.index] = np.array(packed, dtype=np.float32)
    if any(row is None for row in rows):
        raise ValueError(f"{len(answer.data)} vectors for {texts} texts")
    vectors = np.array(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if vectors.ndim != 2 or not np.isfinite(vectors).all() or not lengths.all():
        raise ValueError("a vector without numbers")
    return vectors / lengths


def _windows(text: str) -> Iterator[str]:
    """Split a text into windows of about equal length that fit the model."""
    text = encodable(text)
    tokens = estimate.count(text)
    if tokens <= WINDOW:
        yield text if text.strip() else "."  # servers refuse empty texts
        return
    spans = estimate.spans(text)
    count = -(-tokens // WINDOW)
    starts = [0, *(spans[len(spans) * i // count].start for i in range(1, count)), len(text)]
    for start, end in pairwise(starts):
        yield text[start:end]


def _fitting(windows: Sequence[tuple[int, str]]) -> int:
    """Return how many of these windows fit into one request, at least one."""
    tokens = 0
    for place, (_, window) in enumerate(windows):
        tokens += estimate.count(window)
        if place and tokens > BATCH_TOKENS:
            return place
    return len(windows)


def _run_in_thread(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a coroutine in a thread of its own and wait, whether or not this thread has an event loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()
