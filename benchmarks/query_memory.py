"""A process of its own that opens a knowledge base and asks: time to the first result, and memory in the end.

Run by ``benchmarks.query``, with the folder and a file of questions and their vectors. Memory is what the process
holds resident, mapped pages of files included, after all questions.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np


def resident(pid: int | str = "self") -> float:
    """Megabytes that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


async def main(folder: str, asked: str) -> None:
    from benchmarks.query import WITHOUT_MODEL, Given
    from ragstone.engine import Engine

    with np.load(asked) as stored:
        Given.known = dict(zip(stored["questions"].tolist(), stored["vectors"], strict=True))
    started = time.perf_counter()
    with closing(Engine.open(folder, WITHOUT_MODEL)) as engine:
        await engine.search(next(iter(Given.known)))
        opened = time.perf_counter() - started
        for question in Given.known:
            await engine.search(question)
        print(json.dumps({"opened": opened, "mb": resident()}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
