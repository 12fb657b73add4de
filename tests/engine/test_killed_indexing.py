"""An indexer that is killed: what it reported is there and whole, and nothing else is half there."""

import asyncio
import fcntl
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kb import add, check_whole, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.errors import Locked
from ragstone.core.records import Document

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """
import asyncio, sys
from kb import open_fast
from test_killed_indexing import document

def tell(progress):
    print(*progress.committed, flush=True)

engine = open_fast(sys.argv[1])
print("ready", flush=True)
asyncio.run(engine.documents.add([document(i) for i in range(int(sys.argv[2]))], on_progress=tell))
print("done", flush=True)
"""


def document(i: int) -> Document:
    text = "\n\n".join(f"document {i} paragraph {part} " + f"word{i} " * 20 for part in range(8))
    return Document(id=f"d{i}", text=text, metadata={"n": i})


def start(folder: Path, count: int) -> subprocess.Popen[str]:
    paths = [ROOT, ROOT / "tests", ROOT / "tests" / "engine"]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        cwd=folder.parent,
    )


def test_killed_at_random_moments(tmp_path: Path):
    rng, count, killed = random.Random(2), 400, 0
    told: set[str] = set()
    for _ in range(6):
        folder = tmp_path / "kb"
        if len(told) == count:
            shutil.rmtree(folder)
            told.clear()
        process = start(folder, count)
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        rest = "".join(process.stdout.readline() for _ in range(rng.randrange(3)))  # as many commits are told
        time.sleep(rng.random() * 0.1)
        process.kill()
        rest += process.stdout.read()
        process.wait()
        process.stdout.close()
        whole_lines = rest[: rest.rfind("\n") + 1]
        told |= set(whole_lines.split()) - {"done"}
        killed += "done" not in rest
        engine = open_fast(folder, create=False)
        catalog = parts(engine).source.path / "catalog.db"
        stored = {one.id: one for one in parts(engine).catalog.documents()}
        check_whole(catalog, {id: document(int(id[1:])) for id in stored})
        assert told <= set(stored)
        if told:
            report = add(engine, document(int(min(told)[1:])))
            assert (report.unchanged, report.embedded) == (1, 0)
            assert engine.status().behind == 0
        told = set(stored)
        engine.close()
    assert killed > 3
    engine = open_fast(tmp_path / "kb", create=False)
    add(engine, *(document(i) for i in range(count)))
    check_whole(parts(engine).source.path / "catalog.db", {f"d{i}": document(i) for i in range(count)})
    engine.close()


def test_a_second_indexer_is_told_who_holds_the_lock(tmp_path: Path):
    folder = tmp_path / "kb"
    open_fast(folder).close()
    with (folder / "lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write("process 4711 (somebody) since yesterday")
        lock.flush()
        engine = open_fast(folder, create=False)
        for attempt in (lambda: add(engine, document(1)), lambda: engine.documents.remove([], reader=OWNER)):
            before = time.monotonic()
            with pytest.raises(Locked, match="process 4711"):
                attempt()
            assert time.monotonic() - before < 20
    assert add(engine, document(1)).added == 1
    assert f"process {os.getpid()}" in (folder / "lock").read_text()
    engine.close()


def test_the_lock_dies_with_its_process(tmp_path: Path):
    folder = tmp_path / "kb"
    process = start(folder, 3000)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    assert process.stdout.readline()
    engine = open_fast(folder, create=False)
    with pytest.raises(Locked, match=f"process {process.pid}"):
        add(engine, document(0))
    process.kill()
    process.communicate()
    assert add(engine, document(0)).unchanged == 1
    engine.close()


def test_questions_are_answered_while_another_process_indexes(tmp_path: Path):
    folder = tmp_path / "kb"
    engine = open_fast(folder)
    add(engine, document(0))
    process = start(folder, 400)
    assert process.stdout
    process.stdout.readline()
    seen, notices = [], set()
    while process.poll() is None and len(seen) < 200:
        answer = asyncio.run(engine.ask("document 0 paragraph 3", reader=OWNER))
        assert not answer.abstained or not answer.citations
        notices |= set(answer.notices)
        for hit in asyncio.run(engine.search("paragraph", 20, reader=OWNER)):
            assert hit.chunk.text == document(int(hit.chunk.document_id[1:])).text[hit.chunk.start : hit.chunk.end]
        seen.append(engine.status().documents)
    process.communicate()
    assert seen == sorted(seen)
    assert all("an ingest is running" in notice for notice in notices)
    assert asyncio.run(engine.ask("word399", reader=OWNER)).notices == ()
    assert engine.status().documents == 400
    engine.close()
