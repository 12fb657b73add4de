"""Files that fsspec reaches: buckets of S3, Azure and Google Cloud, SFTP, FTP, SMB and others, one class for all."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from datetime import datetime
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.remote.listed import told
from ragstone.acquire.remote.opening import SCHEMES
from ragstone.acquire.sources.walk import is_passed_over
from ragstone.core.errors import MissingExtra, RagstoneError, SourceError, UsageError
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_BLOCK = 1 << 20
_SMALL = 8 * _BLOCK
"""Bytes up to which a file is had with a single request."""
_SERVERS = {"sftp": 22, "ssh": 22, "ftp": 21, "smb": 445, "webhdfs": 50070}
"""Schemes whose host is a server to connect to, and its usual port. The host of others is a bucket or an account."""
_PACKAGES = {"sftp": "paramiko", "ssh": "paramiko", "smb": "smbprotocol", "webhdfs": "requests"}
"""What fsspec's own classes need."""
_NO_PLACES = frozenset({
    "async_wrapper", "asynclocal", "blockcache", "cached", "data", "dir", "file", "filecache", "generic", "libarchive",
    "local", "reference", "simplecache", "tar", "zip",
})  # fmt: skip
"""Schemes that name no place of their own, or read this computer's disk past the rules for files."""
_VERSIONS = ("ETag", "etag", "md5Hash", "crc32c", "sha256", "generation")
_TIMES = ("LastModified", "last_modified", "mtime", "modified", "modify", "updated", "last_write_time", "created")


class FsspecSource:
    """A folder, or a single file, of anything that fsspec reaches.

    Credentials are those of its libraries, such as ``~/.aws/credentials``. For servers, a password is read from an
    environment variable such as ``SFTP_PASSWORD``, or that of the connection.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        """Find the class of the scheme; nothing is connected yet.

        Raises:
            UsageError: fsspec does not know the scheme.
            MissingExtra: the package for the scheme is not installed.
        """
        self.address = str(address)
        self._at, self._opening = address, opening
        self._class = _class_of(address.scheme, self.address)
        self._files: Any = None

    def entries(self) -> Iterator[Entry | Skipped]:
        files = self._connected()
        root = str(files._strip_protocol(self.address)).rstrip("/")
        try:
            listed = _listed(files, root)
        except FileNotFoundError as error:
            raise SourceError(f"there is no file or folder '{self.address}'") from error
        except RagstoneError:
            raise
        except Exception as error:  # Each library has errors of its own.
            raise SourceError(f"{self.address} cannot be listed: {told(error)}") from error
        if [one["name"].rstrip("/") for one in listed] == [root] and listed[0]["type"] == "file":
            yield _entry("", listed[0])
            return
        yield from self._below(files, root, root, listed)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        files = self._connected()
        root = str(files._strip_protocol(self.address)).rstrip("/")
        path = f"{root}/{entry.name}" if entry.name else root
        if 0 < entry.size <= _SMALL:
            yield files.cat_file(path)
            return
        with files.open(path, "rb") as file:
            while block := file.read(_BLOCK):
                yield block

    def close(self) -> None:
        client = getattr(self._files, "client", None) or getattr(self._files, "ftp", None)
        if self._at.scheme in _SERVERS and client is not None:
            client.close()
        self._files = None

    def _below(self, files: Any, root: str, folder: str, found: list[dict[str, Any]]) -> Iterator[Entry | Skipped]:
        """Yield the files in a folder of which the list is given, and those in the folders below."""
        for info in found:
            path = str(info["name"]).rstrip("/")
            name = path[len(root) :].lstrip("/")
            if path == folder or is_passed_over(posixpath.basename(path)):
                continue  # Some stores list a folder as one of its own files.
            shown = f"{self.address}/{name}"
            if info["type"] == "directory":
                try:
                    inside = _listed(files, path)
                except Exception as error:  # What is stored of this folder is kept; the others are read.
                    yield Skipped(source=shown, reason=f"cannot be listed: {told(error)}")
                    continue
                yield from self._below(files, root, path, inside)
            elif info["type"] == "file":
                yield _entry(name, info)
            else:
                yield Skipped(source=shown, reason=f"not a regular file ({info['type']})")

    def _connected(self) -> Any:
        if self._files is None:
            options: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
            at = self._at
            if at.scheme in _SERVERS:
                port = at.port or _SERVERS[at.scheme]
                addresses = self._opening.allowed(at.host, port)
                options |= self._login(at, port)
                if at.scheme in ("sftp", "ssh"):
                    options["addresses"] = tuple(addresses)
                    options["seconds"] = self._opening.remote.timeout_seconds
            try:
                self._files = self._class(**options)
            except RagstoneError:
                raise
            except Exception as error:
                raise SourceError(f"{self.address} cannot be reached: {told(error)}") from error
        return self._files

    def _login(self, at: Address, port: int) -> dict[str, Any]:
        """Return what a server needs to be told, with the password if its variable is set; keys may do without."""
        login: dict[str, Any] = {"host": at.host, "port": port}
        if at.user:
            login["username"] = at.user
        try:
            login["password"] = self._opening.secret(f"{at.scheme.upper()}_PASSWORD", f"password for {at.place}")
        except SourceError:
            if self._opening.connection.secret:
                raise
        return login


def _class_of(scheme: str, address: str) -> Any:
    near = get_close_matches(scheme, SCHEMES, n=1)
    hint = f"; did you mean {near[0]}://?" if near else ""
    unknown = f"'{address}' is not a supported kind of address{hint}; docs/sources.md lists the supported ones"
    try:
        registry: Any = import_module("fsspec.registry")
    except ImportError as error:
        if hint and scheme not in SCHEMES:
            raise UsageError(unknown) from error
        raise MissingExtra("fsspec", extra="remote") from error
    schemes: dict[str, dict[str, str]] = registry.known_implementations
    if scheme not in schemes or scheme in _NO_PLACES or "::" in address:
        raise UsageError(unknown)
    try:
        if scheme in ("sftp", "ssh"):
            return import_module("ragstone.acquire.remote.fsspec_sftp").KnownHosts
        return registry.get_filesystem_class(scheme)
    except ImportError as error:
        package = _PACKAGES.get(scheme) or schemes[scheme]["class"].partition(".")[0]
        raise MissingExtra(package, extra="") from error


def _listed(files: Any, path: str) -> list[dict[str, Any]]:
    """Return what is in a folder, by name, each file and folder once."""
    found: dict[str, dict[str, Any]] = {str(one["name"]): one for one in files.ls(path, detail=True)}
    return [found[name] for name in sorted(found)]


def _entry(name: str, info: dict[str, Any]) -> Entry:
    size = int(info.get("size") or 0)
    version = next((str(info[key]).strip('"') for key in _VERSIONS if info.get(key)), "")
    changed = next((info[key] for key in _TIMES if info.get(key)), None)
    if not version and changed is not None:
        when = changed.isoformat() if isinstance(changed, datetime) else str(changed)
        version = f"{when} {size}"
    return Entry(name=name, version=version, size=size)
