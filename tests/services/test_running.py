"""What runs on this machine: servers as Ollama, LM Studio, vLLM and llama.cpp describe themselves."""

from __future__ import annotations

import asyncio

import pytest
from services.behaviours import ANSWER, CONVERSATION, streamed

from ragstone.core.errors import ModelError
from ragstone.core.request import Request
from ragstone.services.chat import complete, window_of
from ragstone.services.models import build_chat_model
from ragstone.services.running import model_here, running_servers, tried
from ragstone.settings.services import ModelSettings, ServiceSettings
from servers.scripted_chat import Body, Script, ScriptedChat, Sent, answering

KEY = "sk-canary-11ee"


def listing(*entries: Body) -> Sent:
    return answering({"object": "list", "data": list(entries)})


def chat(_: Body) -> Sent:
    return streamed(ANSWER)


SMALL, LOADED, OWN = "qwen3:1.7b", "llama3.2:3b", "mine:latest"
OLLAMA = {
    "/v1/models": listing({"id": LOADED}, {"id": OWN}, {"id": "nomic-embed-text:latest"}),
    "/api/ps": answering({"models": [{"name": LOADED, "context_length": 8192}]}),
    "/api/show": answering(
        {"parameters": "temperature 1\nnum_ctx    16384", "model_info": {"x.context_length": 131072}}
    ),
}
UNSET = OLLAMA | {"/api/show": answering({"parameters": "", "model_info": {"x.context_length": 131072}})}
LM_STUDIO = {
    "/v1/models": listing({"id": "gemma"}),
    "/api/v0/models/gemma": answering({"state": "loaded", "loaded_context_length": 12000, "max_context_length": 32768}),
}
IDLE = LM_STUDIO | {"/api/v0/models/gemma": answering({"state": "not-loaded", "max_context_length": 32768})}
VLLM = {"/v1/models": listing({"id": "qwen", "max_model_len": 40960})}
LLAMA_CPP = {
    "/v1/models": listing({"id": "model.gguf", "meta": {"n_ctx_train": 131072}}),
    "/props": answering({"default_generation_settings": {"n_ctx": 6000}}),
}
OPENROUTER = {"/v1/models": listing({"id": "a/b", "context_length": 200000})}
SILENT = {"/v1/models": listing({"id": "m"})}


def services(kind: str, server: ScriptedChat, key: str = "") -> ServiceSettings:
    own = {"base_url": server.url, "api_key": key}
    return ServiceSettings.model_validate({"openai": own} if kind == "openai" else {"servers": {kind: own}})


@pytest.mark.parametrize(
    ("name", "others", "window"),
    [
        (f"ollama:{LOADED}", OLLAMA, 8192),
        ("ollama:mine", OLLAMA, 16384),
        ("ollama:mine", UNSET, 4096),
        ("lmstudio:gemma", LM_STUDIO, 12000),
        ("lmstudio:gemma", IDLE, 4096),
        ("vllm:qwen", VLLM, 40960),
        ("llamacpp:model.gguf", LLAMA_CPP, 6000),
        ("openrouter:a/b", OPENROUTER, 200000),
        ("mine:m", SILENT, 8192),
        ("ollama:m", {}, 4096),
    ],
)
def test_learns_the_window(name: str, others: dict[str, Sent], window: int):
    with ScriptedChat(Script(chat=chat, others=others)) as server:
        known = services(name.partition(":")[0], server)
        model = build_chat_model(ModelSettings(name=name), known)
        assert model is not None
        assert asyncio.run(window_of(model)) == window
        own = build_chat_model(ModelSettings(name=name, window_tokens=3000), known)
        assert own is not None
        assert asyncio.run(window_of(own)) == 3000


def test_room_of_a_prompt_leaves_a_reply():
    assert ModelSettings().room(4096) == 3072
    assert ModelSettings(max_tokens=500).room(4096) == 3596
    assert ModelSettings(window_tokens=1000, max_tokens=100).room(4096) == 900


def test_lists_models_that_chat():
    with ScriptedChat(Script(chat=chat, others=OLLAMA)) as server:
        (found,) = [one for one in running_servers(services("ollama", server), ()) if one.kind == "ollama"]
        assert [(found.name_of(one), one.window) for one in found.models] == [
            ("ollama:llama3.2:3b", 8192),
            ("ollama:mine:latest", 16384),
        ]
        assert model_here(services("ollama", server)) == "ollama:llama3.2:3b"


def test_lists_a_named_server_that_does_not_answer():
    gone = ServiceSettings.model_validate({"servers": {"mine": {"base_url": "http://127.0.0.1:9/v1"}}})
    (found,) = [one for one in running_servers(gone, ()) if one.kind == "mine"]
    assert not found.models
    assert "it cannot be reached" in found.trouble


def test_key_alone_contacts_no_server():
    with ScriptedChat(Script(chat=chat, others=SILENT)) as server:
        known = services("anthropic", server, KEY)
        only_key = known.model_copy(
            update={"servers": {"anthropic": known.servers["anthropic"].model_copy(update={"base_url": ""})}}
        )
        assert "anthropic" not in {one.kind for one in running_servers(only_key, ())}
        assert "anthropic" in {one.kind for one in running_servers(known, ())}


def test_model_here_looks_at_this_machine_alone(monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []

    class Proxy(ScriptedChat):
        def _take(self, handler, raw) -> None:
            seen.append(handler.path)
            super()._take(handler, raw)

    with Proxy(Script(chat=chat, others=OLLAMA)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        elsewhere = {"ollama": {"base_url": "http://localhost.example.com:11434/v1"}}
        model_here(ServiceSettings.model_validate({"servers": elsewhere}))
    assert not seen


def test_key_goes_to_its_own_server_alone():
    seen: list[str] = []

    class Noting(ScriptedChat):
        def _take(self, handler, raw) -> None:
            seen.append(handler.headers.get("Authorization", ""))
            super()._take(handler, raw)

    with Noting(Script(chat=chat, others=VLLM)) as server:
        known = ServiceSettings.model_validate(
            {"openai": {"api_key": KEY}, "servers": {"groq": {"api_key": KEY}, "vllm": {"base_url": server.url}}}
        )
        running_servers(known, ())
        model = build_chat_model(ModelSettings(name="vllm:qwen"), known)
        assert model is not None
        asyncio.run(tried(model, Request.by_owner()))
    assert seen
    assert not any(KEY in one for one in seen)


def test_trial_reports_speed_and_form():
    def answer(body: Body) -> Sent:
        asks_form = "response_format" in body
        return streamed('{"year": 1932}' if asks_form else "It opened in 1932.")

    with ScriptedChat(Script(chat=answer, others=VLLM)) as server:
        model = build_chat_model(ModelSettings(name="vllm:qwen"), services("vllm", server))
        assert model is not None
        trial = asyncio.run(tried(model, Request.by_owner()))
        assert (trial.answer, trial.keeps_form, trial.window) == ("It opened in 1932.", True, 40960)
        assert 0 < trial.first_seconds <= trial.seconds
        assert trial.speed > 0


def test_unreachable_ollama_is_told_how():
    gone = ServiceSettings.model_validate({"servers": {"ollama": {"base_url": "http://127.0.0.1:9/v1"}}, "retries": 0})
    model = build_chat_model(ModelSettings(name="llama3.2:3b"), gone)
    assert model is not None
    with pytest.raises(ModelError, match=r"ollama:llama3\.2:3b at .*start it.*run: ragstone models"):
        asyncio.run(complete(model, CONVERSATION, Request.by_owner()))


def test_asks_no_server_of_openai_for_its_window():
    """The protocol says nothing of windows, and every request would count."""
    with ScriptedChat(Script(chat=chat)) as server:
        model = build_chat_model(ModelSettings(name="openai:m"), services("openai", server))
        assert model is not None
        assert asyncio.run(window_of(model)) == 8192
        assert not server.seen
