"""Commands of the engines that hold vectors and keywords: index use, index verify."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer

from ragstone.serve.options import DEFAULT_KB, Asked, Json, Kb, Wait, with_settings

app = typer.Typer(help="Take other engines into use, and compare them with the catalog.", rich_markup_mode=None)


@app.command()
@with_settings
def use(
    asked: Asked,
    vectors: Annotated[
        str, typer.Option(metavar="ENGINE", help="A value of index.vectors, such as qdrant.", show_default=False)
    ] = "",
    keywords: Annotated[
        str, typer.Option(metavar="ENGINE", help="A value of index.keywords, such as postgres.", show_default=False)
    ] = "",
    kb: Kb = DEFAULT_KB,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Fill other engines, and then ask them.

    Questions go on, by the engines before, until the others hold all that is stored. Every process that has the
    knowledge base open then changes to them, unless settings of its own name an engine. The way back is the same.
    """
    from ragstone.config import load
    from ragstone.errors import UsageError
    from ragstone.serve import failures, render_engines, screen

    engines = {leg: name for leg, name in (("vectors", vectors), ("keywords", keywords)) if name}
    if not engines:
        raise UsageError("name an engine: --vectors ENGINE, --keywords ENGINE, or both")
    with closing(asked.open(kb, wait=wait)) as engine:
        outside = engine.use(engines)
    explicit = load(asked.overrides, preset=asked.preset).explicit.get("index", {})
    for leg in engines.keys() & explicit.keys():
        if explicit[leg] != engines[leg]:
            failures.tell(
                f"index.{leg} is set to {explicit[leg]} here, which stands above for whoever has that setting"
            )
    if as_json:
        screen.write_json({"engines": engines, "outside": [asdict(one) for one in outside]})
    else:
        screen.write(render_engines.used(engines, outside))


@app.command()
@with_settings
def verify(
    asked: Asked,
    mend: Annotated[
        bool, typer.Option("--mend", help="Bring engines up, put what they lack, delete the rest.")
    ] = False,
    kb: Kb = DEFAULT_KB,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Compare the engines in use with the catalog, row by row.

    The exit code is 1 where they differ and that was not mended. Embedded indexes are no part of this: ragstone
    doctor looks at them, and at all else.
    """
    from ragstone.serve import render_engines, screen

    with closing(asked.open(kb, wait=wait)) as engine:
        found = engine.compare_engines(mend=mend)
        outside = engine.status().engines
    well = all(one.mended for one in found)
    if as_json:
        told = {"well": well, "outside": [asdict(one) for one in outside], "findings": [asdict(one) for one in found]}
        screen.write_json(told)
    else:
        screen.write(render_engines.compared(outside, found))
    if not well:
        raise typer.Exit(1)
