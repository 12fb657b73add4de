"""What models cost: to the billionth, over restarts and in all processes, and never more than a budget allows."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import open_fast, parts
from scripted_model import REFUSED, ScriptedModel

from ragstone.core.answers import Message, Reply
from ragstone.core.errors import EmptyReply, KnowledgeBaseError, ModelError, SettingsError
from ragstone.core.request import BILLION, Meter, Request
from ragstone.history.journal import Journal, findings
from ragstone.history.spending import DETAILED_DAYS, Spending
from ragstone.serve.views import state
from ragstone.services.chat import complete
from ragstone.services.cost import Call, price_of
from ragstone.services.metered import Metered
from ragstone.settings.load import load, preset_names, read_preset

ROOT = Path(__file__).parent.parent
ASKED = [Message(role="user", content="one two three four")]
PRICED = "services.prices={one: [1000, 2000]}"
"""Of one token read a thousandth, of one written two."""
CALL = Call(job="j", purpose="question", model="m", prompt_tokens=4, completion_tokens=2, cost=8_000_000)


class Clock:
    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


def metered(home: Path, *settings: str, model: ScriptedModel | None = None, clock: Clock | None = None) -> Metered:
    model = model or ScriptedModel("five six")
    services = load((PRICED, *settings)).settings.services
    return Metered(model, services, Spending(Journal(home), clock or Clock()), longest=100)


def ask(model: Metered) -> Meter:
    request = Request.by_owner("question")
    asyncio.run(complete(model, ASKED, request))
    return request.meter


@pytest.mark.parametrize("budget", [(), ("services.budget_per_day=1",)])
def test_a_slow_ledger_holds_up_nobody_else(tmp_path: Path, budget: tuple[str, ...]) -> None:
    spending, others_go_on = Spending(Journal(tmp_path)), Event()

    class Slow:
        def reserve(self, call: Call, limit: int) -> tuple[int | None, int]:
            assert others_go_on.wait(10)
            return spending.reserve(call, limit)

        def settle(self, number: int | None, call: Call | None) -> None:
            assert others_go_on.wait(10)
            spending.settle(number, call)

    services = load((PRICED, *budget)).settings.services
    model = Metered(ScriptedModel("five six"), services, Slow(), longest=100)

    async def asked() -> None:
        call = asyncio.create_task(complete(model, ASKED, Request.by_owner("question")))
        await asyncio.sleep(0.05)
        others_go_on.set()
        await call

    asyncio.run(asked())
    assert spending.costs().total.calls == 1


# ---------------------------------------------------------------- prices


@pytest.mark.parametrize(
    ("model", "tokens", "dollars"),
    [
        ("openai:gpt-4o-mini", (1_000_000, 0), 0.15),
        ("openai:gpt-4o-mini-2024-07-18", (0, 1_000_000), 0.6),
        ("azure:gpt-4o", (1000, 1000), 0.0125),
        ("openai:gpt-4o-2024-05-13", (1_000_000, 0), 5),
        ("openai:gpt-4-turbo-preview", (1_000_000, 1_000_000), 40),
        ("openai:gpt-4-turbo-2024-04-09", (1_000_000, 0), 10),
        ("openai:text-embedding-ada-002", (1_000_000, 0), 0.1),
        ("azure:text-embedding-3-small", (1_000_000, 0), 0.02),
        ("huggingface:some/model", (1_000_000, 1_000_000), 0),
        ("gguf:/models/file.gguf", (10, 10), 0),
        ("sentence-transformers:intfloat/multilingual-e5-large", (10, 10), 0),
    ],
)
def test_shipped_prices(model: str, tokens: tuple[int, int], dollars: float) -> None:
    price = price_of(model, {})
    assert price
    assert price.of(*tokens) == round(dollars * BILLION)


@pytest.mark.parametrize("preset", preset_names())
def test_every_model_of_a_preset_has_a_price(preset: str) -> None:
    tree = read_preset(preset)
    named = [tree.get("index", {}).get("embedder"), tree.get("respond", {}).get("model", {}).get("name")]
    for model in filter(None, named):
        assert price_of(model, {}), model


def test_own_prices_override_shipped_ones() -> None:
    assert price_of("openai:never-heard-of", {}) is None
    for name in ("openai:gpt-4o", "gpt-4o"):
        price = price_of("openai:gpt-4o", {name: (1.0, 2.0)})
        assert price
        assert price.of(1, 1) == 3000
    with pytest.raises(SettingsError, match="greater than or equal to 0"):
        load(["services.prices={x: [-1, 0]}"])


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.floats(0, 1e6), st.floats(0, 1e6))
def test_never_underestimates_the_cost(read: int, written: int, one: float, other: float) -> None:
    price = price_of("x", {"x": (one, other)})
    assert price
    cost = price.of(read, written)
    exact = (read * one + written * other) * 1000
    assert cost >= exact * (1 - 1e-9) - (read + written) * 1e-6
    assert cost <= exact * (1 + 1e-9) + 1 + (read + written) * 1e-6


# ---------------------------------------------------------------- counting


def test_meter_has_the_cost_of_a_question(tmp_path: Path) -> None:
    spent = ask(metered(tmp_path))
    usage = spent.usage()
    assert (usage.model_calls, usage.prompt_tokens, usage.completion_tokens) == (1, 4, 2)
    assert usage.cost == pytest.approx(0.008)
    again = Spending(Journal(tmp_path), Clock())
    assert again.costs().today.cost == pytest.approx(0.008)
    assert again.costs().today.calls == 1


def test_unknown_price_gives_no_cost(tmp_path: Path) -> None:
    spent = ask(metered(tmp_path, model=ScriptedModel("a b", name="openai:unheard")))
    assert spent.usage().cost is None
    total = Spending(Journal(tmp_path), Clock()).costs().total
    assert (total.calls, total.unpriced, total.prompt_tokens, total.cost) == (1, 1, 4, 0)


def test_refused_call_costs_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="refuses"):
        ask(metered(tmp_path, "services.budget_per_day=1", model=ScriptedModel(REFUSED)))
    assert Spending(Journal(tmp_path), Clock()).costs().today.calls == 0


def test_empty_reply_is_paid(tmp_path: Path) -> None:
    empty = EmptyReply("no words", Reply(text="", prompt_tokens=4, completion_tokens=3, reasoning="Hm."))
    model, request = metered(tmp_path, model=ScriptedModel(empty)), Request.by_owner("question")
    with pytest.raises(EmptyReply):
        asyncio.run(complete(model, ASKED, request))
    assert request.meter.cost == (4 * 1000 + 3 * 2000) * BILLION // 1_000_000


def test_stopped_reply_is_paid_up_to_there(tmp_path: Path) -> None:
    inner = ScriptedModel("one two\nthree four\nfive\n")
    model = metered(tmp_path, model=inner)

    async def stopped() -> None:
        async with aclosing(model.stream(ASKED, request=Request.by_owner())) as pieces:
            async for _ in pieces:
                break

    asyncio.run(stopped())
    assert inner.stopped == 1
    today = Spending(Journal(tmp_path), Clock()).costs().today
    assert (today.calls, today.completion_tokens) == (1, 2)
    assert today.prompt_tokens >= 4


def test_leaving_early_pays_for_the_prompt(tmp_path: Path) -> None:
    begun = asyncio.Event()

    class Slow(ScriptedModel):
        async def stream(self, messages, request, form=None):  # noqa: ARG002
            begun.set()
            await asyncio.sleep(30)
            yield "never"

    model = metered(tmp_path, "services.budget_per_day=1", model=Slow(""))

    async def leave() -> None:
        asked = asyncio.create_task(complete(model, ASKED, request=Request.by_owner()))
        await begun.wait()
        asked.cancel()
        await asked

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(leave())
    today = Spending(Journal(tmp_path), Clock()).costs().today
    assert (today.calls, today.completion_tokens) == (1, 0)
    assert today.prompt_tokens >= 4


def test_leaving_before_the_call_pays_nothing(tmp_path: Path) -> None:
    spending, asked_for, go_on = Spending(Journal(tmp_path)), Event(), Event()

    class Slow:
        def reserve(self, call: Call, limit: int) -> tuple[int | None, int]:
            asked_for.set()
            assert go_on.wait(10)
            return spending.reserve(call, limit)

        settle = spending.settle

    services = load((PRICED, "services.budget_per_day=1")).settings.services
    model = Metered(ScriptedModel("five six"), services, Slow(), longest=100)

    async def leave() -> None:
        call = asyncio.create_task(complete(model, ASKED, Request.by_owner("question")))
        await asyncio.to_thread(asked_for.wait, 10)
        call.cancel()
        go_on.set()
        await call

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(leave())
    assert spending.costs().today.calls == 0


def test_ledger_failure_does_not_withhold_the_answer(tmp_path: Path) -> None:
    spent = ask(metered(tmp_path / "nothing"))
    assert spent.model_calls == 1
    assert "was not recorded" in spent.notices[0]
    with pytest.raises(ModelError, match="cannot be checked"):
        ask(metered(tmp_path / "nothing", "services.budget_per_day=1"))


def test_days_are_separate_and_old_ones_summed(tmp_path: Path) -> None:
    clock = Clock()
    spending = Spending(Journal(tmp_path), clock)
    for _ in range(DETAILED_DAYS + 10):
        for _ in range(2):
            spending.settle(None, CALL)
        clock.now += 86_400
    assert spending.costs().today.calls == 0
    days = spending.days()
    assert len(days) == DETAILED_DAYS + 10
    assert {one.sum.calls for one in days} == {2}
    assert spending.costs().total.cost == pytest.approx(0.016 * len(days))
    with spending._journal.reading() as db:
        assert db
        assert db.execute("SELECT count(*) FROM calls").fetchone()[0] <= 2 * (DETAILED_DAYS + 1)
    assert findings(tmp_path) == []


# ---------------------------------------------------------------- budgets


def test_question_budget_refuses_a_call(tmp_path: Path) -> None:
    inner = ScriptedModel("five six")
    model = metered(tmp_path, "services.budget_per_question=0.22", model=inner)

    async def twice() -> None:
        request = Request.by_owner("question")
        for _ in range(3):  # each may cost 12 + 200 thousandths, and costs 8
            await complete(model, ASKED, request)

    with pytest.raises(ModelError, match=r"budget.*services\.budget_per_question=0\.22"):
        asyncio.run(twice())
    assert len(inner.asked) == 2
    ask(model)  # another question has a budget of its own


def test_daily_budget_survives_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    budget = "services.budget_per_day=0.23"
    for _ in range(3):
        ask(metered(tmp_path, budget, clock=clock))
    with pytest.raises(ModelError, match=r"budget.*services\.budget_per_day=0\.23"):
        ask(metered(tmp_path, budget, clock=clock))
    clock.now += 86_400
    ask(metered(tmp_path, budget, clock=clock))


def test_killed_call_counts_as_spent(tmp_path: Path) -> None:
    """The entry of a call that never ended stays as it was made."""
    Spending(Journal(tmp_path), Clock()).reserve(CALL, BILLION)
    again = Spending(Journal(tmp_path), Clock())
    assert again.costs().today.cost == pytest.approx(0.008)
    assert again.reserve(CALL, 15_000_000) == (None, 8_000_000)


def test_budget_needs_prices(tmp_path: Path) -> None:
    inner = ScriptedModel("a", name="openai:unheard")
    with pytest.raises(ModelError, match=r"services\.prices"):
        ask(metered(tmp_path, "services.budget_per_day=5", model=inner))
    assert inner.asked == []


def test_local_models_pass_every_budget(tmp_path: Path) -> None:
    local = ScriptedModel("a b", name="gguf:file")
    assert ask(metered(tmp_path, "services.budget_per_day=0.000001", model=local)).usage().cost == 0


SPENDER = """
import sys
from pathlib import Path
from ragstone.services.cost import Call
from ragstone.history.journal import Journal
from ragstone.history.spending import Spending
spending = Spending(Journal(Path(sys.argv[1])))
call = Call(job="j", purpose="question", model="m", prompt_tokens=1, completion_tokens=1, cost=1_000)
passed = 0
for _ in range(40):
    number, _ = spending.reserve(call, 50_000)
    if number is not None:
        passed += 1
        spending.settle(number, call)
print(passed)
"""


def test_processes_share_the_daily_budget(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SPENDER, str(tmp_path)]
    spenders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)]
    passed = [int(one.communicate()[0]) for one in spenders]
    assert sum(passed) == 50
    assert sum(day.sum.calls for day in Spending(Journal(tmp_path)).days()) == 50
    assert findings(tmp_path) == []


def test_damaged_journal_is_reported(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"none" * 100)
    with pytest.raises(KnowledgeBaseError):
        Spending(Journal(tmp_path)).costs()


def test_status_shows_the_costs(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    parts(engine).history.spending().settle(None, CALL)
    parts(engine).history.spending().settle(None, replace(CALL, cost=None))
    now = engine.status()
    shown = {line.head[0].strip(): "".join(text for text, _ in line.parts) for line in state.status(now)}
    assert shown["cost today"].startswith("0.0080 for 2 model calls, 12 tokens, 1 of them without a known price")
    assert shown["cost today"] == shown["total cost"]
    engine.close()
    (tmp_path / "kb" / "journal.db").write_bytes(b"none" * 100)
    engine = open_fast(tmp_path / "kb", create=False)
    assert engine.status().costs is None
    engine.close()
