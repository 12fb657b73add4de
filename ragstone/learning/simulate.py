"""Years of votes in a moment: how learning would fare with users like these.

Only votes are drawn: a request that nobody votes on changes nothing but the clock. What a learner is judged by is not
the votes, which may be bought, but how good the answers were: the expected reward of a request, up 1, down -1, no vote
0, had every vote been honest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragstone.learning.ballots import Ballots
from ragstone.learning.drift import suspicions
from ragstone.learning.eprocess import Floats
from ragstone.learning.ruling import STATES
from ragstone.learning.trial import HOLDOUT, Trial, compared, ruled, spent, winning

USERS = 40
FEEDBACK = 0.2
"""Share of the answers that are voted on."""
EVERY = 5
"""Votes from one look at the evidence to the next."""
VOTES = 4000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """Users, questions and policies.

    Args:
        up: the probability of an honest vote up (questions, policies); the first policy is version 0.
        later: the same from ``turns`` votes on, where the world changes.
        turns: after how many votes it does.
        users: how many there are.
        colluders: of them, those who know the policies and vote for whatever is not in use, against what is.
        rush: how many times as often as another a colluder votes.
        skew: how unevenly the others vote: the n-th of them ``n ** -skew`` times as often as the first.
        before: votes that came before the first trial began.
        random: share of the votes that mean nothing.
        feedback: share of the answers that are voted on.
        queue: policies to try, the most promising first.
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
        """How good each policy is after so many votes (policies,), as a share of honest votes that are up."""
        is_later = self.later is not None and votes >= self.turns
        return (self.later if is_later and self.later is not None else self.up).mean(axis=0)

    @property
    def paces(self) -> Floats:
        """The share of the votes that each user gives (users,), the colluders first."""
        others = np.arange(1.0, self.users - self.colluders + 1) ** -self.skew
        paces = np.append(np.full(self.colluders, self.rush * (others.mean() if len(others) else 1.0)), others)
        return paces / paces.sum()

    def voices(self, chance: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Who gives so many votes."""
        return chance.choice(self.users, size=count, p=self.paces)

    def vote(
        self,
        chance: np.random.Generator,
        versions: NDArray[np.int64],
        voices: NDArray[np.int64],
        at: NDArray[np.int64] | int,
        champion: int,
    ) -> Floats:
        """Votes, 1 or -1, on answers of these versions (n,); ``at`` is how many came before each."""
        questions = chance.integers(len(self.up), size=len(versions))
        ups = self.up[questions, versions]
        if self.later is not None:
            ups = np.where(np.asarray(at) >= self.turns, self.later[questions, versions], ups)
        ups = np.where(chance.random(len(versions)) < self.random, 0.5, ups)
        ups = np.where(voices < self.colluders, versions != champion, ups)
        return np.where(chance.random(len(versions)) < ups, 1.0, -1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A trial ended so, after so many votes; ``champion`` was in use, ``winner`` is from now on."""

    votes: int
    state: str
    champion: int
    winner: int


@dataclass(slots=True, kw_only=True)
class Run:
    """What became of a world: the ``shares`` of the versions from vote to vote, and what was decided."""

    spans: list[tuple[int, int, dict[int, float]]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def champion(self, votes: int) -> int:
        """The version in use after so many votes."""
        return next((event.winner for event in reversed(self.events) if event.votes <= votes), 0)

    def quality(self, world: World) -> Floats:
        """The share of honest votes up of the versions that answered, by the vote (votes,)."""
        out = np.zeros(self.spans[-1][1] if self.spans else 0)
        for start, end, shares in self.spans:
            turn = min(max(world.turns, start), end)
            for first, last in ((start, turn), (turn, end)):
                means = world.means(first)
                out[first:last] = sum(share * means[version] for version, share in shares.items())
        return out

    def wrong(self, world: World) -> int:
        """Promotions of what was no better than what was in use."""
        promoted = [one for one in self.events if one.state == "promoted"]
        means = [world.means(one.votes - 1) for one in promoted]
        return sum(mean[one.winner] <= mean[one.champion] + 1e-9 for one, mean in zip(promoted, means, strict=True))


def reward(quality: Floats, never: Floats, feedback: float = FEEDBACK) -> Floats:
    """Mean reward of a request beyond that of never learning, from shares of votes up by the vote (..., votes)."""
    return 2 * feedback * (quality - never).mean(axis=-1)


def gated(world: World, seed: int, *, votes: int = VOTES, every: int = EVERY, at_once: int = 1) -> Run:
    """Learning as Ragstone does it: trials one after another, and a watch over what was promoted."""
    chance, run = np.random.default_rng(seed), Run()
    queue, champion, number, at, doubted = list(world.queue), 0, 0, 0, False
    seen, known = _Seen(), set(world.voices(chance, world.before).tolist())
    while at < votes:
        rivals = () if doubted else tuple(queue[:at_once])
        number += bool(rivals)
        trial = Trial(
            id=str(number),
            champion=champion,
            challengers=rivals,
            seed=str(seed),
            holdout=0.5 if doubted else HOLDOUT,
            alpha=spent(number) if rivals else 1.0,
            voices=len(known) if rivals else 0,
            doubt=doubted,
        )
        cast, weights = _drawn(world, chance, trial, at, votes - at)
        looks = [*range(every, len(cast) + 1, every)]
        state, winner, ended = _ended(trial, cast, looks)
        watched = seen.alarm(cast, weights, champion, every) if champion and not doubted else None
        if watched is not None and watched < ended:
            state, winner, ended = "doubted", champion, watched
        run.spans.append((at, at + ended, trial.shares))
        known |= set(cast.voices[:ended].tolist())
        at += ended
        if state != "going":
            left = champion if winner is None else winner
            run.events.append(Event(votes=at, state=state, champion=champion, winner=left))
        seen = seen.plus(cast, weights, ended) if state in ("going", "doubted", "stopped") else _Seen()
        if state == "promoted":
            seen = _Seen().plus(cast, weights, ended)
        if state in ("promoted", "stopped"):
            queue = [one for one in queue if one not in (rivals if state == "stopped" else (winner,))]
        doubted = state == "doubted"
        champion = champion if winner is None else winner
    return run


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Seen:
    """Votes since the trial that promoted the champion began, or since a doubt of it ended."""

    votes: Floats = field(default_factory=lambda: np.zeros(0))
    versions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    weights: Floats = field(default_factory=lambda: np.zeros(0))

    def plus(self, cast: Ballots, weights: Floats, count: int) -> _Seen:
        return _Seen(
            votes=np.concatenate([self.votes, cast.votes[:count]]),
            versions=np.concatenate([self.versions, cast.versions[:count]]),
            weights=np.concatenate([self.weights, weights[:count]]),
        )

    def alarm(self, cast: Ballots, weights: Floats, champion: int, every: int) -> int | None:
        """After how many of the votes now cast the champion is doubted."""
        whole = self.plus(cast, weights, len(cast))
        mine = np.isin(whole.versions, (0, champion))
        fallen, behind = suspicions(whole.votes[mine], whole.versions[mine] == champion, whole.weights[mine])
        places = np.flatnonzero(mine)[np.maximum(fallen, behind) >= 1] - len(self.votes) + 1
        places = places[places > 0]
        return -(-int(places[0]) // every) * every if len(places) else None


def _drawn(world: World, chance: np.random.Generator, trial: Trial, at: int, count: int) -> tuple[Ballots, Floats]:
    """So many votes under a trial, and one by the probability of each assignment."""
    names, shares = np.array(list(trial.shares), dtype=np.int64), np.array(list(trial.shares.values()))
    drawn = chance.choice(len(names), size=count, p=shares)
    voices = world.voices(chance, count)
    votes = world.vote(chance, names[drawn], voices, np.arange(at, at + count), trial.champion)
    return Ballots(voices=voices, versions=names[drawn], votes=votes, users=world.users), 1 / shares[drawn]


def _ended(trial: Trial, cast: Ballots, looks: Sequence[int]) -> tuple[str, int | None, int]:
    """State, winner, and after how many votes, at the first look at which it is not to go on."""
    found = compared(trial, cast, looks) if looks else {}
    if not found:
        return "going", None, len(cast)
    states = ruled(trial, found)
    ends = np.flatnonzero(states)
    if not len(ends):
        return "going", None, len(cast)
    state = STATES[states[ends[0]]]
    return state, winning(state, found, int(ends[0])), looks[ends[0]]
