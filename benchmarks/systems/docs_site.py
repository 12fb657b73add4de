"""The preset `docs-site`, feature by feature: built pages of CUDA-Q's documentation on a web server on loopback."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.systems.feature import Output, Room, System, Unavailable, expect, short
from ragstone.core.installation import install_command
from ragstone.question import Context, read
from ragstone.settings.load import load
from servers.openai_server import KEY, OpenAIServer
from servers.site import Reply, WebSite, page

SYSTEM = System(preset="docs-site", data=("cudaq_docs",))
START = "/v1/using/cudaq.html"
PRIVATE = "/v1/using/cudaq/verbose_out.html"
"""A page that the site's robots.txt forbids."""
KERNEL = "What is a kernel?"
CRAWL = {
    "RAGSTONE_ACQUIRE__CRAWL__ALLOW_PRIVATE": "true",
    "RAGSTONE_ACQUIRE__CRAWL__DELAY_SECONDS": "0",
}
BOOST = re.compile(r"([+-][\d.]+) (kind|code|keywords|difficulty|short)")


# ---------------------------------------------------------------- C1: sources


@contextmanager
def pages(room: Room) -> Generator[WebSite]:
    """Serve the built pages, with one of them forbidden."""
    robots = Reply(body=f"User-agent: *\nDisallow: {PRIVATE}".encode(), headers={"Content-Type": "text/plain"})
    with WebSite({"/robots.txt": robots}, folder=room.data / "cudaq_docs/html_preview") as site:
        yield site


def crawled(room: Room, site: WebSite, *words: str) -> Any:
    """Crawl the pages by the name of their site, and return the report."""
    start = {"RAGSTONE_ACQUIRE__SITES__CUDA_Q__START": site.url + START}
    named = ("crawl", "cuda_q", "--kb", "site", "--preset", "docs-site", "--json", *words)
    return room.json(*named, **CRAWL, **start)


def crawled_site(room: Room) -> Path:
    """Return the knowledge base of the crawled site, made when first asked for."""
    kb = room.folder / "site"
    if not kb.exists():
        with pages(room) as site:
            crawled(room, site)
    return kb


@SYSTEM.feature("a crawl by the name of a site, within its path and robots.txt", "ragstone crawl cuda_q")
def crawls_a_site(room: Room) -> str:
    with pages(room) as site:
        report = crawled(room, site)
        asked = set(site.pages)
        outside = [one for one in asked if not one.startswith("/v1/using/")]
        expect(not outside, f"fetched outside of the path of the start: {outside}")
        expect(PRIVATE not in asked, f"fetched {PRIVATE}, which robots.txt forbids")
        expect(report["added"] > 15, f"{report['added']} pages added")
        site.forget()
        again = crawled(room, site)
        conditional = [one for one in site.asked if one.headers.get("if-none-match")]
        unchanged = (again["added"], again["updated"], again["removed"])
        expect(unchanged == (0, 0, 0), f"the second crawl changed {unchanged}")
        expect(len(conditional) == report["added"], f"{len(conditional)} conditional requests in the second crawl")
        site.forget()
        crawled(room, site, "--force")
        forced = [one for one in site.asked if one.headers.get("if-none-match")]
        expect(not forced, f"--force still sent {len(forced)} conditional requests")
        expect(len(set(site.pages)) == len(asked), f"--force fetched {len(set(site.pages))} of {len(asked)} pages")
    return f"{report['added']} pages; then {len(conditional)} conditional requests and no change; --force fetched all"


@SYSTEM.feature("a crawl of a site without end, or with the same page everywhere", "ragstone crawl URL")
def ends(room: Room) -> str:
    below = [""]
    for _ in range(4):
        below += [f"{path}{part}/" for path in below for part in ("sub", "x6") if f"{path}{part}/" not in below]
    routes = {f"/d/p{i}/{path}": page("sub/", "x6/", text=f"page {i}") for i in range(20) for path in below}
    routes["/d/"] = page(*(f"p{i}/" for i in range(20)))
    locations = "".join(f"<url><loc>ORIGIN/e/p{i}</loc></url>" for i in range(50_000))
    routes |= {f"/e/p{i}": page(text=f"entry {i}") for i in range(40)} | {"/e/": page()}
    with WebSite(routes) as site:
        site.routes["/sitemap.xml"] = Reply(body=f"<urlset>{locations}</urlset>".replace("ORIGIN", site.url).encode())
        crawl = ("crawl", "--kb", "endless", "--preset", "docs-site", "--json")
        report = room.json(*crawl, f"{site.url}/d/", **CRAWL)
        repeated = len(site.pages) - 21
        expect(repeated <= 2 * 20 + 2 * 20, f"{repeated} fetches of repeated pages")
        expect(report["added"] == 21, f"{report['added']} of 21 pages added")
        expect("repeat another page" in str(report["skipped"]), "the report does not say that links were left out")
        site.forget()
        report = room.json(*crawl, f"{site.url}/e/", "--set", "acquire.crawl.max_pages=30", **CRAWL)
        expect(len(site.pages) == 30, f"{len(site.pages)} pages of a sitemap of 50,000 fetched, at max_pages=30")
        expect("stopped at acquire.crawl.max_pages=30" in str(report["skipped"]), "the report does not name the limit")
    return f"21 pages and {repeated} repeated ones; 30 of 50,000 entries of a sitemap, and the report says why"


@SYSTEM.feature("a folder of HTML, Markdown and reStructuredText", "ragstone add docs/")
def reads_a_folder(room: Room) -> str:
    folder = room.folder / "docs"
    folder.mkdir()
    source = room.data / "cudaq_docs/html_preview/v1/using/cudaq/kernel.html"
    (folder / "kernel.html").write_bytes(source.read_bytes())
    (folder / "install.rst").write_text("Install\n=======\n\nHow to\n------\n\nRun ``pip install it``.\n", "utf-8")
    (folder / "use.md").write_text("# Use\n\n###### Deep\n\nCall it.\n\n```python\ncall_it()\n```\n", "utf-8")
    kb = room.added("folder", folder)
    found = {hit["title"]: hit for hit in hits(room, kb, "call it", "--set", "query.threshold=-1", "-k", "10")}
    expect({"Install", "Use", "What is a CUDA Quantum Kernel?"} <= found.keys(), f"found only {sorted(found)}")
    levels = {hit["metadata"]["section_level"] for hit in found.values()}
    expect({1, 6} <= levels, f"section levels {levels}")
    return f"{len(found)} documents of three kinds, sections of levels {sorted(levels)}"


@SYSTEM.feature("main content only, without navigation and footers", "ragstone show DOCUMENT_ID")
def main_content_only(room: Room) -> str:
    kb = crawled_site(room)
    raw = (room.data / "cudaq_docs/html_preview/v1/using/cudaq/kernel.html").read_text("utf-8")
    text = room.ok("show", "using/cudaq/kernel.html", "--kb", kb).out
    furniture = ("Built with Sphinx", "All Rights Reserved", "Table of Contents", "Privacy Policy", "View page source")
    there = [words for words in ("Read the Docs", "Copyright", "Previous", *furniture) if words in raw]
    expect(there, "the page has none of the words that would show its furniture")
    kept = [words for words in there if words in text]
    expect(not kept, f"the text has {kept}")
    expect("quantum kernel" in text.lower(), "the text lacks the content")
    return f"left out: {', '.join(there)}"


# ---------------------------------------------------------------- C2, C3: chunks and index


def hits(room: Room, kb: Path, question: str, *words: str) -> Sequence[Mapping[str, Any]]:
    return room.json("search", question, "--kb", kb, "--json", "--explain", *words)["hits"]


@SYSTEM.feature("chunk facts, code apart", "ragstone search QUESTION --json")
def shows_facts(room: Room) -> str:
    wide = ("--set", "query.threshold=-1", "--set", "query.fetch_k=60", "--set", "rank.pool=60")
    found = hits(room, crawled_site(room), "kernel", *wide, "--set", "rank.max_tokens=0", "-k", "60")
    wanted = {"section_title", "section_level", "is_code", "token_count", "chunk_kind", "difficulty"}
    lacking = [wanted - hit["metadata"].keys() for hit in found if not wanted <= hit["metadata"].keys()]
    expect(not lacking, f"metadata lacks {lacking[:1]}")
    addresses = all(hit["url"].startswith("http://") and hit["title"] for hit in found)
    expect(addresses, "a hit has no URL or title")
    longest = max(hit["metadata"]["token_count"] for hit in found)
    expect(longest <= 512, f"a chunk has {longest} tokens")
    code = [hit for hit in found if hit["metadata"]["is_code"]]
    expect(0 < len(code) < len(found), f"{len(code)} of {len(found)} chunks are code")
    kinds = {hit["metadata"]["chunk_kind"] for hit in found}
    filtered = hits(room, crawled_site(room), "kernel", *wide, "--where", "chunk_kind = definition", "-k", "9")
    expect(filtered and all(hit["metadata"]["chunk_kind"] == "definition" for hit in filtered), "the filter fails")
    return f"{len(found)} chunks of at most {longest} tokens, {len(code)} of them code; kinds {sorted(kinds)}"


@SYSTEM.feature("all-MiniLM-L6-v2 with 384 dimensions", "ragstone status --json")
def uses_minilm(room: Room) -> str:
    kb = crawled_site(room)
    embedder = room.json("status", "--kb", kb, "--json")["built_with"]["settings"]["index.embedder"]
    expect(embedder == "minilm", f"built with {embedder}")
    with room.serving(kb) as site:
        reply = site.post("/v1/embeddings", {"model": "ragstone", "input": "a kernel"})
    width = len(reply.json()["data"][0]["embedding"])
    expect(width == 384, f"{width} dimensions")
    return f"{embedder}, {width} dimensions"


@SYSTEM.feature("vectors in Chroma", "ragstone add docs/ --preset docs-site")
def uses_chroma(room: Room) -> str:
    told = room.ok("search", KERNEL, "--kb", crawled_site(room), "--preset", "docs-site").err
    if importlib.util.find_spec("chromadb") is None:
        expect(install_command("chroma") in told, "no notice says that the embedded index stands in")
        raise Unavailable("chromadb is not installed; the embedded index stands in, and a notice says so")
    engines = room.json("settings", "--kb", crawled_site(room), "--json")
    chosen = next(one["value"] for one in engines["settings"] if one["path"] == "index.vectors")
    expect(chosen == "chroma", f"index.vectors is {chosen}")
    return "index.vectors=chroma"


# ---------------------------------------------------------------- C4 to C7: search


@SYSTEM.feature("intent, terms, code and difficulty of two questions", "ragstone lab")
def reads_questions(room: Room) -> str:
    del room
    context = Context(language="en", entities=load(preset="docs-site").settings.query.entities)
    bell = read("How do I implement a Bell state?", context)
    fourier = read("Show me an example of a quantum Fourier transform", context)
    expect((bell.kind, bell.difficulty) == ("how_to", "intermediate"), f"{bell.kind}, {bell.difficulty}")
    terms = {(one.kind, one.text) for one in bell.entities}
    expect(terms == {("quantum", "bell state")}, f"terms {terms}")
    expect((fourier.kind, fourier.wants_code) == ("example", True), f"{fourier.kind}, code {fourier.wants_code}")
    expect(fourier.keywords == ("quantum", "fourier", "transform"), f"keywords {fourier.keywords}")
    return f"how_to, intermediate, quantum: bell state; example with code: {', '.join(fourier.keywords)}"


@SYSTEM.feature("the score of intent, code and difficulty", "ragstone search QUESTION --explain")
def analyses(room: Room) -> str:
    kb, seen = crawled_site(room), list[str]()
    wide = ("--set", "query.threshold=-1", "--set", "query.fetch_k=60", "--set", "rank.pool=60", "-k", "60")
    asked = {
        KERNEL: ("definition", {"kind", "keywords"}),
        "Show me an example of a kernel": ("example", {"kind", "code", "keywords", "difficulty"}),
        "Which advanced functions does the specification have?": ("", {"difficulty"}),
    }
    for question, (kind, wanted) in asked.items():
        found = hits(room, kb, question, *wide, "--set", "rank.max_tokens=0")
        names = {name for hit in found for _, name in BOOST.findall(note(hit))}
        expect(wanted <= names, f"{question}: boosts {sorted(names)} instead of {sorted(wanted)}")
        boosted = {hit["metadata"]["chunk_kind"] for hit in found if " kind" in note(hit)}
        expect(not kind or boosted == {kind}, f"{question}: boosted the kinds {boosted}")
        seen.append(f"{kind or 'no intent'}: {', '.join(sorted(names))}")
    return "; ".join(seen)


def note(hit: Mapping[str, Any]) -> str:
    return next(step["note"] for step in hit["why"] if step["stage"] == "boost")


def score(hit: Mapping[str, Any], stage: str) -> float:
    return next(step["score"] for step in hit["why"] if step["stage"] == stage)


@SYSTEM.feature("score = similarity + boosts", "ragstone search 'What is a kernel?' --explain")
def adds_boosts(room: Room) -> str:
    found = hits(room, crawled_site(room), KERNEL)
    for hit in found:
        added = sum(float(value) for value, _ in BOOST.findall(note(hit)))
        similarity = score(hit, "vector")
        expect(abs(hit["score"] - similarity - added) < 0.002, f"{hit['score']:.3f} is not {similarity:.3f} + {added}")
    order = [hit["score"] for hit in found]
    expect(order == sorted(order, reverse=True), f"scores are not in order: {order}")
    first = found[0]
    expect(first["title"] == "What is a CUDA Quantum Kernel?", f"first is {first['title']}")
    return f"first: {first['title']}, {score(first, 'vector'):.4f} {note(first)} = {first['score']:.4f}"


@SYSTEM.feature("a threshold on the similarity, and a strict one", "ragstone search QUESTION --profile strict")
def has_threshold(room: Room) -> str:
    kb = crawled_site(room)
    plain, strict = hits(room, kb, KERNEL), hits(room, kb, KERNEL, "--profile", "strict")
    for found, least in ((plain, 0.4), (strict, 0.5)):
        below = [score(hit, "vector") for hit in found if score(hit, "vector") < least]
        expect(not below, f"similarities {below} are below {least}")
    vague = hits(room, kb, "Where do penguins breed?", "--profile", "strict")
    expect(not vague, f"{len(vague)} chunks for a question about penguins")
    expect(len(plain) > len(strict), f"strict finds {len(strict)}, plain {len(plain)}")
    return f"{len(plain)} chunks reach 0.4, {len(strict)} reach 0.5; none for a question about penguins"


@SYSTEM.feature("twice as many chunks fetched as wanted", "ragstone settings --profile complex")
def fetches_twice(room: Room) -> str:
    seen: list[str] = []
    for profile in ((), ("--profile", "quick"), ("--profile", "complex")):
        listed = room.json("settings", "--kb", crawled_site(room), "--json", *profile)["settings"]
        values = {one["path"]: one["value"] for one in listed}
        fetched, wanted = values["query.fetch_k"], values["rank.top_k"]
        expect(fetched == 2 * wanted == values["rank.pool"], f"{profile}: {fetched} fetched for {wanted}")
        seen.append(f"{fetched} for {wanted}")
    return ", ".join(seen)


@SYSTEM.feature("a budget of chunks and tokens", "ragstone search QUESTION --set rank.max_tokens=200")
def keeps_budget(room: Room) -> str:
    kb, sums = crawled_site(room), dict[str, int]()
    free = ids(hits(room, kb, KERNEL, "--set", "rank.max_tokens=0", "-k", "10"))
    tight = hits(room, kb, KERNEL, "--set", "rank.max_tokens=150", "-k", "5")
    expect(tight and tokens(tight) <= 150, f"{tokens(tight)} tokens at rank.max_tokens=150")
    places = [free.index(one) for one in ids(tight)]
    expect(places == sorted(places), f"the chunks within the budget are not in order: {places}")
    expect(len(tight) < len(free), "no chunk was too long, so nothing was left out")
    for name, (most, budget) in {"": (5, 2000), "quick": (3, 1000), "complex": (10, 4000)}.items():
        found = hits(room, kb, KERNEL, *(["--profile", name] if name else []))
        expect(len(found) <= most and tokens(found) <= budget, f"{name}: {len(found)} chunks, {tokens(found)} tokens")
        sums[name or "plain"] = tokens(found)
    return f"ranks {[place + 1 for place in places]} fit 150 tokens; {sums}"


def ids(found: Sequence[Mapping[str, Any]]) -> list[str]:
    return [hit["chunk_id"] for hit in found]


def tokens(found: Sequence[Mapping[str, Any]]) -> int:
    return sum(hit["metadata"]["token_count"] for hit in found)


# ---------------------------------------------------------------- C8: answers


@SYSTEM.feature("context titled by section, with URLs that the answer cites", "ragstone ask QUESTION")
def cites_sections(room: Room) -> str:
    prompts: list[str] = []

    def reply(messages: Sequence[Mapping[str, str]]) -> str:
        prompts.append("\n".join(one["content"] for one in messages))
        return "A kernel is a function that runs on a quantum processor [1]."

    with OpenAIServer(reply) as model:
        written = room.json(
            *("ask", KERNEL, "--kb", crawled_site(room), "--json", "--set", "respond.abstain_below=0"),
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=model.url,
        )
        names = {one.body["model"] for one in model.asked}
    expect(names == {"gpt-4"}, f"asked the models {names}")
    expect(prompts, f"the model was not asked: {short(json.dumps(written['notices']))}")
    blocks = re.findall(r"^\[\d+\] (.+) \((http://\S+)\)$", prompts[0], re.MULTILINE)
    expect(blocks, f"no block is titled by section and URL: {short(prompts[0])}")
    quoted = room.json("ask", KERNEL, "--kb", crawled_site(room), "--json", "--set", "respond.abstain_below=0")
    expect(quoted["citations"], f"nothing is cited: {short(quoted['answer'])}")
    for one in quoted["citations"]:
        expect(one["url"].startswith("http://") and one["section"], f"a citation lacks URL or section: {one}")
    return f"{len(blocks)} blocks such as '{blocks[0][0]}'; {len(quoted['citations'])} citations with section and URL"


# ---------------------------------------------------------------- C9, C10: settings


@SYSTEM.feature(
    "settings in YAML, changed at run time", "ragstone search QUESTION --preset mine.yaml --set rank.top_k=2"
)
def reads_yaml(room: Room) -> str:
    kb = crawled_site(room)
    chunks = "chunk: {strategy: structure, unit: tokens, size: 512, overlap: 50}"
    mine_file = room.folder / "mine.yaml"
    mine_file.write_text(f"{chunks}\nquery: {{method: vector}}\nrank: {{top_k: 2}}\n", "utf-8")
    mine = hits(room, kb, KERNEL, "--preset", str(mine_file))
    one = hits(room, kb, KERNEL, "--preset", str(mine_file), "--set", "rank.top_k=1")
    expect((len(mine), len(one)) == (2, 1), f"{len(mine)} and {len(one)} chunks instead of 2 and 1")
    theirs = room.folder / "base_config.yaml"
    theirs.write_text("embedding: {model_name: all-MiniLM-L6-v2}\nchunking: {max_tokens: 512, language: en}\n", "utf-8")
    output = room.run("search", KERNEL, "--kb", kb, "--preset", theirs)
    refused(output, "index.embedder for embedding.model_name", "nothing corresponds to chunking.language")
    return "2 chunks by the file, 1 by --set; settings of another system are named with ours"


def refused(output: Output, *words: str) -> str:
    expect(output.status in (1, 2), f"ended with {output.status}: {short(output.all)}")
    expect(all(word in output.err for word in words), f"the message lacks one of {words}: {short(output.err)}")
    return short(output.err)


@SYSTEM.feature("a changed chunk size or model is refused, with the rebuild", "ragstone ask QUESTION --chunk-size 256")
def refuses_to_mix(room: Room) -> str:
    kb = crawled_site(room)
    size = room.run("search", KERNEL, "--kb", kb, "--set", "chunk.size=256")
    refused(size, "chunk.size=512", "256", "ragstone rebuild")
    model = room.run("search", KERNEL, "--kb", kb, "--set", "index.embedder=e5-small")
    return refused(model, "index.embedder", "ragstone rebuild").replace(str(room.folder), "")


@SYSTEM.feature("profiles by name, also over HTTP", "ragstone search QUESTION --profile quick")
def has_profiles(room: Room) -> str:
    kb = crawled_site(room)
    question = "How are kernels compiled and run?"
    counts = {name: len(hits(room, kb, question, "--profile", name)) for name in ("quick", "complex")}
    expect(counts["quick"] == 3 < 5 < counts["complex"] <= 10, f"chunks: {counts}")
    refused(room.run("search", KERNEL, "--kb", kb, "--profile", "slow"), "code, complex, quick, strict")
    refused(room.run("search", KERNEL, "--kb", kb, "--profile", "code"), "chunk.size=1024", "ragstone rebuild")
    code = room.folder / "code"
    source = room.data / "cudaq_docs/html_preview/v1/using/cudaq/kernel.html"
    room.ok("add", source, "--kb", code, "--preset", "docs-site", "--profile", "code")
    built = room.json("status", "--kb", code, "--json")["built_with"]["settings"]["chunk.size"]
    expect(built == 1024, f"the profile code built chunks of {built} tokens")
    with room.serving(kb) as site:
        over = {name: len(found(site.post("/search", {"query": question, "profile": name}))) for name in counts}
        unknown = site.post("/query", {"question": question, "profile": "slow"})
        asked = site.post("/query", {"question": KERNEL, "profile": "quick", "explain": True}).json()
    expect(over == counts, f"over HTTP {over}, at the command line {counts}")
    expect(unknown.status in (400, 422), f"an unknown profile: status {unknown.status}")
    expect(len(asked["hits"]) <= 3, f"POST /query with the profile quick had {len(asked['hits'])} chunks of evidence")
    return f"{counts}, the same over HTTP; code builds chunks of {built} tokens"


def found(reply: Any) -> Sequence[Mapping[str, Any]]:
    return reply.json()["hits"]
