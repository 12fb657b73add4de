"""Parser processes that are kept from test to test: most tests read one small file, and a start takes far longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pytest

from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.remote import listed
from ragstone.acquire.sources import files, texts
from ragstone.settings import AcquireSettings

_MOST = 3


class _StopOfBorrower(Event):
    """Is set if that of whoever has the process now is set."""

    borrower: Event | None = None

    def is_set(self) -> bool:
        return self.borrower is not None and self.borrower.is_set()


@dataclass(frozen=True)
class _Kept:
    process: ParserProcess
    stop: _StopOfBorrower


@pytest.fixture(scope="session", autouse=True)
def parsers_kept() -> Iterator[None]:
    """Lend whoever reads files an idle process with equal settings and an equal environment, if there is one."""
    idle: dict[object, _Kept] = {}

    def started(settings: AcquireSettings) -> _Kept:
        stop = _StopOfBorrower()
        return _Kept(ParserProcess(settings, stop), stop)

    @contextmanager
    def parser(settings: AcquireSettings, stop: Event | None = None) -> Iterator[ParserProcess]:
        ours = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        key = (settings.model_dump_json(), Path.cwd(), *sorted(ours.items()))
        one = idle.pop(key, None) or started(settings)
        one.stop.borrower = stop
        try:
            yield one.process
        finally:
            one.stop.borrower = None
            for other in [idle.pop(key, None), *(idle.pop(old) for old in list(idle)[: -_MOST + 1])]:
                if other:
                    other.process.close()
            idle[key] = one

    with pytest.MonkeyPatch.context() as patch:
        for module in (files, texts, listed):
            patch.setattr(module, "ParserProcess", parser)
        yield
    for one in idle.values():
        one.process.close()
