"""The log of a server: one JSON object a line, whoever writes it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from ragstone.serve.http import telemetry

EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
LOGGERS = ("ragstone.http", "ragstone.tracking", "uvicorn.error", "opentelemetry", "python_multipart")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave the loggers as they were."""
    before = [(one := logging.getLogger(name), one.handlers[:], one.level, one.propagate) for name in LOGGERS]
    yield
    for logger, handlers, level, propagate in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_a_receiver_that_is_away_is_a_line_for_each_outage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    telemetry.log_to_stderr("info")
    for attempt in range(3):
        logging.getLogger(EXPORTER).warning("Transient error %s, retrying in %ss", "refused", attempt)
    logging.getLogger("opentelemetry.sdk.metrics").error("Failed to export", exc_info=ValueError("x"))
    monkeypatch.setattr(telemetry, "OUTAGE_SECONDS", -1.0)
    logging.getLogger(EXPORTER).warning("Transient error %s, retrying in %ss", "reset", 0)
    first, again = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["level"], first["event"]) == ("warning", "Transient error refused, retrying in 0s")
    assert again["event"] == "Transient error reset, retrying in 0s"
