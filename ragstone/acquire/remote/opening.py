"""Open a source by its address, or by its name in the settings."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ragstone.acquire.remote.address import Opening, parsed
from ragstone.core.errors import UsageError
from ragstone.core.import_path import load, require
from ragstone.core.source import Source
from ragstone.settings import AcquireSettings, ConnectionSettings

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_OWN = re.compile(r"\w+(\.\w+)*:[A-Za-z_]\w*")
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
    match address.scheme:
        case "http" | "https" | "feed":
            raise UsageError(f"{text} is a web site; run: ragstone crawl {text}")
        case "imap" | "imaps":
            from ragstone.acquire.remote.imap import ImapSource

            return ImapSource(address, opening)
        case "sql":
            from ragstone.acquire.remote.sql import SqlSource

            return SqlSource(address, opening)
        case "webdav" | "webdav+http":
            from ragstone.acquire.remote.webdav import WebDavSource

            return WebDavSource(address, opening)
        case "confluence" | "confluence+http":
            from ragstone.acquire.remote.confluence import ConfluenceSource

            return ConfluenceSource(address, opening)
        case "notion" | "notion+http":
            from ragstone.acquire.remote.notion import NotionSource

            return NotionSource(address, opening)
        case "github" | "github+http":
            from ragstone.acquire.remote.github import GitHubSource

            return GitHubSource(address, opening)
        case "jira" | "jira+http":
            from ragstone.acquire.remote.jira import JiraSource

            return JiraSource(address, opening)
        case "gdrive" | "gdrive+http":
            from ragstone.acquire.remote.google_drive import GoogleDriveSource

            return GoogleDriveSource(address, opening)
        case "sharepoint" | "sharepoint+http":
            from ragstone.acquire.remote.sharepoint import SharePointSource

            return SharePointSource(address, opening)
        case _:
            from ragstone.acquire.remote.fsspec_files import FsspecSource

            return FsspecSource(address, opening)
