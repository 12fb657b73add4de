"""What was learned, in words: versions, the trial under way, decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from ragstone.experiment.golden import Suggestion
from ragstone.learning.candidates import FEWEST
from ragstone.learning.policy import NAMES, Difference, Policy
from ragstone.policies.learner import Checked
from ragstone.policies.log import SEED, Decision
from ragstone.policies.standing import ENOUGH, Learned, Moment, OnTrial, shown
from ragstone.serve.render import table
from ragstone.serve.screen import Line, line, one_line

SHOWN = 12
"""Decisions that changed something, of which explain tells."""
QUIET = ("went on", "watched", "waited")
"""Actions that changed nothing."""
ARMS = ("version", "", "share", "asked", "opinions", "liked", "difference", "evidence", "needs", "changes")
"""Columns of the arms of a trial."""


def versions(policies: Sequence[Policy], changes: Mapping[int, tuple[str, ...]], now: Learned) -> Iterator[Line]:
    """Every version, where it comes from, and what it changes."""
    rows = [("version", "from", "made (UTC)", "", "changes in the settings")]
    for one in policies:
        parent = "" if one.parent is None else str(one.parent)
        state = _state(one.version, now)
        told = "; ".join(changes[one.version]) or "none"
        rows.append((str(one.version), parent, moment(one.at) if one.at else "", state, told))
    yield from table(rows)


def version(policy: Policy, changes: Sequence[str], now: Learned) -> Iterator[Line]:
    """One version, with the evidence it was made on."""
    state = _state(policy.version, now)
    yield line((f"version {policy.version}", "bold"), f", {state}" if state else "")
    if policy.parent is not None:
        yield line(f"made from version {policy.parent}, {moment(policy.at)}", indent=2)
    for one in changes or ["changes nothing in the settings as they are"]:
        yield line(one, indent=2)
    for name, value in policy.evidence.items():
        if name != SEED:
            yield line(one_line(str(value)), indent=2, head=(f"{one_line(name)}: ", "dim"))
    for one in now.moments:
        if one.action not in QUIET and (one.champion == policy.version or f"version {policy.version} " in one.why):
            yield _happened(one)


def differences(found: Sequence[Difference], a: int, b: int) -> Iterator[Line]:
    """What two versions choose differently."""
    if not found:
        yield line(f"versions {a} and {b} choose the same")
        return
    rows = [("choice", "questions", f"version {a}", f"version {b}")]
    rows += [(one.name, one.kind or "all others", shown(one.a), shown(one.b)) for one in found]
    yield from table(rows)


def suggestion(found: Suggestion) -> Iterator[Line]:
    """What questions with known answers speak for."""
    asked = f"{found.questions} question{'' if found.questions == 1 else 's'}"
    if found.proposal is None:
        yield line(f"nothing deserves a trial by {asked} and what was voted on: no small change is surely no worse")
        yield line("and better on the whole", indent=2)
        if found.questions < FEWEST:
            yield line(f"fewer than {FEWEST} questions say nothing", indent=2)
        return
    told = found.proposal.figures
    kind = f" for questions of kind {one_line(told['kind'])}" if told["kind"] else ""
    changed = ", ".join(f"{name} {shown(told[name])}" for name in NAMES if name in told)
    yield line((f"{changed}{kind} deserves a trial", "bold"))
    yield line(
        f"by {told['questions']} questions: one by the rank of the first right document is {told['difference']:+.3f},"
        f" and surely no worse than {told['low']:+.3f}",
        indent=2,
    )


def explained(now: Learned) -> Iterator[Line]:
    """How it stands with learning."""
    yield line(("in use: ", "dim"), (f"version {now.champion}", "bold"), f"; learning.mode is {now.mode}")
    for one in now.changes or ["the settings as they are"]:
        yield line(one, indent=2)
    waits = f"; decided anew after {now.next_in} more" if now.mode != "off" else ""
    yield line(f"opinions counted: {now.votes:,}{waits}")
    if now.trial:
        yield line()
        yield line((now.trial, "bold"), f": {one_line(now.why)}")
        yield from arms(now.arms)
    else:
        yield line(one_line(now.why))
    for caution in now.cautions:
        yield line(one_line(caution), head=("mind: ", "yellow"))
    if now.trouble:
        yield line(one_line(now.trouble), head=("the last evaluation failed: ", "yellow"))
    done = [one for one in now.moments if one.action not in QUIET]
    if done:
        yield line()
        yield line(("Decisions", "bold"), " (the last one first)")
        for one in done[: -SHOWN - 1 : -1]:
            yield _happened(one)
        if len(done) > SHOWN:
            yield line((f"and {len(done) - SHOWN} before; --json has all", "dim"), indent=2)


def arms(found: Sequence[OnTrial]) -> Iterator[Line]:
    """The arms of a trial with their figures."""
    yield from table([ARMS, *map(figures, found)], indent=2)


def figures(one: OnTrial) -> tuple[str, ...]:
    """An arm in the columns of `ARMS`; what so few votes do not tell is left out, and the votes themselves are told."""
    arm = one.arm
    liked = "" if arm.ups is None else f"{arm.ups:.0%}"
    if arm.ups is not None and arm.votes < ENOUGH:
        liked = f"{round(arm.ups * arm.votes)} of {arm.votes}"
    difference = ""
    if arm.difference is not None and arm.low is not None and arm.high is not None:
        difference = f"{arm.difference:+.0%} ({arm.low:+.0%} to {arm.high:+.0%})"
    elif one.few:
        difference = "too few to tell"
    evidence = "" if arm.evidence is None or arm.bar is None else f"{arm.evidence:.3g} of {arm.bar:.3g}"
    needs = "" if arm.evidence is None else "?" if arm.needs is None else f"{arm.needs:,}"
    counts = (f"{arm.share:.0%}", f"{arm.requests:,}", f"{arm.votes:,}", liked)
    return str(arm.version), one.role, *counts, difference, evidence, needs, "; ".join(one.changes) or "none"


def decision(one: Decision) -> Iterator[Line]:
    """What was just decided."""
    trial = " It is on trial from now on." if one.action == "began" else ""
    yield line(f"{one.action}: {one_line(one.why)}; version {one.champion} is in use.{trial}")


def checked(found: Checked) -> Iterator[Line]:
    """Whether every decision follows from the log."""
    if not found.decisions:
        yield line("nothing has been decided yet")
    elif not found.different:
        yield line(f"every decision follows from the log, byte for byte: {found.decisions:,} of {found.decisions:,}")
    else:
        named = ", ".join(map(str, found.different))
        yield line(f"{len(found.different)} of {found.decisions:,} decisions differ from what the log gives: {named}")
        if found.others:
            yield line(f"{found.others} of these were made by another version of Ragstone", indent=2)


def _happened(one: Moment) -> Line:
    told = f"{one.action}: {one_line(one.why)}; {one.votes:,} opinions, version {one.champion} in use"
    return line(told, indent=2, head=(f"{moment(one.at)}  ", "dim"))


def _state(version: int, now: Learned) -> str:
    if version == now.champion:
        return "in use"
    return next((one.role for one in now.arms if one.arm.version == version), "")


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
