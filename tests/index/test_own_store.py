"""Vector stores that ``index.vectors`` names by ``package.module:function``."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import memory_store
import pytest
from kb import add, open_fast, parts
from memory_store import Memory

from ragstone.catalog.location import set_engines
from ragstone.core.access import OWNER
from ragstone.core.errors import SettingsError
from ragstone.core.records import Document
from ragstone.engine.doctor import doctor
from ragstone.index.follow.protocol import StoreContext

OWN = "memory_store:build"
UNKNOWN = ["nowhere", "faiss:Tree", "no.such.module:build", "memory_store:missing"]


def test_searches_with_an_own_store(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb", f"index.vectors={OWN}", "query.method=vector")) as engine:
        add(engine, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(20)))
        (hit,) = asyncio.run(engine.search("word7 other7", 1, reader=OWNER))
        assert hit.chunk.document_id == "d7"
        assert [(one.engine, one.behind) for one in engine.status().engines] == [("memory", 0)]


class _Refused(Exception):
    pass


@pytest.fixture
def open_stores(monkeypatch: pytest.MonkeyPatch) -> list[Memory]:
    """The stores that are open, while the test runs."""
    held, build = list[Memory](), memory_store.build

    def noted(context: StoreContext) -> Memory:
        held.append(build(context))
        return held[-1]

    monkeypatch.setattr(memory_store, "build", noted)
    monkeypatch.setattr(Memory, "close", lambda self: held.remove(self), raising=False)
    return held


def _refuse(*_: object, **__: object) -> None:
    raise _Refused


def test_stores_of_other_versions_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_stores: list[Memory]
) -> None:
    own = f"index.vectors={OWN}"
    with closing(open_fast(tmp_path / "kb", own)) as engine:
        add(engine, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(20)))
        asyncio.run(engine.versions.rebuild(["chunk.size=70"]))
        add(engine, Document(id="last", text="word"))
        before = list(open_stores)
        engine.documents.forget(["d7"], reader=OWNER)
        assert open_stores == before
        with monkeypatch.context() as faulty:
            faulty.setattr(Memory, "put", _refuse)
            with pytest.raises(_Refused):
                asyncio.run(engine.versions.rebuild(["chunk.size=90"]))
        assert open_stores == before
        set_engines(parts(engine).location.shelf, {"vectors": OWN})
    assert not open_stores
    monkeypatch.setattr("ragstone.engine.doctor.differences", _refuse)
    with pytest.raises(_Refused):
        doctor(tmp_path / "kb")
    assert not open_stores


def test_a_rebuild_fills_the_store_of_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_fast(tmp_path / "kb", f"index.vectors={OWN}")) as engine:
        add(engine, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(20)))
        monkeypatch.setattr(Memory, "put", _refuse)
        with pytest.raises(_Refused):
            asyncio.run(engine.versions.rebuild(["chunk.size=70"], switch=False))


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
