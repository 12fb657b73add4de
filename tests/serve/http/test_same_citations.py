"""One question in every interface: the citations are the same, byte for byte."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import openai
from kb import add, open_fast
from live import Live, served
from mcp import Client, StdioServerParameters
from running import ROOT, START, environment, program

from ragstone import Ragstone
from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.serve.langchain import cited

QUESTION = "Wie heißt Raum 7?"
TEXT = (
    "# Räume\r\n\r\nRaum 7 heißt „Marie Curie“ 🧪 und hat zwölf Plätze.\u00a0"
    "Bitte nichts essen. Abends ist alles zu. Der Aufzug fährt nicht. Am Sonntag ist Ruhe. "
    "Das Cafe\u0301 neben Raum 7 heißt\tCurie </script><b> Co.\r\n"
)
FROM = environment(PYTHONPATH=str(ROOT / "tests"))


def test_citations_are_the_same_in_every_interface(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    with closing(open_fast(kb)) as engine:
        document = Document(id="häuser/räume & mehr.md", text=TEXT, title="Räume", url="https://example.org/ä?b=1&c=2")
        add(engine, document, Document(id="b", text="Parken hinter der Mühle ist frei."))
        answer = asyncio.run(engine.ask(QUESTION, reader=OWNER))
        expected = as_bytes([asdict(one) for one in answer.citations])
        assert len(answer.citations) >= 2
        for citation in answer.citations:
            assert TEXT[citation.start : citation.end] == citation.quote
        with served(engine) as live:
            found = {
                "HTTP": live.ask(QUESTION).json()["citations"],
                "HTTP events": live.events(QUESTION)[-1][1]["citations"],
                **asyncio.run(through_mcp(kb, live.url)),
                **through_openai(live),
            }
    found["command line"] = program("ask", QUESTION, "--kb", str(kb), "--json", env=FROM).json["citations"]
    notebook = Ragstone(kb)
    found["notebook"] = [asdict(one) for one in notebook.ask(QUESTION).citations]
    found["LangChain"] = [one.metadata for one in cited(notebook.ask(QUESTION))]
    notebook.close()
    for name, citations in found.items():
        assert as_bytes(citations) == expected, name
    assert len(found) == 9


def as_bytes(citations: Sequence[Any]) -> bytes:
    return json.dumps(citations, ensure_ascii=False).encode()


async def through_mcp(kb: Path, url: str) -> dict[str, Any]:
    started = StdioServerParameters(
        command=sys.executable, args=["-W", "error", "-c", START, "mcp", "--kb", str(kb)], env=FROM
    )
    out = {}
    for name, server in (("MCP over HTTP", f"{url}/mcp"), ("MCP over stdio", started)):
        async with Client(server) as client:
            result = await client.call_tool("ask", {"question": QUESTION})
            assert result.structured_content is not None
            out[name] = result.structured_content["citations"]
    return out


def through_openai(live: Live) -> dict[str, Any]:
    with openai.OpenAI(base_url=f"{live.url}/v1", api_key="none") as client:
        messages: Any = [{"role": "user", "content": QUESTION}]
        whole: Any = client.chat.completions.create(model="ragstone", messages=messages)
        *_, last = client.chat.completions.create(model="ragstone", messages=messages, stream=True)
    streamed: Any = last
    return {"OpenAI": whole.ragstone["citations"], "OpenAI streamed": streamed.ragstone["citations"]}
