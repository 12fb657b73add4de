"""The command: tries the presets named, or all, and prints a table of each and one line of JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import ROOT, Result, Table, data_folder, progress, write
from benchmarks.systems import companion, docs_site, knowledge_base, news, publications
from benchmarks.systems.feature import Room, Seen, System

SYSTEMS = tuple(module.SYSTEM for module in (knowledge_base, publications, docs_site, news, companion))
PAGE = ROOT / "docs" / "systems.md"
WORDS = {True: "yes", False: "NO", None: "not here"}


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.systems")
    names = [system.preset for system in SYSTEMS]
    parser.add_argument("presets", nargs="*", metavar="PRESET", help=f"of {', '.join(names)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="measure on less data")
    parser.add_argument("--only", metavar="WORD", default="", help="only features with this in their name")
    parser.add_argument("--write", action="store_true", help=f"write the tables to {PAGE.name}")
    given = parser.parse_args()
    for name in given.presets:
        if name not in names:
            parser.error(f"there is no preset {name}: {', '.join(names)}")
    if given.write and given.only:
        parser.error("--write needs all features of a preset, and --only leaves some out")
    figures: dict[str, dict[str, bool | None]] = {}
    for system in SYSTEMS:
        if given.presets and system.preset not in given.presets:
            continue
        rows = _tried(system, quick=given.quick, only=given.only)
        result = summary(system, rows)
        print(f"{result.plain()}\n", flush=True)
        figures[system.preset] = result.figures
        if given.write:
            flags = " --quick" if given.quick else ""
            write(PAGE, system.preset, result, f"python -m benchmarks.systems{flags} {system.preset}")
    print(json.dumps(figures))


def _tried(system: System, *, quick: bool, only: str) -> list[Seen]:
    rows: list[Seen] = []
    data = data_folder()
    missing = [name for name in system.data if data is None or not (data / name).exists()]
    if data is None or missing:
        why = f"set RAGSTONE_TEST_DATA to a folder with {', '.join(missing)}"
        chosen = [one for one in system.features if only in one.name]
        return [Seen(feature=one, works=None, seen=why, seconds=0.0) for one in chosen]
    with TemporaryDirectory(prefix=f"ragstone-{system.preset}-") as folder:
        room = Room(preset=system.preset, folder=Path(folder), data=data, quick=quick)
        for seen in system.tried(room, only):
            progress(f"{system.preset}: {seen.feature.name}: {WORDS[seen.works]} ({seen.seconds:.1f} s) {seen.seen}")
            rows.append(seen)
    return rows


def summary(system: System, rows: Sequence[Seen]) -> Result:
    """Return the table and the figures of a preset."""
    table = Table(
        title=f"{system.preset}: {sum(one.works is True for one in rows)} of {len(rows)} features work here",
        columns=["feature", "works", "what was seen", "command"],
        rows=[[one.feature.name, WORDS[one.works], one.seen, f"`{one.feature.command}`"] for one in rows],
    )
    return Result(tables=[table], figures={one.feature.name: one.works for one in rows})


if __name__ == "__main__":
    main()
