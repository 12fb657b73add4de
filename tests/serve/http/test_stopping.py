"""Disconnected clients, stopped and killed servers, TLS and the log, with the program as a user starts it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from live import SLOW, Live, Serving, events_of, written_by
from program import START, program

from servers.openai_server import KEY, OpenAIServer

SECRET_QUESTION = "Where does the quick brown fox park?"


def long_reply(_: Any) -> str:
    return " ".join(f"Visitors number {i} of the day park behind the mill [1]." for i in range(40))


# ---------------------------------------------------------------- clients that leave
@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_disconnecting_stops_the_model(serving: Serving, accept: str) -> None:
    with OpenAIServer(long_reply, pause=0.05) as model:
        live = serving(asked=written_by(model))
        host, port = live.url.removeprefix("http://").split(":")
        body = json.dumps({"question": "Where do visitors park?"})
        with socket.create_connection((host, int(port)), timeout=SLOW) as client:
            client.sendall(
                f"POST /query HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            live.until(lambda: len(model.asked), lambda asked: asked > 0)
            time.sleep(0.2)
        assert model.hung_up.wait(SLOW), "the model went on writing for nobody"
        live.until(lambda: live.http.get("/metrics").text, lambda text: 'questions_total{outcome="left"} 1' in text)
        stopped = live.until(lambda: live.http.get("/stats").json()["total"], lambda it: it["stopped"] == 1)
        assert stopped["failed"] == 0


def test_slow_questions_time_out(serving: Serving) -> None:
    with OpenAIServer(long_reply, pause=0.1) as model:
        live = serving("question_seconds=0.5", asked=written_by(model))
        told = live.ask()
        assert (told.status_code, told.json()["error"]["code"]) == (504, "timeout")
        events = live.events()
        assert events[0][0] == "evidence"
        assert (events[-1][0], events[-1][1]["error"]["code"]) == ("error", "timeout")


def test_quotes_when_the_model_fails(serving: Serving) -> None:
    with OpenAIServer(long_reply) as model:
        live = serving(asked=(*written_by(model), "services.openai.api_key=wrong"))
        events = live.events()
        assert events[-1][0] == "answer"
        assert any("the language model failed" in notice for notice in events[-1][1]["notices"])
        assert "wrong" not in json.dumps(events)


# ---------------------------------------------------------------- the program
@pytest.fixture
def filled(serving: Serving, tmp_path: Path) -> Path:
    """A folder with the knowledge base ``kb``, which is not open."""
    live = serving()
    live.engine.close()
    return tmp_path


def test_clears_uploads_of_killed_servers(filled: Path) -> None:
    uploads = filled / "kb" / "uploads"
    half = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"x" * 900_000
    head = "POST /documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"

    def received() -> int:
        return sum(path.stat().st_size for path in uploads.rglob("*") if path.is_file())

    limit = ("--set", "serve.uploads.total_mb=1")
    with (
        program(filled, *limit) as (process, http, _),
        socket.create_connection((http.base_url.host, http.base_url.port or 0), timeout=SLOW) as client,
    ):
        client.sendall(f"{head}Content-Length: {len(half) + 100_000}\r\n\r\n".encode() + half)
        Live.until(received, lambda size: size > 500_000)
        process.kill()
        process.wait(SLOW)
    assert received() > 500_000
    with program(filled, *limit) as (_, http, _lines):
        Live.until(received, lambda size: size == 0)
        sent = http.post("/documents", files=[("files", ("b.txt", b"y" * 900_000))])
        assert sent.status_code == 202, sent.text


def test_answers_finish_when_the_server_stops(filled: Path) -> None:
    with OpenAIServer(lambda _: "Visitors park behind the mill [1]. " * 5, pause=0.05) as model:
        asked = [word for setting in written_by(model) for word in ("--set", setting)]
        with program(filled, *asked) as (process, http, _):
            body, accept = {"question": "Where do visitors park?"}, {"accept": "text/event-stream"}
            with http.stream("POST", "/query", json=body, headers=accept) as response:
                parts = response.iter_text()
                text = next(parts)
                process.send_signal(signal.SIGTERM)
                time.sleep(0.2)
                with pytest.raises(httpx2.TransportError):  # refused, or reset if it came while the socket was closed
                    httpx2.get(f"{http.base_url}/health")
                text += "".join(parts)
            assert [name for name, _ in events_of(text)][-1] == "answer"
            assert process.wait(SLOW) == 0


def test_stops_after_the_grace_period(filled: Path) -> None:
    with OpenAIServer(long_reply, pause=0.5) as model:
        asked = [word for setting in written_by(model) for word in ("--set", setting)]
        with program(filled, *asked, "--set", "serve.stop_seconds=1") as (process, http, _):
            body, accept = {"question": "Where do visitors park?"}, {"accept": "text/event-stream"}
            with http.stream("POST", "/query", json=body, headers=accept) as response:
                next(response.iter_text())
                process.send_signal(signal.SIGINT)
                assert process.wait(10) == 0


def test_log_contains_no_texts_or_keys(filled: Path) -> None:
    with OpenAIServer(long_reply) as model:
        asked = [word for setting in written_by(model) for word in ("--set", setting)]
        with program(filled, *asked) as (process, http, lines):
            made = subprocess.run(
                [sys.executable, "-c", START, "key", "make", "ada", "--kb", "kb"],
                cwd=filled, capture_output=True, text=True, check=True,
            )  # fmt: skip
            key = made.stdout.strip()
            shown = {"authorization": f"Bearer {key}", "x-request-id": "trace-7"}
            http.post("/query", json={"question": SECRET_QUESTION, "session": "fox-session"}, headers=shown)
            http.get("/conversations/fox-session", headers=shown)
            http.get("/documents/house/parking.md", headers=shown, params={"start": 1})
            http.get("/documents", headers=shown, params={"q": "foxhunt"})
            http.get("/documents/secret-name.md", headers={"authorization": "Bearer wrong-secret-key"})
            process.send_signal(signal.SIGTERM)
            assert process.wait(SLOW) == 0
        told = [json.loads(line) for line in lines if line.startswith("{")]
        query = next(one for one in told if one["route"] == "/query")
        assert (query["id"], query["status"], query["key"]) == ("trace-7", 200, key.split("_")[1])
        assert query["ms"] > 0
        text = "".join(lines)
        for word in (key.split("_", 2)[2], KEY, "fox", "mill", "parking.md", "secret-name", "wrong-secret"):
            assert word not in text, word


def test_public_addresses_need_a_key(filled: Path) -> None:
    command = [sys.executable, "-c", START]
    words = ["serve", "--kb", "kb", "--host", "0.0.0.0", "--port", "0"]
    refused = subprocess.run([*command, *words], cwd=filled, capture_output=True, text=True, check=False, timeout=60)
    assert refused.returncode == 2
    assert "ragstone key make" in refused.stderr
    subprocess.run([*command, "key", "make", "ada", "--kb", "kb"], cwd=filled, capture_output=True, check=True)
    with program(filled, "--host", "0.0.0.0") as (_, http, lines):
        assert http.get("/health").status_code == 200
        assert http.get("/me").status_code == 401
        assert [line.partition(":")[0] for line in lines if "not encrypted" in line] == ['{"time"', "warning"]
    with program(filled, "--host", "0.0.0.0", FORWARDED_ALLOW_IPS="10.0.0.1") as (_, http, lines):
        assert "not encrypted" not in "".join(lines)


def test_tls_makes_a_certificate_at_first_start(filled: Path) -> None:
    prints = []
    for _ in range(2):
        with program(filled, "--tls") as (_, http, lines):
            health = http.get("/health")
            assert health.status_code == 200
            assert health.headers["strict-transport-security"] == "max-age=31536000"
            assert "not encrypted" not in "".join(lines)
            prints.append(re.findall("[0-9A-F]{2}(?::[0-9A-F]{2}){31}", "".join(lines)))
    assert prints[0] == prints[1] != []
    key = filled / "kb" / "tls" / "key.pem"
    assert key.stat().st_mode & 0o777 == 0o600
    key.write_text("no key")
    with program(filled, "--tls") as (_, http, lines):  # a new one is made
        assert http.get("/health").status_code == 200
        assert re.findall("[0-9A-F]{2}(?::[0-9A-F]{2}){31}", "".join(lines)) != prints[0]


def test_serves_no_knowledge_base_that_is_not_there(filled: Path) -> None:
    refused = subprocess.run(
        [sys.executable, "-c", START, "serve", "--kb", "typo", "--port", "0"],
        cwd=filled,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert refused.returncode == 1
    assert "there is no knowledge base at typo" in refused.stderr
    assert not (filled / "typo").exists()
    with program(filled, "--kb", "empty", "--create") as (_, http, _):
        assert http.get("/status").json()["documents"] == 0


@pytest.mark.parametrize("processes", ["1", "2"])
def test_serves_a_read_only_volume(filled: Path, processes: str) -> None:
    volume = filled / "kb"
    binding = [["mount", "--bind", volume, volume], ["mount", "-o", "remount,ro,bind", volume]]
    try:
        if any(subprocess.run(one, capture_output=True, check=False).returncode for one in binding):
            pytest.skip("this account may not mount a file system")
        with program(filled, "--workers", processes) as (_, http, lines):
            assert "this account cannot write to kb" in lines[0]
            assert "gate closes at nine" in http.post("/query", json={"question": "When does the gate close?"}).text
            assert http.get("/ready").status_code == 200
            assert http.post("/documents", files={"files": ("a.txt", b"text")}).status_code == 503
    finally:
        subprocess.run(["umount", "-l", volume], capture_output=True, check=False)


def test_names_an_address_in_use(filled: Path, house: Live) -> None:
    port = house.url.rpartition(":")[2]
    words = ["serve", "--kb", "kb", "--port", port]
    refused = subprocess.run(
        [sys.executable, "-c", START, *words], cwd=filled, capture_output=True, text=True, check=False, timeout=60
    )
    assert refused.returncode == 2
    assert f"port {port}" in refused.stderr
