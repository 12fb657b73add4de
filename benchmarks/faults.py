"""What answers are like while the services they use fail: a language model, a judge, an embedding service, the web.

Each is a server on loopback that spoils about a third of the requests. Keyword search needs none of them, so that
every question must still get an answer, which cites what the documents say and tells what was missing.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from servers.openai_server import EMBEDDINGS, KEY, Fault, OpenAIServer
from servers.openai_server import Asked as Request
from servers.searching import Fault as WebFault
from servers.searxng_server import RESULTS, SearxngServer

from benchmarks.common import Options, Result, Table, main, skipped, told
from ragstone.answers import Answer
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.review.dataset import load

SET = "clapnq"
DOCUMENTS, QUESTIONS, QUICK_QUESTIONS, AT_ONCE = 40, 1000, 60, 4
SPOILED = 3
"""One request of so many."""
TIMEOUT, DEADLINE, WAIT = 0.5, 2.0, 0.5
STALL = 4 * TIMEOUT
_HTML = b"<html><body>Bad gateway</body></html>"
_NOW, _LATER = {"Retry-After": "0"}, {"Retry-After": "30"}
_COMMON = {
    "status 429": Fault(kind="status", status=429),
    "status 429, now": Fault(kind="status", status=429, headers=_NOW),
    "status 429, later": Fault(kind="status", status=429, headers=_LATER),
    "status 500": Fault(kind="status", status=500),
    "slow": Fault(kind="slow", seconds=2 * TIMEOUT),
    "type": Fault(kind="type"),
}
CHAT = {
    **_COMMON,
    "stall": Fault(kind="stall", pieces=3, seconds=STALL),
    **{kind: Fault(kind=kind, pieces=3) for kind in ("cut", "short", "malformed", "failed")},
    "empty": Fault(kind="empty"),
    "filtered": Fault(kind="filtered"),
}
VECTORS = {**_COMMON, **{kind: Fault(kind=kind) for kind in ("count", "numbers", "width", "malformed")}}
WEB = {
    "status 429": WebFault(status=429),
    "status 429, now": WebFault(status=429, headers=_NOW),
    "status 429, later": WebFault(status=429, headers=_LATER),
    "status 500": WebFault(status=500),
    "slow": WebFault(body=b'{"results": []}', seconds=2 * TIMEOUT),
    "type": WebFault(body=_HTML, headers={"Content-Type": "text/html"}),
    "malformed": WebFault(body=b'{"results": [{"url":'),
    "no results": WebFault(body=b'{"results": [1, 2]}'),
    "cut": WebFault(body=json.dumps({"results": RESULTS}).encode(), half=True),
}
TELLS = {
    "vectors": "vector search failed",
    "evidence": "the evidence was not judged",
    "web": "the web was not searched",
    "model": "is quoted from the documents instead",
    "answer": "the answer was not judged",
}
"""How an answer says that a service brought nothing."""
F = TypeVar("F")


@dataclass(slots=True)
class Drawn:
    """Faults by a hash of the request's number; what came of the last request of each service, by question."""

    questions: Sequence[str]
    last: dict[tuple[str, str], str] = field(default_factory=dict)
    met: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    on: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def draw(self, service: str, text: str, faults: Mapping[str, F]) -> F | None:
        """The fault of a request of a service; ``text`` holds the question."""
        with self._lock:
            self.asked += 1
            drawn = int.from_bytes(hashlib.sha256(f"1 {self.asked}".encode()).digest()[:8])
            spoiled = self.on and drawn % SPOILED == 0
            name = list(faults)[drawn // SPOILED % len(faults)] if spoiled else ""
            self.met[f"{service}: {name}" if name else service] += 1
            for question in self.questions:
                if question in text:
                    self.last[question, service] = name
        return faults.get(name)

    def chat(self, request: Request) -> Fault | None:
        if request.path.partition("?")[0].endswith(EMBEDDINGS):
            texts = request.body["input"]
            return self.draw("vectors", texts if isinstance(texts, str) else "\n".join(texts), VECTORS)
        return self.draw(_service(request.body["messages"]), _asked(request.body["messages"]), CHAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a process holds."""

    tasks: int
    threads: int
    sockets: int
    files: int

    @classmethod
    def now(cls, folder: Path) -> Left:
        gc.collect()
        threads = [one for one in threading.enumerate() if not one.name.startswith("asyncio_")]
        places = [_read(one) for one in Path("/proc/self/fd").iterdir()] if Path("/proc/self/fd").is_dir() else []
        sockets = sum(place.startswith("socket:") for place in places)
        return cls(
            tasks=len(asyncio.all_tasks()), threads=len(threads), sockets=sockets, files=len(list(folder.iterdir()))
        )

    def beyond(self, before: Left) -> dict[str, int]:
        names = ("tasks", "threads", "sockets", "files")
        return {name: max(0, getattr(self, name) - getattr(before, name)) for name in names}


@dataclass(slots=True)
class Tally:
    """What was seen."""

    errors: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    misquoted: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    degraded: int = 0
    abstained: int = 0
    cited: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)

    @property
    def late(self) -> int:
        return sum(one > DEADLINE + 1 for one in self.seconds)


async def measure(options: Options) -> Result:
    if options.data is None or not (options.data / SET).is_dir():
        return skipped(f"faults are met by questions of {SET}")
    dataset = load(options.data / SET)
    chosen = [query for query in dataset.queries if query.answerable][:DOCUMENTS]
    wanted = {one for query in chosen for one in dataset.qrels.get(query.id, {})}
    documents = [one for one in dataset.documents() if one.id in wanted]
    asked = [query.text for query in dataset.queries if query.id in {one.id for one in chosen} or not query.answerable]
    asked = list(dict.fromkeys(asked))
    count = QUICK_QUESTIONS if options.quick else QUESTIONS
    questions = [asked[place % len(asked)] for place in range(count)]
    drawn, tally = Drawn(questions=asked), Tally()
    own, usual = options.keep / "temporary", tempfile.tempdir
    own.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(own)
    try:
        await _run(options.keep / "faults", documents, questions, drawn, tally, own)
    finally:
        tempfile.tempdir = usual
    return summary(tally, drawn.met)


async def _run(
    kb: Path, documents: Sequence[Document], questions: Sequence[str], drawn: Drawn, tally: Tally, own: Path
) -> None:
    before = Left.now(own)
    with (
        OpenAIServer(_write) as server,
        OpenAIServer(_judge, azure=True) as judge,
        SearxngServer() as web,
    ):
        server.draw, judge.draw = drawn.chat, drawn.chat
        web.draw = lambda asked: drawn.draw("web", asked.fields.get("q", ""), WEB)
        overrides = _overrides(server.url, judge.url, web.url)
        drawn.on = False
        with closing(Engine.open(kb, overrides, create=True)) as engine:
            await engine.add(documents)
            await engine.ask(questions[0])  # loads what it needs
            drawn.on = True
            drawn.met.clear()
            texts = {document.id: document.text for document in documents}
            for start in range(0, len(questions), AT_ONCE):
                part = questions[start : start + AT_ONCE]
                await asyncio.gather(*(_ask(engine, question, texts, drawn, tally) for question in part))
                for one in (server, judge, web):  # what they remember is no memory of ours
                    one.asked.clear()
                if start % 100 == 0:
                    told(f"faults: {start} of {len(questions)} questions")
                    tally.memory.append(_megabytes())
            tally.memory.append(_megabytes())
    for _ in range(50):  # servers' own threads end
        tally.left = Left.now(own).beyond(before)
        if not any(tally.left.values()):
            break
        await asyncio.sleep(0.1)


async def _ask(engine: Engine, question: str, texts: Mapping[str, str], drawn: Drawn, tally: Tally) -> None:
    for service in TELLS:
        drawn.last.pop((question, service), None)
    started = time.perf_counter()
    try:
        answer = await engine.ask(question)
    except Exception as error:  # whatever it is, it is counted
        tally.errors.append(f"{type(error).__name__}: {error}")
        return
    finally:
        tally.seconds.append(time.perf_counter() - started)
    said = "\n".join(answer.notices)
    mattered = [name for name in TELLS if drawn.last.get((question, name)) and not (name == "model" and _idle(answer))]
    tally.untold += [
        f"{question}: {name}, {drawn.last[question, name]}; {answer.notices}"
        for name in mattered
        if TELLS[name] not in said
    ]
    tally.degraded += any(words in said for words in TELLS.values())
    tally.abstained += answer.abstained
    tally.cited += len(answer.citations)
    found = {hit.chunk.document_id: hit.chunk.text for hit in answer.hits if hit.chunk.is_web}
    for one in answer.citations:
        text = texts.get(one.document_id) or found.get(one.document_id, "")
        shown = any(one.quote in result["content"] for result in RESULTS) or one.document_id in texts
        if text[one.start : one.end] != one.quote or not shown:
            tally.misquoted.append(f"{question}: {one.document_id} {one.start}-{one.end}")


def _idle(answer: Answer) -> bool:
    """Whether a model's reply was not wanted, because the documents do not answer."""
    return answer.abstained


def _overrides(server: str, judge: str, web: str) -> list[str]:
    return [
        "cache.enabled=false",
        "index.embedder=openai:text-embedding-3-small",
        "index.dimensions=32",
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={server}",
        "respond.model.name=openai:writer",
        "review.judge=model",
        "review.judge_model.name=azure:judge",
        f"services.azure.endpoint={judge}",
        f"services.azure.api_key={KEY}",
        "query.web.engine=searxng",
        f"services.searxng.base_url={web}",
        f"services.timeout_seconds={TIMEOUT}",
        f"services.deadline_seconds={DEADLINE}",
        f"services.max_wait_seconds={WAIT}",
        "services.first_wait_seconds=0.05",
        "services.retries=1",
    ]


def _service(messages: Sequence[Mapping[str, str]]) -> str:
    system = messages[0]["content"]
    return "evidence" if system.startswith("You check") else "answer" if system.startswith("You mark") else "model"


def _asked(messages: Sequence[Mapping[str, str]]) -> str:
    """The part of a request in which the question stands, without the passages, which may quote another."""
    text = next(one["content"] for one in reversed(messages) if one["role"] == "user" and "\n" in one["content"])
    return text.rpartition("Question: ")[2] if _service(messages) == "model" else text.partition(" end of question")[0]


def _write(messages: Sequence[Mapping[str, str]]) -> str:
    """The first sentence of the first source, and one that nobody said."""
    source = messages[-1]["content"].partition("\n--- end")[0]
    return f"{source.splitlines()[-1].partition('. ')[0]}. [1] It was painted in green by 1207 cooks. [2]"


def _judge(messages: Sequence[Mapping[str, str]]) -> str:
    key = re.findall(r'"key" being "(\w+)"', "\n".join(one["content"] for one in messages))[-1]
    if _service(messages) == "answer":
        return json.dumps({"key": key, "relevance": 8, "factuality": 7, "completeness": 6, "feedback": "fine"})
    wants = int.from_bytes(hashlib.sha256(_asked(messages)[-40:].encode()).digest()[:2]) % 2 == 0
    return json.dumps({"key": key, "confidence": 7, "reasoning": "as told", "needs_web_search": wants})


def summary(tally: Tally, met: Mapping[str, int]) -> Result:
    """Tables, figures, and whether the targets are met."""
    asked = len(tally.seconds)
    slowest = max(tally.seconds, default=0.0)
    growth = round(tally.memory[-1] - tally.memory[min(1, len(tally.memory) - 1)], 1) if tally.memory else 0.0
    counts = {
        "errors": len(tally.errors),
        "late": tally.late,
        "untold": len(tally.untold),
        "misquoted": len(tally.misquoted),
        "left_behind": sum(tally.left.values()),
    }
    rows = [
        ["questions", f"{asked:,}", f"{AT_ONCE} at a time; {tally.degraded:,} answers without one of the services"],
        ["errors instead of an answer", str(counts["errors"]), "0 wanted"],
        ["later than their deadline and a second", str(counts["late"]), f"0 wanted; slowest {slowest:.1f} s"],
        ["a fault that mattered and is not told", str(counts["untold"]), "0 wanted"],
        ["citations that are not what is there", str(counts["misquoted"]), f"0 wanted, of {tally.cited:,}"],
        ["left behind", str(counts["left_behind"]), "tasks, threads, sockets, files; 0 wanted"],
        ["memory", f"{growth:+.1f} MB", "from the hundredth question to the last"],
    ]
    spoiled = {name: number for name, number in met.items() if ": " in name}
    by_service = [
        [service, f"{sum(n for name, n in met.items() if name.partition(':')[0] == service):,}", _kinds(service, met)]
        for service in TELLS
    ]
    tables = [
        Table(title="answers while services fail", columns=["what", "count", "note"], rows=rows),
        Table(title="requests, and what was wrong with some", columns=["of", "requests", "faults"], rows=by_service),
    ]
    notes = [
        f"All calls for one question have services.deadline_seconds={DEADLINE:g} together.",
        *(tally.errors + tally.untold + tally.misquoted)[:10],
        f"Target: nothing of all that: {'MISSED' if any(counts.values()) else 'met'}.",
    ]
    figures = {"questions": asked, **counts, "degraded": tally.degraded, "slowest_s": round(slowest, 2)}
    figures |= {"memory_mb": growth, "faults": sum(spoiled.values())}
    return Result(figures=figures, tables=tables, notes=notes)


def _kinds(service: str, met: Mapping[str, int]) -> str:
    found = {name.partition(": ")[2]: number for name, number in met.items() if name.startswith(f"{service}: ")}
    return ", ".join(f"{name} {number}" for name, number in sorted(found.items()))


def _read(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _megabytes() -> float:
    status = Path("/proc/self/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.is_file() else None
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main({"faults": measure}, "faults")
