"""Commands of what is learned: policy list, show, diff, explain, try, suggest, promote, rollback, replay."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ragstone.errors import Damaged, NotFound, UsageError
from ragstone.serve import typed
from ragstone.serve.options import DEFAULT_KB, Json, Kb, open_kb

app = typer.Typer(
    help="Look at what was learned from opinions of answers, try changes, take them back.", rich_markup_mode=None
)
Version = Annotated[int, typer.Argument(metavar="VERSION", min=0, help="As policy list names it.", show_default=False)]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="Kept with the decision.", show_default=False)]


@app.command("list")
def list_(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """List the versions of what was learned; 0 is the settings as they are."""
    from ragstone.serve import render_policy, screen

    with closing(open_kb(kb)) as engine:
        policies, now = engine.policies(), engine.learned()
        changes = {one.version: engine.policy_changes(one.version) for one in policies}
    if as_json:
        rows = [_shown(one) | {"changes": list(changes[one.version])} for one in policies]
        screen.write_json({"in_use": now.champion, "policies": rows})
    else:
        screen.write(render_policy.versions(policies, changes, now))


@app.command()
def show(version: Version, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Show a version: what it chooses, where it comes from, and on what evidence."""
    from ragstone.serve import render_policy, screen

    with closing(open_kb(kb)) as engine:
        policy = _found(engine.policies(), version)
        changes, now = engine.policy_changes(version), engine.learned()
    if as_json:
        screen.write_json(_shown(policy) | {"changes": list(changes)})
    else:
        screen.write(render_policy.version(policy, changes, now))


@app.command()
def diff(a: Version, b: Version, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Show what one version chooses otherwise than another."""
    from ragstone.learning.policy import diff as compared
    from ragstone.serve import render_policy, screen

    with closing(open_kb(kb)) as engine:
        policies = engine.policies()
    found = compared(_found(policies, a), _found(policies, b))
    if as_json:
        screen.write_json({"differences": [asdict(one) for one in found]})
    else:
        screen.write(render_policy.differences(found, a, b))


@app.command()
def explain(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Say what is in use, what is tried, how far the evidence is, and what was decided when and why."""
    from ragstone.serve import render_policy, screen

    with closing(open_kb(kb)) as engine:
        now = engine.learned()
    if as_json:
        screen.write_json(asdict(now))
    else:
        screen.write(render_policy.explained(now))


@app.command("try")
def try_(
    choices: Annotated[
        list[str],
        typer.Argument(
            metavar="CHOICE=VALUE...",
            help="web_threshold, relevance, factuality, completeness, retrieval_share, slope, shift, vector_weight,"
            " top_k or rerank.",
            show_default=False,
        ),
    ],
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="Only for questions of this kind.", show_default=False)
    ] = "",
    why: Why = "",
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Put a change of your own on trial: a part of the questions is answered under it, until opinions decide."""
    from ragstone.learning.policy import Choices

    named = Choices(**dict(_choice(one) for one in choices))
    with closing(open_kb(kb)) as engine:
        _tell(engine.try_out({typed.text(kind): named}, typed.text(why)), as_json)


@app.command()
def suggest(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS.csv", help="Questions and their sources, as for eval.")
    ],
    begin: Annotated[bool, typer.Option("--try", help="Put it on trial.")] = False,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Look for a change that does no worse on questions whose answers are known, and so deserves a trial."""
    import asyncio

    from ragstone.experiment.golden import suggest as look
    from ragstone.serve import render_policy, screen

    with closing(open_kb(kb)) as engine:
        found = asyncio.run(look(engine, questions))
        if not as_json:
            screen.write(render_policy.suggestion(found))
        if begin and found.proposal is not None:
            _tell(engine.try_out(found.proposal.by_kind, f"suggested by {questions.name}"), as_json)
        elif as_json:
            screen.write_json(asdict(found))


@app.command()
def promote(version: Version, why: Why = "", kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Take a version into use, whatever the evidence says. It is watched beside version 0, and can be taken back."""
    with closing(open_kb(kb)) as engine:
        _tell(engine.promote(version, typed.text(why)), as_json)


@app.command()
def rollback(
    version: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", min=0, help="The parent of the one in use, if not given."),
    ] = None,
    why: Why = "",
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Go back to an earlier version; the next question is answered under it. A trial that is under way ends."""
    with closing(open_kb(kb)) as engine:
        _tell(engine.rollback(version, typed.text(why)), as_json)


@app.command()
def replay(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Make every decision again from the log alone, and compare it byte for byte with what was written."""
    from ragstone.serve import render_policy, screen

    with closing(open_kb(kb)) as engine:
        checked = engine.check_decisions()
    if as_json:
        screen.write_json(asdict(checked))
    else:
        screen.write(render_policy.checked(checked))
    if checked.different:
        raise Damaged("not every decision follows from the log; ragstone doctor says whether the log is damaged")


def _tell(decision: Any, as_json: bool) -> None:
    from ragstone.serve import render_policy, screen

    if as_json:
        screen.write_json(asdict(decision))
    else:
        screen.write(render_policy.decision(decision))


def _found(policies: Any, version: int) -> Any:
    for one in policies:
        if one.version == version:
            return one
    raise NotFound(f"there is no policy {version}; list them: ragstone policy list")


def _shown(policy: Any) -> dict[str, Any]:
    """A version as JSON has it, without the key that what is drawn depends on."""
    told = asdict(policy)
    told["evidence"] = {name: value for name, value in told["evidence"].items() if name != "seed"}
    return told


def _choice(text: str) -> tuple[str, Any]:
    """A choice by name, and its value.

    Raises:
        UsageError: there is no such choice, or it has no such value.
    """
    from ragstone.learning.policy import NAMES

    name, _, value = (part.strip() for part in text.partition("="))
    if name not in NAMES:
        raise UsageError(f"'{name}' is nothing that can be chosen; that is {', '.join(NAMES)}")
    try:
        match name:
            case "rerank":
                return name, {"true": True, "false": False}[value.lower()]
            case "top_k":
                return name, int(value)
            case _:
                return name, float(value)
    except (ValueError, KeyError) as error:
        wanted = "true or false" if name == "rerank" else "a number"
        raise UsageError(f"{name} takes {wanted}, not '{value}'") from error
