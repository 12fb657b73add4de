"""An SFTP server on loopback, with paramiko: one user, who may read what is in one folder."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

import paramiko
from paramiko import common, sftp


class SftpServer:
    """A server until the end of a ``with`` block; ``known_hosts`` is the line by which clients know it."""

    def __init__(self, folder: Path, user: str, password: str) -> None:
        self._folder, self._login = folder, (user, password)
        self._key = paramiko.ECDSAKey.generate()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.known_hosts = f"[127.0.0.1]:{self.port} {self._key.get_name()} {self._key.get_base64()}\n"
        self._transports: list[paramiko.Transport] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for transport in self._transports:
            transport.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            transport.add_server_key(self._key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _Files, self._folder)
            transport.start_server(server=_Login(*self._login))
            self._transports.append(transport)


class _Login(paramiko.ServerInterface):
    def __init__(self, user: str, password: str) -> None:
        self._expected = (user, password)

    def check_auth_password(self, username: str, password: str) -> int:
        return common.AUTH_SUCCESSFUL if (username, password) == self._expected else common.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002
        return common.OPEN_SUCCEEDED if kind == "session" else common.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED


class _Opened(paramiko.SFTPHandle):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self.readfile = path, path.open("rb")

    def stat(self) -> paramiko.SFTPAttributes:
        return paramiko.SFTPAttributes.from_stat(self._path.stat())


class _Files(paramiko.SFTPServerInterface):
    def __init__(self, server: paramiko.ServerInterface, folder: Path) -> None:
        super().__init__(server)
        self._folder = folder

    def list_folder(self, path: str) -> list[paramiko.SFTPAttributes] | int:
        try:
            found = [(one.name, one.lstat()) for one in self._at(path).iterdir()]
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)
        return [paramiko.SFTPAttributes.from_stat(state, name) for name, state in found]

    def stat(self, path: str) -> paramiko.SFTPAttributes | int:
        try:
            return paramiko.SFTPAttributes.from_stat(self._at(path).stat())
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)

    lstat = stat

    def open(self, path: str, flags: int, attr: object) -> paramiko.SFTPHandle | int:  # noqa: ARG002
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return sftp.SFTP_PERMISSION_DENIED
        return _Opened(self._at(path))

    def _at(self, path: str) -> Path:
        inside = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
        return self._folder.joinpath(*inside)
