"""The bots of the examples ask a real server, each with the rights of whoever asks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live import Live, Serving, make_key

from servers.slack_server import SlackServer, send

sys.path.append(str(Path(__file__).parents[3] / "examples"))

from bots.asking import Problem, Ragstone
from bots.slack import SlackBot, serve
from bots.teams import TeamsWebhook

PAY = "What is the salary of the director?"
SECRET = base64.b64encode(b"hush").decode()


@pytest.fixture
def live(serving: Serving) -> Live:
    return serving("widget.enabled=true", "widget.origins=[https://chat.example]")


@pytest.fixture
def ragstone(live: Live) -> Ragstone:
    header = make_key(live.engine.folder, "bot", "tokens", groups=["hr", "staff"])
    return Ragstone(live.url, header["authorization"].removeprefix("Bearer "), frozenset({"hr", "staff"}))


@contextmanager
def running(take: Any) -> Iterator[str]:
    server = serve(take, 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def mention(text: str, user: str = "U1", **more: str) -> dict[str, Any]:
    event = {"type": "app_mention", "user": user, "text": f"<@BOT> {text}", "channel": "C1", "ts": "1.5", **more}
    return {"type": "event_callback", "event": event}


def test_slack_bot_answers_with_the_rights_of_the_asker(ragstone: Ragstone) -> None:
    with SlackServer("xoxb", {"hr": ["U1"], "staff": ["U1", "U2"], "cooks": ["U1"]}) as slack:
        bot = SlackBot(ragstone, "xoxb", "hush", f"{slack.origin}/api")
        with running(bot.take) as url:
            assert send(url, "hush", {"type": "url_verification", "challenge": "abc"}) == (200, "abc")
            assert send(url, "hush", mention(PAY)) == (200, "")
            told = slack.posted.get(timeout=60)
            assert (told["channel"], told["thread_ts"]) == ("C1", "1.5")
            assert "nine thousand crowns" in told["text"]
            assert "Sources: Salaries" in told["text"]
            send(url, "hush", mention(PAY, "U2", thread_ts="1.2"))
            other = slack.posted.get(timeout=60)
            assert "crowns" not in other["text"]
            assert other["thread_ts"] == "1.2"
            slack.groups["hr"].append("U3")  # not yet, for what Slack said is remembered for a minute
            send(url, "hush", mention(PAY, "U3"))
            assert "crowns" not in slack.posted.get(timeout=60)["text"]
            send(url, "hush", mention("Where do visitors park?", "U9"))
            assert "behind the mill" in slack.posted.get(timeout=60)["text"]
        bot.close()
        assert slack.posted.empty()


def test_slack_bot_ignores_what_it_should(ragstone: Ragstone) -> None:
    with SlackServer("xoxb", {}) as slack:
        bot = SlackBot(ragstone, "xoxb", "hush", f"{slack.origin}/api")
        with running(bot.take) as url:
            assert send(url, "wrong", mention(PAY))[0] == 401
            assert send(url, "hush", mention(PAY), age=400)[0] == 401
            assert send(url, "hush", mention(PAY, bot_id="B1"))[0] == 200
            assert send(url, "hush", mention(PAY), **{"X-Slack-Retry-Num": "1"})[0] == 200
            assert send(url, "hush", mention(PAY, type="message"))[0] == 200
        bot.close()
        assert slack.posted.empty()


def test_teams_webhook_answers_with_the_rights_of_the_asker(ragstone: Ragstone) -> None:
    webhook = TeamsWebhook(ragstone, SECRET, {"ann": ["hr"], "eve": ["board"]})

    def ask(person: str, key: bytes = b"hush") -> tuple[int, str]:
        sent = {"text": f"<at>Rag</at>&nbsp;{PAY}", "from": {"aadObjectId": person}, "conversation": {"id": "c"}}
        body = json.dumps(sent).encode()
        signed = base64.b64encode(hmac.new(key, body, hashlib.sha256).digest()).decode()
        request = urllib.request.Request(url, data=body, headers={"Authorization": f"HMAC {signed}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, json.load(reply)["text"]
        except urllib.error.HTTPError as error:
            with error:
                return error.code, ""

    with running(webhook.take) as url:
        assert "nine thousand crowns" in ask("ann")[1]
        assert "crowns" not in ask("bob")[1]
        assert "crowns" not in ask("eve")[1], "the key has no group 'board'"
        assert ask("ann", key=b"wrong") == (401, "")


def test_a_server_that_is_away_is_told(live: Live) -> None:
    with pytest.raises(Problem, match="cannot be reached"):
        Ragstone("http://127.0.0.1:9", "key").answer(PAY, "ann", ())
    with pytest.raises(Problem, match="refuses"):
        Ragstone(live.url, "rag_wrong").answer(PAY, "ann", ())


@pytest.mark.parametrize(
    ("words", "variables", "told"),
    [
        (["bots.slack"], {}, "usage: python -m bots.slack PORT"),
        (["bots.slack", "port"], {}, "usage: python -m bots.slack PORT"),
        (["bots.slack", "0"], {"SLACK_BOT_TOKEN": "x"}, "set the environment variable SLACK_SIGNING_SECRET"),
        (["bots.teams"], {}, "usage: python -m bots.teams PORT GROUPS.json"),
        (["bots.teams", "0", "groups.json"], {}, "set the environment variable TEAMS_SECRET"),
        (
            ["bots.slack", "0"],
            {"SLACK_BOT_TOKEN": "x", "SLACK_SIGNING_SECRET": "y"},
            "set the environment variable BOT_SERVER and BOT_KEY",
        ),
    ],
    ids=str,
)
def test_says_what_is_missing(words: list[str], variables: dict[str, str], told: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BOT_", "SLACK_", "TEAMS_"))}
    folder = Path(__file__).parents[3] / "examples"
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, env=kept | variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (1, told)
