"""What an embedded Chroma leaves in its folder is removed."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from ragstone.index.engines.chroma_files import tidy

USED, DELETED = str(UUID(int=1)), str(UUID(int=2))
SIZE, ROOM = 64, 10


def write_segment(folder: Path, name: str, *, vectors: int, header: bytes = b"") -> Path:
    segment = folder / name
    segment.mkdir()
    (segment / "header.bin").write_bytes(header or struct.pack("<iQQQQ", 1, 0, ROOM, vectors, SIZE))
    data = segment / "data_level0.bin"
    data.write_bytes(b"v" * vectors * SIZE + b"the text of an erased document.."[:32] * 2 * (ROOM - vectors))
    return data


def write_database(folder: Path, *used: str) -> Path:
    path = folder / "chroma.sqlite3"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("CREATE TABLE segments (id TEXT)")
        db.execute("CREATE TABLE vectors (vector BLOB)")
        db.executemany("INSERT INTO segments VALUES (?)", [(one,) for one in used])
        db.execute("INSERT INTO vectors VALUES (?)", (b"a vector of an erased document" * 200,))
        db.commit()
        db.execute("DELETE FROM vectors")
        db.commit()
    return path


def test_removes_what_deleted_collections_leave(tmp_path: Path) -> None:
    database = write_database(tmp_path, USED)
    data = write_segment(tmp_path, USED, vectors=3)
    write_segment(tmp_path, DELETED, vectors=3)
    (tmp_path / "other").mkdir()
    assert b"erased" in database.read_bytes()
    tidy(tmp_path)
    assert data.read_bytes() == b"v" * 3 * SIZE + bytes((ROOM - 3) * SIZE)
    assert b"erased" not in database.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [USED, "chroma.sqlite3", "other"]


@pytest.mark.parametrize(
    "header",
    [
        struct.pack("<iQQQQ", 2, 0, ROOM, 3, SIZE),
        struct.pack("<iQQQQ", 1, 0, ROOM + 1, 3, SIZE),
        struct.pack("<iQQQQ", 1, 0, ROOM, ROOM + 1, SIZE),
    ],
)
def test_leaves_files_of_unknown_form(tmp_path: Path, header: bytes) -> None:
    write_database(tmp_path, USED)
    data = write_segment(tmp_path, USED, vectors=3, header=header)
    before = data.read_bytes()
    tidy(tmp_path)
    assert data.read_bytes() == before


def test_keeps_a_database_in_use(tmp_path: Path) -> None:
    database = write_database(tmp_path, USED)
    with closing(sqlite3.connect(database)) as other:
        other.execute("BEGIN IMMEDIATE")
        tidy(tmp_path)
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("SELECT id FROM segments").fetchall() == [(USED,)]


def test_chroma_still_answers_afterwards(tmp_path: Path) -> None:
    chromadb = pytest.importorskip("chromadb", reason="needs chromadb")
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path=tmp_path, settings=settings)
    vectors = np.random.default_rng(0).normal(size=(1500, 8)).astype(np.float32)
    ids = [str(row) for row in range(len(vectors))]
    for name in ("old", "new"):
        collection = client.create_collection(name, embedding_function=None)
        for start in range(0, len(ids), 500):
            collection.upsert(ids=ids[start : start + 500], embeddings=vectors[start : start + 500])
    client.delete_collection("old")
    tidy(tmp_path)
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 1
    found = client.get_collection("new", embedding_function=None).query(query_embeddings=vectors[7:8], n_results=1)
    assert found["ids"] == [["7"]]
    chromadb.api.client.SharedSystemClient.clear_system_cache()
    again = chromadb.PersistentClient(path=tmp_path, settings=settings)
    found = again.get_collection("new", embedding_function=None).query(query_embeddings=vectors[9:10], n_results=1)
    assert found["ids"] == [["9"]]
