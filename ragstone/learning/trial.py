"""A trial: which version answers which request, and what the votes then prove.

Every request is assigned to an arm by a keyed hash of its id, so chance decides, and whoever knows the seed can check
it. What is compared is the reward of *assigned* requests, voted on or not, weighted by the probability of the
assignment (Horvitz and Thompson, JASA 47, 1952). A version is promoted only by evidence that may be looked at after
every vote (`eprocess`), whichever tenth of the users is left out, and to which no other user gives more than a third
(`robust`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, inf, isinf, log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.learning.ballots import Ballots, Compared, ballots, compare, needed
from ragstone.learning.policy import canonical
from ragstone.learning.ruling import FIRST, STATES, State, of_doubt, of_trial

ALPHA = 0.05
"""How probable it may be that a knowledge base ever promotes something that is no better, over all its trials."""
HOLDOUT = 0.1
TRIM = 0.1
MOST = 5000
WORTH = 0.02
_SAME = 1e-9
_LARGE = 100.0
"""Logarithm above which evidence is not told more exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Challengers against a champion, all of them versions of policies.

    Args:
        id: its name.
        number: which trial of its knowledge base this is, from 1.
        champion: the version in use.
        challengers: those that may take its place.
        holdout: share of the requests that version 0 answers, whatever is in use.
        seed: key of the assignment.
        alpha: how probable it may be that a challenger which is no better is promoted.
        trim: share of the users, the most influential ones, without whom the evidence must do; 0: nobody is left out,
            and one user may prove something alone.
        most: votes after which it ends.
        voices: users who had voted before it began. Colluders may be the first to vote in it, so the share is of these
            at least.
        worth: an advantage, in shares of votes, below which nothing is worth a change.
        doubt: `drift.watch` doubts the champion: it is compared with version 0 alone, and kept or rolled back. The
            holdout is then half of the requests, and there are no challengers.
        began: when it began, in seconds since 1970.
    """

    id: str
    number: int = 1
    champion: int
    challengers: tuple[int, ...] = ()
    holdout: float = HOLDOUT
    seed: str
    alpha: float = ALPHA / 2
    trim: float = TRIM
    most: int = MOST
    voices: int = 0
    worth: float = WORTH
    doubt: bool = False
    began: float = 0.0

    @property
    def shares(self) -> dict[int, float]:
        """The probability of each version: 0 has the holdout, champion and challengers share the rest."""
        arms = (self.champion, *self.challengers)
        shares = dict.fromkeys((0, *arms), 0.0)
        for version in arms:
            shares[version] += (1 - self.holdout) / len(arms)
        shares[0] += self.holdout
        return {version: share for version, share in shares.items() if share > 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The version that answers a request, and how probable it was that it would be this one."""

    version: int
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one assigned request: ``vote`` is 1 for up, -1 for down, 0 for none.

    ``at`` is when it was voted on, or asked where it was not; the order of votes is theirs.
    """

    request_id: str
    voice: str
    version: int
    probability: float
    vote: Literal[1, 0, -1]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One version in a trial.

    ``reward`` is the mean over all its requests: up 1, down -1, no vote 0. ``ups`` is the share of up among its votes.
    The rest compares a challenger with the champion: ``difference`` of the shares of up, and where it probably lies;
    ``evidence``, the e-value: promoted at ``bar``, 1 says nothing; how many more votes it ``needs``, if it goes on so.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a trial has shown. ``winner`` is the version promoted; ``why`` says it in words."""

    trial: str
    state: State
    why: str
    winner: int | None = None
    votes: int = 0
    voices: int = 0
    arms: tuple[Arm, ...] = ()

    def to_json(self) -> str:
        """One canonical line: the same trial and outcomes give the same bytes."""
        return canonical(asdict(self))


def spent(number: int, alpha: float = ALPHA) -> float:
    """The part of ``alpha`` that the trial of this number may spend. All parts together are ``alpha``.

    If no trial errs with more than its part, they err together with no more than the whole (Bonferroni). The parts are
    1/2, 1/6, 1/12 and so on; since evidence grows exponentially, a small part costs few votes more.
    """
    return alpha / (number * (number + 1))


def assign(trial: Trial, request_id: str) -> Assignment:
    """Which version answers a request; always the same for the same trial and id."""
    digest = hashlib.blake2b(request_id.encode(errors="surrogatepass"), key=_key(trial.seed), digest_size=8).digest()
    drawn = int.from_bytes(digest, "big") / 2**64
    shares = sorted(trial.shares.items())
    for version, share in shares[:-1]:
        if drawn < share:
            return Assignment(version=version, probability=share)
        drawn -= share
    return Assignment(version=shares[-1][0], probability=shares[-1][1])


def weigh(trial: Trial, outcomes: Iterable[Outcome]) -> Verdict:
    """What the outcomes of a trial show so far. May be asked after every vote; that costs nothing of its certainty.

    Outcomes of other versions, or assigned with another probability, are not of this trial and are passed over.
    """
    shares = trial.shares
    known = [one for one in outcomes if abs(shares.get(one.version, 2.0) - one.probability) < _SAME]
    voted = sorted((one for one in known if one.vote), key=lambda one: (one.at, one.request_id))
    cast = ballots((one.voice, one.version, one.vote) for one in voted)
    found = compared(trial, cast)
    state = STATES[ruled(trial, found)[-1]] if len(cast) and found else "going"
    winner = winning(state, found)
    arms = tuple(
        _arm(trial, version, known, found.get(version), max(cast.users, trial.voices)) for version in sorted(shares)
    )
    return Verdict(
        trial=trial.id,
        state=state,
        why=_why(trial, state, winner, len(cast), arms),
        winner=winner,
        votes=len(cast),
        voices=cast.users,
        arms=arms,
    )


def compared(trial: Trial, cast: Ballots, looks: Sequence[int] | None = None) -> dict[int, Compared]:
    """Each rival of the champion against it, after each of the looks; after all votes, if not given."""
    shares, rivals = trial.shares, (0,) if trial.doubt else trial.challengers
    old, bar = (trial.champion, shares[trial.champion]), inf if trial.doubt else _bar(trial)
    return {
        one: compare(cast, (one, shares[one]), old, trim=trial.trim, voices=trial.voices, bar=bar, looks=looks)
        for one in rivals
    }


def ruled(trial: Trial, found: Mapping[int, Compared]) -> NDArray[np.int64]:
    """The state at each look, as a place in `STATES`, as if none had come before."""
    if trial.doubt:
        return of_doubt(found[0], trial.shares[0], trial.shares[trial.champion])
    return of_trial(list(found.values()), alpha=trial.alpha, worth=trial.worth, most=trial.most)


def winning(state: State, found: Mapping[int, Compared], look: int = -1) -> int | None:
    """The version that a trial which ended so leaves in use; None where it changes nothing, or goes on."""
    if state == "promoted":
        return max(found, key=lambda version: found[version].evidence[look])
    return 0 if state == "rolled back" else None


def _arm(trial: Trial, version: int, known: Sequence[Outcome], found: Compared | None, users: int) -> Arm:
    votes = [one.vote for one in known if one.version == version]
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
    if found is None or not found.votes[-1]:
        return arm
    alpha = trial.alpha / max(len(trial.challengers), 1)
    difference, evidence = float(found.difference[-1]), float(found.evidence[-1])
    votes_needed = needed(difference, new=share, old=base, users=users, trim=trial.trim, alpha=alpha)
    more = max(votes_needed, min(FIRST, trial.most)) - float(found.votes[-1])
    return replace(
        arm,
        difference=round(difference, 6),
        low=round(float(found.low[-1]), 6),
        high=round(float(found.high[-1]), 6),
        evidence=float(f"{exp(min(evidence, _LARGE)):.6g}"),
        bar=round(1 / alpha, 6),
        needs=None if isinf(more) or more > trial.most else max(0, round(more)),
    )


def _why(trial: Trial, state: State, winner: int | None, votes: int, arms: Sequence[Arm]) -> str:
    """In words, with the number of votes it rests on."""
    of = {arm.version: arm for arm in arms}
    if state == "promoted" and winner is not None:
        e, bar = of[winner].evidence, of[winner].bar
        return f"version {winner} is better: the evidence is {e:.3g} after {votes} votes, and {bar:.3g} suffices"
    if state == "rolled back":
        return f"version {trial.champion} is no better than version 0 any more, by {votes} votes since it was doubted"
    if state == "kept":
        return f"version {trial.champion} is still better than version 0, by {votes} votes since it was doubted"
    if state == "stopped":
        if votes >= trial.most:
            return f"no challenger has proved to be better in {votes} votes, which are all it gets"
        return f"no challenger is probably better by {trial.worth:.0%} or more, by {votes} votes"
    if not votes:
        return "nobody has voted yet"
    if votes < FIRST and not trial.doubt and any((arm.evidence or 0) >= (arm.bar or inf) for arm in arms):
        return f"the evidence suffices, but {votes} votes are few: nothing is decided before {FIRST}"
    return f"{votes} votes prove nothing yet"


def _bar(trial: Trial) -> float:
    """The logarithm of the evidence that promotes."""
    return log(max(len(trial.challengers), 1) / trial.alpha)


def _key(seed: str) -> bytes:
    return hashlib.blake2b(seed.encode(errors="surrogatepass"), digest_size=32).digest()
