"""What answers are like while the services behind them fail.

First a language model, a judge, an embedding service and a web search spoil about a third of the requests. Then servers
of index engines are killed and started again, one after another. Keyword search, or the other leg, still works, so
every question must get an answer that cites the documents and says what was missing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from benchmarks import engine_outages
from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, Result, Table, main, progress, skipped, verdict
from ragstone.core.access import OWNER
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import load
from servers.openai_server import EMBEDDINGS, KEY, Fault, OpenAIServer
from servers.openai_server import Asked as Request
from servers.searching import Fault as WebFault
from servers.searxng_server import RESULTS, SearxngServer

SET = "clapnq"
DOCUMENTS, QUESTIONS, QUICK_QUESTIONS, AT_ONCE = 40, 1000, 60, 4
SPOILED = 3
"""One in three requests is spoiled."""
TIMEOUT, DEADLINE = 0.5, 2.0
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
    "stall": Fault(kind="stall", pieces=3, seconds=4 * TIMEOUT),
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
NOTICES = {
    "vectors": "vector search failed",
    "evidence": "the evidence was not judged",
    "web": "the web was not searched",
    "model": "because the language model failed",
    "answer": "the answer was not judged",
}
"""How an answer reports that a service failed, in lower case."""
F = TypeVar("F")


async def measure(options: Options) -> Result:
    if options.folder(SET) is None:
        return skipped(f"outages are measured with questions of {SET} and {engine_outages.SET}")
    tally, drawn = await _measure_services(options)
    runs = await engine_outages.measure_engines(options) if options.folder(engine_outages.SET) else []
    return summary(tally, drawn, runs)


# ---------------------------------------------------------------- services that spoil requests


@dataclass(slots=True)
class Drawn:
    """Draws faults by the number of the request, and remembers the last fault of each question and service."""

    questions: Sequence[str]
    last: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    counts: Counter[str] = field(default_factory=Counter[str])
    asked: int = 0
    on: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def draw(self, service: str, text: str, faults: Mapping[str, F]) -> F | None:
        """Return the fault of a request, if any; ``text`` contains the question."""
        with self._lock:
            self.asked += 1
            drawn = int.from_bytes(hashlib.sha256(f"1 {self.asked}".encode()).digest()[:8])
            spoiled = self.on and drawn % SPOILED == 0
            name = list(faults)[drawn // SPOILED % len(faults)] if spoiled else ""
            self.counts[f"{service}: {name}" if name else service] += 1
            for question in self.questions:
                if question in text:
                    self.last[question, service] = name
        return faults.get(name)

    def chat(self, request: Request) -> Fault | None:
        if request.path.partition("?")[0].endswith(EMBEDDINGS):
            texts = request.body["input"]
            return self.draw("vectors", texts if isinstance(texts, str) else "\n".join(texts), VECTORS)
        return self.draw(_service(request.body["messages"]), _question(request.body["messages"]), CHAT)


@dataclass(slots=True)
class Tally:
    """What was wrong with the answers, and how long they took."""

    errors: list[str] = field(default_factory=list[str])
    unreported: list[str] = field(default_factory=list[str])
    misquoted: list[str] = field(default_factory=list[str])
    seconds: list[float] = field(default_factory=list[float])
    degraded: int = 0
    cited: int = 0

    @property
    def late(self) -> int:
        return sum(one > DEADLINE + 1 for one in self.seconds)


async def _measure_services(options: Options) -> tuple[Tally, Drawn]:
    assert options.data is not None
    dataset = load(options.data / SET)
    chosen = [query for query in dataset.queries if query.answerable][:DOCUMENTS]
    wanted = {one for query in chosen for one in dataset.qrels.get(query.id, {})}
    documents = [one for one in dataset.documents() if one.id in wanted]
    ids = {one.id for one in chosen}
    asked = list(dict.fromkeys(one.text for one in dataset.queries if one.id in ids or not one.answerable))
    count = QUICK_QUESTIONS if options.quick else QUESTIONS
    questions = [asked[place % len(asked)] for place in range(count)]
    drawn, tally = Drawn(questions=asked), Tally()
    with OpenAIServer(_write) as server, OpenAIServer(_judge, azure=True) as judge, SearxngServer() as web:
        server.draw, judge.draw = drawn.chat, drawn.chat
        web.draw = lambda asked: drawn.draw("web", asked.fields.get("q", ""), WEB)
        drawn.on = False
        shutil.rmtree(options.keep / "outages", ignore_errors=True)  # its embedder has another address each time
        with opened(options.keep / "outages", _settings(server.url, judge.url, web.url)) as engine:
            await engine.documents.add(documents)
            await engine.ask(questions[0], reader=OWNER)  # loads the models
            drawn.on = True
            drawn.counts.clear()
            texts = {document.id: document.text for document in documents}
            for start in range(0, len(questions), AT_ONCE):
                part = questions[start : start + AT_ONCE]
                await asyncio.gather(*(_ask(engine, question, texts, drawn, tally) for question in part))
                if start % 100 == 0:
                    progress(f"outages: {start} of {len(questions)} questions")
    return tally, drawn


async def _ask(engine: KnowledgeBase, question: str, texts: Mapping[str, str], drawn: Drawn, tally: Tally) -> None:
    for service in NOTICES:
        drawn.last.pop((question, service), None)
    started = time.perf_counter()
    try:
        answer = await engine.ask(question, reader=OWNER)
    except Exception as error:  # any error counts
        tally.errors.append(f"{type(error).__name__}: {error}")
        return
    finally:
        tally.seconds.append(time.perf_counter() - started)
    notices = "\n".join(answer.notices).lower()
    needed = [name for name in NOTICES if not (name == "model" and answer.abstained)]  # a refusal needs no model
    failed = [name for name in needed if drawn.last.get((question, name))]
    tally.unreported += [
        f"{question}: {name}, {drawn.last[question, name]}; {answer.notices}"
        for name in failed
        if NOTICES[name] not in notices
    ]
    tally.degraded += any(words in notices for words in NOTICES.values())
    tally.cited += len(answer.citations)
    found = {hit.chunk.document_id: hit.chunk.text for hit in answer.hits if hit.chunk.is_outside}
    for one in answer.citations:
        text = texts.get(one.document_id) or found.get(one.document_id, "")
        exists = any(one.quote in result["content"] for result in RESULTS) or one.document_id in texts
        if text[one.start : one.end] != one.quote or not exists:
            tally.misquoted.append(f"{question}: {one.document_id} {one.start}-{one.end}")


def _settings(server: str, judge: str, web: str) -> list[str]:
    return [
        *NO_CACHE,
        "index.embedder=openai:text-embedding-3-small",
        "index.dimensions=32",
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={server}",
        "respond.model.name=openai:writer",
        "review.judge=model",
        "review.judge_model=azure:judge",
        f"services.azure.endpoint={judge}",
        f"services.azure.api_key={KEY}",
        "query.web.engine=searxng",
        f"services.searxng.base_url={web}",
        f"services.timeout_seconds={TIMEOUT}",
        f"services.deadline_seconds={DEADLINE}",
        "services.backoff_seconds=[0.05, 0.5]",
        "services.retries=1",
    ]


def _service(messages: Sequence[Mapping[str, str]]) -> str:
    system = messages[0]["content"]
    return "evidence" if system.startswith("You check") else "answer" if system.startswith("You mark") else "model"


def _question(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the part of a request with the question, without the passages, which may quote another one."""
    text = next(one["content"] for one in reversed(messages) if one["role"] == "user" and "\n" in one["content"])
    return text.rpartition("Question: ")[2] if _service(messages) == "model" else text.partition(" end of question")[0]


def _write(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the first sentence of the first source, and a sentence that no source has."""
    source = messages[-1]["content"].partition("\n--- end")[0]
    return f"{source.splitlines()[-1].partition('. ')[0]}. [1] It was painted in green by 1207 cooks. [2]"


def _judge(messages: Sequence[Mapping[str, str]]) -> str:
    key = re.findall(r'"key" being "(\w+)"', "\n".join(one["content"] for one in messages))[-1]
    if _service(messages) == "answer":
        return json.dumps({"key": key, "relevance": 8, "factuality": 7, "completeness": 6, "feedback": "fine"})
    wants = int.from_bytes(hashlib.sha256(_question(messages)[-40:].encode()).digest()[:2]) % 2 == 0
    return json.dumps({"key": key, "confidence": 7, "reasoning": "as marked", "needs_web_search": wants})


# ---------------------------------------------------------------- tables


def summary(tally: Tally, drawn: Drawn, runs: Sequence[engine_outages.Outage]) -> Result:
    """Return tables, figures, and whether the targets are met."""
    counts = {
        "errors": len(tally.errors),
        "late": tally.late,
        "unreported": len(tally.unreported),
        "misquoted": len(tally.misquoted),
    }
    rows = [
        ["questions", f"{len(tally.seconds):,}", f"{AT_ONCE} at a time; {tally.degraded:,} answers lack a service"],
        ["errors instead of an answer", str(counts["errors"]), "0 wanted"],
        [
            "more than a second after the deadline",
            str(counts["late"]),
            f"0 wanted; slowest {max(tally.seconds, default=0):.1f} s",
        ],
        ["faults that the answer does not report", str(counts["unreported"]), "0 wanted"],
        ["wrong citations", str(counts["misquoted"]), f"0 wanted, of {tally.cited:,}"],
    ]
    by_service = [[name, f"{_requests(name, drawn):,}", _faults(name, drawn)] for name in NOTICES]
    tables = [
        Table(title="answers while services fail", columns=["what", "count", "note"], rows=rows),
        Table(title="requests, and their faults", columns=["service", "requests", "faults"], rows=by_service),
    ]
    if runs:
        tables.append(engine_outages.table(runs))
    failed = sum(one.asked - one.answered + one.down - one.reported for one in runs)
    return Result(
        figures={
            "questions": len(tally.seconds),
            **counts,
            "degraded": tally.degraded,
            "faults": sum(number for name, number in drawn.counts.items() if ": " in name),
            "engines_asked": sum(one.asked for one in runs),
            "engines_failed": failed,
        },
        tables=tables,
        notes=[
            f"All calls for one question share services.deadline_seconds={DEADLINE:g}.",
            *(tally.errors + tally.unreported + tally.misquoted)[:10],
            f"Target: none of these, and every question answered: {verdict(not any(counts.values()) and not failed)}.",
        ],
    )


def _requests(service: str, drawn: Drawn) -> int:
    return sum(number for name, number in drawn.counts.items() if name.partition(":")[0] == service)


def _faults(service: str, drawn: Drawn) -> str:
    start = f"{service}: "
    found = {name.removeprefix(start): number for name, number in drawn.counts.items() if name.startswith(start)}
    return ", ".join(f"{name} {number}" for name, number in sorted(found.items()))


if __name__ == "__main__":
    main({"outages": measure}, "outages")
