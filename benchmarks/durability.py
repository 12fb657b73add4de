"""What becomes of a knowledge base when things go wrong: power cuts, failing calls, damage, kills, and many readers.

The embedder is the one of the tests, which needs no model: what is tried is how documents are kept, thousands of
times. Every trial ends with a look at all that is stored, and with one more document added and found.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import ROOT, Options, Result, Table, main, told
from benchmarks.crash import faults, power, readers, story
from benchmarks.crash.damage import Damage
from benchmarks.crash.vfs import Shim, library


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How much is tried; ``trials`` of 0 stands for every call there is."""

    images: int
    trials: int
    wounds: int
    lives: int
    seconds: float


FULL = Amount(images=1200, trials=0, wounds=1000, lives=500, seconds=600)
QUICK = Amount(images=50, trials=16, wounds=24, lives=12, seconds=4)
READERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A kind of trouble: how often, what came of it, and what must never be; ``failures`` says it in words."""

    name: str
    count: int
    outcomes: dict[str, int]
    failures: tuple[str, ...] = ()


async def measure(options: Options) -> Result:
    return await asyncio.to_thread(_measured, QUICK if options.quick else FULL)  # engines run loops of their own


def _measured(amount: Amount) -> Result:
    with TemporaryDirectory(prefix="ragstone-durability-") as place:
        folder = Path(place).resolve()
        tried = [*_with_shim(folder, amount), _damage(folder / "damage", amount.wounds)]
        told("durability: kills")
        tried.append(_kills(folder / "kills", amount.lives))
        told("durability: readers")
        tried.append(_readers(folder / "readers" / "kb", amount.seconds))
    return summary(tried)


def summary(tried: Iterable[Tried]) -> Result:
    """A row for each kind of trouble, and the first of what should never have been."""
    tried = list(tried)
    rows = [
        [
            one.name,
            f"{one.count:,}",
            ", ".join(f"{what} {n:,}" for what, n in one.outcomes.items()),
            f"{len(one.failures)}",
        ]
        for one in tried
    ]
    table = Table(title="trouble, and what came of it", columns=["trouble", "times", "outcome", "unsafe"], rows=rows)
    figures = {one.name: {"times": one.count, "unsafe": len(one.failures), **one.outcomes} for one in tried}
    notes = [f"{one.name}: {failure}" for one in tried for failure in one.failures[:3]]
    if library() is None:
        notes.append("SKIPPED: power cuts and failing calls; Python's sqlite3 has no shared library of its own here.")
    safe = not any(one.failures for one in tried)
    notes.append(f"Target: nothing acknowledged lost, nothing half there, no error without words: {_verdict(safe)}.")
    return Result(figures=figures, tables=[table], notes=notes)


def _listed(outcomes: dict[str, int]) -> str:
    return ", ".join(f"{what} {count:,}" for what, count in outcomes.items())


def _verdict(safe: bool) -> str:
    return "met" if safe else "MISSED"


def _try(name: str, work: Iterable[Callable[[], str]]) -> Tried:
    outcomes, failures, count = Counter[str](), list[str](), 0
    for one in work:
        count += 1
        if count % 100 == 0:
            told(f"durability: {name}: {count:,}, unsafe {len(failures)}")
        try:
            outcomes[one()] += 1
        except Exception as error:  # the next one may tell more
            failures.append(f"{type(error).__name__}: {error}")
    return Tried(name=name, count=count, outcomes=dict(sorted(outcomes.items())), failures=tuple(failures))


def _with_shim(folder: Path, amount: Amount) -> list[Tried]:
    if library() is None:
        return []
    shim, chance = Shim(), random.Random(1)
    told("durability: power cuts")
    log = story.recorded(folder / "life", shim)
    images = list(power.images(log, chance, 3))

    def open_image(image: dict[Path, bytes | None], last: object, following: object) -> str:
        with story.small_steps():
            power.lay_out(image, log.folder, folder / "image")
            left = story.check(folder / "image" / "kb", last, following)  # pyright: ignore[reportArgumentType]
        return "nothing was promised yet" if left.created else "whole"

    chosen = chance.sample(images, min(amount.images, len(images)))
    cuts = _try("power cuts", ((lambda one=one: open_image(*one)) for one in chosen))
    told("durability: failing calls")
    trials = faults.Faults(folder / "faults", shim)
    every = list(trials.trials())
    some = chance.sample(every, amount.trials) if amount.trials else every
    return [cuts, _try("failing calls", ((lambda one=one: trials.run(one, chance)) for one in some))]


def _damage(folder: Path, count: int) -> Tried:
    told("durability: damage")
    damage = Damage(folder)
    wounds = islice(damage.wounds(random.Random(1)), count)
    return _try("damage", ((lambda one=one: damage.run(*one)) for one in wounds))


def _kills(folder: Path, lives: int) -> Tried:
    folder.mkdir()
    command = [sys.executable, "-m", "benchmarks.crash.kills", str(folder), str(lives), "1"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        return Tried(name="kills", count=lives, outcomes={}, failures=tuple(run.stderr.splitlines()[-1:]))
    counted = json.loads(run.stdout)
    return Tried(name="kills", count=counted.pop("lives"), outcomes=counted)


def _readers(folder: Path, seconds: float) -> Tried:
    counted = readers.run(folder, READERS, seconds)
    failures = [f"{n} {what}" for what in ("exceptions", "torn reads") if (n := counted.pop(what))]
    return Tried(name="readers", count=counted.get("reads", 0), outcomes=counted, failures=tuple(failures))


if __name__ == "__main__":
    main({"durability": measure}, "durability")
