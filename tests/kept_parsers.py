"""Parser processes that are kept from test to test: most tests read one small file, and a start takes far longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.remote import listed
from ragstone.acquire.sources import files, texts
from ragstone.settings import AcquireSettings

_MOST = 3


@pytest.fixture(scope="session", autouse=True)
def parsers_kept() -> Iterator[None]:
    """Lend whoever reads files an idle process with equal settings and an equal environment, if there is one."""
    idle: dict[object, ParserProcess] = {}

    @contextmanager
    def parser(settings: AcquireSettings, stop: Event | None = None) -> Iterator[ParserProcess]:
        ours = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        key = (settings.model_dump_json(), Path.cwd(), *sorted(ours.items()))
        one = idle.pop(key, None) or ParserProcess(settings)
        one._stop = stop
        try:
            yield one
        finally:
            one._stop = None
            for other in [idle.pop(key, None), *(idle.pop(old) for old in list(idle)[: -_MOST + 1])]:
                if other:
                    other.close()
            idle[key] = one

    with pytest.MonkeyPatch.context() as patch:
        for module in (files, texts, listed):
            patch.setattr(module, "ParserProcess", parser)
        yield
    for one in idle.values():
        one.close()
