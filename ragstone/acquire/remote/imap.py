"""Mailboxes over IMAP: each message is an entry, read as a saved e-mail with its attachments. Nothing is marked read.

A message never changes under its UIDVALIDITY and UID, so these are its version, and a message is fetched once.
"""

from __future__ import annotations

import base64
import imaplib
import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any

from ragstone.acquire.remote.address import Address, Opening
from ragstone.core.errors import SourceError
from ragstone.core.records import Skipped
from ragstone.core.source import Entry
from ragstone.services.network import connected, is_loopback

_PORTS = {"imaps": 993, "imap": 143}
_LINE = re.compile(rb'\((?P<flags>[^)]*)\) (?P<between>"(?:[^"\\]|\\.)*"|NIL) (?P<name>.*)', re.DOTALL)
_MESSAGE = re.compile(rb"UID (\d+)")
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")
_NO_MESSAGES = {b"\\noselect", b"\\nonexistent"}
_LEFT_OUT = {b"\\trash", b"\\junk", b"\\drafts", b"\\all", b"\\flagged"}
"""Attributes (RFC 6154) of folders of messages that are not meant to stay, or that are in other folders too."""
_MODIFIED_BASE64 = re.compile(r"&([^-]*)-")
Line = tuple[bytes, ...]
"""A line of a reply, and the literal that follows it, if any."""
_PART = 1 << 22
"""Bytes of a message that are requested at a time."""


class ImapSource:
    """A folder of a mailbox with the folders below it, or all folders but those for trash, junk and drafts.

    The address is ``imaps://user@host/folder``; the password is in ``IMAP_PASSWORD``, or in the variable that the
    connection names. ``imap://`` begins with STARTTLS, which only a server on this computer may lack.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        self.address = str(address)
        self._at, self._opening = address, opening
        # Only this name means the same in any case.
        self._wanted = re.sub(r"^inbox(?=/|$)", "INBOX", address.path, count=1, flags=re.IGNORECASE)
        self._server: imaplib.IMAP4 | None = None

    def entries(self) -> Iterator[Entry | Skipped]:
        server = self._connected()
        folders = self._folders(server)
        if not folders:
            raise SourceError(f"there is no folder '{self._at.path}' in {self.address}")
        for written, folder in folders:
            try:
                validity = self._select(server, written)
                sizes = _ok(server.uid("FETCH", "1:*", "(RFC822.SIZE)"))
            except (imaplib.IMAP4.abort, OSError) as error:
                raise SourceError(f"{self.address} has stopped answering: {error}") from error
            except imaplib.IMAP4.error as error:
                yield Skipped(source=self._below(folder), reason=f"cannot be listed: {error}")
                continue
            for uid, size in sorted(_messages(sizes)):
                name = f"{folder}/{uid}.eml".removeprefix(f"{self._wanted}/" if self._wanted else "")
                yield Entry(name=name, version=f"{validity}/{uid}", kind=".eml", size=size)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        server = self._connected()
        uid = entry.version.rpartition("/")[2]
        start = 0
        try:
            while True:
                found = _ok(server.uid("FETCH", uid, f"(BODY.PEEK[]<{start}.{_PART}>)"))
                block = next((line[1] for line in found if len(line) > 1), b"")
                if not start and not block:
                    raise SourceError("it is gone")
                yield block
                start += len(block)
                if len(block) < _PART:
                    return
        except imaplib.IMAP4.error as error:
            raise SourceError(str(error)) from error

    def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            try:
                server.logout()
            except (imaplib.IMAP4.error, OSError):
                server.shutdown()

    def _connected(self) -> imaplib.IMAP4:
        if self._server is not None:
            return self._server
        at = self._at
        port = at.port or _PORTS[at.scheme]
        addresses = self._opening.allowed(at.host, port)
        password = self._opening.secret("IMAP_PASSWORD", f"password for {at.place}")
        seconds = self._opening.remote.timeout_seconds
        try:
            server = _Checked(at.host, port, addresses, seconds, is_tls=at.scheme == "imaps")
        except (imaplib.IMAP4.error, OSError) as error:
            raise SourceError(f"{at.place} cannot be reached: {_words(error)}") from error
        try:
            if at.scheme == "imap":
                self._start_tls(server, addresses)
            server.login(at.user, password)
        except (imaplib.IMAP4.error, OSError, SourceError) as error:
            server.shutdown()
            if isinstance(error, SourceError):
                raise
            raise SourceError(f"{at.place} refuses: {_words(error)}") from error
        self._server = server
        return server

    def _start_tls(self, server: imaplib.IMAP4, addresses: list[str]) -> None:
        if "STARTTLS" in server.capabilities:
            server.starttls(ssl.create_default_context())
        elif not all(map(is_loopback, addresses)):
            raise SourceError(f"{self._at.place} has no encryption, so the password was not sent; try imaps://")

    def _folders(self, server: imaplib.IMAP4) -> list[tuple[str, str]]:
        """Return the folders to read as the server writes them, and with slashes between their names, in order."""
        wanted, folders = self._wanted, list[tuple[str, str]]()
        for line in _ok(server.list()):
            if not (listed := _folder_of(line)):
                continue
            attributes, written, folder = listed
            is_named = (
                folder == wanted or folder.startswith(f"{wanted}/") or folder.upper() == wanted.upper() == "INBOX"
            )
            refused = _NO_MESSAGES if is_named else _NO_MESSAGES | _LEFT_OUT
            if (is_named or not wanted) and not attributes & refused:
                folders.append((written, folder))
        return sorted(folders)

    def _select(self, server: imaplib.IMAP4, written: str) -> int:
        """Open a folder for reading only, and return its UIDVALIDITY."""
        escaped = written.replace("\\", "\\\\").replace('"', '\\"')
        _ok(server.select(f'"{escaped}"', readonly=True))
        _, (validity,) = server.response("UIDVALIDITY")
        return int(validity) if isinstance(validity, bytes) else 0

    def _below(self, folder: str) -> str:
        inside = folder.removeprefix(self._wanted).strip("/")
        return f"{self.address}/{inside}" if inside else self.address


class _Checked(imaplib.IMAP4):
    """A connection to an address that was checked; certificates are checked against the name."""

    def __init__(self, host: str, port: int, addresses: list[str], seconds: float, *, is_tls: bool) -> None:
        self._addresses, self._is_tls = addresses, is_tls
        super().__init__(host, port, seconds)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        plain = connected(self._addresses, self.port, timeout or 60.0)
        if not self._is_tls:
            return plain
        return ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)


def decoded(name: str) -> str:
    """Return the name of a folder, which IMAP writes in a UTF-7 of its own (RFC 3501, 5.1.3)."""

    def part(encoded: re.Match[str]) -> str:
        inside = encoded[1].replace(",", "/")
        if not inside:
            return "&"
        try:
            return base64.b64decode(inside + "=" * (-len(inside) % 4)).decode("utf-16-be")
        except ValueError:
            return encoded[0]

    return _MODIFIED_BASE64.sub(part, name)


def _folder_of(line: Line) -> tuple[set[bytes], str, str] | None:
    """Return the attributes of a listed folder, its name as written, and its name with slashes as separators."""
    matched = _LINE.fullmatch(line[0])
    if not matched:
        return None
    # The server writes an unusual name as a literal, which stands apart.
    written = line[1].decode("ascii", "replace") if len(line) > 1 else _unquoted(matched["name"])
    between = _unquoted(matched["between"]).removeprefix("NIL")
    folder = decoded(written)
    return set(matched["flags"].lower().split()), written, folder.replace(between, "/") if between else folder


def _words(error: Exception) -> str:
    """Return what a server or the system says; `imaplib` keeps some replies as bytes."""
    first = error.args[0] if error.args else ""
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(error)


def _unquoted(name: bytes) -> str:
    text = name.strip().decode("ascii", "replace")
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') and text.endswith('"') else text


def _messages(found: list[Line]) -> Iterator[tuple[int, int]]:
    """Yield UID and size of each message in a reply."""
    for line in found:
        if uid := _MESSAGE.search(line[0]):
            size = _SIZE.search(line[0])
            yield int(uid[1]), int(size[1]) if size else 0


def _ok(reply: tuple[str, list[Any]]) -> list[Line]:
    """Return the lines of a reply.

    Raises:
        IMAP4.error: the server refuses.
    """
    verdict, found = reply
    lines: list[Line] = [one if isinstance(one, tuple) else (one,) for one in found if one is not None]
    if verdict != "OK":
        raise imaplib.IMAP4.error(b" ".join(line[0] for line in lines).decode("utf-8", "replace"))
    return lines
