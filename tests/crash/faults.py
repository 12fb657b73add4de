"""Failing calls: every write, sync and rename of every operation, one after another, with EIO or ENOSPC."""

from __future__ import annotations

import errno
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import kb

from crash import power
from crash.power import Failing
from crash.story import STEPS, Place, States, Unsafe, check, small_steps, states, watched
from crash.vfs import Shim
from ragstone.core.errors import NotFound, RagstoneError


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The state before a step and those acknowledged during it, each unlike the one before, and its number of calls."""

    copy: Path
    states: tuple[States | None, ...]
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One failure: the step, the call, the error, and whether later calls fail too."""

    step: str
    at: int
    error: int
    lasting: bool

    def __str__(self) -> str:
        return f"{self.step}, call {self.at}, {errno.errorcode[self.error]}{', lasting' if self.lasting else ''}"


def _remove(folder: Path) -> None:
    """Remove a folder in which a thread of the keyword index may still finish a file."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def _distinct(first: States | None, told: Sequence[States]) -> tuple[States | None, ...]:
    """Return the states in order, without those equal to the one before: a slow step tells its progress more often."""
    every = (first, *told)
    return tuple(state for at, state in enumerate(every) if not at or state != every[at - 1])


class Faults:
    """All trials, and the outcome of each."""

    def __init__(self, place: Path, shim: Shim) -> None:
        """Run every step without failures and keep a copy from before each one."""
        self._root, self._shim, self.before = place / "life", shim, dict[str, Before]()
        self._root.mkdir(parents=True)
        last: States | None = None
        with small_steps():
            for name, step in STEPS.items():
                copy = place / f"before {name}"
                shutil.copytree(self._root, copy)
                log = Failing(self._root, 0, errno.EIO, lasting=False)
                with watched(shim, log):
                    step(Place(root=self._root, tell=log.ack))
                told = _distinct(last, log.acknowledged())
                self.before[name] = Before(copy=copy, states=told, calls=log.calls)
                last = told[-1]

    def trials(self) -> Iterator[Trial]:
        for name, before in self.before.items():
            for at in range(1, before.calls + 1):
                for error in (errno.EIO, errno.ENOSPC):
                    for lasting in (False, True):
                        yield Trial(step=name, at=at, error=error, lasting=lasting)

    def run(self, trial: Trial, chance: random.Random) -> str:
        """Make a call fail; return the outcome: ``not reached``, ``refused`` or ``done all the same``.

        Raises:
            Unsafe: something acknowledged was lost, an error is not a `RagstoneError`, or the next step fails.
        """
        before, step = self.before[trial.step], STEPS[trial.step]
        _remove(self._root)
        shutil.copytree(before.copy, self._root)
        log = Failing(self._root, trial.at, trial.error, lasting=trial.lasting)
        refused = False
        with small_steps(), watched(self._shim, log):
            try:
                step(Place(root=self._root, tell=log.ack))
            except RagstoneError as error:
                refused = True
                if len(str(error)) < 20:
                    raise Unsafe(f"{trial}: an error that says little: {error}") from error
            except Exception as error:
                raise Unsafe(f"{trial}: {type(error).__name__} is none of ours: {error}") from error
            log.heal()
            done = len(_distinct(before.states[0], log.acknowledged())) - 1
            allowed = before.states[done : done + 2] if refused else before.states[-1:]
            self._compare(trial, allowed)
            try:
                step(Place(root=self._root, tell=log.ack))
            except Exception as error:
                raise Unsafe(f"{trial}: afterwards it does not go on: {error}") from error
            self._compare(trial, before.states[-1:])
        # Then the power fails: data whose sync failed may be missing, acknowledged data may not.
        drive = power.Drive(log.base)
        for event in log.events:
            drive.play(event)
        power.lay_out(drive.image(chance, 0.0), self._root, self._root)
        with small_steps():
            try:
                check(self._root / "kb", before.states[-1], None)
            except Unsafe as error:
                raise Unsafe(f"{trial}: after a power cut, {error}") from error
        return "not reached" if not log.failed else "refused" if refused else "done all the same"

    def _compare(self, trial: Trial, allowed: tuple[States | None, ...]) -> None:
        try:
            engine = kb.open_fast(self._root / "kb", create=False)
        except NotFound:
            left = None
        else:
            try:
                left = states(engine)
            finally:
                engine.close()
        if left not in allowed and not (left == {} and None in allowed):
            ids = [sorted(state or {}) for state in allowed]
            raise Unsafe(f"{trial}: {sorted(left or {})} is left, of {ids}")
