"""Other systems on the same job, each in its own environment: the same passages, the same model, two threads.

The passages are abstracts of SciFact of at most 1,000 characters, so that each is one chunk for every system. The
weights are those of all-MiniLM-L6-v2 in float32; Ragstone's copy was rounded to 8 bits (cosine .9995), and where the
processor is fast at it, Ragstone computes in 8 bits as well (cosine .998). Each peer is driven as its documentation
shows for a store on a local disk: its own embedder if it has one, hybrid search if it has it, and batches of 100
passages. A short script for each is in `peer_jobs`.

Each phase runs in a new process. `ingest` measures documents per second and per CPU second with the model loaded;
rounds alternate between peers, and the median counts. Peers that keep everything in memory save once, at the end.
`query` measures the time from the start of the process to the first answer, then the median time of a question, and
that time without the embedding of the question.

The installed size is the sum over all that pip brought into a new environment. Peers on torch get its build for CPUs;
the gigabytes of CUDA that pip brings by default are not counted.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from subprocess import run
from typing import Any

from benchmarks.common import ROOT, Options, Result, Table, main, progress, skipped, unavailable, verdict
from benchmarks.peer_environments import JOBS, Environment, NotInstalled, Peer, environment, prepare, weights

SET = "scifact/dev"
LONGEST = 1000
PASSAGES, QUICK_PASSAGES = 300, 30
QUESTIONS = 100
ROUNDS = 2
SECONDS = 900
OURS = "ragstone"
PEERS = (
    Peer(name=OURS, script="ragstone_job", requires=[str(ROOT)]),
    Peer(name="lancedb", script="lancedb_job", requires=["lancedb", "onnxruntime", "tokenizers"]),
    Peer(name="chromadb", script="chromadb_job", requires=["chromadb"]),
    Peer(name="txtai", script="txtai_job", requires=["txtai"]),
    Peer(name="haystack", script="haystack_job", requires=["haystack-ai", "sentence-transformers-haystack"]),
    Peer(name="llama-index", script="llama_index_job",
         requires=["llama-index-core", "llama-index-embeddings-huggingface", "llama-index-retrievers-bm25"]),
    Peer(name="langchain+faiss", script="langchain_job",
         requires=["langchain", "langchain-classic", "langchain-community", "langchain-huggingface",
                   "sentence-transformers", "faiss-cpu", "rank-bm25"]),
)  # fmt: skip
TARGETS = {"lancedb": 3.0}
TARGET = 4.0
"""Documents per second of Ragstone, in multiples of the peer's."""


@dataclass(slots=True, kw_only=True)
class Measured:
    """The output of one peer's processes, with a record for each round of ingest."""

    installed: Environment
    ingests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    query: dict[str, Any] = field(default_factory=dict[str, Any])

    def rate(self, clock: str) -> float:
        """Return the documents per second; ``clock`` is ``seconds`` or ``cpu``."""
        return median(one["stored"] / one[clock] for one in self.ingests)


async def measure(options: Options) -> Result:
    folder = options.folder(SET)
    if folder is None:
        return skipped("peers need the abstracts of scifact")
    keep, install = options.keep, not options.quick
    try:
        model = weights(keep, install=install)
    except NotInstalled as error:
        return unavailable(str(error))
    files = _files(folder, keep, QUICK_PASSAGES if options.quick else PASSAGES)
    measured: dict[str, Measured] = {}
    notes: list[str] = []
    for peer in PEERS:
        try:
            measured[peer.name] = Measured(installed=prepare(peer, keep, install=install))
        except NotInstalled as error:
            notes.append(f"{peer.name}: not measured; {error}.")
    peers = [peer for peer in PEERS if peer.name in measured]
    for number in range(1 if options.quick else ROUNDS):
        for peer in peers:
            progress(f"peers: round {number + 1}, {peer.name}")
            shutil.rmtree(_store(keep, peer), ignore_errors=True)
            _store(keep, peer).parent.mkdir(parents=True, exist_ok=True)
            own = measured[peer.name]
            own.ingests.append(_run(peer, own.installed.python, "ingest", keep, [*files, model]))
    for peer in peers:
        own = measured[peer.name]
        if error := next((one["error"] for one in own.ingests if "error" in one), None):
            del measured[peer.name]
            notes.append(f"{peer.name}: failed; {error}.")
        elif not options.quick:
            progress(f"peers: questions, {peer.name}")
            own.query = _run(peer, own.installed.python, "query", keep, [*files, model])
    return summary(measured, notes)


def _store(keep: Path, peer: Peer) -> Path:
    return keep / "stores" / peer.name


def _run(peer: Peer, python: Path, phase: str, keep: Path, files: Sequence[Path]) -> dict[str, Any]:
    """Return the line of JSON that one phase ends with, or its error."""
    command = [python, JOBS / f"{peer.script}.py", phase, _store(keep, peer), *files]
    ours = {"PYTHONPATH": str(ROOT)} if peer.name == OURS else {}
    own = {**environment(keep), **ours, "STARTED": repr(time.time())}
    done = run([str(word) for word in command], capture_output=True, text=True, check=False, env=own, timeout=SECONDS)
    if done.returncode or not done.stdout.strip():
        return {"error": (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


def _files(folder: Path, keep: Path, count: int) -> list[Path]:
    """Write passages and questions as JSONL; questions that have judged passages among these come first."""
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    passages = [
        {"id": one["id"], "title": one["title"], "text": f"{one['title']}\n{one['text']}"}
        for one in documents
        if len(one["title"]) + len(one["text"]) < LONGEST
    ][:count]
    relevant: dict[str, list[str]] = {}
    held = {one["id"] for one in passages}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split("\t")
        if document in held and grade != "0":
            relevant.setdefault(query, []).append(document)
    questions = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [{"text": one["text"], "relevant": relevant.get(one["id"], [])} for one in questions]
    asked.sort(key=lambda one: not one["relevant"])
    paths = [keep / "passages.jsonl", keep / "questions.jsonl"]
    for path, lines in zip(paths, (passages, asked[:QUESTIONS]), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return paths


def summary(measured: Mapping[str, Measured], notes: Sequence[str] = ()) -> Result:
    """Return tables of speed, size and questions, and whether the targets are met."""
    if OURS not in measured or len(measured) == 1:
        return Result(figures={"skipped": True}, notes=["SKIPPED: there is nothing to compare.", *notes])
    ours = measured[OURS]
    figures: dict[str, dict[str, Any]] = {}
    ingests: list[list[str]] = []
    questions: list[list[str]] = []
    verdicts: list[str] = []
    for name, own in measured.items():
        wall, cpu = (ours.rate(clock) / own.rate(clock) for clock in ("seconds", "cpu"))
        target = TARGETS.get(name, TARGET)
        if name != OURS:
            verdicts.append(f"{name} {wall:.1f} of {target:g}: {verdict(wall >= target)}")
        numbers = {
            "docs_per_s": round(own.rate("seconds"), 1),
            "docs_per_cpu_s": round(own.rate("cpu"), 1),
            "times_wall": round(wall, 2),
            "times_cpu": round(cpu, 2),
            "peak_mb": round(max(one["peak_mb"] for one in own.ingests)),
            "install_mb": round(own.installed.mb),
            "packages": own.installed.packages,
        }
        ingests.append([name, *(f"{value:g}" for value in numbers.values())])
        questions += [[name, *_asked(own.query)]] if own.query else []
        figures[name] = {**numbers, "query": own.query}
    columns = ["peer", "docs/s", "docs/CPU s", f"{OURS} is, times", "by CPU s", "peak MB", "installed MB", "packages"]
    tables = [Table(title="Ingest", columns=columns, rows=ingests)]
    if questions:
        columns = ["peer", "p50 ms", "without embedding", "process start to first answer s", "peak MB", "found"]
        tables.append(Table(title="Questions", columns=columns, rows=questions))
    targets = f"Target: {OURS} ingests 3 times as fast as lancedb and 4 times as the others: {'; '.join(verdicts)}."
    return Result(figures=figures, tables=tables, notes=[targets, *notes])


def _asked(query: Mapping[str, Any]) -> list[str]:
    if "error" in query:
        return [query["error"], *"----"]
    return [
        f"{query['p50_ms']:.1f}",
        f"{query['p50_without_embedding_ms']:.1f}",
        f"{query['first_s']:.2f}",
        f"{query['peak_mb']:.0f}",
        "-" if query["found"] is None else f"{query['found']:.2f}",
    ]


if __name__ == "__main__":
    main({"peers": measure}, "peers")
