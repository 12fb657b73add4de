"""The examples in docs/agents.md that need a server or start one."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kb import READY, add, open_fast
from live import served
from mcp import Client, StdioServerParameters
from running import ROOT, START, environment

from ragstone.core.records import Document

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Return the first example in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)[0]


def test_openai_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(open_fast(tmp_path / "kb", READY)) as engine:
        add(engine, Document(id="settings.md", text="chunk.size is the longest that a chunk may be."))
        with served(engine) as live:
            code = block("py").replace("http://127.0.0.1:8000", live.url)
            assert live.url in code
            exec(compile(code, "docs/agents.md", "exec"), {})
    answer, address, citations = capsys.readouterr().out.strip().split("\n")
    assert "longest that a chunk may be" in answer
    assert address.startswith(f"{live.url}/#/d/settings.md?start=0")
    assert "settings.md" in citations


def test_agent_configuration_starts_the_server(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb", READY)) as engine:
        add(engine, Document(id="settings.md", text="chunk.size is the longest that a chunk may be."))
    told: Any = json.loads(block("json"))["mcpServers"]["ragstone"]
    assert told["command"] == "ragstone"
    arguments = [str(tmp_path / "kb") if one.startswith("/") else one for one in told["args"]]

    async def listed() -> list[str]:
        own = environment(PYTHONPATH=str(ROOT / "tests"))
        server = StdioServerParameters(command=sys.executable, args=["-W", "error", "-c", START, *arguments], env=own)
        async with Client(server) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert sorted(asyncio.run(listed())) == sorted(
        re.findall(r"^\| `(\w+)` \|", PAGE.partition("## OpenAI")[0], flags=re.MULTILINE)
    )
