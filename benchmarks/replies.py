"""Replies to real questions as language models write them, each sentence labelled by one who read the passages.

A language model (Claude) wrote them for this project, in the manner of a good model, of a small one and of a terse one:
over 13 collections, from the passages that a search finds. For most replies there are false twins: one sentence changed
in a number, period, unit, name, negation, cause, generality or relation, or with an invented clause. Collections are
for fitting (``use`` is "fit") or for tests ("test"); nothing is fitted to the latter.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.request import Request
from ragstone.settings.services import ModelSettings

PATH = Path(__file__).with_name("replies.jsonl.gz")
Use = Literal["fit", "test"]
PIECE = 24
"""Characters of a streamed piece."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Characters of a document that the writer saw as a passage."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence of a reply, what stands before it, and the citation marks behind it.

    ``cites`` are the passages of the marks, ``says`` those that really say it, both numbered from 1. ``role`` is
    "claim", "none" (needs no citation) or "absence" (says that the passages do not tell something).
    """

    text: str
    sep: str
    marks: str
    cites: tuple[int, ...]
    says: tuple[int, ...]
    role: Literal["claim", "none", "absence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Falsehood:
    """The false twin of a sentence, by its index, and the kind of change."""

    sentence: int
    text: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReply:
    """A reply to a question. ``kind`` is "answer", "partial", "refusal" or "other"."""

    id: str
    collection: str
    use: Use
    question: str
    writer: str
    kind: str
    passages: tuple[Place, ...]
    sentences: tuple[Said, ...]
    falsehoods: tuple[Falsehood, ...]

    def text(self, numbers: Mapping[int, int], falsehood: Falsehood | None = None) -> str:
        """Return the reply as the model would write it.

        Args:
            numbers: of the passages in the prompt, by their numbers here. A mark of a passage that is not in the prompt
                is left out.
            falsehood: replaces its sentence.
        """
        out = list[str]()
        for place, one in enumerate(self.sentences):
            text = falsehood.text if falsehood and falsehood.sentence == place else one.text
            known = [numbers[cited] for cited in one.cites if cited in numbers]
            marks = _NUMBER.sub(lambda found: str(numbers.get(int(found[0]), "")), one.marks) if known else ""
            if known and len(known) < len(one.cites):
                marks = "".join(f"[{number}]" for number in known)
            out.append(f"{one.sep if out else ''}{text}{f' {marks}' if marks else ''}")
        return "".join(out)

    @property
    def first_line(self) -> str:
        """The line with which the prompt asks a reply to begin."""
        told = {"partial": "partly", "refusal": "no"}.get(self.kind, "yes")
        return f"FOUND: {told}\n"


def replies(use: Use | None = None) -> Iterator[WrittenReply]:
    """Yield the replies, or those for one use."""
    with gzip.open(PATH, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if use in (None, row["use"]):
                row["passages"] = tuple(Place(**one) for one in row["passages"])
                row["sentences"] = tuple(
                    Said(**one | {"cites": tuple(one["cites"]), "says": tuple(one["says"])}) for one in row["sentences"]
                )
                row["falsehoods"] = tuple(Falsehood(**one) for one in row["falsehoods"])
                yield WrittenReply(**row)


def numbers(reply: WrittenReply, shown: Sequence[tuple[str, int, int]]) -> dict[int, int]:
    """Return the numbers that the passages of a reply have in a prompt, as far as the prompt has them.

    Args:
        reply: whose passages are looked for.
        shown: document, start and end of each passage of the prompt, in order.
    """
    found = dict[int, int]()
    for number, place in enumerate(reply.passages, start=1):
        for at, (document, start, end) in enumerate(shown, start=1):
            common = min(end, place.end) - max(start, place.start)
            if document == place.document and 2 * common > place.end - place.start:
                found[number] = at
                break
    return found


class Replayed:
    """A `ChatModel` that writes the ``text`` that it is given; named in the settings by its import path."""

    name = "replayed"
    text = ""
    asked = 0

    def __init__(self, settings: ModelSettings) -> None:
        del settings

    def count(self, text: str) -> int:
        """Return the tokens of a text, by a usual ratio."""
        return len(text) // 4 + 1

    async def stream(self, messages: Sequence[Message], request: Request, form: object = None) -> AsyncGenerator[Piece]:
        """Yield the text in pieces."""
        del messages, request, form
        Replayed.asked += 1
        async for piece in pieces(Replayed.text):
            yield piece


async def pieces(text: str) -> AsyncGenerator[Piece]:
    """Yield a text as a model streams it."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
    yield Reply(text=text)
