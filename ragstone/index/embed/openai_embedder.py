"""Embeddings of servers that speak the OpenAI protocol, and of Azure deployments.

Texts go out in batches, bounded by number and by tokens. A text longer than the model reads goes out in windows of
nearly equal length, whose vectors are added up, as the embedded models do. What comes back is checked: so many
vectors, of the same length, of numbers.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from openai import APIStatusError, AsyncOpenAI
from pydantic import BaseModel, ValidationError

from ragstone.contracts import Span
from ragstone.errors import EmbeddingError, SettingsError
from ragstone.models import estimate
from ragstone.models.openai_api import OpenAIServer, said_by, sendable
from ragstone.models.retries import Attempts, Setback, persist
from ragstone.monitor import note_service
from ragstone.protocols import Role
from ragstone.services import ServiceSettings

if TYPE_CHECKING:
    from ragstone.contracts import Vector

OWN = {"text-embedding-ada-002": 1536, "text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
"""Dimensions of the models that are known."""
FIXED = frozenset({"text-embedding-ada-002"})
"""Models that give no fewer dimensions than their own."""
WINDOW = 8000
"""Estimated tokens of a text that is sent whole; OpenAI's models read 8,191."""
BATCH_TEXTS, BATCH_TOKENS = 256, 100_000
"""Texts, and estimated tokens, of one request; OpenAI takes 2,048 and 300,000."""


class _One(BaseModel):
    index: int
    embedding: list[float | None] | str


class _Tokens(BaseModel):
    total_tokens: int = 0


class _Answer(BaseModel):
    """What is read of an answer."""

    data: list[_One]
    usage: _Tokens | None = None


@dataclass(slots=True)
class Spent:
    """What the service was asked for so far: requests that were answered, tokens, and attempts that failed."""

    calls: int = 0
    tokens: int = 0
    retries: int = 0


class OpenAIEmbedder:
    """A model on a server.

    Args:
        name: as the settings have it: ``openai:text-embedding-ada-002``, or ``azure:`` and a deployment.
        services: where the server is, how long it may take, and how often it is tried.
        dimensions: of the vectors; 0: the model's own. Of a model that is not known they are found out by embedding a
            letter when they are first needed.

    Raises:
        SettingsError: the model gives no vectors of so many dimensions.
    """

    def __init__(self, name: str, services: ServiceSettings, *, dimensions: int = 0) -> None:
        vendor, _, self._model = name.partition(":")
        self._name, self._services, self._asked_for = name, services, dimensions
        own = OWN.get(self._model, 0)
        if own and dimensions and (dimensions > own or (self._model in FIXED and dimensions != own)):
            raise SettingsError(f"index.dimensions is {dimensions}, but {self._model} has {own}")
        self._known = dimensions or own
        self._server = OpenAIServer(services, azure=vendor == "azure")
        self._most = BATCH_TEXTS
        self._sends_dimensions = bool(dimensions) and dimensions != own
        self.spent = Spent()
        self.fingerprint = f"{name}-{self._known or 'own'}-{self._server.host}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        if not self._known:
            self._known = _apart(self._probe)
        return self._known

    def familiarity(self, text: str) -> float:  # noqa: ARG002
        """Always 1: the vocabulary is the server's."""
        return 1.0

    def tokens(self, text: str) -> list[Span]:
        """An estimate: the tokenizer is the server's own."""
        return estimate.spans(text)

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:  # noqa: ARG002
        """One vector for each text, L2-normalised, shape (texts, dimensions).

        Raises:
            EmbeddingError: the server cannot be reached, refuses, or answers with something else.
        """
        width = self._known or await asyncio.to_thread(lambda: self.dimensions)
        windows = [(owner, window) for owner, text in enumerate(texts) for window in _windows(text)]
        sums = np.zeros((len(texts), width), dtype=np.float32)
        async with self._server.connected() as client:
            start, most = 0, self._most
            while start < len(windows):
                batch = windows[start : start + _fitting(windows[start : start + most])]
                found = await self._batch(client, [window for _, window in batch])
                if found is None:
                    most = len(batch) // 2
                    continue
                self._most = most  # so it is remembered only where that was what it took
                np.add.at(sums, [owner for owner, _ in batch], self._of_width(found))
                start += len(batch)
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)

    async def _batch(self, client: AsyncOpenAI, texts: Sequence[str]) -> Vector | None:
        """The vectors of some texts, shape (texts, dimensions); nothing where they were too many at once."""

        async def once(attempts: Attempts) -> Vector | None:
            if attempts.made > 1:
                self._note(retries=1)
            return await self._attempt(client, texts, attempts)

        try:
            return await persist(once, self._services)
        except Setback as setback:
            raise EmbeddingError(f"{self._name} at {self._server.shown}: {setback}") from setback

    async def _attempt(self, client: AsyncOpenAI, texts: Sequence[str], attempts: Attempts) -> Vector | None:
        body: dict[str, Any] = {"model": self._model, "input": list(texts), "encoding_format": "base64"}
        if self._sends_dimensions:
            body["dimensions"] = self._asked_for
        try:
            async with self._server.within(attempts.patience()):
                answer = await client.post("/embeddings", cast_to=object, body=body)
        except APIStatusError as error:
            if self._sends_dimensions and "dimensions" in said_by(error)[0]:
                self._sends_dimensions = False  # the server gives what it has; its width is checked
                return await self._attempt(client, texts, attempts)
            if len(texts) > 1:
                return None
            self._server.fail(error)
        try:
            read = _Answer.model_validate(answer)
            vectors = _vectors(read, len(texts))
        except (ValidationError, ValueError, binascii.Error) as error:
            self._server.fail(error)
        tokens = read.usage.total_tokens if read.usage else sum(map(estimate.count, texts))
        self._note(calls=1, tokens=tokens)
        return vectors

    def _of_width(self, vectors: Vector) -> Vector:
        if vectors.shape[1] != self.dimensions:
            raise EmbeddingError(
                f"{self._name} at {self._server.shown}: gave vectors of {vectors.shape[1]} dimensions, not"
                f" {self.dimensions}; set index.dimensions to what the model has"
            )
        return vectors

    def _note(self, *, calls: int = 0, tokens: int = 0, retries: int = 0) -> None:
        self.spent.calls += calls
        self.spent.tokens += tokens
        self.spent.retries += retries
        note_service(calls=calls, tokens=tokens, retries=retries)

    async def _probe(self) -> int:
        async with self._server.connected() as client:
            found = await self._batch(client, ["a"])
        assert found is not None, "one text is not too many"
        return found.shape[1]


def _vectors(answer: _Answer, texts: int) -> Vector:
    """The vectors in the order of the texts.

    Raises:
        ValueError: there are not so many, or they have no numbers.
    """
    rows: list[Any] = [None] * texts
    for one in answer.data:
        if not 0 <= one.index < texts or rows[one.index] is not None:
            raise ValueError(f"a vector for text {one.index} of {texts}")
        packed = one.embedding
        if isinstance(packed, str):
            rows[one.index] = np.frombuffer(base64.b64decode(packed, validate=True), "<f4")
        else:
            rows[one.index] = np.array(packed, dtype=np.float32)
    if any(row is None for row in rows):
        raise ValueError(f"{len(answer.data)} vectors for {texts} texts")
    found = np.array(rows, dtype=np.float32)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if found.ndim != 2 or not np.isfinite(found).all() or not lengths.all():
        raise ValueError("a vector without numbers")
    return found / lengths


def _windows(text: str) -> Iterator[str]:
    """The text in pieces of like length, none with more tokens than the model reads at once."""
    text = sendable(text)
    tokens = estimate.count(text)
    if tokens <= WINDOW:
        yield text if text.strip() else "."  # servers refuse what is empty
        return
    spans = estimate.spans(text)
    count = -(-tokens // WINDOW)
    starts = [0, *(spans[len(spans) * i // count].start for i in range(1, count)), len(text)]
    for start, end in pairwise(starts):
        yield text[start:end]


def _fitting(windows: Sequence[tuple[int, str]]) -> int:
    """How many of these go into one request; one at least."""
    tokens = 0
    for place, (_, window) in enumerate(windows):
        tokens += estimate.count(window)
        if place and tokens > BATCH_TOKENS:
            return place
    return len(windows)


def _apart(work: Any) -> int:
    """The result of a coroutine that is waited for here, whether or not an event loop runs in this thread."""
    found: list[int] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            found.append(asyncio.run(work()))
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
