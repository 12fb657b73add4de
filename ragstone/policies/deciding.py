"""What follows from the log of learning at one moment: the same log, rules and moment give the same bytes.

One step at a time: a trial that is over ends with this decision, and the next one begins with the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragstone.learning import weights
from ragstone.learning.drift import watch
from ragstone.learning.policy import Choices, Policy, canonical, from_json, to_json
from ragstone.learning.trial import Trial, Verdict, spent, weigh
from ragstone.policies import proposing
from ragstone.policies.log import Decision, Policies, Position
from ragstone.policies.proposing import Proposal
from ragstone.sections import LearningSettings

CODE = 4
"""Of what decides, here and in `learning`: raised where the same log would lead to another decision."""
FIRST = 0
"""The version that chooses nothing: everything is as the settings say."""
HALF = 0.5
TO_TRY = 100
"""Votes from which on a change is looked for that deserves a trial: it will cost thousands, so it is not to be the
whim of a few; and how sure answers may be said to be is looked at before."""
MORE = 1.1
"""Times the votes of the last look, from which on it is looked again."""
_SURER = "a confidence that foretells votes held out better than the one in use does; no answer changes by it"
NEWEST = 5000
"""Votes that are looked at: what was liked years ago says less of today, and costs as much to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A decision, and what it brings: new versions, and a new trial."""

    decision: Decision
    policies: tuple[Policy, ...] = ()
    trial: Trial | None = None


def rules_of(settings: LearningSettings, base: Choices) -> dict[str, Any]:
    """What a decision is made by, to be kept with it: the settings, what they choose themselves, and the code."""
    told = settings.model_dump(include={"mode", "holdout", "alpha", "trim", "most"})
    return told | {"base": asdict(base), "code": CODE}


def decide(log: Policies, before: Decision, upto: Position, rules: Mapping[str, Any], at: float) -> Made:
    """What follows from the log.

    Args:
        log: of which nothing behind ``upto`` is read.
        before: the last decision.
        upto: how far the log is read.
        rules: as `rules_of` gave them.
        at: the moment, in seconds since 1970.
    """
    base = replace(before, number=0, at=at, log=upto, rules=rules, figures={}, action="waited", why="nothing is tried")
    if "by_hand" in rules:
        return _by_hand(log, base)
    if "to_try" in rules:
        return begin(log, base, (from_json(rules["to_try"]),))
    if rules["mode"] == "eager":
        return _stepped(log, before, base)
    trial = log.trial(before.trial)
    if rules["mode"] == "shadow" and trial and trial.challengers:
        return Made(decision=replace(base, action="went on", why="in shadow: what is on trial answers nothing"))
    watched = trial.champion if trial else before.champion
    if watched != FIRST and not (trial and trial.doubt):
        holdout = trial.holdout if trial else rules["holdout"]
        seen = watch(watched, log.outcomes(upto, after=before.since), holdout=holdout)
        base = replace(base, action="watched", why=seen.why, figures={"watch": asdict(seen)})
        if seen.doubtful:
            return _begun(log, replace(base, action="doubted"), doubt=True)
    if trial and (trial.challengers or trial.doubt):
        return _weighed(log, base, trial)
    return _proposed(log, base)


def _weighed(log: Policies, base: Decision, trial: Trial) -> Made:
    verdict = weigh(trial, log.outcomes(base.log, trial=base.trial, after=base.began))
    made = replace(base, why=verdict.why, figures={**base.figures, "verdict": asdict(verdict)})
    match verdict.state:
        case "promoted":
            assert verdict.winner is not None, "what was promoted has a version"
            return _promoted(log, replace(made, action="promoted", since=base.began), verdict.winner)
        case "rolled back":
            return _in_use(log, replace(made, action="rolled back", since=made.log), FIRST)
        case "kept":
            return _in_use(log, replace(made, action="kept", since=made.log), base.champion)
        case "stopped":
            since = made.log if base.stands else base.since  # the votes before were on another number
            return _in_use(log, replace(made, action="stopped", since=since), base.champion)
        case "going":
            made, found = _surer(log, replace(made, action="went on"))
            return _stood_in(log, made, trial, found) if found else Made(decision=made)


def _promoted(log: Policies, decision: Decision, winner: int) -> Made:
    """The decision, with the winner of a trial in use, or what answers in its place."""
    stands = decision.answering(winner)
    if stands != winner:
        why = f"{decision.why}; version {stands} is the same, and says better how sure it is"
        decision = replace(decision, why=why, since=decision.log)
    return _in_use(log, decision, stands)


def _stood_in(log: Policies, decision: Decision, trial: Trial, found: Proposal) -> Made:
    """The decision, with a confidence that foretells votes better in every arm of a trial, which goes on.

    No answer changes by it, so what the votes say of the versions on trial holds of those that answer in their place.
    """
    champion, new, stands = log.policy(decision.champion), list[Policy](), dict(decision.stands)
    decision = replace(decision, action="weighed", why=_SURER)
    for arm in (trial.champion, *trial.challengers):
        now = log.policy(decision.answering(arm))
        by_kind = proposing.as_sure(now, champion, found)
        new.append(_version(decision, now, replace(found, by_kind=by_kind)))
        decision = replace(decision, versions=new[-1].version)
        stands[str(arm)] = new[-1].version
    figures = {**decision.figures, "proposed": dict(found.figures)}
    in_use = stands[str(trial.champion)]
    return Made(decision=replace(decision, champion=in_use, stands=stands, figures=figures), policies=tuple(new))


def _proposed(log: Policies, base: Decision) -> Made:
    """What the votes suggest, where nothing is tried: a confidence that foretells them better, or else a trial."""
    base, found = _surer(log, base)
    champion, said = log.policy(base.champion), base.log.votes
    if found:
        return _adopted(log, replace(base, action="weighed", why=_SURER), champion, found)
    if said < max(TO_TRY, MORE * base.looked):
        return Made(decision=base)
    base = replace(base, looked=said)
    tried = [one for one in log.all() if one.version <= base.versions]
    known, chosen = proposing.known_by(log.voted(base.log, NEWEST)), Choices(**base.rules["base"])
    found = proposing.challenger(champion, chosen, known, tried)
    if found is None:
        return Made(decision=base)
    made = begin(log, base, (_version(base, champion, found),))
    return replace(made, decision=replace(made.decision, figures={**base.figures, "replayed": dict(found.figures)}))


def _surer(log: Policies, base: Decision) -> tuple[Decision, Proposal | None]:
    """The decision that also looks, where that is due, for a confidence that foretells votes better; and what it found.

    That is seldom, for each look may err.
    """
    if base.log.votes < max(weights.FEWEST, 2 * base.weighed):
        return base, None
    voted = [vote for _, vote in log.voted(base.log, NEWEST)]
    found = proposing.weights(log.policy(base.champion), Choices(**base.rules["base"]), voted)
    return replace(base, weighed=base.log.votes), found if base.rules["mode"] == "gated" else None


def _stepped(log: Policies, before: Decision, base: Decision) -> Made:
    """A small step by the votes since the last decision, proved or not."""
    voted = log.votes(base.log, since=before.at)
    new = [vote for votes in voted.values() for vote in votes if vote.at > before.at]
    champion, chosen = log.policy(base.champion), Choices(**base.rules["base"])
    found = proposing.step(champion, chosen, new, before.figures.get("step", {}))
    if found is None:
        return Made(decision=replace(base, why=f"{len(new)} votes point nowhere"))
    why = f"a step by {len(new)} votes, which prove nothing"
    decision = replace(base, action="stepped", why=why, figures={"step": dict(found.figures)})
    return _adopted(log, decision, champion, found)


def _adopted(log: Policies, decision: Decision, champion: Policy, found: Proposal) -> Made:
    """The decision, with what was proposed as a new version in use."""
    new = _version(decision, champion, found)
    figures = {**decision.figures, "proposed": dict(found.figures)}
    made = _in_use(log, replace(decision, versions=new.version, since=decision.log, figures=figures), new.version)
    return replace(made, policies=(new,))


def _version(decision: Decision, champion: Policy, found: Proposal) -> Policy:
    evidence = {"decision": decision.action, "votes": decision.log.votes, "figures": canonical(dict(found.figures))}
    return Policy(
        version=decision.versions + 1,
        parent=champion.version,
        at=decision.at,
        by_kind=dict(found.by_kind),
        evidence=evidence,
    )


def _by_hand(log: Policies, base: Decision) -> Made:
    why = base.rules["why"] or "somebody wanted it so"
    return _in_use(log, replace(base, action=base.rules["action"], why=why, since=base.log), base.rules["by_hand"])


def _in_use(log: Policies, decision: Decision, version: int) -> Made:
    """The decision, with a version in use from now on, and no challengers; it is watched beside version 0."""
    decision = replace(decision, champion=version)
    if version == FIRST:
        return Made(decision=replace(decision, trial=0, began=decision.log, stands={}))
    return _begun(log, decision)


def begin(log: Policies, decision: Decision, challengers: tuple[Policy, ...]) -> Made:
    """The decision, with a trial of new versions that begins now."""
    versions = tuple(one.version for one in challengers)
    named = " and ".join(f"version {one}" for one in versions)
    why = f"{named} on trial against version {decision.champion}"
    made = _begun(log, replace(decision, action="began", why=why), versions)
    newest = max([decision.versions, *versions])
    return replace(made, decision=replace(made.decision, versions=newest), policies=challengers)


def _begun(log: Policies, decision: Decision, challengers: tuple[int, ...] = (), *, doubt: bool = False) -> Made:
    """The decision, with a trial that begins now: of challengers, of a doubt, or of nothing but the version in use."""
    number, rules = decision.trials + 1, decision.rules
    before = sum(bool(one.challengers) for at, one in log.trials().items() if at < number)
    contest = before + 1 if challengers else max(1, before)
    trial = Trial(
        id=f"{'trial' if challengers else 'doubt' if doubt else 'watch'} {number}",
        number=contest,
        champion=decision.champion,
        challengers=challengers,
        holdout=HALF if doubt else rules["holdout"],
        seed=log.voice(f"trial {number}"),  # drawn from the knowledge base's own, so that a replay draws the same
        alpha=spent(contest, rules["alpha"]),
        trim=rules["trim"],
        most=rules["most"],
        voices=log.voices(decision.log, NEWEST) if challengers else 0,
        doubt=doubt,
        began=decision.at,
    )
    return Made(decision=replace(decision, trial=number, trials=number, began=decision.log, stands={}), trial=trial)


def same(made: Made, log: Policies, decision: Decision) -> bool:
    """Whether a decision and all it brought are, byte for byte, what was made again."""
    if made.decision.to_json() != decision.to_json():
        return False
    if any(to_json(one) != to_json(log.policy(one.version)) for one in made.policies):
        return False
    return made.trial is None or made.trial == log.trial(decision.trial)


def verdict_now(log: Policies, last: Decision, upto: Position) -> Verdict | None:
    """What the trial under way shows at this moment, whatever was decided; nothing where there is none."""
    trial = log.trial(last.trial)
    return weigh(trial, log.outcomes(upto, trial=last.trial, after=last.began)) if trial else None
