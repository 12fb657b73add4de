"""Processes killed with ``kill -9``, by another process at a random moment or by themselves at a chosen call.

``python -m crash.kills FOLDER COUNT SEED`` prints one line of JSON. It forks once for each life and once for each check
of what is left, so it runs in a process of its own, which opens no knowledge base.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import kb
from kb import parts

from crash.power import Event, Log
from crash.story import Unsafe, check_found, document, small_steps, states, watched
from crash.vfs import OK, Shim, library
from ragstone.core.access import OWNER

Model = dict[str, int]
"""The stored version of each document."""
DOCUMENTS = 10
ENGINES = ("embedded", "faiss:Flat") if find_spec("faiss") else ("embedded",)
"""Engines for vectors to change between; both have files in the folder."""
LIFE = 30
"""The steps of a life that is not killed."""


class _Suicide(Log):
    """Kills its process before a call."""

    def __init__(self, folder: Path, at: int) -> None:
        super().__init__(folder)
        self._left = at

    def allows(self, event: Event) -> int:
        del event
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        return OK

    def _look_at_others(self) -> None:
        pass


def run(folder: Path, count: int, seed: int) -> dict[str, int]:
    """Run lives, each continuing where the last one was killed; return counts.

    Raises:
        Unsafe: something acknowledged was lost, came back, or is incomplete.
    """
    chance, told = random.Random(seed), Counter[str]()
    shim = Shim() if library() else None
    model: Model | None = None
    span = 0.3
    for number in range(count):
        chosen = shim is not None and number % 2 == 0
        at = chance.randrange(1, 700)
        started = time.perf_counter()
        lines, ended = _fork(
            lambda out, a=at, c=chosen, n=number: _live(folder, out, seed + n, a if c else 0, shim),
            (None if chosen else chance.random() * span),
        )
        if ended == 0:
            told["ended by themselves"] += 1
            span = min(span, time.perf_counter() - started)
        elif ended == -signal.SIGKILL:
            told["killed at a call" if chosen else "killed at random"] += 1
        else:
            raise Unsafe(f"life {number} ended with {ended}")
        acknowledged, following = model, model
        for line in lines:
            word, _, rest = line.partition(" ")
            following = json.loads(rest)
            acknowledged = following if word == "done" else acknowledged
        allowed = [acknowledged, following]
        found, ended = _fork(lambda out, a=allowed: _look(folder, out, a), None)
        if ended:
            raise Unsafe(f"after life {number}: {' '.join(found)}")
        model = json.loads(found[0])
        told["lives"] += 1
    return dict(told)


def _live(folder: Path, out: int, seed: int, at: int, shim: Shim | None) -> None:
    chance = random.Random(seed)
    if at and shim:
        with small_steps(), watched(shim, _Suicide(folder, at)):
            _steps(folder, out, chance)
    else:
        with small_steps():
            _steps(folder, out, chance)


def _steps(folder: Path, out: int, chance: random.Random) -> None:
    engine = kb.open_fast(folder / "kb", create=not (folder / "kb" / "CURRENT").exists())
    model: Model = {id: int(str(one.metadata["v"])) for id, one in states(engine).items()}

    def tell(word: str, model: Model) -> None:
        os.write(out, f"{word} {json.dumps(model)}\n".encode())

    tell("done", model)
    for _ in range(LIFE):
        number, drawn = chance.randrange(DOCUMENTS), chance.random()
        following = dict(model)
        if drawn < 0.06 and len(ENGINES) > 1:
            tell("next", model)
            engine.versions.use_engines({"vectors": chance.choice(ENGINES)})
        elif drawn < 0.12:
            tell("next", model)
            asyncio.run(engine.versions.rebuild([f"chunk.size={chance.choice([120, 200])}"]))
            engine.close()
            engine = kb.open_fast(folder / "kb", create=False)
        elif drawn < 0.3 and model:
            gone = chance.choice(sorted(model))
            del following[gone]
            tell("next", following)
            engine.documents.remove([gone], reader=OWNER)
        else:
            following[f"d{number}"] = version = model.get(f"d{number}", 0) + 1
            tell("next", following)
            asyncio.run(engine.documents.add([document(number, version)]))
        model = following
        tell("done", model)
    engine.close()


def _look(folder: Path, out: int, allowed: list[Model | None]) -> None:
    """Print the versions that are left; fail with a message if something is wrong."""
    engine = kb.open_fast(folder / "kb", create=not (folder / "kb" / "CURRENT").exists())
    left = states(engine)
    model: Model = {id: int(str(one.metadata["v"])) for id, one in left.items()}
    if model not in allowed and not (not model and None in allowed):
        raise Unsafe(f"{model} is left, of {allowed}")
    whole = {id: document(int(id[1:]), version) for id, version in model.items()}
    kb.check_whole(parts(engine).source.path / "catalog.db", whole, engine.settings.chunk)
    if left:
        check_found(engine, set(left))
    engine.close()
    os.write(out, f"{json.dumps(model)}\n".encode())


def _fork(work, seconds: float | None) -> tuple[list[str], int]:
    """Run work in a child, killed after some seconds; return the lines it wrote and its exit code."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        try:
            work(write)
            os._exit(0)
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}\n".encode()[:4000])
            os._exit(1)
    os.close(write)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(read, encoding="utf-8") as told:
        lines = told.read().splitlines()
    _, status = os.waitpid(child, 0)
    return lines, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
