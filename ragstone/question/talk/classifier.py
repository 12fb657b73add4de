"""Recognise talk by its meaning, where no rule matches: a logistic regression on the vector of the question.

It was fitted to questions written for it (``training/kinds``, by `tools.fit_kinds`), and it decides only if it is sure:
a question that is searched for in vain does less harm than one that is not searched for.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.kinds import TalkKind
from ragstone.core.question import Talk

if TYPE_CHECKING:
    from ragstone.core.records import Vector

KINDS: tuple[TalkKind, ...] = ("greeting", "thanks", "goodbye", "help", "collection", "summary")
"""The kinds in the order of the coefficients; whatever is none of them is searched for."""
THRESHOLD = 0.9
"""The least probability of a kind."""
MAX_WORDS = 12
"""Words of a question that is short enough to be talk."""
FOLDER = Path(__file__).parent


def embedder_of(fingerprint: str) -> str:
    """Return the name of the embedder with this fingerprint if coefficients are fitted to it, or an empty text."""
    return next((name for name in ("minilm", "e5-small") if fingerprint.startswith(name)), "")


def is_short(question: str) -> bool:
    """Return whether a question is short enough to be talk."""
    return len(question.split()) <= MAX_WORDS


def talk_by_meaning(vector: Vector, embedder: str, language: str) -> Talk | None:
    """Return the kind of talk a question surely is, or None.

    Args:
        vector: of the question (dimensions,).
        embedder: name of the one that made the vector.
        language: of the question, which the reply will have.
    """
    coefficients = _coefficients(embedder)
    p = 1 / (1 + np.exp(-coefficients[:, 0] - coefficients[:, 1:] @ vector))
    best = int(p.argmax())
    if p[best] < THRESHOLD:
        return None
    kind = KINDS[best]
    return Talk(kind=kind, language=language, fact="list" if kind == "collection" else None)


@cache
def _coefficients(embedder: str) -> Vector:
    return np.load(FOLDER / f"{embedder}.npy").astype(np.float32)
