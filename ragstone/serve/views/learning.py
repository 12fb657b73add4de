"""Learning as text: versions, the current trial, decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragstone.core.printable import one_line
from ragstone.engine.experiments.golden import Suggestion
from ragstone.learning.learner import ReplayReport
from ragstone.learning.log import SEED, Decision
from ragstone.learning.policy import NAMES, ChoiceDifference, Policy
from ragstone.learning.proposals import MIN_QUESTIONS
from ragstone.learning.report import MIN_ARM_VOTES, ArmReport, DecisionReport, LearningReport, shown
from ragstone.serve.views.blocks import Block, Line, Table, count, line, moment, table

MAX_DECISIONS = 12
"""Decisions that explain shows."""
MAX_LISTED = 200
"""Decisions of a table."""
QUIET = ("went on", "watched", "waited")
"""Actions that changed nothing."""
ARMS = ("version", "", "share", "questions", "votes", "liked", "difference", "evidence", "needs", "changes")
"""Columns of the arms of a trial."""
AS_CONFIGURED = "the settings as configured"


def versions(
    policies: Sequence[Policy], changes: Mapping[int, tuple[str, ...]], now: LearningReport
) -> Iterator[Block]:
    """Yield a table of all versions, their parents and their changes."""
    rows: list[tuple[str, ...]] = []
    for one in policies:
        parent = "" if one.parent is None else str(one.parent)
        changed = "; ".join(changes[one.version]) or "none"
        rows.append((str(one.version), parent, moment(one.at) if one.at else "", _role(one.version, now), changed))
    yield table(("version", "from", "made (UTC)", "", "changes to the settings"), rows)


def version(policy: Policy, changes: Sequence[str], now: LearningReport) -> Iterator[Block]:
    """Yield a version with its evidence and the decisions about it."""
    role = _role(policy.version, now)
    yield line((f"version {policy.version}", "bold"), f", {role}" if role else "")
    if policy.parent is not None:
        yield line(f"made from version {policy.parent}, {moment(policy.at)}", indent=2)
    for change in changes or [AS_CONFIGURED]:
        yield line(change, indent=2)
    for name, value in policy.evidence.items():
        if name != SEED:
            yield line(one_line(str(value)), indent=2, head=(f"{one_line(name)}: ", "dim"))
    for change in now.moments:
        if change.action not in QUIET and (
            change.champion == policy.version or f"version {policy.version} " in change.why
        ):
            yield _decision(change)


def differences(found: Sequence[ChoiceDifference], a: int, b: int) -> Iterator[Block]:
    """Yield a table of the choices that differ between two versions."""
    if not found:
        yield line(f"versions {a} and {b} make the same choices")
        return
    rows = [(one.name, one.kind or "all others", shown(one.a), shown(one.b)) for one in found]
    yield table(("choice", "questions", f"version {a}", f"version {b}"), rows)


def suggestion(suggested: Suggestion) -> Iterator[Block]:
    """Yield the suggestion of questions with known answers."""
    if suggested.proposal is None:
        asked = count(suggested.questions, "question")
        yield line(f"nothing to try: on {asked} and past votes, no small change is better and certainly no worse")
        if suggested.questions < MIN_QUESTIONS:
            yield line(f"fewer than {MIN_QUESTIONS} questions prove nothing", indent=2)
        return
    figures = suggested.proposal.figures
    kind = f" for questions of kind {one_line(figures['kind'])}" if figures["kind"] else ""
    changed = ", ".join(f"{name} {shown(figures[name])}" for name in NAMES if name in figures)
    yield line((f"{changed}{kind} deserves a trial", "bold"))
    yield line(
        f"on {count(int(figures['questions']), 'question')}, the mean reciprocal rank changes by"
        f" {figures['difference']:+.3f}"
        f" (at least {figures['low']:+.3f})",
        indent=2,
    )


def report(now: LearningReport) -> Iterator[Block]:
    """Yield the state of learning."""
    yield line(("in use: ", "dim"), (f"version {now.champion}", "bold"), f"; learning.mode is {now.mode}")
    for item in now.changes or [AS_CONFIGURED]:
        yield line(item, indent=2)
    waits = f"; next evaluation after {now.next_in} more" if now.mode != "off" else ""
    yield line(f"votes counted: {now.votes:,}{waits}")
    if now.trial:
        yield line()
        yield line((now.trial, "bold"), f": {one_line(now.why)}")
        yield arms(now.arms, indent=2)
    else:
        yield line(one_line(now.why))
    for caution in now.cautions:
        yield line(one_line(caution), head=("note: ", "yellow"))
    if now.trouble:
        yield line(one_line(now.trouble), head=("the last evaluation failed: ", "yellow"))
    done = [one for one in now.moments if one.action not in QUIET]
    if done:
        yield line()
        yield line(("Decisions", "bold"), " (newest first)")
        for item in done[: -MAX_DECISIONS - 1 : -1]:
            yield _decision(item)
        if len(done) > MAX_DECISIONS:
            yield line((f"and {len(done) - MAX_DECISIONS} earlier; --json shows all", "dim"), indent=2)


def arms(found: Sequence[ArmReport], *, indent: int = 0) -> Table:
    """Return a table of the arms of a trial."""
    return table(ARMS, map(_figures, found), numbers=range(2, len(ARMS) - 1), indent=indent)


def proofs(found: Sequence[ArmReport]) -> list[str]:
    """Return a sentence for each challenger on the distance of its evidence from the bar."""
    return [_proof(one) for one in found if one.role == "challenger"]


def decisions(found: Sequence[DecisionReport]) -> Table:
    """Return a table of decisions, newest first."""
    rows = [
        (moment(one.at), one.action, one.why, f"{one.votes:,}", f"version {one.champion}")
        for one in found[: -MAX_LISTED - 1 : -1]
    ]
    return table(("when (UTC)", "action", "why", "votes", "in use afterwards"), rows, numbers=(3,))


def _proof(reported: ArmReport) -> str:
    arm = reported.arm
    if arm.evidence is None or arm.bar is None:
        return f"Version {arm.version}: no evidence yet."
    start = f"Version {arm.version}: the evidence is {arm.evidence:.3g}, the bar {arm.bar:.3g}; 1 means no evidence."
    if reported.few:
        return f"{start} There are too few votes to estimate how many more it needs."
    if arm.needs is None:
        return f"{start} At this rate the trial ends first."
    return f"{start} At this rate it needs about {float(f'{arm.needs:.2g}'):,.0f} more votes."


def _figures(reported: ArmReport) -> tuple[str, ...]:
    """Return an arm in the columns of `ARMS`; few votes are shown as counts, without a difference."""
    arm = reported.arm
    liked = "" if arm.ups is None else f"{arm.ups:.0%}"
    if arm.ups is not None and arm.votes < MIN_ARM_VOTES:
        liked = f"{round(arm.ups * arm.votes)} of {arm.votes}"
    difference = ""
    if arm.difference is not None and arm.low is not None and arm.high is not None:
        difference = f"{arm.difference:+.0%} ({arm.low:+.0%} to {arm.high:+.0%})"
    elif reported.few:
        difference = "too few votes"
    evidence = "" if arm.evidence is None or arm.bar is None else f"{arm.evidence:.3g} of {arm.bar:.3g}"
    needs = "" if arm.evidence is None else "?" if arm.needs is None else f"{arm.needs:,}"
    counts = (f"{arm.share:.0%}", f"{arm.requests:,}", f"{arm.votes:,}", liked)
    return str(arm.version), reported.role, *counts, difference, evidence, needs, "; ".join(reported.changes) or "none"


def decision(one: Decision) -> Iterator[Block]:
    """Yield the decision just made."""
    yield line(f"{one.action}: {one_line(one.why)}; version {one.champion} is in use")


def replayed(replay: ReplayReport) -> Iterator[Block]:
    """Yield the result of a replay."""
    if not replay.decisions:
        yield line("no decisions yet")
    elif not replay.different:
        yield line(f"every decision follows from the log, byte for byte: {replay.decisions:,} of {replay.decisions:,}")
    else:
        named = ", ".join(map(str, replay.different))
        yield line(f"{len(replay.different)} of {replay.decisions:,} decisions do not follow from the log: {named}")
        if replay.others:
            yield line(f"another version of Ragstone made {replay.others} of these", indent=2)


def _decision(one: DecisionReport) -> Line:
    text = f"{one.action}: {one_line(one.why)}; {count(one.votes, 'vote')}, version {one.champion} in use"
    return line(text, indent=2, head=(f"{moment(one.at)}  ", "dim"))


def _role(version: int, now: LearningReport) -> str:
    if version == now.champion:
        return "in use"
    return next((one.role for one in now.arms if one.arm.version == version), "")
