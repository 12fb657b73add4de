"""How it stands with learning, for people to look at: what is in use, what is tried, what the evidence is so far."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from ragstone.learning.ballots import needed
from ragstone.learning.policy import NAMES, Choices, Policy
from ragstone.learning.ruling import MOST_IN_DOUBT
from ragstone.learning.trial import Arm, Trial, Verdict
from ragstone.policies.deciding import verdict_now
from ragstone.policies.governed import as_set
from ragstone.policies.learner import Learner
from ragstone.policies.log import Decision
from ragstone.sections import Settings

FEW = 100
"""Votes below which a difference means little to the eye, whatever it is."""
ENOUGH = 30
"""Votes on an arm below which its difference is not told: how many votes each arm happens to have would decide it."""
_SUPPOSED, _VOICES = 0.1, 40
"""An advantage in shares of up, and how many voices at least, for which it is told what a proof takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The evidence for a challenger at one moment of a trial; it is promoted at ``bar``."""

    trial: str
    version: int
    evidence: float
    bar: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A decision: what was done and why, the version in use from then on, and the evidence it was made on."""

    number: int
    at: float
    action: str
    why: str
    champion: int
    votes: int
    points: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTrial:
    """An arm of a trial: its role, what it changes in the settings as they are, and its figures.

    ``few``: it is compared with the version in use, and one of them has too few votes for a difference to be told.
    What decides a doubt is no evidence against a bar, so an arm has none there.
    """

    role: str
    changes: tuple[str, ...]
    arm: Arm
    few: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """How it stands.

    ``champion`` is the version in use, and ``changes`` what it changes in the settings as they are. ``trial`` names
    what is under way, ``why`` says how far it is. ``votes`` are all that were counted; after ``next_in`` more of them
    it is decided anew. ``cautions`` say what the figures do not show; ``trouble``, why the last evaluation failed.
    """

    mode: str
    champion: int
    changes: tuple[str, ...] = ()
    trial: str = ""
    why: str = ""
    votes: int = 0
    next_in: int = 0
    arms: tuple[OnTrial, ...] = ()
    moments: tuple[Moment, ...] = ()
    cautions: tuple[str, ...] = ()
    trouble: str = ""


def learned(learner: Learner, settings: Settings) -> Learned:
    """How it stands now.

    Raises:
        KnowledgeBaseError: the log cannot be read.
    """
    log, base = learner.log, as_set(settings)
    decisions, upto = log.decisions(), log.position()
    last = decisions[-1] if decisions else Decision()
    trial, verdict = log.trial(last.trial), verdict_now(log, last, upto)
    arms = (
        [_on_trial(arm, trial, verdict, changes(log.policy(last.answering(arm.version)), base)) for arm in verdict.arms]
        if verdict and trial
        else []
    )
    doubts = {one.id for one in log.trials().values() if one.doubt}
    waiting = settings.learning.every - (upto.votes - last.log.votes)
    return Learned(
        mode=learner.mode,
        champion=last.champion,
        changes=changes(log.policy(last.champion), base),
        trial=trial.id if trial else "",
        why=_why(trial, verdict.why if verdict else "", last),
        votes=upto.votes,
        next_in=max(0, waiting),
        arms=tuple(arms),
        moments=tuple(_moment(one, doubts) for one in decisions),
        cautions=(*_cautions(learner, trial, arms, verdict.voices if verdict else 0), *_stand_ins(last)),
        trouble=str(learner.trouble or ""),
    )


def changes(policy: Policy, base: Choices) -> tuple[str, ...]:
    """What a version changes in the settings as they are, a line each: ``top_k 5 -> 8 (how_to)``."""
    lines = []
    for kind, chosen in sorted(policy.by_kind.items()):
        for name in NAMES:
            value, now = getattr(chosen, name), getattr(base, name)
            if value is not None and value != now:
                lines.append(f"{name} {shown(now)} -> {shown(value)}{f' ({kind})' if kind else ''}")
    return tuple(lines)


def shown(value: float | bool | None) -> str:
    """A choice as it is written; None: as the settings say."""
    if value is None:
        return "as set"
    return str(value).lower() if isinstance(value, bool) else f"{value:.4g}"


def _on_trial(arm: Arm, trial: Trial, verdict: Verdict, changes: tuple[str, ...]) -> OnTrial:
    """An arm, without the figures that mean nothing."""
    base = next(one.votes for one in verdict.arms if one.version == trial.champion)
    rivals = (0,) if trial.doubt else trial.challengers
    few = arm.version in rivals and min(arm.votes, base) < ENOUGH
    if few:
        arm = replace(arm, difference=None, low=None, high=None, needs=None)
    if trial.doubt:
        arm = replace(arm, evidence=None, bar=None, needs=None)
    return OnTrial(role=_role(arm, trial), changes=changes, arm=arm, few=few)


def _role(arm: Arm, trial: Trial) -> str:
    if arm.version == trial.champion:
        return "in use"
    return "challenger" if arm.version in trial.challengers else "holdout"


def _why(trial: Trial | None, why: str, last: Decision) -> str:
    if trial is None:
        return last.why or "nothing has been decided yet"
    if trial.challengers or trial.doubt:
        return why
    return f"version {trial.champion} is watched beside version 0: {last.why}"


def _moment(one: Decision, doubts: Container[str]) -> Moment:
    """A decision, and the evidence it was made on; in a doubt there is none, other figures decide it."""
    verdict = one.figures.get("verdict", {"trial": "", "arms": ()})
    points = (
        Point(trial=verdict["trial"], version=arm["version"], evidence=arm["evidence"], bar=arm["bar"])
        for arm in verdict["arms"]
        if arm["evidence"] is not None and verdict["trial"] not in doubts
    )
    return Moment(
        number=one.number,
        at=one.at,
        action=one.action,
        why=one.why,
        champion=one.champion,
        votes=one.log.votes,
        points=tuple(points),
    )


def _cautions(learner: Learner, trial: Trial | None, arms: Sequence[OnTrial], voices: int) -> list[str]:
    """What whoever reads the figures should know."""
    out = []
    if not learner.is_on:
        named = ", ".join(learner.overruled)
        why = f"this command sets {named}" if named else "learning.mode is off, or no answers are kept"
        out.append(f"nothing is learned or applied: {why}")
    if learner.mode == "shadow":
        out.append("shadow: what is drawn is written down, and the version in use answers; so nothing can be promoted")
    if learner.mode == "eager":
        out.append(
            "eager: five opinions are mostly chance; simulated, such steps end below where they began in 55 of 100 runs"
            " (docs/learning.md)"
        )
    if not trial or not arms:
        return out
    votes = sum(one.arm.votes for one in arms)
    if votes < FEW:
        out.append(f"{votes} votes are few: a difference that looks large now may well be chance")
    if trial.trim and 0 < voices < 1 / trial.trim:
        out.append(f"{voices} voices are few: the evidence must do without the most influential of them")
    if trial.doubt:
        out.append(
            f"a doubt ends when one side is nineteen times as likely as the other, and after {MOST_IN_DOUBT:,} votes"
            " whichever way it leans"
        )
    challengers = [one for one in arms if one.role == "challenger"]
    if challengers and all(one.few for one in challengers):
        out.append(_takes(trial, challengers[0].arm, max(voices, _VOICES)))
    elif challengers and all(one.arm.needs is None for one in challengers):
        out.append("as it goes, no challenger would be promoted before the votes of this trial are spent")
    return out


def _stand_ins(last: Decision) -> list[str]:
    """Which versions answer in place of those on trial."""
    named = [f"version {by} answers in place of version {version}" for version, by in sorted(last.stands.items())]
    return [f"{', '.join(named)}: they differ only in how sure answers are said to be"] if named else []


def _takes(trial: Trial, arm: Arm, voices: int) -> str:
    """What a proof would take, told where nothing can be said of the challenger itself."""
    alpha = trial.alpha / len(trial.challengers)
    base = trial.shares[trial.champion]
    votes = needed(_SUPPOSED, new=arm.share, old=base, users=voices, trim=trial.trim, alpha=alpha)
    return (
        f"below {ENOUGH} votes on an arm no difference is told; to prove a true one of {100 * _SUPPOSED:.0f} points"
        f" takes about {round(votes, -2):,.0f} votes of {voices} voices"
    )
