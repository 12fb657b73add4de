"""How many trials the durability tests make.

With RAGSTONE_TEST_FULL=1 they make as many as `docs/benchmarks.md` reports, which takes hours.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How many trials of each kind to make."""

    power_cuts: int
    failing_calls: int
    damaged_files: int
    kills: int
    readers: int
    reader_seconds: float


QUICK = Amount(power_cuts=40, failing_calls=16, damaged_files=25, kills=9, readers=4, reader_seconds=2)
FULL = Amount(power_cuts=1200, failing_calls=6000, damaged_files=1000, kills=500, readers=8, reader_seconds=600)


CHOSEN = FULL if os.environ.get("RAGSTONE_TEST_FULL") else QUICK
"""Read at import, because a fixture hides such variables from the tests."""
