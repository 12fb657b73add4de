"""Commands that change what a knowledge base is built with, or forget what is kept beside it: rebuild, cache."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ragstone.serve.options import DEFAULT_KB, Asked, Json, Kb, Wait, open_kb, with_settings


@with_settings
def rebuild(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    compare: Annotated[
        Path | None, typer.Option(metavar="DATASET", help="Compare on judged questions, not on the latest ones.")
    ] = None,
    no_switch: Annotated[bool, typer.Option("--no-switch", help="Build and compare only.")] = False,
    switch: Annotated[bool, typer.Option("--switch", help="Take what --no-switch has built into use.")] = False,
    revert: Annotated[bool, typer.Option("--revert", help="Go back to the version before.")] = False,
    drop_previous: Annotated[
        bool, typer.Option("--drop-previous", help="Remove the version before, to free its space.")
    ] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Cut and embed all documents anew, with other settings.

    The new version is made beside the one in use, compared with it, and switched to. Questions are answered, and
    documents can be added, all the while. A rebuild that was stopped goes on where it was.
    """
    from ragstone.errors import UsageError
    from ragstone.keeping.comparison import compare as compared
    from ragstone.serve import render, screen

    wishes = {"--no-switch": no_switch, "--switch": switch, "--revert": revert, "--drop-previous": drop_previous}
    wished = [name for name, wanted in wishes.items() if wanted]
    if len(wished) > 1:
        raise UsageError(f"{' and '.join(wished)} cannot be had at once")
    alone = [name for name in wished if name != "--no-switch"]
    if alone and (asked.overrides or asked.preset or compare):
        raise UsageError(f"{alone[0]} takes neither settings nor --compare")
    comparison = None
    with closing(asked.open(kb, as_built=True, wait=wait)) as engine:
        if drop_previous:
            freed = engine.drop_previous()
            screen.write_json({"freed_mb": freed}) if as_json else screen.write([screen.line(f"{freed:,.2f} MB freed")])
            return
        with screen.progress() as told:
            if switch:
                report = asyncio.run(engine.switch(told))
            elif revert:
                report = asyncio.run(engine.revert(told))
            else:
                build = engine.rebuild(asked.overrides, preset=asked.preset, on_progress=told, switch=False)
                report = asyncio.run(build)
        if not alone:
            with screen.spinner("comparing") as tell:
                comparison = asyncio.run(compared(engine, compare, tell))
            if not as_json:
                screen.write(render.report(report, str(kb)))
                screen.write(render.comparison(comparison))
        if not alone and not no_switch:
            rest = asyncio.run(engine.rebuild(asked.overrides, preset=asked.preset))
            report = report.plus(rest) if rest.added + rest.updated + rest.removed else report
        others = {one.role: one for one in engine.status().others}
    if as_json:
        out = asdict(report) | {"comparison": asdict(comparison) if comparison else None, "switched": not no_switch}
        screen.write_json(out | {"others": [asdict(one) for one in others.values()]})
        return
    if alone:
        screen.write(render.report(report, str(kb)))
    if no_switch:
        screen.write([screen.line("the new version waits; ragstone rebuild --switch takes it into use")])
    elif "previous" in others:
        size = f"{others['previous'].megabytes:,.2f} MB"
        screen.write([screen.line(f"switched; --revert goes back to the version before, --drop-previous frees {size}")])


def cache(
    kb: Kb = DEFAULT_KB,
    clear: Annotated[bool, typer.Option("--clear", help="Forget it all, the latest questions too.")] = False,
    as_json: Json = False,
) -> None:
    """Say what is kept of earlier questions, and what it saved."""
    from ragstone.serve import render, screen

    with closing(open_kb(kb)) as engine:
        if clear:
            engine.clear_cache()
        now = engine.status().cache
    if as_json:
        screen.write_json({"cache": [asdict(one) for one in now]})
    else:
        screen.write(render.caches(now))
