"""No command prints or stores a key, not even in an error or with --debug."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Result, Run

from ragstone.settings.load import load
from servers.openai_server import KEY, Fault, OpenAIServer, refusal

NAMES = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "EXA_API_KEY")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, workdir: Path) -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda _: f"The server says {KEY} again.") as server:
        for name in NAMES:
            monkeypatch.setenv(name, KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("EMBEDDING_MODEL", "openai:a-model")
        monkeypatch.setenv("RAGSTONE_INDEX__DIMENSIONS", "32")
        monkeypatch.setenv("RAGSTONE_RESPOND__MODEL__NAME", "extractive")
        monkeypatch.setenv("RAGSTONE_SERVICES__RETRIES", "0")
        (workdir / "notes.md").write_text("# Rooms\n\nRoom 7 has twelve seats.\n", encoding="utf-8")
        yield server


def clean(result: Result) -> Result:
    assert KEY not in result.out
    assert KEY not in result.err
    return result


def test_commands_print_and_store_no_key(
    run: Run, server: OpenAIServer, workdir: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    shown = clean(run("settings"))
    assert "**********" in shown.out
    assert "answers are written by extractive, because respond.model.name is extractive" in shown.out
    values = {one["path"]: one["value"] for one in clean(run("settings", "--json")).json["settings"]}
    assert values["services.openai.api_key"] == "**********"
    assert clean(run("add", "notes.md")).code == 0
    for words in (
        ("ask", "How many seats has room 7?"),
        ("ask", "How many seats has room 7?", "--json"),
        ("search", "seats", "--json", "--explain"),
        ("status", "--json"),
        ("history", "cache"),
        ("doctor",),
        ("backup", "copy"),
        ("rebuild", "--set", "chunk.size=600"),
    ):
        assert clean(run(*words)).code == 0, words
    assert len(server.asked) >= 2
    kept = b"".join(file.read_bytes() for file in workdir.rglob("*") if file.is_file())
    assert KEY.encode() not in kept
    assert KEY not in caplog.text


def traceback_of(run: Run, *words: str) -> str:
    """Return what Python prints for an error with ``--debug``."""
    with pytest.raises(Exception) as error:
        run("--debug", *words)
    return "".join(traceback.format_exception(error.value))


WRONG = [
    ("settings", "--set", f"services.openai.api_key:{KEY}"),
    ("settings", "--set", f"services.openai.key={KEY}"),
    ("settings", "--set", f"services.openai.base_url=https://{KEY}@127.0.0.1/v1"),
    ("settings", "--set", f"services.openai.base_url=https://127.0.0.1/v1?key={KEY}"),
    ("settings", "--set", f"services.openai=[{KEY}]"),
    ("settings", "--set", f"services.openai.api_key={KEY}…"),
    ("settings", "--set", f"services.azure.api_key={KEY}\nX-Other: 1"),
]


@pytest.mark.parametrize("words", WRONG, ids=lambda words: words[-1].replace(KEY, "KEY"))
def test_wrong_settings_are_refused_without_the_key(run: Run, server: OpenAIServer, words: tuple[str, ...]):
    assert server.asked == []
    assert clean(run(*words)).code == 2
    assert KEY not in traceback_of(run, *words)


def test_a_key_is_text_whatever_it_looks_like(run: Run, server: OpenAIServer):
    assert server.asked == []
    assert clean(run("settings", "--set", f"services.openai.api_key=[{KEY}")).code == 0
    assert clean(run("settings", "--set", f"services.openai.api_key={{a:{KEY}}}")).code == 0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="status", status=401, body=refusal(f"Incorrect API key provided: {KEY}")),
        Fault(kind="status", status=400, body=refusal(f"what is {KEY}")),
        Fault(kind="status", status=500, body=f"internal: {KEY}"),
        Fault(kind="type"),
        Fault(kind="count"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_service_errors_hide_the_key(run: Run, server: OpenAIServer, fault: Fault):
    server.faults.extend([fault, fault])
    failed = clean(run("add", "notes.md"))
    assert failed.code == 1
    assert "openai:a-model at http://127.0.0.1" in failed.err
    assert KEY not in traceback_of(run, "add", "notes.md")


def test_settings_hide_their_keys(server: OpenAIServer):
    loaded = load()
    assert loaded.settings.services.openai.base_url == server.url
    assert loaded.settings.services.exa.api_key.get_secret_value() == KEY
    assert KEY not in repr(loaded.settings) + str(loaded.settings) + loaded.settings.model_dump_json()
    assert KEY not in repr(loaded)


@pytest.mark.parametrize("installed", [True, False])
def test_key_alone_calls_no_service(installed: bool, run: Run, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "openai", None)
    (workdir / "notes.md").write_text("# Rooms\n\nRoom 7 has twelve seats.\n", encoding="utf-8")
    with OpenAIServer(lambda _: "Room 7 has twelve seats. [1]") as server:
        for name in NAMES:
            monkeypatch.setenv(name, KEY)
        for name in ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
            monkeypatch.setenv(name, server.url)
        added = clean(run("add", "notes.md"))
        assert added.code == 0
        assert "OPENAI_API_KEY, AZURE_OPENAI_API_KEY, EXA_API_KEY are set but not used" in added.err
        answered = clean(run("ask", "How many seats has room 7?"))
        assert (answered.code, "twelve seats" in answered.out, answered.err) == (0, True, "")
        assert "OPENAI_API_KEY" in clean(run("settings")).out.splitlines()[-1]
    assert server.asked == []


def test_chosen_preset_calls_the_service(run: Run, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="needs openai")
    (workdir / "notes.md").write_text("# Rooms\n\nRoom 7 has twelve seats.\n", encoding="utf-8")
    preset = ("--preset", "knowledge-base", "--set", "index.vectors=embedded")
    with OpenAIServer(lambda _: "Room 7 has twelve seats. [1]", dimensions=1536) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert clean(run("add", "notes.md", *preset)).code == 0
        assert {one.body["model"] for one in server.asked} == {"text-embedding-ada-002"}
        last = clean(run("settings")).out.splitlines()[-1]
        assert "openai:gpt-5.4-mini" in last, "the knowledge base keeps its preset"
        assert clean(run("ask", "How many seats has room 7?", "--set", "respond.abstain_below=0")).code == 0
        assert {one.body["model"] for one in server.asked} == {"text-embedding-ada-002", "gpt-5.4-mini"}
