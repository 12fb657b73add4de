"""The preset `knowledge-base`, feature by feature."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.systems.articles import (
    ADA,
    KEY,
    QUESTION,
    articles,
    chats,
    hits,
    hosted,
    keys,
    quoting,
    service,
    since,
    table,
    texts,
    write,
)
from benchmarks.systems.feature import Room, System, Unavailable, expect
from benchmarks.systems.knowledge_base_search import SEARCH
from servers.openai_server import Fault, OpenAIServer

SYSTEM = System(preset="knowledge-base", data=("covid_faq_kb",))


# ---------------------------------------------------------------- settings and sources


ALIASES = {
    "OPENAI_BASE_URL": ("http://127.0.0.1:9/v1", "services.openai.base_url"),
    "AZURE_OPENAI_ENDPOINT": ("https://me.openai.azure.com", "services.azure.endpoint"),
    "LLM_MODEL": ("gpt-4o", "respond.model.name"),
    "EMBEDDING_MODEL": ("text-embedding-3-small", "index.embedder"),
    "CHUNK_SIZE": ("700", "chunk.size"),
    "CHUNK_OVERLAP": ("70", "chunk.overlap"),
    "TOP_K": ("4", "rank.top_k"),
    "RERANK_TOP_K": ("12", "rank.pool"),
    "MAX_CONTEXT_TOKENS": ("3000", "respond.context_tokens"),
    "TEMPERATURE": ("0.1", "respond.model.temperature"),
    "RAGSTONE_INDEX__BATCH_SIZE": ("64", "index.batch_size"),
    "RAGSTONE_CACHE__MEGABYTES": ("50", "cache.megabytes"),
    "RAGSTONE_ACQUIRE__SOURCES": ("[elsewhere.csv]", "acquire.sources"),
}


@SYSTEM.feature("settings from the environment", "CHUNK_SIZE=700 TOP_K=4 ... ragstone settings")
def environment(room: Room) -> str:
    found = settings(room, OPENAI_API_KEY=KEY, **{name: value for name, (value, _) in ALIASES.items()})
    shown = {name: str(found[path]["value"]) for name, (_, path) in ALIASES.items()}
    wrong = [name for name, (value, _) in ALIASES.items() if value.strip("[]") not in shown[name]]
    expect(not wrong, f"not taken over: {', '.join(wrong)}")
    azure = settings(room, AZURE_OPENAI_DEPLOYMENT="writer", AZURE_EMBEDDING_DEPLOYMENT="embedder")
    named = [azure[path]["value"] for path in ("respond.model.name", "index.embedder")]
    expect(named == ["azure:writer", "azure:embedder"], f"Azure deployments are {named}")
    return f"{len(ALIASES) + 3} variables, of which the key is never printed"


@SYSTEM.feature("settings from .env, below the environment", "echo TOP_K=6 > .env; ragstone settings")
def dotenv(room: Room) -> str:
    file = room.folder / ".env"
    file.write_text("TOP_K=6\nCHUNK_SIZE=650\n")
    try:
        found = settings(room, TOP_K="7")
    finally:
        file.unlink()
    values = [found[path]["value"] for path in ("rank.top_k", "chunk.size", "chunk.overlap")]
    expect(values == [7, 650, 150], f"top_k, size, overlap are {values}, not [7, 650, 150]")
    return "environment over .env over preset"


def settings(room: Room, **variables: str) -> dict[str, dict[str, Any]]:
    """Return all settings by path."""
    shown = room.ok("settings", "--preset", room.preset, "--kb", room.folder / "none", "--json", **variables)
    expect(KEY not in shown.all, "the key is printed")
    return {one["path"]: one for one in shown.json()["settings"]}


@SYSTEM.feature("the table where nothing is named", "ragstone add --preset knowledge-base")
def default_source(room: Room) -> str:
    write(room.folder / "data" / "knowledge_base.csv", articles(room)[:31])
    try:
        made = room.json("add", "--preset", room.preset, "--kb", room.folder / "small", "--json", **keys())
        expect(made["added"] == 30, f"{made['added']} of 30 articles were added")
        asked = room.ok("chat", "--preset", room.preset, "--kb", room.folder / "chat", stdin=f"{QUESTION}\n", **keys())
        expect("Sources" in asked.out, f"chat answers {asked.out!r}")
        start = len(service().asked)
        again = room.json("add", "--kb", room.folder / "small", "--json", **keys())
        expect((again["unchanged"], texts(since(start))) == (30, []), f"the second run did {again}")
        changed = articles(room)[:31]
        changed[5][2] += " This sentence is new."
        write(room.folder / "data" / "knowledge_base.csv", [*changed, *articles(room)[31:33]])
        third = room.json("add", "--kb", room.folder / "small", "--json", **keys())
        counts = [third[name] for name in ("added", "updated", "unchanged")]
        expect(counts == [2, 1, 29], f"added, updated, unchanged are {counts}")
        expect(sum(texts(since(start))) == third["embedded"] <= 4, f"{texts(since(start))} texts were embedded")
    finally:
        (room.folder / "data" / "knowledge_base.csv").unlink()
    return f"30 articles; a second run embeds nothing, a change of 1 and 2 new ones {third['embedded']} texts"


@SYSTEM.feature("other column names", "ragstone add t.csv --set 'acquire.columns.title=[frage]' ...")
def columns(room: Room) -> str:
    rows = [["nr", "frage", "antwort", "stand"], *([row[0], row[1], row[2], row[8]] for row in articles(room)[1:6])]
    named = {"id": "nr", "title": "[frage]", "text": "[antwort]"}
    pairs = [word for name, value in named.items() for word in ("--set", f"acquire.columns.{name}={value}")]
    kb = room.added("columns", write(room.folder / "columns.csv", rows), *pairs, **keys())
    document = room.json("show", "kb0002", "--kb", kb, "--json", **keys())
    expect(document["title"] == rows[2][1], f"the title is {document['title']!r}")
    expect(document["metadata"]["stand"] == rows[2][3], "the fourth column is not metadata")
    return "id, title and text mapped; the rest is metadata"


# ---------------------------------------------------------------- the embedding service


@SYSTEM.feature("full batches of a chosen size", "ragstone add --set index.batch_size=100")
def batches(room: Room) -> str:
    start = len(service().asked)
    room.added("batches", table(room), "--set", "index.batch_size=100", "--set", "cache.enabled=false", **keys())
    sizes = texts(since(start))
    expect(set(sizes[:-1]) == {100} and sizes[-1] <= 100, f"batches of {sizes}")
    expect({one.body["model"] for one in since(start)} == {"text-embedding-ada-002"}, "another model was asked")
    return f"{sum(sizes):,} texts in {len(sizes)} requests: {len(sizes) - 1} of 100 and one of {sizes[-1]}"


@SYSTEM.feature("embeddings kept by normalised text", "ragstone remove ID; ragstone add; ragstone history cache")
def embeddings_kept(room: Room) -> str:
    kb = hosted(room)
    room.ok("search", QUESTION, "--kb", kb, **keys())
    start = len(service().asked)
    room.ok("search", f"  {QUESTION.upper().replace(' ', '   ')} ", "--kb", kb, **keys())
    expect(not since(start), f"another case and other blanks asked {texts(since(start))} texts")
    note = room.folder / "kept.txt"
    for text in ("A note on pilots and their boats.", "A note on PILOTS  and their boats."):
        note.write_text(text)
        report = room.json("add", note, "--kb", kb, "--json", **keys())
        room.ok("remove", "kept.txt", "--kb", kb, **keys())
    expect((report["added"], report["embedded"], report["cached"]) == (1, 0, 1), f"added again: {report}")
    expect(texts(since(start)) == [1], f"what was removed and added again asked {texts(since(start))} texts")
    told = room.json("history", "cache", "--kb", kb, "--json", "--level", "embedding", **keys())["cache"][0]
    expect(told["hits"] > 0 and told["misses"] > 0, f"statistics are {told}")
    return f"{told['entries']:,} vectors, {told['hits']:,} hits, {told['misses']:,} misses; nothing is paid twice"


@SYSTEM.feature("retries with growing waits", "ragstone add (the service fails three times)")
def retries(room: Room) -> str:
    note = room.folder / "note.txt"
    note.write_text("A note about lighthouses and their keepers, number seven.")
    start = len(service().asked)
    service().faults.extend([Fault(kind="status", status=503)] * 3)
    waits = ("--set", "services.backoff_seconds=[0.5, 5]")
    kb = room.folder / "retries"
    report = room.json("add", note, "--preset", room.preset, "--kb", kb, "--json", *waits, **keys())
    expect(report["embedding_retries"] == 3, f"{report['embedding_retries']} retries")
    at = [one.at for one in since(start)]
    gaps = [b - a for a, b in itertools.pairwise(at)]
    expect(0.25 <= gaps[0] < 1 <= gaps[2], f"waits of {gaps}")  # the third is four times as long, half of it random
    told = f"{report['embedding_calls']} call and {report['embedding_tokens']} tokens counted"
    return f"waits of {', '.join(f'{gap:.1f} s' for gap in gaps)}; {told}"


@SYSTEM.feature("Azure deployments", "AZURE_EMBEDDING_DEPLOYMENT=ada ragstone add --preset knowledge-base")
def azure(room: Room) -> str:
    small = write(room.folder / "azure.csv", articles(room)[:11])
    with OpenAIServer(quoting, azure=True, dimensions=ADA) as server:
        named = {"AZURE_OPENAI_ENDPOINT": server.url, "AZURE_OPENAI_API_KEY": KEY}
        named |= {"AZURE_EMBEDDING_DEPLOYMENT": "my-ada", "AZURE_OPENAI_DEPLOYMENT": "my-gpt"}
        kb = room.added("azure", small, **named)
        sizes = texts(server.asked)
        answer = room.json("ask", QUESTION, "--kb", kb, "--json", **named)
        expect(answer["model"] == "azure:my-gpt", f"{answer['model']} answers")
        expect(texts(server.asked) == [*sizes, 1], f"requests of {texts(server.asked)} texts: dimensions asked again")
        paths = {one.path.partition("?")[0] for one in server.asked}
    expected = {f"/openai/deployments/{name}" for name in ("my-ada/embeddings", "my-gpt/chat/completions")}
    expect(paths == expected, f"paths are {paths}")
    return "both deployments; the dimensions are asked once for all processes"


@SYSTEM.feature("embedded models without a key", "ragstone add --preset knowledge-base (no key)")
def stand_ins(room: Room) -> str:
    small = write(room.folder / "local.csv", articles(room)[:11])
    kb = room.folder / "local"
    told = room.ok("add", small, "--preset", room.preset, "--kb", kb).err
    for wanted in ("openai:text-embedding-ada-002", "openai:gpt-5.4-mini"):
        expect(f"{wanted}, but there is no key" in told, f"nothing is said of {wanted}: {told!r}")
    start = len(service().asked)
    answer = room.json("ask", QUESTION, "--kb", kb, "--json", **keys())
    expect(answer["usage"]["embedding_calls"] == 0, "a key that came later changed the embedder")
    stray = room.run("add", small, "--kb", room.folder / "stray", **keys())
    expect("set but not used" in stray.err, f"of a stray key it is said: {stray.err!r}")
    expect(not texts(since(start)), "a stray key was used")
    return "both are named with what stands in; a stray key is reported and never used"


@SYSTEM.feature("a changed environment is refused", "EMBEDDING_MODEL=text-embedding-3-small ragstone ask")
def refused(room: Room) -> str:
    kb = hosted(room)
    for variables, remedy in (
        (keys() | {"EMBEDDING_MODEL": "text-embedding-3-small"}, "--set index.embedder=openai:text-embedding-3-small"),
        (keys() | {"CHUNK_SIZE": "500"}, "--set chunk.size=500"),
        ({}, "--set index.embedder=auto"),
    ):
        output = room.run("ask", QUESTION, "--kb", kb, **variables)
        command = f"ragstone rebuild --kb {kb} {remedy}"
        expect(output.status and command in output.err, f"status {output.status}, and not {command!r}: {output.err!r}")
    return "another model, another chunk size, no key: each with the command that rebuilds"


SYSTEM.features.extend(SEARCH.features)


# ---------------------------------------------------------------- answers


@SYSTEM.feature("metadata in the context, or none", "ragstone ask --no-metadata")
def metadata(room: Room) -> str:
    kb, prompts = hosted(room), list[str]()
    for options in ((), ("--no-metadata",)):
        start = len(service().asked)
        printed = room.ok("ask", "Wie kann ich mich infizieren?", "--kb", kb, *options, **keys())
        prompts.append(chats(since(start))[-1].body["messages"][-1]["content"])
        expect(("last_update:" in printed.out) == (not options), f"with {options} it prints {printed.out!r}")
    expect("last_update: " in prompts[0], "the model reads no metadata")
    expect("last_update: " not in prompts[1], "--no-metadata passes metadata to the model")
    expect(not re.search(r"answer_html|<div|<p>", prompts[0]), "answer_html repeats the article")
    bare_hits = room.json("search", QUESTION, "--kb", kb, "--no-metadata", "--json", **keys())["hits"]
    expect(all("metadata" not in hit for hit in bare_hits), "search --no-metadata --json has metadata")
    return f"prompts of {len(prompts[0]):,} and {len(prompts[1]):,} characters, without the column answer_html"


@SYSTEM.feature("the temperature", "TEMPERATURE=0.9 ragstone ask")
def temperature(room: Room) -> str:
    kb, start = hosted(room), len(service().asked)
    room.ok("ask", "Was ist eine Pandemie?", "--kb", kb, **keys(), TEMPERATURE="0.9")
    sent = chats(since(start))[-1].body["temperature"]
    expect(sent == 0.9, f"the model got {sent}")
    return "0.9 reaches the model"


@SYSTEM.feature("responses kept by question and context", "ragstone add unrelated.txt; ragstone ask again")
def responses_kept(room: Room) -> str:
    kb = hosted(room)
    first = room.json("ask", QUESTION, "--kb", kb, "--json", **keys())
    note = room.folder / "unrelated.txt"
    note.write_text(f"Lighthouse keepers polish lenses. {len(service().asked)}")
    room.ok("add", note, "--kb", kb, **keys())
    start = len(service().asked)
    again = room.json("ask", QUESTION, "--kb", kb, "--json", **keys())
    expect(not chats(since(start)), "an unrelated document makes it pay again")
    expect("response" in again["usage"]["cached"], f"cached are {again['usage']['cached']}")
    expect(again["answer"] == first["answer"], "the answer changed")
    room.ok("ask", QUESTION, "--kb", kb, **keys(), TEMPERATURE="0.77")
    expect(len(chats(since(start))) == 1, "another temperature gets the old response")
    return "an unrelated document costs nothing, another temperature does"


@SYSTEM.feature("queries kept by question, settings and index", "ragstone ask (twice)")
def queries_kept(room: Room) -> str:
    kb = hosted(room)
    question = "Wie schütze ich mich?"
    cached = [room.json("ask", question, "--kb", kb, "--json", *options, **keys())["usage"]["cached"] for options in (
        (), (), ("--vector-weight", "0.6"), ("--vector-weight", "0.6"), ("--no-reranking",),
    )]  # fmt: skip
    whole = ["search", "answer"]
    expect(cached[1] == cached[3] == whole, f"asked again, cached are {cached[1]} and {cached[3]}")
    expect("search" not in cached[2] + cached[4], f"other settings got {cached[2]} and {cached[4]}")
    return "the same question and settings come from the cache of another process, other settings do not"


@SYSTEM.feature("three levels of cache, each cleared alone", "ragstone history cache --clear --level query")
def levels(room: Room) -> str:
    kb = hosted(room)
    for level, paid in (("query", (0, 0)), ("response", (0, 1)), ("embedding", (1, 0))):
        room.ok("ask", QUESTION, "--kb", kb, **keys())
        before = entries(room, kb)
        room.ok("history", "cache", "--kb", kb, "--clear", "--level", level, **keys())
        after = entries(room, kb)
        expect(after[level] == 0, f"{level} holds {after[level]} entries")
        others = [one for one in after if one != level]
        expect(all(after[one] == before[one] > 0 for one in others), f"{level}: from {before} to {after}")
        if level != "query":
            room.ok("history", "cache", "--kb", kb, "--clear", "--level", "query", **keys())
        start = len(service().asked)
        room.ok("ask", QUESTION, "--kb", kb, **keys())
        costs = (len(texts(since(start))), len(chats(since(start))))
        expect(costs == paid, f"without {level}: {costs} requests to embed and to write, not {paid}")
    return "embedding, response and query, each with entries, hits and misses, across processes"


def entries(room: Room, kb: Path) -> Counter[str]:
    """Return how many entries each level holds."""
    rows = room.json("history", "cache", "--kb", kb, "--json", **keys())["cache"]
    count: Counter[str] = Counter()
    for one in rows:
        expect(one["hits"] >= 0 and one["misses"] >= 0, f"no statistics: {one}")
        if one["level"]:
            count[one["level"]] += one["entries"]
    return count


@SYSTEM.feature("a prompt for question after question", "ragstone chat")
def prompt(room: Room) -> str:
    typed = f"{QUESTION}\n/sources\n/set query.method=bm25\n{QUESTION}\n/explain\n/quit\n"
    output = room.ok("chat", "--kb", hosted(room), stdin=typed, **keys()).out
    expect(output.count(f"> {QUESTION}") == 2 and "Evidence by bm25" in output, f"it prints {output!r}")
    return "two questions, /sources, /set and /explain"


@SYSTEM.feature("runs tracked in MLflow", "RAGSTONE_REVIEW__MLFLOW=mlruns ragstone ask QUESTION")
def mlflow(room: Room) -> str:
    if not find_spec("mlflow"):
        raise Unavailable("mlflow is not installed")
    articles, kb, variables = (
        room.folder / "articles.csv",
        room.folder / "tracked",
        {"RAGSTONE_REVIEW__MLFLOW": "mlruns"},
    )
    articles.write_text(
        "id,title,text\n1,Lab,The lab stands beside the mill.\n2,Parking,Visitors park behind the mill.\n"
    )
    (room.folder / "q.csv").write_text("question,source\nWhere do visitors park?,2\n")
    room.ok("add", articles, "--kb", kb, "--preset", "knowledge-base", **variables)
    room.ok("ask", "Where do visitors park?", "--kb", kb, **variables)
    room.ok("chat", "--kb", kb, stdin="Where do visitors park?\nWhere is the lab?\n", **variables)
    room.ok("eval", "q.csv", "--kb", kb, "--mlflow", "mlruns")
    with sqlite3.connect(room.folder / "mlruns" / "mlflow.db") as db:
        runs = db.execute("SELECT name, run_uuid, status FROM runs ORDER BY start_time").fetchall()
        figures = [
            dict(db.execute("SELECT key, value FROM latest_metrics WHERE run_uuid = ?", [id])) for _, id, _ in runs
        ]
        parameters = [
            db.execute("SELECT count(*) FROM params WHERE run_uuid = ?", [id]).fetchone()[0] for _, id, _ in runs
        ]
    names = [name for name, *_ in runs]
    expect(names == ["add", "questions", "questions", "eval"], f"runs {names}")
    expect({status for *_, status in runs} == {"FINISHED"} and min(parameters) > 100, f"{runs}, {parameters}")
    expect(figures[0]["added"] == 2 and figures[2]["sum/questions"] == 2, f"{figures[0]}")
    expect(
        {"latency_ms/search", "latency_ms/total", "tokens/prompt", "cost", "confidence"} <= set(figures[1]), "metrics"
    )
    expect(figures[2]["sum/cache_hits"] >= 1, "the question asked again was not in the cache")
    files = [path.name for path in (room.folder / "mlruns/artefacts").rglob("*") if path.is_file()]
    expect({"report.json", "000001.jsonl", "report.html"} <= set(files), f"artefacts {files}")
    return (
        f"runs {', '.join(names)} with {parameters[0]} parameters in SQLite; artefacts {', '.join(sorted(set(files)))}"
    )


# ---------------------------------------------------------------- cost


@SYSTEM.feature("cost by a table of prices", "ragstone ask --json --set 'services.prices={...}'")
def cost(room: Room) -> str:
    kb, prices = hosted(room), "services.prices={gpt-5.4-mini: [100, 200], text-embedding-ada-002: [50, 0]}"
    usage = room.json("ask", "Was kostet ein Test?", "--kb", kb, "--json", "--set", prices, **keys())["usage"]
    expected = usage["prompt_tokens"] * 100 + usage["completion_tokens"] * 200 + usage["embedding_tokens"] * 50
    expect(usage["prompt_tokens"] and usage["embedding_tokens"], f"no tokens are counted: {usage}")
    expect(abs(usage["cost"] - expected / 1e6) < 1e-8, f"{usage['cost']} instead of {expected / 1e6}")
    total = room.json("status", "--kb", kb, "--json", **keys())["costs"]["total"]
    expect(total["cost"] > usage["cost"], f"the account says {total}")
    return f"{usage['cost']:.4f} for the question; the ingest is in the account, too"


@SYSTEM.feature("reduced dimensions", "ragstone add --set index.dimensions=256")
def dimensions(room: Room) -> str:
    small, start = write(room.folder / "reduced.csv", articles(room)[:11]), len(service().asked)
    model = ("--set", "index.embedder=openai:text-embedding-3-small", "--set", "index.dimensions=256")
    kb = room.added("reduced", small, *model, **keys())
    expect(all(one.body.get("dimensions") == 256 for one in since(start)), "the service is not asked for 256")
    expect(len(hits(room, kb, QUESTION)) == 3, "nothing is found")
    refusal = room.run("add", small, "--preset", room.preset, "--kb", room.folder / "no", "--set",
                       "index.dimensions=256", **keys())  # fmt: skip
    expect("text-embedding-ada-002 has 1536" in refusal.err, f"ada with 256: {refusal.err!r}")
    return "256 of text-embedding-3-small; ada-002, which has 1536, is refused"


@SYSTEM.feature("keywords before vectors", "ragstone search --set query.prefilter=30")
def prefilter(room: Room) -> str:
    kb, options = hosted(room), ("-k", "30", "--set", "rank.pool=30", "--no-reranking", "--set", "query.fetch_k=30")
    words = {hit["chunk_id"] for hit in hits(room, kb, QUESTION, *options, "--retrieval-method", "bm25")}
    vector = ("--retrieval-method", "vector")
    free, held = (
        {hit["chunk_id"] for hit in hits(room, kb, QUESTION, *options, *vector, *more)}
        for more in ((), ("--set", "query.prefilter=30"))
    )
    expect(held <= words, f"{len(held - words)} chunks are not among the best of the keywords")
    expect(not free <= words, "without it the same are found")
    return (
        f"of the 30 nearest {len(free & words)} are among the best 30 of the keywords, with the filter all {len(held)}"
    )


def penguins(_: object) -> str:
    """Reply with something that no article says."""
    return "Penguins ride bicycles all day long."


@SYSTEM.feature("a cheap model first", "ragstone ask --set respond.cheap=openai:gpt-4.1-nano")
def tiers(room: Room) -> str:
    kb, start = hosted(room), len(service().asked)
    options = ("--set", "respond.cheap=openai:gpt-4.1-nano", "--set", "respond.model.name=openai:gpt-4.1")
    good = room.json("ask", QUESTION, "--kb", kb, "--json", *options, **keys())
    first = [one.body["model"] for one in chats(since(start))]
    expect((good["model"], set(first)) == ("openai:gpt-4.1-nano", {"gpt-4.1-nano"}), f"{good['model']} after {first}")
    start, told = len(service().asked), service().reply
    service().reply = penguins
    try:
        room.ok("ask", "Wie kann ich mich infizieren?", "--kb", kb, *options, **keys())
    finally:
        service().reply = told
    second = [one.body["model"] for one in chats(since(start))]
    expect(second == ["gpt-4.1-nano", "gpt-4.1"], f"unproved, the models asked are {second}")
    return "gpt-4.1-nano answers; where nothing proves it, gpt-4.1 does"
