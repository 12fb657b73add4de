"""A knowledge base of any size: real passages and questions, extended by made-up ones.

The first chunks are passages of the data sets with the vectors of the default embedder. The others are derived from
them. A vector is a real one plus noise with the shape and the length of the differences between real nearest
neighbours. A text consists of pieces of three real ones, so that words are as frequent as in the language.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import progress
from ragstone.catalog.protocol import Catalog, Prepared
from ragstone.chunk import split
from ragstone.core.protocols import Embedder, Role
from ragstone.core.records import Chunk, Document
from ragstone.core.request import Request
from ragstone.settings import ChunkSettings

if TYPE_CHECKING:
    from ragstone.core.records import Vector

PASSAGES_EACH, QUESTIONS_EACH, QUICK_SHARE = 10_000, 60, 60
"""The most passages and questions of each data set; a quick run takes one in sixty."""
CHUNKS_A_DOCUMENT = 10
COMMITTED = 10_000
BLOCK = 20_000
PIECE = 16
"""Words in each of the three pieces of a made-up text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """Passages and questions of the data sets; vectors have the shape (n, dimensions)."""

    passages: Sequence[str]
    vectors: Vector
    questions: Sequence[str]
    question_vectors: Vector


async def real(data: Path, keep: Path, embedder: Embedder, *, quick: bool) -> Real:
    """Return passages and questions of all data sets with their vectors, kept for the next run."""
    kept = keep / f"query-real{'-quick' if quick else ''}.npz"
    if not kept.exists():
        step = QUICK_SHARE if quick else 1
        passages, questions = _texts(data, embedder, step)
        vectors: list[Vector] = []
        roles: tuple[tuple[list[str], Role], ...] = ((passages, "passage"), (questions, "query"))
        for texts, role in roles:
            progress(f"query: embedding {len(texts):,} texts")
            request = Request.by_owner()
            parts = [
                await embedder.embed(texts[i : i + 256], role=role, request=request) for i in range(0, len(texts), 256)
            ]
            vectors.append(np.concatenate(parts))
        keep.mkdir(parents=True, exist_ok=True)
        np.savez(
            kept,
            passages=np.frombuffer(json.dumps(passages).encode(), np.uint8),
            questions=np.frombuffer(json.dumps(questions).encode(), np.uint8),
            vectors=vectors[0],
            question_vectors=vectors[1],
        )
    with np.load(kept) as stored:
        return Real(
            passages=json.loads(stored["passages"].tobytes()),
            vectors=stored["vectors"],
            questions=json.loads(stored["questions"].tobytes()),
            question_vectors=stored["question_vectors"],
        )


def _texts(data: Path, embedder: Embedder, step: int) -> tuple[list[str], list[str]]:
    passages: dict[str, None] = {}
    questions: list[str] = []
    for corpus in sorted(data.rglob("corpus.jsonl")):
        texts = [str(json.loads(line)["text"]) for line in corpus.read_text(encoding="utf-8").splitlines()]
        random.Random(1).shuffle(texts)
        passages |= dict.fromkeys(islice(_chunks(texts, embedder), 0, PASSAGES_EACH, step))
        lines = corpus.with_name("queries.jsonl").read_text(encoding="utf-8").splitlines()
        asked = [str(json.loads(line)["text"]) for line in lines]
        questions += random.Random(1).sample(asked, min(len(asked), max(QUESTIONS_EACH // step, 5)))
    return list(passages), questions


def _chunks(texts: Sequence[str], embedder: Embedder) -> Iterator[str]:
    for number, text in enumerate(texts):
        document = Document(id=str(number), text=text)
        yield from (chunk.text for chunk in split(document, ChunkSettings(), embedder.tokens))


def extended(vectors: Vector, count: int) -> Iterator[Vector]:
    """Yield the vectors, then made-up ones up to a count, in blocks of shape (at most `BLOCK`, dimensions).

    The same arguments always give the same vectors.
    """
    yield from (vectors[start : min(start + BLOCK, count)] for start in range(0, min(len(vectors), count), BLOCK))
    nearest, apart = _nearest(vectors)
    difference = vectors - vectors[nearest]
    spread, axes = np.linalg.eigh(difference.T @ difference / len(difference))
    shape = (axes * np.sqrt(np.maximum(spread, 0))).astype(np.float32).T
    chance = np.random.default_rng(1)
    for start in range(len(vectors), count, BLOCK):
        size = min(BLOCK, count - start)
        noise = chance.standard_normal((size, vectors.shape[1]), dtype=np.float32) @ shape
        noise *= chance.choice(apart, size)[:, None] / np.linalg.norm(noise, axis=1, keepdims=True)
        made = vectors[chance.integers(0, len(vectors), size)] + noise
        yield made / np.linalg.norm(made, axis=1, keepdims=True)


def _nearest(vectors: Vector) -> tuple[NDArray[np.int64], Vector]:
    """Return the nearest other vector of each vector, and its distance."""
    best: list[NDArray[np.int64]] = []
    apart: list[Vector] = []
    for start in range(0, len(vectors), 1000):
        similarity = vectors[start : start + 1000] @ vectors.T
        np.fill_diagonal(similarity[:, start:], -1)
        best.append(similarity.argmax(axis=1))
        apart.append(np.sqrt(np.maximum(2 - 2 * similarity.max(axis=1), 0)))
    return np.concatenate(best), np.concatenate(apart).astype(np.float32)


def texts(passages: Sequence[str], count: int) -> Iterator[str]:
    """Yield the passages, then made-up ones, up to a count."""
    yield from islice(passages, count)
    chance, words = random.Random(1), [passage.split() for passage in passages]
    for _ in range(count - len(passages)):
        pieces: list[str] = []
        for source in chance.choices(words, k=3):
            start = chance.randrange(max(1, len(source) - PIECE))
            pieces += source[start : start + PIECE]
        yield " ".join(pieces)


def document(number: int, texts: Sequence[str]) -> Document:
    """Return a document with facts to filter by: ``tenth`` is 0 for a tenth of all, ``hundredth`` for a hundredth."""
    facts = {"tenth": number % 10, "hundredth": number % 100}
    return Document(id=f"d{number}", text="\n".join(texts), title="", source=f"d{number}", metadata=facts)


def prepared(number: int, texts: Sequence[str]) -> Prepared:
    """Return a document with a chunk for each text."""
    whole = document(number, texts)
    chunks: list[Chunk] = []
    start = 0
    for index, text in enumerate(texts):
        chunks.append(
            Chunk(
                id=f"{whole.id}:{index}",
                document_id=whole.id,
                index=index,
                total=len(texts),
                start=start,
                end=start + len(text),
                text=text,
                title=whole.title,
                url=whole.url,
                metadata=whole.metadata,
            )
        )
        start += len(text) + 1
    hashes = tuple(hashlib.sha256(f"{one.id} {one.text}".encode()).hexdigest()[:32] for one in chunks)
    return Prepared(document=whole, chunks=tuple(chunks), hashes=hashes)


def fill(catalog: Catalog, source: Real, count: int) -> None:
    """Store chunks in an empty catalog, in order: row n + 1 has the nth vector of `extended`."""
    stream, number, done = texts(source.passages, count), 0, 0
    for block in extended(source.vectors, count):
        for start in range(0, len(block), COMMITTED):
            part = block[start : start + COMMITTED]
            taken = list(islice(stream, len(part)))
            batch: list[Prepared] = []
            for first in range(0, len(taken), CHUNKS_A_DOCUMENT):
                batch.append(prepared(number, taken[first : first + CHUNKS_A_DOCUMENT]))
                number += 1
            hashes = [hash for one in batch for hash in one.hashes]
            catalog.commit(batch, dict(zip(hashes, part, strict=True)))
            done += len(part)
        progress(f"query: {done:,} of {count:,} chunks stored")
