"""The report on learning for people: the version in use, the current trial, the evidence so far, past decisions."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from ragstone.core.frozen import frozen
from ragstone.learning.decisions import current_result
from ragstone.learning.evidence import votes_needed
from ragstone.learning.learner import EVALUATE_EVERY, Learner
from ragstone.learning.log import Decision
from ragstone.learning.policy import Choices, Policy, choices_of
from ragstone.learning.trial import MAX_DOUBT_VOTES, Arm, Trial, TrialResult

FEW_VOTES = 100
"""Votes of a trial below which every difference may be chance."""
MIN_ARM_VOTES = 30
"""Votes on an arm below which its difference is not shown: it would depend on the number of votes of each arm."""
_ACTIONS = {"weighed": "calibrated"}
"""Names for people of actions whose stored names cannot change."""
_EXAMPLE_DIFFERENCE = 0.1
_EXAMPLE_VOICES = 40


@frozen
class EvidencePoint:
    """The evidence for a challenger at one decision; it is promoted at ``bar``."""

    trial: str
    version: int
    evidence: float
    bar: float


@frozen
class DecisionReport:
    """A decision: what was done and why, the version in use from then on, and the evidence."""

    number: int
    at: float
    action: str
    why: str
    champion: int
    votes: int
    points: tuple[EvidencePoint, ...] = ()


@frozen
class ArmReport:
    """An arm of a trial: its role, its changes to the settings, its figures.

    ``few`` says that it or the version in use has too few votes to show a difference. The evidence of a doubt has no
    bar, so it is not shown.
    """

    role: str
    changes: tuple[str, ...]
    arm: Arm
    few: bool = False


@frozen
class LearningReport:
    """The state of learning.

    Args:
        mode: the mode in effect.
        champion: the version in use.
        changes: its changes to the settings.
        trial: name of the current trial.
        why: its progress.
        votes: votes counted.
        next_in: votes until the next evaluation.
        arms: the arms of the trial.
        moments: all decisions.
        cautions: the limits of the figures.
        trouble: why the last evaluation failed.
    """

    mode: str
    champion: int
    changes: tuple[str, ...] = ()
    trial: str = ""
    why: str = ""
    votes: int = 0
    next_in: int = 0
    arms: tuple[ArmReport, ...] = ()
    moments: tuple[DecisionReport, ...] = ()
    cautions: tuple[str, ...] = ()
    trouble: str = ""


def report(learner: Learner) -> LearningReport:
    """Return the state of learning at this moment.

    Raises:
        KnowledgeBaseError: the log cannot be read.
    """
    log, base = learner.log, choices_of(learner.settings)
    decisions, upto = log.decisions(), log.position()
    latest = decisions[-1] if decisions else Decision()
    trial, result = log.trial(latest.trial), current_result(log, latest, upto)
    arms: list[ArmReport] = []
    if trial and result:
        in_use = next(one.votes for one in result.arms if one.version == trial.champion)
        policies = {arm.version: log.policy(latest.answering(arm.version)) for arm in result.arms}
        arms = [_arm(arm, trial, in_use, changes(policies[arm.version], base)) for arm in result.arms]
    doubts = {one.id for one in log.trials().values() if one.doubt}
    return LearningReport(
        mode=learner.mode,
        champion=latest.champion,
        changes=changes(log.policy(latest.champion), base),
        trial=trial.id if trial else "",
        why=_why(trial, result, latest),
        votes=upto.votes,
        next_in=max(0, EVALUATE_EVERY - (upto.votes - latest.position.votes)),
        arms=tuple(arms),
        moments=tuple(_decision(one, doubts) for one in decisions),
        cautions=(*_mode_cautions(learner), *_trial_cautions(trial, result, arms), *_stand_ins(latest)),
        trouble=str(learner.last_error or ""),
    )


def changes(policy: Policy, base: Choices) -> tuple[str, ...]:
    """Return the changes of a version to the settings, one line each: ``top_k 5 -> 8 (how_to)``."""
    lines: list[str] = []
    for kind, choices in sorted(policy.by_kind.items()):
        for name, value in choices.given().items():
            if value != (now := getattr(base, name)):
                lines.append(f"{name} {shown(now)} -> {shown(value)}{f' ({kind})' if kind else ''}")
    return tuple(lines)


def shown(value: float | bool | None) -> str:
    """Return a choice as text; None means that the settings decide."""
    if value is None:
        return "as set"
    return str(value).lower() if isinstance(value, bool) else f"{value:.4g}"


def _arm(arm: Arm, trial: Trial, in_use: int, changes: tuple[str, ...]) -> ArmReport:
    """Return an arm without the figures that mean nothing."""
    few = arm.version == trial.rival and min(arm.votes, in_use) < MIN_ARM_VOTES
    if few:
        arm = replace(arm, difference=None, low=None, high=None, needs=None)
    if trial.doubt:
        arm = replace(arm, evidence=None, bar=None, needs=None)
    roles = {trial.challenger: "challenger", trial.champion: "in use"}
    return ArmReport(role=roles.get(arm.version, "holdout"), changes=changes, arm=arm, few=few)


def _why(trial: Trial | None, result: TrialResult | None, latest: Decision) -> str:
    if trial is None or result is None:
        return latest.why or "no decision yet"
    return result.why if trial.decides else f"version {trial.champion} is being watched: {latest.why}"


def _decision(decision: Decision, doubts: Container[str]) -> DecisionReport:
    result = decision.figures.get("verdict", {"trial": "", "arms": ()})
    points = (
        EvidencePoint(trial=result["trial"], version=arm["version"], evidence=arm["evidence"], bar=arm["bar"])
        for arm in result["arms"]
        if arm["evidence"] is not None and result["trial"] not in doubts
    )
    return DecisionReport(
        number=decision.number,
        at=decision.at,
        action=_ACTIONS.get(decision.action, decision.action),
        why=decision.why,
        champion=decision.champion,
        votes=decision.position.votes,
        points=tuple(points),
    )


def _mode_cautions(learner: Learner) -> list[str]:
    if not learner.is_on:
        sets = f"this command sets {', '.join(learner.overridden)}"
        return [f"learning is off: {sets if learner.overridden else 'learning.mode is off, or answers are not kept'}"]
    match learner.mode:
        case "shadow":
            return ["shadow mode logs draws but the version in use answers every question, so nothing can be promoted"]
        case "eager":
            return [
                "eager mode: five votes are mostly chance; simulated, it ended below its start in 55 of 100 runs"
                " (docs/learning.md)"
            ]
        case _:
            return []


def _trial_cautions(trial: Trial | None, result: TrialResult | None, arms: list[ArmReport]) -> list[str]:
    if trial is None or result is None:
        return []
    out: list[str] = []
    votes, voices = sum(one.arm.votes for one in arms), result.voices
    if 0 < votes < FEW_VOTES:
        out.append(f"{votes} vote{'' if votes == 1 else 's'} so far: even a large difference may be chance")
    if trial.trim and 0 < voices < 1 / trial.trim:
        out.append(
            f"{voices} voter{'' if voices == 1 else 's'} so far: the evidence leaves out the most influential one"
        )
    if trial.doubt:
        out.append(f"a doubt ends when one side is nineteen times as likely, or after {MAX_DOUBT_VOTES:,} votes")
    challenger = next((one for one in arms if one.role == "challenger"), None)
    if challenger and challenger.few:
        out.append(_proof_size(trial, challenger.arm, max(voices, _EXAMPLE_VOICES)))
    elif challenger and challenger.arm.needs is None:
        out.append("at this rate the trial ends before the challenger is promoted")
    return out


def _proof_size(trial: Trial, arm: Arm, voices: int) -> str:
    """Return the size of a proof in words, for a trial whose own difference is not shown yet."""
    base = trial.shares[trial.champion]
    votes = votes_needed(
        _EXAMPLE_DIFFERENCE, new=arm.share, old=base, voices=voices, trim=trial.trim, alpha=trial.alpha
    )
    return (
        f"differences are shown from {MIN_ARM_VOTES} votes per arm; proving a true difference of"
        f" {100 * _EXAMPLE_DIFFERENCE:.0f} points takes about {round(votes, -2):,.0f} votes from {voices} voters"
    )


def _stand_ins(latest: Decision) -> list[str]:
    named = [f"version {by} stands in for version {version}" for version, by in sorted(latest.stand_ins.items())]
    return [f"{', '.join(named)}: the answers are the same, the confidence differs"] if named else []
