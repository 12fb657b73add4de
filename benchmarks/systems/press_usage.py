"""The preset `publications`: prompts, models, interfaces, containers; and MLflow tracking, which every preset has."""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.common import COMMAND, ROOT
from benchmarks.systems.feature import SECONDS, Failed, Room, Unavailable, expect, short
from benchmarks.systems.press import (
    QUESTION,
    SYSTEM,
    await_ready,
    needs,
    press,
    questions,
    releases,
    relevant,
    small,
    tested,
)
from benchmarks.systems.tiny import save_chat
from ragstone.services.model_families import model_families
from servers.openai_server import KEY, OpenAIServer


def _reply(messages: Sequence[Mapping[str, str]]) -> str:
    del messages
    return "Arburg installed a 5G campus network at its headquarters in Lossburg [1]."


def _with_model(url: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY, "RAGSTONE_RESPOND__MODEL__NAME": "openai:a-model"}


@SYSTEM.feature("a prompt of role, examples, numbered blocks and history", "ragstone chat")
def prompt(room: Room) -> str:
    with OpenAIServer(_reply) as model:
        room.ok(
            "chat",
            "--kb",
            press(room),
            stdin=f"{QUESTION}\nWho is the operator of the 5G campus network of Arburg?\n",
            **_with_model(model.url),
        )
        sent = [one.body for one in model.asked if one.path.endswith("/chat/completions")]
    first, last = sent[0]["messages"], sent[-1]["messages"]
    expect(first[0]["role"] == "system" and "assistant of Deutsche Telekom" in first[0]["content"], first[0]["content"])
    roles = [one["role"] for one in first]
    expect(roles == ["system", "user", "assistant", "user", "assistant", "user"], f"roles {roles}")
    blocks = re.findall(r"^(\d+)\. \[Publication ID: \w+\]", first[-1]["content"], re.MULTILINE)
    expect(blocks == ["1", "2", "3", "4", "5"], f"blocks {blocks}")
    expect(any(QUESTION in one["content"] for one in last[5:-1]), "the history is missing")
    options = {name: sent[0].get(name) for name in ("temperature", "top_p")}
    expect(options == {"temperature": 0.6, "top_p": 0.9}, f"{options}")
    return f"messages: {', '.join(roles)}; blocks 1 to 5; the second question with its history"


@SYSTEM.feature("models that are not here, and what replaces them", "ragstone add releases/ --preset publications")
def replaced(room: Room) -> str:
    originals = {
        "index.embedder": "sentence-transformers:intfloat/multilingual-e5-large",
        "rank.reranker": "cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2",
        "respond.model.name": "huggingface:google/gemma-3-4b-it",
    }
    kb = room.folder / "replaced"
    small(room)
    nowhere = {"HF_HUB_CACHE": str(room.folder / "no-models")}
    told = room.ok("add", "few", "--kb", kb, "--preset", "publications", **nowhere).err
    expect(all(told.count(f" with {name}, but") == 1 for name in originals.values()), f"it says {told}")
    again = room.ok("ask", QUESTION, "--kb", kb, **nowhere).err
    expect(", but" not in again, f"a second time it says {again}")
    listed = room.json("settings", "--preset", "publications", "--json", **nowhere)["settings"]
    origins = {one["path"]: one["origin"] for one in listed}
    expect(all(name in origins[path] for path, name in originals.items()), f"settings: {origins}")
    with OpenAIServer(_reply) as model:
        words = ("--profile", "development", "--set", "respond.model.name=openai:a-model")
        hosted = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": KEY}
        room.ok("ask", QUESTION, "--kb", kb, *words, "--set", "respond.abstain_below=0", **hosted)
        sent = [one.body for one in model.asked if "messages" in one.body][-1]
    most = sent.get("max_tokens") or sent.get("max_completion_tokens")
    expect((sent["temperature"], most) == (0.8, 128), f"development sends {sent['temperature']}, {most}")
    return f"{', '.join(originals.values())}: each named once, and in the settings; a profile for development"


@SYSTEM.feature("answers word by word into a pipe", "ragstone ask QUESTION | cat")
def piped(room: Room) -> str:
    command = [*COMMAND, "ask", QUESTION, "--kb", str(press(room)), "--set", "cache.enabled=false"]
    with OpenAIServer(_reply, pause=0.2) as model:
        own = {**os.environ, "PYTHONPATH": str(ROOT), **_with_model(model.url)}
        with subprocess.Popen(command, cwd=room.folder, env=own, stdout=subprocess.PIPE, bufsize=0) as asking:
            pieces = [*iter(lambda: asking.stdout.read(4096) if asking.stdout else b"", b"")]
    text = b"".join(pieces).decode()
    expect("Arburg installed a 5G campus network" in text, f"it printed {short(text)}")
    expect(len(pieces) > 3, f"the text came in {len(pieces)} pieces")
    return f"{len(pieces)} pieces of text"


@SYSTEM.feature("answers word by word over HTTP", "curl -H 'Accept: text/event-stream' localhost:8000/query")
def streaming(room: Room) -> str:
    with OpenAIServer(_reply, pause=0.05) as model, room.serving(press(room), **_with_model(model.url)) as site:
        await_ready(site)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        body = json.dumps({"question": "Where has Arburg launched a 5G campus network?"}).encode()
        request = urllib.request.Request(f"{site.url}/query", body, headers)
        with urllib.request.urlopen(request, timeout=SECONDS) as stream:
            names = [line[7:].strip().decode() for line in stream if line.startswith(b"event: ")]
    expect(names[0] == "evidence" and names[-1] == "answer" and names.count("text") > 3, f"events {names}")
    return f"{names.count('text')} pieces of text between evidence and answer"


@SYSTEM.feature("local Hugging Face models", "ragstone ask --set respond.model.name=huggingface:qwen2.5")
def local_models(room: Room) -> str:
    needs("transformers", "transformers")
    model = room.folder / "tiny-model"
    save_chat(model)
    words = ("respond.abstain_below=0", "respond.model.max_tokens=12", "respond.context_tokens=2000")
    settings = [word for one in (f"respond.model.name=huggingface:{model}", *words) for word in ("--set", one)]
    answer = room.json("ask", QUESTION, "--kb", press(room), *settings, "--json")
    expect(answer["usage"]["completion_tokens"] > 0 and answer["usage"]["model_calls"] == 1, f"{answer['usage']}")
    return f"a tiny model made here wrote {answer['usage']['completion_tokens']} tokens; the real ones need the hub"


@SYSTEM.feature("chat templates of five model families", "ragstone ask --set respond.model.name=huggingface:gemma2")
def families(room: Room) -> str:
    del room
    expect(set(model_families()) == {"qwen2.5", "qwen3", "llama3", "gemma2", "gemma3"}, f"{[*model_families()]}")
    needs("transformers", "transformers")
    return tested("tests/services/test_chat_families.py")


@SYSTEM.feature("recall, precision and what reranking gains", "ragstone eval compare A B questions.csv")
def measured(room: Room) -> str:
    kb, asked = press(room), questions(room)
    lines = ["question,source", *(f'"{asked[id]}",releases/{name}' for id, name in relevant(room))]
    (room.folder / "questions.csv").write_text("\n".join(lines), encoding="utf-8")
    saved = {}
    for name, words in (("without", ["--no-reranking"]), ("with", [])):
        file = room.folder / f"{name}.json"
        words = ["eval", "questions.csv", "--kb", str(kb), "--search-only", *words, "--save", str(file), "--json"]
        saved[name] = room.json(*words)["measures"]
    compared = room.json("eval", "compare", "without.json", "with.json", "--metric", "mrr@10", "--json")
    names = ("recall@5", "p@5", "mrr@10")
    told = ", ".join(
        f"{name} {saved['without'][name]['mean']:.3f} to {saved['with'][name]['mean']:.3f}" for name in names
    )
    expect("difference" in json.dumps(compared), f"{[*compared]}")
    return f"{len(asked)} questions, without and with reranking: {told}"


# ---------------------------------------------------------------- interfaces


@SYSTEM.feature("a page to try parameters", "ragstone lab")
def lab(room: Room) -> str:
    needs("streamlit", "streamlit")
    del room
    return tested("tests/serve/test_lab.py")


@SYSTEM.feature("HTTP API with keys and limits", "ragstone serve --tls")
def http_api(room: Room) -> str:
    kb = small(room)
    key = room.json("key", "make", "anna", "--scope", "admin", "--rate", "8", "--kb", kb, "--json")["key"]
    try:
        with room.serving(kb, key=key) as site:
            await_ready(site)
            expect(site.get("/health").json()["status"] == "alive", "not alive")
            expect(urllib_status(f"{site.url}/status") == 401, "status without a key")
            status = site.get("/status").json()
            expect(status["documents"] == 5 and status["preset"] == "publications", f"{status}")
            hits = site.post("/search", {"query": "open RAN"}).json()["hits"]
            expect({"doc_id", "chunk_id", "chunk_index", "total_chunks"} <= set(hits[0]["metadata"]), f"{hits[0]}")
            expect("answer" in site.post("/query", {"question": "What is open RAN?"}).json(), "no answer")
            expect("ragstone_questions_total" in site.get("/metrics").body, "no metrics")
            expect("<h2><code>POST /query</code></h2>" in site.get("/docs").body, "no page of the API")
            statuses = [site.get("/me").status for _ in range(12)]
            expect(429 in statuses, f"no limit: {statuses}")
    finally:
        room.ok("key", "revoke", "anna", "--kb", kb)
    return f"401 without a key, 429 after {statuses.index(429) + 4} requests, {status['documents']} documents"


def urllib_status(url: str) -> int:
    """Return the status of an address, whatever it is."""
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@SYSTEM.feature("the page of another origin", "make page API=https://rag.example.org")
def page(room: Room) -> str:
    del room
    checks = (ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8")
    expect("needs: [python, web]" in checks and "deploy-pages" in checks, "the workflow does not wait for the checks")
    if not shutil.which("npm") or not (ROOT / "web/node_modules").is_dir():
        raise Unavailable("Node or the page's packages are not installed here")
    return tested("tests/web/test_published.py")


@SYSTEM.feature("one make command for each task", "make serve | ui | debug | web | ingest | rebuild ...")
def makefile(room: Room) -> str:
    del room
    targets = {
        "serve": 'ragstone serve --kb "own kb" --port 81',
        "ui": 'ragstone lab --kb "own kb" --port 81',
        "debug": '-m pdb -c continue -m ragstone serve --kb "own kb" --port 81',
        "web": "npm run build",
        "ingest": 'ragstone sync --kb "own kb"',
        "rebuild": 'ragstone rebuild --kb "own kb"',
        "clean": "rm -rf",
        "clean-data": 'rm -rf -- "own kb"',
        "test": "pytest",
        "images": "docker buildx build",
        "images-run": "-p 127.0.0.1:81:8000",
    }
    for target, wanted in targets.items():
        command = ["make", "--dry-run", target, "DOCS=docs", "KB=own kb", "PORT=81"]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        expect(ended.returncode == 0 and wanted in ended.stdout, f"make {target}: {short(ended.stdout + ended.stderr)}")
    return ", ".join(targets)


@SYSTEM.feature("the image's entrypoint over TLS", "TLS=yes DOCUMENTS=documents deploy/entrypoint.sh")
def entrypoint(room: Room) -> str:
    data, port = room.folder / "volume", 18917
    (data / "documents").mkdir(parents=True)
    shutil.copytree(releases(room).parent / "few", data / "documents" / "few") if small(room) else None
    program = room.folder / "bin" / "ragstone"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{COMMAND[0]}' -c '{COMMAND[2]}' \"$@\"\n")
    program.chmod(0o755)
    own = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(data), "PYTHONPATH": str(ROOT)}
    own |= {"TLS": "yes", "DOCUMENTS": "documents", "RAGSTONE_SERVE__PORT": str(port)}
    with subprocess.Popen(["sh", str(ROOT / "deploy/entrypoint.sh")], cwd=data, env=own, stderr=subprocess.PIPE) as run:
        try:
            health = _over_tls(f"https://127.0.0.1:{port}/health", run)
            key = (data / "admin-key").read_text().strip()
            status = _over_tls(f"https://127.0.0.1:{port}/status", run, key)
            expect(status["documents"] == 5, f"{status['documents']} documents")
        finally:
            run.terminate()
            run.communicate(timeout=60)
    return f"{health['status']}; 5 documents read at the start; the certificate and the key were made"


def _over_tls(url: str, run: subprocess.Popen[bytes], key: str = "") -> Any:
    """Return JSON from a server with a self-signed certificate, once it answers."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    end = time.monotonic() + 300
    while True:
        try:
            with urllib.request.urlopen(request, context=trusting, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise Failed(f"status {error.code} of {url}") from error
        except OSError as error:
            expect(run.poll() is None and time.monotonic() < end, f"the entrypoint ended or hangs: {error}")
            time.sleep(0.3)


@SYSTEM.feature("the image in a fresh Debian", "make images-check")
def image(room: Room) -> str:
    del room
    raise Unavailable("it takes root, 3 GB and many minutes; make images-check does it")


@SYSTEM.feature("rebuilds while questions are answered", "ragstone worker releases/ --rebuild --every 1d")
def rebuilds(room: Room) -> str:
    kb = room.folder / "rebuilt"
    small(room)
    room.ok("add", "few", "--kb", kb, "--preset", "publications")
    with room.serving(kb) as site:
        await_ready(site)
        before = site.get("/status").json()
        words = ["worker", "few", "--kb", str(kb), "--set", "chunk.size=400", "--rebuild", "--every", "1d"]
        own = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen([*COMMAND, *words], cwd=room.folder, env=own, stdout=subprocess.DEVNULL) as worker:
            try:
                answered, end = 0, time.monotonic() + 300
                while (after := site.get("/status").json())["chunks"] == before["chunks"]:
                    expect(worker.poll() is None and time.monotonic() < end, "the worker ended, or rebuilds nothing")
                    expect(site.post("/query", {"question": "What is open RAN?"}).status == 200, "a question failed")
                    answered += 1
            finally:
                worker.terminate()
                worker.wait(60)
    expect(after["built_with"]["chunk.size"] == 400 and answered, f"{after['built_with']}")
    return f"{answered} questions answered meanwhile; {before['chunks']} chunks became {after['chunks']}"


# ---------------------------------------------------------------- every preset
