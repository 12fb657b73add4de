"""How many questions run at once, and who is next."""

import asyncio
from collections.abc import Sequence

import pytest

from ragstone.serve.http.errors import Refused
from ragstone.serve.http.question_slots import LEAST, MAX_WAITING, RECENT, QuestionSlots, slots_for
from ragstone.settings.load import load


class Line:
    """Questions that run until they are told to end, one step of the event loop at a time."""

    def __init__(self, count: int) -> None:
        self.now = 0.0
        self.slots = QuestionSlots(count, lambda: self.now)
        self.slots.opened.set()
        self.order: list[str] = []
        self.running: list[tuple[str, asyncio.Event]] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def ask(self, caller: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._question(caller))
        await self.settle()
        return task

    async def _question(self, caller: str) -> None:
        async with self.slots.slot(caller):
            self.order.append(caller)
            ended = asyncio.Event()
            self.running.append((caller, ended))
            await ended.wait()

    async def end(self, at: int = 0) -> None:
        self.running.pop(at)[1].set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


async def started(callers: Sequence[str], slots: int) -> Line:
    line = Line(slots)
    line.tasks = [await line.ask(caller) for caller in callers]
    return line


def test_callers_take_turns():
    async def run() -> list[str]:
        line = await started("aaaaaabcb", 2)
        while line.running:
            await line.end()
        return line.order

    assert asyncio.run(run()) == [*"aabacbaaa"]


def test_next_is_who_runs_fewest():
    """A caller whose questions take long does not get a second slot while another has none."""

    async def run() -> list[str]:
        line = await started("ababab", 2)
        await line.end(0)  # one of a; b still runs one
        await line.end(1)  # the next of a
        return line.order

    assert asyncio.run(run()) == [*"ab", *"aa"]


def test_turns_are_by_work():
    """Whoever had a long question waits for others who had several short ones."""

    async def run() -> list[str]:
        line = await started("a", 1)
        line.now += 5
        line.tasks += [await line.ask(caller) for caller in "abbb"]
        while line.running:
            await line.end()
            line.now += 0.1
        return line.order

    assert asyncio.run(run()) == [*"abbba"]


def test_long_questions_leave_a_slot_to_others():
    async def run() -> tuple[list[str], list[str]]:
        line = await started("ba", 2)
        await line.end(0)  # b has had a short one
        line.now += 5
        line.tasks.append(await line.ask("a"))  # while the first one of a still runs
        before = [*line.order]
        line.tasks.append(await line.ask("b"))
        return before, line.order

    assert asyncio.run(run()) == ([*"ba"], [*"bab"])


def test_long_questions_take_every_slot_that_nobody_wants():
    async def run() -> list[str]:
        line = await started("ba", 2)
        await line.end(0)
        line.now += RECENT + 1
        line.tasks.append(await line.ask("a"))
        return line.order

    assert asyncio.run(run()) == [*"baa"]


def test_one_caller_fills_all_slots():
    async def run() -> tuple[list[str], int]:
        line = await started("aaaa", 3)
        return line.order, line.slots.waiting

    assert asyncio.run(run()) == (["a"] * 3, 1)


def test_a_client_who_leaves_leaves_the_line():
    async def run() -> tuple[list[str], int]:
        line = await started("abbc", 1)
        line.tasks[1].cancel()
        line.tasks[2].cancel()
        await line.settle()
        waiting = line.slots.waiting
        while line.running:
            await line.end()
        return line.order, waiting

    assert asyncio.run(run()) == (["a", "c"], 1)


def test_a_turn_that_comes_too_late_goes_to_the_next():
    async def run() -> list[str]:
        line = await started("abc", 1)
        line.running.pop()[1].set()
        for _ in range(10):  # until the turn of b has come, and b has not noticed yet
            await asyncio.sleep(0)
            if line.slots.waiting == 1:
                break
        line.tasks[1].cancel()
        await line.settle()
        return line.order

    assert asyncio.run(run()) == ["a", "c"]


def test_waits_until_the_models_are_loaded():
    async def run() -> tuple[list[str], list[str]]:
        line = Line(1)
        line.slots.opened.clear()
        task = await line.ask("a")
        before = [*line.order]
        line.slots.opened.set()
        await line.settle()
        task.cancel()
        return before, line.order

    assert asyncio.run(run()) == ([], ["a"])


def test_refuses_who_fills_the_line():
    async def run() -> list[str]:
        line = await started(["a"] * (MAX_WAITING + 1), 1)
        for caller in "ab":
            try:
                async with asyncio.timeout(0.01), line.slots.slot(caller):
                    pass
            except Refused:
                line.order.append(f"{caller} refused")
            except TimeoutError:
                line.order.append(f"{caller} waits")
        return line.order

    assert asyncio.run(run()) == ["a", "a refused", "b waits"]


@pytest.mark.parametrize(
    ("setting", "few"),
    [
        ("rank.reranker=maxsim", True),
        ("respond.model.name=openai:small", False),
        ("index.embedder=openai:small", False),
        ("index.vectors=qdrant", False),
        ("query.web.engine=searxng", False),
        ("review.judge=model", False),
    ],
)
def test_few_run_at_once_if_they_only_compute(monkeypatch: pytest.MonkeyPatch, setting: str, few: bool):
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert slots_for(load([setting]).settings, 64) == (LEAST if few else 64)
    assert slots_for(load([setting]).settings, 1) == 1
