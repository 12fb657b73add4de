"""Ingests and sessions of questions as runs of a real MLflow store, which is an SQLite database."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from kb import FAST, open_fast

from ragstone.core.access import OWNER
from ragstone.core.errors import MissingExtra, SourceError, UsageError
from ragstone.engine.attached import folder_of
from ragstone.engine.knowledge_base import KnowledgeBase

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def store(tmp_path: Path) -> str:
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    pytest.importorskip("sqlalchemy")
    return str(tmp_path / "mlruns")


def runs_of(store: str, kb: Path) -> list[Any]:
    """The runs of a knowledge base, the first one first."""
    from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports]

    address = f"sqlite:///{store}/mlflow.db"
    client = MlflowClient(tracking_uri=address, registry_uri=address)
    experiment = client.get_experiment_by_name(str(kb.resolve()))
    return sorted(client.search_runs([experiment.experiment_id]), key=lambda run: run.info.end_time)


def written(store: str, run: Any) -> dict[str, str]:
    folder = Path(store) / "artefacts" / run.info.run_id / "artifacts"
    return {file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()}


def ask(kb: KnowledgeBase, *questions: str) -> None:
    async def asked() -> None:
        for one in questions:
            await kb.ask(one, reader=OWNER)

    asyncio.run(asked())


def test_ingests_and_sessions_are_runs(tmp_path: Path, store: str) -> None:
    (tmp_path / "press").mkdir()
    (tmp_path / "press" / "a.txt").write_text("Visitors park behind the mill. The gate closes at nine.")
    (tmp_path / "press" / "empty.txt").touch()
    kb = open_fast(tmp_path / "kb", f"review.mlflow={store}", "rank.top_k=3")
    asyncio.run(kb.documents.sync([str(tmp_path / "press")]))
    ask(kb, "Where do visitors park?", "Where do visitors park?")
    other = kb.under(
        lambda settings: settings.model_copy(update={"rank": settings.rank.model_copy(update={"top_k": 1})})
    )
    ask(other, "When does the gate close?")
    kb.close()
    ingest, first, second = runs_of(store, tmp_path / "kb")
    assert [one.info.run_name for one in (ingest, first, second)] == ["sync", "questions", "questions"]
    assert {one.info.status for one in (ingest, first, second)} == {"FINISHED"}
    assert (ingest.data.metrics["added"], ingest.data.metrics["skipped"]) == (1, 1)
    assert ingest.data.params["sources"] == str(tmp_path / "press")
    assert json.loads(written(store, ingest)["report.json"])["skipped"][0]["reason"] == "empty"
    assert (first.data.params["rank.top_k"], second.data.params["rank.top_k"]) == ("3", "1")
    figures = first.data.metrics
    assert (figures["sum/questions"], figures["cache_hit/search"], figures["sum/cache_hits"]) == (2, 1, 2)
    assert figures["latency_ms/total"] >= figures["latency_ms/answer"] > 0
    assert 0 < figures["confidence"] <= 1
    answers = [json.loads(line) for text in written(store, first).values() for line in text.splitlines()]
    assert [one["question"] for one in answers] == ["Where do visitors park?"] * 2
    assert "behind the mill" in answers[0]["answer"]


def test_attached_files_are_no_runs(tmp_path: Path, store: str) -> None:
    conversation = OWNER.within("s").conversation
    kb = open_fast(tmp_path / "kb", f"review.mlflow={store}")
    file = kb.folder / folder_of(conversation) / "layoffs.txt"
    file.parent.mkdir(parents=True)
    file.write_text("Visitors park behind the mill.")
    asyncio.run(kb.documents.add_uploads([file], conversation=conversation))
    (tmp_path / "a.txt").write_text("The gate closes at nine.")
    asyncio.run(kb.documents.add([str(tmp_path / "a.txt")]))
    kb.close()
    assert [one.info.run_name for one in runs_of(store, tmp_path / "kb")] == ["add"]


def test_answers_beside_attached_files_are_figures_alone(tmp_path: Path, store: str) -> None:
    reader = OWNER.within("s")
    kb = open_fast(tmp_path / "kb", f"review.mlflow={store}")
    file = kb.folder / folder_of(reader.conversation) / "layoffs.txt"
    file.parent.mkdir(parents=True)
    file.write_text("Visitors park behind the mill.")
    asyncio.run(kb.documents.add_uploads([file], conversation=reader.conversation))
    (id,) = (one.document_id for one in kb.documents.attached("s", reader=OWNER))
    answer = asyncio.run(kb.ask("Where do visitors park?", reader=reader, session="s"))
    assert "mill" in answer.answer
    kb.documents.detach([id], session="s", reader=OWNER)
    asyncio.run(kb.ask("And where else?", reader=reader, session="s"))
    asyncio.run(kb.ask("Where do visitors park?", reader=OWNER, session="t"))
    kb.close()
    (run,) = runs_of(store, tmp_path / "kb")
    lines = [line for text in written(store, run).values() for line in text.splitlines()]
    assert [json.loads(line).get("private", False) for line in lines] == [True, True, False]
    assert not any("mill" in line or "layoffs" in line for line in lines)
    assert run.data.metrics["sum/questions"] == 3


def test_failures_are_runs_that_failed(tmp_path: Path, store: str) -> None:
    kb = open_fast(tmp_path / "kb", f"review.mlflow={store}")
    with pytest.raises(SourceError):
        asyncio.run(kb.documents.add([str(tmp_path / "nowhere")]))
    with pytest.raises(UsageError):
        ask(kb, " ")
    kb.close()
    ingest, questions = runs_of(store, tmp_path / "kb")
    assert (ingest.info.status, questions.info.status) == ("FAILED", "FINISHED")
    assert "nowhere" in written(store, ingest)["error.txt"]
    assert (questions.data.metrics["sum/questions"], questions.data.metrics["sum/failed"]) == (1, 1)


def test_secrets_are_no_parameters(tmp_path: Path, store: str) -> None:
    kb = open_fast(tmp_path / "kb", f"review.mlflow={store}", "services.openai.api_key=sk-hidden")
    ask(kb, "Where do visitors park?")
    kb.close()
    (run,) = runs_of(store, tmp_path / "kb")
    assert "sk-hidden" not in str(run.data.params)
    assert run.data.params["services.openai.api_key"].startswith("***")


def test_a_store_that_fails_stops_nothing(tmp_path: Path, store: str, caplog: pytest.LogCaptureFixture) -> None:
    Path(store).write_text("a file is in the way")
    kb = open_fast(tmp_path / "kb", f"review.mlflow={store}")
    (tmp_path / "a.txt").write_text("Visitors park behind the mill.")
    with caplog.at_level(logging.WARNING, "ragstone.tracking"):
        assert asyncio.run(kb.documents.add([str(tmp_path / "a.txt")])).added == 1
        ask(kb, "Where do visitors park?", "Who parks?")
        kb.close()
    (told,) = [one.getMessage() for one in caplog.records if one.name == "ragstone.tracking"]
    assert told.startswith(f"ragstone: not tracked: the MLflow store {store} cannot be written to")


def test_measurements_are_not_sessions(tmp_path: Path, store: str) -> None:
    (tmp_path / "q.csv").write_text("question,source\nWhere do visitors park?,a.txt\n")
    (tmp_path / "a.txt").write_text("Visitors park behind the mill.")
    kb = open_fast(tmp_path / "kb")
    asyncio.run(kb.documents.add([str(tmp_path / "a.txt")]))
    kb.close()
    from ragstone.engine.experiments import evaluate_dataset

    report = asyncio.run(evaluate_dataset(tmp_path / "q.csv", (f"review.mlflow={store}",), kb=tmp_path / "kb"))
    assert report.settings["review.mlflow"] == store
    assert not Path(store).exists()


def test_the_missing_extra_is_said_at_opening(tmp_path: Path) -> None:
    try:
        import mlflow  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError:
        with pytest.raises(MissingExtra, match=r"\[mlflow\]"):
            KnowledgeBase.open(tmp_path / "kb", (*FAST, "review.mlflow=runs.db"), create=True)
    else:
        pytest.skip("it is installed")
