"""Checks of embedders: unit vectors, the same whatever else is in the batch, and no text that cannot be embedded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.protocols import Embedder, PlainEmbedder, Role, TokenEmbedder
from ragstone.core.request import Request
from ragstone.testing.expect import expect

if TYPE_CHECKING:
    from ragstone.core.records import Vector

TEXTS = ("a cat", "", "  ", "Lager für Öl", "word " * 2000, "\U0001f600" * 50, "x" * 10_000, "日本語", "\ufffd")
"""Texts that have broken embedders: empty, blank, very long, one long word, emoji, other scripts."""
CLOSE = 1e-4
"""Largest difference of a component of the same text in another batch."""


def embed(embedder: PlainEmbedder, *texts: str, role: Role = "passage") -> Vector:
    """Return the vectors of texts."""
    return asyncio.run(embedder.embed(texts, role=role, request=Request.by_owner()))


def vectors_have_unit_length_and_shape(embedder: PlainEmbedder) -> None:
    """Check shape, type and length of the vectors of all kinds of texts, and of none."""
    roles: tuple[Role, ...] = ("passage", "query")
    for role in roles:
        vectors = embed(embedder, *TEXTS, role=role)
        shape = (len(TEXTS), embedder.dimensions)
        expect(vectors.shape == shape, f"vectors of {len(TEXTS)} texts have the shape {shape}", vectors.shape)
        expect(vectors.dtype == np.float32, "vectors are float32", vectors.dtype)
        expect(np.isfinite(vectors).all(), "vectors are finite")
        lengths = np.linalg.norm(vectors, axis=1)
        expect(np.abs(lengths - 1).max() < 1e-5, "vectors have length 1", lengths.tolist())
    none = embed(embedder)
    expect(none.shape == (0, embedder.dimensions), "no texts give no vectors", none.shape)


def vector_does_not_depend_on_its_batch(embedder: PlainEmbedder) -> None:
    """Check that a text has the same vector alone, in a batch, and in another order."""
    together = embed(embedder, *TEXTS)
    backwards = embed(embedder, *reversed(TEXTS))[::-1]
    alone = np.concatenate([embed(embedder, text) for text in TEXTS])
    for other, how in ((backwards, "in another order"), (alone, "alone")):
        expect(np.abs(together - other).max() < CLOSE, f"a text {how} has the vector it has in a batch")


def different_texts_have_different_vectors(embedder: PlainEmbedder) -> None:
    """Check that not every text has the same vector."""
    first, other = embed(embedder, "the pump is blue", "income tax law of 1986")
    expect(float(first @ other) < 1 - 1e-6, "unrelated texts have different vectors")


def serves_calls_at_once(embedder: PlainEmbedder) -> None:
    """Check that concurrent calls do not disturb one another."""

    async def both() -> list[Vector]:
        calls = (embedder.embed([text], role="passage", request=Request.by_owner()) for text in TEXTS)
        return list(await asyncio.gather(*calls))

    expected = embed(embedder, *TEXTS)
    vectors = np.concatenate(asyncio.run(both()))
    expect(np.abs(expected - vectors).max() < CLOSE, "calls at the same time give the same vectors")


def has_fingerprint_and_familiarity(embedder: PlainEmbedder) -> None:
    """Check what says which embedder it is and, if it has them, how well it knows a text and what its tokens are."""
    fingerprint = embedder.fingerprint
    expect(type(fingerprint) is str and fingerprint, "the fingerprint is a text that is not empty", fingerprint)
    if hasattr(embedder, "familiarity") and hasattr(embedder, "tokens"):
        full: Embedder = embedder  # pyright: ignore[reportAssignmentType] -- it has just been looked at
        for text in TEXTS:
            familiarity = full.familiarity(text)
            expect(0 <= familiarity <= 1, "familiarity is between 0 and 1", familiarity)
            spans = full.tokens(text)
            inside = all(0 <= span.start < span.end <= len(text) for span in spans)
            expect(inside, "tokens lie within their text and are not empty")
            expect([*spans] == sorted(spans), "tokens are in order")


def token_vectors_have_spans(embedder: PlainEmbedder) -> None:
    """Check the vectors of tokens, if it has them."""
    if not isinstance(embedder, TokenEmbedder):
        return
    request, dimensions = Request.by_owner(), embedder.dimensions
    for text, tokens in zip(
        TEXTS, asyncio.run(embedder.embed_tokens(TEXTS, role="passage", request=request)), strict=True
    ):
        expect(tokens.vectors.shape == (len(tokens.spans), dimensions), "each token has a span and a vector")
        inside = all(0 <= span.start < span.end <= len(text) for span in tokens.spans)
        expect(inside, "the spans of tokens lie within their text")
        lengths = np.linalg.norm(tokens.vectors, axis=1)
        expect(np.abs(lengths - 1).max(initial=0) < CLOSE, "vectors of tokens have length 1")


EMBEDDER_CHECKS: tuple[Callable[[PlainEmbedder], None], ...] = (
    vectors_have_unit_length_and_shape,
    vector_does_not_depend_on_its_batch,
    different_texts_have_different_vectors,
    serves_calls_at_once,
    has_fingerprint_and_familiarity,
    token_vectors_have_spans,
)


def check_embedder(embedder: PlainEmbedder) -> None:
    """Run all checks of embedders.

    Raises:
        Failed: at the first that does not hold.
    """
    for check in EMBEDDER_CHECKS:
        check(embedder)
