"""SFTP for fsspec: to hosts whose keys are known, at the addresses that were checked."""

from __future__ import annotations

from typing import Any, cast

import paramiko
from fsspec.implementations.sftp import SFTPFileSystem

from ragstone.services.network import connected


class KnownHosts(SFTPFileSystem):
    """fsspec's class trusts any host at first sight. This one trusts those in ``~/.ssh/known_hosts``.

    In addition to the arguments of `SFTPFileSystem`, it takes the ``addresses`` to connect to and a time limit in
    ``seconds``.
    """

    host: str
    ssh_kwargs: dict[str, Any]

    def _connect(self) -> None:
        login = dict(self.ssh_kwargs)
        addresses, seconds = login.pop("addresses"), float(login.pop("seconds"))
        for name in ("skip_instance_cache", "use_listings_cache"):
            login.pop(name, None)
        self.client = paramiko.SSHClient()
        self.client.load_system_host_keys()
        self.client.set_missing_host_key_policy(paramiko.RejectPolicy())
        self.client.connect(
            self.host,
            sock=connected(addresses, login["port"], seconds),
            timeout=seconds,
            banner_timeout=seconds,
            auth_timeout=seconds,
            **login,
        )
        self.ftp = self.client.open_sftp()
        channel = self.ftp.get_channel()
        if channel is not None:
            channel.settimeout(seconds)

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **kwargs: Any) -> Any:
        file: Any = cast("Any", super())._open(path, mode, block_size, **kwargs)
        file.prefetch()  # Otherwise each block of 32 KB waits for the one before.
        return file
