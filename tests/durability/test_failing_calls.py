"""When a call fails, the operation succeeds or refuses in words, and nothing acknowledged is lost."""

import random
from pathlib import Path

from crash.amounts import Amount
from crash.faults import Faults
from crash.vfs import Shim


def test_any_call_may_fail(tmp_path: Path, shim: Shim, amount: Amount) -> None:
    faults, chance = Faults(tmp_path, shim), random.Random(6)
    trials = list(faults.trials())
    assert len(trials) > 4000
    chosen = chance.sample(trials, min(amount.failing_calls, len(trials)))
    outcomes = [faults.run(trial, chance) for trial in chosen]
    assert {"refused", "done all the same"} <= set(outcomes)
