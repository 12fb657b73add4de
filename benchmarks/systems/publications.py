"""The preset `publications`, feature by feature."""

from __future__ import annotations

from benchmarks.systems.feature import System

SYSTEM = System(preset="publications", data=("telekom_press",))
