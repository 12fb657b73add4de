"""Models with a cache in front: embedders, and language models.

The key of an embedding is its text and model; the key of a reply is the whole prompt and the model's settings. Neither
depends on the state of the index, so adding a document makes nothing here stale.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import EmbeddingError
from ragstone.core.protocols import ChatModel, Embedder, Role, TokenEmbedder
from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request
from ragstone.services.chat import has_form, window_of
from ragstone.storage.cache import Cache
from ragstone.storage.cache_key import key

if TYPE_CHECKING:
    from ragstone.core.records import Vector

_NO_MARK = "\N{SYMBOL FOR NULL}"
"""Replaces the mark of a prompt in cached replies."""


class CachedEmbedder:
    """A local embedder that caches the vectors of questions. The catalog has those of passages."""

    def __init__(self, embedder: Embedder, cache: Cache) -> None:
        self._embedder, self._cache = embedder, cache

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def familiarity(self, text: str) -> float:
        return self._embedder.familiarity(text)

    def tokens(self, text: str) -> list[Span]:
        return self._embedder.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        if role == "passage":
            return await self._embedder.embed(texts, role=role, request=request)
        keys = {text: key(self.fingerprint, role, text) for text in texts}
        cached = self._cache.get("embeddings", list(keys.values()))
        new: dict[bytes, bytes] = {}
        for text, name in keys.items():
            if name not in cached:  # one at a time: a vector must not depend on the other texts of a batch
                (vector,) = await self._embedder.embed([text], role=role, request=request)
                new[name] = _packed_vector(vector)
        request.meter.embedded += len(new)
        self._cache.put("embeddings", new)
        rows = [_vector((cached | new)[keys[text]]) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimensions)


class CachedService:
    """The embedder of a paid service: all its vectors are cached, and so is the number of its dimensions.

    The key of a vector is the model and the text without case and white space: texts that differ only in these share
    the vector of the first one. Texts are sent unchanged.
    """

    def __init__(self, embedder: Embedder, cache: Cache, *, batch: int) -> None:
        """Take the embedder, the cache, and the number of texts in a request."""
        self._embedder, self._cache, self.batch = embedder, cache, batch
        self._dimensions = 0

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._remembered() or self._noted(self._embedder.dimensions)

    def familiarity(self, text: str) -> float:
        return self._embedder.familiarity(text)

    def tokens(self, text: str) -> list[Span]:
        return self._embedder.tokens(text)

    def kept(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the cached vectors, by text."""
        keys = {text: self._key(text) for text in texts}
        found = self._cache.peek("embeddings", list(keys.values()))
        self._cache.count("embeddings", hits=len(found))
        return {text: _vector(found[name]) for text, name in keys.items() if name in found}

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        """Return the vectors; send the uncached texts, each once.

        Raises:
            EmbeddingError: the service fails, or its vectors have other dimensions than before.
        """
        keys = {text: self._key(text) for text in texts}
        cached = self._cache.get("embeddings", list(keys.values()))
        unknown: dict[bytes, str] = {}
        for text, name in keys.items():
            if name not in cached:
                unknown.setdefault(name, text)
        for part in _batches([*unknown], self.batch):  # so that paid vectors are kept even if a later call fails
            vectors = await self._embedder.embed([unknown[name] for name in part], role=role, request=request)
            if vectors.shape[1] != (self._remembered() or self._noted(vectors.shape[1])):
                raise EmbeddingError(
                    f"{self.fingerprint} returned vectors of {vectors.shape[1]} dimensions, but {self._dimensions}"
                    " before; to start over with another model, run: ragstone rebuild"
                )
            new = {name: _packed_vector(vector) for name, vector in zip(part, vectors, strict=True)}
            request.meter.embedded += len(new)
            self._cache.put("embeddings", new)
            cached |= new
        return np.array([_vector(cached[keys[text]]) for text in texts], np.float32).reshape(
            len(texts), self.dimensions
        )

    def _key(self, text: str) -> bytes:
        return key(self.fingerprint, " ".join(text.split()).lower())

    def _remembered(self) -> int:
        """Return the dimensions that an earlier call found, perhaps in another process; 0 if there was none."""
        if not self._dimensions:
            name = key(self.fingerprint)
            found = self._cache.peek("dimensions", [name])
            self._dimensions = int.from_bytes(found[name]) if found else 0
        return self._dimensions

    def _noted(self, dimensions: int) -> int:
        self._dimensions = dimensions
        self._cache.put("dimensions", {key(self.fingerprint): dimensions.to_bytes(4)})
        return dimensions


class CachedTokenEmbedder:
    """A token embedder that keeps the token vectors of every text.

    Every result passes through float16, its stored form, and every text is embedded alone, so a hit and a miss give the
    same bits.
    """

    def __init__(self, embedder: TokenEmbedder, cache: Cache) -> None:
        self._embedder, self._cache, self.fingerprint = embedder, cache, embedder.fingerprint

    async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]:
        keys = {text: key(self.fingerprint, role, text) for text in texts}
        found = self._cache.get("tokens", list(keys.values()))
        new: dict[bytes, bytes] = {}
        for text, name in keys.items():
            if name not in found:
                (vectors,) = await self._embedder.embed_tokens([text], role=role, request=request)
                new[name] = _packed(vectors)
        request.meter.embedded += len(new)
        self._cache.put("tokens", new)
        return [_unpacked((found | new)[keys[text]]) for text in texts]


class CachedModel:
    """A language model that keeps its replies.

    The key of a reply is the whole prompt and the settings of the call, without the random mark around quotations: a
    reply is stored without the mark and gets the mark of its prompt.
    """

    def __init__(self, model: ChatModel, cache: Cache, settings: object) -> None:
        """Take the model, the cache, and the settings that determine a reply together with the prompt."""
        self._model, self._cache, self._basis = model, cache, repr(settings)
        self.name = model.name

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._model.count(text)

    async def window(self) -> int:
        """Return the tokens of the model's context window, or 0 if they are not known."""
        return await window_of(self._model)

    async def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        """Yield the cached reply, or the model's, which is cached once it is complete and has the form.

        Raises:
            ModelError: as of the model.
        """
        if not self._cache.keeps("responses"):
            async with aclosing(self._model.stream(messages, request, form)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        mark = next((one.mark for one in messages if one.mark), "") or _NO_MARK
        schema = json.dumps(form.model_json_schema()) if form else ""
        read = [(one.role, one.content.replace(mark, _NO_MARK), *one.pictures) for one in messages]
        name = key("response", self.name, self._basis, read, schema.replace(mark, _NO_MARK))
        if found := self._cache.get("responses", [name]):
            request.meter.cached.append("response")
            kept = json.loads(found[name])
            text = kept["text"].replace(_NO_MARK, mark)
            yield text
            yield Reply(text=text, cut=kept["cut"], reasoning=kept.get("reasoning", "").replace(_NO_MARK, mark))
            return
        async with aclosing(self._model.stream(messages, request, form)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply) and piece.text.strip() and (form is None or has_form(piece.text, form)):
                    value = {
                        "text": piece.text.replace(mark, _NO_MARK),
                        "cut": piece.cut,
                        "reasoning": piece.reasoning.replace(mark, _NO_MARK),
                    }
                    self._cache.put("responses", {name: json.dumps(value).encode()})
                yield piece


def _batches(names: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    return (names[start : start + size] for start in range(0, len(names), size))


def _vector(value: bytes) -> Vector:
    return np.frombuffer(value, "<f4")


def _packed_vector(vector: Vector) -> bytes:
    return np.ascontiguousarray(vector, "<f4").tobytes()


def _packed(one: TokenVectors) -> bytes:
    spans = np.array([(span.start, span.end) for span in one.spans], dtype="<u4").reshape(-1, 2)
    shape = np.array(one.vectors.shape, dtype="<u4")
    return shape.tobytes() + spans.tobytes() + one.vectors.astype("<f2").tobytes()


def _unpacked(value: bytes) -> TokenVectors:
    count, dimensions = (int(n) for n in np.frombuffer(value, "<u4", 2))
    spans = np.frombuffer(value, "<u4", 2 * count, 8).reshape(count, 2).tolist()
    vectors = np.frombuffer(value, "<f2", count * dimensions, 8 + 8 * count).reshape(count, dimensions)
    return TokenVectors(
        vectors=vectors.astype(np.float32), spans=tuple(Span(start=start, end=end) for start, end in spans)
    )
