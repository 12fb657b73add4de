"""Servers over small knowledge bases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import openai
import pytest
from kb import READY, add, open_fast
from kept_parsers import parsers_kept
from live import DOCUMENTS, Live, Serving, served

from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase

__all__ = ["parsers_kept"]


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


@pytest.fixture(scope="module")
def url(engine: KnowledgeBase) -> Iterator[str]:
    """The address of a server over the module's own ``engine``."""
    with served(engine) as live:
        yield live.url


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    """The client of OpenAI's protocol, for this server."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client
