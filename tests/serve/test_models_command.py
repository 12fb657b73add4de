"""What ``ragstone models`` prints, and when ``ragstone ask`` mentions a model that runs here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest
from running import Run
from services.behaviours import ANSWER, streamed

from servers.scripted_chat import Script, ScriptedChat, answering

pytestmark = pytest.mark.usefixtures("kb")
GONE = "http://127.0.0.1:9/v1"
OFF = [f"services.servers.{name}.base_url={GONE}" for name in ("ollama", "lmstudio", "vllm", "llamacpp")]
MENTIONED = "runs on this machine"


@pytest.fixture
def server() -> Iterator[ScriptedChat]:
    listed = {"/v1/models": answering({"data": [{"id": "qwen3:4b", "max_model_len": 4096}]})}
    with ScriptedChat(Script(chat=lambda _: streamed(ANSWER), others=listed)) as server:
        yield server


def places(server: ScriptedChat | None) -> list[str]:
    """Return options that name the server as Ollama and nothing else, so that no real server is met."""
    settings = [*OFF[1:], OFF[0] if server is None else f"services.servers.ollama.base_url={server.url}"]
    return [part for one in settings for part in ("--set", one)]


def test_lists_models_and_the_line_to_use_one(run: Run, server: ScriptedChat) -> None:
    done = run("models", *places(server))
    assert done.code == 0
    assert "ollama:qwen3:4b" in done.out
    assert "4,096" in done.out
    assert "ragstone ask QUESTION --set respond.model.name=ollama:qwen3:4b" in done.out
    assert "lmstudio at http://127.0.0.1:9/v1: it cannot be reached" in done.out
    (found,) = [one for one in json.loads(run("models", *places(server), "--json").out)["servers"] if one["models"]]
    assert found["models"] == [{"name": "qwen3:4b", "window": 4096}]


def test_tries_a_model(run: Run, server: ScriptedChat) -> None:
    done = run("models", "--try", "qwen3:4b", *places(server))
    assert done.code == 0
    assert f"ollama:qwen3:4b: {ANSWER}" in done.out
    assert "tokens a second" in done.out
    assert "does not keep to a requested form" in done.out
    assert "--set respond.model.name=ollama:qwen3:4b" in done.out


def test_trial_of_a_model_that_is_not_there(run: Run) -> None:
    done = run("models", "--try", "ollama:none", *places(None), "--set", "services.retries=0")
    assert done.code == 1
    assert "to list what runs, run: ragstone models" in done.err
    assert run("models", "--try", "extractive").code == 2


def test_mentions_a_model_once_and_only_in_a_terminal(
    run: Run, server: ScriptedChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("ask", "What is room 7 called?", *places(server))
    assert MENTIONED not in run(*asked).err
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert MENTIONED not in run(*asked, "--json").err
    assert MENTIONED not in run(*asked[:2], *places(None)).err
    assert f"ollama:qwen3:4b {MENTIONED}" in " ".join(run(*asked).err.split())
    assert MENTIONED not in run(*asked).err
    assert not server.asked
