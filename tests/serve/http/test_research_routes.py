"""Research over HTTP, as JSON, as events, and through OpenAI's protocol."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import openai
import pytest
from kb import READY, add, open_fast
from live import Live, served

from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.counts import NAME, SharedCounts
from ragstone.serve.http.stops import Stops

LIST = "All documents about parking"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with closing(open_fast(tmp_path_factory.mktemp("research") / "kb", READY)) as engine:
        _fill(engine)
        with served(engine) as serving:
            yield serving


def _fill(engine: KnowledgeBase) -> None:
    add(
        engine,
        Document(id="mill", text="Visitors find parking behind the mill.", title="Mill"),
        Document(id="hall", text="Parking at the hall costs two euros.", title="Hall"),
        Document(id="room", text="Room 7 is called Marie Curie.", title="Rooms"),
        *(
            Document(
                id=f"rules-{year}",
                title=f"Rules {year}",
                kind="markdown",
                text=f"# Rules {year}\n\n## Opening\n\nThe canteen opens at {hour} in the morning.",
            )
            for year, hour in ((2023, "eight"), (2024, "nine"))
        ),
    )


def events_of(text: str) -> list[tuple[str, Any]]:
    blocks = [block.split("\n", 1) for block in text.strip().split("\n\n") if block.startswith("event: ")]
    return [(head.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for head, data in blocks]


def test_returns_the_list_with_the_answer(server: Live) -> None:
    told = server.http.post("/research", json={"question": LIST}).raise_for_status().json()
    assert {one["document_id"] for one in told["documents"]["items"]} == {"mill", "hall"}
    assert all("arking" in one["quote"] for one in told["documents"]["items"])
    assert told["actions"][0]["action"] == "list"
    assert "Documents that fit: 2." in told["answer"]["answer"]
    assert told["forecast"]["calls"] == 0


def test_returns_a_comparison_with_the_answer(server: Live) -> None:
    question = "Compare rules 2023 and rules 2024 in opening and dogs"
    told = server.http.post("/research", json={"question": question}).raise_for_status().json()
    table = told["comparison"]
    assert table["things"] == ["rules 2023", "rules 2024"]
    opening, dogs = table["aspects"]
    assert [one["document_id"] for one in opening["cells"]] == ["rules-2023", "rules-2024"]
    assert ["eight" in opening["cells"][0]["quote"], "nine" in opening["cells"][1]["quote"]] == [True, True]
    assert dogs["cells"] == [None, None]
    assert [one["marker"] for one in opening["cells"]] == [one["marker"] for one in told["answer"]["citations"]]
    assert told["answer"]["retrieval_method"] == "comparison"
    assert told["documents"] is None


def test_streams_each_step(server: Live) -> None:
    reply = server.http.post(
        "/research", json={"question": "What is room 7 called?"}, headers={"accept": "text/event-stream"}
    )
    events = events_of(reply.text)
    names = [name for name, _ in events]
    assert names[:2] == ["forecast", "action"]
    assert names[-1] == "answer"
    assert "Marie Curie" in events[-1][1]["answer"]["answer"]


def test_stopped_research_answers_from_its_first_search(server: Live) -> None:
    question = "What does parking at the hall cost, and what is room 7 called?"
    whole = server.http.post("/research", json={"question": question}).raise_for_status().json()
    assert server.http.post("/research/stop", json={"run": "mine"}).status_code == 204
    told = server.http.post("/research", json={"question": question, "run": "mine"}).raise_for_status().json()
    assert [one["action"] for one in told["actions"]] == ["search", "search"], "one for each part"
    assert len(whole["actions"]) >= len(told["actions"])
    assert "two euros" in told["answer"]["answer"]
    again = server.http.post("/research", json={"question": question, "run": "mine"}).raise_for_status().json()
    assert again["actions"] == whole["actions"], "a run of the same name begins anew"


def test_a_run_is_stopped_until_it_has_ended() -> None:
    stops = Stops()
    stops.stop("ann", "mine")
    assert [stops.has_stopped(who, "mine") for who in ("ann", "bob")] == [True, False]
    stops.forget("ann", "mine")
    assert not stops.has_stopped("ann", "mine")


def test_a_look_waits_for_no_process_that_counts(tmp_path: Path) -> None:
    with closing(Stops(SharedCounts(tmp_path))) as stops:
        stops.stop("ann", "mine")
        with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert stops.has_stopped("ann", "mine")


def test_returns_the_evidence_if_requested(server: Live) -> None:
    asked = {"question": "What is room 7 called?", "explain": True}
    told = server.http.post("/research", json=asked).raise_for_status().json()
    assert told["answer"]["hits"][0]["document_id"] == "room"


def test_refuses_a_model_that_cannot_be_chosen(server: Live) -> None:
    assert server.http.post("/research", json={"question": "Why?", "model": "other"}).status_code == 403


def test_refuses_an_unknown_effort(server: Live) -> None:
    assert server.http.post("/research", json={"question": "Why?", "effort": "heroic"}).status_code == 422


def test_chat_programs_see_the_steps_as_reasoning(server: Live) -> None:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        stream = client.chat.completions.create(
            model="ragstone",
            messages=[{"role": "user", "content": LIST}],
            stream=True,
            reasoning_effort="high",
        )
        deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    reasoning = "".join(getattr(one, "reasoning_content", None) or "" for one in deltas)
    assert "list: documents, parking: 2 new passages: " in reasoning
    assert "Documents that fit: 2." in "".join(one.content or "" for one in deltas)
