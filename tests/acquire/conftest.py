"""Fixtures that read one file and check every document."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Event

import pytest
from structure import check

from ragstone.acquire import read
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.acquire.remote import listed
from ragstone.acquire.sources import files, texts
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

ReadAll = Callable[..., list[Document | Skipped]]
_MOST_PARSERS = 3


@pytest.fixture(scope="session", autouse=True)
def _parsers_kept() -> Iterator[None]:
    """Keep a parser process for the next test that would start it with equal settings and in an equal environment.

    Most tests read one small file, and starting the process takes far longer than reading it.
    """
    kept: dict[object, ParserProcess] = {}

    def parser(settings: AcquireSettings, stop: Event | None = None) -> AbstractContextManager[ParserProcess]:
        if stop is not None:
            return ParserProcess(settings, stop)
        ours = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        key = (settings.model_dump_json(), Path.cwd(), *sorted(ours.items()))
        if key not in kept:
            if len(kept) == _MOST_PARSERS:
                kept.pop(next(iter(kept))).close()
            kept[key] = ParserProcess(settings)
        return nullcontext(kept[key])

    with pytest.MonkeyPatch.context() as patch:
        for module in (files, texts, listed):
            patch.setattr(module, "ParserProcess", parser)
        yield
    for one in kept.values():
        one.close()


@pytest.fixture
def read_all(tmp_path: Path) -> ReadAll:
    """Read a file with this name and content, or the file at a path, and check every document."""

    def run(name: str | Path, content: bytes | str = b"", **limits: float) -> list[Document | Skipped]:
        path = name if isinstance(name, Path) else tmp_path / name
        if not isinstance(name, Path):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        read_all = read(str(path), AcquireSettings.model_validate(limits), base=path.parent)
        results = [one for one in read_all if isinstance(one, Document | Skipped)]
        for result in results:
            if isinstance(result, Document):
                check(result)
        return results

    return run


@pytest.fixture
def read_one(read_all: ReadAll) -> Callable[..., Document]:
    """Read a file and return its only document."""

    def run(name: str | Path, content: bytes | str = b"", **limits: float) -> Document:
        (document,) = read_all(name, content, **limits)
        assert isinstance(document, Document), document
        return document

    return run


@pytest.fixture
def why_skipped(read_all: ReadAll) -> Callable[..., str]:
    """Read a file and return why it gives no document."""

    def run(name: str | Path, content: bytes | str = b"", **limits: float) -> str:
        (skipped,) = read_all(name, content, **limits)
        assert isinstance(skipped, Skipped), skipped
        return skipped.reason

    return run
