"""The articles that the preset `knowledge-base` is tried on, and a server on loopback in the place of its services."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.systems.feature import Room
from servers.openai_server import KEY, Asked, OpenAIServer

QUESTION = "Wie lange ist die Inkubationszeit?"
ADA = 1536
"""Dimensions of text-embedding-ada-002."""
ROWS = 200
"""Articles read with ``--quick``."""
FEW = 60
"""Articles of the knowledge base whose scores are computed again here."""
Messages = Sequence[Mapping[str, str]]


def quoting(messages: Messages) -> str:
    """Answer with the first sentence of the first source."""
    source = re.search(r"--- source \S+\n(.*?)\n--- end", messages[-1]["content"], re.DOTALL)
    first = source[1].split("\n")[-1] if source else ""
    return f"{re.split(r'(?<=[.!?]) ', first)[0].rstrip('.')} [1]."


@cache
def service() -> OpenAIServer:
    """Return the server, which runs until this process ends."""
    return OpenAIServer(quoting, dimensions=ADA).__enter__()


def keys() -> dict[str, str]:
    """Return the environment in which the preset uses its services."""
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": service().url}


def table(room: Room) -> Path:
    """Return the articles where the preset looks for them."""
    path = room.folder / "data" / "knowledge_base.csv"
    if not path.exists():
        write(path, articles(room)[: ROWS if room.quick else None])
    return path


def articles(room: Room) -> list[list[str]]:
    """Return the rows of the table; the first has the names of the columns."""
    with (room.data / "covid_faq_kb" / "dev" / "kb.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def write(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    """Write a table and return its path."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def hosted(room: Room) -> Path:
    """Return the knowledge base of all articles, embedded by the service."""
    return room.added("hosted", table(room), **keys())


def bare(room: Room) -> Path:
    """Return a knowledge base of a few articles, whose vectors and terms are those of their text alone."""
    few = write(room.folder / "few.csv", articles(room)[: FEW + 1])
    return room.added("bare", few, "--set", "chunk.context=none", "--set", "index.analyzer=plain", **keys())


def since(start: int) -> list[Asked]:
    """Return the requests that the service got after its first ``start``."""
    return service().asked[start:]


def texts(asked: Sequence[Asked]) -> list[int]:
    """Return how many texts each request embeds."""
    return [len(one.body["input"]) for one in asked if "input" in one.body]


def chats(asked: Sequence[Asked]) -> list[Asked]:
    """Return the requests to the language model."""
    return [one for one in asked if "messages" in one.body]


def hits(room: Room, kb: Path, question: str, *options: str) -> list[dict[str, Any]]:
    """Return what a search finds, with the history of each score."""
    return room.json("search", question, "--kb", kb, "--json", "--explain", *options, **keys())["hits"]


def step(hit: Mapping[str, Any], stage: str) -> float:
    """Return the score that a stage gave."""
    return next(one["score"] for one in hit["why"] if one["stage"] == stage)


def close(found: Sequence[float], expected: Sequence[float], within: float = 1e-4) -> bool:
    """Return whether two lists of numbers are the same."""
    return len(found) == len(expected) and all(abs(a - b) <= within for a, b in zip(found, expected, strict=True))
