"""Decisions: what follows from the log at one moment.

`decide` is a pure function: the same log, rules and moment give the same bytes, so a replay proves every decision. It
takes one step at a time. A trial that is over ends with one decision, and the next trial begins with the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from ragstone.core.frozen import frozen
from ragstone.learning import calibration
from ragstone.learning.calibration import propose_confidence, with_confidence
from ragstone.learning.drift import check_drift
from ragstone.learning.eager import propose_step
from ragstone.learning.log import Decision, LearningLog, Position
from ragstone.learning.policy import Choices, Policy, canonical_json
from ragstone.learning.proposals import Proposal, propose_challenger, replay_cases
from ragstone.learning.trial import ALPHA, HOLDOUT, MAX_VOTES, TRIM, Trial, TrialResult, alpha_of, evaluate

CODE = 2
"""Version of this code. Raise it when the same log would lead to another decision."""
FIRST = 0
"""The version without choices: every setting stays as configured."""
DOUBT_HOLDOUT = 0.5
SEARCH_FROM = 100
"""Votes from which the learner looks for a change to try.

A trial takes thousands, so a few people should not start one.
"""
SEARCH_AGAIN = 1.1
"""Growth of the number of votes after which it looks again."""
CALIBRATE_AGAIN = 2
"""Growth of the number of votes after which the confidence is calibrated again; each time may err."""
NEWEST = 5000
"""Votes that are read: older votes say less about today and cost as much to read."""
_CALIBRATED = "the new confidence predicts held-out votes better; no answer changes"


@frozen
class Transition:
    """A decision with the policies and the trial that it adds to the log."""

    decision: Decision
    policies: tuple[Policy, ...] = ()
    trial: Trial | None = None


def rules_of(mode: str, base: Choices) -> dict[str, Any]:
    """Return the rules of a decision, which are stored with it: mode, constants, choices of the settings, code."""
    rules = {"mode": mode, "holdout": HOLDOUT, "alpha": ALPHA, "trim": TRIM, "most": MAX_VOTES}
    return rules | {"base": asdict(base), "code": CODE}


def decide(log: LearningLog, before: Decision, upto: Position, rules: Mapping[str, Any], at: float) -> Transition:
    """Return what follows from the log.

    Args:
        log: the log; nothing after ``upto`` is read.
        before: the latest decision.
        upto: position up to which the log is read.
        rules: the result of `rules_of`, with what a person asks for.
        at: the moment in seconds since 1970.
    """
    base = replace(
        before, number=0, at=at, position=upto, rules=rules, figures={}, action="waited", why="nothing is on trial"
    )
    if "by_hand" in rules:
        base = replace(base, action=rules["action"], why=rules["why"] or "requested by hand", watched_from=upto)
        return _put_in_use(log, base, rules["by_hand"])
    if "to_try" in rules:
        return _begin(log, base, Policy.from_json(rules["to_try"]))
    if rules["mode"] == "eager":
        return _step(log, before, base)
    trial = log.trial(before.trial)
    if rules["mode"] == "shadow" and trial and trial.challenger is not None:
        return Transition(decision=replace(base, action="went on", why="shadow mode: the challenger answers nothing"))
    champion = trial.champion if trial else before.champion
    if champion != FIRST and not (trial and trial.doubt):
        holdout = trial.holdout if trial else rules["holdout"]
        check = check_drift(champion, log.outcomes(upto, after=before.watched_from), holdout=holdout)
        base = replace(base, action="watched", why=check.why, figures={"watch": asdict(check)})
        if check.doubtful:
            return _start_trial(log, replace(base, action="doubted"), doubt=True)
    return _evaluate(log, base, trial) if trial and trial.decides else _propose(log, base)


def _evaluate(log: LearningLog, base: Decision, trial: Trial) -> Transition:
    """Decide on the current trial."""
    result = evaluate(trial, log.outcomes(base.position, trial=base.trial, after=base.trial_from))
    made = replace(base, why=result.why, figures={**base.figures, "verdict": asdict(result)})
    match result.state:
        case "promoted":
            assert result.winner is not None, "a promotion has a winner"
            return _promote(log, replace(made, action="promoted", watched_from=base.trial_from), result.winner)
        case "rolled back":
            return _put_in_use(log, replace(made, action="rolled back", watched_from=made.position), FIRST)
        case "kept":
            return _put_in_use(log, replace(made, action="kept", watched_from=made.position), base.champion)
        case "stopped":
            # Votes before a stand-in took over are on another confidence.
            watched_from = made.position if base.stand_ins else base.watched_from
            return _put_in_use(log, replace(made, action="stopped", watched_from=watched_from), base.champion)
        case "going":
            made, found = _calibrate(log, replace(made, action="went on"))
            return _stand_in(log, made, trial, found) if found else Transition(decision=made)


def _promote(log: LearningLog, decision: Decision, winner: int) -> Transition:
    """Put the winner of a trial into use, or the version that stands in for it."""
    answering = decision.answering(winner)
    if answering != winner:
        why = f"{decision.why}; version {answering} stands in for it, with a better calibrated confidence"
        decision = replace(decision, why=why, watched_from=decision.position)
    return _put_in_use(log, decision, answering)


def _stand_in(log: LearningLog, decision: Decision, trial: Trial, proposal: Proposal) -> Transition:
    """Replace each arm of a trial by a version with a better calibrated confidence; the trial goes on.

    No answer changes, so the votes on the versions on trial also count for their stand-ins.
    """
    champion, new, stand_ins = log.policy(decision.champion), list[Policy](), dict(decision.stand_ins)
    decision = replace(decision, action="weighed", why=_CALIBRATED)
    arms = [trial.champion] if trial.challenger is None else [trial.champion, trial.challenger]
    for arm in arms:
        now = log.policy(decision.answering(arm))
        by_kind = with_confidence(now, champion, proposal)
        new.append(_version(decision, now, replace(proposal, by_kind=by_kind)))
        decision = replace(decision, versions=new[-1].version)
        stand_ins[str(arm)] = new[-1].version
    figures = {**decision.figures, "proposed": dict(proposal.figures)}
    in_use = stand_ins[str(trial.champion)]
    decision = replace(decision, champion=in_use, stand_ins=stand_ins, figures=figures)
    return Transition(decision=decision, policies=tuple(new))


def _propose(log: LearningLog, base: Decision) -> Transition:
    """Look for a better calibrated confidence to adopt, or else for a change to try."""
    base, proposal = _calibrate(log, base)
    champion, votes = log.policy(base.champion), base.position.votes
    if proposal:
        return _adopt(log, replace(base, action="weighed", why=_CALIBRATED), champion, proposal)
    if votes < max(SEARCH_FROM, SEARCH_AGAIN * base.searched_at):
        return Transition(decision=base)
    base = replace(base, searched_at=votes)
    tried = [one for one in log.policies() if one.version <= base.versions]
    voted, choices = log.voted_on(base.position, NEWEST), Choices(**base.rules["base"])
    on_web = [vote for _, vote in voted] if base.rules["code"] > 1 else []  # the first code left the web as it was
    proposal = propose_challenger(champion, choices, replay_cases(voted), tried, on_web)
    if proposal is None:
        return Transition(decision=base)
    made = _begin(log, base, _version(base, champion, proposal))
    return replace(made, decision=replace(made.decision, figures={**base.figures, "replayed": dict(proposal.figures)}))


def _calibrate(log: LearningLog, base: Decision) -> tuple[Decision, Proposal | None]:
    """Look for a better calibrated confidence if it is due; return the decision and what was found."""
    if base.position.votes < max(calibration.MIN_VOTES, CALIBRATE_AGAIN * base.calibrated_at):
        return base, None
    votes = [vote for _, vote in log.voted_on(base.position, NEWEST)]
    found = propose_confidence(log.policy(base.champion), Choices(**base.rules["base"]), votes)
    base = replace(base, calibrated_at=base.position.votes)
    return base, found if base.rules["mode"] == "gated" else None


def _step(log: LearningLog, before: Decision, base: Decision) -> Transition:
    """Take a small step after the votes since the last decision, without proof."""
    votes = log.votes(base.position, since=before.at)
    new = [vote for some in votes.values() for vote in some if vote.at > before.at]
    champion, choices = log.policy(base.champion), Choices(**base.rules["base"])
    proposal = propose_step(champion, choices, new, before.figures.get("step", {}))
    if proposal is None:
        return Transition(decision=replace(base, why=f"{len(new)} votes point nowhere"))
    why = f"a small step after {len(new)} votes, without proof"
    decision = replace(base, action="stepped", why=why, figures={"step": dict(proposal.figures)})
    return _adopt(log, decision, champion, proposal)


def _adopt(log: LearningLog, decision: Decision, champion: Policy, found: Proposal) -> Transition:
    """Put a proposal into use as a new version."""
    new = _version(decision, champion, found)
    figures = {**decision.figures, "proposed": dict(found.figures)}
    decision = replace(decision, versions=new.version, watched_from=decision.position, figures=figures)
    return replace(_put_in_use(log, decision, new.version), policies=(new,))


def _version(decision: Decision, champion: Policy, proposal: Proposal) -> Policy:
    evidence = {
        "decision": decision.action,
        "votes": decision.position.votes,
        "figures": canonical_json(dict(proposal.figures)),
    }
    return Policy(
        version=decision.versions + 1,
        parent=champion.version,
        at=decision.at,
        by_kind=dict(proposal.by_kind),
        evidence=evidence,
    )


def _put_in_use(log: LearningLog, decision: Decision, version: int) -> Transition:
    """Put a version into use without a challenger; every version but the first is watched for drift."""
    decision = replace(decision, champion=version)
    if version == FIRST:
        return Transition(decision=replace(decision, trial=0, trial_from=decision.position, stand_ins={}))
    return _start_trial(log, decision)


def _begin(log: LearningLog, decision: Decision, challenger: Policy) -> Transition:
    """Begin a trial of a new version."""
    why = f"version {challenger.version} on trial against version {decision.champion}"
    made = _start_trial(log, replace(decision, action="began", why=why), challenger.version)
    newest = max(decision.versions, challenger.version)
    return replace(made, decision=replace(made.decision, versions=newest), policies=(challenger,))


def _start_trial(
    log: LearningLog, decision: Decision, challenger: int | None = None, *, doubt: bool = False
) -> Transition:
    """Start a trial of a challenger, of a champion in doubt, or one that only watches the champion."""
    number, rules, has_challenger = decision.trials + 1, decision.rules, challenger is not None
    before = sum(one.challenger is not None for at, one in log.trials().items() if at < number)
    contest = before + 1 if has_challenger else max(1, before)
    trial = Trial(
        id=f"{'trial' if has_challenger else 'doubt' if doubt else 'watch'} {number}",
        number=contest,
        champion=decision.champion,
        challenger=challenger,
        holdout=DOUBT_HOLDOUT if doubt else rules["holdout"],
        seed=log.voice(f"trial {number}"),  # derived from the seed of the log, so that a replay draws the same
        alpha=alpha_of(contest, rules["alpha"]),
        trim=rules["trim"],
        max_votes=rules["most"],
        prior_voices=log.count_voices(decision.position, NEWEST) if has_challenger else 0,
        doubt=doubt,
        began=decision.at,
    )
    decision = replace(decision, trial=number, trials=number, trial_from=decision.position, stand_ins={})
    return Transition(decision=decision, trial=trial)


def reproduces(made: Transition, log: LearningLog, decision: Decision) -> bool:
    """Return whether a decision made again equals the logged one byte for byte, with all that it added."""
    if made.decision.to_json() != decision.to_json():
        return False
    if any(one.to_json() != log.policy(one.version).to_json() for one in made.policies):
        return False
    return made.trial is None or made.trial == log.trial(decision.trial)


def current_result(log: LearningLog, latest: Decision, upto: Position) -> TrialResult | None:
    """Return what the current trial shows at this moment; None if there is no trial."""
    trial = log.trial(latest.trial)
    return evaluate(trial, log.outcomes(upto, trial=latest.trial, after=latest.trial_from)) if trial else None
