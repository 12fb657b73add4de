"""What is measured, one module each: ``python -m benchmarks.NAME [--quick]``; ``benchmarks.run`` runs all."""

import sys
from pathlib import Path

TESTS = str(Path(__file__).parent.parent / "tests")
if TESTS not in sys.path:  # the embedder without a model, and the servers on loopback, are the tests' own
    sys.path.append(TESTS)
