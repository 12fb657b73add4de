"""What the benchmark ``durability`` and its tests share: power cuts, failing calls, kills, damage, and many readers."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = str(Path(__file__).parent.parent.parent / "tests")
if TESTS not in sys.path:  # the embedder without a model, and the look behind the curtain, are the tests' own
    sys.path.append(TESTS)
