"""How many processors there are to use."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processors this process may use; all, where the system does not limit a process to some."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
