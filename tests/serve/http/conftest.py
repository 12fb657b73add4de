"""Servers over small knowledge bases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from kb import READY, add, open_fast
from live import DOCUMENTS, Live, Serving, served

from ragstone.core.records import Document


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over three documents, without keys, for a whole module."""
    with closing(open_fast(tmp_path_factory.mktemp("house") / "kb", READY)) as engine:
        add(engine, *DOCUMENTS)
        with served(engine) as live:
            yield live


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Serve a knowledge base of the test's own, by default over the three documents."""
    with ExitStack() as stack:

        def serve(*settings: str, documents: tuple[Document, ...] = DOCUMENTS, asked: tuple[str, ...] = ()) -> Live:
            engine = stack.enter_context(closing(open_fast(tmp_path / "kb", READY, *asked)))
            if documents:
                add(engine, *documents)
            return stack.enter_context(served(engine, *settings))

        yield serve
