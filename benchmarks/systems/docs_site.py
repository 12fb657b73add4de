"""The preset `docs-site`, feature by feature."""

from __future__ import annotations

from benchmarks.systems.feature import System

SYSTEM = System(preset="docs-site", data=("cudaq_docs",))
