"""Questions with a picture over HTTP: `/query`, and the parts of messages in OpenAI's protocols."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import httpx2
import openai
import pytest
from kb import READY, add, open_fast
from live import Live, Serving, served
from pictures import painted, saved

from ragstone.core.records import Document
from ragstone.serve.http.admission import MAX_PICTURED
from servers.openai_server import KEY, Fault, OpenAIServer, describing

pytest.importorskip("PIL")

QUESTION = "Where is this?"
SAYS = "A photo of the lighthouse of Nida."
NIDA = Document(id="nida", text="The lighthouse of Nida stands on the Urbas dune.", title="Nida")
OTHER = Document(id="other", text="Bakers knead dough before sunrise.", title="Bread")
PNG = saved(painted("red"), "PNG")
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(describing(SAYS)) as model:
        yield model


@pytest.fixture(scope="module")
def seeing(model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server with a vision model."""
    settings = (
        "acquire.captions.model=openai:sees",
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={model.url}",
        "services.retries=0",
    )
    with closing(open_fast(tmp_path_factory.mktemp("seeing") / "kb", READY, *settings)) as engine:
        add(engine, NIDA, OTHER)
        with served(engine) as live:
            yield live


def asked(live: Live, **body: Any) -> httpx2.Response:
    return live.http.post("/query", json={"question": QUESTION, "picture": URL} | body)


def problem(response: httpx2.Response) -> tuple[int, str, str]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["message"]


def message(*addresses: str, text: str = QUESTION) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return {
        "role": "user",
        "content": [*parts, *({"type": "image_url", "image_url": {"url": one}} for one in addresses)],
    }


# ---------------------------------------------------------------- /query


@pytest.mark.parametrize("picture", [URL, b64encode(PNG).decode()], ids=["an address", "base64"])
def test_answers_about_a_picture(seeing: Live, picture: str) -> None:
    answer = asked(seeing, picture=picture, explain=True).json()
    assert answer["hits"][0]["document_id"] == "nida"
    assert answer["question"] == f"{QUESTION}\n\n(The question came with a picture. openai:sees describes it: {SAYS})"
    assert [one["kind"] for one in answer["sent"]] in ([], ["language model openai:sees"])


def test_streams_an_answer_about_a_picture(seeing: Live) -> None:
    body = {"question": QUESTION, "picture": URL}
    told = seeing.http.post("/query", json=body, headers={"accept": "text/event-stream"}).text
    last = json.loads(told.strip().split("data: ")[-1])
    assert SAYS in last["question"]


def test_research_is_about_a_picture(seeing: Live) -> None:
    body = {"question": QUESTION, "picture": URL, "effort": "quick"}
    assert SAYS in seeing.http.post("/research", json=body).json()["answer"]["question"]


def test_tells_whether_a_question_may_have_a_picture(seeing: Live, house: Live) -> None:
    assert seeing.http.get("/me").json()["pictures"]
    assert not house.http.get("/me").json()["pictures"]


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_says_which_setting_is_needed(house: Live, accept: str) -> None:
    body = {"question": QUESTION, "picture": URL}
    told = house.http.post("/query", json=body, headers={"accept": accept})
    status, code, words = problem(told)
    assert (status, code) == (400, "settings")
    assert "acquire.captions.model" in words


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        ("https://example.org/a.png", "links are not fetched"),
        ("data:image/png;base64,", "no picture in base64"),
        (b64encode(b"words").decode(), "the picture cannot be read"),
        (b64encode(bytes(5_000_001)).decode(), "at most 5 MB"),
    ],
    ids=["a link", "nothing", "words", "large"],
)
def test_refuses_what_is_no_picture(seeing: Live, picture: str, why: str) -> None:
    status, code, words = problem(asked(seeing, picture=picture))
    assert (status, code) == (400, "usage")
    assert why in words


def test_refuses_a_body_that_is_too_large(seeing: Live) -> None:
    status, code, _ = problem(asked(seeing, picture="A" * (MAX_PICTURED + 1)))
    assert (status, code) == (413, "too_large")


def test_says_that_the_model_failed(seeing: Live, model: OpenAIServer) -> None:
    model.faults.append(Fault(kind="status", status=500))
    other = b64encode(saved(painted("green"), "PNG")).decode()
    status, code, _ = problem(asked(seeing, picture=other))
    assert (status, code) == (503, "unavailable")


# ---------------------------------------------------------------- OpenAI's protocols


@pytest.fixture
def chatting(seeing: Live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{seeing.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_chat_program_sends_a_picture(chatting: openai.OpenAI) -> None:
    messages: Any = [message(URL)]
    completion: Any = chatting.chat.completions.create(model="ragstone", messages=messages)
    assert "Urbas dune" in completion.choices[0].message.content
    assert SAYS in completion.ragstone["question"]
    assert completion.ragstone["notices"] == []


def test_message_may_have_only_a_picture(chatting: openai.OpenAI) -> None:
    messages: Any = [message(URL, text="")]
    completion: Any = chatting.chat.completions.create(model="ragstone", messages=messages)
    assert SAYS in completion.ragstone["question"]


def test_responses_api_sends_a_picture(chatting: openai.OpenAI) -> None:
    content = [{"type": "input_text", "text": QUESTION}, {"type": "input_image", "image_url": URL}]
    given: Any = [{"role": "user", "content": content}]
    response: Any = chatting.responses.create(model="ragstone", input=given)
    assert SAYS in response.ragstone["question"]


def test_pictures_of_earlier_messages_are_ignored(chatting: openai.OpenAI, model: OpenAIServer) -> None:
    before = len(model.asked)
    answer = {"role": "assistant", "content": "On the dune."}
    messages: Any = [message(URL), answer, {"role": "user", "content": "When do bakers knead dough?"}]
    completion: Any = chatting.chat.completions.create(model="ragstone", messages=messages)
    assert completion.ragstone["citations"][0]["document_id"] == "other"
    assert "pictures of earlier messages were ignored" in completion.ragstone["notices"]
    assert len(model.asked) == before


@pytest.mark.parametrize(
    ("addresses", "why"), [((URL, URL), "more than one picture"), (("https://example.org/a.png",), "not fetched")]
)
def test_refuses_pictures_that_it_cannot_take(chatting: openai.OpenAI, addresses: Sequence[str], why: str) -> None:
    messages: Any = [message(*addresses)]
    with pytest.raises(openai.BadRequestError, match=why):
        chatting.chat.completions.create(model="ragstone", messages=messages)


def test_chat_program_learns_which_setting_is_needed(serving: Serving) -> None:
    messages: Any = [message(URL)]
    with (
        openai.OpenAI(base_url=f"{serving().url}/v1", api_key="none", max_retries=0) as client,
        pytest.raises(openai.BadRequestError, match=r"acquire\.captions\.model"),
    ):
        client.chat.completions.create(model="ragstone", messages=messages)
