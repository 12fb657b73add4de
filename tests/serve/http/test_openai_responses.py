"""OpenAI's Responses API, through its official client and against its description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from kb import READY, add, calls_on_the_loop, open_fast
from live import make_key, served

from ragstone.core.access import OWNER
from ragstone.core.errors import NotFound
from ragstone.core.records import Document
from ragstone.engine.history import History
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.openapi import Description

ROOMS = "Room 7 is called Marie Curie. Room 7 has twelve seats."
QUESTION = "What is room 7 called?"
UNKNOWN = "How many moons does Jupiter have?"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with closing(open_fast(tmp_path_factory.mktemp("responses") / "kb", READY)) as engine:
        add(
            engine,
            Document(id="docs/rooms & halls.md", text=ROOMS, title="Rooms"),
            Document(id="parking", text="Visitors park behind the mill.", title="Parking", url="https://example.org/p"),
            Document(id="script", text="The gate opens at six.", title="Gate", url="javascript:alert(1)"),
        )
        yield engine


def ask(client: openai.OpenAI, given: Any, **more: Any) -> Any:
    return client.responses.create(model="ragstone", input=given, **more)


def test_answers_with_citations(client: openai.OpenAI, url: str) -> None:
    response = ask(client, QUESTION, metadata={"from": "test"})
    assert response.status == "completed"
    assert response.output_text.startswith("Room 7 is called Marie Curie.")
    [part] = response.output[0].content
    for note, cited in zip(part.annotations, response.ragstone["citations"], strict=True):
        assert part.text[note.start_index : note.end_index] == f"[{cited['marker']}]"
        assert note.url == f"{url}/#/d/docs%2Frooms%20%26%20halls.md?start={cited['start']}&end={cited['end']}"
        assert note.title == "Rooms"
    assert response.metadata == {"from": "test"}
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


def test_looking_for_a_conversation_holds_up_no_other_request(
    client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = calls_on_the_loop(monkeypatch, History, "turns")
    assert ask(client, QUESTION, previous_response_id=ask(client, QUESTION).id).output_text
    assert not noted


@pytest.mark.parametrize(
    ("question", "address"),
    [("Where do visitors park?", "https://example.org/p"), ("When does the gate open?", "#/d/script?start=")],
)
def test_cites_only_addresses_that_a_browser_opens(client: openai.OpenAI, question: str, address: str) -> None:
    notes = ask(client, question).output[0].content[0].annotations
    assert notes
    assert all(address in note.url and "javascript" not in note.url for note in notes)


@pytest.mark.parametrize("question", [QUESTION, UNKNOWN])
def test_streams_the_published_events(client: openai.OpenAI, question: str) -> None:
    whole = ask(client, question)
    events: list[Any] = list(ask(client, question, stream=True))
    kinds = [event.type.removeprefix("response.") for event in events]
    assert kinds[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert kinds[-4:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    assert set(kinds[4:-4]) <= {"output_text.delta", "output_text.annotation.added"}
    assert [event.sequence_number for event in events] == list(range(len(events)))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    last = events[-1].response
    assert text == last.output_text == whole.output_text
    notes = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert [*map(dict, notes)] == [*map(dict, last.output[0].content[0].annotations)]
    assert {event.response.id for event in events if hasattr(event, "response")} == {last.id}


def test_client_assembles_the_stream(client: openai.OpenAI) -> None:
    with client.responses.stream(model="ragstone", input=QUESTION) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    assert final.output_text == ask(client, QUESTION).output_text


def test_goes_on_with_a_conversation(client: openai.OpenAI) -> None:
    first = ask(client, QUESTION)
    second = ask(client, "And how many seats does it have?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert "twelve seats" in second.output_text
    third = ask(client, "What is it called?", previous_response_id=second.id)
    assert "Marie Curie" in third.output_text


def test_takes_a_conversation_in_the_input(client: openai.OpenAI) -> None:
    items: Any = [
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ROOMS}]},
        {"type": "reasoning", "summary": []},
        {"role": "user", "content": "And how many seats does it have?"},
    ]
    assert "twelve seats" in ask(client, items).output_text


def test_unstored_response_cannot_be_continued(client: openai.OpenAI) -> None:
    first = ask(client, QUESTION, store=False)
    assert first.store is False
    with pytest.raises(openai.NotFoundError, match="previous_response_id"):
        ask(client, "And how many seats does it have?", previous_response_id=first.id)


def test_stored_responses_are_looked_up_and_deleted(client: openai.OpenAI, engine: KnowledgeBase) -> None:
    first = ask(client, QUESTION)
    second = ask(client, "And how many seats does it have?", previous_response_id=first.id)
    for one in (first, second):
        kept = client.responses.retrieve(one.id)
        times = {"created_at": one.created_at, "completed_at": one.completed_at}  # it is stored at its end
        assert kept.model_copy(update=times) == one
        assert one.created_at <= kept.created_at
    client.responses.delete(first.id)
    for gone in (first.id, ask(client, QUESTION, store=False).id, f"resp_{'0' * 48}"):
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(gone)
        with pytest.raises(openai.NotFoundError):
            client.responses.delete(gone)
    assert client.responses.retrieve(second.id).previous_response_id is None
    [left] = engine.history.turns(second.id[5:37], reader=OWNER)
    assert left.response_id == second.id[5:]


def test_an_unstored_question_leaves_no_trace(client: openai.OpenAI, engine: KnowledgeBase) -> None:
    first = ask(client, QUESTION)
    other = ask(client, "And how many seats does it have?", previous_response_id=first.id, store=False)
    assert "twelve seats" in other.output_text
    assert len(engine.history.turns(first.id[5:37], reader=OWNER)) == 1
    with pytest.raises(NotFound):
        engine.history.response(other.id[5:], reader=OWNER)


def test_says_what_it_ignored(client: openai.OpenAI) -> None:
    response = ask(
        client,
        QUESTION,
        instructions="Be a pirate.",
        tools=[{"type": "web_search"}],
        text={"format": {"type": "json_object"}},
        temperature=2,
    )
    notices = " ".join(response.ragstone["notices"])
    for word in ("system messages", "tools", "response_format"):
        assert word in notices
    assert response.instructions == "Be a pirate."


@pytest.mark.parametrize(
    "wrong",
    [
        {"input": ""},
        {"input": []},
        {"input": [{"role": "assistant", "content": "x"}]},
        {"input": "x" * 100_000},
        {"input": QUESTION, "previous_response_id": "resp_1"},
        {"input": QUESTION, "where": "kind ="},
        {"input": QUESTION, "model": "gpt-9"},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("stream", [False, True])
def test_refuses_wrong_requests(url: str, wrong: dict[str, Any], stream: bool, description: Description) -> None:
    sent = httpx2.post(f"{url}/v1/responses", json={"model": "ragstone", "stream": stream, **wrong})
    assert sent.status_code in (400, 404, 422), sent.text
    assert description.problems(sent.json(), "ErrorResponse") == []


def test_filters_documents(client: openai.OpenAI) -> None:
    assert ask(client, QUESTION, extra_body={"where": "id = elsewhere"}).ragstone["abstained"]


def test_conversation_belongs_to_its_reader(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb", READY)) as engine:
        add(engine, Document(id="a", text=ROOMS))
        keys = [make_key(tmp_path / "kb", name, groups=[name]) for name in ("ada", "bob")]
        with served(engine) as live:
            ada, bob = (
                openai.OpenAI(base_url=f"{live.url}/v1", api_key=key["authorization"][7:], max_retries=0)
                for key in keys
            )
            with ada, bob:
                first = ask(ada, QUESTION)
                assert "twelve" in ask(ada, "How many seats does it have?", previous_response_id=first.id).output_text
                with pytest.raises(openai.NotFoundError):
                    ask(bob, "How many seats does it have?", previous_response_id=first.id)
                for use in (bob.responses.retrieve, bob.responses.delete):
                    with pytest.raises(openai.NotFoundError):
                        use(first.id)
                assert ada.responses.retrieve(first.id).output_text == first.output_text


# ---------------------------------------------------------------- the description


@pytest.fixture
def description(data_dir: Path) -> Description:
    path = data_dir / "peer_suites" / "openai_openapi" / "openapi.yaml"
    if not path.is_file():
        pytest.skip(f"the description of OpenAI's API is not at {path}")
    return Description(path)


def test_matches_openais_description(url: str, description: Description) -> None:
    asked = {"model": "ragstone", "input": QUESTION}
    body = httpx2.post(f"{url}/v1/responses", json=asked).json()
    assert description.problems(body, "Response") == []
    streamed = httpx2.post(f"{url}/v1/responses", json=asked | {"stream": True}).text
    numbers = count()
    for block in filter(None, streamed.split("\n\n")):
        name, data = block.split("\n", 1)
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        assert event["sequence_number"] == next(numbers)
        assert description.problems(event, "ResponseStreamEvent") == []
    assert next(numbers) >= 9
