"""The preset `knowledge-base`: how it cuts, indexes and finds."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from benchmarks.systems.articles import (
    ADA,
    FEW,
    QUESTION,
    articles,
    bare,
    close,
    hits,
    hosted,
    keys,
    step,
    write,
)
from benchmarks.systems.feature import Room, System, Unavailable, expect
from servers.openai_server import hashed

SEARCH = System(preset="knowledge-base", data=("covid_faq_kb",))


# ---------------------------------------------------------------- chunks and indexes


@SEARCH.feature("three ways to cut, with exact spans", "ragstone add --chunk-strategy paragraph --chunk-size 300")
def chunking(room: Room) -> str:
    rows = [row for row in articles(room) if row[0] == "id" or len(row[2]) > 900][:13]
    source = write(room.folder / "long.csv", rows)
    seen = list[str]()
    for strategy in ("sliding_window", "sentence", "paragraph"):
        options = ("--chunk-strategy", strategy, "--chunk-size", "300", "--chunk-overlap", "60")
        kb = room.added(f"cut-{strategy}", source, *options, "--set", "index.embedder=auto")
        found = room.json("search", "Corona", "--kb", kb, "--json", "-k", "400", "--no-reranking")["hits"]
        whole = {row[0]: room.json("show", row[0], "--kb", kb, "--json") for row in rows[1:]}
        for hit in found:
            document = whole[hit["document_id"].rpartition("#")[2]]
            expect(hit["text"] == document["text"][hit["start"] : hit["end"]], f"{strategy}: a span is not the text")
            expect(len(hit["text"]) <= 300, f"{strategy}: a chunk of {len(hit['text'])} characters")
            expect(document["metadata"].items() <= hit["metadata"].items(), f"{strategy}: a chunk lacks metadata")
        for id, document in whole.items():
            own = sorted((hit["start"], hit["end"]) for hit in found if hit["document_id"].endswith(f"#{id}"))
            repeated = [a[1] - b[0] for a, b in itertools.pairwise(own)]
            expect(all(0 < -gap < 3 or gap <= 60 for gap in repeated), f"{strategy}: overlaps of {repeated}")
            if strategy == "sliding_window":
                starts = [start for start, _ in own]
                expect(starts == [240 * n for n in range(len(own))], f"{id}: windows start at {starts}")
            expect(own[0][0] == 0 and own[-1][1] == len(document["text"]), f"{strategy}: an end of {id} is missing")
        seen.append(f"{strategy} {len(found)}")
    return f"12 articles, chunks of at most 300 characters: {', '.join(seen)}"


@SEARCH.feature("exact inner product search", "ragstone search --retrieval-method vector --explain")
def exact(room: Room) -> str:
    kb = bare(room)
    spelled = ("--set", "query.spelling=false")  # the question is embedded as it is
    found = hits(room, kb, QUESTION, "--retrieval-method", "vector", "--no-reranking", "-k", "20", *spelled)
    cosines = [float(hashed(QUESTION, ADA) @ hashed(hit["text"], ADA)) for hit in found]
    expect(close([step(hit, "vector") for hit in found], cosines), "the scores are not the inner products")
    expect(cosines == sorted(cosines, reverse=True), "they are not in order")
    every = sorted(float(hashed(QUESTION, ADA) @ hashed(row[2], ADA)) for row in articles(room)[1 : FEW + 1])
    expect(cosines[0] >= every[-1] - 1e-4, "the best was not found")
    return f"{len(found)} scores equal the products of the L2-normalised vectors, from {cosines[0]:.3f} down"


@SEARCH.feature("approximate indexes to choose from", "ragstone search --set index.vectors=faiss:HNSW")
def approximate(room: Room) -> str:
    if not find_spec("faiss"):
        raise Unavailable("faiss-cpu is not installed")
    kb, shares = hosted(room), list[str]()
    options = ("--retrieval-method", "vector", "--no-reranking", "-k", "10")
    best = {hit["chunk_id"] for hit in hits(room, kb, QUESTION, *options)}
    for kind in ("HNSW", "IVF", "PQ"):
        found = {hit["chunk_id"] for hit in hits(room, kb, QUESTION, *options, "--set", f"index.vectors=faiss:{kind}")}
        expect(len(best & found) >= 5, f"{kind} finds {len(best & found)} of the 10 best")
        shares.append(f"{kind} {len(best & found)}")
    return f"of the 10 best of Flat: {', '.join(shares)}"


@SEARCH.feature("BM25 with k1 and b", "ragstone search --retrieval-method bm25 --set index.k1=1.5")
def bm25(room: Room) -> str:
    kb, question = bare(room), "Wer ist besonders gefährdet?"
    documents = [(row[0], re.findall(r"[^\W_]+", row[2].lower())) for row in articles(room)[1 : FEW + 1]]
    documents = [(id, words) for id, words in documents if len(" ".join(words)) < 900]  # which have one chunk
    seen = list[str]()
    for k1, b in ((1.2, 0.75), (1.6, 0.4)):
        chosen = ("--set", f"index.k1={k1}", "--set", f"index.b={b}", "--set", "query.spelling=false")
        found = hits(room, kb, question, "--retrieval-method", "bm25", "--no-reranking", "-k", "10", *chosen)
        total = room.json("status", "--kb", kb, "--json", **keys())["chunks"]
        expected = scores(room, kb, question, k1, b, total)
        pairs = [(step(hit, "bm25"), expected.get(hit["text"], 0.0)) for hit in found]
        off = max(abs(mine - theirs) / theirs for mine, theirs in pairs)
        expect(off < 0.03, f"k1 {k1}, b {b}: scores differ by {off:.1%}")
        seen.append(f"k1 {k1}, b {b} within {off:.1%}")
    return f"{len(documents)} articles, computed again from the formula: {'; '.join(seen)}"


def scores(room: Room, kb: Path, question: str, k1: float, b: float, total: int) -> dict[str, float]:
    """Return the BM25 score of each chunk by its text, with Lucene's idf."""
    every = room.json("search", "corona", "--kb", kb, "--json", "-k", "999", "--no-reranking",
                      "--retrieval-method", "vector", **keys())["hits"]  # fmt: skip
    expect(len(every) >= total * 0.95, f"{len(every)} of {total} chunks were listed")
    words = {hit["text"]: Counter(re.findall(r"[^\W_]+", hit["text"].lower())) for hit in every}
    average = sum(one.total() for one in words.values()) / len(words)
    out = dict.fromkeys(words, 0.0)
    for term in re.findall(r"[^\W_]+", question.lower()):
        count = sum(term in one for one in words.values())
        idf = math.log(1 + (len(words) - count + 0.5) / (count + 0.5))
        for text, one in words.items():
            length = k1 * (1 - b + b * one.total() / average)
            out[text] += idf * one[term] * (k1 + 1) / (one[term] + length) if one[term] else 0.0
    return out


# ---------------------------------------------------------------- retrieval


@SEARCH.feature("hybrid search, min-max normalised and weighted", "ragstone search --explain")
def fused(room: Room) -> str:
    kb, twenty = hosted(room), ("--set", "query.fetch_k=20", "--no-reranking")
    legs: dict[str, dict[str, float]] = {}
    for name in ("vector", "bm25"):
        found = hits(room, kb, QUESTION, "--retrieval-method", name, "-k", "20", *twenty)
        raw = {hit["chunk_id"]: step(hit, name) for hit in found}
        low, high = min(raw.values()), max(raw.values())
        legs[name] = {id: (score - low) / (high - low) for id, score in raw.items()}
    for weight in (0.7, 0.4):
        ids = legs["vector"].keys() | legs["bm25"].keys()
        expected = {
            id: weight * legs["vector"].get(id, 0) + (1 - weight) * legs["bm25"].get(id, 0) for id in ids
        }  # fmt: skip
        found = hits(room, kb, QUESTION, "-k", "5", "--vector-weight", str(weight), *twenty)
        best = sorted(expected.values(), reverse=True)[:5]
        expect(close([hit["score"] for hit in found], best, 1e-3), f"{[hit['score'] for hit in found]}, not {best}")
    both = len(legs["vector"].keys() & legs["bm25"].keys())
    return f"{len(ids)} chunks of two lists of 20, {both} in both; 0.7 to 0.3 and 0.4 to 0.6 computed again"


@SEARCH.feature("a threshold on the cosine", "ragstone search --set query.threshold=0.35")
def threshold(room: Room) -> str:
    kb, options = hosted(room), ("--retrieval-method", "vector", "-k", "50", "--set", "rank.pool=50")
    free = [step(hit, "vector") for hit in hits(room, kb, QUESTION, *options)]
    middle = sorted(free)[len(free) // 2]
    held = [step(hit, "vector") for hit in hits(room, kb, QUESTION, *options, "--set", f"query.threshold={middle:.4f}")]
    expect(0 < len(held) < len(free), f"{len(held)} of {len(free)} are left")
    expect(min(held) >= middle - 1e-3, f"one of {min(held)} is left")
    return f"{len(held)} of {len(free)} chunks reach {middle:.2f}"


@SEARCH.feature("one from each source in turn", "ragstone search -k 3 --explain (round robin)")
def round_robin(room: Room) -> str:
    told = {"6": (0.89, 0.87, 0.84), "11": (0.82, 0.81), "28": (0.79,)}
    filler = "and this passage goes on for a while, so that it is a chunk."
    rows = [
        [id, f"Source {id}", "\n\n".join(f"This has similarity {one} {filler} {id}" for one in scores)]
        for id, scores in told.items()
    ]
    source = write(room.folder / "told.csv", [["id", "title", "text"], *rows])
    options = ("--set", "index.embedder=benchmarks.systems.told_scores:ToldScores", "--chunk-size", "100")
    kb = room.added("told", source, *options, "--chunk-overlap", "0", "--chunk-strategy", "paragraph")
    vector = ("--retrieval-method", "vector", "-k", "3")
    turned, plain = (
        [(round(step(hit, "vector"), 2), hit["document_id"].rpartition("#")[2]) for hit in found]
        for found in (hits(room, kb, "?x", *vector), hits(room, kb, "?x", *vector, "--no-reranking"))
    )
    expect(turned == [(0.89, "6"), (0.82, "11"), (0.79, "28")], f"round robin gives {turned}")
    expect(plain == [(0.89, "6"), (0.87, "6"), (0.84, "6")], f"without it: {plain}")
    return ".89 .87 .84 (6), .82 .81 (11), .79 (28) give .89 (6), .82 (11), .79 (28)"


@SEARCH.feature("MMR, reranking and query variations instead", "ragstone search --set rank.diversify=mmr")
def alternatives(room: Room) -> str:
    kb = hosted(room)
    for options, stage in (
        (("--set", "rank.diversify=mmr"), "mmr"),
        (("--set", "rank.reranker=maxsim"), "maxsim"),
        (("--set", "query.variations=2", "--set", "query.synonyms={inkubationszeit*: [Ansteckung]}"), "vector 1"),
    ):
        stages = {one["stage"] for hit in hits(room, kb, QUESTION, *options) for one in hit["why"]}
        expect(any(stage in one for one in stages), f"{options[1]} leaves no trace among {stages}")
    return "each leaves its step in the history of the scores"
