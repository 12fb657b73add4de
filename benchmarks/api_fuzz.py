"""The HTTP API against its own OpenAPI document: Schemathesis makes up requests, right ones and wrong ones.

It is installed into an environment of its own. Counted are answers that the document does not allow, errors of the
server, right requests that are refused and wrong ones that are not. What the document cannot say is in `CONFIG`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.common import ROOT, Options, Result, Table, main, told
from benchmarks.peer_environments import NotInstalled, Peer, prepare
from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.index import Journal
from ragstone.usage.keys import KeyLimits, Keys

TOOL = Peer(name="schemathesis", script="", requires=("schemathesis==4.32.5",))
EXAMPLES, FEW = 500, 20
PORT = 8977
DOCUMENTS = 1_000
CONFIG = """\
suppress-health-check = ["all"]
continue-on-failure = true

[[operations]]
include-name = "POST /documents"
checks.positive_data_acceptance.enabled = false
checks.negative_data_rejection.enabled = false

[[operations]]
include-name = "POST /v1/chat/completions"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-name = "POST /v1/embeddings"
checks.positive_data_acceptance.enabled = false
"""
"""What the document cannot say. Of forms: which names of files tell a kind; and that in them everything is a text, so
that what was meant as an object is a group of that name. Of conversations: that one of the messages is a question. Of
vectors: how many dimensions those of the embedder have."""
HOOKS = """\
import itertools

import schemathesis
from hypothesis import strategies
from schemathesis.specs.openapi.adapter import formdata

FILTERS = ["", "kind = markdown", "language in (de, en)", "not (word_count > 5)", "exists title or year >= 2020"]
schemathesis.openapi.format("ragstone-filter", strategies.sampled_from(FILTERS))
schemathesis.openapi.format("ragstone-embedder", strategies.sampled_from(["ragstone", "minilm"]))

# Files get names by which they are read; otherwise every form would be refused for them.
NAMES = itertools.cycle(["txt", "md", "csv", "html", "pdf", "docx", "json", "rst", "xlsx", "exe"])
NUMBERS = itertools.count()
formdata._filename = lambda name, value: f"{name}{next(NUMBERS) % 997}.{next(NAMES)}"


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    # Half of the documents that are asked for or deleted are there; those that are deleted are not asked for.
    if not path_parameters or not isinstance(told := path_parameters.get("document_id"), str) or len(told) % 2:
        return path_parameters
    number = sum(map(ord, told)) % 50
    if context.operation.method.upper() == "DELETE":
        number = 50 + next(NUMBERS) % 950
    return {**path_parameters, "document_id": f"house/{number}.md"}


@schemathesis.hook
def map_body(context, body):
    # Half of the conversations end with a question, so that they are answered.
    messages = body.get("messages") if isinstance(body, dict) else None
    if isinstance(messages, list) and len(messages) % 2:
        return {**body, "messages": [*messages, {"role": "user", "content": "Where do visitors park?"}]}
    return body
"""


async def measure(options: Options) -> Result:
    """Serve a small knowledge base, and let the tool ask."""
    folder = options.keep / "api_fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schemathesis.toml").write_text(CONFIG)
    (folder / "hooks.py").write_text(HOOKS)
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "room.txt").write_text("Room 9 is called Lise Meitner.")
    try:
        tool = prepare(TOOL, options.keep, install=True)
    except NotInstalled as why:
        return Result(figures={"skipped": True}, notes=[f"SKIPPED: {why}"])
    with closing(Engine.open(folder / "kb", create=True)) as engine:
        texts = (f"Visitors number {i} park behind the mill. The gate closes at nine." for i in range(DOCUMENTS))
        await engine.add([Document(id=f"house/{i}.md", text=text, title=f"No {i}") for i, text in enumerate(texts)])
    with closing(Keys(Journal(folder / "kb"))) as keys:
        _, key = keys.make("fuzz", ["admin"], limits=KeyLimits(rate_per_minute=0, concurrent=0))
    count = FEW if options.quick else EXAMPLES
    with _served(folder):
        told(f"{count} examples an operation")
        done = subprocess.run(
            [
                *(str(tool.python), "-m", "schemathesis.cli", "run", str(ROOT / "docs" / "openapi.json")),
                *("--url", f"http://127.0.0.1:{PORT}", "--max-examples", str(count), "--no-color", "--seed", "1"),
                *("--header", f"Authorization: Bearer {key}", "--request-timeout", "60"),
            ],
            cwd=folder,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
    (folder / "report.txt").write_text(done.stdout + done.stderr)
    if not re.search(r"Tested: \d+", done.stdout):
        raise RuntimeError(f"the tool did not come to its end; it says why in {folder / 'report.txt'}")
    return _result(done.stdout, done.returncode, folder / "report.txt")


def _result(text: str, code: int, report: Path) -> Result:
    tested = int(_found(r"Tested: (\d+)", text))
    cases = int(_found(r"(\d+) generated", text))
    failures = re.findall(r"(?:❌|🚫) (.+): (\d+)$", text, flags=re.MULTILINE)
    rows = [(what, count) for what, count in failures] or [("none", "0")]
    return Result(
        figures={
            "operations": tested,
            "cases": cases,
            "violations": sum(int(count) for _, count in failures),
            "exit": code,
        },
        tables=[Table(title="Violations of the OpenAPI document", columns=["what", "count"], rows=rows)],
        notes=[f"{cases} requests to {tested} operations; the whole report: {report}"],
    )


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else "0"


@contextmanager
def _served(folder: Path) -> Iterator[None]:
    words = ("serve", "--kb", "kb", "--port", str(PORT), "--set", "serve.sources=[docs]", "--set", "serve.log=warning")
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli import main; main()"
    command = [sys.executable, "-c", start, *words]
    with (folder / "log.txt").open("w") as log, subprocess.Popen(command, cwd=folder, stderr=log) as server:
        try:
            _await(f"http://127.0.0.1:{PORT}/ready")
            yield
        finally:
            server.terminate()


def _await(address: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(f"nothing answers at {address}")


if __name__ == "__main__":
    main({"api_fuzz": measure}, "api_fuzz")
