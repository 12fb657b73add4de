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

from benchmarks import (
    answers,
    caches,
    common,
    durability,
    embed,
    ingest,
    language,
    peers,
    query,
    query_data,
    retrieval,
    startup,
    sync,
)
from benchmarks.common import Options, Result, Table
from benchmarks.comparison import by_embedder, summary
from benchmarks.peer_environments import Environment
from ragstone.experiment.memory import Remembering
from ragstone.protocols import Role
from ragstone.review.evaluate import MEASURES
from ragstone.review.report import AnswerReport, EvalReport, QueryResult, Share
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


def test_a_text_is_embedded_once() -> None:
    inner = Counting()
    embedder = Remembering(inner)
    asyncio.run(embedder.embed(["a", "bb"], role="query"))
    assert asyncio.run(embedder.embed(["bb", "ccc", "a"], role="query")).tolist() == [[2], [3], [1]]
    assert inner.asked == ["query a", "query bb", "query ccc"]
    for _ in range(2):
        asyncio.run(embedder.embed(["a"], role="passage"))
    assert inner.asked[3:] == ["passage a"]


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


# ---------------------------------------------------------------- peers


def peer(seconds: float) -> peers.Measured:
    """One that took that long for a hundred documents."""
    return peers.Measured(
        installed=Environment(python=Path("python"), mb=100.0, packages=9),
        ingests=[{"seconds": seconds * n, "cpu": 2 * seconds * n, "stored": 100, "peak_mb": 50.0} for n in (1, 1, 3)],
        query={"p50_ms": 9.0, "p50_without_embedding_ms": 2.0, "first_s": 1.0, "peak_mb": 70.0, "found": None},
        again={"held": 100, "after": 100, "cpu": 0.1, "error": "", "update": "add", "updated": True},
        kills=[{"lost": 0, "half": 0, "more": 0, "answers": 10}] * 2,
    )


def test_peers_are_compared_with_the_fastest_of_ours_by_targets_of_their_own() -> None:
    seconds = {"ragstone-fast": 1.0, "ragstone": 2.0, "lancedb": 3.5, "lancedb-st": 2.9, "txtai": 3.9}
    result = peers.summary({name: peer(one) for name, one in seconds.items()}, ["haystack: not measured; why."])
    assert {name: one["times_wall"] for name, one in result.figures.items()} == seconds
    assert "lancedb 3.5 of 3: met; lancedb-st 2.9 of 3: MISSED; txtai 3.9 of 4: MISSED" in result.notes[0]
    assert result.figures["ragstone"]["docs_per_s"] == 50
    assert "haystack: not measured; why." in result.plain()
    assert result.plot.startswith("<?xml")


def test_without_a_peer_nothing_is_compared() -> None:
    assert peers.summary({"ragstone": peer(1.0)}).figures == {"skipped": True}


def test_what_kills_and_repetition_left_is_said_in_words() -> None:
    own = peer(1.0)
    assert peers.kept(own) == ["always readable, all acknowledged there", "no duplicates, 0.10 CPU s", "add"]
    own.kills = [{"error": "ValueError()"}, {"lost": 25, "half": 2, "more": 0, "answers": 10}]
    own.again = {"held": 100, "after": 150, "cpu": 2.0, "error": "", "update": "upsert", "updated": False}
    assert peers.kept(own) == [
        "1 of 2 unreadable, 25 acknowledged lost, 2 damaged or double",
        "50 duplicates",
        "upsert; the old text is still found",
    ]
    own.again = {"held": 100, "after": 100, "error": "DuplicateError: a", "update_error": "KeyError: 'a'"}
    assert peers.kept(own)[1:] == ["refused: DuplicateError: a", "KeyError: 'a'"]


# ---------------------------------------------------------------- query


def test_questions_are_judged_by_their_ratio_to_a_plain_scan() -> None:
    def asked(p50: float) -> query.Asked:
        return query.Asked(p50=p50, p95=2 * p50, unit=10, cpu=0.3, cold=30, recall=0.99, fewest=400)

    sizes = [
        query.Measured(chunks=count, by_filter={"none": asked(p50)}, memory=100, disk=5, opened=0.5, added=0.02)
        for count, p50 in ((100_000, 2.5), (1_000_000, 1.6))
    ]
    result = query.summary(sizes)
    assert result.figures["100000"]["filters"]["none"]["ratio"] == 0.25
    assert "100,000 chunks: a ratio of at most 0.25: met" in result.plain()
    assert "1,000,000 chunks: a ratio of at most 0.15: MISSED" in result.plain()


def test_vectors_are_extended_by_noise_like_the_distance_of_neighbours() -> None:
    chance = np.random.default_rng(3)
    vectors = chance.standard_normal((300, 24)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    blocks = list(query_data.extended(vectors, 900))
    longer = np.concatenate(list(query_data.extended(vectors, 1000)))
    made = np.concatenate(blocks)
    assert made.shape == (900, 24)
    assert np.array_equal(made[:300], vectors)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert longer.shape == (1000, 24)
    passages = [" ".join(f"{letter}{n}" for n in range(60)) for letter in "ab"]
    assert len({*query_data.texts(passages, 50)}) == 50


# ---------------------------------------------------------------- whole runs


def test_stale_answers_are_told() -> None:
    speed = {"off_ms": 30.0, "known_ms": 0.5}
    well = caches.summary(speed, caches.Tally(steps=caches.STEPS, asked=4, from_cache=3, changes={"add": 1}))
    assert well.notes[0].endswith("Target: none in 10,000 changes: met.")
    assert well.tables[0].rows[1] == ["known_ms", "0.5", "60.0"]
    assert "not run in full" in caches.summary(speed, caches.Tally(steps=9)).notes[0]
    ill = caches.summary(speed, caches.Tally(steps=caches.STEPS, stale=["step 3"]))
    assert "NOT met" in ill.notes[0]
    assert (ill.figures["stale"], ill.figures["examples"]) == (1, ["step 3"])


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


def test_embedders_are_compared_set_by_set() -> None:
    one = {"set": {"bm25": report([0.4] * 5), "vector": report([0.5] * 5), "default": report([0.6] * 5)}}
    other = {"set": {"bm25": report([0.4] * 5), "vector": report([0.7] * 5), "default": report([0.9] * 5)}}
    result = by_embedder({"a": one, "b": other}, summary(one))
    table = next(table for table in result.tables if table.title == "ndcg@10 by embedder")
    assert table.rows == [
        ["set", "0.400", "0.500", "0.600", "0.700", "0.900", "+0.300*"],
        ["mean", "0.400", "0.500", "0.600", "0.700", "0.900", ""],
    ]
    assert result.figures["embedders"]["b"]["set"]["default"]["mrr@10"] == [0.9, 0.9, 0.9]


def test_keeping_up_is_measured(monkeypatch: pytest.MonkeyPatch, workdir: Path) -> None:
    monkeypatch.setattr(sync, "QUICK_DOCUMENTS", 20)
    result = asyncio.run(sync.measure(Options(quick=True, keep=workdir)))
    embedded = {name: run["embedded"] for name, run in result.figures.items()}
    assert embedded == {"first": 20, "unchanged": 0, "1% changed": 1}
    assert "Target: " in result.plain()


# ---------------------------------------------------------------- durability


def test_one_loss_is_a_missed_target() -> None:
    well = durability.Tried(name="kills", count=9, outcomes={"killed at random": 9})
    bad = durability.Tried(name="power cuts", count=3, outcomes={"whole": 2}, failures=("Unsafe: lost ['d1']",))
    assert durability.summary([well]).notes[-1].endswith("met.")
    result = durability.summary([well, bad])
    assert result.notes[-1].endswith("MISSED.")
    assert "lost ['d1']" in result.plain()
    assert result.figures["power cuts"] == {"times": 3, "unsafe": 1, "whole": 2}


# ---------------------------------------------------------------- embedding and ingesting


def test_engines_are_compared_with_their_limit_and_the_peer() -> None:
    seconds = {"onnxruntime": 2.0, "openvino": 1.0, "sentence-transformers": 4.0}
    result = embed.summary(seconds, 1000, 100.0, {"f32": 100.0, "bf16": 200.0}, 0.995)
    assert result.figures["engines"]["openvino"] == {
        "tokens_per_s": 1000,
        "of_limit": 0.5,
        "against_sentence_transformers": 4.0,
    }
    assert result.plain().count("met") == 2
    alone = embed.summary({"onnxruntime": 2.0}, 1000, 100.0, {"f32": 100.0}, None)
    assert "sentence-transformers was left out" in alone.plain()


def test_ingesting_is_compared_with_embedding() -> None:
    run = {"documents": 10, "cpu_s": 2.4, "ratio": 1.2}
    assert "MISSED" in ingest.summary([{**run, "ratio": 1.0}, run]).plain()
    assert ingest.summary([run, {**run, "ratio": 1.1}]).notes[0].endswith(": met.")


# ---------------------------------------------------------------- language


@pytest.mark.parametrize("seed", ["a", "b", "c", "d"])
def test_a_mistyped_question_has_one_error_in_one_longer_word(seed: str) -> None:
    text = "who pays the insurance of visitors"
    typed = language.mistyped(text, seed)
    assert typed == language.mistyped(text, seed)
    changed = [(one, other) for one, other in zip(text.split(), typed.split(), strict=True) if one != other]
    assert len(changed) <= 1  # a letter may be mistaken for itself
    assert all(one in ("insurance", "visitors") for one, _ in changed)
    assert language.mistyped("who is it", seed) == "who is it"


def test_sentences_are_kept_apart_by_document() -> None:
    assert len({language.kept_apart(f"report-s{number}") for number in range(20)}) == 1
