"""Second calls: scripted language models check written answers, and err as often as published ones.

A scripted judge is told which sentences are false, and is wrong about as many as its rates say, drawn by a fixed seed
from each sentence. Real errors gather in hard sentences; these do not. It says of half of the sentences that it rejects
that a passage contradicts them, with the words that come closest, and of the others that no passage says them. It
replies in the formats of small models: an array in a fence, prose around objects, a list, rows that are missing, quotes
in other words.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.respond.writing.written import WritingAnswerer, WrittenAnswer
from ragstone.settings import Settings
from ragstone.settings.load import merge, validated
from servers.openai_server import KEY, OpenAIServer

MISSING, MISQUOTED = 0.03, 0.05
"""Shares of rows that are left out, and of quotes in which a word is replaced."""
LONGEST = 160
"""Characters of a quote."""
_PART = re.compile(
    r"^(?P<key>\S+) (?P<kind>passage|sentence) \d+\n(?P<text>.*?)\n(?P=key) end of", re.DOTALL | re.MULTILINE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The shares of true sentences that a judge keeps and of false ones that it catches, and who measured them."""

    name: str
    keeps: float
    catches: float
    source: str


JUDGES = (
    Rates(name="3.8B", keeps=0.71, catches=0.87, source="model card of grounded-ai/phi3-hallucination-judge, HaluEval"),
    Rates(name="GPT-4", keeps=0.824, catches=0.824, source="balanced accuracy on SummEdits, arXiv:2305.14540"),
    Rates(name="needed", keeps=0.97, catches=0.90, source="no publication: what the goals would need"),
)


@dataclass(slots=True)
class SecondCounts:
    """What second calls of one judge found, and what they took.

    ``prompts`` and ``replies`` have their sizes as shares of those of the answer's own call; ``seconds`` leave out the
    time that a real model takes. ``inputs`` of the confidence are marked as those of a right reply or of a false one.
    """

    flagged: int = 0
    caught: int = 0
    prompts: list[float] = field(default_factory=list[float])
    replies: list[float] = field(default_factory=list[float])
    seconds: list[float] = field(default_factory=list[float])
    inputs: list[tuple[tuple[float, ...], bool]] = field(default_factory=list[tuple[tuple[float, ...], bool]])


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondCall:
    """An answerer whose answers a scripted judge checks, over OpenAI's protocol."""

    judge: ScriptedJudge
    server: OpenAIServer
    answerer: WritingAnswerer

    async def check(
        self, answer: WrittenAnswer, hits: Sequence[Hit], counts: SecondCounts, is_false: Callable[[str], bool]
    ) -> WrittenAnswer:
        """Return an answer after its second check, and count the time.

        Args:
            answer: after the first check.
            hits: the passages that the writer read.
            counts: of this judge.
            is_false: returns whether a sentence of the answer is false.
        """
        self.judge.is_false, begun = is_false, time.perf_counter()
        checked = await self.answerer.checked_again(answer, hits, Request.by_owner())
        counts.seconds.append(time.perf_counter() - begun)
        return checked

    def asked(self) -> int:
        """Return the characters of the latest prompt."""
        return sum(len(one["content"]) for one in self.server.asked[-1].body["messages"])


@contextmanager
def second_calls(kb: KnowledgeBase) -> Generator[list[SecondCall]]:
    """Serve all judges on loopback, each with an answerer of the knowledge base that it checks."""
    with ExitStack() as stack:
        out: list[SecondCall] = []
        for rates in JUDGES:
            judge = ScriptedJudge(rates)
            server = stack.enter_context(OpenAIServer(judge.reply))
            opened = stack.enter_context(closing(kb.under(_asking(server))))
            answerer = stack.enter_context(opened.current()).models.answerer()
            assert isinstance(answerer, WritingAnswerer)
            out.append(SecondCall(judge=judge, server=server, answerer=answerer))
        yield out


def _asking(server: OpenAIServer) -> Callable[[Settings], Settings]:
    """Return a change of settings after which a server checks the answers."""
    respond = {"check": "model", "model": {"name": "openai:judge"}}
    tree = {"respond": respond, "services": {"openai": {"base_url": server.url, "api_key": KEY}}}
    return lambda settings: validated(merge(settings.model_dump(), tree))


class ScriptedJudge:
    """Replies to the prompts of `ragstone.respond.proof.by_model`."""

    def __init__(self, rates: Rates) -> None:
        """Take how often the judge is right."""
        self.rates, self.said = rates, ""
        self.is_false: Callable[[str], bool] = lambda _: False
        """Returns whether a sentence of the answer that is checked next is false."""

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the whole reply to a conversation."""
        parts = [(found["kind"], found["text"]) for found in _PART.finditer(messages[-1]["content"])]
        lines = [line for kind, text in parts if kind == "passage" for line in _SENTENCE.split(text) if line.strip()]
        sentences = [text for kind, text in parts if kind == "sentence"]
        rows = [self._row(number, text, lines) for number, text in enumerate(sentences, start=1)]
        self.said = _formatted([row for row in rows if row], random.Random(" ".join(sentences)))
        return self.said

    def _row(self, number: int, sentence: str, lines: Sequence[str]) -> dict[str, object] | None:
        """Return what the judge says of a sentence; None if it forgets it."""
        draw = random.Random(f"{self.rates.name} {sentence}")
        if draw.random() < MISSING:
            return None
        is_false = self.is_false(sentence)
        is_right = draw.random() < (self.rates.catches if is_false else self.rates.keeps)
        verdict = ("no" if draw.random() < 1 / 2 else "absent") if is_false == is_right else "yes"
        quote = "" if verdict == "absent" else _closest(sentence, lines)
        if draw.random() < MISQUOTED:
            quote = _WORD.sub("something", quote, count=1)
        return {"sentence": number, "verdict": verdict, "quote": quote}


def _closest(sentence: str, lines: Sequence[str]) -> str:
    own = set(_WORD.findall(sentence.casefold()))
    best = max(lines, key=lambda line: len(own & set(_WORD.findall(line.casefold()))), default="")
    return best[:LONGEST].rpartition(" ")[0] if len(best) > LONGEST else best


def _formatted(rows: Sequence[dict[str, object]], draw: random.Random) -> str:
    """Return rows as lines, as a fenced array, over several lines with prose around them, or as a list of Markdown."""
    match draw.randrange(4):
        case 0:
            return "\n".join(json.dumps(row) for row in rows)
        case 1:
            return f"```json\n{json.dumps(rows, ensure_ascii=False)}\n```"
        case 2:
            shown = "\n\n".join(json.dumps(row, indent=2) for row in rows)
            return f"Here is my check of the answer:\n\n{shown}\n\nLet me know if you need more."
        case _:
            return "\n".join(f"- {json.dumps(row)}," for row in rows)
