"""The listening socket of a server."""

from __future__ import annotations

import asyncio
import socket

import pytest

from ragstone.serve.listen import listen


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_accepted_connections_have_nodelay(host: str) -> None:
    async def accepted() -> int:
        options: list[int] = []

        async def on_connect(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            options.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        try:
            bound = listen(host, 0)
        except OSError:
            pytest.skip(f"{host} is not available")
        async with await asyncio.start_server(on_connect, sock=bound):
            reader, writer = await asyncio.open_connection(*bound.getsockname()[:2])
            await reader.read()
            writer.close()
            await writer.wait_closed()
        return options[0]

    assert asyncio.run(accepted()) != 0
