"""Commands of learning: policy list, show, diff, explain, try, suggest, promote, rollback, replay."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.core.errors import Damaged, NotFound, UsageError
from ragstone.serve.cli import typed
from ragstone.serve.cli.options import DEFAULT_KB, Json, Kb, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.learning.log import Decision
    from ragstone.learning.policy import Policy

app = typer.Typer(help="Inspect what was learned from votes, try changes, roll back.", rich_markup_mode=None)
Version = Annotated[
    int, typer.Argument(metavar="VERSION", min=0, help="A version from policy list.", show_default=False)
]
Why = Annotated[
    str, typer.Option("--why", metavar="TEXT", help="Reason to store with the decision.", show_default=False)
]


@app.command("list")
def list_(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """List all versions; version 0 is the settings as configured."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import learning

    with opened(kb) as opened_kb:
        policies, now = opened_kb.learning.policies(), opened_kb.learning.report()
        changes = {one.version: opened_kb.learning.changes(one.version) for one in policies}
    if as_json:
        rows = [_as_json(one) | {"changes": list(changes[one.version])} for one in policies]
        screen.write_json({"in_use": now.champion, "policies": rows})
    else:
        screen.write(learning.versions(policies, changes, now))


@app.command()
def show(version: Version, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Show the choices of a version, its parent and its evidence."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import learning

    with opened(kb) as opened_kb:
        policy = _find(opened_kb.learning.policies(), version)
        changes, now = opened_kb.learning.changes(version), opened_kb.learning.report()
    screen.show(_as_json(policy) | {"changes": list(changes)}, learning.version(policy, changes, now), as_json=as_json)


@app.command()
def diff(a: Version, b: Version, kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Show the choices that differ between two versions."""
    from ragstone.learning.policy import diff as differences
    from ragstone.serve.cli import screen
    from ragstone.serve.views import learning

    with opened(kb) as opened_kb:
        policies = opened_kb.learning.policies()
    found = differences(_find(policies, a), _find(policies, b))
    screen.show({"differences": [asdict(one) for one in found]}, learning.differences(found, a, b), as_json=as_json)


@app.command()
def explain(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Show the version in use and the current trial. Also shows its evidence, and past decisions with their reasons."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import learning

    with opened(kb) as opened_kb:
        now = opened_kb.learning.report()
    screen.show(asdict(now), learning.report(now), as_json=as_json)


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
        str,
        typer.Option(
            "--kind", metavar="KIND", help="Apply the change only to questions of this kind.", show_default=False
        ),
    ] = "",
    why: Why = "",
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Start a trial of your own change. It answers a part of the questions until votes decide."""
    from ragstone.learning.policy import Choices

    named = Choices(**dict(_choice(one) for one in choices))
    with opened(kb) as opened_kb:
        _show_decision(opened_kb.learning.start_trial({typed.text(kind): named}, typed.text(why)), as_json)


@app.command()
def suggest(
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS.csv", help="Questions and their sources, as for eval run.")
    ],
    begin: Annotated[bool, typer.Option("--try", help="Start a trial of the suggestion.")] = False,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Suggest a change from questions with known answers. The change does no worse on them."""
    import asyncio

    from ragstone.engine.experiments.golden import suggest as look
    from ragstone.serve.cli import screen
    from ragstone.serve.views import learning

    with opened(kb) as opened_kb:
        suggestion = asyncio.run(look(opened_kb, questions))
        if not as_json:
            screen.write(learning.suggestion(suggestion))
        if begin and suggestion.proposal is not None:
            _show_decision(
                opened_kb.learning.start_trial(suggestion.proposal.by_kind, f"suggested by {questions.name}"), as_json
            )
        elif as_json:
            screen.write_json(asdict(suggestion))


@app.command()
def promote(version: Version, why: Why = "", kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Put a version into use, even without evidence. Ragstone watches it for drift, and you can roll it back."""
    with opened(kb) as opened_kb:
        _show_decision(opened_kb.learning.promote(version, typed.text(why)), as_json)


@app.command()
def rollback(
    version: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", min=0, help="Default: the parent of the version in use."),
    ] = None,
    why: Why = "",
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Go back to an earlier version, or end the current trial. Takes effect with the next question."""
    with opened(kb) as opened_kb:
        _show_decision(opened_kb.learning.rollback(version, typed.text(why)), as_json)


@app.command()
def replay(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Repeat every decision from the log, to check it. Compares each one byte for byte with the logged one."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import learning

    with opened(kb) as opened_kb:
        found = opened_kb.learning.replay()
    screen.show(asdict(found), learning.replayed(found), as_json=as_json)
    if found.different:
        raise Damaged("some decisions do not follow from the log; check it for damage: ragstone doctor")


def _show_decision(decision: Decision, as_json: bool) -> None:
    from ragstone.serve.cli import screen
    from ragstone.serve.views import learning

    screen.show(asdict(decision), learning.decision(decision), as_json=as_json)


def _find(policies: Sequence[Policy], version: int) -> Policy:
    for one in policies:
        if one.version == version:
            return one
    raise NotFound(f"there is no policy {version}; list them: ragstone policy list")


def _as_json(policy: Policy) -> dict[str, Any]:
    """Return a version as JSON without the seed of the draws."""
    from ragstone.learning.log import SEED

    values = asdict(policy)
    values["evidence"] = {name: value for name, value in policy.evidence.items() if name != SEED}
    return values


def _choice(text: str) -> tuple[str, Any]:
    """Parse ``NAME=VALUE``.

    Raises:
        UsageError: there is no such choice, or the value does not fit it.
    """
    from ragstone.learning.policy import NAMES

    name, _, value = (part.strip() for part in text.partition("="))
    if name not in NAMES:
        raise UsageError(f"there is no choice '{name}'; use one of {', '.join(NAMES)}")
    try:
        match name:
            case "rerank":
                return name, {"true": True, "false": False}[value.lower()]
            case "top_k":
                return name, int(value)
            case _:
                return name, float(value)
    except (ValueError, KeyError) as error:
        expected = "true or false" if name == "rerank" else "a number"
        raise UsageError(f"{name} takes {expected}, not '{value}'") from error
