"""A bot for Slack: mention it, or write to it, and it answers in a thread, with the rights of whoever asks.

    export SLACK_BOT_TOKEN=xoxb-... SLACK_SIGNING_SECRET=...
    export BOT_SERVER=https://... BOT_KEY=rgs_... BOT_GROUPS=hr,staff
    python -m bots.slack 3000

The app needs the events ``app_mention`` and ``message.im`` with this address, and the scopes ``chat:write`` and
``usergroups:read``. A person has those groups of the key that are named as the Slack user groups they are in.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bots.asking import Problem, Ragstone, arguments, call, from_environment, variables

OLDEST = 300.0
"""Seconds after which a signed request is refused, so that nobody can send it again."""
GROUPS_SECONDS = 60.0
"""Seconds for which the members of the user groups are remembered."""
LARGEST = 1_000_000


@dataclass
class SlackBot:
    """Answers events of Slack in threads of its own, because Slack waits three seconds and then repeats them."""

    ragstone: Ragstone
    token: str
    signing_secret: str
    api: str = "https://slack.com/api"
    _workers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8), repr=False)
    _groups: tuple[float, Mapping[str, frozenset[str]]] = (float("-inf"), {})

    def is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Return whether Slack has sent this request, and just now."""
        at, signature = headers.get("x-slack-request-timestamp", ""), headers.get("x-slack-signature", "")
        if not at.isdecimal() or abs(time.time() - int(at)) > OLDEST:
            return False
        expected = hmac.new(self.signing_secret.encode(), b"v0:%b:%b" % (at.encode(), body), hashlib.sha256)
        return hmac.compare_digest(f"v0={expected.hexdigest()}".encode(), signature.encode())

    def take(self, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        """Take a request, and return the status and the text of the reply."""
        if not self.is_signed(headers, body):
            return 401, "not signed by Slack"
        sent = json.loads(body)
        if sent.get("type") == "url_verification":
            return 200, str(sent["challenge"])
        event = sent.get("event", {})
        is_asked = event.get("type") == "app_mention" or event.get("channel_type") == "im"
        is_person = event.get("user") and not event.get("bot_id") and not event.get("subtype")
        if is_asked and is_person and "x-slack-retry-num" not in headers:
            self._workers.submit(self.reply, event)
        return 200, ""

    def reply(self, event: Mapping[str, Any]) -> None:
        """Answer a message in its thread."""
        thread = event.get("thread_ts") or event["ts"]
        question = re.sub(r"<@\w+>", " ", event["text"]).strip()
        session = hashlib.sha256(f"{event['channel']} {thread} {event['user']}".encode()).hexdigest()
        try:
            text = self.ragstone.answer(question, f"slack {event['user']}", self.groups_of(event["user"]), session)
        except Problem as problem:
            text = str(problem)
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        self._call("chat.postMessage", {"channel": event["channel"], "thread_ts": thread, "text": escaped})

    def groups_of(self, person: str) -> list[str]:
        """Return the handles of the user groups that a person is in.

        Raises:
            Problem: Slack does not tell; then nobody gets an answer for others.
        """
        at, members = self._groups
        if time.monotonic() > at + GROUPS_SECONDS:
            listed = self._call("usergroups.list?include_users=true", None)["usergroups"]
            members = {one["handle"]: frozenset(one.get("users", ())) for one in listed}
            self._groups = (time.monotonic(), members)
        return sorted(handle for handle, users in members.items() if person in users)

    def close(self) -> None:
        """Wait for the answers that are being written."""
        self._workers.shutdown()

    def _call(self, method: str, body: Mapping[str, Any] | None) -> Any:
        reply = call(f"{self.api}/{method}", body, self.token, 30)
        if not reply.get("ok"):
            raise Problem(f"Slack refuses: {reply.get('error', 'no reason was given')}")
        return reply


def serve(take: Any, port: int) -> ThreadingHTTPServer:
    """Return a server that passes the header fields and the body of each POST to a function; port 0 is any."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, text = take(headers, self.rfile.read(size)) if size <= LARGEST else (413, "")
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if text.startswith("{") else "text/plain")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    (port,) = arguments("bots.slack PORT")
    token, signing_secret = variables("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET")
    serve(SlackBot(from_environment(), token, signing_secret).take, int(port)).serve_forever()
