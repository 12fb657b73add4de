"""What every queue of jobs promises to those who put, and to workers who take, come and go."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.core.reports import AddReport
from ragstone.core.traces import Traces
from ragstone.engine.jobs.journal import JournalJobs
from ragstone.engine.jobs.postgres import PostgresJobs
from ragstone.engine.jobs.queue import Job, JobCounts, JobQueue, Work
from ragstone.history.journal import Journal
from servers.postgres_server import PostgresServer

OpenQueue = Callable[[], JobQueue]
DAY = 86_400.0
LONG, OVER = 60.0, 0.0
"""Leases: one that lasts, and one that has run out when it is given."""
TRIES = 3


def works(*names: str) -> list[Work]:
    return [Work(files=(name,)) for name in names]


@pytest.fixture(params=["journal", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenQueue]:
    """Gives the same queue as another process would see it."""
    queues: list[JobQueue] = []
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        settings = server.settings(server.database("jobs"))

    def make() -> JobQueue:
        if request.param == "postgres":
            queues.append(PostgresJobs(settings, "q", TRIES))
        else:
            queues.append(JournalJobs(Journal(tmp_path), tries=TRIES))
        return queues[-1]

    yield make
    for queue in queues:
        queue.close()


def taken(queue: JobQueue, worker: str = "w", lease: float = LONG) -> Job:
    job = queue.take(worker, lease)
    assert job is not None
    return job


def done(queue: JobQueue, job: Job) -> bool:
    return queue.end(replace(job, state="done", report=AddReport(added=1)))


def test_an_empty_queue_has_nothing(opened: OpenQueue) -> None:
    queue = opened()
    assert queue.take("w", LONG) is None
    assert queue.get("x") is None
    assert queue.last(5) == []
    assert queue.counts() == JobCounts()


def test_jobs_are_taken_in_their_order_each_by_one(opened: OpenQueue) -> None:
    queue, other = opened(), opened()
    put = queue.put("add", works("a", "b", "c"), "reader")
    assert [job.work.files for job in put] == [("a",), ("b",), ("c",)]
    first, second = taken(queue, "one"), taken(other, "two")
    assert [first.id, second.id] == [put[0].id, put[1].id]
    assert (first.state, first.server, first.tries, first.reader) == ("running", "one", 1, "reader")
    assert other.counts() == JobCounts(waiting=1, running=2)
    assert done(queue, first)
    assert done(other, second)
    assert done(other, taken(other, "two"))
    assert queue.take("one", LONG) is None
    assert queue.counts() == JobCounts(done=3)
    assert [job.report for job in queue.last(2)] == [AddReport(added=1)] * 2
    assert [job.id for job in queue.last(9)] == [job.id for job in reversed(put)]


def test_whose_lease_has_run_out_has_lost_the_job(opened: OpenQueue) -> None:
    queue = opened()
    queue.put("add", works("a"))
    lost = taken(queue, "killed", OVER)
    again = taken(queue, "next")
    assert (again.id, again.tries) == (lost.id, 2)
    assert not queue.hold(lost, LONG)
    assert not done(queue, lost)
    assert queue.hold(again, LONG)
    assert done(queue, again)
    assert not queue.hold(again, LONG)
    found = queue.get(lost.id)
    assert found is not None
    assert (found.state, found.server) == ("done", "next")


def test_erased_documents_leave_every_job(opened: OpenQueue) -> None:
    queue = opened()
    waiting, alone, over = queue.put(
        "add", [Work(files=files) for files in (("a.md", "b.md"), ("a.md",), ("a.md", "c.md"))]
    )
    queue.erase(Traces(names=frozenset(["z.md"])))
    assert len(queue.last(9)) == 3
    assert done(queue, [taken(queue) for _ in range(3)][2])
    queue.erase(Traces(names=frozenset(["a.md"])))
    assert [queue.get(job.id) and queue.get(job.id).work.files for job in (waiting, alone, over)] == [
        ("b.md",),
        None,
        None,
    ]


def test_a_lease_that_is_renewed_lasts(opened: OpenQueue) -> None:
    queue = opened()
    queue.put("add", works("a"))
    job = taken(queue, "slow", OVER)
    assert queue.hold(job, LONG)
    assert queue.take("other", LONG) is None


def test_a_lease_from_before_the_clock_was_set_back_is_over(opened: OpenQueue) -> None:
    queue = opened()
    queue.put("add", works("a"))
    lost = taken(queue, "killed", DAY)  # ends as late as a lease of a minute if the clock is set back by a day
    again = taken(queue, "next")
    assert (again.id, again.tries) == (lost.id, 2)


def test_what_is_given_back_is_free_and_was_no_try(opened: OpenQueue) -> None:
    queue = opened()
    queue.put("add", works("a"))
    for _ in range(TRIES + 1):
        job = taken(queue)
        assert queue.end(replace(job, state="waiting"), counted=False)
    assert taken(queue).tries == 1


def test_what_failed_waits_and_tells_why(opened: OpenQueue) -> None:
    queue = opened()
    queue.put("add", works("a"))
    job = taken(queue)
    assert queue.end(replace(job, state="waiting", error="the service is away"), pause=LONG)
    assert queue.take("w", LONG) is None
    found = queue.get(job.id)
    assert found is not None
    assert (found.state, found.tries, found.error) == ("waiting", 1, "the service is away")


def test_times_are_those_of_the_clock_of_the_queue(tmp_path: Path) -> None:
    journal, now = Journal(tmp_path), [1000.0]
    journal.clock = lambda: now[0]
    with closing(JournalJobs(journal, tries=TRIES)) as queue:
        queue.put("add", works("a"))
        assert queue.end(replace(taken(queue), state="waiting"), pause=LONG)
        now[0] += LONG - 1
        assert queue.take("w", LONG) is None
        now[0] += 1
        job = taken(queue)
        assert done(queue, job)
        assert [one.ended for one in queue.last(1)] == [1000.0 + LONG]


def test_a_job_that_ends_its_workers_is_given_up(opened: OpenQueue) -> None:
    queue = opened()
    queue.put("add", works("poison", "good"))
    for _ in range(TRIES):
        assert taken(queue, "killed", OVER).work.files == ("poison",)
    assert taken(queue).work.files == ("good",)
    failed = queue.last(2)[1]
    assert failed.state == "failed"
    assert failed.error == "interrupted 3 times while it was running; submit it again to retry"
    assert queue.counts() == JobCounts(running=1, failed=1)


def test_what_follows_a_source_waits_for_what_was_to_be_added_before(opened: OpenQueue) -> None:
    queue = opened()
    queue.put("add", works("a", "b"))
    (sync,) = queue.put("sync", [Work(sources=("docs",))])
    queue.put("add", works("later"))
    first, second, later = taken(queue), taken(queue), taken(queue)
    assert later.work.files == ("later",)
    assert done(queue, first)
    assert queue.take("w", LONG) is None
    assert done(queue, second)
    assert taken(queue).id == sync.id


def test_what_waits_already_is_not_put_again(opened: OpenQueue) -> None:
    queue = opened()
    put = queue.put("add", works("a", "b"))
    taken(queue)
    again = opened().put("add", works("a", "b", "b", "c"))
    assert again[1] == put[1]
    assert again[0].id != put[0].id
    assert len(again) == 3
    assert queue.counts() == JobCounts(waiting=3, running=1)
    assert queue.put("add", works("b"), "somebody else")[0].id != put[1].id


def test_new_jobs_are_not_compared_with_each_that_waits(opened: OpenQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a folder of a million files, told to be added again, holds up all who write for minutes."""
    queue, compared = opened(), list[object]()
    queue.put("add", works("a", "b", "c"), "reader")
    monkeypatch.setattr(Job, "__eq__", lambda one, other: bool(compared.append(other)) or one is other)
    queue.put("add", works("c", "d", "e"), "reader")
    assert compared == []
    assert queue.counts() == JobCounts(waiting=5)


def test_many_workers_never_take_the_same(opened: OpenQueue) -> None:
    opened().put("add", works(*map(str, range(40))))
    took: Counter[str] = Counter()

    def work(name: str, queue: JobQueue) -> None:
        while job := queue.take(name, LONG):
            took[job.id] += 1
            assert done(queue, job)

    threads = [threading.Thread(target=work, args=(f"w{i}", opened())) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(took) == 40
    assert set(took.values()) == {1}
    assert opened().counts() == JobCounts(done=40)


def test_queues_in_one_database_are_apart(postgres: PostgresServer) -> None:
    settings = postgres.settings(postgres.database("jobs"))
    one, other = PostgresJobs(settings, "one", TRIES), PostgresJobs(settings, "other", TRIES)
    one.put("add", works("a"))
    other.put("sync", works("b"))
    assert other.counts() == JobCounts(waiting=1)
    assert taken(other).work.files == ("b",)
    assert taken(one).work.files == ("a",)
    one.close()
    other.close()
