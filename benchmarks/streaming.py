"""How soon an answer begins: the first event of a stream, and how long a language model's first word is kept waiting.

The model is a server of the OpenAI protocol on loopback whose first word comes after `THINKS` seconds, as that of fast
hosted models does. What is ours is the rest: retrieval, the estimate whether the evidence answers, as far as it takes
longer than that, the prompt and the client. It is compared with the same request sent by the official client alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing, closing
from typing import Any

import numpy as np
from openai import AsyncOpenAI
from servers.openai_server import KEY, OpenAIServer

from benchmarks.common import Options, Result, Table, main, skipped, told
from ragstone.answers import TextWritten
from ragstone.engine import Engine
from ragstone.review.dataset import load

SET = "clapnq"
QUESTIONS, QUICK_QUESTIONS = 100, 20
FIRST_EVENT_MS, OVERHEAD_MS = 50, 100
THINKS = 0.3


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / SET).is_dir():
        return skipped(f"streams are timed on the questions of {SET}")
    dataset = load(options.data / SET)
    questions = [query.text for query in dataset.queries if query.answerable]
    questions = questions[: QUICK_QUESTIONS if options.quick else QUESTIONS]
    kb = options.keep / "streaming"
    with closing(Engine.open(kb, create=True)) as engine:
        told(f"{SET}: reading")
        await engine.add(list(dataset.documents()))
    rows, figures = [], {}
    with OpenAIServer(_first_source, pause=THINKS) as server:
        model = [f"services.openai.api_key={KEY}", f"services.openai.base_url={server.url}"]
        for name, overrides in {"quoted": ["respond.model.name=extractive"], "written": model}.items():
            told(f"{SET}: {name}")
            events, words = await _timed(kb, [*overrides, "cache.enabled=false"], questions)
            rows += [_row(name, "first event", events), _row(name, "first word", words)]
            figures |= {f"{name}_first_event_ms": _p(events, 50), f"{name}_first_word_ms": _p(words, 50)}
        alone = await _alone(server, len(questions))
        rows.append(_row("the official client alone", "first word", alone))
    over = _p(words, 50) - _p(alone, 50)
    figures |= {"client_first_word_ms": _p(alone, 50), "overhead_ms": round(over, 1)}
    note = (
        f"{len(questions)} questions, models loaded, nothing cached. Over the client alone, a written answer begins"
        f" {over:.0f} ms later (at most {OVERHEAD_MS} asked for); the first event of a quoted one comes after"
        f" {figures['quoted_first_event_ms']:.0f} ms (at most {FIRST_EVENT_MS} asked for)."
    )
    columns = ["answer", "until", "p50 ms", "p95 ms"]
    return Result(figures=figures, tables=[Table(title="Streams", columns=columns, rows=rows)], notes=[note])


async def _timed(kb: Any, overrides: Sequence[str], questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Milliseconds until the first event and the first word of each question."""
    events, words = [], []
    with closing(Engine.open(kb, overrides)) as engine:
        await engine.ask(questions[0])  # loads what it needs
        for question in questions:
            started, first = time.perf_counter(), 0.0
            async with aclosing(engine.stream(question)) as stream:
                async for event in stream:
                    now = (time.perf_counter() - started) * 1000
                    first = first or now
                    if isinstance(event, TextWritten):
                        words.append(now)
                        break
            events.append(first)
    return events, words


async def _alone(server: OpenAIServer, times: int) -> list[float]:
    """The same for a request of the client by itself, over a connection that is open."""
    body = max((one.body for one in server.asked), key=lambda body: len(str(body)))
    spent = []
    async with AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0) as client:
        for _ in range(times):
            started = time.perf_counter()
            stream: Any = await client.chat.completions.create(**body)
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    spent.append((time.perf_counter() - started) * 1000)
                    break
            await stream.close()
    return spent


def _first_source(messages: Sequence[Any]) -> str:
    """The first sentence of the first source, as a model that only repeats would write it."""
    source = messages[-1]["content"].partition("\n--- end")[0]
    return f"{source.splitlines()[-1].partition('. ')[0]}. [1]"


def _row(name: str, until: str, spent: Sequence[float]) -> list[str]:
    return [name, until, f"{_p(spent, 50):.1f}", f"{_p(spent, 95):.1f}"]


def _p(spent: Sequence[float], percent: int) -> float:
    return round(float(np.percentile(spent, percent)), 2)


if __name__ == "__main__":
    main({"streaming": measure}, "streaming")
