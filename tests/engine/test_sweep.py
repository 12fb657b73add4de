"""Sweeps and contests from end to end, with the fast embedder: what is reused, what is chosen, what is saved."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import counting_embedder
import pytest
from kb import FAST, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.errors import NotFound, SettingsError, SettingsMismatch, SourceError, UsageError
from ragstone.core.records import Document
from ragstone.engine.experiments import SweepReport, compare_two, evaluate_dataset, sweep
from ragstone.engine.experiments.variants import Dimension, grid, parse_dimension, sample

TOPICS = (
    "tides moon",
    "bread yeast",
    "cats dusk",
    "rails steel",
    "tea leaves",
    "glass sand",
    "bees honey",
    "ink paper",
)
COUNTING = ("index.embedder=counting_embedder:CountingEmbedder", *FAST[1:])


@pytest.fixture
def folder(workdir: Path) -> Path:
    """Eight documents and two questions about each; one word in four is shared, so that rankings differ."""
    folder = workdir / "set"
    folder.mkdir()
    corpus, queries, qrels = [], [], []
    for n, topic in enumerate(TOPICS):
        one, two = topic.split()
        other = TOPICS[(n + 1) % len(TOPICS)].split()[0]
        text = f"About {one} and {two}, which belong together.\n\nNothing here is about {other}, or {other}s."
        corpus.append({"id": f"d{n}", "text": text})
        queries += [{"id": f"q{n}", "text": f"What about {one}?"}, {"id": f"p{n}", "text": f"{two} {other}"}]
        qrels += [f"q{n}\td{n}\t1", f"p{n}\td{n}\t1"]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("\n".join(qrels))
    return folder


def swept(folder: Path, *dimensions: str, overrides: Sequence[str] = COUNTING, **options: object) -> SweepReport:
    parsed = [parse_dimension(one) for one in dimensions]
    return asyncio.run(sweep(folder, parsed, overrides, **options))  # pyright: ignore[reportArgumentType]


def test_each_text_and_each_question_is_embedded_once(folder: Path) -> None:
    counting_embedder.GIVEN.clear()
    counting_embedder.MADE.clear()
    report = swept(folder, "query.vector_weight=.1,.3,.7,.9", "query.fusion=standardised,min_max", "chunk.size=200,300")
    assert len(report.tried) == 17, "sixteen and the baseline; none of them is the baseline itself"
    assert report.knowledge_bases == 2
    assert len(counting_embedder.MADE) == 1
    assert set(counting_embedder.GIVEN.values()) == {1}
    questions = [text for role, text in counting_embedder.GIVEN if role == "query"]
    assert len(questions) == 16


def test_what_is_kept_is_not_built_again(folder: Path, workdir: Path) -> None:
    first = swept(folder, "chunk.size=200,300", keep=workdir / "kbs")
    assert len(list((workdir / "kbs").iterdir())) == 2
    counting_embedder.GIVEN.clear()
    second = swept(folder, "chunk.size=200,300", keep=workdir / "kbs")
    assert not [text for role, text in counting_embedder.GIVEN if role == "passage"]
    assert [one.mean for one in first.tried] == [one.mean for one in second.tried]


def test_the_saved_preset_reproduces_the_figures(folder: Path, workdir: Path) -> None:
    report = swept(folder, "query.method=vector,bm25,hybrid", "query.vector_weight=.2,.8", "chunk.size=200,400")
    (workdir / "best.yaml").write_text(report.preset)
    again = asyncio.run(evaluate_dataset(folder, preset="best.yaml", answers=False))
    means = {name: it.mean for name, it in again.measures.items()}
    assert means == pytest.approx({name: it.mean for name, it in report.winner.measures.items()})
    assert again.judged == report.winner.judged == 16


def test_the_halves_are_apart_and_the_winner_is_the_best_of_the_first(folder: Path) -> None:
    report = swept(folder, "query.vector_weight=0,.2,.4,.6,.8,1")
    assert report.questions + report.held_out.questions == 16
    means = [one.mean.mean for one in report.tried]
    assert means == sorted(means, reverse=True)
    assert sum(not one.settings for one in report.tried) == 1, "the baseline is among them"
    assert all(
        one.p is not None and one.difference is not None and one.p >= one.difference.p
        for one in report.tried
        if one.settings
    )
    assert report.held_out.difference.mean == pytest.approx(report.held_out.winner.mean - report.held_out.baseline.mean)


def test_wrong_values_are_told_before_anything_is_measured(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"query\.vector_weight"):
        swept(folder, "query.vector_weight=.5,many")
    with pytest.raises(SettingsError, match=r"did you mean query\.fusion"):
        swept(folder, "query.fussion=min_max")
    with pytest.raises(UsageError, match="nothing to try"):
        swept(folder)
    with pytest.raises(UsageError, match="no measure 'magic'"):
        swept(folder, "query.rrf_k=1,2", metric="magic")


def test_one_question_cannot_be_halved(folder: Path) -> None:
    with pytest.raises(UsageError, match="at least two"):
        swept(folder, "query.rrf_k=1,2", limit=1)


# ---------------------------------------------------------------- variants


def test_a_grid_has_every_combination() -> None:
    dimensions = [parse_dimension("a.b=1,2,2"), parse_dimension("a.c=[x, y],[z]")]
    assert list(grid(dimensions)) == [
        ("a.b=1", "a.c=[x, y]"),
        ("a.b=1", "a.c=[z]"),
        ("a.b=2", "a.c=[x, y]"),
        ("a.b=2", "a.c=[z]"),
    ]


def test_draws_are_different_within_the_range_and_repeatable() -> None:
    dimensions = [parse_dimension("query.vector_weight=.2...8"), parse_dimension("query.rrf_k=5..9")]
    drawn_once = list(sample(dimensions, 20, seed=1))
    assert drawn_once == list(sample(dimensions, 20, seed=1)) != list(sample(dimensions, 20, seed=2))
    assert len(set(drawn_once)) == 20
    for weight, k in drawn_once:
        assert 0.2 <= float(weight.partition("=")[2]) <= 0.8
        assert int(k.partition("=")[2]) in range(5, 10)
    few = [Dimension(path="x.y", values=("1", "2"))]
    assert list(sample(few, 5, seed=0)) == [("x.y=1",), ("x.y=2",)], "all, if there are no more"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("query.rrf_k", "is not a dimension"),
        ("=3", "is not a dimension"),
        ("respond.sentences=1,2", "measures only the search"),
        ("query.vector_weight=.8...2", "lower number of the range first"),
    ],
)
def test_refuses_invalid_dimensions(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_dimension(text)


def test_a_range_needs_a_number_of_draws() -> None:
    with pytest.raises(UsageError, match="--random N"):
        list(grid([parse_dimension("query.rrf_k=5..9")]))


# ---------------------------------------------------------------- a knowledge base in use


@pytest.fixture
def questions(workdir: Path) -> Path:
    """Questions in a CSV about the knowledge base ``.ragstone``, which holds three files."""
    for name, text in {"tides": "The moon pulls.", "bread": "Yeast makes gas.", "cats": "They hunt at dusk."}.items():
        (workdir / f"{name}.md").write_text(text)
    engine = open_fast(workdir / ".ragstone")
    asyncio.run(engine.documents.add(["."]))
    engine.close()
    path = workdir / "faq.csv"
    path.write_text(
        "question,source,answerable,lang\n"
        "Who pulls?,tides.md,,en\n"
        '"What makes\ngas?",bread.md; cats.md,yes,de\n'
        "How much is a ticket?,,no,en\n"
    )
    return path


def test_a_knowledge_base_in_use_is_measured_and_not_changed(questions: Path, workdir: Path) -> None:
    before = sorted(str(path) for path in (workdir / ".ragstone").rglob("*"))
    report = asyncio.run(evaluate_dataset(questions, ["query.method=bm25"]))
    assert (report.dataset, report.queries, report.judged) == ("faq", 3, 2)
    assert report.measures["mrr@10"].mean == 1
    assert report.per_query[1].expected == ("bread.md", "cats.md")
    assert report.answers is not None
    assert report.answers.questions == 3
    assert report.answers.quotes_exact.value in (None, 1.0)
    assert {(group.by, group.name) for group in report.groups} >= {("language", "en"), ("language", "de")}
    assert report.settings["chunk.size"] == "200"
    assert sorted(str(path) for path in (workdir / ".ragstone").rglob("*")) == before, "not even a cache is written"
    again = asyncio.run(evaluate_dataset(questions, ["query.method=bm25"]))
    assert {name: it.mean for name, it in again.measures.items()} == {
        name: it.mean for name, it in report.measures.items()
    }


def test_settings_that_need_another_store_leave_a_knowledge_base_in_use_alone(questions: Path, workdir: Path) -> None:
    with pytest.raises(SettingsMismatch, match="rebuild"):
        asyncio.run(evaluate_dataset(questions, ["chunk.size=300"]))
    report = swept(questions, "chunk.size=200,300", overrides=(), keep=workdir / "kbs")
    assert report.knowledge_bases == 2
    assert [place.name.startswith("faq-") for place in (workdir / "kbs").iterdir()] == [True]


def test_what_is_not_there_is_said(questions: Path, workdir: Path) -> None:
    with pytest.raises(NotFound, match="no knowledge base"):
        asyncio.run(evaluate_dataset(questions, kb=workdir / "nowhere"))
    with pytest.raises(SourceError, match="cannot be read"):
        asyncio.run(evaluate_dataset(workdir / "none.csv"))
    questions.write_text("question,source\nWho pulls?,tides.md\nWho?,gone.md\n")
    with pytest.raises(SourceError, match=r"faq\.csv, line 3: there is no document 'gone\.md'"):
        asyncio.run(evaluate_dataset(questions))


# ---------------------------------------------------------------- contests


def test_presets_and_reports_are_compared(folder: Path, workdir: Path) -> None:
    (workdir / "words.yaml").write_text("query: {method: bm25}\n")
    fast = [*FAST]
    measured = asyncio.run(evaluate_dataset(folder, fast, preset="words.yaml", answers=False))
    (workdir / "words.json").write_text(measured.to_json())
    presets = asyncio.run(compare_two("default", "words.yaml", folder, fast))
    mixed = asyncio.run(compare_two("default", "words.json", folder, fast))
    assert presets.measures == mixed.measures
    assert presets.changed == mixed.changed
    assert [(one.path, one.a, one.b) for one in presets.settings] == [("query.method", "hybrid", "bm25")]
    same = asyncio.run(compare_two("words.json", "words.json"))
    assert same.changed == ()
    assert all(one.difference.mean == 0 and one.ties == 16 for one in same.measures)
    with pytest.raises(UsageError, match="name a data set"):
        asyncio.run(compare_two("default", "words.json"))


def test_engines_that_share_a_knowledge_base_answer_as_their_own_would(workdir: Path) -> None:
    engine = open_fast(workdir / "kb")
    asyncio.run(engine.documents.add([Document(id="a", text="One two."), Document(id="b", text="Two three.")]))
    other = open_fast(workdir / "kb", "query.method=bm25", "index.k1=0.2", "rank.top_k=1", create=False)
    shared = engine.under(lambda _: other.settings)
    assert parts(shared).models.embedder() is parts(engine).models.embedder()
    assert parts(shared).indexes.vectors() is parts(engine).indexes.vectors()
    assert parts(shared).indexes.terms() is not parts(engine).indexes.terms(), "another k1"
    alone, together = (asyncio.run(one.search("two three", reader=OWNER)) for one in (other, shared))
    assert alone == together
    assert parts(engine.under(lambda settings: settings)).indexes.terms() is parts(engine).indexes.terms()
    with pytest.raises(SettingsMismatch, match=r"chunk\.size"):
        _ = engine.under(
            lambda own: own.model_copy(update={"chunk": own.chunk.model_copy(update={"size": 90})})
        ).settings
    other.close()
    engine.close()
