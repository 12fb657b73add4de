"""Ids of documents outside the base folder: without its path, stable, and never those of other documents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb import open_fast, parts

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import NotFound
from ragstone.engine.ingest import Share
from ragstone.engine.knowledge_base import KnowledgeBase


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    (tmp_path / "base").mkdir()
    engine = open_fast(tmp_path / "base" / "kb")
    yield engine
    engine.close()


def write(*files: Path) -> None:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"The pump of {file} runs at 4 bar.")


def sync(engine: KnowledgeBase, *sources: Path, share: Share | None = None) -> set[str]:
    """Sync folders and return the ids of all stored documents."""
    asyncio.run(engine.documents.sync([str(one) for one in sources], share=share))
    return {one.id for one in parts(engine).catalog.documents()}


@pytest.mark.parametrize("share", [None, Share()], ids=["alone", "shared"])
def test_ids_begin_with_the_name_of_the_added_folder(
    engine: KnowledgeBase, tmp_path: Path, share: Share | None
) -> None:
    write(tmp_path / "srv/docs/pumps/p1.md", tmp_path / "srv/docs/a.csv", tmp_path / "base/own.md")
    (tmp_path / "srv/docs/a.csv").write_text("name,text\np1,The pump runs.\np2,The pump stands.\n")
    rows = {"docs/a.csv#1", "docs/a.csv#2"}
    assert sync(engine, tmp_path / "srv/docs", tmp_path / "base/own.md", share=share) == {
        "docs/pumps/p1.md",
        "own.md",
        *rows,
    }


def test_id_stays_whichever_folder_above_is_added(engine: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "srv/docs/pumps/p1.md", tmp_path / "srv/docs/a.md")
    assert sync(engine, tmp_path / "srv/docs/pumps/p1.md") == {"pumps/p1.md"}
    assert sync(engine, tmp_path / "srv/docs") == {"pumps/p1.md", "docs/a.md"}
    assert sync(engine, tmp_path / "srv") == {"pumps/p1.md", "docs/a.md"}


def test_folders_of_one_name_share_no_id(engine: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "base/docs/a.md", tmp_path / "x/docs/a.md", tmp_path / "y/docs/a.md")
    found = sync(engine, tmp_path / "x/docs", tmp_path / "y/docs", tmp_path / "base/docs")
    assert found == {"docs/a.md", "docs-2/a.md", "docs-3/a.md"}
    assert engine.documents.get("docs/a.md", reader=OWNER).source == str(tmp_path / "base/docs/a.md")


def test_new_folder_of_the_base_takes_no_id(engine: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "x/docs/a.md", tmp_path / "z/uploads/a.md")
    assert sync(engine, tmp_path / "x/docs", tmp_path / "z/uploads") == {"docs/a.md", "uploads-2/a.md"}
    write(tmp_path / "base/docs/a.md")
    assert sync(engine, tmp_path / "base/docs") == {"docs/a.md", "uploads-2/a.md", "base/docs/a.md"}


def test_plan_of_a_sync_gives_the_same_ids(engine: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "x/docs/a.md", tmp_path / "y/docs/a.md")
    folders = [str(tmp_path / one / "docs") for one in "xy"]
    planned = asyncio.run(engine.documents.plan(folders)).added
    assert {*planned} == sync(engine, *map(Path, folders))


def test_rebuilt_version_knows_the_names_of_folders(engine: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "x/docs/a.md", tmp_path / "y/docs/a.md")
    sync(engine, tmp_path / "x/docs", tmp_path / "y/docs")
    asyncio.run(engine.versions.rebuild(("chunk.size=50",)))
    write(tmp_path / "y/docs/b.md")
    assert sync(engine, tmp_path / "y/docs") == {"docs/a.md", "docs-2/a.md", "docs-2/b.md"}


def test_only_the_owner_finds_a_document_by_its_path(engine: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "x/docs/a.md")
    sync(engine, tmp_path / "x/docs")
    file = str(tmp_path / "x/docs/a.md")
    with pytest.raises(NotFound):
        engine.documents.get(file, reader=Reader(groups=frozenset({"staff"})))
    assert engine.documents.get(file, reader=OWNER).id == "docs/a.md"
    assert engine.documents.remove(["docs/a.md"], reader=OWNER) == ["docs/a.md"]


def test_erasing_the_last_document_forgets_the_folder(engine: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "x/plorbington/a.md", tmp_path / "y/docs/a.md")
    sync(engine, tmp_path / "x/plorbington", tmp_path / "y/docs")
    erased = engine.documents.forget([str(tmp_path / "x/plorbington/a.md")], reader=OWNER)
    assert erased.found == ()
    write(tmp_path / "y/docs/b.md")
    assert sync(engine, tmp_path / "y/docs") == {"docs/a.md", "docs/b.md"}
