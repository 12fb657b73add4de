"""Traces and metrics of questions through the SDK of OpenTelemetry, named by its conventions for generative AI.

A question is a span, with a span for each of its stages. Neither contains a text unless the settings say so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from ragstone.core.answers import Answer, Answered, Failed

if TYPE_CHECKING:
    from ragstone.settings.answer import TelemetrySettings

_SCOPE = "ragstone"
_NANOSECONDS = 1_000_000
"""In a millisecond."""
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144)
"""Upper bounds of the histograms."""


class Telemetry:
    """Sends a trace and metrics of each question; a receiver that fails costs only what it was sent."""

    def __init__(self, settings: TelemetrySettings) -> None:
        """Connect to the receiver that the settings name, or use the SDK that the program has set up.

        Headers, time limits and the name of the service come from the variables of OpenTelemetry, such as
        ``OTEL_EXPORTER_OTLP_HEADERS`` and ``OTEL_SERVICE_NAME``. ``OTEL_METRICS_EXPORTER=none`` sends no metrics.
        """
        self._texts = settings.texts
        self._own = list[Any]()
        tracers, meters = trace.get_tracer_provider(), metrics.get_meter_provider()
        if settings.to != "sdk":
            tracers, meters = _providers(settings.to.rstrip("/"))
            self._own = [tracers, meters]
        self._tracer, meter = (
            tracers.get_tracer(_SCOPE, version("ragstone")),
            meters.get_meter(_SCOPE, version("ragstone")),
        )
        self._duration = meter.create_histogram(
            "ragstone.question.duration",
            unit="s",
            description="Seconds until the answer was complete",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of language models",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._cost = meter.create_counter("ragstone.question.cost", description="In the currency of the price list")

    def note(self, outcome: Answered | Failed) -> None:
        """Record a question that has just ended."""
        ended = time.time_ns()
        total = outcome.milliseconds if isinstance(outcome, Failed) else outcome.answer.timings_ms["total"]
        started = ended - int(total * _NANOSECONDS)
        if isinstance(outcome, Failed):
            attributes: dict[str, Any] = {"ragstone.outcome": "failed", "error.type": type(outcome.error).__name__}
            texts = {"input.value": outcome.question}
        else:
            attributes = _attributes(outcome.answer)
            texts = {"input.value": outcome.answer.question, "output.value": outcome.answer.answer}
        attributes |= texts if self._texts else {}
        span = self._tracer.start_span(
            "ragstone.ask", start_time=started, attributes=attributes, kind=SpanKind.INTERNAL
        )
        if isinstance(outcome, Failed):
            span.set_status(Status(StatusCode.ERROR))
        else:
            inside = trace.set_span_in_context(span)
            for stage in outcome.stages:
                begun = started + int(stage.start * _NANOSECONDS)
                facts = _usage(outcome.answer) if stage.name == "answer" else {}
                part = self._tracer.start_span(
                    f"ragstone.{stage.name}", context=inside, start_time=begun, attributes=facts
                )
                part.end(begun + int(stage.milliseconds * _NANOSECONDS))
        span.end(ended)
        self._measure(attributes, total, outcome)

    def close(self) -> None:
        """Send what waits, and end the threads that send."""
        for provider in self._own:
            provider.shutdown()

    def _measure(self, attributes: Mapping[str, Any], milliseconds: float, outcome: Answered | Failed) -> None:
        kinds = ("ragstone.outcome", "ragstone.kind", "gen_ai.request.model", "error.type")
        labels = {name: attributes[name] for name in kinds if name in attributes}
        self._duration.record(milliseconds / 1000, labels)
        if isinstance(outcome, Answered) and (usage := outcome.answer.usage).model_calls:
            model = {"gen_ai.request.model": outcome.answer.model}
            self._tokens.record(usage.prompt_tokens, {**model, "gen_ai.token.type": "input"})
            self._tokens.record(usage.completion_tokens, {**model, "gen_ai.token.type": "output"})
            self._cost.add(usage.cost or 0.0, model)


def _providers(address: str) -> tuple[Any, Any]:
    """Return providers of traces and metrics that send to an address."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    service = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "ragstone"), "service.version": version("ragstone")}
    resource = Resource.create(service)
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{address}/v1/traces")))
    readers = list[Any]()
    if os.environ.get("OTEL_METRICS_EXPORTER", "").lower() != "none":
        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=f"{address}/v1/metrics")))
    return tracers, MeterProvider(metric_readers=readers, resource=resource, shutdown_on_exit=False)


def _attributes(answer: Answer) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "ragstone.answer.id": answer.response_id,
        "ragstone.outcome": answer.outcome,
        "ragstone.kind": answer.kind,
        "ragstone.confidence": answer.confidence,
        "ragstone.citations": len(answer.citations),
        "ragstone.passages": len(answer.hits),
        "ragstone.model.failed": answer.failed,
        "ragstone.cached": list(answer.usage.cached),
        "ragstone.embedding.tokens": answer.usage.embedding_tokens,
        **_usage(answer),
    }
    return facts if answer.usage.cost is None else {**facts, "ragstone.cost": answer.usage.cost}


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    model: dict[str, Any] = {"gen_ai.request.model": answer.model, "gen_ai.operation.name": "chat"}
    tokens = {"input": usage.prompt_tokens, "output": usage.completion_tokens}
    counts: dict[str, Any] = {f"gen_ai.usage.{kind}_tokens": count for kind, count in tokens.items()}
    return {**model, **counts} if usage.model_calls else {"gen_ai.request.model": answer.model}
