"""Calls that fail: the operation is done or refused in words, nothing acknowledged is lost, and the next one works."""

import random
from pathlib import Path

from benchmarks.crash.faults import Faults
from benchmarks.crash.vfs import Shim

TRIED = 16


def test_any_call_may_fail(tmp_path: Path, shim: Shim):
    faults, chance = Faults(tmp_path, shim), random.Random(6)
    trials = list(faults.trials())
    assert len(trials) > 4000
    outcomes = [faults.run(trial, chance) for trial in chance.sample(trials, TRIED)]
    assert {"refused", "done all the same"} <= set(outcomes)
