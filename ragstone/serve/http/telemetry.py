"""The server's log and metrics. Neither contains a key, a question, an answer, a document or the path of a request."""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    multiprocess,
)
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_prometheus: Any = multiprocess  # which has no types
LOGGER = logging.getLogger("ragstone.http")
Level = Literal["info", "warning"]
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Upper bounds in seconds."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable by which the Prometheus client knows where several processes keep their counts."""
OUTAGE_SECONDS = 300.0
"""Seconds without a failure after which the next one belongs to another outage; the SDK sends at least each minute."""
FRAMES = 12
"""Frames of a traceback that the log has."""

disable_created_metrics()  # a timestamp for every time series, which nothing here uses

QuestionEnd = Literal["answered", "closest", "abstained", "failed", "left"]
"""How a question ended; ``left`` means that the client went away."""


class _JsonLines(logging.Formatter):
    def __init__(self, facts: Mapping[str, object]) -> None:
        super().__init__()
        self._facts = dict(facts)

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        facts = dict(record.args) if isinstance(record.args, Mapping) else {}
        return json.dumps(fields | self._facts | {"event": record.msg if facts else record.getMessage()} | facts)


class _OncePerOutage(logging.Filter):
    """Passes the first of the records that say, again and again, that a receiver cannot be reached."""

    def __init__(self) -> None:
        super().__init__()
        self._last = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        is_new = record.created > self._last + OUTAGE_SECONDS
        self._last = record.created
        return is_new


def log_to_stderr(level: Level, process: int | None = None) -> None:
    """Write the log of the server and of uvicorn to standard error, one JSON object a line.

    Args:
        level: of the server; uvicorn logs only problems.
        process: the number of this process, if several serve.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines({} if process is None else {"process": process}))
    for name in ("ragstone.http", "ragstone.tracking", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper() if name.startswith("ragstone") else "WARNING")
        logger.propagate = False
    once = logging.StreamHandler(sys.stderr)
    once.setFormatter(handler.formatter)
    once.addFilter(_OncePerOutage())
    telemetry = logging.getLogger("opentelemetry")
    telemetry.handlers[:], telemetry.propagate = [once], False
    telemetry.setLevel("WARNING")
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # a malformed form is the sender's fault


def log_request(facts: Mapping[str, object]) -> None:
    """Log a request that has ended. A 5xx status is a warning, except while the server starts."""
    is_failure = str(facts["status"]) >= "500" and facts["route"] != "/ready"
    LOGGER.log(logging.WARNING if is_failure else logging.INFO, "request", dict(facts))


def log_error(error: BaseException, facts: Mapping[str, str]) -> None:
    """Log the type of an error and where it was raised, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"{frame.filename}:{frame.lineno}" for frame in frames]
    LOGGER.error("error", {**facts, "error": type(error).__name__, "at": places})


def forget_process(pid: int) -> None:
    """Drop the gauges of a process that ended. Its counts stay, because counters must not fall."""
    if folder := os.environ.get(METRICS_FOLDER):
        _prometheus.mark_process_dead(pid, folder)


class _Gauges(Collector):
    """Values of this moment. The client's own gauges would be kept for other processes to add up."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def collect(self) -> Iterator[Metric]:
        for name, value in self._values.items():
            yield GaugeMetricFamily(f"ragstone_{name}", f"{name.replace('_', ' ').capitalize()}.", value)


class Metrics:
    """Counts and times of one server's requests since it started, for Prometheus.

    If several processes serve, any of them returns the sums of all, which they keep in a folder that an environment
    variable names.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "ragstone_http_requests",
            "Requests that have ended.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "ragstone_http_request_seconds",
            "Seconds from a request to the end of its response.",
            ("method", "route"),
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._questions = Counter("ragstone_questions", "Questions by outcome.", ("outcome",), registry=self._registry)
        self.active = Gauge(
            "ragstone_http_requests_under_way",
            "Requests in progress.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_question(self, outcome: QuestionEnd) -> None:
        """Count a question by its outcome; ``left`` means that the client went away."""
        self._questions.labels(outcome).inc()

    def render(self, gauges: Mapping[str, float]) -> bytes:
        """Return all metrics in the text format, with the current values of more gauges."""
        current = CollectorRegistry()
        current.register(_Gauges(gauges))
        shown = self._registry
        if folder := os.environ.get(METRICS_FOLDER):
            shown = CollectorRegistry()
            _prometheus.MultiProcessCollector(shown, folder)
        return generate_latest(shown) + generate_latest(current)
