"""What the scripts of all peers share. Each runs in an environment of its own, which knows nothing of the others.

    python NAME.py PHASE FOLDER PASSAGES QUESTIONS MODEL [ACKNOWLEDGED]

does one phase with the store in FOLDER and ends with a line of JSON. Such a script gives `run` a class:

    Store(folder, model)     opens what is in the folder, or makes it
    embed(question)          the vector of a question and nothing else, with the peer's own embedder
    add(passages)            what the peer's documentation calls for adding documents
    save()                   only where nothing is durable before it
    finish()                 only where the documentation calls for it after many documents
    search(question)         ids of the ten best, by keywords and vectors where the peer has both
    stored()                 (id, text) of everything it holds, as often as it holds it
    update(passage)          puts a changed text in the place of the old one; UPDATE names the calls

The model is loaded before any clock starts, except in `query`, where the time from the start of the process to the
first answer is a result.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path
from statistics import median

BATCH = 100
KILL_BATCH = 25
WARM = "What is this about?"


def run(store):
    """Do the phase the command line asks for, on two processors."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    phase, folder, passages, questions, model, *acknowledged = sys.argv[1:]
    passages, questions = _lines(passages), _lines(questions)
    if phase == "query":
        result = query(store, Path(folder), Path(model), questions)
    else:
        try:
            opened = store(Path(folder), Path(model))
        except Exception as error:  # a result, too: what a kill has left may be unreadable
            result = {"error": repr(error)[:200]}
        else:
            if phase == "ingest":
                result = ingest(opened, passages)
            elif phase == "again":
                result = again(opened, passages)
            elif phase == "kill":
                result = kill(opened, passages)
            else:
                result = inspect(opened, passages, int(acknowledged[0]))
    print("\n" + json.dumps(result), flush=True)
    os._exit(0)  # threads of a peer may wait for ever


def ingest(opened, passages):
    opened.embed(WARM)
    seconds, cpu = _timed(lambda: _add(opened, passages, BATCH))
    return {"seconds": seconds, "cpu": cpu, "peak_mb": peak_mb(), "stored": len(opened.stored())}


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


def again(opened, passages):
    """One document with another text, and then the first ones, which have not changed, a second time."""
    opened.embed(WARM)
    changed = {**passages[-1], "text": "The harbour opens at seven, said the new notice."}
    result = {"update": opened.UPDATE, "updated": False, "update_error": "", "error": ""}
    try:
        result["update_s"], _ = _timed(lambda: _change(opened, changed))
        texts = [text for id, text in opened.stored() if id == changed["id"]]
        result["updated"] = (
            texts == [changed["text"]] and _first(opened, "When does the harbour open?") == changed["id"]
        )
    except Exception as raised:
        result["update_error"] = _named(raised)
    result["held"] = len(opened.stored())
    try:
        result["seconds"], result["cpu"] = _timed(lambda: _add(opened, passages[:BATCH], BATCH))
    except Exception as raised:
        result["error"] = _named(raised)
    result["after"] = len(opened.stored())
    try:
        _first(opened, WARM)
        result["answers"] = True
    except Exception as raised:
        result["answers"] = False
        result["error"] += f"; then a question fails: {_named(raised)}"
    return result


def kill(opened, passages):
    """Say before each batch that it is being written, and afterwards that it is stored, until killed."""
    opened.embed(WARM)
    separate = hasattr(opened, "save")
    for start in range(0, len(passages), KILL_BATCH):
        batch = passages[start : start + KILL_BATCH]
        if separate:
            opened.add(batch)
        print(f"writing {start}", flush=True)
        opened.save() if separate else opened.add(batch)
        print(f"stored {start + len(batch)}", flush=True)
    return {}


def inspect(opened, passages, acknowledged):
    """What is there of the documents that had been acknowledged, and of those that were under way."""
    texts = {passage["id"]: passage["text"] for passage in passages}
    try:
        held = opened.stored()
        answers = len(opened.search(WARM))
    except Exception as error:
        return {"error": repr(error)[:200]}
    ids = [id for id, _ in held]
    wanted = [passage["id"] for passage in passages[:acknowledged]]
    return {
        "lost": len(set(wanted) - set(ids)),
        "half": sum(text != texts.get(id) for id, text in held) + len(ids) - len(set(ids)),
        "more": len(set(ids) - set(wanted)),
        "answers": answers,
    }


def peak_mb():
    """The most memory this process has had resident. getrusage would count what the parent had before exec."""
    status = Path("/proc/self/status")
    if status.is_file():
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def _add(opened, passages, size):
    for start in range(0, len(passages), size):
        opened.add(passages[start : start + size])
    for last in ("save", "finish"):
        if hasattr(opened, last):
            getattr(opened, last)()


def _first(opened, question):
    return opened.search(question)[0]


def _named(raised):
    return f"{type(raised).__name__}: {raised}"[:80]


def _change(opened, passage):
    opened.update(passage)
    if hasattr(opened, "save"):
        opened.save()


def _timed(work):
    wall, cpu = time.perf_counter(), _cpu()
    work()
    return time.perf_counter() - wall, _cpu() - cpu


def _cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
