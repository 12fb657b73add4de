"""The cache that hosts share, on a real server: found by others, never stale, and no trouble where it is away."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, embedder_of, open_fast
from pydantic import SecretStr

from ragstone.core.access import OWNER
from ragstone.core.errors import SettingsError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings.services import RedisSettings
from ragstone.storage.cache import FileCache, Limit
from ragstone.storage.cache_redis import PREFIX, SharedCache
from servers.valkey_server import ValkeyServer, shared

LIMITS = {kind: Limit(bytes=10**6) for kind in ("embeddings", "searches", "questions")}
KEY, OTHER = b"k" * 20, b"o" * 20


@pytest.fixture
def server() -> Iterator[ValkeyServer]:
    server = shared()
    with server.client() as client:
        client.flushall()
    yield server
    if server._process is None:
        server.start()


def cache_on(server: ValkeyServer, folder: Path, *, seconds: float = 2.0, days: float = 1.0) -> SharedCache:
    folder.mkdir(exist_ok=True)
    settings = RedisSettings(url=SecretStr(server.url))
    return SharedCache(FileCache(folder / "cache.db", LIMITS), settings, seconds=seconds, days=days)


def test_what_one_host_keeps_another_finds(server: ValkeyServer, tmp_path: Path) -> None:
    with closing(cache_on(server, tmp_path / "a")) as one, closing(cache_on(server, tmp_path / "b")) as other:
        one.put("searches", {KEY: b"value"})
        assert other.get("searches", [KEY, OTHER]) == {KEY: b"value"}
        assert other.get("embeddings", [KEY]) == {}
        told = other.status()[-1]
        assert (told.kind, told.hits, told.misses, told.problem) == ("shared", 1, 2, "")
        assert told.limit_mb == pytest.approx(67.1, abs=0.1)
        server.kill()
        assert other.get("searches", [KEY]) == {KEY: b"value"}  # it is in the file by now


def test_questions_of_people_stay_at_home(server: ValkeyServer, tmp_path: Path) -> None:
    with closing(cache_on(server, tmp_path / "a")) as one, closing(cache_on(server, tmp_path / "b")) as other:
        one.put("questions", {KEY: b"what?"})
        assert other.get("questions", [KEY]) == {}
        assert other.latest("questions", 5) == []


@pytest.mark.parametrize("planted", [b"", b"abc", b"\0\0\0\0value", b"x" * 100])
def test_a_value_that_is_not_what_was_written_is_none(planted: bytes, server: ValkeyServer, tmp_path: Path) -> None:
    with closing(cache_on(server, tmp_path)) as cache, server.client() as client:
        client.set(f"{PREFIX}searches:{KEY.hex()}", planted)
        assert cache.get("searches", [KEY]) == {}
        client.delete(f"{PREFIX}searches:{KEY.hex()}")
        client.hset(f"{PREFIX}searches:{KEY.hex()}", "of", "another kind")
        assert cache.get("searches", [KEY]) == {}


def test_a_value_in_the_place_of_another_is_none(server: ValkeyServer, tmp_path: Path) -> None:
    with closing(cache_on(server, tmp_path / "a")) as one, closing(cache_on(server, tmp_path / "b")) as other:
        one.put("searches", {KEY: b"value"})
        with server.client() as client:
            client.rename(f"{PREFIX}searches:{KEY.hex()}", f"{PREFIX}searches:{OTHER.hex()}")
        assert other.get("searches", [OTHER]) == {}


def test_values_go_when_nobody_asks(server: ValkeyServer, tmp_path: Path) -> None:
    with closing(cache_on(server, tmp_path, days=2)) as cache, server.client() as client:
        cache.put("searches", {KEY: b"value"})
        assert 0 < client.ttl(f"{PREFIX}searches:{KEY.hex()}") <= 2 * 86_400


def test_clearing_forgets_ours_alone(server: ValkeyServer, tmp_path: Path) -> None:
    with closing(cache_on(server, tmp_path)) as cache, server.client() as client:
        client.set("somebody's", "own")
        cache.put("searches", {bytes([i]) * 20: b"value" for i in range(200)})
        cache.clear()
        assert client.keys() == [b"somebody's"]


def test_a_server_that_is_away_is_a_miss_and_costs_nothing(server: ValkeyServer, tmp_path: Path) -> None:
    with closing(cache_on(server, tmp_path)) as cache:
        server.kill()
        cache.put("searches", {KEY: b"value"})
        assert cache.get("searches", [KEY, OTHER]) == {KEY: b"value"}
        started = time.monotonic()
        for _ in range(200):
            cache.get("embeddings", [OTHER])
        assert time.monotonic() - started < 15  # 200 looks into the file, and one or two at the server
        assert f"Redis at 127.0.0.1:{server.port}" in cache.status()[-1].problem
        server.start()
        while cache._server.problem:  # it is tried again by itself
            assert time.monotonic() - started < 30
            time.sleep(0.05)
        cache.put("embeddings", {OTHER: b"new"})
        assert cache.status()[-1].problem == ""


def test_a_server_that_says_nothing_is_waited_for_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        cache = SharedCache(FileCache(tmp_path / "c.db", LIMITS), RedisSettings(url=SecretStr(url)), seconds=0.2)
        started = time.monotonic()
        for _ in range(60):
            assert cache.get("searches", [KEY]) == {}
        assert time.monotonic() - started < 6
        cache.close()


@pytest.mark.parametrize("url", ["memory://x", "redis://h:port", "no address"])
def test_an_address_that_is_none_is_refused_without_its_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"services\.redis\.url") as refused:
        SharedCache(FileCache(tmp_path / "c.db", LIMITS), RedisSettings(url=SecretStr(f"{url}:geheim")))
    assert "geheim" not in str(refused.value)


def opened(folder: Path, server: ValkeyServer) -> KnowledgeBase:
    return open_fast(folder, f"services.redis.url={server.url}")


def answer(engine: KnowledgeBase, question: str) -> tuple[str, list[str]]:
    found = asyncio.run(engine.ask(question, reader=OWNER))
    return found.answer, [source.title for source in found.sources]


def test_an_engine_with_it_answers_as_without(server: ValkeyServer, tmp_path: Path) -> None:
    texts = [Document(id=f"d{i}", text=f"Room {i} is called name{i}.") for i in range(20)]
    with closing(opened(tmp_path / "kb", server)) as one, closing(open_fast(tmp_path / "plain")) as plain:
        add(one, *texts)
        add(plain, *texts)
        questions = [f"What is room {i} called?" for i in range(4)]
        expected = [answer(plain, question) for question in questions]
        assert [answer(one, question) for question in questions] == expected
        # The file of one host is gone; another host has an empty one. What is shared is found all the same.
        one.close()
        FileCache(tmp_path / "kb" / "cache.db", LIMITS).clear()
    with closing(opened(tmp_path / "kb", server)) as two:
        assert [answer(two, question) for question in questions] == expected
        assert two.status().cache[-1].hits > 0
        assert not embedder_of(two).seen
        add(two, Document(id="d1", text="Room 1 is called otherwise."))
        assert "otherwise" in answer(two, questions[1])[0]  # one more commit: nothing that was kept before is used
        server.kill()
        assert "name2" in answer(two, questions[2])[0]
        assert answer(two, "Which room is called name7?")[0]
        assert any(one.problem for one in two.status().cache)
