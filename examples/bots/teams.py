"""An outgoing webhook for Microsoft Teams: mention it in a channel, and it answers with the rights of whoever asks.

    export TEAMS_SECRET=...
    export BOT_SERVER=https://... BOT_KEY=rgs_... BOT_GROUPS=hr,staff
    python -m bots.teams 3001 groups.json

Teams shows the secret when the webhook is made. ``groups.json`` maps the object id of a person in Microsoft Entra to
their groups in Ragstone, such as ``{"9f3c...": ["hr"]}``; everybody else reads public documents. Teams waits five
seconds for the answer, so this suits answers that are quoted, or a fast language model.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bots.asking import Problem, Ragstone, arguments, from_environment, variables
from bots.slack import serve

SECONDS = 4.5
"""Seconds for an answer; Teams waits five."""


@dataclass
class TeamsWebhook:
    """Answers messages of Teams in the reply to its request."""

    ragstone: Ragstone
    secret: str
    groups: Mapping[str, Sequence[str]]

    def is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Return whether Teams has sent this request."""
        expected = hmac.new(base64.b64decode(self.secret), body, hashlib.sha256).digest()
        given = headers.get("authorization", "").removeprefix("HMAC ")
        return hmac.compare_digest(base64.b64encode(expected), given.encode())

    def take(self, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        """Take a request, and return the status and the text of the reply."""
        if not self.is_signed(headers, body):
            return 401, "not signed by Teams"
        message = json.loads(body)
        question = html.unescape(re.sub(r"<at>.*?</at>|<[^>]+>", " ", message["text"])).strip()
        person = message["from"]["aadObjectId"]
        session = hashlib.sha256(f"{message['conversation']['id']} {person}".encode()).hexdigest()
        try:
            text = self.ragstone.answer(question, f"teams {person}", self.groups.get(person, ()), session)
        except Problem as problem:
            text = str(problem)
        return 200, json.dumps({"type": "message", "textFormat": "plain", "text": text})


if __name__ == "__main__":
    port, file = arguments("bots.teams PORT GROUPS.json")
    (secret,) = variables("TEAMS_SECRET")
    groups = json.loads(Path(file).read_text(encoding="utf-8"))
    serve(TeamsWebhook(from_environment(SECONDS), secret, groups).take, int(port)).serve_forever()
