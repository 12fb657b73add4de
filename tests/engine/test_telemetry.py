"""How questions end: told to listeners, and sent as traces and metrics, also to a receiver on loopback."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kb import FAST, add, open_fast
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ragstone import Ragstone
from ragstone.core.access import OWNER
from ragstone.core.answers import Answered, Failed
from ragstone.core.errors import UsageError
from ragstone.core.records import Document
from ragstone.engine.experiments import evaluate_questions
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.leaving import destinations
from ragstone.settings.load import load
from servers.openai_server import KEY, OpenAIServer
from servers.otlp_server import OtlpServer, attributes_of

MILL = Document(id="mill", title="Mill", text="Visitors park behind the mill. The gate closes at nine.")
QUESTION = "Where do visitors park?"
ANSWERS = ("respond.abstain_below=0.02", "respond.closest_from=0.02")
"""Answers although the embedder of tests has no coefficients, but refuses what shares no word with the document."""


def ask(kb: KnowledgeBase, question: str = QUESTION) -> None:
    asyncio.run(kb.ask(question, reader=OWNER))


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with closing(open_fast(tmp_path / "kb", *ANSWERS)) as made:
        add(made, MILL)
        yield made


def test_listeners_hear_answers_refusals_and_failures(kb: KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    heard = list[Answered | Failed]()

    def broken(_outcome: Answered | Failed) -> None:
        raise ValueError("a listener's own fault")

    remove_broken, remove = kb.subscribe(broken), kb.subscribe(heard.append)
    view = kb.under(lambda settings: settings)
    with caplog.at_level(logging.ERROR, logger="ragstone.listeners"):
        ask(view)
        ask(kb, "Who invented the zeppelin airship?")
    assert "a listener failed" in caplog.text
    remove_broken()
    with pytest.raises(UsageError):
        ask(kb, " ")
    answered, refused, failed = heard
    assert isinstance(answered, Answered)
    assert (answered.answer.question, answered.answer.outcome) == (QUESTION, "answer")
    names = [stage.name for stage in answered.stages]
    assert (names[0], names[-1]) == ("understand", "answer")
    assert [stage.start for stage in answered.stages] == sorted(stage.start for stage in answered.stages)
    assert {n: pytest.approx(s, abs=0.01) for n, s in answered.answer.timings_ms.items() if n != "total"} == {
        stage.name: stage.milliseconds for stage in answered.stages
    }
    assert isinstance(refused, Answered)
    assert refused.answer.abstained
    assert isinstance(failed, Failed)
    assert (failed.question, type(failed.error)) == (" ", UsageError)
    remove()
    ask(kb)
    assert len(heard) == 3


def test_listeners_of_the_library_outlive_closing(tmp_path: Path) -> None:
    heard = list[Answered | Failed]()
    with Ragstone(tmp_path / "kb", settings=(*FAST, *ANSWERS)) as kb:
        remove = kb.subscribe(heard.append)
        kb.add(MILL)
        kb.ask(QUESTION)
        kb.close()
        kb.ask(QUESTION)
        assert len(heard) == 2
        remove()
        kb.ask(QUESTION)
    assert len(heard) == 2


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[InMemorySpanExporter, InMemoryMetricReader]]:
    """The SDK, set up by the program, which keeps everything in memory."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(shutdown_on_exit=False), MeterProvider([reader], shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", tracers)  # a program may set them only once
    monkeypatch.setattr(metrics._internal, "_METER_PROVIDER", meters)
    yield spans, reader
    tracers.shutdown()
    meters.shutdown()


def test_a_question_is_a_trace_with_its_stages(
    tmp_path: Path, sdk: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    exporter, reader = sdk
    with OpenAIServer() as model:
        service = (f"services.openai.api_key={KEY}", f"services.openai.base_url={model.url}", "services.retries=0")
        named = ("respond.model.name=openai:gpt-4o-mini", "review.telemetry.to=sdk")
        with closing(open_fast(tmp_path / "kb", *ANSWERS, *named, *service)) as kb:
            add(kb, MILL)
            ask(kb)
            with pytest.raises(UsageError):
                ask(kb, " ")
    *stages, root, failed = exporter.get_finished_spans()
    assert [root.name, failed.name] == ["ragstone.ask"] * 2
    assert {one.name for one in stages} >= {"ragstone.understand", "ragstone.answer"}
    for one in stages:
        assert one.parent
        assert one.parent.span_id == root.context.span_id
        assert root.start_time <= one.start_time <= one.end_time <= root.end_time + 1_000_000
    facts = dict(root.attributes or {})
    assert (facts["gen_ai.request.model"], facts["ragstone.outcome"]) == ("openai:gpt-4o-mini", "answer")
    assert facts["gen_ai.usage.input_tokens"] > facts["gen_ai.usage.output_tokens"] > 0
    answer = next(one for one in stages if one.name == "ragstone.answer")
    assert (answer.attributes or {})["gen_ai.usage.input_tokens"] == facts["gen_ai.usage.input_tokens"]
    assert not failed.status.is_ok
    assert dict(failed.attributes or {}) == {"ragstone.outcome": "failed", "error.type": "UsageError"}
    assert "visitors" not in str([*stages, root, failed]).lower(), "no text without the setting"

    measured = {metric.name: metric.data.data_points for metric in _metrics(reader)}
    assert {point.attributes["ragstone.outcome"]: point.count for point in measured["ragstone.question.duration"]} == {
        "answer": 1,
        "failed": 1,
    }
    used = {point.attributes["gen_ai.token.type"]: point.sum for point in measured["gen_ai.client.token.usage"]}
    assert used == {kind: facts[f"gen_ai.usage.{kind}_tokens"] for kind in ("input", "output")}


def test_measurements_are_no_questions_of_people(
    tmp_path: Path, sdk: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    questions = tmp_path / "questions.csv"
    questions.write_text(f"question,source,answerable\n{QUESTION},mill,yes\nWho flew the airship?,,no\n")
    with closing(open_fast(tmp_path / "kb", *ANSWERS, "review.telemetry.to=sdk")) as kb:
        add(kb, MILL)
        assert asyncio.run(evaluate_questions(kb, questions)).answers
        with closing(kb.uncached()) as unfollowing:
            ask(unfollowing)
    assert not sdk[0].get_finished_spans()


def _metrics(reader: InMemoryMetricReader) -> list[Any]:
    data = reader.get_metrics_data()
    assert data
    return [
        metric for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics
    ]


def test_traces_reach_a_receiver_with_its_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20cGs6c2s=")
    with OtlpServer() as server:
        to = (f"review.telemetry.to={server.url}/api/public/otel", "review.telemetry.texts=true")
        with closing(open_fast(tmp_path / "kb", *ANSWERS, *to)) as kb:
            add(kb, MILL)
            ask(kb)
        assert server.got_spans.wait(30)
        root = next(one for one in server.spans if one.name == "ragstone.ask")
        facts = attributes_of(root)
        assert facts["input.value"] == QUESTION
        assert facts["output.value"].startswith("Visitors park behind the mill.")
        assert {one.parent_span_id for one in server.spans if one is not root} == {root.span_id}
        assert server.headers["authorization"] == "Basic cGs6c2s="
        assert server.service["service.name"] == "ragstone"
        assert "ragstone.question.duration" in server.metrics


def test_a_receiver_that_is_away_costs_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with OtlpServer() as server:
        away = server.url
    with closing(open_fast(tmp_path / "kb", *ANSWERS, f"review.telemetry.to={away}")) as kb:
        add(kb, MILL)
        assert asyncio.run(kb.ask(QUESTION, reader=OWNER)).outcome == "answer"


def test_telemetry_is_told_as_a_destination() -> None:
    assert not [one for one in destinations(load().settings) if one.kind == "telemetry"]
    [one] = [
        one for one in destinations(load(["review.telemetry.to=http://otel:4318"]).settings) if one.kind == "telemetry"
    ]
    assert (one.address, one.sent) == ("http://otel:4318", "times, counts and outcomes of questions; no texts")
