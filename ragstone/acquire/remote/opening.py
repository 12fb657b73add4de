"""Open a source by its address, or by its name in the settings."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ragstone.acquire.remote.address import Opening, parsed
from ragstone.core.errors import UsageError
from ragstone.core.import_path import load, require
from ragstone.core.source import Source
from ragstone.settings import AcquireSettings, ConnectionSettings

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_OWN = re.compile(r"\w+(\.\w+)*:[A-Za-z_]\w*")
_SITES = {
    "webdav": "webdav:WebDavSource",
    "confluence": "confluence:ConfluenceSource",
    "notion": "notion:NotionSource",
    "github": "github:GitHubSource",
    "jira": "jira:JiraSource",
    "gdrive": "google_drive:GoogleDriveSource",
    "sharepoint": "sharepoint:SharePointSource",
}
_SOURCES = {
    "imaps": "imap:ImapSource",
    "imap": "imap:ImapSource",
    "sql": "sql:SqlSource",
    **_SITES,
    **{f"{scheme}+http": source for scheme, source in _SITES.items()},
}
"""The module and class of a source, by the scheme of its address; fsspec reads all others."""
SCHEMES = ("git+https", "imaps", "sql", *_SITES, "https", "s3", "gs", "gcs", "abfs", "sftp", "ftp", "smb")
"""Kinds of addresses that a misspelt one is likely to mean."""
_SETTING = "acquire.connections.*.address"
_KNOWN = "an address such as s3://bucket/docs, or package.module:Class"


def is_remote(source: str, settings: AcquireSettings) -> bool:
    """Return whether a source is listed and fetched, rather than a file or folder on disk."""
    if source in settings.connections:
        return True
    if source.startswith("git+") and "://" not in source:
        return not Path(source).exists()
    return bool(_SCHEME.match(source)) and not source.startswith("file:/")


def is_site(source: str, settings: AcquireSettings) -> bool:
    """Return whether a source is a web site, which is crawled."""
    return source in settings.sites or source.lower().startswith(("http://", "https://"))


def on_disk(source: str) -> str:
    """Return the path of a file or folder that may be written as a ``file://`` address."""
    return unquote(urlsplit(source).path) if source.startswith("file:/") else source


def connection_of(source: str, settings: AcquireSettings) -> ConnectionSettings:
    """Return the connection with this name or address, or one with this address and no other settings.

    Raises:
        UsageError: several connections have this address.
    """
    if named := settings.connections.get(source):
        return named
    having = {name: one for name, one in settings.connections.items() if one.address == source}
    if len(having) > 1:
        raise UsageError(f"several connections have the address {source}; name one of them: {', '.join(having)}")
    return next(iter(having.values()), ConnectionSettings(address=source))


def open_source(source: str, settings: AcquireSettings, folder: Path) -> Source:
    """Return the source of a name or an address. It connects when it is first listed.

    Args:
        source: a name in ``acquire.connections``, or an address.
        settings: the connections and limits.
        folder: where the source may keep what its next sync needs.

    Raises:
        UsageError: the address is malformed, or of a kind that cannot be read.
        MissingExtra: a package is missing that this kind of source needs.
    """
    connection = connection_of(source, settings)
    opening = Opening(connection=connection, settings=settings, folder=folder)
    text = connection.address
    if source in settings.connections and _OWN.fullmatch(text):
        own = load(text, _SETTING, _KNOWN)(connection)
        require(own, text, _SETTING, ("address", "entries", "fetch", "close"))
        return own
    if text.startswith("git+"):
        from ragstone.acquire.remote.git import GitSource

        return GitSource(text, opening)
    address = parsed(text)
    if address.scheme in ("http", "https", "feed"):
        raise UsageError(f"{text} is a web site; run: ragstone crawl {text}")
    module, _, name = _SOURCES.get(address.scheme, "fsspec_files:FsspecSource").partition(":")
    return getattr(import_module(f"ragstone.acquire.remote.{module}"), name)(address, opening)
