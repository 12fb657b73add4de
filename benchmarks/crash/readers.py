"""One process that writes and several that read, for a while: nobody sees an error, and nobody half a change.

``python -m benchmarks.crash.readers FOLDER ROLE SECONDS`` is one of them; each prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import kb

from benchmarks.crash.story import document
from ragstone.contracts import Hit

DOCUMENTS = 30
ROOT = Path(__file__).parent.parent.parent


def run(folder: Path, readers: int, seconds: float) -> dict[str, int]:
    """All of them, each in a process of its own; what they counted, summed."""
    engine = kb.open_fast(folder)
    kb.add(engine, *map(document, range(DOCUMENTS)))
    engine.close()
    command = [sys.executable, "-m", "benchmarks.crash.readers", str(folder)]
    roles = ["write", *["read"] * readers]
    started = [
        subprocess.Popen([*command, role, str(seconds)], stdout=subprocess.PIPE, text=True, cwd=ROOT) for role in roles
    ]
    told = Counter[str]()
    for process in started:
        out, _ = process.communicate()
        told.update(json.loads(out) if process.returncode == 0 else {"exceptions": 1})
    return {"exceptions": 0, "torn reads": 0, **told}


def _write(folder: Path, seconds: float) -> Counter[str]:
    """Every few documents in a new version, some removed and put back, without a pause."""
    engine, told, chance = kb.open_fast(folder, create=False), Counter[str](), random.Random(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        numbers = chance.sample(range(DOCUMENTS), 4)
        kb.add(engine, *(document(number, told["commits"] + 1) for number in numbers))
        if told["commits"] % 5 == 4:
            engine.remove([f"d{numbers[0]}"])
        told["commits"] += 1
    engine.close()
    return told


def _read(folder: Path, seconds: float) -> Counter[str]:
    engine, told, chance = kb.open_fast(folder, create=False), Counter[str](), random.Random()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            question = f"document {chance.randrange(DOCUMENTS)} version part {chance.randrange(3)}"
            hits = asyncio.run(engine.search(question, chance.choice([3, 20, 100])))
            told["torn reads"] += _torn(hits)
            answer = asyncio.run(engine.ask(question))
            told["answers"] += bool(answer.citations)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            told["exceptions"] += 1
        told["reads"] += 1
    engine.close()
    return told


def _torn(hits: list[Hit]) -> bool:
    """Whether a hit is not what its version says, or two chunks of a document are of different versions."""
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
