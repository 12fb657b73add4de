"""The Model Context Protocol at /mcp."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
from kb import add, open_fast
from live import DOCUMENTS, make_key, served
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

SALARY = {"question": "What is the salary of the director?"}


def test_agents_read_what_their_key_may(tmp_path: Path) -> None:
    async def asked(url: str, key: dict[str, str]) -> dict[str, Any]:
        async with (
            httpx2.AsyncClient(headers=key) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            listed = (await client.list_resources()).resources
            answer = await client.call_tool("ask", SALARY)
            assert answer.structured_content is not None
            return {"abstained": answer.structured_content["abstained"], "documents": len(listed)}

    with closing(open_fast(tmp_path / "kb")) as engine:
        add(engine, *DOCUMENTS)
        staff = make_key(tmp_path / "kb", "staff", groups=["staff"])
        hr = make_key(tmp_path / "kb", "hr", groups=["hr"])
        writing = make_key(tmp_path / "kb", "writes", "write")
        with served(engine) as live:
            assert asyncio.run(asked(live.url, staff)) == {"abstained": True, "documents": 2}
            assert asyncio.run(asked(live.url, hr)) == {"abstained": False, "documents": 3}
            for key, status in (({}, 401), ({"authorization": "Bearer rgs_x_y"}, 401), (writing, 403)):
                assert live.http.post("/mcp", json={}, headers=key).status_code == status
            assert live.http.get("/mcp", headers=hr).status_code == 405
