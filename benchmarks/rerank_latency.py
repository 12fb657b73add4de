"""A process of its own, on one core: whole questions with and without reranking, the embedding of each included.

Run by ``benchmarks.rerank``, with the folder of a knowledge base of ``benchmarks.query`` and the number of questions.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import closing


async def main(folder: str, count: int) -> None:
    import numpy as np

    from benchmarks.query import Given
    from benchmarks.rerank import MAXSIM
    from ragstone.engine import Engine
    from ragstone.index.embed.local import MiniLM

    class Real(MiniLM):
        """Embeds questions itself; the passages of the knowledge base have these vectors already."""

        fingerprint = Given.fingerprint

    with np.load(f"{folder}/questions.npz") as stored:
        questions = stored["questions"].tolist()[:count]
    embedder = Real(threads=1)
    # Token vectors may be kept, and nothing else, so that every question is worked out.
    own = ("cache.embeddings_mb=0", "cache.searches_mb=0", "cache.answers_mb=0", "cache.questions=false")
    found = {}
    with closing(Engine.open(folder, own, build_embedder=lambda *_: embedder)) as engine:
        engine.clear_cache()
        await engine.search(questions[0])
        found["fusion"] = await _timed(engine, questions)
    with closing(Engine.open(folder, (*own, MAXSIM), build_embedder=lambda *_: embedder)) as engine:
        found["maxsim"] = await _timed(engine, questions)
        found["maxsim, vectors kept"] = await _timed(engine, questions)
        engine.clear_cache()
    print(json.dumps(found))


async def _timed(engine, questions: list[str]) -> dict[str, float]:
    from benchmarks.rerank import spread_of

    times, cpu = [], []
    for question in questions:
        started, cpu_started = time.perf_counter(), time.process_time()
        await engine.search(question)
        times.append((time.perf_counter() - started) * 1e3)
        cpu.append((time.process_time() - cpu_started) * 1e3)
    return spread_of(times, cpu)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
