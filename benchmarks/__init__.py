"""What is measured, one module each: ``python -m benchmarks.NAME [--quick]``; ``benchmarks.run`` runs most of them."""

import os

# As on the command line; NumPy reads it when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
