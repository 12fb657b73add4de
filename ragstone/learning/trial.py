"""A trial: which version answers which request, what the votes prove, and when the trial ends.

A keyed hash of the request id assigns every request to an arm, so chance decides, and anybody who knows the seed can
check it. Rewards of assigned requests are weighted by the probability of the assignment (Horvitz and Thompson, JASA 47,
1952). A trial promotes a version only on the evidence of `ragstone.learning.evidence`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from math import exp, inf, isinf, log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.learning.evidence import Comparison, Votes, compare, votes_needed
from ragstone.learning.policy import canonical_json

ALPHA = 0.05
"""The probability that a knowledge base ever promotes a version that is not better, over all its trials."""
HOLDOUT = 0.1
"""Share of requests that version 0 answers, whatever version is in use."""
TRIM = 0.1
"""Share of the most influential voters that the evidence leaves out."""
MAX_VOTES = 5000
"""Votes after which a trial ends without a change."""
MIN_VOTES = 200
"""Votes before which no trial is decided; a few people who rush into a trial come first."""
MIN_GAIN = 0.02
"""An advantage, in shares of up votes, below which a change is not worth it."""
DOUBT = 0.1
"""The advantage of either side between which a doubt decides."""
MAX_DOUBT_VOTES = 1000
"""Votes after which a doubt ends either way."""
_LIKELIHOOD_BAR = log(19)
"""A doubt ends when one side is nineteen times as likely as the other."""
_SAME = 1e-9
_MAX_LOG = 100.0

State = Literal["going", "promoted", "stopped", "kept", "rolled back"]
STATES: tuple[State, ...] = ("going", "promoted", "stopped", "kept", "rolled back")
_GOING, _PROMOTED, _STOPPED, _KEPT, _ROLLED_BACK = range(5)


@frozen
class Trial:
    """A challenger against the champion, or a champion in doubt against version 0.

    Args:
        id: name of the trial.
        number: number of the trial within its knowledge base, from 1.
        champion: the version in use.
        challenger: the version that may replace it; None if the champion is only watched.
        holdout: share of requests that version 0 answers.
        seed: key of the assignment.
        alpha: probability of promoting a challenger that is not better.
        trim: share of voices to leave out; 0 leaves out none, and one voice can prove something alone.
        max_votes: votes after which the trial ends.
        prior_voices: voices that had voted before the trial. Colluders may be the first to vote in it, so ``trim`` is a
            share of at least these.
        min_gain: advantage, in shares of votes, below which a change is not worth it.
        doubt: compare the champion with version 0 and keep it or roll back; there is no challenger.
        began: start of the trial in seconds since 1970.
    """

    id: str
    number: int = 1
    champion: int
    challenger: int | None = None
    holdout: float = HOLDOUT
    seed: str
    alpha: float = ALPHA / 2
    trim: float = TRIM
    max_votes: int = MAX_VOTES
    prior_voices: int = 0
    min_gain: float = MIN_GAIN
    doubt: bool = False
    began: float = 0.0

    @property
    def decides(self) -> bool:
        """Whether votes can end the trial; otherwise the champion is only watched."""
        return self.doubt or self.challenger is not None

    @property
    def rival(self) -> int | None:
        """The version that is compared with the champion."""
        return 0 if self.doubt else self.challenger

    @property
    def shares(self) -> dict[int, float]:
        """The probability of each version: 0 has the holdout, champion and challenger share the rest."""
        arms = [self.champion] if self.challenger is None else [self.champion, self.challenger]
        shares = dict.fromkeys((0, *arms), 0.0)
        for version in arms:
            shares[version] += (1 - self.holdout) / len(arms)
        shares[0] += self.holdout
        return {version: share for version, share in shares.items() if share > 0}

    def to_json(self) -> str:
        """Return the trial as one canonical line."""
        return canonical_json(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Trial:
        """Return the trial that `to_json` wrote."""
        return cls(**json.loads(text))


@frozen
class Outcome:
    """The outcome of an assigned request: ``vote`` is 1 for up, -1 for down, 0 for none.

    ``at`` is the time of the vote, or of the request if there is none; votes are ordered by it.
    """

    request_id: str
    voice: str
    version: int
    probability: float
    vote: Literal[1, 0, -1]
    at: float


@frozen
class Arm:
    """The figures of one version in a trial.

    Args:
        version: the version.
        share: its share of the requests.
        requests: requests that were assigned to it.
        votes: votes on them.
        reward: mean reward of a request: 1 for up, -1 for down, 0 for no vote.
        ups: share of the votes that are up.
        difference: advantage over the champion in shares of up votes.
        low: likely lower end of the difference.
        high: likely upper end.
        evidence: the e-value; 1 means no evidence.
        bar: evidence that promotes.
        needs: estimate of the votes still needed; None if the trial would end before.
    """

    version: int
    share: float
    requests: int
    votes: int
    reward: float
    ups: float | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    evidence: float | None = None
    bar: float | None = None
    needs: int | None = None


@frozen
class TrialResult:
    """The state of a trial after some votes. ``winner`` is the version to use; None leaves the champion in use."""

    trial: str
    state: State
    why: str
    winner: int | None = None
    votes: int = 0
    voices: int = 0
    arms: tuple[Arm, ...] = ()


def alpha_of(number: int, alpha: float = ALPHA) -> float:
    """Return the part of ``alpha`` that the trial with this number may spend.

    The parts are 1/2, 1/6, 1/12 and so on; together they are ``alpha`` (Bonferroni). Evidence grows exponentially, so a
    small part costs few votes more.
    """
    return alpha / (number * (number + 1))


def draw(trial: Trial, request_id: str) -> int:
    """Return the version that answers a request: always the same for the same trial and id."""
    key = hashlib.blake2b(trial.seed.encode(errors="surrogatepass"), digest_size=32).digest()
    digest = hashlib.blake2b(request_id.encode(errors="surrogatepass"), key=key, digest_size=8).digest()
    drawn = int.from_bytes(digest, "big") / 2**64
    shares = sorted(trial.shares.items())
    for version, share in shares[:-1]:
        if drawn < share:
            return version
        drawn -= share
    return shares[-1][0]


def evaluate(trial: Trial, outcomes: Iterable[Outcome]) -> TrialResult:
    """Return what the outcomes of a trial show so far. It costs no certainty to ask after every vote.

    Outcomes of other versions, or with another probability of assignment, belong to other trials and are ignored.
    """
    shares = trial.shares
    own = [one for one in outcomes if abs(shares.get(one.version, 2.0) - one.probability) < _SAME]
    voted = sorted((one for one in own if one.vote), key=lambda one: (one.at, one.request_id))
    votes = Votes.of((one.voice, one.version, one.vote) for one in voted)
    found = compare_arms(trial, votes)
    state: State = STATES[int(states(trial, found)[-1])] if found is not None and len(votes) else "going"
    voices = max(votes.voice_count, trial.prior_voices)
    arms = tuple(
        _arm(trial, version, own, found if version == trial.rival else None, voices) for version in sorted(shares)
    )
    return TrialResult(
        trial=trial.id,
        state=state,
        why=_why(trial, state, len(votes), arms),
        winner=winner_of(trial, state),
        votes=len(votes),
        voices=votes.voice_count,
        arms=arms,
    )


def compare_arms(trial: Trial, votes: Votes, looks: Sequence[int] | None = None) -> Comparison | None:
    """Compare the rival of the champion with it after each look, or after all votes; None if there is no rival."""
    if trial.rival is None:
        return None
    shares = trial.shares
    return compare(
        votes,
        (trial.rival, shares[trial.rival]),
        (trial.champion, shares[trial.champion]),
        trim=trial.trim,
        voices=trial.prior_voices,
        bar=inf if trial.doubt else log(1 / trial.alpha),
        looks=looks,
    )


def states(trial: Trial, comparison: Comparison) -> NDArray[np.int64]:
    """Return the state after each look (looks,), as an index of `STATES`, as if the trial had not ended before.

    A challenger is promoted when its evidence reaches the bar. The trial stops when the challenger is probably not
    better by ``min_gain``, or when the votes are used up. Neither happens before `MIN_VOTES`, unless the trial gets
    fewer votes than that.

    A doubt is a sequential test between two advantages (Wald 1945): version 0 is better by `DOUBT`, or the champion is.
    Rolling back needs no proof that is robust to a few voices, because version 0 is the safe choice.
    """
    if trial.doubt:
        new, old = trial.shares[0], trial.shares[trial.champion]
        log_ratio = 2 * (2 * DOUBT) * comparison.payoff / (1 / new + 1 / old)
        ended = (np.abs(log_ratio) >= _LIKELIHOOD_BAR) | (comparison.votes >= MAX_DOUBT_VOTES)
        return np.where(ended, np.where(log_ratio > 0, _ROLLED_BACK, _KEPT), _GOING)
    enough = comparison.votes >= min(MIN_VOTES, trial.max_votes)
    hopeless = comparison.high < trial.min_gain
    state = np.where((enough & hopeless) | (comparison.votes >= trial.max_votes), _STOPPED, _GOING)
    return np.where(enough & (comparison.evidence >= log(1 / trial.alpha)), _PROMOTED, state)


def winner_of(trial: Trial, state: State) -> int | None:
    """Return the version that a trial in this state puts into use; None if the champion stays."""
    return trial.challenger if state == "promoted" else 0 if state == "rolled back" else None


def _arm(trial: Trial, version: int, own: Sequence[Outcome], comparison: Comparison | None, voices: int) -> Arm:
    votes = [one.vote for one in own if one.version == version]
    voted = [vote for vote in votes if vote]
    share, base = trial.shares[version], trial.shares[trial.champion]
    arm = Arm(
        version=version,
        share=round(share, 9),
        requests=len(votes),
        votes=len(voted),
        reward=round(sum(votes) / len(votes), 6) if votes else 0.0,
        ups=round(voted.count(1) / len(voted), 6) if voted else None,
    )
    if comparison is None or not comparison.votes[-1]:
        return arm
    difference, evidence = float(comparison.difference[-1]), float(comparison.evidence[-1])
    needed = votes_needed(difference, new=share, old=base, voices=voices, trim=trial.trim, alpha=trial.alpha)
    more = max(needed, min(MIN_VOTES, trial.max_votes)) - float(comparison.votes[-1])
    return replace(
        arm,
        difference=round(difference, 6),
        low=round(float(comparison.low[-1]), 6),
        high=round(float(comparison.high[-1]), 6),
        evidence=float(f"{exp(min(evidence, _MAX_LOG)):.6g}"),
        bar=round(1 / trial.alpha, 6),
        needs=None if isinf(more) or more > trial.max_votes else max(0, round(more)),
    )


def _why(trial: Trial, state: State, votes: int, arms: Sequence[Arm]) -> str:
    """Return a sentence that explains the state."""
    rival = next((arm for arm in arms if arm.version == trial.rival), None)
    evidence, bar = (rival.evidence or 0.0, rival.bar or inf) if rival else (0.0, inf)
    counted = f"{votes:,} vote{'' if votes == 1 else 's'}"
    match state:
        case "promoted":
            return (
                f"version {trial.challenger} is better: the evidence is {evidence:.3g} after {counted}, above {bar:.3g}"
            )
        case "rolled back":
            return f"version {trial.champion} is no longer better than version 0, after {counted} in doubt"
        case "kept":
            return f"version {trial.champion} is still better than version 0, after {counted} in doubt"
        case "stopped" if votes >= trial.max_votes:
            return f"the challenger has not proved better in {counted}, the limit of a trial"
        case "stopped":
            return f"the challenger is probably not better by {trial.min_gain:.0%} or more, after {counted}"
        case "going" if not votes:
            return "no votes yet"
        case "going" if votes < MIN_VOTES and not trial.doubt and evidence >= bar:
            return f"the evidence is sufficient, but a trial needs {MIN_VOTES} votes and has {votes}"
        case "going":
            return f"{counted} prove nothing yet"
