"""The commands of docs/models.md and docs/trust.md, run in their order with a server on loopback as the service."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from running import ROOT, Run
from test_docs import PAGES, SHELLS, blocks, commands

from ragstone.respond.writing.prompt import load_prompt
from ragstone.respond.writing.told import FirstLine
from servers.openai_server import KEY, OpenAIServer

NOT_RUN = "# not run by the tests"
PROMPT = "style: Answer in one sentence.\n"


@pytest.mark.parametrize("name", ["models.md", "trust.md"])
def test_documented_commands_run(name: str, run: Run, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    (workdir / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "python.md", workdir / "docs")
    shutil.copytree(ROOT / "examples" / "alderwren" / "people", workdir / "docs" / "people")
    (workdir / "manuals.yaml").write_text(PROMPT, encoding="utf-8")
    page = next(page for page in PAGES if page.name == name)
    ran = 0
    with OpenAIServer(lambda _: "Chunks are cut by headings [1].") as server:
        monkeypatch.setenv("LLM_MODEL", "my-model")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert run("add", "docs/").code == 0
        for _, text in blocks(page, *SHELLS):
            if NOT_RUN in text:
                continue
            for words in commands(text):
                done = run(*words)
                assert done.code == 0, f"ragstone {' '.join(words)}: {done.err}"
                assert "the language model failed" not in done.err, done.err
                ran += 1
    assert ran >= 3
    assert server.asked


def test_the_documented_reply_is_what_the_prompt_asks_for():
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    told = dict[str, str | None]()
    for line in re.findall(r"`(FOUND: \w+)`", page):
        first = FirstLine()
        assert first.add(f"{line}\nMasks.") + first.end() == "Masks."
        told[line.removeprefix("FOUND: ")] = first.told
        assert f'"$found {line.removeprefix("FOUND: ")}"' in " ".join(load_prompt("default").rules)
    assert told == {"yes": "all", "partly": "part", "no": "nothing"}
