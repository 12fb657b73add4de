"""Commands for a knowledge base as a whole: status, settings, rebuild, doctor, backup, restore."""

from __future__ import annotations

import asyncio
import dataclasses
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.serve.cli.options import DEFAULT_KB, Asked, Json, Kb, Wait, opened, with_chunk_settings, with_settings

if TYPE_CHECKING:
    from ragstone.engine.status import OtherVersion

Mend = Annotated[bool, typer.Option("--mend", help="Rebuild everything that the remaining data allows.")]


def status(kb: Kb = DEFAULT_KB, as_json: Json = False) -> None:
    """Show the content of the knowledge base and the skipped files."""
    from ragstone.serve.cli import advice, screen
    from ragstone.serve.views import state

    with opened(kb) as opened_kb:
        now = opened_kb.status()
    screen.show(asdict(now), advice.named(state.status(now), kb), as_json=as_json)


@with_settings
def settings(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    leaves: Annotated[bool, typer.Option("--leaves", help="List what would be sent to which services.")] = False,
    as_json: Json = False,
) -> None:
    """List every setting with its value and origin."""
    from ragstone.serve.cli import screen
    from ragstone.serve.cli.in_force import in_force
    from ragstone.serve.views import state

    current = in_force(kb, asked.overrides, asked.preset)
    if leaves:
        listed = {"leaves": [asdict(one) for one in current.leaves]}
        screen.show(listed, state.leaves(current.leaves), as_json=as_json)
        return
    screen.show(asdict(current), state.settings(current), as_json=as_json)


def presets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Also show what replaces another system.")] = None,
    as_json: Json = False,
) -> None:
    """Show the built-in presets. Says what they are, what they need, and what replaces their parts here."""
    from ragstone.serve.cli import screen
    from ragstone.serve.views import state
    from ragstone.settings.load import describe_preset, preset_names
    from ragstone.settings.moving import moves

    shown = [describe_preset(one) for one in ([name] if name else preset_names())]
    move = moves()[name] if name else None
    told = {"presets": [asdict(one) for one in shown]} | (
        {"moving": [asdict(row) for row in move.rows]} if move else {}
    )
    screen.show(told, state.presets(shown, move), as_json=as_json)


@with_chunk_settings
def rebuild(
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    compare: Annotated[
        Path | None, typer.Option(metavar="DATASET", help="Compare on judged questions instead of the latest ones.")
    ] = None,
    no_switch: Annotated[bool, typer.Option("--no-switch", help="Build and compare only.")] = False,
    switch: Annotated[bool, typer.Option("--switch", help="Switch to the version that --no-switch built.")] = False,
    revert: Annotated[bool, typer.Option("--revert", help="Switch back to the previous version.")] = False,
    drop_previous: Annotated[
        bool, typer.Option("--drop-previous", help="Remove the previous version to free its space.")
    ] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Chunk and embed all documents again with other settings.

    Builds a new version, compares it with the one in use, and switches to it. Queries and additions continue meanwhile.
    An interrupted rebuild continues where it stopped.
    """
    from ragstone.core.errors import SettingsError, UsageError
    from ragstone.engine.comparison import compare as compare_versions
    from ragstone.serve.cli import advice, screen
    from ragstone.serve.views import measured, stored
    from ragstone.serve.views.blocks import line

    flags = {"--no-switch": no_switch, "--switch": switch, "--revert": revert, "--drop-previous": drop_previous}
    given = [name for name, wanted in flags.items() if wanted]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} cannot be combined")
    builds = not given or no_switch
    if not builds and (asked.overrides or asked.preset or compare):
        raise UsageError(f"{given[0]} takes neither settings nor --compare")
    comparison = None
    with opened(kb, asked, as_built=True, wait=wait) as opened_kb:
        if drop_previous:
            freed = opened_kb.versions.drop_previous()
            screen.show({"freed_mb": freed}, [line(f"{freed:,.2f} MB freed")], as_json=as_json)
            return
        with screen.progress() as on_progress:
            if switch:
                report = asyncio.run(opened_kb.versions.switch(on_progress))
            elif revert:
                report = asyncio.run(opened_kb.versions.revert(on_progress))
            else:
                build = opened_kb.versions.rebuild(
                    asked.overrides, preset=asked.preset, on_progress=on_progress, switch=False
                )
                report = asyncio.run(build)
        if builds:
            try:
                with screen.spinner("comparing") as update:
                    comparison = asyncio.run(compare_versions(opened_kb, compare, update))
            except SettingsError as error:  # such as a missing key that the version in use needs
                if compare is not None:
                    raise
                screen.write_error(f"the two versions were not compared: {error}")
            if not as_json:
                screen.write(stored.ingested(report, str(kb)))
                screen.write(measured.versions(comparison) if comparison else [])
        if not given:
            rest = asyncio.run(opened_kb.versions.rebuild(asked.overrides, preset=asked.preset))
            report = report.plus(rest) if rest.added + rest.updated + rest.removed else report
        others: dict[str, OtherVersion] = {one.role: one for one in opened_kb.status().others}
    if as_json:
        out = asdict(report) | {"comparison": asdict(comparison) if comparison else None, "switched": not no_switch}
        screen.write_json(out | {"others": [asdict(one) for one in others.values()]})
        return
    if not builds:
        screen.write(stored.ingested(report, str(kb)))
    if no_switch:
        ready = [line("the new version is ready; switch to it with: ragstone rebuild --switch")]
        screen.write(advice.named(ready, kb))
    elif "previous" in others:
        size = f"{others['previous'].megabytes:,.2f} MB"
        screen.write([line(f"switched; --revert restores the previous version, --drop-previous frees its {size}")])


def doctor(kb: Kb = DEFAULT_KB, mend: Mend = False, wait: Wait = 0.0, as_json: Json = False) -> None:
    """Check all stored data against its checksums.

    Reports each problem with its remedy. --mend rebuilds indexes and vectors and deletes leftovers. The exit code is 1
    if a problem remains.
    """
    from ragstone.catalog.lock import Patience
    from ragstone.engine.doctor import doctor
    from ragstone.serve.cli import advice, screen
    from ragstone.serve.views import state

    health = doctor(kb, mend=mend, patience=Patience(wait, screen.write_error))
    findings = (dataclasses.replace(one, remedy=advice.naming(one.remedy, kb)) for one in health.findings)
    health = dataclasses.replace(health, findings=tuple(findings))
    screen.show(asdict(health) | {"well": health.well}, advice.named(state.health(health), kb), as_json=as_json)
    if not health.well:
        raise typer.Exit(1)


def backup(
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="A new folder.", show_default=False)],
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Copy the knowledge base into a new folder, and check the copy.

    Queries and additions continue meanwhile. The copy includes uploaded files.
    """
    from ragstone.engine.backup import backup
    from ragstone.serve.cli import screen
    from ragstone.serve.views import state

    copied = backup(kb, destination)
    screen.show(asdict(copied), state.copied(copied), as_json=as_json)


def restore(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder that backup wrote.", show_default=False)],
    kb: Kb = DEFAULT_KB,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the existing knowledge base.")] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Check a backup and restore it.

    Replaces an existing knowledge base only with --replace.
    """
    from ragstone.catalog.lock import Patience
    from ragstone.engine.backup import restore
    from ragstone.serve.cli import screen
    from ragstone.serve.views import state

    copied = restore(source, kb, replace=replace, patience=Patience(wait, screen.write_error))
    screen.show(asdict(copied), state.copied(copied), as_json=as_json)
