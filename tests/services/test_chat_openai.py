"""The client of the OpenAI protocol, against a server that keeps to its description, and one that fails."""

from __future__ import annotations

import asyncio
import random
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from ragstone.core.answers import Message, Reply
from ragstone.core.errors import ModelError
from ragstone.core.request import Request
from ragstone.services import estimate
from ragstone.services.chat import complete, complete_as
from ragstone.services.chat_openai import OpenAIChat
from ragstone.settings.services import ModelSettings, ServiceSettings
from servers.openai_server import KEY, Fault, OpenAIServer, pictures_in, refusal
from servers.openapi import Description

ASKED = [Message(role="user", content="hello there my friend")]


class Verdict(BaseModel):
    score: int
    reasons: list[str] = []


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


def client(server: OpenAIServer, **services: object) -> OpenAIChat:
    quick = {"backoff_seconds": (0.01, 20), "timeout_seconds": 5.0, "deadline_seconds": 10.0, **services}
    known = ServiceSettings.model_validate({"openai": {"base_url": server.url, "api_key": KEY}, **quick})
    return OpenAIChat("openai:a-model", ModelSettings(), known)


def reply(model: OpenAIChat) -> Reply:
    return asyncio.run(complete(model, ASKED, request=Request.by_owner()))


def failure(model: OpenAIChat) -> str:
    with pytest.raises(ModelError) as caught:
        reply(model)
    assert model.name in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_requests_and_replies_match_the_specification(data_dir: Path):
    path = data_dir / "peer_suites" / "openai_openapi" / "openapi.yaml"
    if not path.is_file():
        pytest.skip("the description of the OpenAI protocol is not among the test data")
    description = Description(path)
    assert description.problems({"model": "m", "messages": "hello"}, "CreateChatCompletionRequest")
    assert description.problems({"object": "list", "data": [{}]}, "CreateEmbeddingResponse")
    with OpenAIServer(description=description) as server:
        model = client(server)
        assert reply(model).text == "You said: hello there my friend"
        server.reply = lambda _: '{"score": 3, "reasons": []}'
        assert asyncio.run(complete_as(model, ASKED, Verdict, request=Request.by_owner())) == Verdict(score=3)
        assert server.problems == []
        assert [asked.path for asked in server.asked] == ["/v1/chat/completions"] * 2


def test_sends_pictures_beside_the_words(server: OpenAIServer):
    asked = [Message(role="system", content="Be short."), Message(role="user", content="What?", pictures=(b"JPEG",))]
    server.faults.append(Fault(kind="uncounted"))
    told = asyncio.run(complete(client(server), asked, request=Request.by_owner()))
    (sent,) = server.asked
    assert sent.body["messages"][-1] == {
        "role": "user",
        "content": [
            {"type": "text", "text": "What?"},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,SlBFRw=="}},
        ],
    }
    assert (told.text, told.estimated) == ("You said: What?", True)
    assert told.prompt_tokens > estimate.PICTURE


def test_sends_pictures_without_the_role_that_a_server_refuses(server: OpenAIServer):
    wrong = refusal("System role not supported")
    server.refuse = lambda body: wrong if body["messages"][0]["role"] == "system" else None
    asked = [Message(role="system", content="Be short."), Message(role="user", content="What?", pictures=(b"JPEG",))]
    assert asyncio.run(complete(client(server), asked, request=Request.by_owner())).text.endswith("What?")
    assert pictures_in(server.asked[-1].body["messages"]) == [b"JPEG"]


def test_request_follows_the_settings(server: OpenAIServer):
    known = ServiceSettings.model_validate({"openai": {"base_url": server.url, "api_key": KEY}})
    settings = ModelSettings(temperature=0.7, top_p=0.5, max_tokens=3)
    cut = asyncio.run(complete(OpenAIChat("openai:big-one", settings, known), ASKED, request=Request.by_owner()))
    (asked,) = server.asked
    assert (asked.body["model"], asked.body["temperature"], asked.body["top_p"]) == ("big-one", 0.7, 0.5)
    assert asked.body["max_tokens"] == 3
    assert cut == Reply(text="You said: hello", prompt_tokens=4, completion_tokens=3, cut=True)


def test_azure_has_its_own_paths_and_header():
    with OpenAIServer(azure=True) as server:
        known = ServiceSettings.model_validate({"azure": {"endpoint": server.url, "api_key": KEY}})
        assert asyncio.run(
            complete(OpenAIChat("azure:my-deployment", ModelSettings(), known), ASKED, request=Request.by_owner())
        ).text
        (asked,) = server.asked
        assert asked.path == "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"


def test_azure_names_its_own_setting_in_errors():
    with OpenAIServer(azure=True) as server:
        server.faults.append(Fault(kind="type"))
        known = ServiceSettings.model_validate({"azure": {"endpoint": server.url, "api_key": KEY}})
        model = OpenAIChat("azure:my-deployment", ModelSettings(), known)
        with pytest.raises(ModelError, match=r"check services\.azure\.endpoint, and that the server"):
            asyncio.run(complete(model, ASKED, request=Request.by_owner()))


def test_ignores_variables_of_the_client(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    test_azure_has_its_own_paths_and_header()
    with OpenAIServer() as server:
        assert reply(client(server)).text


def test_no_proxy_for_this_machine_without_a_port(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", server.url)
    known = ServiceSettings.model_validate({"openai": {"base_url": "http://127.0.0.1/v1"}, "retries": 0})
    with pytest.raises(ModelError):  # nothing listens on port 80
        asyncio.run(complete(OpenAIChat("openai:m", ModelSettings(), known), ASKED, request=Request.by_owner()))
    assert not server.asked


def test_strips_blanks_around_the_key(server: OpenAIServer):
    known = ServiceSettings.model_validate({"openai": {"base_url": server.url, "api_key": f" {KEY}\n"}})
    assert asyncio.run(
        complete(OpenAIChat("openai:a-model", ModelSettings(), known), ASKED, request=Request.by_owner())
    ).text


def test_estimates_tokens_if_server_counts_none(server: OpenAIServer):
    server.faults.append(Fault(kind="uncounted"))
    estimated = reply(client(server))
    assert estimated.estimated
    assert estimated.prompt_tokens > 4
    assert estimated.completion_tokens >= 6


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault(kind="status", status=status) for status in (408, 429, 500, 502, 503, 529)),
        Fault(kind="cut"),
        Fault(kind="short"),
        Fault(kind="malformed"),
        Fault(kind="empty"),
        Fault(kind="failed"),
        Fault(kind="stall"),
        Fault(kind="slow"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_retries_transient_failures(server: OpenAIServer, fault: Fault):
    server.faults.append(fault)
    # A busy machine must not make the second attempt late, too.
    seconds = 2.0 if fault.kind in ("slow", "stall") else 30.0
    assert reply(client(server, timeout_seconds=seconds)).text == "You said: hello there my friend"
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(kind="status", status=401), "refuses the key.*services.openai.api_key .OPENAI_API_KEY."),
        (Fault(kind="status", status=404), "check the model's name"),
        (Fault(kind="status", status=400), "refuses: a fault"),
        (Fault(kind="status", status=429, body=refusal("no money", code="insufficient_quota")), "out of quota"),
        (Fault(kind="status", status=400, body=refusal("x", code="context_length_exceeded")), "context_tokens"),
        (Fault(kind="status", status=400, body=refusal("x", code="content_filter")), "content filter"),
        (Fault(kind="status", status=418, body=[1, 2]), r"refuses: .*HTTP 418"),
        (Fault(kind="type"), "text/html"),
        (Fault(kind="filtered"), "content filter stopped"),
    ],
    ids=str,
)
def test_does_not_retry_permanent_failures(server: OpenAIServer, fault: Fault, words: str):
    server.faults.append(fault)
    assert re.search(words, failure(client(server)))
    assert len(server.asked) == 1


@pytest.mark.parametrize("kind", ["cut", "short", "malformed", "failed", "stall"])
def test_does_not_retry_a_reply_that_began(server: OpenAIServer, kind: str):
    server.faults.append(Fault(kind=kind, pieces=2))
    heard: list[str] = []

    async def listening() -> None:
        async with aclosing(client(server, timeout_seconds=0.5).stream(ASKED, request=Request.by_owner())) as pieces:
            async for piece in pieces:
                assert isinstance(piece, str)
                heard.append(piece)

    with pytest.raises(ModelError, match=r"openai:a-model at http://127\.0\.0\.1"):
        asyncio.run(listening())
    assert heard == ["You", " said:"]
    assert len(server.asked) == 1


def test_reports_the_number_of_attempts(server: OpenAIServer):
    server.faults.extend([Fault(kind="status", status=503)] * 9)
    assert "after 3 attempts; services.retries=2" in failure(client(server, retries=2))
    assert len(server.asked) == 3


@pytest.mark.parametrize("written", ["1", "a date"])
def test_respects_retry_after(server: OpenAIServer, written: str):
    when = a_date(timedelta(seconds=2)) if written == "a date" else written
    server.faults.append(Fault(kind="status", status=429, headers={"Retry-After": when}))
    reply(client(server))
    first, second = (asked.at for asked in server.asked)
    assert second - first >= 0.9


@pytest.mark.parametrize("written", ["3600", "a date"])
def test_gives_up_on_long_retry_after(server: OpenAIServer, written: str):
    when = a_date(timedelta(days=1)) if written == "a date" else written
    server.faults.append(Fault(kind="status", status=429, headers={"Retry-After": when}))
    assert "20 s of services.backoff_seconds" in failure(client(server))
    assert len(server.asked) == 1


def a_date(away: timedelta) -> str:
    """As HTTP writes it: made within the test, as what names a test must be the same in every worker."""
    return format_datetime(datetime.now(UTC) + away, usegmt=True)


def test_reports_an_unreachable_server():
    gone = ServiceSettings.model_validate(
        {"openai": {"base_url": "http://127.0.0.1:9/v1", "api_key": KEY}, "retries": 1, "backoff_seconds": (0.01, 20)}
    )
    told = failure(OpenAIChat("openai:a-model", ModelSettings(), gone))
    assert "openai:a-model at http://127.0.0.1:9/v1: cannot be reached" in told
    assert "after 2 attempts" in told


def test_deadline_covers_all_attempts(server: OpenAIServer):
    server.faults.extend([Fault(kind="slow", seconds=5)] * 20)
    started = time.monotonic()
    assert "services.deadline_seconds" in failure(client(server, timeout_seconds=0.4, deadline_seconds=1, retries=50))
    assert time.monotonic() - started < 3


def test_slow_stream_ends_at_the_deadline():
    with OpenAIServer(lambda _: "drip " * 1000, pause=0.05) as server:
        assert "deadline_seconds=1" in failure(client(server, deadline_seconds=1))


def test_closing_the_stream_hangs_up():
    with OpenAIServer(lambda _: "word " * 2000, pause=0.005) as server:

        async def begin() -> None:
            async with aclosing(client(server).stream(ASKED, request=Request.by_owner())) as pieces:
                assert await anext(pieces) == "word"

        asyncio.run(begin())
        assert server.hung_up.wait(5)


# ---------------------------------------------------------------- dialects of vendors


def test_falls_back_from_schema_to_object_to_text(server: OpenAIServer):
    server.reply = lambda _: '{"score": 1}'
    refused = "This model does not support response format `json_schema`"
    server.refuse = lambda body: refusal(refused) if "response_format" in body else None
    model = client(server)
    assert asyncio.run(complete_as(model, ASKED, Verdict, request=Request.by_owner())) == Verdict(score=1)
    kinds = [asked.body.get("response_format", {}).get("type") for asked in server.asked]
    assert kinds == ["json_schema", "json_object", None]
    asyncio.run(complete_as(model, ASKED, Verdict, request=Request.by_owner()))
    assert len(server.asked) == 4  # it is remembered


def test_leaves_limits_out_of_a_schema_that_is_refused_with_them(server: OpenAIServer):
    class Rated(BaseModel):
        score: Annotated[int, Field(ge=0, le=10)]

    server.reply = lambda _: '{"score": 1}'
    server.refuse = lambda body: refusal("'minimum' is not permitted") if "minimum" in str(body) else None
    assert asyncio.run(complete_as(client(server), ASKED, Rated, request=Request.by_owner())).score == 1
    first, second = (asked.body["response_format"]["json_schema"] for asked in server.asked)
    assert first["schema"]["properties"] == {"score": {"type": "integer", "minimum": 0, "maximum": 10}}
    assert second["schema"]["properties"] == {"score": {"type": "integer"}}


def test_schema_is_strict_if_possible(server: OpenAIServer):
    server.reply = lambda _: '{"score": 1}'
    asyncio.run(complete_as(client(server), ASKED, Verdict, request=Request.by_owner()))
    told = server.asked[0].body["response_format"]["json_schema"]
    assert told["strict"] is True
    assert told["schema"]["required"] == ["score", "reasons"]
    assert told["schema"]["additionalProperties"] is False

    class Open(BaseModel):
        marks: dict[str, int]

    server.reply = lambda _: '{"marks": {"a": 1}}'
    asyncio.run(complete_as(client(server), ASKED, Open, request=Request.by_owner()))
    assert server.asked[-1].body["response_format"]["json_schema"]["strict"] is False


def test_other_refusal_keeps_the_form(server: OpenAIServer):
    server.reply = lambda _: '{"score": 1}'
    model = client(server)
    server.refuse = lambda _: refusal("messages must not be empty")
    with pytest.raises(ModelError, match="must not be empty"):
        asyncio.run(complete_as(model, ASKED, Verdict, request=Request.by_owner()))
    server.refuse = lambda _: None
    asyncio.run(complete_as(model, ASKED, Verdict, request=Request.by_owner()))
    assert server.asked[-1].body["response_format"]["type"] == "json_schema"


def test_adapts_to_models_without_temperature(server: OpenAIServer):
    def picky(body: dict) -> dict | None:
        if "max_tokens" in body:
            return refusal("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
        if "temperature" in body:
            return refusal("Unsupported value: 'temperature' does not support 0.3 with this model.")
        return None

    server.refuse = picky
    model = client(server)
    assert reply(model).text
    assert reply(model).text
    assert len(server.asked) == 4
    assert server.asked[-1].body["max_completion_tokens"] == 4096
    assert {"max_tokens", "temperature"}.isdisjoint(server.asked[-1].body)


# ---------------------------------------------------------------- keys


def test_hides_a_key_that_the_server_repeats(server: OpenAIServer):
    for status in (400, 401, 403, 404, 429, 500):
        server.faults.append(Fault(kind="status", status=status, body=refusal(f"Incorrect API key: {KEY}")))
        assert "***" in failure(client(server, retries=0))
    server.faults.append(Fault(kind="status", status=500, body=f"plain text with {KEY}"))
    failure(client(server, retries=0))


# ---------------------------------------------------------------- anything at all


def ending(model: OpenAIChat) -> str:
    try:
        return "whole" if reply(model).text else "empty"
    except ModelError as error:
        return "leak" if KEY in "".join(traceback.format_exception(error)) else "error"


@pytest.mark.parametrize("seed", range(4))
def test_every_failure_is_a_reply_or_one_error(server: OpenAIServer, seed: int):
    chance = random.Random(seed)
    kinds = ("status", "slow", "stall", "cut", "short", "failed", "malformed", "type", "empty", "filtered", "long")
    bodies = (None, "text", [], {"error": "text"}, {"error": {"message": None}}, {"error": {"code": 7}}, 3, {})
    model, ends, slowest = client(server, timeout_seconds=0.2, deadline_seconds=0.6, retries=4), Counter[str](), 0.0
    for _ in range(40):
        server.faults.clear()
        for _ in range(chance.randrange(6)):
            fault = Fault(
                kind=chance.choice(kinds),
                status=chance.choice((300, 400, 401, 404, 408, 422, 429, 500, 503, 599)),
                headers=chance.choice(({}, {"Retry-After": "0"}, {"Retry-After": "soon"}, {"Retry-After": "nan"})),
                body=chance.choice(bodies),
                pieces=chance.randrange(6),
                seconds=2,
            )
            server.faults.append(fault)
        started = time.monotonic()
        end = ending(model)
        slowest = max(slowest, time.monotonic() - started)
        ends[end] += 1
    assert "leak" not in ends
    assert ends["whole"] > 3
    assert ends["error"] > 3
    assert slowest < 0.6 + 2  # a busy machine may be late, but not by an attempt more
