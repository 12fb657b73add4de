"""Reranking by a cross-encoder, which reads question and chunk together (Nogueira and Cho 2019, arXiv 1901.04085)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ragstone.contracts import Hit, Step
from ragstone.errors import MissingExtra, SettingsError
from ragstone.protocols import Pace, unhurried

TURN = 2
"""Texts read before the time is looked at."""
GRAPHS = ("model.onnx", "onnx/model.onnx")
Score = Callable[[str, Sequence[str]], Sequence[float]]
"""From a question and texts to how well each text answers it, higher is better."""


class CrossEncoderReranker:
    """Puts hits in the order of a model's scores; what they scored before no longer counts."""

    def __init__(self, name: str, score: Score) -> None:
        """Take a model.

        Args:
            name: of the model, for the history of a score.
            score: the model.
        """
        self._name, self._score = name, score

    async def rerank(self, question: str, hits: Sequence[Hit], pace: Pace = unhurried) -> list[Hit]:
        """The same hits, best first.

        Raises:
            OutOfTime: by ``pace``.
        """
        scores: list[float] = []
        turn = max(1, len(hits) if pace is unhurried else TURN)
        for start in range(0, len(hits), turn):
            pace(start, len(hits))
            texts = [hit.chunk.headed for hit in hits[start : start + turn]]
            scores += await asyncio.to_thread(self._score, question, texts)
        order = sorted(range(len(hits)), key=lambda i: -scores[i])
        return [
            replace(hits[i], score=scores[i], why=(*hits[i].why, self._step(scores[i], rank)))
            for rank, i in enumerate(order, start=1)
        ]

    def _step(self, score: float, rank: int) -> Step:
        return Step(stage="cross_encoder", score=score, rank=rank, note=self._name)


def exported(folder: Path) -> Path | None:
    """The graph in a folder, if that holds a model exported to ONNX."""
    graphs = [folder / name for name in GRAPHS if (folder / name).is_file()]
    return graphs[0] if graphs and (folder / "tokenizer.json").is_file() else None


def load(name: str) -> CrossEncoderReranker:
    """A model of the Hugging Face hub, fetched if need be, or one in a folder, with sentence-transformers.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        SettingsError: there is no such model, or it cannot be fetched.
    """
    try:
        from sentence_transformers import CrossEncoder  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError as error:
        raise MissingExtra("sentence-transformers", extra="sentence-transformers") from error
    try:
        model = CrossEncoder(name)
    except (OSError, ValueError, RuntimeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise SettingsError(f"rank.reranker: sentence-transformers cannot load '{name}': {first}") from error

    def score(question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        pairs = [(question, text) for text in texts]
        return [float(one) for one in model.predict(pairs, show_progress_bar=False)]

    return CrossEncoderReranker(name, score)
