"""Slack on loopback: the two methods of its web API that a bot calls, and a client that sends signed events."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
from queue import Queue
from typing import Any

from servers.json_server import MISSING, Answer, Call, JsonServer


class SlackServer(JsonServer):
    """A workspace with these user groups, as members by handle; ``posted`` has the messages."""

    def __init__(self, token: str, groups: dict[str, list[str]]) -> None:
        super().__init__(f"Bearer {token}")
        self.groups, self.posted = groups, Queue[dict[str, Any]]()

    def answer(self, call: Call) -> Answer:
        if call.path == "/api/usergroups.list" and call.query.get("include_users") == "true":
            listed = [{"handle": handle, "users": users} for handle, users in self.groups.items()]
            return Answer(value={"ok": True, "usergroups": listed})
        if call.path == "/api/chat.postMessage":
            self.posted.put(json.loads(call.body))
            return Answer(value={"ok": True})
        return MISSING


def send(url: str, secret: str, body: dict[str, Any], *, age: float = 0.0, **headers: str) -> tuple[int, str]:
    """Send an event as Slack does, ``age`` seconds ago, and return the status and the text of the reply."""
    data, at = json.dumps(body).encode(), str(int(time.time() - age))
    signed = hmac.new(secret.encode(), b"v0:" + at.encode() + b":" + data, hashlib.sha256).hexdigest()
    own = {"X-Slack-Request-Timestamp": at, "X-Slack-Signature": f"v0={signed}", **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=data, headers=own), timeout=30) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
