"""The page of the lab that shows what was learned, on a real knowledge base."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from kb import open_fast
from selectolax.lexbor import LexborHTMLParser
from streamlit.testing.v1 import AppTest
from voting import cast

from ragstone.access import OWNER, Reader
from ragstone.engine import Engine
from ragstone.learning.policy import Choices
from ragstone.learning.trial import Arm
from ragstone.policies.standing import Moment, OnTrial, Point
from ragstone.serve.lab import desk, evidence_plots, launch, learned_markup

SCRIPT = Path(launch.__file__).parent / "script" / "ragstone_lab.py"
HOSTILE = "<img src=http://198.51.100.7/x.png onerror=alert(1)> [gate](http://198.51.100.7)"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("RAGSTONE_LEARNING__MODE", "gated")
    with closing(open_fast(tmp_path / "kb")) as engine:
        yield engine


@pytest.fixture
def opened(engine: Engine) -> Iterator[list[desk.Desk]]:
    """Desks that are laid open in a test; they are closed after it."""
    desks: list[desk.Desk] = []
    yield desks
    desk.lay_open(None)
    for one in desks:
        one.close()
    assert engine.learned()


def look(engine: Engine, opened: list[desk.Desk], reader: Reader = OWNER) -> AppTest:
    """The page as a reader sees it."""
    opened.append(desk.Desk(lambda: Engine.open(engine.folder), engine.folder, reader))
    desk.lay_open(opened[-1])
    app = AppTest.from_file(SCRIPT, default_timeout=60)
    app.session_state["page"] = "Learning"
    return drawn(app)


def drawn(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception, app.exception
    return app


def page(app: AppTest) -> LexborHTMLParser:
    return LexborHTMLParser("".join(one.value for one in app.get("html")))


def tiles(app: AppTest) -> dict[str, str]:
    return {one.css_first("span").text(): one.css_first("b").text() for one in page(app).css(".rs-tile")}


def rows(app: AppTest, head: str) -> list[list[str]]:
    """The rows of the table whose first column is named so."""
    tables = [table for table in page(app).css("table") if table.css_first("th").text() == head]
    return [[cell.text() for cell in row.css("td")] for table in tables for row in table.css("tbody tr")]


def plotted(app: AppTest) -> list[list[dict[str, Any]]]:
    """The rows that each plot shows."""
    return [pyarrow.ipc.open_stream(one.proto.data.data).read_all().to_pylist() for one in app.get("vega_lite_chart")]


def test_nothing_was_learned_yet(engine: Engine, opened: list[desk.Desk]) -> None:
    app = look(engine, opened)
    assert tiles(app) == {
        "in use": "version 0",
        "learning.mode": "gated",
        "opinions counted": "0",
        "decided anew after": "5 more",
    }
    assert "Nothing is on trial nothing has been decided yet" in page(app).text()
    assert "no evidence was weighed yet" in page(app).text()
    assert not app.get("vega_lite_chart")


def test_a_trial_with_few_votes_says_so_and_ends_as_it_was_decided(engine: Engine, opened: list[desk.Desk]) -> None:
    engine.try_out({"": Choices(top_k=2)}, HOSTILE)
    while any(not one.arm.votes for one in engine.learned().arms):
        cast(engine, 5, bool)
    app = look(engine, opened)
    (challenger,) = [row for row in rows(app, "version") if row[1] == "challenger"]
    assert challenger[-1] == "top_k 5 -> 2"
    assert challenger[6] == "too few to tell"
    text = page(app).text()
    assert "the bar 40; 1 says nothing. How many votes it would still need cannot be told from so few." in text
    assert "votes are few: a difference that looks large now may well be chance" in text
    liked, evidence = plotted(app)
    assert [one["arm"] for one in liked] == ["version 0, in use", "version 1, challenger"]
    assert all(one["high"] - one["low"] > 0.1 for one in liked), "of so few votes an interval is wide"
    assert {one["challenger"] for one in evidence} == {"version 1, trial 1"}
    assert [row[1] for row in rows(app, "when (UTC)")] == ["began"]

    while engine.learned().champion == 0:
        cast(engine, 10, bool)
    drawn(app)
    assert tiles(app)["in use"] == "version 1"
    assert page(app).css_first(".rs-chip code").text() == "top_k 5 -> 2"
    last = plotted(app)[-1][-1]
    assert last["evidence"] >= last["bar"] == 40
    assert last["what"] == "promoted"
    done = rows(app, "when (UTC)")
    assert [row[1] for row in done] == ["promoted", "began"]
    assert "version 1 is better: the evidence is" in done[0][2]
    app.checkbox(key="every decision").check()
    assert "went on" in [row[1] for row in rows(drawn(app), "when (UTC)")]


def test_who_may_not_read_everything_is_told_nothing(engine: Engine, opened: list[desk.Desk]) -> None:
    engine.try_out({"": Choices(top_k=2)})
    app = look(engine, opened, Reader.of("staff"))
    assert "start the lab without --as" in page(app).text()
    assert "top_k" not in "".join(node.text() for node in page(app).css("td"))
    assert not tiles(app)
    assert not rows(app, "version")


# ---------------------------------------------------------------- its parts


def test_evidence_is_drawn_on_a_log_scale_within_bounds() -> None:
    chance = random.Random(3)
    moments = [
        Moment(
            number=n,
            at=n,
            action="went on",
            why="",
            champion=0,
            votes=5 * n,
            points=(
                Point(trial=f"trial {1 + n // 20}", version=1 + n // 20, evidence=found, bar=40 if n < 20 else 120),
            ),
        )
        for n, found in enumerate([0.0, math.exp(-90), math.exp(100), *(chance.uniform(0.01, 30) for _ in range(37))])
    ]
    told = evidence_plots.evidence(moments)
    drawn = told["data"]["values"]
    assert len(drawn) == 40
    assert {one["challenger"] for one in drawn} == {"version 1, trial 1", "version 2, trial 2"}
    scales = [layer["encoding"]["y"]["scale"] for layer in told["layer"]]
    assert {scale["type"] for scale in scales} == {"log"}
    low, high = scales[0]["domain"]
    assert 0 < low < min(one["drawn"] for one in drawn)
    assert high > max(one["drawn"] for one in drawn)
    assert [drawn[0]["evidence"], drawn[2]["evidence"]] == [0.0, math.exp(100)], (
        "beside the pointer stands the true one"
    )


@pytest.mark.parametrize(
    ("few", "evidence", "needs", "told"),
    [
        (
            False,
            3.5,
            1234,
            "the evidence is 3.5, the bar 40; 1 says nothing. About 1,200 more votes, if it goes on so.",
        ),
        (False, 0.2, None, "As it goes, the votes of this trial would not suffice."),
        (True, 1.1, None, "How many votes it would still need cannot be told from so few."),
        (False, None, None, "no evidence yet"),
    ],
)
def test_how_far_the_proof_is_stands_in_a_sentence(
    few: bool, evidence: float | None, needs: int | None, told: str
) -> None:
    bar = None if evidence is None else 40.0
    arm = Arm(version=3, share=0.45, requests=9, votes=4, reward=0, ups=0.5, evidence=evidence, bar=bar, needs=needs)
    one = OnTrial(role="challenger", changes=(HOSTILE,), arm=arm, few=few)
    assert told in LexborHTMLParser(learned_markup.proof([one])).text()
    table = LexborHTMLParser(learned_markup.arm_table([one]))
    assert HOSTILE in table.text()
    assert not table.css("img, a, script")
