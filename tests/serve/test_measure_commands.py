"""The commands that measure, typed by a user; the pages they write; the runs they record."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from running import Run

from ragstone.core.installation import install_command
from ragstone.review.compare import compare
from ragstone.review.evaluate import MEASURES, summarise
from ragstone.review.report import QueryResult, read_report
from ragstone.serve.report import comparison_page, evaluation_page
from ragstone.serve.report.plots import plot
from ragstone.serve.views.blocks import Dot, Intervals

QUESTIONS = "question,source,lang\nWhich room is called Marie Curie?,1,en\nWhere do visitors park?,2,en\nKantine,3,de\n"
FETCHING = r"""(?i)(href|src|srcset|action|poster|data)\s*=|url\(|@import|@font-face|<script|<link|<iframe|\bon\w+="""


@pytest.fixture
def faq(kb: Path) -> Path:
    path = kb.parent / "faq.csv"
    path.write_text(QUESTIONS, encoding="utf-8")
    return path


def test_a_knowledge_base_is_measured_on_a_csv(run: Run, faq: Path) -> None:
    done = run("eval", "faq.csv", "--per-question", "--save", "base.json", "--html", "page.html")
    assert (done.code, done.err) == (0, "")
    assert "faq: 3 questions, 3 judged" in done.out
    assert re.search(r"(?m)^  language +questions +ndcg@10", done.out)
    assert re.search(r"(?m)^ +1\.000 +1 +en +location +Where do visitors park\?$", done.out)
    assert read_report(faq.parent / "base.json").judged == 3
    assert "Where do visitors park?" in json.loads((faq.parent / "base.json").read_text())["per_query"][1]["text"]
    no_fetching((faq.parent / "page.html").read_text())


def test_drafted_questions_are_measured(run: Run, kb: Path) -> None:
    nothing = run("eval", "make", "drafted.csv")
    assert nothing.code == 2
    assert "no headings, definitions or tables" in nothing.err
    (kb.parent / "prices.md").write_text("# Flour\n\n| Flour | Price |\n|---|---|\n| Rye | 1.20 |\n| Oat | 1.40 |\n")
    assert run("add", "prices.md").code == 0
    made = run("eval", "make", "drafted.csv", "--count", "2", "--unanswerable", "1")
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith("drafted.csv: 2 questions, and 0 without an answer, by rules\n")
    measured = run("eval", "drafted.csv", "--json")
    assert measured.json["answers"]["answers_right"]["whole"] == 2, "their evidence judges the answers"
    refused = run("eval", "make", "drafted.csv")
    assert refused.code == 2
    assert "may have been corrected" in refused.err
    assert (kb.parent / "drafted.csv").is_file()


def test_the_gate_by_its_exit_codes(run: Run, faq: Path) -> None:
    run("eval", "faq.csv", "--save", "base.json")
    held = run("eval", "gate", "base.json", "faq.csv", "--metric", "mrr@10", "--metric", "recall@5")
    assert (held.code, held.err) == (0, "")
    assert "no significant drop by more than 0.01 on 3 questions" in held.out
    faq.write_text(QUESTIONS.replace(",1,", ",2,").replace(",2,en\nKan", ",3,en\nKan").replace("e,3,de", "e,1,de"))
    changed = run("eval", "gate", "base.json", "faq.csv")
    assert (changed.code, changed.out) == (2, "")
    assert "expects other documents" in changed.err
    faq.write_text(QUESTIONS.replace("Kantine,3,de\n", ""))
    assert "only in the first" in run("eval", "gate", "base.json", "faq.csv").err
    faq.write_text(QUESTIONS)
    base = read_report(faq.parent / "base.json")
    # A baseline that was better in everything; intervals of three questions may still shut out 0.
    better = [replace(one, measures=dict.fromkeys(MEASURES, 2.0)) for one in base.per_query]
    (faq.parent / "base.json").write_text(summarise("faq", better).to_json())
    lost = run("eval", "gate", "base.json", "faq.csv", "--json")
    assert lost.code == 1
    assert lost.json["lost"] is True
    assert lost.json["verdicts"][0]["difference"]["mean"] == -1


def test_a_sweep_saves_a_preset_that_eval_takes(run: Run, faq: Path) -> None:
    grid = ("--grid", "query.method=bm25,vector,hybrid", "--grid", "query.vector_weight=.2,.8")
    done = run("eval", "sweep", "faq.csv", *grid, "--save", "best.yaml", "--html", "sweep.html")
    assert (done.code, done.err) == (0, "")
    assert " variants on 2 questions, 1 held out; 1 knowledge base" in done.out
    assert "\nChosen\n" in done.out
    assert run("eval", "faq.csv", "--preset", "best.yaml").code == 0
    assert (faq.parent / "best.yaml").read_text().startswith("# Chosen by ndcg@10 among ")
    no_fetching((faq.parent / "sweep.html").read_text())
    drawn = run("eval", "sweep", "faq.csv", "--grid", "query.vector_weight=0..1.0", "--random", "3", "--json")
    assert len(drawn.json["tried"]) == 4
    assert run("eval", "sweep", "faq.csv").code == 2
    assert "--random N" in run("eval", "sweep", "faq.csv", "--grid", "query.vector_weight=0..1.0").err


def test_reports_and_presets_are_compared(run: Run, faq: Path) -> None:
    run("eval", "faq.csv", "--save", "a.json")
    run("eval", "faq.csv", "--retrieval-method", "bm25", "--save", "b.json")
    done = run("eval", "compare", "a.json", "b.json", "--randomisation", "--html", "compare.html")
    assert (done.code, done.err) == (0, "")
    assert "a is a.json, b is b.json; p by paired randomisation" in done.out
    assert re.search(r"query\.method +hybrid +bm25", done.out)
    no_fetching((faq.parent / "compare.html").read_text())
    asked = run("eval", "compare", "default", "b.json", "faq.csv", "--json")
    assert asked.json["questions"] == 3
    assert run("eval", "compare", "default", "nothing", "faq.csv").code == 2
    assert run("eval", "compare", "a.json", "gone.json").code == 1


def no_fetching(page: str) -> None:
    found = re.search(FETCHING, page)
    assert found is None, found
    assert "default-src 'none'" in unescape(page)


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", "\"><img src=x onerror='x'>", "</style></svg>&lt;<q>\x1b[31m"]
)
def test_texts_in_a_page_stay_texts(evil: str) -> None:
    results = [
        QueryResult(
            id=evil + str(n),
            text=evil,
            lang=lang,
            kind=evil,
            measures=dict.fromkeys(MEASURES, n / 2),
            answerable=True,
            expected=(evil,),
            found=("other" + evil,),
            first=None,
        )
        for n, lang in enumerate(("en", evil))
    ]
    report = replace(summarise(evil, results), settings={evil: evil})
    other = replace(summarise(evil, [replace(one, measures=dict.fromkeys(MEASURES, 0.3)) for one in results]))
    for page in (evaluation_page(report), comparison_page(compare(report, other, (evil, evil)))):
        tree = ElementTree.fromstring(
            re.sub(r"<style>.*?</style>", "", page.removeprefix("<!doctype html>\n"), flags=re.S)
        )
        tags = {element.tag for element in tree.iter()}
        assert not tags & {"script", "img", "q", "style"}, "the page is well-formed, and has no element of theirs"
        shown = " ".join(tree.itertext())
        assert evil.replace("\x1b", "").split()[0] in shown


def test_a_plot_holds_whatever_numbers() -> None:
    for low, mean, high in ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (-0.5, 0.0, 0.5), (0.123456, 0.123457, 0.123458)):
        dots = (Dot(label="x", mean=mean, low=low, high=high, figures=""),)
        for zero in (False, True):
            assert "nan" not in plot(Intervals(label="plot", dots=dots, zero=zero))


@pytest.mark.filterwarnings("ignore")
def test_runs_are_recorded_in_a_real_store(run: Run, faq: Path) -> None:
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    pytest.importorskip("sqlalchemy")
    from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports]

    store = f"sqlite:///{faq.parent / 'runs.db'}"
    assert run("eval", "faq.csv", "--mlflow", "runs.db").code == 0
    assert run("eval", "sweep", "faq.csv", "--grid", "query.rrf_k=10,20", "--set", "review.mlflow=runs.db").code == 0
    client = MlflowClient(tracking_uri=store, registry_uri=store)
    experiment = client.get_experiment_by_name("faq")
    runs = client.search_runs([experiment.experiment_id])
    assert sorted(one.info.run_name for one in runs) == [
        "baseline",
        "eval",
        "query.rrf_k=10",
        "query.rrf_k=20",
        "sweep",
    ]
    measured = next(one for one in runs if one.info.run_name == "eval")
    assert measured.data.metrics["ndcg_at_10"] == pytest.approx(1)
    assert measured.data.params["query.method"] == "hybrid"
    assert {one.path for one in client.list_artifacts(measured.info.run_id)} == {"report.html", "report.json"}


@pytest.mark.usefixtures("faq")
def test_a_missing_extra_is_said(run: Run) -> None:
    try:
        import mlflow  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError:
        done = run("eval", "faq.csv", "--mlflow", "runs.db")
        assert done.code == 1
        assert install_command("mlflow") in done.err
    else:
        pytest.skip("it is installed")
