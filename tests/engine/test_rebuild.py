"""Other settings without a pause: nothing is lost, done twice or seen half, and there is a way back."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from kb import FAST, add, check_whole, look, open_fast
from numpy.typing import NDArray

from ragstone.catalog.lock import rebuilding
from ragstone.core.access import OWNER
from ragstone.core.errors import Locked, NotFound, SettingsMismatch
from ragstone.core.protocols import Role
from ragstone.core.records import Document
from ragstone.core.reports import AddReport
from ragstone.core.request import Request
from ragstone.engine.comparison import compare, overlap
from ragstone.engine.knowledge_base import KnowledgeBase

ROOT = Path(__file__).parent.parent.parent
PATHS = os.pathsep.join(map(str, (ROOT, ROOT / "tests", ROOT / "tests" / "engine")))
SLOW = "index.embedder=test_rebuild:Slow"
REBUILD = """
import asyncio, sys
from ragstone.engine.knowledge_base import KnowledgeBase
engine = KnowledgeBase.open(sys.argv[1], as_built=True)
tell = lambda now: print(now.documents, flush=True)
report = asyncio.run(engine.versions.rebuild(sys.argv[2:], on_progress=tell))
print("done", report.added, report.unchanged, report.embedded, flush=True)
"""
ASK = """
import asyncio, sys
from pathlib import Path
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.core.access import OWNER
engine, folder, count, seen = KnowledgeBase.open(sys.argv[1]), Path(sys.argv[1]), 0, set()
print("ready", flush=True)
async def ask_on():
    global count
    while not (folder / "stop").exists():
        for answer in await asyncio.gather(*(engine.ask(f"document number {i}", reader=OWNER) for i in range(3))):
            assert answer.hits and all("an ingest is running" in one for one in answer.notices), answer.notices
            count += 1
        seen.add(engine.status().chunks)
asyncio.run(ask_on())
print(count, len(seen), len(list(Path("/proc/self/fd").iterdir())), flush=True)
"""


class Slow(HashEmbedder):
    """A model that takes its time."""

    fingerprint = "hash-slow"

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> NDArray[np.float32]:
        await asyncio.sleep(0.002 * len(texts))
        return await super().embed(texts, role=role, request=request)


class Letters:
    """An analyzer that looks at the beginnings of words."""

    fingerprint = "letters-1"

    def __call__(self, text: str, language: str = "") -> list[str]:
        del language
        return [word[:4].lower() for word in text.split()]


def document(i: int, word: str = "plain") -> Document:
    text = "\n\n".join(f"document number {i} part {part} {word} " + f"word{i} " * 12 for part in range(4))
    return Document(id=f"d{i}", text=text, source=f"folder/d{i}.txt", metadata={"n": i})


def script(code: str, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": PATHS})


def rebuild(engine: KnowledgeBase, *settings: str, switch: bool = True) -> AddReport:
    return asyncio.run(engine.versions.rebuild(settings, switch=switch))


@pytest.fixture
def engine(workdir: Path):
    engine = open_fast(workdir / "kb")
    yield engine
    engine.close()


@pytest.fixture
def folder(workdir: Path) -> Path:
    return workdir / "kb"


def test_what_does_not_change_is_kept(engine: KnowledgeBase, workdir: Path, folder: Path):
    (workdir / "texts").mkdir()
    for i in range(5):
        (workdir / "texts" / f"{i}.txt").write_text(document(i).text)
    (workdir / "texts" / "empty.txt").touch()
    asyncio.run(engine.documents.add([str(workdir / "texts")]))
    look_at = "SELECT id, added_at, signature FROM documents ORDER BY document"
    before = look(folder / "v1" / "catalog.db", look_at)
    files = look(folder / "v1" / "catalog.db", "SELECT * FROM files ORDER BY source")
    time.sleep(1.1)
    report = rebuild(engine, "index.analyzer=test_rebuild:Letters")
    assert (report.added, report.embedded) == (5, 0)
    assert look(folder / "v2" / "catalog.db", look_at) == before
    assert look(folder / "v2" / "catalog.db", "SELECT * FROM files ORDER BY source") == files
    assert len(files) == 5
    assert [one.source for one in engine.status().skipped] == [str(workdir / "texts" / "empty.txt")]
    assert asyncio.run(engine.documents.sync([str(workdir / "texts")])).unchanged == 5
    assert asyncio.run(engine.search("numbers", reader=OWNER))  # found by their beginnings


def test_a_killed_rebuild_goes_on(engine: KnowledgeBase, folder: Path):
    add(engine, *(document(i) for i in range(300)))
    done = 0
    for _ in range(2):
        process = script(REBUILD, folder, SLOW)
        assert process.stdout
        before, done = done, int(process.stdout.readline()) + done
        assert done > before
        process.kill()
        process.communicate()
        assert engine.status().built_with.embedder == "hash-1"
    (waiting,) = engine.status().others
    assert waiting.role == "next"
    asyncio.run(engine.ask("document number 7", reader=OWNER))
    report = rebuild(engine, SLOW)
    assert report.added + report.unchanged == 300
    assert report.unchanged >= done
    assert report.embedded <= 4 * report.added
    check_whole(folder / "v2" / "catalog.db", {f"d{i}": document(i) for i in range(300)})
    assert engine.status().built_with.embedder == "hash-slow"


def test_with_other_settings_it_begins_anew(engine: KnowledgeBase):
    add(engine, *(document(i) for i in range(20)))
    rebuild(engine, "chunk.size=77", switch=False)
    assert rebuild(engine, "chunk.size=78", switch=False).added == 20
    assert sorted(path.name for path in Path("kb").glob("v*")) == ["v1", "v2"]
    assert rebuild(engine, "chunk.size=78").added == 0
    assert engine.status().built_with.settings["chunk.size"] == 78


def test_what_changes_during_a_rebuild_is_not_lost(engine: KnowledgeBase, folder: Path):
    add(engine, *(document(i) for i in range(200)))
    other = open_fast(folder, create=False)
    changed = False

    def change(_: object) -> None:
        nonlocal changed
        if not changed:
            changed = True
            add(other, document(500), document(3, "changed"))
            other.documents.remove(["d4"], reader=OWNER)

    def apart(now: object) -> None:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(change, now).result()

    report = asyncio.run(engine.versions.rebuild(["chunk.size=90"], on_progress=apart))
    expected = {f"d{i}": document(i) for i in range(200) if i != 4}
    expected |= {"d500": document(500), "d3": document(3, "changed")}
    assert changed
    assert report.added + report.updated + report.unchanged >= 200
    check_whole(folder / "v2" / "catalog.db", expected, engine.settings.chunk.model_copy(update={"size": 90}))
    assert [hit.chunk.document_id for hit in asyncio.run(other.search("word500", 1, reader=OWNER))] == ["d500"]
    other.close()


def test_another_process_moves_over_while_it_asks(engine: KnowledgeBase, folder: Path):
    add(engine, *(document(i) for i in range(60)))
    process = script(ASK, folder)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    for size in (90, 110, 90, 130):
        rebuild(engine, f"chunk.size={size}")
        add(engine, document(size))
        time.sleep(0.5)
    asyncio.run(engine.versions.revert())
    time.sleep(1)
    (folder / "stop").touch()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    asked, versions, files = map(int, out.split())
    assert asked > 5
    assert versions > 1
    assert files < 60  # those of old versions were let go of
    (previous,) = engine.status().others
    engine.versions.drop_previous()
    assert not (folder / previous.name).exists()


def test_there_is_a_way_back(engine: KnowledgeBase):
    add(engine, *(document(i) for i in range(10)))
    with pytest.raises(NotFound, match="no previous version"):
        asyncio.run(engine.versions.revert())
    rebuild(engine, "index.embedder=hash_embedder:OtherEmbedder", "chunk.size=60")
    add(engine, document(77))
    engine.documents.remove(["d2"], reader=OWNER)
    report = asyncio.run(engine.versions.revert())
    assert (report.added, report.removed, report.embedded) == (1, 1, 4)
    now = engine.status()
    assert (now.documents, now.built_with.embedder, now.built_with.settings["chunk.size"]) == (10, "hash-1", 200)
    assert asyncio.run(engine.search("word77", 1, reader=OWNER))[0].chunk.document_id == "d77"
    assert asyncio.run(engine.versions.revert()).added == 0  # and forth again
    assert engine.status().built_with.embedder == "hash-2"
    assert [one.role for one in engine.status().others] == ["previous"]
    assert engine.versions.drop_previous() > 0
    assert engine.status().others == ()


def test_a_version_that_this_ragstone_cannot_bring_up_is_refused(
    engine: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
):
    add(engine, document(1))
    rebuild(engine, "index.embedder=hash_embedder:OtherEmbedder")
    monkeypatch.setattr(HashEmbedder, "fingerprint", "hash-1b")
    with pytest.raises(SettingsMismatch, match="cannot receive the documents added since; run: ragstone rebuild"):
        asyncio.run(engine.versions.revert())
    assert engine.status().built_with.embedder == "hash-2"


def test_one_rebuilds_at_a_time_and_keeps_nobody_from_adding(engine: KnowledgeBase, folder: Path):
    add(engine, document(1))
    with rebuilding(folder):
        for attempt in (engine.versions.rebuild, engine.versions.revert, engine.versions.switch):
            with pytest.raises((Locked, NotFound), match=r"is being rebuilt by process|no "):
                asyncio.run(attempt())
        assert add(engine, document(2)).added == 1


def test_built_and_compared_before_it_is_switched_to(engine: KnowledgeBase):
    add(engine, *(document(i) for i in range(30)))
    for i in range(6):
        asyncio.run(engine.ask(f"document number {i} plain", reader=OWNER))
    with pytest.raises(NotFound, match="--no-switch"):
        asyncio.run(engine.versions.switch())
    rebuild(engine, "chunk.size=70", switch=False)
    assert engine.status().built_with.settings["chunk.size"] == 200
    shown = asyncio.run(compare(engine))
    assert shown.before.chunks < shown.after.chunks
    assert len(shown.asked) == 6
    assert all(0 <= one.overlap <= 1 for one in shown.asked)
    assert shown.overlap > 0.3
    assert shown.after.seconds > 0
    assert len(engine.history.latest_questions(50)) == 6  # those of the comparison are not the user's
    add(engine, document(99))
    assert asyncio.run(engine.versions.switch()).added == 1
    assert engine.status().built_with.settings["chunk.size"] == 70
    assert engine.status().documents == 31


def test_compared_on_judged_questions(engine: KnowledgeBase, workdir: Path):
    add(engine, *(document(i) for i in range(8)))
    rebuild(engine, "chunk.size=70", switch=False)
    (workdir / "set").mkdir()
    (workdir / "set" / "corpus.jsonl").write_text('{"id": "d1", "title": "", "text": "x"}\n')
    (workdir / "set" / "queries.jsonl").write_text('{"id": "q", "text": "word1"}\n{"id": "r", "text": "word2"}\n')
    (workdir / "set" / "qrels.tsv").write_text("q\td1\t1\n")
    shown = asyncio.run(compare(engine, workdir / "set"))
    assert shown.judged == 1
    assert shown.before.measures["ndcg@10"] == shown.after.measures["ndcg@10"] == 1
    assert shown.differences["mrr@10"].mean == 0


def test_overlap_counts_places(engine: KnowledgeBase):
    add(engine, *(document(i) for i in range(8)))
    hits = asyncio.run(engine.search("document", 8, reader=OWNER))
    assert overlap(hits, hits) == overlap([], hits) == 1
    assert overlap(hits, []) == 0
    assert overlap(hits[:4], hits[2:]) == 0.5


def test_settings_that_were_asked_for_give_way_to_a_rebuild(folder: Path, workdir: Path):
    """An engine that was opened with a setting of what is stored goes on when another process changes it."""
    del workdir
    asked = open_fast(folder, "rank.top_k=2")
    add(asked, *(document(i) for i in range(5)))
    other = KnowledgeBase.open(folder, [*FAST])
    rebuild(other, "chunk.size=60")
    answer = asyncio.run(asked.ask("document number 3", reader=OWNER))
    assert (len(answer.hits), answer.notices) == (2, ())
    assert add(asked, document(9)).added == 1
    assert asked.status().built_with.settings["chunk.size"] == 60
    asked.close()
    other.close()
