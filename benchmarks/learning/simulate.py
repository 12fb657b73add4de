"""Simulated knowledge bases: years of votes in a moment, decided by the code in use.

Only votes are drawn, because a request without a vote changes nothing but the clock. A learner is judged by how good
the answers were, not by the votes, which may be dishonest: the expected reward of a request (up 1, down -1, no vote 0)
if every vote had been honest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragstone.learning.decisions import DOUBT_HOLDOUT
from ragstone.learning.drift import suspicions
from ragstone.learning.evidence import Floats, Votes
from ragstone.learning.learner import EVALUATE_EVERY
from ragstone.learning.trial import HOLDOUT, STATES, Trial, alpha_of, compare_arms, states, winner_of

USERS = 40
FEEDBACK = 0.2
"""Share of the answers that get a vote."""
VOTES = 4000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """Users, questions and policies.

    Args:
        up: probability of an honest vote up (questions, policies); the first policy is version 0.
        later: the same after ``turns`` votes, if the world changes.
        turns: votes after which it changes.
        users: number of users.
        colluders: users who know the policies and vote for the challenger and against the version in use.
        rush: how many times as often as others a colluder votes.
        skew: inequality of the others: the n-th votes ``n ** -skew`` times as often as the first.
        before: votes before the first trial.
        random: share of votes that mean nothing.
        feedback: share of the answers that get a vote.
        queue: policies to try in order.
    """

    up: Floats
    later: Floats | None = None
    turns: int = VOTES
    users: int = USERS
    colluders: int = 0
    rush: float = 1.0
    skew: float = 0.0
    before: int = 0
    random: float = 0.0
    feedback: float = FEEDBACK
    queue: tuple[int, ...] = ()

    def means(self, votes: int) -> Floats:
        """Return the quality of each policy (policies,) after some votes: the share of honest votes that are up."""
        is_later = self.later is not None and votes >= self.turns
        return (self.later if is_later and self.later is not None else self.up).mean(axis=0)

    @property
    def paces(self) -> Floats:
        """The share of the votes of each user (users,), colluders first."""
        others = np.arange(1.0, self.users - self.colluders + 1) ** -self.skew
        paces = np.append(np.full(self.colluders, self.rush * (others.mean() if len(others) else 1.0)), others)
        return paces / paces.sum()

    def voices(self, chance: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Draw the users of some votes."""
        return chance.choice(self.users, size=count, p=self.paces)

    def vote(
        self,
        chance: np.random.Generator,
        versions: NDArray[np.int64],
        voices: NDArray[np.int64],
        at: NDArray[np.int64] | int,
        champion: int,
    ) -> Floats:
        """Draw votes, 1 or -1, on answers of these versions (n,); ``at`` is the number of earlier votes."""
        questions = chance.integers(len(self.up), size=len(versions))
        ups = self.up[questions, versions]
        if self.later is not None:
            ups = np.where(np.asarray(at) >= self.turns, self.later[questions, versions], ups)
        ups = np.where(chance.random(len(versions)) < self.random, 0.5, ups)
        ups = np.where(voices < self.colluders, versions != champion, ups)
        return np.where(chance.random(len(versions)) < ups, 1.0, -1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The end of a trial after some votes: ``champion`` was in use, ``winner`` is from then on."""

    votes: int
    state: str
    champion: int
    winner: int


@dataclass(slots=True, kw_only=True)
class Run:
    """One simulated run: the shares of the versions by the vote, and the ends of trials."""

    spans: list[tuple[int, int, dict[int, float]]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def champion(self, votes: int) -> int:
        """Return the version in use after some votes."""
        return next((event.winner for event in reversed(self.events) if event.votes <= votes), 0)

    def quality(self, world: World) -> Floats:
        """Return the share of honest votes up of the versions that answered, by the vote (votes,)."""
        out = np.zeros(self.spans[-1][1] if self.spans else 0)
        for start, end, shares in self.spans:
            turn = min(max(world.turns, start), end)
            for first, last in ((start, turn), (turn, end)):
                means = world.means(first)
                out[first:last] = sum(share * means[version] for version, share in shares.items())
        return out

    def wrong(self, world: World) -> int:
        """Count promotions of a version that was not better than the one in use."""
        promoted = [one for one in self.events if one.state == "promoted"]
        means = [world.means(one.votes - 1) for one in promoted]
        return sum(mean[one.winner] <= mean[one.champion] + 1e-9 for one, mean in zip(promoted, means, strict=True))


def reward(quality: Floats, never: Floats, feedback: float = FEEDBACK) -> Floats:
    """Return the mean reward of a request beyond never learning, from qualities by the vote (..., votes)."""
    return 2 * feedback * (quality - never).mean(axis=-1)


def gated(world: World, seed: int, *, votes: int = VOTES, every: int = EVALUATE_EVERY) -> Run:
    """Simulate the mode gated: one trial after another, and a watch over what was promoted."""
    chance, run = np.random.default_rng(seed), Run()
    queue, champion, number, at, doubted = list(world.queue), 0, 0, 0, False
    history, known = _History(), set(world.voices(chance, world.before).tolist())
    while at < votes:
        challenger = queue[0] if queue and not doubted else None
        number += challenger is not None
        trial = Trial(
            id=str(number),
            champion=champion,
            challenger=challenger,
            seed=str(seed),
            holdout=DOUBT_HOLDOUT if doubted else HOLDOUT,
            alpha=1.0 if challenger is None else alpha_of(number),
            prior_voices=0 if challenger is None else len(known),
            doubt=doubted,
        )
        cast, weights = _drawn(world, chance, trial, at, votes - at)
        looks = [*range(every, len(cast) + 1, every)]
        state, winner, ended = _ended(trial, cast, looks)
        alarm = history.alarm(cast, weights, champion, every) if champion and not doubted else None
        if alarm is not None and alarm < ended:
            state, winner, ended = "doubted", champion, alarm
        run.spans.append((at, at + ended, trial.shares))
        known |= set(cast.voices[:ended].tolist())
        at += ended
        in_use = champion if winner is None else winner
        if state != "going":
            run.events.append(Event(votes=at, state=state, champion=champion, winner=in_use))
        history = history.plus(cast, weights, ended) if state in ("going", "doubted", "stopped") else _History()
        if state == "promoted":
            history = _History().plus(cast, weights, ended)
        if trial.challenger is not None and state in ("promoted", "stopped"):
            queue.remove(trial.challenger)
        doubted, champion = state == "doubted", in_use
    return run


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _History:
    """Votes since the trial that promoted the champion began, or since it was cleared of a doubt."""

    values: Floats = field(default_factory=lambda: np.zeros(0))
    versions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    weights: Floats = field(default_factory=lambda: np.zeros(0))

    def plus(self, cast: Votes, weights: Floats, count: int) -> _History:
        return _History(
            values=np.concatenate([self.values, cast.values[:count]]),
            versions=np.concatenate([self.versions, cast.versions[:count]]),
            weights=np.concatenate([self.weights, weights[:count]]),
        )

    def alarm(self, cast: Votes, weights: Floats, champion: int, every: int) -> int | None:
        """Return the number of the new votes after which the champion is doubted."""
        whole = self.plus(cast, weights, len(cast))
        mine = np.isin(whole.versions, (0, champion))
        fallen, behind = suspicions(whole.values[mine], whole.versions[mine] == champion, whole.weights[mine])
        places = np.flatnonzero(mine)[np.maximum(fallen, behind) >= 1] - len(self.values) + 1
        places = places[places > 0]
        return -(-int(places[0]) // every) * every if len(places) else None


def _drawn(world: World, chance: np.random.Generator, trial: Trial, at: int, count: int) -> tuple[Votes, Floats]:
    """Draw votes under a trial, and return them with the inverse probability of each assignment."""
    names, shares = np.array(list(trial.shares), dtype=np.int64), np.array(list(trial.shares.values()))
    drawn = chance.choice(len(names), size=count, p=shares)
    voices = world.voices(chance, count)
    values = world.vote(chance, names[drawn], voices, np.arange(at, at + count), trial.champion)
    return Votes(voices=voices, versions=names[drawn], values=values, voice_count=world.users), 1 / shares[drawn]


def _ended(trial: Trial, cast: Votes, looks: Sequence[int]) -> tuple[str, int | None, int]:
    """Return state, winner and number of votes at the first look that ends the trial."""
    found = compare_arms(trial, cast, looks) if looks else None
    ends = np.flatnonzero(states(trial, found)) if found is not None else np.zeros(0, dtype=np.int64)
    if found is None or not len(ends):
        return "going", None, len(cast)
    first = int(ends[0])
    state = STATES[int(states(trial, found)[first])]
    return state, winner_of(trial, state), looks[first]
