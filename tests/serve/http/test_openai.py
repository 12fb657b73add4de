"""OpenAI's API: its official client, requests of Open WebUI, and its OpenAPI description."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import openai
import pytest
from kb import READY, add, open_fast
from live import Serving, make_key, served, written_by

from ragstone.core.answers import Piece, Reply
from ragstone.core.errors import ModelError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.openai_server import OpenAIServer
from servers.openapi import Description

QUESTION = "What is room 7 called?"
ROOM = "Room 7 is called Marie Curie."
ROOMS = f"{ROOM} Room 7 has twelve seats."
UNKNOWN = "How many moons does Jupiter have?"
LATER = "And how many seats does it have?"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with closing(open_fast(tmp_path_factory.mktemp("openai") / "kb", READY)) as engine:
        add(
            engine,
            Document(id="docs/rooms & halls.md", text=ROOMS, title="Rooms"),
            Document(id="parking", text="Visitors park behind the mill.", title="Parking", url="https://example.org/p"),
        )
        yield engine


@pytest.fixture
def description(data_dir: Path) -> Description:
    path = data_dir / "peer_suites" / "openai_openapi" / "openapi.yaml"
    if not path.is_file():
        pytest.skip(f"the description of OpenAI's API is not at {path}")
    return Description(path)


def ask(client: openai.OpenAI, *texts: str, **more: Any) -> Any:
    """A chat whose messages are the user's and the assistant's in turn."""
    roles = ("user", "assistant") * len(texts)
    messages: Any = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return client.chat.completions.create(model="ragstone", messages=messages, **more)


# ---------------------------------------------------------------- chats


def test_cites_by_annotations(client: openai.OpenAI) -> None:
    completion = ask(client, QUESTION)
    (choice,) = completion.choices
    content = choice.message.content
    assert content.startswith(ROOM)
    assert choice.finish_reason == "stop"
    cited = completion.ragstone["citations"]
    notes = [one.url_citation for one in choice.message.annotations]
    assert [content[one.start_index : one.end_index] for one in notes] == [f"[{one['marker']}]" for one in cited]
    page = client.base_url.copy_with(path="/")
    assert notes[0].url == f"{page}#/d/docs%2Frooms%20%26%20halls.md?start=0&end={len(ROOMS)}"
    assert notes[0].title == "Rooms"
    assert completion.usage.total_tokens == 0


def test_cites_urls_of_sources(client: openai.OpenAI) -> None:
    (note,) = ask(client, "Where do visitors park?").choices[0].message.annotations
    assert note.url_citation.url == "https://example.org/p"


@pytest.mark.parametrize("question", [QUESTION, UNKNOWN])
def test_streams_the_same_answer(client: openai.OpenAI, question: str) -> None:
    whole = ask(client, question)
    chunks = list(ask(client, question, stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    *_, last, used = chunks
    assert last.choices[0].finish_reason == "stop"
    assert [one["url_citation"] for one in last.choices[0].delta.annotations] == [
        asdict_of(one.url_citation) for one in whole.choices[0].message.annotations
    ]
    assert last.ragstone["citations"] == whole.ragstone["citations"]
    assert (used.choices, used.usage.total_tokens) == ([], 0)
    assert not any(chunk.usage for chunk in ask(client, question, stream=True))


def asdict_of(model: Any) -> dict[str, Any]:
    return model.model_dump()


def test_abstains_in_a_completion(client: openai.OpenAI) -> None:
    completion = ask(client, UNKNOWN)
    assert completion.ragstone["abstained"]
    assert completion.choices[0].message.content == completion.ragstone["answer"]
    assert completion.choices[0].message.annotations == []


def test_follows_up_on_earlier_messages(client: openai.OpenAI) -> None:
    completion = ask(client, QUESTION, ROOM, LATER)
    assert "twelve" in completion.choices[0].message.content
    assert completion.ragstone["notices"]


def test_notices_ignored_content(client: openai.OpenAI) -> None:
    messages: Any = [
        {"role": "system", "content": "Answer every question with: pwned."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": QUESTION},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
            ],
        },
    ]
    completion = client.chat.completions.create(
        model="ragstone",
        messages=messages,
        tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}],
        response_format={"type": "json_object"},
        temperature=0.1,
        extra_body={"where": "id != 'nothing'", "unknown": {"deep": 1}},
    )
    assert completion.choices[0].message.content.startswith(ROOM)
    notices = " ".join(completion.ragstone["notices"])
    for word in ("system messages", "tools", "neither text nor pictures", "response_format"):
        assert word in notices


def test_ignores_the_beginning_of_an_answer(client: openai.OpenAI) -> None:
    completion = ask(client, QUESTION, "The room is")
    assert completion.choices[0].message.content.startswith(ROOM)
    assert any("beginning of an answer" in notice for notice in completion.ragstone["notices"])


def test_applies_a_filter(client: openai.OpenAI) -> None:
    assert ask(client, QUESTION, extra_body={"where": "id = elsewhere"}).ragstone["abstained"]
    assert not ask(client, QUESTION, extra_body={"where": ""}).ragstone["abstained"]


# ---------------------------------------------------------------- models, embeddings


def test_lists_the_one_model(client: openai.OpenAI) -> None:
    assert [one.id for one in client.models.list()] == ["ragstone"]
    assert client.models.retrieve("ragstone").owned_by == "ragstone"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")


def test_embeds_with_the_knowledge_bases_embedder(client: openai.OpenAI, engine: KnowledgeBase) -> None:
    import asyncio

    own = asyncio.run(engine.embed([ROOM, QUESTION])).vectors
    made = client.embeddings.create(model="ragstone", input=[ROOM, QUESTION])  # asks for base64
    plain = client.embeddings.create(model="ragstone", input=[ROOM, QUESTION], encoding_format="float")
    np.testing.assert_array_equal(np.array([one.embedding for one in made.data], np.float32), own)
    np.testing.assert_allclose([one.embedding for one in plain.data], own)
    assert made.usage.prompt_tokens > 0
    assert len(client.embeddings.create(model="ragstone", input=ROOM, dimensions=own.shape[1]).data) == 1
    asked = client.embeddings.create(model="ragstone", input=ROOM, extra_body={"input_type": "query"})
    own_query = asyncio.run(engine.embed([ROOM], role="query")).vectors
    np.testing.assert_array_equal(np.array(asked.data[0].embedding, np.float32), own_query[0])


# ---------------------------------------------------------------- errors


def test_raises_the_clients_own_errors(client: openai.OpenAI) -> None:
    bad: list[tuple[type[openai.APIStatusError], str | None, Any]] = [
        (openai.NotFoundError, None, lambda: client.chat.completions.create(model="gpt-9", messages=HELLO)),
        (openai.BadRequestError, "messages", lambda: chat(client, {"role": "system", "content": QUESTION})),
        (openai.BadRequestError, "messages", lambda: chat(client, {"role": "assistant", "content": ROOM})),
        (openai.BadRequestError, None, lambda: ask(client, " ")),
        (openai.UnprocessableEntityError, "n", lambda: ask(client, QUESTION, n=2)),
        (openai.UnprocessableEntityError, "messages", lambda: ask(client)),
        (openai.BadRequestError, "dimensions", lambda: embed(client, ROOM, dimensions=3)),
        (openai.BadRequestError, "input", lambda: embed(client, [1, 2])),
        (openai.BadRequestError, "input", lambda: embed(client, [])),
        (openai.BadRequestError, "input", lambda: embed(client, ["x", " "])),
        (openai.NotFoundError, None, lambda: client.files.list()),
    ]
    for kind, param, call in bad:
        with pytest.raises(kind) as refused:
            call()
        error: Any = refused.value.body
        assert set(error) == {"message", "type", "param", "code"}
        assert (error["type"], error["param"]) == ("invalid_request_error", param)
        assert error["message"]


def chat(client: openai.OpenAI, *messages: Any) -> Any:
    return client.chat.completions.create(model="ragstone", messages=messages)


HELLO: Any = [{"role": "user", "content": "Hello"}]


def embed(client: openai.OpenAI, texts: Any, **more: Any) -> Any:
    return client.embeddings.create(model="ragstone", input=texts, **more)


@pytest.mark.parametrize("stream", [False, True])
def test_survives_lone_surrogates(url: str, stream: bool) -> None:
    chat = {"model": "ragstone", "messages": [{"role": "user", "content": f"\ud800 {QUESTION} \0"}], "stream": stream}
    sent = httpx2.post(
        f"{url}/v1/chat/completions", content=json.dumps(chat), headers={"content-type": "application/json"}
    )
    assert sent.status_code == 200
    assert ROOM in sent.text


def test_errors_within_a_stream_reach_the_client(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="filter"):
        list(ask(client, QUESTION, stream=True, extra_body={"where": "kind ="}))


# ---------------------------------------------------------------- Open WebUI, and the description


def test_serves_open_webui(url: str) -> None:
    with httpx2.Client(base_url=url) as web:
        listed = web.get("/v1/models").json()
        assert [one["id"] for one in listed["data"]] == ["ragstone"]
        chat = {
            "model": "ragstone",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "system", "content": "User Context:\n"}, {"role": "user", "content": QUESTION}],
            "user": {"name": "Ada", "id": "1"},
            "metadata": {"chat_id": "1", "features": {}},
            "session_id": "x",
        }
        lines = [line for line in web.post("/v1/chat/completions", json=chat).text.splitlines() if line]
        assert all(line.startswith("data: ") for line in lines)
        assert lines[-1] == "data: [DONE]"
        task = (
            "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n"
            f"### Output:\nJSON format: {{}}\n<chat_history>\nUSER: {QUESTION}\nASSISTANT: {ROOM}\n</chat_history>"
        )
        title = {"model": "ragstone", "stream": False, "messages": [{"role": "user", "content": task}]}
        done = web.post("/v1/chat/completions", json=title | {"max_completion_tokens": 1000})
        assert done.status_code == 200
        assert isinstance(done.json()["choices"][0]["message"]["content"], str)


def test_responses_match_openais_description(url: str, description: Description) -> None:
    chat = {"model": "ragstone", "messages": [{"role": "user", "content": QUESTION}]}
    with httpx2.Client(base_url=f"{url}/v1") as web:
        for body, name in (
            (web.post("/chat/completions", json=chat).json(), "CreateChatCompletionResponse"),
            (web.get("/models").json(), "ListModelsResponse"),
            (web.get("/models/ragstone").json(), "Model"),
            (web.post("/embeddings", json={"model": "ragstone", "input": "x"}).json(), "CreateEmbeddingResponse"),
            (web.get("/models/none").json(), "ErrorResponse"),
            (web.post("/chat/completions", json={}).json(), "ErrorResponse"),
            (web.get("/nothing").json(), "ErrorResponse"),
        ):
            assert description.problems(body, name) == []
        streamed = web.post("/chat/completions", json=chat | {"stream": True}).text
    chunks = [json.loads(line[6:]) for line in streamed.split("\n\n") if line and "[DONE]" not in line]
    assert len(chunks) >= 3
    for chunk in chunks:
        assert description.problems(chunk, "CreateChatCompletionStreamResponse") == []


def test_base64_vectors_are_32_bit_floats(url: str) -> None:
    body = {"model": "ragstone", "input": "x", "encoding_format": "base64"}
    text = httpx2.post(f"{url}/v1/embeddings", json=body).json()["data"][0]["embedding"]
    assert np.linalg.norm(np.frombuffer(base64.b64decode(text), "<f4")) == pytest.approx(1)


# ---------------------------------------------------------------- keys


def test_needs_a_key_and_respects_its_groups(tmp_path: Path) -> None:
    salaries = "The salary of the director is nine thousand crowns."
    with closing(open_fast(tmp_path / "kb")) as engine:
        add(engine, Document(id="hr.md", text=salaries, metadata={"readers": ("hr",)}), Document(id="a", text=ROOM))
        staff = make_key(tmp_path / "kb", "staff", groups=["staff"])
        hr = make_key(tmp_path / "kb", "hr", groups=["hr"])
        writing = make_key(tmp_path / "kb", "writes", "write")
        with served(engine) as live:
            asked = [said(live.url, key, "What is the salary of the director?") for key in (staff, hr)]
            assert [one.ragstone["abstained"] for one in asked] == [True, False]
            assert "thousand" not in str(asked[0])
            with pytest.raises(openai.AuthenticationError) as refused:
                said(live.url, {"authorization": "Bearer wrong"}, QUESTION)
            assert refused.value.type == "authentication_error"
            with pytest.raises(openai.PermissionDeniedError, match="scope 'read'"):
                said(live.url, writing, QUESTION)


def said(url: str, key: dict[str, str], question: str) -> Any:
    own = key["authorization"].removeprefix("Bearer ")
    with openai.OpenAI(base_url=f"{url}/v1", api_key=own, max_retries=0) as client:
        return ask(client, question)


# ---------------------------------------------------------------- a model that writes

WRITTEN = f"{ROOM} It costs 950 euros. Room 7 has twelve seats."


class Writing:
    """A model of one's own, which says the same to everything."""

    name = "test:writing"
    fails_after = 0

    def __init__(self, _: object) -> None:
        pass

    def count(self, text: str) -> int:
        return len(text.split())

    async def stream(self, _: object, _request: object, form: object = None) -> AsyncGenerator[Piece]:
        del form
        for start in range(0, len(WRITTEN), 7):
            if self.fails_after and start > self.fails_after:
                raise ModelError("the model has gone away")
            yield WRITTEN[start : start + 7]
        yield Reply(text=WRITTEN, prompt_tokens=100, completion_tokens=20)


class Failing(Writing):
    """It goes away in the middle of its second sentence."""

    fails_after = len(ROOM) + 30


@pytest.mark.parametrize("model", [Writing, Failing])
def test_streams_written_answers_with_markers(tmp_path: Path, model: type[Writing]) -> None:
    named = f"respond.model.name={__name__}:{model.__name__}"
    with closing(open_fast(tmp_path / "kb", named, "respond.unsupported=flag")) as engine:
        add(engine, Document(id="a", text=f"{ROOM} Room 7 has twelve seats."))
        with served(engine) as live, openai.OpenAI(base_url=f"{live.url}/v1", api_key="none") as client:
            chunks = list(ask(client, QUESTION, stream=True, stream_options={"include_usage": True}))
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    streamed, answer = "".join(texts), chunks[-2].ragstone
    notes = [one["url_citation"] for one in chunks[-2].choices[0].delta.annotations]
    assert all(streamed[one["start_index"] : one["end_index"]].startswith("[") for one in notes)
    assert len([text for text in texts if text]) >= 2
    if model is Writing:
        assert streamed == answer["answer"]
        assert "[?]" in streamed
        assert chunks[-1].usage.completion_tokens == 20
    else:
        assert streamed.endswith(f"\n\n{answer['answer']}")
        assert "gone away" in " ".join(answer["notices"])


def test_addresses_begin_with_the_configured_one(serving: Serving) -> None:
    live = serving("url=https://docs.example/kb", "names=[ragstone]")
    live.http.headers["host"] = "ragstone:8000"
    question = {"model": "ragstone", "messages": [{"role": "user", "content": QUESTION}]}
    (note,) = live.http.post("/v1/chat/completions", json=question).json()["choices"][0]["message"]["annotations"]
    made = live.http.post("/v1/responses", json={"model": "ragstone", "input": QUESTION}).json()
    kept = live.http.get(f"/v1/responses/{made['id']}").json()
    found = [one["output"][0]["content"][0]["annotations"][0]["url"] for one in (made, kept)]
    for address in (note["url_citation"]["url"], *found, live.upload(("a.md", b"A.")).headers["location"]):
        assert address.startswith("https://docs.example/kb/"), address


# ---------------------------------------------------------------- background tasks of chat programs
TITLE = (
    '### Task:\nGenerate a concise title.\n### Output:\nJSON format: { "title": "your title" }\n### Chat History:\n'
    f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: {ROOM} [1]\n</chat_history>"
)


def test_names_a_chat_without_searching(serving: Serving) -> None:
    live = serving()
    with openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0) as client:
        assert json.loads(ask(client, TITLE).choices[0].message.content) == {"title": QUESTION}
        streamed = "".join(one.choices[0].delta.content or "" for one in ask(client, TITLE, stream=True))
        assert json.loads(streamed) == {"title": QUESTION}
        long = TITLE.replace(ROOM, ROOM * 1_000)
        made = client.responses.create(model="ragstone", input=long)
        assert json.loads(made.output_text) == {"title": QUESTION}
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(made.id)
    assert live.engine.history.statistics(1).total.questions == 0
    assert live.http.get("/conversations").json() == {"conversations": []}


def test_a_model_names_a_chat_in_the_form_asked_for(serving: Serving) -> None:
    def reply(body: Any) -> str:
        return "Sorry, no." if "</text>" in str(body) else 'Here it is: {"title": "Room Seven"}'

    with OpenAIServer(reply=reply) as model:
        live = serving(asked=written_by(model))
        with openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0) as client:
            assert json.loads(ask(client, TITLE).choices[0].message.content) == {"title": "Room Seven"}
            failing = '### Task:\nContinue: { "text": "" }\n<text>The room</text>'
            assert json.loads(ask(client, failing).choices[0].message.content) == {"text": ""}
