"""What happened, by the hour and the day: right in one process and in several, saved, and pruned."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest
from kb import add, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, EvidenceFound, Usage
from ragstone.core.errors import UsageError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.journal import Journal
from ragstone.history.statistics import Statistics, Tally
from ragstone.history.store import DAY

NOON = 1_767_268_800.0  # 2026-01-01T12:00 UTC


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(tmp_path / "kb")
    add(engine, Document(id="lunch.md", text="The canteen opens at noon."))
    yield engine
    engine.close()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path)
    yield journal
    journal.close()


def answer(milliseconds: float = 10.0, *, abstained: bool = False, confidence: float = 0.5) -> Answer:
    return Answer(
        response_id="r", question="q", answer="a", outcome="refusal" if abstained else "answer",
        citations=(), sources=(), confidence=confidence,
        retrieval_method="hybrid", timestamp="", timings_ms={"total": milliseconds}, usage=Usage(cached=("search",)),
    )  # fmt: skip


def test_questions_are_counted_by_how_they_ended(tmp_path: Path) -> None:
    engine = KnowledgeBase.open(tmp_path / "kb", create=True)
    add(engine, Document(id="lunch.md", text="The canteen opens at noon."))

    async def some() -> None:
        for question in ("When does the canteen open?", "When does the canteen open?", "Who is the king of zebras?"):
            await engine.ask(question, reader=OWNER)
        with pytest.raises(UsageError):
            await engine.ask(" ", reader=OWNER)
        async with aclosing(engine.stream("Where is the canteen?", reader=OWNER)) as events:
            assert isinstance(await anext(events), EvidenceFound)
        await engine.search("canteen", reader=OWNER)

    asyncio.run(some())
    total = engine.history.statistics().total
    engine.close()
    assert (total.questions, total.answered, total.refused, total.failed, total.stopped) == (5, 2, 1, 1, 1)
    assert total.failures == {"UsageError": 1}
    assert (total.searches, total.degraded) == (1, 0)
    assert total.cache_hits["search"] + total.cache_misses["search"] == 3
    assert total.cache_hits == {"search": 1, "answer": 1}
    found = total.found_by
    assert found["bm25"] >= 3
    assert found["bm25"] == found.get("only bm25", 0) + found.get("both", 0)
    assert found["vector"] == found.get("only vector", 0) + found.get("both", 0)
    assert total.times_ms["total"].count == 3
    assert total.times_ms["search only"].count == 1
    assert total.confidence is not None
    assert 0.5 < total.confidence <= 1


def test_they_outlive_the_process_and_processes_add_up(engine: KnowledgeBase, tmp_path: Path) -> None:
    asyncio.run(engine.ask("When does the canteen open?", reader=OWNER))
    program = (
        "import asyncio\nfrom pathlib import Path\nfrom kb import open_fast\nfrom ragstone.core.access import OWNER\n"
        f"engine = open_fast(Path({str(tmp_path / 'kb')!r}), create=False)\n"
        "asyncio.run(engine.ask('When does the canteen open?', reader=OWNER))\nengine.close()\n"
    )
    tests = str(Path(__file__).parent.parent)
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tests)
    assert engine.history.statistics().total.questions == 2
    engine.close()
    again = open_fast(tmp_path / "kb", create=False)
    try:
        report = again.history.statistics()
    finally:
        again.close()
    assert report.total.questions == 2
    assert sum(day.questions for day in report.daily) == sum(hour.questions for hour in report.hourly) == 2


def test_nothing_is_written_for_a_question(engine: KnowledgeBase, tmp_path: Path) -> None:
    asyncio.run(engine.ask("When does the canteen open?", reader=OWNER))
    with parts(engine).history.journal().reading() as db:
        assert db is not None
        assert db.execute("SELECT count(*) FROM hours").fetchone() == (0,)
    engine.close()
    with Journal(tmp_path / "kb").reading() as db:
        assert db is not None
        assert db.execute("SELECT count(*) FROM hours").fetchone()[0] > 5
        db.close()


def test_averages_move_by_a_tenth_of_each_answer(tmp_path: Path) -> None:
    for confidence, milliseconds in ((0.5, 10.0), (1.0, 20.0)):  # each in a process of its own
        journal = Journal(tmp_path)
        counts = Statistics(journal, days=7, clock=lambda: NOON)
        counts.note_answer(answer(milliseconds, confidence=confidence), degraded=False, cached=False)
        before = counts.report(7)
        counts.save()
        assert counts.report(7) == before
        journal.close()
    assert before.moving == {"both": 0, "only vector": 0, "only bm25": 0, "milliseconds": 11.0, "confidence": 0.55}
    assert before.total.questions == 2
    assert [one.period for one in before.daily] == [one.period[:10] for one in before.hourly]


def test_they_are_saved_after_a_while(journal: Journal) -> None:
    saved = threading.Event()
    counts = Statistics(journal, days=7, every=0.05, clock=lambda: NOON)
    counts.note_answer(answer(), degraded=False, cached=True)
    for _ in range(200):
        with journal.reading() as db:
            if db and db.execute("SELECT count(*) FROM hours").fetchone()[0]:
                saved.set()
                break
        saved.wait(0.05)
    assert saved.is_set()
    counts.close()


def test_hours_and_days_are_told_apart_and_old_ones_go(journal: Journal) -> None:
    now = [NOON]
    counts = Statistics(journal, days=7, clock=lambda: now[0])
    for hours, confidence in ((0, 0.25), (1, 0.75), (24, 1.0), (24 * 7, 0.5)):
        now[0] = NOON + hours * 3600
        counts.note_answer(answer(confidence=confidence), degraded=hours == 1, cached=True)
        counts.save()
    counts.note_answer(answer(abstained=True), degraded=False, cached=False)
    report = counts.report(3650)
    assert [day.period for day in report.daily] == ["2026-01-08", "2026-01-02", "2026-01-01"]
    assert [hour.period for hour in report.hourly][-2:] == ["2026-01-01T13", "2026-01-01T12"]
    assert (report.total.answered, report.total.refused, report.total.degraded) == (4, 1, 1)
    assert report.total.confidence == pytest.approx(0.625)
    assert [day.answered for day in counts.report(6.5).daily] == [1, 1]
    now[0] += 2 * 3600
    counts.note_failure(ValueError())
    counts.save()
    assert [hour.period for hour in counts.report(3650).hourly][-1] == "2026-01-02T12"
    now[0] += 30 * DAY
    assert counts.report(1).total.questions == 0


def test_what_cannot_be_saved_is_still_counted(journal: Journal, tmp_path: Path) -> None:
    counts = Statistics(journal, days=7, clock=lambda: NOON)
    counts.note_answer(answer(), degraded=False, cached=True)
    counts.save()
    journal.close()
    whole = journal.path.read_bytes()
    for beside in tmp_path.glob("journal.db-*"):
        beside.unlink()
    journal.path.write_bytes(b"nothing " * 600)
    counts.note_answer(answer(), degraded=False, cached=True)
    counts.close()
    journal.close()
    journal.path.write_bytes(whole)
    counts.close()
    assert counts.report(7).total.answered == 2


def test_two_processes_saving_at_once_lose_nothing(journal: Journal, tmp_path: Path) -> None:
    others = [Journal(tmp_path) for _ in range(3)]

    def work(one: Journal) -> None:
        counts = Statistics(one, days=7, clock=lambda: NOON)
        for _ in range(20):
            counts.note_answer(answer(), degraded=False, cached=True)
            counts.save()
        one.close()

    threads = [threading.Thread(target=work, args=(one,)) for one in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = Statistics(journal, days=7, clock=lambda: NOON).report(7)
    assert (report.total.answered, report.total.times_ms["total"].count) == (60, 60)


@pytest.mark.parametrize("scale", [0.5, 8.0, 900.0])
def test_percentiles_are_right_to_a_tenth(scale: float) -> None:
    chance = random.Random(7)
    values = [chance.lognormvariate(0, 0.7) * scale for _ in range(5000)]
    tally = Tally()
    for value in values:
        tally.measure(value)
    times = tally.times()
    assert times.mean == pytest.approx(np.mean(values), rel=1e-2)
    assert times.p50 == pytest.approx(np.percentile(values, 50), rel=0.1)
    assert times.p95 == pytest.approx(np.percentile(values, 95), rel=0.1)
