"""One process that writes and several that read: none may see an error or an incomplete change.

``python -m crash.readers FOLDER ROLE SECONDS`` is one of them; each prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import kb

from crash.story import document
from ragstone.core.access import OWNER
from ragstone.core.records import Hit

DOCUMENTS = 30
TESTS = Path(__file__).parent.parent


def run(folder: Path, readers: int, seconds: float) -> dict[str, int]:
    """Run all of them, each in a process of its own; return the sums of their counts."""
    engine = kb.open_fast(folder)
    kb.add(engine, *map(document, range(DOCUMENTS)))
    engine.close()
    command = [sys.executable, "-m", "crash.readers", str(folder)]
    roles = ["write", *["read"] * readers]
    own = {**os.environ, "PYTHONPATH": str(TESTS.parent)}
    started = [
        subprocess.Popen([*command, role, str(seconds)], stdout=subprocess.PIPE, text=True, cwd=TESTS, env=own)
        for role in roles
    ]
    told = Counter[str]()
    for process in started:
        out, _ = process.communicate()
        told.update(json.loads(out) if process.returncode == 0 else {"exceptions": 1})
    return {"exceptions": 0, "torn reads": 0, **told}


def _write(folder: Path, seconds: float) -> Counter[str]:
    """Write new versions of a few documents without pause, and remove some."""
    engine, told, chance = kb.open_fast(folder, create=False), Counter[str](), random.Random(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        numbers = chance.sample(range(DOCUMENTS), 4)
        kb.add(engine, *(document(number, told["commits"] + 1) for number in numbers))
        if told["commits"] % 5 == 4:
            engine.documents.remove([f"d{numbers[0]}"], reader=OWNER)
        told["commits"] += 1
    engine.close()
    return told


def _read(folder: Path, seconds: float) -> Counter[str]:
    engine, told, chance = kb.open_fast(folder, create=False), Counter[str](), random.Random()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            question = f"document {chance.randrange(DOCUMENTS)} version part {chance.randrange(3)}"
            hits = asyncio.run(engine.search(question, chance.choice([3, 20, 100]), reader=OWNER))
            told["torn reads"] += _torn(hits)
            answer = asyncio.run(engine.ask(question, reader=OWNER))
            told["answers"] += bool(answer.citations)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            told["exceptions"] += 1
        told["reads"] += 1
    engine.close()
    return told


def _torn(hits: list[Hit]) -> bool:
    """Return whether a hit differs from its version, or two chunks of a document have different versions."""
    versions: dict[str, set[object]] = {}
    for hit in hits:
        chunk = hit.chunk
        version = int(str(chunk.metadata["v"]))
        versions.setdefault(chunk.document_id, set()).add(version)
        if document(int(chunk.document_id[1:]), version).text[chunk.start : chunk.end] != chunk.text:
            return True
    return any(len(several) > 1 for several in versions.values())


if __name__ == "__main__":
    work = _write if sys.argv[2] == "write" else _read
    print(json.dumps(work(Path(sys.argv[1]), float(sys.argv[3]))))
