"""Every way to count the requests of keys keeps the same limits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from ragstone.history import counts
from ragstone.history.counts import NAME, SharedCounts, SharedRunning
from ragstone.history.limits import Exceeded, Limits, Quota

Clock = Callable[[], float]


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture(params=["own", "shared"])
def limits(request: pytest.FixtureRequest, tmp_path: Path, clock: Hands) -> Iterator[Limits]:
    made = Limits(clock=clock) if request.param == "own" else shared(tmp_path, clock, "one", "one")
    with closing(made):
        yield made


def shared(folder: Path, clock: Clock, server: str, *alive: str) -> Limits:
    return Limits(SharedCounts(folder), SharedRunning(folder, lambda: server, lambda: alive), clock)


def test_limits_bursts_and_rate(limits: Limits, clock: Hands) -> None:
    quota = Quota(per_minute=60, burst=3)
    assert [limits.begin("a", quota) for _ in range(3)] == [None] * 3
    assert limits.begin("a", quota) == Exceeded(limit="rate", seconds=1.0)
    assert limits.begin("b", quota) is None
    clock.now += 0.5
    assert limits.begin("a", quota) == Exceeded(limit="rate", seconds=0.5)
    clock.now += 0.5
    assert limits.begin("a", quota) is None
    clock.now += 3600
    assert [limits.begin("a", quota) is None for _ in range(4)] == [True, True, True, False]


def test_limits_requests_in_progress(limits: Limits) -> None:
    quota = Quota(concurrent=2)
    assert [limits.begin("a", quota) for _ in range(3)] == [None, None, Exceeded(limit="concurrent")]
    limits.end("a")
    assert limits.begin("a", quota) is None
    assert limits.begin("a", quota) == Exceeded(limit="concurrent")


def test_clock_set_back_stops_no_request(limits: Limits, clock: Hands) -> None:
    quota = Quota(per_minute=60, burst=1)
    assert limits.begin("a", quota) is None
    clock.now -= 86_400
    assert limits.begin("a", quota) == Exceeded(limit="rate", seconds=1.0)
    clock.now += 1
    assert limits.begin("a", quota) is None


def test_remembers_only_so_many(limits: Limits, monkeypatch: pytest.MonkeyPatch, clock: Hands) -> None:
    monkeypatch.setattr(counts, "MOST", 2)
    monkeypatch.setattr(counts, "TIDY", 1)
    quota = Quota(per_minute=1, burst=1)
    for key in ("a", "b", "c"):
        assert limits.begin(key, quota) is None
        clock.now += 1
    assert limits.begin("c", quota) == Exceeded(limit="rate", seconds=59.0)
    assert limits.begin("a", quota) is None, "the quietest was forgotten"


# ---------------------------------------------------------------- several processes
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=some.integers(0, 2**32), servers=some.integers(2, 3))
def test_shared_limits_admit_as_one_process(tmp_path_factory: pytest.TempPathFactory, seed: int, servers: int) -> None:
    chance, clock, folder = random.Random(seed), Hands(), tmp_path_factory.mktemp("kb")
    names = [str(number) for number in range(servers)]
    several, one = [shared(folder, clock, name, *names) for name in names], Limits(clock=clock)
    quota = Quota(per_minute=chance.choice((30, 60, 600)), burst=chance.randint(1, 5), concurrent=chance.randint(1, 4))
    under_way: list[Limits] = []
    for _ in range(40):
        clock.now += chance.choice((0.0, 0.1, 1.0))
        if under_way and chance.random() < 0.4:
            under_way.pop(chance.randrange(len(under_way))).end("key")
            one.end("key")
            continue
        server = chance.choice(several)
        found = server.begin("key", quota)
        assert found == one.begin("key", quota)
        under_way += [server] if found is None else []
    for server in several:
        server.close()


def test_forgets_requests_of_dead_processes(tmp_path: Path, clock: Hands) -> None:
    quota = Quota(concurrent=1)
    with closing(shared(tmp_path, clock, "here", "here", "there")) as here:
        there = shared(tmp_path, clock, "there")
        assert there.begin("a", quota) is None
        assert here.begin("a", quota) == Exceeded(limit="concurrent")
    with closing(shared(tmp_path, clock, "here", "here")) as here:  # the other one is gone
        assert here.begin("a", quota) is None


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 99])
def test_replaces_a_damaged_file(tmp_path: Path, clock: Hands, damage: bytes) -> None:
    quota = Quota(per_minute=60, burst=1)
    (tmp_path / NAME).write_bytes(damage)
    with closing(shared(tmp_path, clock, "here", "here")) as here, closing(shared(tmp_path, clock, "b", "b")) as other:
        here.begin("a", quota)
        clock.now += 1
        assert here.begin("b", quota) is None
        assert other.begin("b", quota) == Exceeded(limit="rate", seconds=1.0)


def test_counts_alone_without_the_file(tmp_path: Path, clock: Hands) -> None:
    quota = Quota(per_minute=60, burst=2, concurrent=2)
    with closing(shared(tmp_path / "nowhere", clock, "here", "here")) as here:
        assert [here.begin("a", quota) is None for _ in range(3)] == [True, True, False]
        here.end("a")
        assert here.begin("a", quota) == Exceeded(limit="rate", seconds=1.0)
