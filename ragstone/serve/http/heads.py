"""Connections that begin a request and never end its head: each would be held open for as long as its sender likes."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def within(seconds: float) -> type[H11Protocol]:
    """How uvicorn speaks to a client, which has this long for the head of a request, however it comes."""

    class Waiting(H11Protocol):
        """Closes the connection when the head has not come in time; h11 alone limits how large it is."""

        _head_due: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._settle()
            super().connection_lost(exc)

        def _look(self) -> None:
            """More of a head does not begin its time anew."""
            if self.conn.their_state is not h11.IDLE:
                self._settle()
            elif self._head_due is None:
                self._head_due = self.loop.call_later(seconds, self._give_up)

        def _settle(self) -> None:
            if self._head_due is not None:
                self._head_due.cancel()
                self._head_due = None

        def _give_up(self) -> None:
            self._head_due = None
            if self.conn.their_state is h11.IDLE:
                self.timeout_keep_alive_handler()

    return Waiting
