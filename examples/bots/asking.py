"""Asks a server of Ragstone on behalf of a person: with a token of their own, which has their groups and no others."""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

EARLY = 60.0
"""Seconds before its end at which a token is renewed."""


class Problem(Exception):
    """The server cannot be reached, or refuses; the text may be shown to the person."""


@dataclass
class Ragstone:
    """A server, and a key with the scope ``tokens`` and its groups; a person has no others.

    Make the key with ``ragstone key make bot --scope tokens --group staff --group hr``.
    """

    url: str
    key: str
    groups: frozenset[str] = frozenset()
    timeout: float = 120.0
    _tokens: dict[tuple[str, tuple[str, ...]], tuple[str, float]] = field(default_factory=dict, repr=False)

    def answer(self, question: str, person: str, groups: Sequence[str], session: str = "") -> str:
        """Return the answer and its sources as lines of text.

        Args:
            question: as it was typed.
            person: what the chat calls the person; limits and conversations depend on it.
            groups: of the person; without any, they read only public documents.
            session: name of the conversation, so that a question may refer to the last one.

        Raises:
            Problem: there is no answer.
        """
        body = {"question": question, **({"session": session} if session else {})}
        found = call(
            f"{self.url}/query",
            body,
            self._token(person, tuple(sorted(self.groups.intersection(groups)))),
            self.timeout,
        )
        cited = {citation["document_id"] for citation in found["citations"]}
        named = [source.get("title") or source["document_id"] for source in found["sources"]]
        sources = list(dict.fromkeys(named)) if cited else []
        return "\n".join([found["answer"], *([f"Sources: {'; '.join(sources)}"] if sources else [])])

    def _token(self, person: str, groups: tuple[str, ...]) -> str:
        token, ends = self._tokens.get((person, groups), ("", 0.0))
        if time.monotonic() > ends - EARLY:
            made = call(f"{self.url}/tokens", {"visitor": person, "groups": list(groups)}, self.key, self.timeout)
            token = made["token"]
            self._tokens[person, groups] = (token, time.monotonic() + made["expires_in"])
        return token


def from_environment(timeout: float = 120.0) -> Ragstone:
    """Return the server that ``BOT_SERVER``, ``BOT_KEY`` and ``BOT_GROUPS`` name; see `variables`."""
    server, key = variables("BOT_SERVER", "BOT_KEY")
    groups = frozenset(filter(None, os.environ.get("BOT_GROUPS", "").split(",")))
    return Ragstone(server.rstrip("/"), key, groups, timeout)


def variables(*names: str) -> list[str]:
    """Return the values of environment variables; end the program with the names of those that are not set."""
    if missing := [name for name in names if not os.environ.get(name)]:
        sys.exit(f"set the environment variable {' and '.join(missing)}")
    return [os.environ[name] for name in names]


def arguments(usage: str) -> list[str]:
    """Return the arguments of the program; end it unless there are as many as in ``usage``, the first one a port.

    Args:
        usage: the program and the names of its arguments, such as ``bots.slack PORT``.
    """
    given, wanted = sys.argv[1:], usage.split()[1:]
    if len(given) != len(wanted) or not given[0].isdecimal():
        sys.exit(f"usage: python -m {usage}")
    return given


def call(url: str, body: Mapping[str, Any] | None, bearer: str, timeout: float) -> Any:
    """Send JSON, or a GET without a body, and return the JSON of the reply.

    Raises:
        Problem: the server cannot be reached, or refuses.
    """
    headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json; charset=utf-8"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            raise Problem(f"The server refuses: {told(error.read())}") from error
    except (OSError, ValueError) as error:
        raise Problem("The server cannot be reached.") from error


def told(body: bytes) -> str:
    """Return what an error of the server says."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return "no reason was given"
