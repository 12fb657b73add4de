"""The benchmarks themselves: how results are shown and written, and that they run."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import (
    access,
    answers,
    availability,
    caches,
    calibration,
    common,
    durability,
    embed,
    faults,
    ingest,
    injection,
    judge,
    language,
    load,
    mcp_conformance,
    peers,
    presets,
    query,
    query_data,
    rerank,
    retrieval,
    startup,
    sync,
)
from benchmarks.common import Options, Result, Table
from benchmarks.comparison import by_embedder, summary
from benchmarks.peer_environments import Environment
from benchmarks.planted import claims
from benchmarks.serving import Run, Said
from ragstone.access import Reader
from ragstone.contracts import Document
from ragstone.experiment.memory import Remembering
from ragstone.protocols import Role
from ragstone.review.dataset import Dataset, Query
from ragstone.review.evaluate import MEASURES
from ragstone.review.report import AnswerReport, EvalReport, QueryResult, Share
from ragstone.review.significance import bootstraps

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
        measures=bootstraps(dict.fromkeys(MEASURES, values)),
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


def test_a_trace_of_what_is_for_others_is_found_and_counted() -> None:
    world = access.World(600, random.Random(1))
    reader = Reader.of(access.NARROW[0])
    mine, foreign = (
        next(id for id in world.documents if world.may(id, reader) is able and world.documents[id].metadata["readers"])
        for able in (True, False)
    )
    words = [world.documents[id].title.removeprefix("About ") for id in (mine, foreign)]
    assert world.foreign(f"{words[0]} and {words[1]}", "where is it?", reader) == 1
    assert world.foreign(f"{words[0]} and {words[1]}", f"where is {words[1]}?", reader) == 0
    figures = dict.fromkeys(("searches", "questions", "may_see", "same_ids_as_alone", "same_first_as_alone"), 1.0)
    figures |= dict.fromkeys(
        ("score_apart_p50", "score_apart_p95", "search_p50_ms", "listing_p50_ms", "revoke_seconds_max"), 0.5
    )
    for leaked, recall, told in (
        (0, 0.96, "met. Leaks: 0; target 0: met."),
        (2, 0.9, "MISSED. Leaks: 2; target 0: MI"),
    ):
        leaks = access.Leaks(words=leaked)
        result = access.summary({**figures, "recall_at_10": recall, "seen_after": 0}, leaks, 600)
        assert told in result.plain()
        assert (result.figures["leaks"], result.figures["recall_met"]) == (leaked, recall > 0.95)


def test_reranking_is_compared_question_by_question_and_set_by_set() -> None:
    plain, better = dict.fromkeys(rerank.MEASURES, [0.5] * 9), dict.fromkeys(rerank.MEASURES, [0.7] * 9)
    same = rerank.Measured(plain=plain, reranked=plain, cost_new=100, cost_kept=2)
    gained = rerank.Measured(plain=plain, reranked=better, cost_new=300, cost_kept=4)
    times = {"p50": 20.0, "p95": 30.0, "cpu": 19.0}
    result = rerank.summary({"minilm": {"a": same, "b": gained}}, {"fusion": times, "maxsim": times}, 100_000)
    assert result.figures["minilm"]["mean"]["ndcg@10"] == [0.1, 0.1, 0.1]
    assert result.figures["minilm"]["mean"]["cpu_ms"] == 200
    assert "Gain of MaxSim with minilm over fusion alone, nDCG@10: better." in result.notes
    assert "fusion at 100,000 chunks: p50 of 15 ms: MISSED" in result.plain()
    assert "maxsim at 100,000 chunks: p50 of 60 ms: met" in result.plain()


def test_both_ways_are_compared_where_vectors_leave_something_to_find() -> None:
    measures = {name: {"mean": 0.5, "low": 0.4, "high": 0.6} for name in presets.MEASURES}
    recalls = {
        "a": {"vectors alone": 0.8, "both": 0.9, "both, by rank": 0.85},
        "b": {"vectors alone": 0.99, "both": 0.5, "both, by rank": 0.5},
    }
    report = {"judged": 9, "measures": measures, "settings": {"index.embedder": "minilm"}}
    result = presets.summary([(presets.CASES[0], report)], recalls)
    assert result.figures["gains"] == {"both": 0.1, "both, by rank": 0.05}
    assert "both, minus vectors alone: +0.100; target +0.08: met." in result.notes
    assert "both, by rank, minus vectors alone: +0.050; target +0.08: MISSED." in result.notes
    assert "0.500 (0.400-0.600)" in result.plain()


def test_judged_questions_become_a_csv_that_can_be_asked(tmp_path: Path) -> None:
    from ragstone.review.questions import read_questions

    lines = {
        "corpus.jsonl": [{"id": "d1", "text": "x"}, {"id": "d2", "text": "y"}],
        "queries.jsonl": [{"id": "q1", "text": 'Why "x", y?', "lang": "en"}, {"id": "q2", "text": "How?"}],
    }
    for name, rows in lines.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.tsv").write_text("q1\td1\t1\nq1\td2\t1\n")
    presets.write_questions(tmp_path, tmp_path / "questions.csv")
    asked = read_questions(tmp_path / "questions.csv", lambda source: f"stored {source}", lambda: iter(()))
    assert [(one.text, one.lang, one.answerable) for one in asked.queries] == [
        ('Why "x", y?', "en", True),
        ("How?", "", False),
    ]
    assert asked.qrels['Why "x", y?'] == {"stored d1": 1, "stored d2": 1}


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


# ---------------------------------------------------------------- failing services, planted orders


def test_one_answer_that_hides_a_fault_is_a_missed_target() -> None:
    well = faults.Tally(seconds=[0.5, 2.0], cited=3, memory=[90, 100, 101.5])
    result = faults.summary(well, {"vectors": 4, "vectors: cut": 2})
    assert result.notes[-1].endswith(": met.")
    assert (result.figures["faults"], result.figures["memory_mb"]) == (2, 1.5)
    assert result.tables[1].rows[0] == ["vectors", "6", "cut 2"]
    late = faults.Tally(seconds=[0.5, faults.DEADLINE + 2], untold=["why: web"])
    result = faults.summary(late, {})
    assert (result.figures["late"], result.figures["untold"]) == (1, 1)
    assert result.notes[-1].endswith("MISSED.")


def test_about_a_third_of_the_requests_is_spoiled_the_same_way_each_time() -> None:
    one, other = faults.Drawn(questions=["why?"]), faults.Drawn(questions=["why?"])
    drawn = [one.draw("web", "why?", faults.WEB) for _ in range(300)]
    assert drawn == [other.draw("web", "why?", faults.WEB) for _ in range(300)]
    assert 70 < sum(fault is not None for fault in drawn) < 130
    assert one.met.total() == 300


def test_what_was_planted_counts_only_where_it_came_through() -> None:
    well = injection.Seen(counts=Counter({"asked": 2, "planted words": 1}))
    bare = injection.Seen(counts=Counter({"asked": 2, "obeyed": 2}), broken=["a link"])
    result = injection.summary({"written, without": bare, "written": well}, [])
    assert result.notes[-1].endswith(": met.")
    assert injection.summary({"written": bare}, []).notes[-1].endswith("MISSED.")


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


# ---------------------------------------------------------------- judge


def test_the_area_under_the_curve_is_the_chance_of_the_right_order() -> None:
    assert judge.auc([0.9, 0.8, 0.3, 0.1], [True, True, False, False]) == 1.0
    assert judge.auc([0.1, 0.9], [True, False]) == 0.0
    assert judge.auc([0.5, 0.5, 0.5], [True, False, False]) == 0.5
    assert judge.auc([0.9, 0.5, 0.5, 0.1], [True, False, True, False]) == 0.875
    assert judge.auc([0.5], [True]) is None


# ---------------------------------------------------------------- planted sentences, calibration


def _set_of_one(text: str, **query: object) -> Dataset:
    asked = Query(id="q", text="?", evidence_sentences=(text,), **query)  # pyright: ignore
    others = [
        Query(id=f"o{n}", text="?", evidence_sentences=(f"Cows eat grass, said Peter Miller {n}.",)) for n in range(3)
    ]
    documents = [
        Document(id="d", text=f"{text} It opened 1850 near Oxford Street."),
        Document(id="o", text="Cows eat grass."),
    ]
    return Dataset(
        name="one",
        queries=(asked, *others),
        qrels={"q": {"d": 1}, **{one.id: {"o": 1} for one in others}},
        documents=lambda: iter(documents),
    )


def test_planted_sentences_differ_from_the_true_one_in_one_place() -> None:
    text = "The old bridge, which Rowland Ordish designed, was built in 1873 and is 710 feet long."
    found = {claim.kind: claim.text for claim in claims(_set_of_one(text)) if claim.query.id == "q"}
    assert found[""] == text
    assert set(found) >= {"", "number", "number of the passage", "name", "negation", "opposite", "elsewhere"}
    assert "not" in found["negation"]
    assert "young bridge" in found["opposite"]
    assert "1850" in found["number of the passage"]
    assert all(changed != text for kind, changed in found.items() if kind)


def test_the_same_sentences_are_planted_every_time() -> None:
    text = "The old bridge, which Rowland Ordish designed, was built in 1873."
    assert [one.text for one in claims(_set_of_one(text))] == [one.text for one in claims(_set_of_one(text))]


def test_the_calibration_error_is_how_far_bins_are_off() -> None:
    probability = np.repeat([0.25, 0.75], 40)
    right = np.tile([1.0, 0, 0, 0], 10), np.tile([1.0, 1, 1, 0], 10)
    wrong = np.zeros(80, dtype=bool)
    good = calibration.Judged(probability=probability, answerable=np.concatenate(right), wrong=wrong)
    bad = calibration.Judged(probability=probability, answerable=np.zeros(80), wrong=wrong)
    assert calibration.calibration_error(good) == pytest.approx(0)
    assert calibration.calibration_error(bad) == pytest.approx(0.5)


def test_the_interval_of_a_share_holds_it() -> None:
    low, high = calibration.wilson(5, 50)
    assert (round(low, 3), round(high, 3)) == (0.043, 0.214)
    assert calibration.wilson(0, 10)[0] == pytest.approx(0)


# ---------------------------------------------------------------- serving


def ran(seconds: Sequence[float], *, failed: int = 0, notices: str = "") -> Run:
    run = Run(seconds=list(seconds), lasted=2.0)
    run.statuses.update({200: len(seconds), 500: failed})
    run.stages = {"search": [20.0] * len(seconds), "rank": [100.0] * len(seconds)}
    run.said = [Said(at=float(place), abstained=False, notices=notices) for place in range(len(seconds))]
    return run


def test_load_tells_whether_its_targets_are_met() -> None:
    runs = {clients: ran([0.1, 0.2]) for clients in load.CLIENTS}
    soak = load.Soak(run=ran([0.1]), before=100, after=104)
    crowded = load.Crowded(alone=ran([0.1]), beside=ran([0.15]), greedy=ran([0.1]))
    result = load.summary(10, runs, soak, crowded)
    assert "MISSED" not in result.plain()
    assert result.figures["stages_ms"]["retrieval p95"] == 120
    assert result.figures["per_second"]["1"] == 1.0
    worse = load.Crowded(alone=ran([0.1]), beside=ran([0.25], failed=1), greedy=ran([]))
    missed = load.summary(10, runs, load.Soak(run=ran([0.1]), before=100, after=106), worse)
    assert missed.plain().count("MISSED") == 3


def test_availability_wants_answers_and_a_word_on_what_is_missing() -> None:
    good = availability.Outcome(case=availability.WEB, run=ran([0.1] * 9, notices=availability.WEB.tells), stopped=2)
    told = availability.summary([good]).plain()
    assert "MISSED" not in told
    assert "too few questions to show it" in told
    for run in (ran([0.1] * 9), ran([0.1] * 9, failed=1, notices=availability.WEB.tells)):
        bad = availability.Outcome(case=availability.WEB, run=run, stopped=2)
        assert "MISSED: web search" in availability.summary([bad]).plain()


def test_conformance_counts_what_needs_the_servers_own_tools_apart() -> None:
    checks = [
        {"id": "a", "status": "SUCCESS", "message": ""},
        {"id": "b", "status": "FAILURE", "message": "Not testable: no such tool"},
    ]
    assert mcp_conformance.summary([mcp_conformance.outcome("x", "1", checks)]).figures["failed"] == []
    for failed in ([*checks, {"id": "c", "status": "WARNING", "message": "no"}], []):
        bad = mcp_conformance.summary([mcp_conformance.outcome("x", "1", failed)])
        assert bad.figures == {"scenarios": 1, "passed": 0, "checks": len(failed) > 0, "failed": ["x (1)"]}
