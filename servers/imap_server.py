"""A small IMAP server (RFC 3501) on loopback: it lists folders and sends messages, and changes nothing."""

from __future__ import annotations

import re
import socket
import socketserver
import ssl
import threading
from types import TracebackType
from typing import Any, Self

_FETCH = re.compile(r"(?P<what>BODY\.PEEK\[\])<(?P<start>\d+)\.(?P<count>\d+)>")


class Folder:
    """A folder: its messages by UID, its attributes and its UIDVALIDITY."""

    def __init__(self, *messages: bytes, attributes: str = r"\HasNoChildren", validity: int = 1) -> None:
        self.messages = dict(enumerate(messages, start=1))
        self.attributes, self.validity = attributes, validity
        self.is_closed = False


class ImapServer:
    """A server for one user, until the end of a ``with`` block.

    Attributes:
        folders: by their names as IMAP writes them, with slashes between levels. Tests change them between syncs.
        commands: what clients sent, without the passwords.
    """

    def __init__(self, user: str, password: str, folders: dict[str, Folder], tls: ssl.SSLContext | None = None) -> None:
        self.user, self.password, self.folders = user, password, folders
        self.commands: list[str] = []
        server = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = 30

            def handle(self) -> None:
                _Session(server, self).run()

        class Server(socketserver.ThreadingTCPServer):
            def get_request(self) -> tuple[socket.socket, Any]:
                request, address = super().get_request()
                if tls is None:
                    return request, address
                # The handshake waits for the thread of the connection.
                return tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False), address

            def handle_error(self, request: object, client_address: object) -> None:
                """Say nothing of clients that go away, such as those that do not trust the certificate."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def fetched(self) -> int:
        """The number of requests for the text of a message."""
        return sum("BODY.PEEK" in command for command in self.commands)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Session:
    def __init__(self, server: ImapServer, handler: socketserver.StreamRequestHandler) -> None:
        self._server, self._in, self._out = server, handler.rfile, handler.wfile
        self._folder: Folder | None = None
        self._is_known = False

    def run(self) -> None:
        self._send("* OK ready")
        while line := self._in.readline(10_000).decode("ascii").strip():
            tag, _, command = line.partition(" ")
            name, _, arguments = command.partition(" ")
            self._server.commands.append(name if name.upper() == "LOGIN" else command)
            if name.upper() == "LOGOUT":
                self._send("* BYE", f"{tag} OK")
                return
            self._send(f"{tag} {self._answer(name.upper(), arguments)}")

    def _answer(self, name: str, arguments: str) -> str:
        if name == "CAPABILITY":
            self._send("* CAPABILITY IMAP4rev1")
            return "OK done"
        if name == "LOGIN":
            expected = f'{self._server.user} "{self._server.password}"'
            self._is_known = arguments.replace('"' + self._server.user + '"', self._server.user) == expected
            return "OK done" if self._is_known else "NO wrong password"
        if not self._is_known:
            return "NO log in first"
        match name:
            case "LIST":
                for written, folder in self._server.folders.items():
                    self._send(f'* LIST ({folder.attributes}) "/" "{written}"')
            case "EXAMINE":
                return self._examine(arguments.strip('"'))
            case "UID":
                return self._fetch(arguments)
            case _:
                return "BAD unknown command"
        return "OK done"

    def _examine(self, written: str) -> str:
        folder = self._server.folders.get(written)
        if folder is None or folder.is_closed:
            return "NO no such folder"
        self._folder = folder
        self._send(f"* {len(folder.messages)} EXISTS", f"* OK [UIDVALIDITY {folder.validity}] valid")
        return "OK [READ-ONLY] done"

    def _fetch(self, arguments: str) -> str:
        if self._folder is None:
            return "BAD open a folder first"
        _, wanted, what = arguments.split(" ", 2)
        part = _FETCH.search(what)
        for number, (uid, message) in enumerate(self._folder.messages.items(), 1):
            if part is None:
                self._send(f"* {number} FETCH (RFC822.SIZE {len(message)} UID {uid})")
            elif wanted == str(uid):
                start = int(part["start"])
                block = message[start : start + int(part["count"])]
                self._out.write(f"* {number} FETCH (UID {uid} BODY[]<{start}> {{{len(block)}}}\r\n".encode())
                self._out.write(block + b")\r\n")
        return "OK done"

    def _send(self, *lines: str) -> None:
        self._out.write("".join(f"{line}\r\n" for line in lines).encode("ascii"))
