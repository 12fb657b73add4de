"""Outcomes of trials with simulated votes."""

from __future__ import annotations

import random
from collections.abc import Mapping

from ragstone.learning.trial import Outcome, Trial, draw


def drawn(
    trial: Trial, ups: Mapping[int, float], requests: int, *, voices: int = 40, seed: int = 0, feedback: float = 0.2
) -> list[Outcome]:
    """Return the outcomes of requests: a share gets a vote, which is up with the probability of its version."""
    chance, out = random.Random(seed), list[Outcome]()
    for number in range(requests):
        version = draw(trial, f"r{seed}-{number}")
        vote = 0 if chance.random() >= feedback else 1 if chance.random() < ups[version] else -1
        out.append(
            Outcome(
                request_id=f"r{seed}-{number}",
                voice=f"u{chance.randrange(voices)}",
                version=version,
                probability=trial.shares[version],
                vote=vote,
                at=float(number),
            )
        )
    return out
