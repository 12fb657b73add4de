"""The preset `companion`, feature by feature."""

from __future__ import annotations

from benchmarks.systems.feature import System

SYSTEM = System(preset="companion", data=("lt_faq",))
