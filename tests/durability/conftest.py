"""A layer under SQLite, where it can be had."""

from __future__ import annotations

import pytest

from benchmarks.crash.vfs import Shim, library


@pytest.fixture(scope="session")
def shim() -> Shim:
    if library() is None:
        pytest.skip("Python's sqlite3 has no shared library of its own here")
    return Shim()
