"""Two servers on hosts of their own behave as one, and one that is killed takes nothing along."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from host import balanced, get, post, status
from kb import READY, add, open_fast

from ragstone.core.records import Document
from ragstone.history.keys import Keys
from servers.postgres_server import PostgresServer

PEOPLE, ASKED = 2, 6
"""People who ask at once, and questions of each."""


@pytest.fixture(scope="module")
def settings(postgres: PostgresServer) -> list[str]:
    dsn = f"services.postgres.dsn={postgres.address(postgres.database('hosts'))}"
    return [dsn, "index.catalog=postgres", "services.postgres.catalog=team", READY, "services.engine_seconds=100"]


@pytest.fixture
def folders(tmp_path: Path, settings: list[str]) -> list[Path]:
    """Two hosts, and rooms to ask about."""
    with closing(open_fast(tmp_path / "one", *settings)) as engine:
        add(engine, *(Document(id=f"room{n}", text=f"The room number {n} is called n{n}.") for n in range(9)))
    return [tmp_path / "one", tmp_path / "two"]


def test_a_killed_server_loses_no_turn_no_vote_and_no_key(folders: list[Path], settings: list[str]) -> None:
    chance = random.Random(22)
    with closing(open_fast(folders[0], *settings)) as engine, closing(engine.history.journal()) as journal:
        keys = [Keys(journal).make(f"person {n}", ["read"])[1] for n in range(PEOPLE)]
        with balanced(folders, settings) as (processes, proxy):
            fatal, acknowledged = chance.randrange(2, 7), threading.Semaphore(0)

            def talk(person: int) -> list[str]:
                answered = list[str]()
                for n in range(ASKED):
                    question = f"What is room number {n} called?"
                    answer = post(proxy, "/query", keys[person], question=question, session="s")
                    assert f"n{n}" in answer["answer"]
                    post(proxy, "/feedback", keys[person], response_id=answer["response_id"], vote="up")
                    answered.append(answer["response_id"])
                    acknowledged.release()
                return answered

            def kill() -> None:
                for _ in range(fatal):
                    acknowledged.acquire(timeout=60)
                processes[chance.randrange(2)].kill()

            with ThreadPoolExecutor() as pool:
                killing = pool.submit(kill)
                answered = list(pool.map(talk, range(PEOPLE)))
                killing.result()
            _, secret = Keys(journal).make("late", ["read"])
            deadline = time.monotonic() + 30
            while status(proxy, "/conversations", secret) != 200:  # a server reads the list of keys twice a second
                assert time.monotonic() < deadline
                time.sleep(0.05)
            for key, ids in zip(keys, answered, strict=True):
                turns = get(proxy, "/conversations/s", key)["turns"]
                assert set(ids) <= {one["response_id"] for one in turns}
                assert len(turns) <= ASKED + 1, "one whose reply was lost may be there twice"
                for id in ids:
                    (said,) = get(proxy, f"/responses/{id}", key)["feedback"]
                    assert said["vote"] == "up"
            assert len(proxy.ports) == 1
            assert set(proxy.retries) <= {1}
        assert journal.findings() == []
