"""The benchmarks: how results are shown and written, what they compute, and that they run."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import (
    access,
    answers,
    calibration,
    common,
    documentation,
    engine_outages,
    erasure,
    faq,
    ingest,
    injection,
    judge,
    language,
    load,
    ocr,
    outages,
    peers,
    presets,
    query,
    query_data,
    retrieval,
    startup,
    walk,
)
from benchmarks.common import Options, Result, Table
from benchmarks.peer_environments import Environment
from benchmarks.proof.planted import claims
from benchmarks.retrieval import by_embedder, summary
from benchmarks.run import ALL
from benchmarks.serving import Run
from benchmarks.systems import __main__ as systems
from benchmarks.systems.feature import Failed, Room, System, Unavailable, expect
from benchmarks.table_sets import normal
from ragstone.core.access import Reader
from ragstone.core.records import Document, Mark
from ragstone.review.dataset import Dataset, Query
from ragstone.review.evaluate import MEASURES
from ragstone.review.report import AnswerReport, EvalReport, QueryResult, Share
from ragstone.review.significance import bootstraps
from ragstone.settings import Settings

ROOT = Path(__file__).parent.parent
TABLE = Table(title="Fruit", columns=["name", "weight"], rows=[["apple", "1"], ["fig|plum", "20"]])
PAGE = "before\n<!-- begin fruit -->\nold\n<!-- end fruit -->\nafter\n"


# ---------------------------------------------------------------- a FAQ
def test_entries_of_a_faq_stand_where_they_are_said_to(tmp_path: Path) -> None:
    documents = [
        Document(id=f"{n}", title=f"Question {n}?", text=f" Answer {n}.\n", metadata={"lang": "en", "source": "a"})
        for n in range(60)
    ]
    others = [replace(documents[0], id="de", metadata={"lang": "de"}), replace(documents[1], id="no", title=" ")]
    dataset = Dataset(name="x", queries=(), qrels={}, documents=lambda: iter([*documents, *others]))
    entries = faq.write_pages(dataset, "en", tmp_path / "pages")
    assert [*entries] == [one.id for one in documents]
    for id, entry in entries.items():
        page = (tmp_path / "pages" / entry.page).read_text(encoding="utf-8")
        assert page[entry.start : entry.end] == f"Answer {id}."
        assert entry.holds(f"/a/{entry.page}", entry.end - 1, entry.end + 9)
        assert not entry.holds(f"/a/{entry.page}", entry.end, entry.end + 9)
    assert {entry.page for entry in entries.values()} == {"page-0.md", "page-1.md", "page-2.md"}


# ---------------------------------------------------------------- documentation
@given(st.lists(st.sampled_from(["How to install it", "A b", "Use of the tool", "Where it is kept"]), max_size=6))
def test_headings_that_are_asked_are_cut_and_the_rest_stays(headings: list[str]) -> None:
    text, marks = "Top\n", [Mark(kind="heading", start=0, end=3, level=1, label="Top")]
    for number, heading in enumerate(headings):
        marks.append(Mark(kind="heading", start=len(text), end=len(text) + len(heading), level=2, label=heading))
        text += f"{heading}\nbody {number}\n"
    dataset = documentation.without_headings("x", [Document(id="1", title="Top", text=text, marks=tuple(marks))])
    (cut,) = dataset.documents()
    asked = [query.text for query in dataset.queries]
    assert "A b" not in asked
    assert len(asked) == sum(heading != "A b" for heading in headings)
    assert all(one not in cut.text for one in asked)
    assert all(f"body {number}" in cut.text for number in range(len(headings)))
    assert all(cut.text[mark.start : mark.end] == mark.label for mark in cut.marks)


# ---------------------------------------------------------------- tables and the page


def test_text_tables_align_columns() -> None:
    assert TABLE.plain() == "Fruit\nname      weight\napple     1\nfig|plum  20"


def test_markdown_tables_escape_bars() -> None:
    assert TABLE.markdown() == "**Fruit**\n\n| name | weight |\n|---|---|\n| apple | 1 |\n| fig/plum | 20 |"


def test_writing_replaces_text_between_markers(tmp_path: Path) -> None:
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


def test_refuses_page_without_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    with pytest.raises(ValueError, match="begin nuts"):
        common.write(page, "nuts", Result(figures={}), "command")
    assert page.read_text() == PAGE


def test_page_lists_every_benchmark() -> None:
    modules = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if "benchmarks.common import" in (text := path.read_text(encoding="utf-8")) and "\nif __name__ ==" in text
    } - {"run"}
    assert modules > {*ALL}
    page = common.PAGE.read_text(encoding="utf-8")
    for name in modules:
        assert f"python -m benchmarks.{name}" in page, name
    for name in ALL:
        assert page.count(f"<!-- begin {name} -->") == page.count(f"<!-- end {name} -->") == 1, name


def test_benchmarks_import_nothing_from_tests() -> None:
    ours = {path.stem for path in (ROOT / "tests").iterdir()} - {"__pycache__", "learning"}
    for path in (ROOT / "benchmarks").rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(("import ", "from ")):
                assert line.split()[1].partition(".")[0] not in ours, f"{path.name}: {line}"


def test_conditions_name_changed_settings(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert common.conditions().endswith("settings: the defaults")
    (workdir / ".env").write_text("RAGSTONE_QUERY__RRF_K=7\n")
    monkeypatch.setenv("TOP_K", "3")
    assert common.conditions().endswith("settings: query.rrf_k=7, rank.top_k=3")


# ---------------------------------------------------------------- features of presets


def test_features_work_fail_or_cannot_be_tried(tmp_path: Path) -> None:
    system = System(preset="news", data=())

    @system.feature("search", "ragstone --version")
    def works(room: Room) -> str:
        return room.ok("--version", SECRET="x").out.strip()

    @system.feature("filters", "ragstone nonsense")
    def fails(room: Room) -> str:
        room.ok("nonsense")
        return "never reached"

    @system.feature("judge", "ragstone ask")
    def stumbles(room: Room) -> str:
        raise KeyError(room.preset)

    @system.feature("web search", "ragstone ask")
    def cannot(room: Room) -> str:
        raise Unavailable(f"{room.preset} needs a network")

    with pytest.raises(ValueError, match="two features named search"):
        system.feature("search", "ragstone")(works)
    rows = list(system.tried(Room(preset="news", folder=tmp_path, data=tmp_path)))
    result = systems.summary(system, rows)
    assert result.figures == {"search": True, "filters": False, "judge": False, "web search": None}
    assert rows[0].seen.startswith("ragstone ")
    assert "ended with 2" in rows[1].seen
    assert rows[2].seen == "KeyError: 'news'"
    assert rows[3].seen == "news needs a network"
    assert result.tables[0].title == "news: 1 of 4 features work here"
    assert [row.feature.name for row in system.tried(Room(preset="news", folder=tmp_path, data=tmp_path), "jud")] == [
        "judge"
    ]
    with pytest.raises(Failed, match="2 instead of 3"):
        expect(1 + 1 == 3, "2 instead of 3")


def test_features_see_no_keys_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-caller")
    monkeypatch.setenv("RAGSTONE_RANK__TOP_K", "77")
    room = Room(preset="news", folder=tmp_path, data=tmp_path)
    assert "sk-of-the-caller" not in room.ok("settings", "--json").all

    def top_k(**variables: str) -> int:
        return next(
            one["value"]
            for one in room.json("settings", "--json", **variables)["settings"]
            if one["path"] == "rank.top_k"
        )

    assert top_k() == Settings().rank.top_k
    assert top_k(TOP_K="9") == 9


def test_each_preset_has_its_section_and_its_features() -> None:
    page = systems.PAGE.read_text(encoding="utf-8")
    for system in systems.SYSTEMS:
        assert page.count(f"<!-- begin {system.preset} -->") == page.count(f"<!-- end {system.preset} -->") == 1


# ---------------------------------------------------------------- retrieval


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
def test_compares_default_with_its_better_leg(default: float, expected: str) -> None:
    result = summary(
        {"set": {"bm25": report([0.4] * 5), "vector": report([0.5] * 5), "default": report([default] * 5)}}
    )
    gain = result.figures["default_minus_better_leg"]["set"]
    assert (gain["leg"], gain["verdict"]) == ("vector", expected)
    assert gain["mean"] == result.figures["mean_over_sets"] == pytest.approx(default - 0.5)
    assert "0.400 (0.400-0.400)" in result.plain()


def test_compares_embedders_set_by_set() -> None:
    one = {"set": {"bm25": report([0.4] * 5), "vector": report([0.5] * 5), "default": report([0.6] * 5)}}
    other = {"set": {"bm25": report([0.4] * 5), "vector": report([0.7] * 5), "default": report([0.9] * 5)}}
    result = by_embedder({"a": one, "b": other}, summary(one))
    table = next(table for table in result.tables if table.title == "ndcg@10 by embedder")
    assert table.rows == [
        ["set", "0.400", "0.500", "0.600", "0.700", "0.900", "+0.300*"],
        ["mean", "0.400", "0.500", "0.600", "0.700", "0.900", ""],
    ]
    assert result.figures["embedders"]["b"]["set"]["default"]["mrr@10"] == [0.9, 0.9, 0.9]


def test_retrieval_runs_with_every_variant(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variant finds everything in a tiny data set, which is kept for a second run."""
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


def test_judged_questions_become_a_csv(tmp_path: Path) -> None:
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


def test_shares_of_nothing_are_missing() -> None:
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


# ---------------------------------------------------------------- access


def test_counts_traces_of_foreign_documents() -> None:
    world = access.World(600, random.Random(1))
    reader = Reader.of(access.NARROW[0])
    mine, foreign = (
        next(id for id in world.documents if world.may(id, reader) is able and world.documents[id].metadata["readers"])
        for able in (True, False)
    )
    words = [world.documents[id].title.removeprefix("About ") for id in (mine, foreign)]
    assert world.foreign(f"{words[0]} and {words[1]}", "where is it?", reader) == 1
    assert world.foreign(f"{words[0]} and {words[1]}", f"where is {words[1]}?", reader) == 0
    figures = dict.fromkeys(("searches", "questions", "may_read", "same_ids_as_alone", "same_first_as_alone"), 1.0)
    figures |= dict.fromkeys(("score_difference_p50", "score_difference_p95", "search_p50_ms"), 0.5)
    for leaked, recall, note in (
        (0, 0.96, "met. Leaks: 0; target 0: met."),
        (2, 0.9, "MISSED. Leaks: 2; target 0: MI"),
    ):
        leaks = access.Leaks(words=leaked)
        result = access.summary({**figures, "recall_at_10": recall}, leaks, 600)
        assert note in result.plain()
        assert (result.figures["leaks"], result.figures["recall_met"]) == (leaked, recall > 0.95)


# ---------------------------------------------------------------- peers


def peer(seconds: float) -> peers.Measured:
    """Return a peer that takes so long for a hundred documents."""
    return peers.Measured(
        installed=Environment(python=Path("python"), mb=100.0, packages=9),
        ingests=[{"seconds": seconds * n, "cpu": 2 * seconds * n, "stored": 100, "peak_mb": 50.0} for n in (1, 1, 3)],
        query={"p50_ms": 9.0, "p50_without_embedding_ms": 2.0, "first_s": 1.0, "peak_mb": 70.0, "found": None},
    )


def test_compares_peers_with_ragstone() -> None:
    seconds = {"ragstone": 1.0, "lancedb": 3.5, "txtai": 3.9}
    result = peers.summary({name: peer(one) for name, one in seconds.items()}, ["haystack: not measured; why."])
    assert {name: one["times_wall"] for name, one in result.figures.items()} == seconds
    assert "lancedb 3.5 of 3: met; txtai 3.9 of 4: MISSED" in result.notes[0]
    assert result.figures["ragstone"]["docs_per_s"] == 100
    assert "haystack: not measured; why." in result.plain()
    assert peers.summary({"ragstone": peer(1.0)}).figures == {"skipped": True}


# ---------------------------------------------------------------- query


def test_judges_questions_by_plain_scan() -> None:
    def asked(p50: float) -> query.Asked:
        return query.Asked(p50=p50, p95=2 * p50, unit=10, cpu=0.3, first=30, recall=0.99, fewest=400)

    sizes = [
        query.Measured(chunks=count, by_filter={"none": asked(p50)}, memory=100, disk=5, opened=0.5, added=0.02)
        for count, p50 in ((100_000, 2.5), (1_000_000, 1.6))
    ]
    result = query.summary(sizes)
    assert result.figures["100000"]["filters"]["none"]["ratio"] == 0.25
    assert "100,000 chunks: a ratio of at most 0.25: met" in result.plain()
    assert "1,000,000 chunks: a ratio of at most 0.15: MISSED" in result.plain()


def test_extends_vectors_by_noise() -> None:
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


def test_startup_is_measured(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workdir / "facts.csv").write_text("title,text\nBM25,The parameters of BM25 are k1 and b.\n")
    monkeypatch.setattr(startup, "EXAMPLE", workdir / "facts.csv")
    monkeypatch.setattr(startup, "QUICK_TIMES", 1)
    figures = asyncio.run(startup.measure(Options(quick=True, keep=workdir))).figures
    assert 0 < figures["import_cpu_s"] < figures["ask_cpu_s"]
    assert figures["packages"] > 9
    assert figures["install_mb"] > 100


def test_refuses_torch_in_default_installation() -> None:
    with pytest.raises(AssertionError, match="torch"):
        startup.refuse_torch({"numpy": 1, "torch": 2})


def test_reports_skipped_benchmark() -> None:
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


def test_sync_embeds_only_what_changed(workdir: Path) -> None:
    runs = asyncio.run(ingest.measure_sync(workdir, 20))
    embedded = {name: report.embedded for name, (_, report) in runs.items()}
    assert embedded == {"first": 20, "unchanged": 0, "1% changed": 1}
    result = ingest.summary([{"documents": 10, "cpu_s": 2.4, "ratio": 1.2}], runs, {"one worker": 3.0})
    assert "at most 1.15 times the CPU time of embedding alone: MISSED" in result.plain()


def test_erased_documents_leave_no_trace(workdir: Path) -> None:
    figures = asyncio.run(erasure.measure(Options(quick=True, keep=workdir))).figures
    (base,) = figures["bases"].values()
    assert base["before"] > 5 * figures["erased"] > 50
    assert (figures["traces"], base["told"]) == (0, 0)


def test_walk_counts_own_code(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "QUICK_RUNS", 1)
    figures = asyncio.run(walk.measure(Options(quick=True, keep=workdir))).figures
    assert list(figures) == ["ask", "add", "http"]
    for one in figures.values():
        assert 3 < one["depth"] < one["files"] < one["functions"]
        assert one["switches"] > one["files"]
    assert figures["http"]["files"] > figures["ask"]["files"]


# ---------------------------------------------------------------- outages, planted orders


def test_one_unreported_fault_misses_the_target() -> None:
    drawn = outages.Drawn(questions=[])
    drawn.counts.update({"vectors": 4, "vectors: cut": 2})
    result = outages.summary(outages.Tally(seconds=[0.5, 2.0], cited=3), drawn, [])
    assert result.notes[-1].endswith(": met.")
    assert result.figures["faults"] == 2
    assert result.tables[1].rows[0] == ["vectors", "6", "cut 2"]
    late = outages.Tally(seconds=[0.5, outages.DEADLINE + 2], unreported=["why: web"])
    result = outages.summary(late, drawn, [])
    assert (result.figures["late"], result.figures["unreported"]) == (1, 1)
    assert result.notes[-1].endswith("MISSED.")


def test_one_unanswered_question_misses_the_target() -> None:
    run = engine_outages.Outage(
        engines="a + b", killed="a", asked=9, answered=8, down=3, reported=3, recovered_s=0.1, longest_s=1.0
    )
    result = outages.summary(outages.Tally(seconds=[0.5]), outages.Drawn(questions=[]), [run])
    assert result.figures["engines_failed"] == 1
    assert result.notes[-1].endswith("MISSED.")


def test_faults_are_reproducible() -> None:
    one, other = outages.Drawn(questions=["why?"]), outages.Drawn(questions=["why?"])
    drawn = [one.draw("web", "why?", outages.WEB) for _ in range(300)]
    assert drawn == [other.draw("web", "why?", outages.WEB) for _ in range(300)]
    assert 70 < sum(fault is not None for fault in drawn) < 130
    assert one.counts.total() == 300


def test_planted_orders_count_only_with_defences() -> None:
    well = injection.Outcome(counts=Counter({"asked": 2, "planted words": 1}))
    bare = injection.Outcome(counts=Counter({"asked": 2, "obeyed": 2}), broken=["a link"])
    assert injection.summary({"written, without": bare, "written": well}).notes[-1].endswith(": met.")
    assert injection.summary({"written": bare}).notes[-1].endswith("MISSED.")


# ---------------------------------------------------------------- language, judge


@pytest.mark.parametrize("seed", ["a", "b", "c", "d"])
def test_mistyped_has_one_error_in_a_longer_word(seed: str) -> None:
    text = "who pays the insurance of visitors"
    typed = language.mistyped(text, seed)
    assert typed == language.mistyped(text, seed)
    changed = [(one, other) for one, other in zip(text.split(), typed.split(), strict=True) if one != other]
    assert len(changed) <= 1  # a letter may be mistaken for itself
    assert all(one in ("insurance", "visitors") for one, _ in changed)
    assert language.mistyped("who is it", seed) == "who is it"


def test_holds_out_whole_documents() -> None:
    assert len({language.is_held_out(f"report-s{number}") for number in range(20)}) == 1


def test_auc_is_the_chance_of_the_right_order() -> None:
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


def test_planted_sentences_differ_in_one_place() -> None:
    text = "The old bridge, which Rowland Ordish designed, was built in 1873 and is 710 feet long."
    found = {claim.kind: claim.text for claim in claims(_set_of_one(text)) if claim.query.id == "q"}
    assert found[""] == text
    assert set(found) >= {"", "number", "number of the passage", "name", "negation", "opposite", "elsewhere"}
    assert "not" in found["negation"]
    assert "young bridge" in found["opposite"]
    assert "1850" in found["number of the passage"]
    assert all(changed != text for kind, changed in found.items() if kind)


def test_planting_is_reproducible() -> None:
    text = "The old bridge, which Rowland Ordish designed, was built in 1873."
    assert [one.text for one in claims(_set_of_one(text))] == [one.text for one in claims(_set_of_one(text))]


def test_calibration_error_is_the_gap_of_bins() -> None:
    probability = np.repeat([0.25, 0.75], 40)
    right = np.tile([1.0, 0, 0, 0], 10), np.tile([1.0, 1, 1, 0], 10)
    assert calibration.calibration_error(probability, np.concatenate(right)) == pytest.approx(0)
    assert calibration.calibration_error(probability, np.zeros(80)) == pytest.approx(0.5)


def test_wilson_interval_contains_the_share() -> None:
    low, high = calibration.wilson(5, 50)
    assert (round(low, 3), round(high, 3)) == (0.043, 0.214)
    assert calibration.wilson(0, 10)[0] == pytest.approx(0)


# ---------------------------------------------------------------- serving


def ran(seconds: Sequence[float], *, failed: int = 0) -> Run:
    run = Run(seconds=list(seconds), lasted=2.0)
    run.statuses.update({200: len(seconds), 500: failed})
    run.stages = {"search": [20.0] * len(seconds), "rank": [100.0] * len(seconds)}
    return run


def test_load_reports_missed_targets() -> None:
    runs = {clients: ran([0.1, 0.2]) for clients in load.CLIENTS}
    soak = load.Soak(run=ran([0.1]), before=100, after=104)
    crowded = load.Crowded(alone=ran([0.1]), disturbed=ran([0.15]), greedy=ran([0.1]))
    fast = {1: ran([0.1]), 2: ran([0.1] * 80)}
    result = load.summary(10, runs, soak, crowded, fast)
    assert "MISSED" not in result.plain()
    assert result.figures["stages_ms"]["retrieval p95"] == 120
    assert result.figures["per_second"]["1"] == 1.0
    worse = load.Crowded(alone=ran([0.1]), disturbed=ran([0.25], failed=1), greedy=ran([]))
    missed = load.summary(10, runs, load.Soak(run=ran([0.1]), before=100, after=106), worse, {1: ran([0.1])})
    assert missed.plain().count("MISSED") == 4


@pytest.mark.parametrize(
    ("one", "other"), [("$ 1,234 ", "1234"), ("(12 )", "-12"), ("3.5%", "3.5"), ("Salt Lake City", "salt lake city")]
)
def test_cells_are_compared_by_value(one: str, other: str) -> None:
    assert normal(one) == normal(other)
    assert normal(one) != normal(f"{other}1")


# ---------------------------------------------------------------- ocr


@pytest.mark.parametrize(
    ("one", "other", "count"), [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("ab cd", "cd ab", 4)]
)
def test_edits_are_the_fewest(one: str, other: str, count: int) -> None:
    assert ocr.edits(one, other) == ocr.edits(other, one) == count


def test_error_rate_ignores_kinds_of_signs_but_not_order(tmp_path: Path) -> None:
    page = ocr.Page(path=tmp_path, text="„Ja“ – Wachſtube\n1 | 2", language="deu", kind="")
    assert ocr.scored(page, '"Ja" -  Wachstube 1 2', "made").wrong == 0
    assert ocr.scored(page, '"JA" - wachstube 1 2', "made").wrong == 2
    assert ocr.rate([ocr.scored(page, '1 2 "Ja" - Wachstube', "made")]) > 0.3


def test_fuzz_reads_damaged_files(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Title\n\nWords of it.\n", encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.fuzz", "md", "--inputs", "50", "--corpus", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=ROOT)
    assert json.loads(done.stdout.splitlines()[-1]) == {"inputs": 50, "runs": {"md": 50}, "findings": {}}
