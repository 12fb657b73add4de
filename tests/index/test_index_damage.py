"""Files of the indexes lost, cut short or with flipped bytes: noticed, and made again from the catalog."""

import asyncio
import random
import shutil
from pathlib import Path

import pytest
from kb import add, commit, open_fast, parts

from ragstone.catalog.folder_location import FolderLocation
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.access import OWNER
from ragstone.core.errors import Damaged, KnowledgeBaseError, NotFound
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.vectors import embedded

DOCUMENTS = [Document(id=f"d{i}", text=f"word{i} common place{i % 5}") for i in range(embedded.EXACT)]
"""Few enough that every similarity is exact, however the vectors are kept."""
QUESTIONS = ["word7", "common place3", "place1 word14 word15"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base whose vectors lie in a file, with sketches."""
    folder = tmp_path_factory.mktemp("built") / "kb"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "LEAST_UNWRITTEN", 0)
        engine = open_fast(folder, "index.exact_limit=5")
        add(engine, *DOCUMENTS[:10])
        add(engine, *DOCUMENTS[10:])
        engine.close()
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "kb")
    return tmp_path / "kb"


def found(engine: KnowledgeBase) -> list[list[tuple[str, float]]]:
    return [
        [(hit.chunk.document_id, round(hit.score, 4)) for hit in asyncio.run(engine.search(question, 8, reader=OWNER))]
        for question in QUESTIONS
    ]


@pytest.fixture(scope="module")
def expected(built: Path):
    engine = open_fast(built, create=False)
    try:
        return found(engine)
    finally:
        engine.close()


def check(folder: Path, expected: object) -> None:
    for _ in range(2):  # the first repairs, the second opens what was repaired
        engine = open_fast(folder, create=False)
        assert found(engine) == expected
        answer = asyncio.run(engine.ask("word7", reader=OWNER))
        assert answer.notices == ()
        engine.close()


@pytest.mark.parametrize("name", ["terms", "vectors"])
def test_a_folder_that_is_gone_is_made_again(name: str, folder: Path, expected: object):
    shutil.rmtree(folder / "v1" / name)
    check(folder, expected)


@pytest.mark.parametrize("how", ["gone", "empty", "cut", "zeros", "text"])
@pytest.mark.parametrize("name", ["terms", "vectors"])
def test_every_file_may_be_damaged(name: str, how: str, folder: Path, expected: object):
    for file in sorted((folder / "v1" / name).iterdir()):
        if file.name.endswith(".lock"):
            continue
        before = file.read_bytes() if file.exists() else b""
        match how:
            case "gone":
                file.unlink(missing_ok=True)
            case "empty":
                file.write_bytes(b"")
            case "cut":
                file.write_bytes(before[: len(before) // 2])
            case "zeros":
                file.write_bytes(b"\0" * len(before))
            case "text":
                file.write_bytes(b'{"stamp": 7, "chunks": "x", "files": [1], "segments": 3}')
        check(folder, expected)


def test_flipped_bits_change_no_result(folder: Path, expected: object):
    rng = random.Random(5)
    for _ in range(60):
        files = [file for part in ("terms", "vectors") for file in sorted((folder / "v1" / part).iterdir())]
        file = rng.choice([file for file in files if file.stat().st_size])
        content = bytearray(file.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(content)
        engine = open_fast(folder, create=False)
        assert found(engine) == expected, file
        engine.close()


def test_damage_while_open_is_noticed(folder: Path, expected: list):
    """A file that is damaged after it was opened: no traceback, and the next question is answered in full."""
    engine = open_fast(folder, create=False)
    assert found(engine) == expected
    shutil.rmtree(folder / "v1" / "terms")
    answer = asyncio.run(engine.ask("word7", reader=OWNER))
    assert "word7" in answer.answer
    assert found(engine) == expected
    engine.close()


def test_an_older_catalog_put_back_gives_no_stale_hits(folder: Path):
    """With its indexes newer: at a smaller generation, and at the same one with another content."""
    copy = folder.parent / "copy.db"
    shutil.copy(folder / "v1" / "catalog.db", copy)
    engine = open_fast(folder, create=False)
    add(engine, Document(id="later", text="zebra stripes"))
    assert asyncio.run(engine.search("zebra", 1, reader=OWNER))[0].chunk.document_id == "later"
    engine.close()
    for other in (None, Document(id="other", text="giraffe neck")):
        shutil.copy(copy, folder / "v1" / "catalog.db")
        engine = open_fast(folder, create=False)
        if other:
            add(engine, other)
        hits = asyncio.run(engine.search("zebra giraffe", 50, reader=OWNER))
        steps = {hit.chunk.document_id: [step.stage for step in hit.why] for hit in hits}
        assert "later" not in steps
        assert (steps.get("other") == ["bm25", "vector", "fusion"]) is bool(other)
        assert [id for id, stages in steps.items() if "bm25" in stages] == (["other"] if other else [])
        engine.close()


def test_a_crash_before_the_indexes_followed_is_caught_up(tmp_path: Path):
    engine = open_fast(tmp_path / "kb")
    with parts(engine).location.indexing():
        commit(parts(engine).catalog, *DOCUMENTS)
    engine.close()
    engine = open_fast(tmp_path / "kb", create=False)
    assert engine.status().behind == 1
    hits = asyncio.run(engine.search("word7", 1, reader=OWNER))
    assert [step.stage for step in hits[0].why] == ["bm25", "vector", "fusion"]
    assert engine.status().behind == 0
    engine.close()


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all, but long enough to be one" * 100, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_catalog(folder: Path, content: bytes):
    (folder / "v1" / "catalog.db").write_bytes(content)
    with pytest.raises(Damaged, match=r"catalog\.db.*restore a backup"):
        KnowledgeBase.open(folder)


def test_a_catalog_cut_short(folder: Path):
    file = folder / "v1" / "catalog.db"
    file.write_bytes(file.read_bytes()[:8192])
    with pytest.raises(KnowledgeBaseError, match=r"catalog\.db"):
        asyncio.run(KnowledgeBase.open(folder).ask("word7"))


@pytest.mark.parametrize("name", ["v9", "", "../v1", "backup", "v1/../v1", "\0"])
def test_a_pointer_to_nothing(folder: Path, name: str):
    (folder / "CURRENT").write_text(name)
    with pytest.raises(Damaged, match="CURRENT"):
        KnowledgeBase.open(folder, create=True)


def test_without_the_pointer_nothing_is_thrown_away(folder: Path, expected: object):
    (folder / "CURRENT").unlink()
    with pytest.raises(NotFound):
        KnowledgeBase.open(folder)
    with pytest.raises(Damaged, match="holds v1, but CURRENT is missing"):
        open_fast(folder)
    (folder / "CURRENT").write_text("v1\n")
    check(folder, expected)


def test_what_an_interrupted_creation_left_is_no_obstacle(tmp_path: Path):
    home = FolderLocation(tmp_path / "kb")
    create_catalog(home.begin() / "catalog.db", {}).close()
    engine = open_fast(tmp_path / "kb")
    assert add(engine, *DOCUMENTS[:3]).added == 3
    engine.close()
