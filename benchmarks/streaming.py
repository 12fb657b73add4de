"""How soon an answer begins: the first event of a stream, and the first word of a language model.

The model is a server of the OpenAI protocol on loopback whose first word comes after `THINKS` seconds, like that of a
fast hosted model. The rest is Ragstone: retrieval, the estimate whether the evidence answers, the prompt and the
client. It is compared with the official client, which sends the same request alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import cast

from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk

from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, Result, Table, main, percentile, progress, skipped
from ragstone.core.access import OWNER
from ragstone.core.answers import TextWritten
from ragstone.review.dataset import load
from servers.openai_server import KEY, OpenAIServer

SET = "clapnq"
QUESTIONS, QUICK_QUESTIONS = 100, 20
FIRST_EVENT_MS, OVERHEAD_MS = 50, 100
THINKS = 0.3


async def measure(options: Options) -> Result:
    folder = options.folder(SET)
    if folder is None:
        return skipped(f"streams are timed on the questions of {SET}")
    dataset = load(folder)
    questions = [query.text for query in dataset.queries if query.answerable]
    questions = questions[: QUICK_QUESTIONS if options.quick else QUESTIONS]
    kb = options.keep / "streaming"
    with opened(kb) as engine:
        await engine.documents.add(list(dataset.documents()))
    with OpenAIServer(first_sentence, pause=THINKS) as server:
        model = [
            "respond.model.name=openai:gpt-4o-mini",
            f"services.openai.api_key={KEY}",
            f"services.openai.base_url={server.url}",
        ]
        quoted_events, quoted_words = await _times(kb, ["respond.model.name=extractive"], questions)
        written_events, written_words = await _times(kb, model, questions)
        alone = await _client_alone(server, len(questions))
    times = {
        ("quoted", "first event"): quoted_events,
        ("quoted", "first word"): quoted_words,
        ("written", "first event"): written_events,
        ("written", "first word"): written_words,
        ("the official client alone", "first word"): alone,
    }
    rows = [[*name, f"{percentile(ms, 50):.1f}", f"{percentile(ms, 95):.1f}"] for name, ms in times.items()]
    over, first = percentile(written_words, 50) - percentile(alone, 50), percentile(quoted_events, 50)
    figures = {" ".join(name): round(percentile(ms, 50), 2) for name, ms in times.items()}
    note = (
        f"{len(questions)} questions, models loaded, nothing cached. A written answer begins {over:.0f} ms later than"
        f" with the client alone (target: {OVERHEAD_MS}); the first event of a quoted answer comes after {first:.0f} ms"
        f" (target: {FIRST_EVENT_MS})."
    )
    return Result(
        figures={**figures, "overhead_ms": round(over, 1)},
        tables=[Table(title="Streams", columns=["answer", "until", "p50 ms", "p95 ms"], rows=rows)],
        notes=[note],
    )


async def _times(kb: Path, settings: Sequence[str], questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return the milliseconds until the first event and the first word of each question."""
    progress(f"{SET}: {settings[0].partition('=')[2]}")
    events: list[float] = []
    words: list[float] = []
    with opened(kb, [*settings, *NO_CACHE]) as engine:
        await engine.ask(questions[0], reader=OWNER)  # loads the models
        for question in questions:
            started, first = time.perf_counter(), 0.0
            async with aclosing(engine.stream(question, reader=OWNER)) as stream:
                async for event in stream:
                    now = (time.perf_counter() - started) * 1000
                    first = first or now
                    if isinstance(event, TextWritten):
                        words.append(now)
                        break
            events.append(first)
    return events, words


async def _client_alone(server: OpenAIServer, times: int) -> list[float]:
    """Return the milliseconds until the first word of the longest request, over an open connection."""
    body = max((one.body for one in server.asked), key=lambda body: len(str(body)))
    spent: list[float] = []
    async with AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0) as client:
        for _ in range(times):
            started = time.perf_counter()
            stream = cast("AsyncStream[ChatCompletionChunk]", await client.chat.completions.create(**body))
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    spent.append((time.perf_counter() - started) * 1000)
                    break
            await stream.close()
    return spent


def first_sentence(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the first sentence of the first source, as a model that only repeats would write it."""
    source = messages[-1]["content"].partition("\n--- end")[0]
    return f"{source.splitlines()[-1].partition('. ')[0]}. [1]"


if __name__ == "__main__":
    main({"streaming": measure}, "streaming")
