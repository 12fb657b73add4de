"""The cache by itself: what was put in comes out whole or not at all, within bounds, whatever becomes of the file."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.storage import cache as module
from ragstone.storage import cache_key
from ragstone.storage.cache import FileCache, Limit
from ragstone.storage.cache_key import key

LIMITS = {"big": Limit(bytes=1_000_000), "small": Limit(bytes=20_000)}
WRITER = """
import sys
from pathlib import Path
from ragstone.storage.cache import FileCache, Limit
from ragstone.storage.cache_key import key
cache = FileCache(Path(sys.argv[1]), {"big": Limit(bytes=1_000_000)})
for i in range(300):
    cache.put("big", {key(i): key("value", i) * 20})
    found = cache.get("big", [key(i)])
    assert found in ({}, {key(i): key("value", i) * 20}), found
cache.close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.db"


def test_what_was_put_is_there_for_others_and_later(path: Path):
    one, other = FileCache(path, LIMITS), FileCache(path, LIMITS)
    one.put("big", {key(1): b"one", key(2): b""})
    assert other.get("big", [key(1), key(2), key(3)]) == {key(1): b"one", key(2): b""}
    assert other.get("small", [key(1)]) == {}
    one.close()
    other.close()
    again = FileCache(path, LIMITS)
    assert again.get("big", [key(1)]) == {key(1): b"one"}
    (big, _) = again.status()
    assert (big.kind, big.entries, big.hits, big.misses) == ("big", 2, 3, 1)
    again.clear()
    assert again.get("big", [key(1)]) == {}
    assert again.status()[0].entries == 0
    again.close()


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6000)), max_size=60))
def test_it_never_outgrows_its_limit(values: list[tuple[int, int]]):
    with tempfile.TemporaryDirectory() as folder:
        cache, put = FileCache(Path(folder) / "cache.db", LIMITS), {}
        for name, size in values:
            if size + module.OVERHEAD <= LIMITS["small"].bytes // 4:
                put[key(name)] = bytes([name]) * size
                cache.put("small", {key(name): put[key(name)]})
            assert cache.status()[1].megabytes <= LIMITS["small"].bytes / 1e6
        found = cache.get("small", list(put))
        assert found.items() <= put.items()
        assert cache.status()[1].entries == len(found)
        cache.close()


def test_the_longest_unused_go_first(path: Path, monkeypatch: pytest.MonkeyPatch):
    cache, now = FileCache(path, LIMITS), [1_000_000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    for i in range(9):
        cache.put("small", {key(i): b"x" * 2000})
        now[0] += 1
    now[0] += module.PERIOD / 1000
    assert cache.get("small", [key(0)])
    now[0] += 1
    for i in range(9, 13):
        cache.put("small", {key(i): b"x" * 2000})
    found = cache.get("small", [key(i) for i in range(13)])
    assert key(0) in found
    assert key(1) not in found
    assert key(12) in found
    assert cache.latest("small", 1) == [b"x" * 2000]
    cache.close()


def test_of_many_entries_the_least_recently_used_goes(path: Path, monkeypatch: pytest.MonkeyPatch):
    cache, now = FileCache(path, {"few": Limit(bytes=10**6, entries=3)}), [1_000_000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    for i in range(3):
        cache.put("few", {key(i): b"x"})
        now[0] += 0.01
    assert cache.get("few", [key(0)])
    now[0] += 0.01
    cache.put("few", {key(3): b"x"})
    assert set(cache.get("few", [key(i) for i in range(4)])) == {key(0), key(2), key(3)}
    assert cache.status()[0].entries == 3
    cache.close()


def test_a_value_expires_however_often_it_is_used(path: Path, monkeypatch: pytest.MonkeyPatch):
    cache, now = FileCache(path, {"short": Limit(bytes=10**6, seconds=60)}), [1_000_000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    cache.put("short", {key(1): b"x"})
    now[0] += 59
    assert cache.get("short", [key(1)])
    now[0] += 2
    assert cache.get("short", [key(1)]) == {}
    assert (cache.status()[0].hits, cache.status()[0].misses) == (1, 1)
    cache.put("short", {key(2): b"x"})
    assert cache.status()[0].entries == 1
    cache.close()


def test_counts_survive_a_write_that_is_undone(path: Path, monkeypatch: pytest.MonkeyPatch):
    cache = FileCache(path, LIMITS)
    cache.put("big", {key(1): b"one"})
    cache.get("big", [key(1), key(2)])

    def fail(*_: object) -> None:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(module, "_make_room", fail)
        cache.put("big", {key(3): b"three"})
    big = cache.status()[0]
    assert (big.entries, big.hits, big.misses) == (1, 1, 1)
    assert (cache.status()[0].hits, cache.status()[0].misses) == (1, 1)
    cache.close()


def test_what_is_too_large_is_not_kept(path: Path):
    cache = FileCache(path, LIMITS)
    cache.put("small", {key(1): b"x" * 19_000, key(2): b"x"})
    assert cache.get("small", [key(1), key(2)]) == {key(2): b"x"}
    cache.close()


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_another_file_is_thrown_away(path: Path, content: bytes):
    path.write_bytes(content)
    cache = FileCache(path, LIMITS)
    cache.put("big", {key(1): b"one"})
    assert cache.get("big", [key(1)]) == {key(1): b"one"}
    cache.close()


def test_another_format_is_thrown_away(path: Path):
    with sqlite3.connect(path) as db:
        db.executescript("CREATE TABLE entries (what TEXT); CREATE TABLE more (what TEXT); PRAGMA user_version = 99")
    db.close()
    cache = FileCache(path, LIMITS)
    cache.put("big", {key(1): b"one"})
    assert cache.get("big", [key(1)]) == {key(1): b"one"}
    cache.close()


def test_flipped_bits_are_found_or_harmless(path: Path):
    """A value comes out as it was put in, or not at all."""
    rng = random.Random(4)
    put = {key(i): rng.randbytes(700) for i in range(60)}
    cache = FileCache(path, LIMITS)
    cache.put("big", put)
    cache.close()
    whole = path.read_bytes()
    for _ in range(150):
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        broken = bytearray(whole)
        for _ in range(rng.choice([1, 1, 1, 40])):
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        path.write_bytes(broken[: rng.choice([len(broken), len(broken), rng.randrange(len(broken))])])
        cache = FileCache(path, LIMITS)
        assert cache.get("big", list(put)).items() <= put.items()
        cache.put("big", {key("new"): b"new"})
        assert cache.get("big", [key("new")]) in ({}, {key("new"): b"new"})
        assert cache.get("big", list(put)).items() <= put.items()
        cache.status()
        cache.latest("big", 5)
        cache.close()


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path):
    cache = FileCache(tmp_path / "missing" / "cache.db", LIMITS)
    cache.put("big", {key(1): b"one"})
    assert cache.get("big", [key(1)]) == {}
    assert cache.status()[0].entries == 0
    cache.clear()
    cache.close()


def test_turned_off_it_makes_no_file(path: Path):
    for limits in ({}, {"big": Limit(bytes=0)}):
        cache = FileCache(path, limits)
        cache.put("big", {key(1): b"one"})
        assert cache.get("big", [key(1)]) == {}
        assert (cache.keeps("big"), cache.status()) == (False, ())
        cache.close()
    assert not path.exists()


def test_several_processes_write_at_once(path: Path):
    command = [sys.executable, "-c", WRITER, str(path)]
    processes = [subprocess.Popen(command, cwd=Path(__file__).parent.parent) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    cache = FileCache(path, LIMITS)
    found = cache.get("big", [key(i) for i in range(300)])
    assert len(found) > 250
    assert all(found[key(i)] == key("value", i) * 20 for i in range(300) if key(i) in found)
    (big, _) = cache.status()
    assert big.entries == len(found)
    cache.close()


def test_keys_tell_values_apart():
    values = [1, 1.0, True, "1", b"1", ("1",), "", (), None, ("a", "b"), ("ab",), "\ud800", ("a,b",)]
    assert len({key(value) for value in values}) == len(values)
    assert key("a", "b") != key("ab") != key(("a", "b"))


def test_values_do_not_outlive_the_code_that_made_them(tmp_path: Path):
    words = tmp_path / "respond" / "words.yaml"
    words.parent.mkdir()
    words.write_text("refusal: no answer")
    before = cache_key.stamp_of(tmp_path)
    words.write_text("refusal: no answer found")
    assert cache_key.stamp_of(tmp_path) != before


def test_the_code_of_a_value_is_the_whole_package(monkeypatch: pytest.MonkeyPatch):
    stamped: list[Path] = []
    monkeypatch.setattr(cache_key, "stamp_of", lambda package: stamped.append(package) or "")
    cache_key.code_version.__wrapped__()
    assert stamped == [Path(ragstone.__file__).parent]
