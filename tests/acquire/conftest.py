"""Fixtures that read one file and check every document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kept_parsers import parsers_kept
from structure import check

from ragstone.acquire import read
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

ReadAll = Callable[..., list[Document | Skipped]]
__all__ = ["parsers_kept"]


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
