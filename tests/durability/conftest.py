"""How many trials to make, and the layer under SQLite."""

from __future__ import annotations

import pytest
from crash.amounts import CHOSEN, Amount
from crash.vfs import Shim, library


@pytest.fixture(scope="session")
def amount() -> Amount:
    return CHOSEN


@pytest.fixture(scope="session")
def shim() -> Shim:
    if library() is None:
        pytest.skip("Python's sqlite3 has no shared library of its own here")
    return Shim()
