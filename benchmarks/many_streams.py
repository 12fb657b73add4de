"""Many conversations that stream at once through one server process, with a language model that is quick enough.

The model is a server of the OpenAI protocol that needs no processor to speak of: it sends the first word after `THINKS`
seconds and then `WORDS_PER_SECOND`, sentences of the passages that it was given, each with its citation. It plans no
further searches, and says so at once. Clients read an answer to its end and ask the next question at once. Model and
clients share one clock, so what Ragstone adds to the first word is the time from question to request plus the time from
the model's first word to the client's. The words that a client gets have to be those that the model sent, and every
stream has to end with its answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, Result, Table, main, percentile, progress, skipped, verdict
from benchmarks.serving import UNLIMITED, Server, make_key, new, served
from ragstone.history.keys import KeyLimits
from ragstone.review.dataset import load
from servers.openai_server import KEY

SET = "clapnq"
CONVERSATIONS, QUICK_CONVERSATIONS = 200, 20
SECONDS, QUICK_SECONDS, WARMING = 90.0, 30.0, 15.0
THINKS, WORDS_PER_SECOND, WORDS = 0.3, 30, 300
GOAL_MS, GOAL_CORES = 150.0, 1.0
_SENTENCE = re.compile(r"[^.!?]{20,}?[.!?](?=\s|$)")
_MARK, _WORD = re.compile(r"\[\d+\]"), re.compile(r"\w+")
_ASKED = re.compile(r"^Question: (.*)", re.MULTILINE)
_KEY = re.compile(r'"key": "(\w+)"')


@dataclass(slots=True)
class Turn:
    """One question: when it was asked, when the model had and answered it, and what reached the client."""

    asked: float
    requested: float = 0.0
    first_sent: float = 0.0
    first_received: float = 0.0
    sent: str = ""
    received: list[str] = field(default_factory=list[str])
    ends: str = ""

    @property
    def added_ms(self) -> float:
        """What was added to the first word."""
        return 1000 * (self.requested - self.asked + self.first_received - self.first_sent)

    @property
    def is_whole(self) -> bool:
        """Whether the client got every word that the model sent, and then the answer."""
        return self.ends == "answer" and _said("".join(self.received)) == _said(self.sent)


def _said(text: str) -> list[str]:
    """Return the words of a text without the marks of citations, which the server takes out of it."""
    return _WORD.findall(_MARK.sub("", text))


async def measure(options: Options) -> Result:
    folder = options.folder(SET)
    if folder is None:
        return skipped(f"the questions are those of {SET}")
    dataset = load(folder)
    kb = options.keep / "many_streams"
    with opened(kb) as engine:
        await engine.documents.add(list(dataset.documents()))
    questions = new([query.text for query in dataset.queries if query.answerable])
    conversations = QUICK_CONVERSATIONS if options.quick else CONVERSATIONS
    seconds = QUICK_SECONDS if options.quick else SECONDS
    turns = dict[str, Turn]()
    key = make_key(kb, f"streams-{time.time_ns()}", KeyLimits())
    async with _model(turns) as url:
        settings = (
            "respond.model.name=openai:gpt-4o-mini",
            f"services.openai.base_url={url}",
            f"services.openai.api_key={KEY}",
            "respond.abstain_below=0",
            f"serve.limits.questions={2 * conversations}",
            *UNLIMITED,
            *NO_CACHE,
        )
        with served(kb, settings) as server:
            await _converse(server, key, questions, turns, 2, WARMING)
            turns.clear()
            progress(f"{conversations} conversations for {seconds:g} s")
            before, began = _processor_seconds(server.pid), time.perf_counter()
            await _converse(server, key, questions, turns, conversations, seconds)
            cores = (_processor_seconds(server.pid) - before) / (time.perf_counter() - began)
    return _summary([*turns.values()], conversations, cores)


async def _converse(
    server: Server, key: str, questions: Iterator[str], turns: dict[str, Turn], conversations: int, seconds: float
) -> None:
    """Let conversations begin one after another within the length of an answer, and ask on until the time is over."""
    until = time.perf_counter() + seconds

    async def conversation(at: int) -> None:
        await asyncio.sleep(at / conversations * (THINKS + WORDS / WORDS_PER_SECOND))
        while time.perf_counter() < until:
            question = next(questions)
            turns[question] = Turn(asked=time.perf_counter())
            await _stream(server, key, question, turns[question])

    await asyncio.gather(*map(conversation, range(conversations)))


async def _stream(server: Server, key: str, question: str, turn: Turn) -> None:
    """Ask, and note every event of the stream."""
    body = json.dumps({"question": question}).encode()
    head = (
        f"POST /query HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {key}\r\n"
        f"Accept: text/event-stream\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with suppress(OSError, asyncio.IncompleteReadError):
        reader, writer = await asyncio.open_connection(server.host, server.port, limit=1 << 22)
        try:
            writer.write(head.encode() + body)
            event = ""
            while line := await reader.readline():
                if line.startswith(b"event: "):
                    event = line[7:].strip().decode()
                    turn.ends = event
                    if event == "text":
                        turn.first_received = turn.first_received or time.perf_counter()
                elif event == "text" and line.startswith(b"data: "):
                    turn.received.append(json.loads(line[6:])["text"])
        finally:
            writer.close()


@asynccontextmanager
async def _model(turns: dict[str, Turn]) -> AsyncGenerator[str]:
    """Serve a model that repeats sentences of its passages at a steady rate; yield its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
                request = json.loads(await reader.readexactly(int(length.partition(":")[2])))
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                if "response_format" in request:
                    _send(writer, _delta(_no_plan(request["messages"])))
                else:
                    await _write(request["messages"], turns, writer)
                _send(writer, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, backlog=512) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"


def _no_plan(messages: Sequence[dict[str, Any]]) -> str:
    """Return a plan without a search, in the form that the messages ask for."""
    found = _KEY.search(messages[0]["content"])
    return json.dumps({"key": found[1] if found else "", "searches": []})


async def _write(messages: Sequence[dict[str, Any]], turns: dict[str, Turn], writer: asyncio.StreamWriter) -> None:
    prompt = messages[-1]["content"]
    turn = turns[_ASKED.findall(prompt)[-1]]
    turn.requested = time.perf_counter()
    words = written(prompt)
    began = turn.requested + THINKS
    for at, word in enumerate(words):
        await asyncio.sleep(began + at / WORDS_PER_SECOND - time.perf_counter())
        turn.first_sent = turn.first_sent or time.perf_counter()
        turn.sent += word
        _send(writer, _delta(word))


def _delta(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


def written(prompt: str) -> list[str]:
    """Return the words of an answer: the sentences of each source in turn, with its number, until they are enough."""
    sources = re.findall(r"^--- source .*\n((?:.*\n)*?)--- end", prompt, re.MULTILINE)
    sentences = [_SENTENCE.findall(source.rstrip().rpartition("\n")[2]) for source in sources]
    words = list[str]()
    for at in range(max(map(len, sentences), default=0)):
        for number, found in enumerate(sentences, start=1):
            if at < len(found) and len(words) < WORDS:
                words += [f"{word} " for word in f"{found[at][:-1].strip()} [{number}].".split()]
    return words[:WORDS]


def _send(writer: asyncio.StreamWriter, chunk: dict[str, Any]) -> None:
    data = (
        f"data: {json.dumps({'object': 'chat.completion.chunk', 'id': 'c', 'model': 'm', 'created': 0, **chunk})}\n\n"
    )
    writer.write(f"{len(data.encode()):x}\r\n{data}\r\n".encode())


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _summary(turns: Sequence[Turn], conversations: int, cores: float) -> Result:
    begun = [turn.added_ms for turn in turns if turn.first_received]
    lost = sum(not turn.is_whole for turn in turns)
    p50, p95 = percentile(begun, 50), percentile(begun, 95)
    rows = [
        ["added to the first word, p50", f"{p50:.0f} ms", ""],
        ["added to the first word, p95", f"{p95:.0f} ms", f"{GOAL_MS:g} ms: {verdict(p95 <= GOAL_MS)}"],
        ["streams that lost a word or their end", f"{lost} of {len(turns)}", f"0: {verdict(lost == 0)}"],
        ["processors that the server used", f"{cores:.2f}", f"{GOAL_CORES:g}: {verdict(cores <= GOAL_CORES)}"],
    ]
    figures = {
        "conversations": conversations,
        "answers": len(turns),
        "added_p50_ms": round(p50, 1),
        "added_p95_ms": round(p95, 1),
        "lost": lost,
        "cores": round(cores, 2),
    }
    note = (
        f"{conversations} conversations, each a question after another, answers of up to {WORDS} words at"
        f" {WORDS_PER_SECOND} words a second, on a machine that also runs the clients and the model."
    )
    return Result(
        figures=figures,
        tables=[Table(title="Streams at once", columns=["what", "measured", "goal"], rows=rows)],
        notes=[note],
    )


if __name__ == "__main__":
    main({"many_streams": measure}, "many_streams")
