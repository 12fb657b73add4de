"""Vector stores that ``index.vectors`` names by ``package.module:function``."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, open_fast

from ragstone.core.access import OWNER
from ragstone.core.errors import SettingsError
from ragstone.core.records import Document

OWN = "memory_store:build"
UNKNOWN = ["nowhere", "faiss:Tree", "no.such.module:build", "memory_store:missing"]


def test_searches_with_an_own_store(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb", f"index.vectors={OWN}", "query.method=vector")) as engine:
        add(engine, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(20)))
        (hit,) = asyncio.run(engine.search("word7 other7", 1, reader=OWNER))
        assert hit.chunk.document_id == "d7"
        assert [(one.engine, one.behind) for one in engine.status().engines] == [("memory", 0)]


@pytest.mark.parametrize("name", UNKNOWN)
def test_refuses_unknown_store_before_making_anything(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"index\.vectors is .* it can be embedded, faiss:Flat"):
        open_fast(tmp_path / "kb", f"index.vectors={name}")
    assert not (tmp_path / "kb").exists()


def test_refuses_unknown_store_for_an_open_knowledge_base(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb")) as engine:
        with pytest.raises(SettingsError, match=r"index\.vectors"):
            engine.versions.use_engines({"vectors": "nowhere"})
        with pytest.raises(SettingsError, match=r"index\.vectors"):
            asyncio.run(engine.versions.rebuild(["index.vectors=nowhere"]))
    with closing(open_fast(tmp_path / "kb", create=False)) as engine:
        assert engine.settings.index.vectors == "embedded"
