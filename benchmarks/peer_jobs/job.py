"""What the scripts of all peers share. Each runs in an environment of its own, without the others.

    python NAME.py PHASE FOLDER PASSAGES QUESTIONS MODEL

runs one phase on the store in FOLDER and ends with a line of JSON. A script gives `run` a class:

    Store(folder, model)     opens the store in the folder, or makes it
    embed(question)          returns the vector of a question, from the peer's own embedder
    add(passages)            adds documents as the peer's documentation shows
    save()                   only if nothing is durable before it
    finish()                 only if the documentation calls for it after many documents
    search(question)         returns ids of the ten best, by keywords and vectors if the peer has both

The model is loaded before any clock starts, except in `query`, which reports the time from the start of the process to
the first answer.
"""

# pyright: basic, reportMissingImports=false
# This runs in the environments of the peers.

import json
import os
import resource
import sys
import time
from pathlib import Path
from statistics import median

BATCH = 100
WARM = "What is this about?"


def run(store):
    """Run the phase that the command line names, on two processors."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    phase, folder, passages, questions, model = sys.argv[1:]
    if phase == "query":
        result = query(store, Path(folder), Path(model), _lines(questions))
    else:
        result = ingest(store(Path(folder), Path(model)), _lines(passages))
    print("\n" + json.dumps(result), flush=True)
    os._exit(0)  # threads of a peer may never end


def ingest(opened, passages):
    opened.embed(WARM)
    wall, cpu = time.perf_counter(), _cpu()
    for start in range(0, len(passages), BATCH):
        opened.add(passages[start : start + BATCH])
    for last in ("save", "finish"):
        if hasattr(opened, last):
            getattr(opened, last)()
    seconds = {"seconds": time.perf_counter() - wall, "cpu": _cpu() - cpu}
    return {**seconds, "stored": len(passages), "peak_mb": peak_mb()}


def query(store, folder, model, questions):
    opened = store(folder, model)
    opened.search(questions[0]["text"])
    first = time.time() - float(os.environ["STARTED"])
    whole, alone, found, judged = [], [], 0, 0
    for question in questions:
        before = time.perf_counter()
        ids = opened.search(question["text"])
        between = time.perf_counter()
        opened.embed(question["text"])
        whole.append(between - before)
        alone.append(time.perf_counter() - between)
        judged += bool(question["relevant"])
        found += bool(set(question["relevant"]) & set(ids))
    return {
        "first_s": first,
        "p50_ms": 1000 * median(whole),
        "p50_without_embedding_ms": 1000 * median(one - other for one, other in zip(whole, alone, strict=True)),
        "found": found / judged if judged else None,
        "peak_mb": peak_mb(),
    }


def peak_mb():
    """Return the peak memory of this process. getrusage would include the parent's before exec."""
    status = Path("/proc/self/status")
    if status.is_file():
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def _cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
