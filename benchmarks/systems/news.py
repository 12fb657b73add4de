"""The preset `news`, feature by feature: real articles, with a model, a judge and a web search on loopback.

The clients of hosted services are real, and talk to servers of the same protocols; the replies of the model and the
pages of the web are made up (see `benchmarks.news`). How well a hosted model judges, how long it takes, and how many
web answers people like is for users to measure with their own model and readers.
"""

from __future__ import annotations

import csv
import json
import re
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.news import WebOnLoopback, through_web, written
from benchmarks.systems.feature import Room, Site, System, Unavailable, expect, short
from ragstone.learning.log import VoteRecord
from ragstone.learning.observation import Observation
from ragstone.learning.policy import Choices, Policy
from ragstone.learning.proposals import propose_challenger
from servers.openai_server import KEY, OpenAIServer

SYSTEM = System(preset="news", data=("malaysian_news",))
COLUMNS = (
    *("id", "search_id", "news_id", "title", "article_content", "summary", "url", "image_url", "timestamp"),
    *("original_timestamp", "author", "authors", "article_language", "source_country", "total_engagement"),
    *("sentiment", "created_at"),
)
ANSWERED = {"d00296", "d00569", "d00661"}
"""The articles that answer the questions below."""
MALAY, ENGLISH = "Bilakah Agrobank ditubuhkan?", "What does SPAD say about a tram system?"
OUTSIDE = "Berapakah harga petrol RON95 minggu ini?"
"""A question about this week, which only the web answers."""
OFFLINE = ("--set", "respond.model.name=extractive")
REPEATED = ("--set", "cache.enabled=false")


# ---------------------------------------------------------------- the articles


def rows(room: Room, most: int) -> list[dict[str, str]]:
    """Return the first articles, and those that answer the questions."""
    csv.field_size_limit(10_000_000)
    with (room.data / "malaysian_news/dev/news.csv").open(encoding="utf-8", newline="") as file:
        return [row for number, row in enumerate(csv.DictReader(file)) if number < most or row["id"] in ANSWERED]


def write(path: Path, columns: Sequence[str], lines: Sequence[Mapping[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        table.writeheader()
        table.writerows(lines)
    return path


def articles(room: Room) -> Path:
    """Return the knowledge base of forty articles and those that answer the questions."""
    found = rows(room, 40)
    return room.added("articles", write(room.folder / "articles.csv", tuple(found[0]), found))


def hits(room: Room, question: str, *words: str) -> Sequence[Mapping[str, Any]]:
    kb = articles(room)
    return room.json("search", question, "--kb", kb, "--json", "--explain", *REPEATED, *words)["hits"]


@SYSTEM.feature("a CSV with the seventeen columns, most of them empty", "ragstone add news.csv --preset news")
def reads_the_csv(room: Room) -> str:
    first, second, *_ = (row for row in rows(room, 0))
    full = first | {"timestamp": "05-06-18 9:30", "authors": "['A. Penulis', 'B. Penulis']", "sentiment": "positive"}
    full |= {"source_country": "MY", "total_engagement": "12", "article_language": "ms"}
    bare = {name: second[name] for name in ("id", "title", "article_content")}
    kb = room.added("columns", write(room.folder / "columns.csv", COLUMNS, [full, bare]))
    found = room.json("search", MALAY, "--kb", kb, "--json", "-k", "5")["hits"]
    facts = {hit["document_id"].rpartition("#")[2]: hit["metadata"] for hit in found}
    expect(set(facts) == {first["id"], second["id"]}, f"found {sorted(facts)}")
    expect(str(facts[first["id"]]["timestamp"]).startswith("2018-06-05T09:30"), f"{facts[first['id']]}")
    expect(facts[first["id"]]["authors"] == ["A. Penulis", "B. Penulis"], f"{facts[first['id']]['authors']}")
    text = room.ok("show", found[0]["document_id"], "--kb", kb).out
    whole = room.ok("show", f"columns.csv#{first['id']}", "--kb", kb).out
    both = first["summary"][:40] in whole and " ".join(first["article_content"].split())[:40] in " ".join(whole.split())
    expect(text and both, "the text is not summary and content")
    return (
        f"timestamp {facts[first['id']]['timestamp']}, authors {facts[first['id']]['authors']}; one row has 3 columns"
    )


@SYSTEM.feature("articles, not chunks", "ragstone search QUESTION -k 20")
def takes_articles(room: Room) -> str:
    found = hits(room, MALAY, "-k", "20", "--set", "rank.reranker=none")
    documents = [hit["document_id"] for hit in found]
    expect(len(documents) == len(set(documents)), "an article occurs twice")
    chunks = room.json("status", "--kb", articles(room), "--json")
    expect(chunks["chunks"] > chunks["documents"], "no article has more than one chunk")
    expect(len(documents) == 20, f"{len(documents)} articles instead of 20")
    expect(len(hits(room, MALAY)) == 5, "not five articles by default")
    return f"{len(documents)} articles of {chunks['documents']}, in {chunks['chunks']} chunks; 5 by default"


# ---------------------------------------------------------------- services on loopback


def by_model(model: OpenAIServer) -> tuple[str, ...]:
    """Return the settings that a model on loopback takes."""
    base = ("--set", f"services.openai.base_url={model.url}", "--set", f"services.openai.api_key={KEY}")
    return ("--set", "respond.model.name=openai:gpt-4-turbo-preview", *base)


@contextmanager
def searched_web() -> Generator[tuple[WebOnLoopback, tuple[str, ...]]]:
    """Yield a web on loopback, and the settings that search it."""
    with WebOnLoopback() as web:
        yield web, tuple(word for setting in through_web(web) for word in ("--set", setting))


def ask(room: Room, question: str, *words: str) -> Any:
    return room.json("ask", question, "--kb", articles(room), "--json", "--explain", *REPEATED, *words)


# ---------------------------------------------------------------- D2 to D4: search


@SYSTEM.feature("text-embedding-3-small, 1,536 dimensions, with FAISS and BM25", "ragstone add news.csv")
def embeds_by_service(room: Room) -> str:
    source = write(room.folder / "few.csv", COLUMNS, rows(room, 5))
    named = {"OPENAI_API_KEY": KEY, "EMBEDDING_MODEL": "openai:text-embedding-3-small"}
    with OpenAIServer(dimensions=1536) as server:
        kb = room.added("hosted", source, OPENAI_BASE_URL=server.url, **named)
        models = {asked.body["model"] for asked in server.asked}
        calls = len(server.asked)
        search = ("search", MALAY, "--kb", kb, "--json", "--explain")
        found = room.json(*search, OPENAI_BASE_URL=server.url, **named)["hits"]
        room.json(*search, "-k", "3", OPENAI_BASE_URL=server.url, **named)
        asked_again = len(server.asked) - calls
    expect(models == {"text-embedding-3-small"}, f"asked for the models {models}")
    expect(asked_again == 1, f"{asked_again} embedding requests for the same question twice")
    stages = {step["stage"] for hit in found for step in hit["why"]}
    expect({"vector", "bm25"} <= stages, f"stages {stages}")
    settings = {one["path"]: one["value"] for one in room.json("settings", "--kb", kb, "--json")["settings"]}
    expect(settings["index.vectors"] == "faiss:Flat", f"index.vectors={settings['index.vectors']}")
    pickled = [file.name for file in kb.rglob("*") if file.is_file() and file.read_bytes()[:2] in PICKLES]
    expect(not pickled, f"pickled files: {pickled}")
    return f"{calls} calls for {len(rows(room, 5))} articles, one for a question asked twice; FAISS and BM25, no pickle"


PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


@SYSTEM.feature("the best twenty of each search, fused by reciprocal rank", "ragstone search QUESTION --explain")
def fuses_by_rank(room: Room) -> str:
    found = hits(room, MALAY, "-k", "20", "--set", "rank.reranker=none")
    both = 0
    for hit in found:
        steps = {step["stage"]: step for step in hit["why"]}
        ranks = [steps[leg]["rank"] for leg in ("vector", "bm25") if leg in steps]
        expect(max(ranks) <= 20, f"a rank of {max(ranks)}")
        expected = sum(1 / (60 + rank) for rank in ranks)
        expect(abs(steps["fusion"]["score"] - expected) < 1e-9, f"{steps['fusion']['score']} is not {expected}")
        both += len(ranks) == 2
    expect(both and len(found) <= 20, f"{len(found)} articles, {both} of both searches")
    return f"{len(found)} articles, {both} found by both; the score of each is the sum of 1 / (60 + rank)"


@SYSTEM.feature("reranking to five, scores from 0 to 1", "ragstone search QUESTION --explain")
def reranks(room: Room) -> str:
    found = hits(room, ENGLISH)
    stages = {step["stage"] for hit in found for step in hit["why"]}
    expect("maxsim" in stages, f"stages {stages}")
    scores = [hit["score"] for hit in found]
    expect(len(found) == 5 and scores[0] == 1.0 and min(scores) >= 0, f"scores {scores}")
    expect(scores == sorted(scores, reverse=True), f"scores {scores}")
    expect(found[0]["document_id"].endswith("d00569"), f"first is {found[0]['title']}")
    return ", ".join(f"{score:.2f}" for score in scores)


@SYSTEM.feature("reranking by a cross-encoder", "ragstone search QUESTION --set rank.reranker=cross-encoder:NAME")
def reranks_by_cross_encoder(room: Room) -> str:
    name = "rank.reranker=cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2"
    output = room.run("search", ENGLISH, "--kb", articles(room), "--json", "--set", name)
    if output.status:
        raise Unavailable("the model comes from a hub, which this machine does not reach")
    return f"{len(output.json()['hits'])} articles"


# ---------------------------------------------------------------- D5, D6: enough evidence?


@SYSTEM.feature("a judge of the evidence, whose malformed replies are never trusted", "ragstone ask QUESTION")
def judges_evidence(room: Room) -> str:
    bad = ['{"confidence": 99, "reasoning": "", "needs_web_search": false}', "I would say seven."]

    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        is_first = "needs_web_search" in messages[0]["content"] and bad
        return bad.pop() if is_first else written(messages[:2])

    with OpenAIServer(reply) as model:
        answer = ask(room, ENGLISH, *by_model(model))
        bodies = [asked.body for asked in model.asked]
    judging = [body for body in bodies if "needs_web_search" in body["messages"][0]["content"]]
    expect(len(judging) == 3, f"the judge was asked {len(judging)} times")
    schema = judging[0]["response_format"]["json_schema"]
    limits = schema["schema"]["properties"]["confidence"]
    expect(limits == {"type": "number", "minimum": 0, "maximum": 10}, f"the schema of confidence is {limits}")
    expect(schema["strict"] and judging[0]["temperature"] == 0, f"temperature {judging[0]['temperature']}")
    judge = answer["judge_scores"]["judge"]
    expect(judge == "openai:gpt-4-turbo-preview", f"the answer was judged by {judge}")
    return "two malformed replies were asked for again; temperature 0, a strict schema with minimum and maximum"


@SYSTEM.feature("a web search when the articles do not suffice", "ragstone ask QUESTION")
def searches_the_web(room: Room) -> str:
    with searched_web() as (web, settings):
        stored = ask(room, ENGLISH, *settings, *OFFLINE)
        before = len(web.asked)
        outside = ask(room, OUTSIDE, *settings, *OFFLINE)
        (asked,) = web.asked[before:]
    expect(not stored["web_search_triggered"] and not before, "the web was searched for what the articles answer")
    expect(outside["web_search_triggered"], "the web was not searched for a question about this week")
    body = asked.body
    wanted = {"numResults": 3, "type": "auto", "contents": {"text": {"maxCharacters": 10_000}}}
    expect({name: body[name] for name in wanted} == wanted, f"Exa was asked {body}")
    found = [hit for hit in outside["hits"] if hit["document_id"].startswith(("web:", "http"))]
    expect(found and found[0]["score"] == 0.8, f"relevance of web pages: {[hit['score'] for hit in found]}")
    kinds = [source["type"] for source in outside["sources"]]
    expect("web" in kinds, f"sources: {kinds}")
    return f"not for an article's question; for this week's: 3 results, auto, 10,000 characters, relevance 0.8; {kinds}"


@SYSTEM.feature("services read the question as typed, in its language", 'ragstone ask "Latest Bitcoin price"')
def sends_what_was_typed(room: Room) -> str:
    questions = ("Latest Bitcoin price", "Cristiano speech", "What is Agrobank?")
    with OpenAIServer(written) as model, searched_web() as (web, settings):
        for question in questions:
            ask(room, question, *by_model(model), *settings, "--set", "query.web.threshold=1")
        sent = [one.body["query"] for one in web.asked]
        bodies = [json.dumps(one.body["messages"], ensure_ascii=False) for one in model.asked]
        refused = ask(room, "Latest Bitcoin price", *OFFLINE)["answer"]
    expect(sent == list(questions), f"the web was asked {sent}")
    strange = [short(body) for body in bodies if not any(question in body for question in questions)]
    expect(not strange, f"the model was asked {strange}")
    expect("documents" in refused and "dokumen" not in refused, f"answered in another language: {refused}")
    return f"{len(sent)} web searches and {len(bodies)} calls of the model with the words of the question, in English"


@SYSTEM.feature(
    "the threshold of the web search compares the answerability", "ragstone ask --set query.web.threshold=0"
)
def compares_answerability(room: Room) -> str:
    question, seen = "Siapakah pengarang buku sejarah Agrobank?", dict[str, bool]()
    with searched_web() as (_, settings):
        for threshold in ("0", "1"):
            words = (*settings, *OFFLINE, "--set", f"query.web.threshold={threshold}", "--set", "review.judge=off")
            seen[threshold] = ask(room, question, *words)["web_search_triggered"]
    expect(seen == {"0": False, "1": True}, f"searched at threshold: {seen}")
    return "never at 0, always at 1"


# ---------------------------------------------------------------- D7 to D10: answers


@SYSTEM.feature("answers from titled excerpts, with [Source n] and [Web Source n]", "ragstone ask QUESTION")
def cites_sources(room: Room) -> str:
    with OpenAIServer(written) as model, searched_web() as (_, settings):
        stored = ask(room, ENGLISH, *by_model(model), *settings)
        writing = [one.body["messages"] for one in model.asked if "--- end" in one.body["messages"][-1]["content"]]
        outside = ask(room, OUTSIDE, *by_model(model), *settings)
        roles = [one.body["messages"] for one in model.asked if "--- end" in one.body["messages"][-1]["content"]]
    expect(re.search(r"\[Source \d\]", stored["answer"]), f"the answer cites nothing: {short(stored['answer'])}")
    expect("[Web Source 1]" in outside["answer"], f"the answer cites no web page: {short(outside['answer'])}")
    prompt = writing[0][-1]["content"]
    blocks = re.findall(r"^--- source \w+\n(.+?)\n--- end", prompt, re.MULTILINE | re.DOTALL)
    expect(len(blocks) == 5, f"{len(blocks)} blocks in the prompt")
    longest = max(len(block.partition("\n")[2]) for block in blocks)
    expect(longest <= 520, f"an excerpt of {longest} characters")
    expect("Mick Chan" in prompt or "paultan.org" in prompt, "no block names an author or address")
    malay = "\n".join(one["content"] for one in roles[-1])
    expect(re.search(r"Malay|Bahasa Melayu", malay), "the prompt of a Malay question does not ask for Malay")
    return f"5 blocks, excerpts of at most {longest} characters; {short(outside['answer'])}"


@SYSTEM.feature("marks for relevance, factuality and completeness, with feedback", "ragstone ask QUESTION --json")
def marks_answers(room: Room) -> str:
    marks = ask(room, ENGLISH, *OFFLINE)["judge_scores"]
    values = [marks[name] for name in ("relevance", "factuality", "completeness")]
    expect(all(0 <= value <= 10 for value in values), f"marks {values}")
    expect("feedback" in marks, "no feedback")
    return f"{values}, {marks['feedback']!r}, by {marks['judge']}"


@SYSTEM.feature("four numbers, never mixed, and their weights", "ragstone ask --set review.marks.factuality=5")
def keeps_four_numbers(room: Room) -> str:
    plain = ask(room, ENGLISH, *OFFLINE)
    weighed = ask(room, ENGLISH, *OFFLINE, "--set", "review.marks.relevance=9", "--set", "review.marks.factuality=0")
    same = ("answerability", "support", "judge_scores")
    expect(all(plain[name] == weighed[name] for name in same), "weights changed more than the confidence")
    expect(plain["confidence"] != weighed["confidence"], "the weights of the marks do not change the confidence")
    numbers = {name: plain[name] for name in ("answerability", "support", "confidence")}
    return f"{numbers}; with other weights the confidence is {weighed['confidence']}"


FIELDS = (
    *("response_id", "answer", "sources", "confidence", "judge_scores", "retrieval_method", "web_search_triggered"),
    "timestamp",
)
SOURCE_FIELDS = {"type", "title", "author", "url", "relevance_score", "sentiment"}


@SYSTEM.feature("POST /query with a question, and every field of the response", 'POST /query {"question": ...}')
def answers_over_http(room: Room) -> str:
    with room.serving(articles(room), *OFFLINE) as site:
        answer = site.post("/query", {"question": ENGLISH}).json()
        theirs = site.post("/query", {"query": ENGLISH, "top_k": 1}).json()
        events = streamed(site, ENGLISH)
    lacking = [name for name in FIELDS if name not in answer]
    expect(not lacking, f"the response lacks {lacking}")
    expect(answer["citations"] and not answer["abstained"], f"no cited answer: {short(answer['answer'])}")
    expect(theirs["sources"][:1] == answer["sources"][:1], "query and top_k find another article")
    method = "hybrid_search_with_reranking"
    expect(answer["retrieval_method"] == method, f"the method is {answer['retrieval_method']}")
    source = answer["sources"][0]
    expect("" not in source.values() and source["sentiment"] is None, f"unknown fields are not null: {source}")
    expect(source.keys() >= SOURCE_FIELDS, f"a source lacks {SOURCE_FIELDS - source.keys()}")
    expect(events[0] == "evidence" and events[-1] == "answer" and "text" in events, f"the stream has {events}")
    return f"{len(answer['citations'])} citations; first source {source['title']!r}; streamed {len(events)} events"


def streamed(site: Site, question: str) -> list[str]:
    """Return the names of the events of a streamed answer."""
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    body = json.dumps({"question": question}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{site.url}/query", body, headers), timeout=120) as reply:
        return re.findall(r"^event: (\w+)", reply.read().decode(), re.MULTILINE)


# ---------------------------------------------------------------- D11: learning


TRIES = 8
"""Questions until one is answered by what was learned, because a share is answered as before."""


@SYSTEM.feature("feedback on a response, learning after five, and a rollback", "ragstone feedback RESPONSE_ID up")
def learns(room: Room) -> str:
    kb, eager = articles(room), {"RAGSTONE_LEARNING__MODE": "eager", "RAGSTONE_RESPOND__MODEL__NAME": "extractive"}
    versions = [len(room.json("policy", "list", "--kb", kb, "--json", **eager)["policies"])]
    used, said = list[int](), ""
    for number in range(5 + TRIES):
        answer = room.json("ask", f"{ENGLISH}{' ' * number}?", "--kb", kb, "--json", *REPEATED, **eager)
        used.append(answer["policy"])
        said = answer["notices"]
        if number < 5:
            room.ok("feedback", answer["response_id"], "down" if number % 2 else "up", "--kb", kb, **eager)
            versions.append(len(room.json("policy", "list", "--kb", kb, "--json", **eager)["policies"]))
        elif answer["policy"]:
            break
    expect(versions[:5] == [versions[0]] * 5, f"versions after each vote: {versions}")
    expect(versions[5] == versions[0] + 1, f"versions after each vote: {versions}")
    expect(used[:5] == [0] * 5 and used[-1] > 0, f"policies used: {used}; the last answer says {said}")
    room.ok("policy", "rollback", "0", "--kb", kb, **eager)
    back = room.json("ask", f"{ENGLISH} ??", "--kb", kb, "--json", *REPEATED, **eager)["policy"]
    expect(back == 0, f"after the rollback policy {back} answers")
    kept = len(room.json("policy", "list", "--kb", kb, "--json", **eager)["policies"])
    expect(kept >= versions[5], f"{kept} versions are kept after the rollback")
    return f"a step after the fifth vote, used by question {len(used)}; rolled back to 0, {kept} versions kept"


@SYSTEM.feature("a threshold of the web search that votes move in the default mode", "ragstone policy list")
def moves_the_threshold(room: Room) -> str:
    listed = room.json("settings", "--preset", "news", "--json")["settings"]
    mode = next(one["value"] for one in listed if one["path"] == "learning.mode")
    base, seen = Choices(web_threshold=0.7, vector_weight=0.5, top_k=5), dict[int, float | None]()
    for liked in (-1, 1):  # the answers without the web, of a likelihood just above the threshold
        votes = [_vote(1, web=True, answerability=0.6)] * 20 + [_vote(liked, web=False, answerability=0.75)] * 30
        found = propose_challenger(Policy(version=0), base, [], [], votes)
        seen[liked] = found.by_kind[""].web_threshold if found else None
    expect(mode == "gated" and seen == {-1: 0.8, 1: None}, f"mode {mode}, thresholds {seen}")
    return f"mode {mode}: 0.8 is tried if answers without the web are disliked, nothing if they are liked"


def _vote(vote: int, *, web: bool, answerability: float) -> VoteRecord:
    seen = Observation(web=web, answerability=answerability)
    return VoteRecord(response_id="r", voice="v", vote=vote, at=0, seen=seen)


# ---------------------------------------------------------------- D12, D13: figures


@SYSTEM.feature("recall of the right article", "ragstone eval run DATASET --search-only --preset news")
def finds_the_article(room: Room) -> str:
    count = 100 if room.quick else 400
    folder = part_of_the_set(room, count)
    kb, found = room.folder / "headlines", dict[str, Mapping[str, Any]]()
    common = ("eval", "run", folder, "--kb", kb, "--preset", "news", "--search-only", "--json")
    ways = {"vectors": ("query.method=vector", "rank.reranker=none", "rank.top_k=20")}
    ways |= {"both": ("rank.reranker=none", "rank.top_k=20"), "reranked": ()}
    for way, settings in ways.items():
        words = [word for setting in settings for word in ("--set", setting)]
        found[way] = room.json(*common, *words)["measures"]
    vectors, both = (found[way]["recall@20"]["mean"] for way in ("vectors", "both"))
    five = found["reranked"]["recall@5"]["mean"]
    expect(both >= max(0.95, vectors), f"recall@20 {both:.3f} by both searches, {vectors:.3f} by vectors alone")
    expect(five >= 0.9, f"the right article is among the reranked five for {five:.3f}")
    return f"{count} articles: recall@20 {vectors:.3f} by vectors, {both:.3f} by both; among the reranked 5: {five:.3f}"


def part_of_the_set(room: Room, count: int) -> Path:
    """Write the first articles of the set without their headlines, and the headlines as questions."""
    source, folder = room.data / "malaysian_news/dev", room.folder / "part"
    folder.mkdir()
    lines = (source / "corpus.jsonl").read_text("utf-8").splitlines()[:count]
    (folder / "corpus.jsonl").write_text("\n".join(lines), "utf-8")
    known = {json.loads(line)["id"] for line in lines}
    judged = [line for line in (source / "qrels.tsv").read_text("utf-8").splitlines() if line.split("\t")[1] in known]
    (folder / "qrels.tsv").write_text("\n".join(judged), "utf-8")
    asked = {line.split("\t")[0] for line in judged}
    queries = (source / "queries.jsonl").read_text("utf-8").splitlines()
    kept = [line for line in queries if json.loads(line)["id"] in asked]
    (folder / "queries.jsonl").write_text("\n".join(kept), "utf-8")
    return folder


@SYSTEM.feature("approximate vector search", "ragstone search QUESTION --set index.vectors=faiss:HNSW")
def searches_approximately(room: Room) -> str:
    exact = [hit["document_id"] for hit in hits(room, ENGLISH)]
    near = [hit["document_id"] for hit in hits(room, ENGLISH, "--set", "index.vectors=faiss:HNSW")]
    expect(near[0] == exact[0], f"first is {near[0]} instead of {exact[0]}")
    return f"{len(set(near) & set(exact))} of {len(exact)} articles are those of the exact search"


@SYSTEM.feature(
    "marks of a hosted judge, votes on web answers, seconds with a hosted model", "ragstone eval run QUESTIONS"
)
def hosted_figures(_: Room) -> str:
    raise Unavailable("they need a hosted model and readers; the judge and the model here are a few lines of code")
