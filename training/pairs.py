"""A pair of texts with what is to be learned from it, and pairs as tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from ragstone.index.embed.local import CLS, SEP, MiniLM

LONGEST = 320
"""Tokens of a pair, markers included; the second text is cut to fit."""
LONGEST_FIRST = 96
UNKNOWN = -1.0
"""A target that is not known and teaches nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A claim and its evidence, or a question and a passage.

    Args:
        first: the claim or the question.
        second: the evidence or the passage.
        source: the data set.
        kind: what kind of row it is within the set.
        label: of a claim, as in the data (``supported``, ``contradicted``, ``unknown``, ``unsupported``); else empty.
        unsupported: characters of the claim that nothing supports; None if that is not known.
        answers: 1 if the passage answers the question, 0 if not, `UNKNOWN` for claims.
        evidence: characters of the passage that are evidence; None if that is not known.
        sentences: characters of each sentence of the passage.
        answer: characters of the short answer; None without one.
    """

    first: str
    second: str
    source: str
    kind: str = ""
    label: str = ""
    unsupported: tuple[tuple[int, int], ...] | None = None
    answers: float = UNKNOWN
    evidence: tuple[tuple[int, int], ...] | None = None
    sentences: tuple[tuple[int, int], ...] = ()
    answer: tuple[int, int] | None = None


@dataclass(slots=True, kw_only=True)
class Tokens:
    """A pair as tokens; ``second`` is where the second text begins.

    ``unsupported`` has a target for each token of the first text. ``sentences`` are the tokens of each sentence and
    ``evidence`` the target of each; ``answer`` are the first and last token of the short answer.
    """

    pair: Pair
    ids: NDArray[np.int64]
    second: int
    unsupported: NDArray[np.float32] | None = None
    sentences: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    evidence: NDArray[np.float32] | None = None
    answer: tuple[int, int] | None = None


def tokenized(pairs: Sequence[Pair]) -> list[Tokens]:
    """Return the pairs as tokens, in order."""
    model = MiniLM()
    firsts, seconds = model.encode([one.first for one in pairs]), model.encode([one.second for one in pairs])
    return [_joined(pair, a, b) for pair, a, b in zip(pairs, firsts, seconds, strict=True)]


def _joined(pair: Pair, first: Encoding, second: Encoding) -> Tokens:
    one = first.ids[:LONGEST_FIRST]
    room = LONGEST - len(one) - 3
    skipped = _skipped(pair, second, room)
    other = second.ids[skipped : skipped + room]
    begins = len(one) + 2
    out = Tokens(pair=pair, ids=np.array([CLS, *one, SEP, *other, SEP]), second=begins)
    if pair.unsupported is not None:
        held = [
            float(any(a < end and start < b for a, b in pair.unsupported)) for start, end in first.offsets[: len(one)]
        ]
        out.unsupported = np.array(held, dtype=np.float32)
    places = second.offsets[skipped : skipped + room]
    starts, ends = np.array([a for a, _ in places] or [0]), np.array([b for _, b in places] or [0])

    def tokens(start: int, end: int) -> tuple[int, int]:
        return begins + int(np.searchsorted(ends, start, "right")), begins + int(np.searchsorted(starts, end))

    kept = [(span, place) for span in pair.sentences if (place := tokens(*span))[1] > place[0]]
    out.sentences = [place for _, place in kept]
    if pair.evidence is not None and kept:
        out.evidence = np.array([_is_evidence(span, pair.evidence) for span, _ in kept], dtype=np.float32)
    if pair.answer is not None:
        start, end = tokens(*pair.answer)
        if end > start:
            out.answer = (start, end - 1)
    return out


def _skipped(pair: Pair, second: Encoding, room: int) -> int:
    """Return how many tokens at the beginning are left out, so that the evidence is within the rest."""
    if len(second.ids) <= room or not pair.evidence:
        return 0
    first = min(start for start, _ in pair.evidence)
    place = next((i for i, (_, end) in enumerate(second.offsets) if end > first), 0)
    return max(0, min(place - room // 4, len(second.ids) - room))


def _is_evidence(sentence: tuple[int, int], evidence: Sequence[tuple[int, int]]) -> bool:
    """Return whether a sentence and the evidence share half of either."""
    shared = sum(max(0, min(sentence[1], b) - max(sentence[0], a)) for a, b in evidence)
    shorter = min([sentence[1] - sentence[0], *(b - a for a, b in evidence)])
    return shared * 2 >= shorter
