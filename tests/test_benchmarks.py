"""The benchmarks themselves: how results are shown and written, and that they run."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import answers, common, retrieval, startup, sync
from benchmarks.common import Options, Result, Table
from benchmarks.comparison import summary
from benchmarks.memory import Remembering
from ragstone.protocols import Role
from ragstone.review.evaluate import MEASURES, AnswerReport, EvalReport, QueryResult, Share
from ragstone.review.significance import bootstrap

if TYPE_CHECKING:
    from ragstone.contracts import Vector

ROOT = Path(__file__).parent.parent
TABLE = Table(title="Fruit", columns=["name", "weight"], rows=[["apple", "1"], ["fig|plum", "20"]])
PAGE = "before\n<!-- begin fruit -->\nold\n<!-- end fruit -->\nafter\n"


# ---------------------------------------------------------------- tables and the page


def test_a_table_as_text_has_aligned_columns() -> None:
    assert TABLE.plain() == "Fruit\nname      weight\napple     1\nfig|plum  20"


def test_a_table_in_markdown_has_a_rule_and_no_stray_bars() -> None:
    assert TABLE.markdown() == "**Fruit**\n\n| name | weight |\n|---|---|\n| apple | 1 |\n| fig/plum | 20 |"


def test_writing_replaces_what_is_between_the_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    for _ in range(2):
        common.write(page, "fruit", Result(figures={}, tables=[TABLE]), "python -m benchmarks.fruit --quick")
        text = page.read_text()
        assert text.startswith("before\n<!-- begin fruit -->\n")
        assert text.endswith("<!-- end fruit -->\nafter\n")
        assert "old" not in text
        assert text.count("| apple | 1 |") == 1
        assert "`python -m benchmarks.fruit --quick`" in text
        assert "cores" in text


def test_a_page_without_the_markers_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    with pytest.raises(ValueError, match="begin nuts"):
        common.write(page, "nuts", Result(figures={}), "command")
    assert page.read_text() == PAGE


def test_the_page_has_a_place_for_every_benchmark() -> None:
    from benchmarks.run import ALL

    text = common.PAGE.read_text(encoding="utf-8")
    for name in ALL:
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1


def test_settings_that_are_not_the_defaults_are_named(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert common.conditions().endswith("settings: the defaults")
    (workdir / ".env").write_text("RAGSTONE_QUERY__RRF_K=7\n")
    monkeypatch.setenv("TOP_K", "3")
    assert common.conditions().endswith("settings: query.rrf_k=7, rank.top_k=3")


# ---------------------------------------------------------------- retrieval


class Counting:
    """An embedder that counts what it is asked for."""

    fingerprint, dimensions = "counting", 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def familiarity(self, text: str) -> float:
        return float(bool(text))

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        self.asked += [f"{role} {text}" for text in texts]
        return np.array([[float(len(text))] for text in texts], dtype=np.float32)


def test_a_question_is_embedded_once_and_passages_are_not_kept() -> None:
    inner = Counting()
    embedder = Remembering(inner)
    asyncio.run(embedder.embed(["a", "bb"], role="query"))
    assert asyncio.run(embedder.embed(["bb", "ccc", "a"], role="query")).tolist() == [[2], [3], [1]]
    assert inner.asked == ["query a", "query bb", "query ccc"]
    for _ in range(2):
        asyncio.run(embedder.embed(["a"], role="passage"))
    assert inner.asked[3:] == ["passage a", "passage a"]


def report(values: Sequence[float]) -> EvalReport:
    return EvalReport(
        dataset="set",
        queries=len(values),
        judged=len(values),
        measures={name: bootstrap(values) for name in MEASURES},
        answers=None,
        per_query=tuple(
            QueryResult(id=str(n), measures=dict.fromkeys(MEASURES, value), answerable=True)
            for n, value in enumerate(values)
        ),
    )


@pytest.mark.parametrize(
    ("default", "expected"), [(0.9, "better"), (0.5, "no difference shown"), (0.1, "WORSE")], ids=str
)
def test_the_default_is_compared_with_the_better_of_its_legs(default: float, expected: str) -> None:
    result = summary(
        {"set": {"bm25": report([0.4] * 5), "vector": report([0.5] * 5), "default": report([default] * 5)}}
    )
    gain = result.figures["default_minus_better_leg"]["set"]
    assert (gain["leg"], gain["verdict"]) == ("vector", expected)
    assert gain["mean"] == result.figures["mean_over_sets"] == pytest.approx(default - 0.5)
    assert "0.400 (0.400-0.400)" in result.plain()


# ---------------------------------------------------------------- answers


def test_shares_of_nothing_are_shown_as_missing() -> None:
    some, none = Share(part=1, whole=4, value=0.25), Share(part=0, whole=0, value=None)
    result = answers.summary(
        AnswerReport(
            questions=4,
            abstained=0,
            citation_precision=some,
            citation_recall=some,
            refusal_precision=none,
            refusal_recall=some,
            quotes_exact=some,
        )
    )
    assert result.figures["citation_precision"] == 0.25
    assert result.figures["refusal_precision"] is None
    assert "0 of 0" in result.plain()


# ---------------------------------------------------------------- whole runs


def test_startup_is_measured(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workdir / "facts.csv").write_text("title,text\nBM25,The parameters of BM25 are k1 and b.\n")
    monkeypatch.setattr(startup, "EXAMPLE", workdir / "facts.csv")
    monkeypatch.setattr(startup, "QUICK_TIMES", 1)
    figures = asyncio.run(startup.measure(Options(quick=True, keep=workdir))).figures
    assert 0 < figures["import_cpu_s"] < figures["ask_cpu_s"]
    assert figures["packages"] > 9
    assert figures["install_mb"] > 100


def test_a_default_installation_with_torch_is_an_error() -> None:
    with pytest.raises(AssertionError, match="torch"):
        startup.refuse_torch({"numpy": 1, "torch": 2})


def test_what_is_skipped_without_data_is_said() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.retrieval", "--quick"],
        cwd=ROOT,
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "SKIPPED: retrieval" in run.stdout
    assert json.loads(run.stdout.splitlines()[-1]) == {"skipped": True}


def test_retrieval_runs_with_every_variant(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a data set so small that every variant finds everything, kept for a second run."""
    folder = workdir / "data" / "lt_faq"
    folder.mkdir(parents=True)
    texts = {"a": "Tides rise because of the moon.", "b": "Bread rises because of yeast.", "c": "Cats sleep."}
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps({"id": i, "text": text}) for i, text in texts.items()))
    (folder / "queries.jsonl").write_text("\n".join(json.dumps({"id": i, "text": texts[i]}) for i in "ab"))
    (folder / "qrels.tsv").write_text("a\ta\t1\nb\tb\t1\n")
    monkeypatch.setattr(retrieval, "QUICK_VARIANTS", tuple(retrieval.VARIANTS))
    options = Options(quick=True, keep=workdir / "kept", data=workdir / "data")
    for _ in range(2):
        figures = asyncio.run(retrieval.measure(options)).figures
        assert list(figures["sets"]["lt_faq"]) == list(retrieval.VARIANTS)
        assert all(variant["mrr@10"] == [1, 1, 1] for variant in figures["sets"]["lt_faq"].values())
        assert len(list(options.keep.iterdir())) == 1


def test_keeping_up_is_measured(monkeypatch: pytest.MonkeyPatch, workdir: Path) -> None:
    monkeypatch.setattr(sync, "QUICK_DOCUMENTS", 20)
    result = asyncio.run(sync.measure(Options(quick=True, keep=workdir)))
    embedded = {name: run["embedded"] for name, run in result.figures.items()}
    assert embedded == {"first": 20, "unchanged": 0, "1% changed": 1}
    assert "Target: " in result.plain()
