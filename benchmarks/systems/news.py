"""The preset `news`, feature by feature."""

from __future__ import annotations

from benchmarks.systems.feature import System

SYSTEM = System(preset="news", data=("malaysian_news",))
