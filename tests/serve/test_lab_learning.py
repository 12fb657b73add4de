"""The screen Learning of the lab on a real knowledge base."""

from __future__ import annotations

import json
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

from ragstone.core.access import OWNER, Reader
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.learning.policy import Choices
from ragstone.learning.report import ArmReport, DecisionReport, EvidencePoint
from ragstone.learning.trial import Arm
from ragstone.serve.lab import desk, launch, plots
from ragstone.serve.report.drawing import draw
from ragstone.serve.views import learning

SCRIPT = Path(launch.__file__).parent / "script" / "ragstone_lab.py"
HOSTILE = "<img src=http://198.51.100.7/x.png onerror=alert(1)> [gate](http://198.51.100.7)"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    monkeypatch.setenv("RAGSTONE_LEARNING__MODE", "gated")
    with closing(open_fast(tmp_path / "kb")) as engine:
        yield engine


@pytest.fixture
def opened(engine: KnowledgeBase) -> Iterator[list[desk.Desk]]:
    """Desks that are laid open in a test; they are closed after it."""
    desks: list[desk.Desk] = []
    yield desks
    desk.set_current(None)
    for one in desks:
        one.close()
    assert engine.learning.report()


def look(engine: KnowledgeBase, opened: list[desk.Desk], reader: Reader = OWNER) -> AppTest:
    """The page as a reader sees it."""
    opened.append(desk.Desk(KnowledgeBase.open(engine.folder), reader))
    desk.set_current(opened[-1])
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

    def size(rows: list[dict[str, Any]]) -> tuple[int, int]:
        return len(rows), len(rows[0])

    plots: list[list[dict[str, Any]]] = []
    for one in app.get("vega_lite_chart"):
        if one.proto.data.data:  # one data set for all layers
            plots.append(pyarrow.ipc.open_stream(one.proto.data.data).read_all().to_pylist())
        else:
            plots.append(max((layer["data"]["values"] for layer in json.loads(one.proto.spec)["layer"]), key=size))
    return plots


def test_shows_an_empty_log(engine: KnowledgeBase, opened: list[desk.Desk]) -> None:
    app = look(engine, opened)
    assert tiles(app) == {
        "in use": "version 0",
        "learning.mode": "gated",
        "votes counted": "0",
        "next evaluation after": "5 more",
    }
    assert "Nothing is on trial no decision yet" in page(app).text()
    assert "There is no evidence yet." in page(app).text()
    assert not app.get("vega_lite_chart")


def test_shows_a_trial_until_promotion(engine: KnowledgeBase, opened: list[desk.Desk]) -> None:
    engine.learning.start_trial({"": Choices(top_k=2)}, HOSTILE)
    while any(not one.arm.votes for one in engine.learning.report().arms):
        cast(engine, 5, bool)
    app = look(engine, opened)
    (challenger,) = [row for row in rows(app, "version") if row[1] == "challenger"]
    assert challenger[-1] == "top_k 5 -> 2"
    assert challenger[6] == "too few votes"
    text = page(app).text()
    assert "the bar 40; 1 means no evidence. There are too few votes to estimate how many more it needs." in text
    assert "so far: even a large difference may be chance" in text
    liked, evidence = plotted(app)
    assert [one["arm"] for one in liked] == ["version 0, in use", "version 1, challenger"]
    assert all(one["high"] - one["low"] > 0.1 for one in liked), "few votes give a wide interval"
    assert {one["challenger"] for one in evidence} == {"version 1, trial 1"}
    assert [row[1] for row in rows(app, "when (UTC)")] == ["began"]

    while engine.learning.report().champion == 0:
        cast(engine, 10, bool)
    drawn(app)
    assert tiles(app)["in use"] == "version 1"
    assert page(app).css_first(".rs-chip code").text() == "top_k 5 -> 2"
    last = plotted(app)[-1][-1]
    assert last["evidence"] >= last["bar"] == 40
    assert last["action"] == "promoted"
    done = rows(app, "when (UTC)")
    assert [row[1] for row in done] == ["promoted", "began"]
    assert "version 1 is better: the evidence is" in done[0][2]
    app.checkbox(key="every decision").check()
    assert "went on" in [row[1] for row in rows(drawn(app), "when (UTC)")]


def test_hides_learning_from_restricted_readers(engine: KnowledgeBase, opened: list[desk.Desk]) -> None:
    engine.learning.start_trial({"": Choices(top_k=2)})
    app = look(engine, opened, Reader.of("staff"))
    assert "start the lab without --as" in page(app).text()
    assert "top_k" not in "".join(node.text() for node in page(app).css("td"))
    assert not tiles(app)
    assert not rows(app, "version")


# ---------------------------------------------------------------- its parts


def test_plots_evidence_on_bounded_log_scale() -> None:
    chance = random.Random(3)
    moments = [
        DecisionReport(
            number=n,
            at=n,
            action="went on",
            why="",
            champion=0,
            votes=5 * n,
            points=(
                EvidencePoint(
                    trial=f"trial {1 + n // 20}", version=1 + n // 20, evidence=found, bar=40 if n < 20 else 120
                ),
            ),
        )
        for n, found in enumerate([0.0, math.exp(-90), math.exp(100), *(chance.uniform(0.01, 30) for _ in range(37))])
    ]
    spec = plots.evidence(moments).to_dict()
    drawn = max((layer["data"]["values"] for layer in spec["layer"]), key=len)
    assert len(drawn) == 40
    assert {one["challenger"] for one in drawn} == {"version 1, trial 1", "version 2, trial 2"}
    scales = [layer["encoding"]["y"]["scale"] for layer in spec["layer"]]
    assert {scale["type"] for scale in scales} == {"log"}
    low, high = scales[0]["domain"]
    assert 0 < low < min(one["drawn"] for one in drawn)
    assert high > max(one["drawn"] for one in drawn)
    assert [drawn[0]["evidence"], drawn[2]["evidence"]] == [0.0, math.exp(100)], "the tooltip shows the true figure"


@pytest.mark.parametrize(
    ("few", "evidence", "needs", "printed"),
    [
        (
            False,
            3.5,
            1234,
            "the evidence is 3.5, the bar 40; 1 means no evidence. At this rate it needs about 1,200 more votes.",
        ),
        (False, 0.2, None, "At this rate the trial ends first."),
        (True, 1.1, None, "There are too few votes to estimate how many more it needs."),
        (False, None, None, "no evidence yet"),
    ],
)
def test_explains_how_far_the_proof_is(few: bool, evidence: float | None, needs: int | None, printed: str) -> None:
    bar = None if evidence is None else 40.0
    arm = Arm(version=3, share=0.45, requests=9, votes=4, reward=0, ups=0.5, evidence=evidence, bar=bar, needs=needs)
    one = ArmReport(role="challenger", changes=(HOSTILE,), arm=arm, few=few)
    assert printed in learning.proofs([one])[0]
    table = LexborHTMLParser(draw([learning.arms([one])]))
    assert HOSTILE in table.text()
    assert not table.css("img, a, script")
