"""Units that convert into each other."""

from __future__ import annotations

BASE = {
    "s": ("time", 1.0), "min": ("time", 60.0), "h": ("time", 3600.0), "day": ("time", 86400.0),
    "week": ("time", 604800.0), "month": ("time", 2629800.0), "year": ("time", 31557600.0),
    "decade": ("time", 315576000.0), "mm": ("length", 0.001), "cm": ("length", 0.01), "m": ("length", 1.0),
    "km": ("length", 1000.0), "inch": ("length", 0.0254), "ft": ("length", 0.3048), "mi": ("length", 1609.344),
    "mg": ("mass", 1e-6), "g": ("mass", 0.001), "kg": ("mass", 1.0), "t": ("mass", 1000.0), "lb": ("mass", 0.45359),
    "ml": ("volume", 0.001), "l": ("volume", 1.0), "kb": ("data", 1e3), "mb": ("data", 1e6), "gb": ("data", 1e9),
    "tb": ("data", 1e12),
}  # fmt: skip
"""What a unit measures, and how much of the base unit it is."""
LONG = frozenset({"month", "year", "decade"})
"""Units of time that have no fixed number of days."""
NAMED = frozenset({"month name", "clock", "code", "century", "quarter"})
"""What stands in the place of a unit and is compared with its like only."""
