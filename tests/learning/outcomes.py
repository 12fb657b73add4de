"""Outcomes of trials, drawn as users would vote."""

from __future__ import annotations

import random
from collections.abc import Mapping

from ragstone.learning.trial import Outcome, Trial, assign


def drawn(
    trial: Trial, ups: Mapping[int, float], requests: int, *, voices: int = 40, seed: int = 0, feedback: float = 0.2
) -> list[Outcome]:
    """Of so many requests, each voted up with the probability of its version, if at all."""
    chance, out = random.Random(seed), []
    for number in range(requests):
        made = assign(trial, f"r{seed}-{number}")
        vote = 0 if chance.random() >= feedback else 1 if chance.random() < ups[made.version] else -1
        out.append(
            Outcome(
                request_id=f"r{seed}-{number}",
                voice=f"u{chance.randrange(voices)}",
                version=made.version,
                probability=made.probability,
                vote=vote,
                at=float(number),
            )
        )
    return out
