"""The log: one JSON object a line, on standard error.

What is in it is chosen here and in `front`: never a key, a question, an answer, a document or the path of a request,
which may hold an id of one.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal

LOGGER = logging.getLogger("ragstone.http")
Level = Literal["info", "warning"]


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        facts = record.args if isinstance(record.args, dict) else {}
        return json.dumps(told | {"event": record.msg if facts else record.getMessage(), **facts})


def to_standard_error(level: Level) -> None:
    """Let the log of this server, and of what it runs on, go there."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name in ("ragstone.http", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper() if name.startswith("ragstone") else "WARNING")
        logger.propagate = False
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # a form that cannot be read is the sender's fault


def note(event: str, facts: dict[str, object]) -> None:
    """Write a line. Errors, and requests that failed for our part, are worth a warning."""
    status = facts.get("status")
    level = logging.ERROR if event == "error" else logging.INFO
    if isinstance(status, int) and status >= 500 and facts.get("route") != "/ready":  # that it starts is no fault
        level = logging.WARNING
    LOGGER.log(level, event, facts)
