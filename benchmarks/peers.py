"""Whole peers on the same job, each in its own environment: the same passages, the same model, two threads.

Passages are abstracts of SciFact of at most 1,000 characters, so that each is one chunk for everybody. The weights are
those of all-MiniLM-L6-v2, in float32; Ragstone's copy was rounded to 8 bits before (cosine .9995), and with its extra
`fast` it calculates in bfloat16. Each peer is driven as its documentation shows for a store on a local disk: its own
embedder where it has one, else sentence-transformers, hybrid search where it has it, and batches of 100 passages.
Scripts of a few lines in `peer_jobs` say how, one for each.

What is measured, each in a new process:

- ingest: documents per second and per CPU second, the model being loaded before; several rounds, one peer after the
  other in each, so that all see the same machine; the median counts. Peers that keep everything in memory save once, at
  the end.
- questions: from the start of a process to the first answer; then the median time of a question, and that less the
  time the peer's own embedder takes for the same question.
- kill: the process is killed with SIGKILL at chosen shares of the time a write takes, after some batches. What its own
  call had returned for counts as acknowledged; peers with a separate call for saving save after every batch.
- again: the first 100 passages added a second time, and the text of one changed.

Installed size is the sum over all that pip brought into a new environment. Peers on torch get its build for CPUs;
pip's default on Linux would bring gigabytes of CUDA, which are not held against them.
"""

from __future__ import annotations

import io
import json
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common import ROOT, Options, Result, Table, main, skipped, told
from benchmarks.peer_environments import JOBS, Environment, NotInstalled, Peer, environment, prepare, weights

SET = Path("scifact") / "dev"
LONGEST = 1000
PASSAGES, QUICK_PASSAGES = 300, 30
QUESTIONS = 100
ROUNDS = 2
SHARES = (0.3, 0.8)
"""When, in the time that a write takes, the process is killed."""
BEFORE = 4
"""Writes that are let pass before."""
SECONDS = 900
OURS = "ragstone"
PEERS = (
    Peer(name=OURS, script="ragstone_job", requires=[str(ROOT)]),
    Peer(name="lancedb", script="lancedb_job", requires=["lancedb", "onnxruntime", "tokenizers"],
         settings={"EMBEDDER": "onnx"}),
    Peer(name="lancedb-st", script="lancedb_job", requires=["lancedb", "sentence-transformers"]),
    Peer(name="chromadb", script="chromadb_job", requires=["chromadb"]),
    Peer(name="txtai", script="txtai_job", requires=["txtai"]),
    Peer(name="haystack", script="haystack_job", requires=["haystack-ai", "sentence-transformers-haystack"]),
    Peer(name="llama-index", script="llama_index_job",
         requires=["llama-index-core", "llama-index-embeddings-huggingface", "llama-index-retrievers-bm25"]),
    Peer(name="langchain+faiss", script="langchain_job",
         requires=["langchain", "langchain-classic", "langchain-community", "langchain-huggingface",
                   "sentence-transformers", "faiss-cpu", "rank-bm25"]),
)  # fmt: skip
FAST = Peer(name="ragstone-fast", script="ragstone_job", requires=[f"{ROOT}[fast]"])
NOT_MEASURED = "haiku.rag: not measured; it needs Python 3.12 or newer, and no job was written for it."
TARGETS = {"lancedb": 3.0}
TARGET = 4.0
"""Documents per second of the fastest Ragstone there is, in multiples of the peer's."""


@dataclass(slots=True, kw_only=True)
class Measured:
    """What one peer's processes said: a record for each round of ingest and for each kill."""

    installed: Environment
    ingests: list[dict[str, Any]] = field(default_factory=list)
    query: dict[str, Any] = field(default_factory=dict)
    again: dict[str, Any] = field(default_factory=dict)
    kills: list[dict[str, Any]] = field(default_factory=list)

    def rate(self, clock: str) -> float:
        """Documents per second; ``clock`` is ``seconds`` or ``cpu``."""
        return median(one["stored"] / one[clock] for one in self.ingests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The files every process is given, and where stores are made."""

    keep: Path
    model: Path
    passages: Path
    questions: Path

    def command(self, peer: Peer, python: Path, phase: str, folder: Path, *more: str) -> list[str]:
        script = JOBS / f"{peer.script}.py"
        files = [folder, self.passages, self.questions, self.model]
        return [str(part) for part in (python, script, phase, *files, *more)]

    def environment(self, peer: Peer) -> dict[str, str]:
        ours = {"PYTHONPATH": str(ROOT)} if peer.script.startswith(OURS) else {}
        return {**environment(self.keep), **peer.settings, **ours, "STARTED": repr(time.time())}

    def run(self, peer: Peer, python: Path, phase: str, folder: Path, *more: str) -> dict[str, Any]:
        """The line of JSON that one phase ends with, or its error."""
        command = self.command(peer, python, phase, folder, *more)
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, env=self.environment(peer), timeout=SECONDS
        )
        if run.returncode or not run.stdout.strip():
            return {"error": (run.stderr.strip() or f"exit status {run.returncode}").splitlines()[-1][:200]}
        return json.loads(run.stdout.splitlines()[-1])


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("peers")
    keep = options.keep.absolute()
    try:
        model = weights(keep, install=not options.quick)
    except NotInstalled as error:
        return Result(figures={"skipped": True}, notes=[f"SKIPPED: peers. {error}"])
    job = _job(options, keep, model)
    measured, notes = {}, [NOT_MEASURED]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    peers = [*([FAST] if "fast" in extras else []), *PEERS]
    for peer in peers:
        try:
            measured[peer.name] = Measured(installed=prepare(peer, keep, install=not options.quick))
        except NotInstalled as error:
            notes.append(f"{peer.name}: not measured; {error}.")
    peers = [peer for peer in peers if peer.name in measured]
    for number in range(1 if options.quick else ROUNDS):
        for peer in peers:
            told(f"round {number + 1}: {peer.name}")
            own = measured[peer.name]
            own.ingests.append(job.run(peer, own.installed.python, "ingest", _new(keep, peer)))
    for peer in peers:
        own = measured[peer.name]
        if error := next((one["error"] for one in own.ingests if "error" in one), None):
            del measured[peer.name]
            notes.append(f"{peer.name}: failed; {error}.")
        elif not options.quick:
            told(f"questions, kills: {peer.name}")
            own.query = job.run(peer, own.installed.python, "query", _folder(keep, peer))
            own.again = job.run(peer, own.installed.python, "again", _folder(keep, peer))
            own.kills = [_killed(job, peer, own.installed.python, share) for share in SHARES]
    return summary(measured, notes)


def _folder(keep: Path, peer: Peer) -> Path:
    return keep / "stores" / peer.name


def _new(keep: Path, peer: Peer) -> Path:
    """Where a peer's store is to be; nothing is there."""
    folder = _folder(keep, peer)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder


def _killed(job: Job, peer: Peer, python: Path, share: float) -> dict[str, Any]:
    """Kill an ingest within a write, and look at what is left with a new process."""
    folder = _new(job.keep, peer)
    took: list[float] = []
    acknowledged = 0
    with subprocess.Popen(
        job.command(peer, python, "kill", folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=job.environment(peer),
    ) as process:
        began = time.perf_counter()
        for line in process.stdout or ():
            word, _, number = line.strip().partition(" ")
            if word == "writing":
                began = time.perf_counter()
                if len(took) == BEFORE:
                    time.sleep(share * took[-1])
                    process.send_signal(signal.SIGKILL)
            elif word == "stored":  # one that came while the signal was on its way counts, too
                took.append(time.perf_counter() - began)
                acknowledged = int(number)
    return {"acknowledged": acknowledged, **job.run(peer, python, "inspect", folder, str(acknowledged))}


def _job(options: Options, keep: Path, model: Path) -> Job:
    """The passages and questions as JSONL; the questions with judged passages among these come first."""
    folder = (options.data or Path()) / SET
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    passages = [
        {"id": one["id"], "title": one["title"], "text": f"{one['title']}\n{one['text']}"}
        for one in documents
        if len(one["title"]) + len(one["text"]) < LONGEST
    ][: QUICK_PASSAGES if options.quick else PASSAGES]
    relevant: dict[str, list[str]] = {}
    held = {one["id"] for one in passages}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split("\t")
        if document in held and grade != "0":
            relevant.setdefault(query, []).append(document)
    questions = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [{"text": one["text"], "relevant": relevant.get(one["id"], [])} for one in questions]
    asked.sort(key=lambda one: not one["relevant"])
    files = Job(keep=keep, model=model, passages=keep / "passages.jsonl", questions=keep / "questions.jsonl")
    for path, lines in ((files.passages, passages), (files.questions, asked[:QUESTIONS])):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return files


# ---------------------------------------------------------------- what it amounts to


def summary(measured: dict[str, Measured], notes: Sequence[str] = ()) -> Result:
    """Tables of speed, size and what became of the documents, and whether the targets are met."""
    own_names = [name for name in measured if name.startswith(OURS)]
    if not own_names or len(own_names) == len(measured):
        return Result(figures={"skipped": True}, notes=["SKIPPED: peers. There is nothing to compare.", *notes])
    best = max(own_names, key=lambda name: measured[name].rate("seconds"))
    ours, verdicts = measured[best], []
    figures: dict[str, Any] = {}
    rows: dict[str, list[list[str]]] = {"ingest": [], "questions": [], "kept": []}
    for name, own in measured.items():
        wall, cpu = (ours.rate(clock) / own.rate(clock) for clock in ("seconds", "cpu"))
        target = TARGETS.get(name.removesuffix("-st"), TARGET)
        if not name.startswith(OURS):
            verdicts.append(f"{name} {wall:.1f} of {target:g}: {'met' if wall >= target else 'MISSED'}")
        figures[name] = {
            "docs_per_s": round(own.rate("seconds"), 1),
            "docs_per_cpu_s": round(own.rate("cpu"), 1),
            "times_wall": round(wall, 2),
            "times_cpu": round(cpu, 2),
            "peak_mb": round(max(one["peak_mb"] for one in own.ingests)),
            "install_mb": round(own.installed.mb),
            "packages": own.installed.packages,
            "query": own.query,
            "again": own.again,
            "kills": own.kills,
        }
        short = figures[name]
        rows["ingest"].append([name, *(f"{short[key]:g}" for key in list(short)[:7])])
        if own.query:
            rows["questions"].append([name, *_asked(own.query)])
            rows["kept"].append([name, *kept(own)])
    columns = {
        "ingest": ["docs/s", "docs/CPU s", f"{best} is, times", "by CPU s", "peak MB", "installed MB", "packages"],
        "questions": ["p50 ms", "without embedding", "restart to first answer s", "peak MB", "found"],
        "kept": ["after kill -9", "added twice", "changed by"],
    }
    titles = {
        "ingest": f"Ingest, medians of {max(len(one.ingests) for one in measured.values())}",
        "questions": "Questions",
        "kept": f"{len(SHARES)} kills in a write, the same twice, and a change",
    }
    tables = [
        Table(title=titles[part], columns=["peer", *columns[part]], rows=lines) for part, lines in rows.items() if lines
    ]
    target = (
        f"Target: {best} ingests at least 3 times as fast as lancedb and 4 times as the others: {'; '.join(verdicts)}."
    )
    return Result(figures=figures, plot=_plot(figures), tables=tables, notes=[target, *notes])


def _asked(query: dict[str, Any]) -> list[str]:
    if "error" in query:
        return [query["error"], *"----"]
    alone, found = query["p50_without_embedding_ms"], query["found"]
    return [
        f"{query['p50_ms']:.1f}",
        f"{alone:.1f}",
        f"{query['first_s']:.2f}",
        f"{query['peak_mb']:.0f}",
        "-" if found is None else f"{found:.2f}",
    ]


def kept(own: Measured) -> list[str]:
    """In words: what the kills left, what came of adding twice, and what a change called for."""
    unreadable = sum("error" in one for one in own.kills)
    said = [f"{unreadable} of {len(own.kills)} unreadable" if unreadable else "always readable"]
    for key, word in (("lost", "acknowledged lost"), ("half", "damaged or double")):
        if count := sum(one.get(key, 0) for one in own.kills):
            said.append(f"{count} {word}")
    if not unreadable and len(said) == 1:
        said.append("all acknowledged there")
    again = own.again
    if again.get("error"):
        twice = f"refused: {again['error']}" if "held" in again else again["error"]
    elif again["after"] > again["held"]:
        twice = f"{again['after'] - again['held']} duplicates"
    else:
        twice = f"no duplicates, {again['cpu']:.2f} CPU s"
    change = again.get("update_error") or again.get("update", "-")
    if again.get("updated") is False:
        change += "; the old text is still found"
    return [", ".join(said), twice, change]


def _plot(figures: dict[str, dict[str, Any]]) -> str:
    """Documents per second, and megabytes installed, a bar for each."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "ragstone"
    names = list(reversed(figures))
    figure, both = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
    for axes, key, label in zip(
        both, ("docs_per_s", "install_mb"), ("documents ingested a second", "MB installed"), strict=True
    ):
        values = [figures[name][key] for name in names]
        colours = ["tab:blue" if name.startswith(OURS) else "tab:gray" for name in names]
        axes.bar_label(axes.barh(names, values, color=colours), fmt="%.0f", padding=2)
        axes.set(xlabel=label)
        axes.margins(x=0.15)
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()


if __name__ == "__main__":
    main({"peers": measure}, "peers")
