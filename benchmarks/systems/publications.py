"""The preset `publications`, feature by feature: first the documents, then the answers."""

from __future__ import annotations

from benchmarks.systems import press_documents, press_usage
from benchmarks.systems.press import SYSTEM

__all__ = ["SYSTEM", "press_documents", "press_usage"]
