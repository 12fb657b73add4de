"""Processes that are killed, and processes that read while one writes."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.crash import readers

ROOT = Path(__file__).parent.parent.parent


def test_killed_at_any_call_and_at_any_moment(tmp_path: Path):
    command = [sys.executable, "-m", "benchmarks.crash.kills", str(tmp_path), "24", "3"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["lives"] == 24
    assert told["killed at random"] > 5


def test_nobody_sees_half_a_change(tmp_path: Path):
    told = readers.run(tmp_path / "kb", readers=8, seconds=4)
    assert told["exceptions"] == 0
    assert told["torn reads"] == 0
    assert min(told["commits"], told["reads"]) > 0
