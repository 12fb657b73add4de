"""Rerank with a cross-encoder, which reads question and chunk together (Nogueira and Cho 2019, arXiv 1901.04085)."""

# sentence-transformers is optional and untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false, reportMissingTypeStubs=false

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from ragstone.core.errors import MissingExtra, SettingsError
from ragstone.core.protocols import Pace, no_deadline
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.rank.history import ranked

BATCH = 2
"""Texts read between two checks of the time."""
GRAPHS = ("model.onnx", "onnx/model.onnx")
Score = Callable[[str, Sequence[str]], Sequence[float]]
"""Scores how well each text answers a question; higher is better."""


class CrossEncoderReranker:
    """Sorts hits by the scores of a model and ignores their previous scores."""

    def __init__(self, name: str, score: Score) -> None:
        """Take a model.

        Args:
            name: of the model, for the history of a hit.
            score: calls the model.
        """
        self._name, self._score = name, score

    async def rerank(
        self,
        question: str,
        hits: Sequence[Hit],
        request: Request,  # noqa: ARG002
        pace: Pace = no_deadline,
    ) -> list[Hit]:
        """Return the hits, best first.

        Raises:
            OutOfTime: raised by ``pace``.
        """
        scores: list[float] = []
        batch = max(1, len(hits) if pace is no_deadline else BATCH)
        for start in range(0, len(hits), batch):
            pace(start, len(hits))
            texts = [hit.chunk.headed for hit in hits[start : start + batch]]
            scores += await asyncio.to_thread(self._score, question, texts)
        return ranked("cross_encoder", ((hit, score, self._name) for hit, score in zip(hits, scores, strict=True)))


def exported(folder: Path) -> Path | None:
    """Return the graph of the ONNX model in a folder, or None."""
    graphs = [folder / name for name in GRAPHS if (folder / name).is_file()]
    return graphs[0] if graphs and (folder / "tokenizer.json").is_file() else None


def load(name: str) -> CrossEncoderReranker:
    """Load a model with sentence-transformers, from a folder or the Hugging Face hub (downloaded if needed).

    Raises:
        MissingExtra: sentence-transformers is not installed.
        SettingsError: there is no such model, or it cannot be downloaded.
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
