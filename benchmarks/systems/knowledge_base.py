"""The preset `knowledge-base`, feature by feature."""

from __future__ import annotations

from benchmarks.systems.feature import System

SYSTEM = System(preset="knowledge-base", data=("covid_faq_kb",))
