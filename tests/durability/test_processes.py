"""Processes that are killed, and processes that read while another one writes."""

import json
import os
import subprocess
import sys
from pathlib import Path

from crash import readers
from crash.amounts import Amount

TESTS = Path(__file__).parent.parent


def test_killed_processes_lose_nothing(tmp_path: Path, amount: Amount) -> None:
    command = [sys.executable, "-m", "crash.kills", str(tmp_path), str(amount.kills), "3"]
    own = {**os.environ, "PYTHONPATH": str(TESTS.parent)}
    run = subprocess.run(command, cwd=TESTS, env=own, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout)
    assert counts["lives"] == amount.kills
    assert counts["killed at random"] > amount.kills // 5


def test_readers_never_see_half_a_change(tmp_path: Path, amount: Amount) -> None:
    counts = readers.run(tmp_path / "kb", readers=amount.readers, seconds=amount.reader_seconds)
    assert counts["exceptions"] == 0
    assert counts["torn reads"] == 0
    assert min(counts["commits"], counts["reads"]) > 0
