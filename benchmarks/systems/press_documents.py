"""The preset `publications`: what is read, stored and found."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.common import percentile
from benchmarks.systems.feature import Room, Unavailable, expect, short
from benchmarks.systems.press import (
    QUESTION,
    SYSTEM,
    WITHIN,
    await_ready,
    needs,
    press,
    questions,
    releases,
    script,
    small,
)
from benchmarks.systems.tiny import DIMENSIONS, save_bert


@SYSTEM.feature("text files, empty and undecodable ones reported", "ragstone add releases/ --preset publications")
def text_files(room: Room) -> str:
    folder = releases(room)
    report = room.json("add", folder, "--kb", room.folder / "first", "--preset", "publications", "--json")
    files = len([*folder.rglob("*.txt")])
    expect(report["added"] == files - 1, f"{report['added']} of {files} files added")
    expect([Path(one["source"]).name for one in report["skipped"]] == ["empty.txt"], f"skipped {report['skipped']}")
    notes = {Path(one["source"]).name: one["note"] for one in report["decoded"]}
    expect(notes == {"broken.txt": "utf-8, 2 undecodable replaced"}, f"decoded {report['decoded']}")
    shown = room.ok("add", folder / "empty.txt", folder / "broken.txt", "--kb", room.folder / "shown").out
    expect("may be wrong or incomplete" in shown and "undecodable" in shown and "empty" in shown, shown)
    return f"{report['added']} files, {report['chunks']} chunks; the empty and the undecodable file are named"


@SYSTEM.feature("the same text stored once", "ragstone add releases/")
def stored_once(room: Room) -> str:
    kb = press(room)
    with sqlite3.connect(next(kb.glob("v*/catalog.db"))) as db:
        documents, texts = db.execute(
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM contents)"
        ).fetchone()
    expect(documents == texts + 1, f"{documents} documents and {texts} texts")
    copy = room.json("show", "copies/broken.txt", "--kb", kb, "--json")
    room.ok("remove", "releases/broken.txt", "--kb", kb)
    left = room.json("show", "copies/broken.txt", "--kb", kb, "--json")
    expect(left["text"] == copy["text"], "the copy went with its twin")
    room.ok("sync", releases(room), "--kb", kb)
    return f"{documents} documents share {texts} texts; removing one leaves the other"


@SYSTEM.feature("documents from and to LangChain", "from_langchain(loader.load()), RagstoneRetriever(kb=kb)")
def langchain(room: Room) -> str:
    needs("langchain_core", "langchain-core")
    code = """
import sys
from pathlib import Path
from langchain_core.documents import Document as Theirs
from ragstone import Ragstone
from ragstone.serve.langchain import RagstoneRetriever, from_langchain, to_langchain
files = Path(sys.argv[1]).glob("*.txt")
texts = [Theirs(page_content=one.read_text(), metadata={"source": one.name, "n": 3}) for one in files]
own = from_langchain(texts)
assert from_langchain([to_langchain(one) for one in own]) == own
kb = Ragstone("langchain", preset="publications")
kb.add(*own)
found = RagstoneRetriever(kb=kb, k=2).invoke(sys.argv[2])
assert len(found) == 2 and all(isinstance(one, Theirs) for one in found), found
assert all({"language", "word_count", "topics"} <= set(one.metadata) for one in found), found[0].metadata
print(len(own), found[0].metadata["source"], sorted(set(found[0].metadata) & {"chunk_index", "total_chunks", "n"}))
kb.close()
"""
    small(room)
    told = script(room, code, room.folder / "few", "What is open RAN?").strip()
    expect("['chunk_index', 'n', 'total_chunks']" in told, told)
    return f"documents, first source, its fields: {told}"


@SYSTEM.feature("metadata of each release", "ragstone show RELEASE --json")
def metadata(room: Room) -> str:
    shown = room.json("show", "copies/broken.txt", "--kb", press(room), "--json")
    facts = shown["metadata"]
    expect(facts["publication_id"] == "broken" and facts["source"] == "Deutsche Telekom", f"{facts}")
    expect(facts["content_hash"] == hashlib.sha256(shown["text"].encode()).hexdigest(), "the hash is another")
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", facts["extracted_at"]), f"{facts}")
    expect(facts["word_count"] == len(shown["text"].split()), f"{facts['word_count']} words")
    expect(facts["mentioned_dates"] == ["2024-03-12"], f"dates {facts['mentioned_dates']}")
    expect("Microsoft Corporation" in facts["mentioned_companies"], f"companies {facts['mentioned_companies']}")
    expect(facts["topics"] == ["5G"], f"topics {facts['topics']}")
    return ", ".join(sorted(facts))


# ---------------------------------------------------------------- chunks and search


@SYSTEM.feature("chunks of 800 characters with stable ids", "ragstone search QUESTION --json")
def chunks(room: Room) -> str:
    def found(kb: Path) -> list[dict[str, Any]]:
        return room.json("search", "open RAN", "-k", "15", "--kb", kb, "--json")["hits"]

    first, again = found(small(room)), found(room.added("again", room.folder / "few"))
    expect([one["chunk_id"] for one in first] == [one["chunk_id"] for one in again], "other ids the second time")
    expect(max(len(one["text"]) for one in first) <= 800, "a chunk is longer than 800")
    for one in first:
        facts = one["metadata"]
        expect(facts["doc_id"] == one["document_id"] and facts["chunk_id"] == one["chunk_id"], f"{facts}")
        expect(0 <= facts["chunk_index"] < facts["total_chunks"] and "publication_id" in facts, f"{facts}")
    spans = sorted((one["document_id"], one["start"], one["end"]) for one in first)
    overlaps = [a[2] - b[1] for a, b in pairwise(spans) if a[0] == b[0] and b[1] < a[2]]
    expect(overlaps and max(overlaps) <= 150, f"overlaps {overlaps}")
    return f"{len(first)} chunks, overlaps up to {max(overlaps)}, the same ids in a second knowledge base"


@SYSTEM.feature("filters on topics, publication and dates", "ragstone search QUESTION --where 'topics = 5G'")
def filters(room: Room) -> str:
    def found(where: str) -> list[dict[str, Any]]:
        hits = room.json("search", "network", "--kb", press(room), "--where", where, "--json")["hits"]
        expect(hits, f"nothing matches {where}")
        return [one["metadata"] for one in hits]

    expect(all("5G" in one["topics"] for one in found("topics = 5G")), "another topic")
    expect({one["publication_id"] for one in found("publication_id = broken")} == {"broken"}, "another release")
    expect({one["publication_id"] for one in found("publication_id = 253")} == {"253"}, "253 is another release")
    expect(found("mentioned_dates = 12.03.2024") == found("mentioned_dates = 2024-03-12"), "a date in German differs")
    nothing = room.ok("search", "network", "--kb", press(room), "--where", "publication_id = 999999").all
    expect("values of 'publication_id' are" in nothing, f"without a match it says: {nothing}")
    dated = found("mentioned_dates >= 2023-01-01 and mentioned_dates < 2024-01-01")
    expect(all(any(day >= "2023" for day in one["mentioned_dates"]) for one in dated), "an earlier date")
    return "each filter gives only what it names; without a match the values are named"


@SYSTEM.feature("Chroma as the vector store", "ragstone status")
def chroma(room: Room) -> str:
    needs("chromadb", "chromadb")
    status = room.json("status", "--kb", press(room), "--json")
    (engine,) = [one for one in status["engines"] if one["leg"] == "vectors"]
    expect(engine["engine"].startswith("chroma") and not engine["problem"] and not engine["behind"], f"{engine}")
    expect("chroma" not in " ".join(status["substitutes"]), f"{status['substitutes']}")
    finding = room.run("doctor", "--kb", press(room))
    expect(finding.status == 0, short(finding.all))
    return f"{engine['engine']}, {status['chunks']} chunks, doctor finds no difference"


@SYSTEM.feature("five results out of ten reranked", "ragstone search QUESTION --explain")
def reranked(room: Room) -> str:
    shown = room.json("search", QUESTION, "--kb", press(room), "--explain", "--json")["hits"]
    expect(len(shown) == 5, f"{len(shown)} results")
    stages = {step["stage"] for one in shown for step in one["why"]}
    ranks = [step["rank"] for one in shown for step in one["why"] if step["stage"] == "fusion"]
    expect("maxsim" in stages and max(ranks) <= 10, f"stages {stages}, ranks before reranking {ranks}")
    return f"ranks before reranking: {ranks}"


@SYSTEM.feature("at most 20 results for evidence", "ragstone search QUESTION --set rank.top_k=21")
def at_most_twenty(room: Room) -> str:
    refused = room.run("search", QUESTION, "--kb", press(room), "--set", "rank.top_k=21")
    expect(refused.status and "20" in refused.err, f"21 was accepted: {short(refused.all)}")
    return short(refused.err)


@SYSTEM.feature(
    "any sentence-transformers model by name", "ragstone add --set index.embedder=sentence-transformers:NAME"
)
def sentence_transformers(room: Room) -> str:
    needs("sentence_transformers", "sentence-transformers")
    model = room.folder / "tiny-embedder"
    save_bert(model, head=False)
    small(room)
    kb, name = room.folder / "by-name", f"index.embedder=sentence-transformers:{model}"
    report = room.json("add", "few", "--kb", kb, "--preset", "publications", "--set", name, "--json")
    hits = room.json("search", "a cat sleeps", "--kb", kb, "--json")["hits"]
    expect(report["embedded"] and hits, f"{report['embedded']} embedded, {len(hits)} found")
    with sqlite3.connect(next(kb.glob("v*/catalog.db"))) as db:
        (size,) = db.execute("SELECT max(length(value)) FROM vectors").fetchone()
    expect(size == 4 * DIMENSIONS, f"vectors of {size // 4} dimensions, but the model has {DIMENSIONS}")
    return f"a tiny model made here embedded {report['embedded']} chunks; multilingual-e5-large itself needs the hub"


@SYSTEM.feature("a cross-encoder by name", "ragstone search --set rank.reranker=cross-encoder:NAME")
def cross_encoder(room: Room) -> str:
    needs("sentence_transformers", "sentence-transformers")
    model = room.folder / "tiny-cross-encoder"
    save_bert(model, head=True)
    words = ("search", "a cat sleeps", "--kb", small(room), "--explain", "--json")
    hits = room.json(*words, "--set", f"rank.reranker=cross-encoder:{model}")["hits"]
    scores = [step["score"] for one in hits for step in one["why"] if step["stage"].startswith("cross_encoder")]
    expect(len(scores) == len(hits) > 1, f"stages {[step['stage'] for step in hits[0]['why']]}")
    return f"{len(scores)} pairs scored by a tiny model made here; ms-marco-MiniLM itself needs the hub"


@SYSTEM.feature("search within the latencies", "curl -d '{\"question\": ...}' localhost:8000/query")
def latencies(room: Room) -> str:
    # No question is asked twice, so the cache answers none.
    texts = [text.read_text(encoding="utf-8", errors="replace") for text in sorted(releases(room).glob("*.txt"))]
    asked = [" ".join(text.split()[:12]) for text in texts if text.strip()][: 12 if room.quick else 60]
    times: dict[str, list[float]] = {name: [] for name in WITHIN}
    with room.serving(press(room), "--set", "rank.budget_ms=0") as site:
        await_ready(site)
        for question in questions(room).values():
            site.post("/query", {"question": question})
        for question in asked:
            answer = site.post("/query", {"question": question}).json()
            expect("search" not in answer["usage"]["cached"], "the cache answered")
            spent = answer["timings_ms"]
            times["search"].append(spent["search"])
            times["rank"].append(spent["rank"])
            times["retrieval"].append(spent["open"] + spent["search"] + spent["rank"])
    median = {name: percentile(some, 50) for name, some in times.items()}
    told = ", ".join(f"{name} {ms:.0f} ms" for name, ms in median.items())
    told = f"{told} at the median of {len(times['rank'])}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    missed = any(median[name] > most for name, most in WITHIN.items())
    if missed and os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1):
        raise Unavailable(f"other work runs on this machine: {told}")
    expect(not missed, told)
    return told
