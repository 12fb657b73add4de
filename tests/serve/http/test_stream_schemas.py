"""Streamed events match the OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from live import Live

DOCUMENT = json.loads((Path(__file__).parent.parent.parent.parent / "docs" / "openapi.json").read_text("utf-8"))
STREAM = "text/event-stream"


def fits(value: object, schema: dict[str, Any]) -> bool:
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]}).is_valid(value)


def described(method: str, path: str) -> list[dict[str, Any]]:
    """Return the schemas of the events of a route."""
    told = DOCUMENT["paths"][path][method]["responses"]["200"]["content"][STREAM]["schema"]
    return told.get("oneOf", [told])


def parsed(stream: str) -> list[dict[str, str]]:
    """Parse events as browsers do: without a name they are messages."""
    blocks = [[line.split(": ", 1) for line in block.splitlines()] for block in stream.split("\n\n")]
    return [{"event": "message", **dict(block)} for block in blocks if block]


def kind(event: dict[str, str], schemas: list[dict[str, Any]]) -> str:
    """Return the name of the one schema that matches an event and its data."""
    (schema,) = [one for one in schemas if fits(event, one)]
    told = schema["properties"]["data"]
    for data in told.get("anyOf", [told]):
        if "const" in data and event["data"] == data["const"]:
            return data["const"]
        if "contentSchema" not in data or not event["data"].startswith("{"):
            continue
        if fits(json.loads(event["data"]), data["contentSchema"]):
            return data["contentSchema"]["$ref"].rpartition("/")[2]
    raise AssertionError(f"nothing describes {event}")


def test_question_events_match_their_schema(house: Live) -> None:
    body = {"question": "Where do visitors park?", "explain": True}
    events = parsed(house.http.post("/query", json=body, headers={"accept": STREAM}).text)
    kinds = [kind(event, described("post", "/query")) for event in events]
    assert kinds[0] == "EvidenceEvent"
    assert {"TextEvent", "SentenceEvent"} <= set(kinds)
    assert kinds[-1] == "Answer"


@pytest.mark.parametrize("question", ["Where do visitors park?", "Who won the chess tournament of 1972?"])
def test_chat_events_match_their_schema(house: Live, question: str) -> None:
    body = {"model": "ragstone", "stream": True, "messages": [{"role": "user", "content": question}]}
    events = parsed(house.http.post("/v1/chat/completions", json=body).text)
    kinds = [kind(event, described("post", "/v1/chat/completions")) for event in events]
    assert set(kinds[:-1]) == {"CompletionChunk"}
    assert kinds[-1] == "[DONE]"


def test_job_events_match_their_schema(house: Live) -> None:
    sent = house.upload(("plan.txt", b"The plan is on the second floor."))
    events = parsed(house.http.get(f"/jobs/{sent.json()['job_id']}", headers={"accept": STREAM}).text)
    assert {kind(event, described("get", "/jobs/{job_id}")) for event in events} == {"Job"}
    assert events[-1]["event"] == "end"
