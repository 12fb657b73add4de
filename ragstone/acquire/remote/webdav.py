"""Folders of a WebDAV server, such as Nextcloud: listed with PROPFIND, fetched with GET."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import quote, unquote, urlsplit

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.package import Element, parse_xml
from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.sources.walk import is_passed_over
from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_ASKED = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getetag/><getlastmodified/>'
    b"</prop></propfind>"
)
_DAV = "{DAV:}"


@frozen
class _Member:
    """A file or folder that the server lists, by its decoded path without slashes at its ends."""

    path: str
    is_folder: bool
    size: int
    version: str


class WebDavSource:
    """The files in a folder of a server and below.

    The address is ``webdav://user@host/path`` for HTTPS, ``webdav+http://`` for a server without encryption; the
    password is in ``WEBDAV_PASSWORD``, or in the variable that the connection names. Without a user, no password is
    sent.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        self.address = str(address)
        self._at = address
        self._client = opening.client(lambda: opening.basic(address.user, "WEBDAV_PASSWORD") if address.user else {})

    def entries(self) -> Iterator[Entry | Skipped]:
        root = self._at.path
        try:
            listed = self._listed(root)
        except SourceError:
            if not posixpath.splitext(root)[1]:
                raise
            listed = self._listed(root, is_folder=False)
        if [(one.path, one.is_folder) for one in listed] == [(root, False)]:
            yield Entry(name="", version=listed[0].version, size=listed[0].size)
            return
        yield from self._below(root, listed)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        return self._client.download(self._url("/".join(part for part in (self._at.path, entry.name) if part)))

    def close(self) -> None:
        self._client.close()

    def _below(self, folder: str, found: list[_Member]) -> Iterator[Entry | Skipped]:
        for member in found:
            if posixpath.dirname(member.path) != folder or is_passed_over(posixpath.basename(member.path)):
                continue  # A server lists the folder, too; one that lists others leads astray.
            name = member.path.removeprefix(self._at.path).strip("/")
            if not member.is_folder:
                yield Entry(name=name, version=member.version, size=member.size)
                continue
            try:
                inside = self._listed(member.path)
            except SourceError as error:
                yield Skipped(source=f"{self.address}/{name}", reason=str(error))
                continue
            yield from self._below(member.path, inside)

    def _listed(self, folder: str, *, is_folder: bool = True) -> list[_Member]:
        """Return what is in a folder, and the folder, by name.

        Raises:
            SourceError: the server does not list it.
        """
        headers = {"Depth": "1", "Content-Type": "application/xml"}
        url = f"{self._url(folder)}/" if folder and is_folder else self._url(folder)
        reply = self._client.request("PROPFIND", url, headers=headers, content=_ASKED)
        try:
            root = parse_xml(reply.body, self.address)
        except Unreadable as error:
            raise SourceError(f"{self.address} cannot be listed: {error}") from error
        found = (_member(one) for one in root.iter(f"{_DAV}response"))
        return sorted(found, key=lambda one: one.path)

    def _url(self, path: str) -> str:
        return f"{self._at.origin}/{quote(path)}"


def _member(response: Element) -> _Member:
    path = unquote(urlsplit((response.findtext(f"{_DAV}href") or "").strip()).path).strip("/")
    texts = {one.tag: (one.text or "").strip() for one in response.iter()}
    size, changed = texts.get(f"{_DAV}getcontentlength", ""), texts.get(f"{_DAV}getlastmodified", "")
    version = texts.get(f"{_DAV}getetag", "").strip('"') or (f"{changed} {size}" if changed else "")
    return _Member(
        path=path,
        is_folder=f"{_DAV}collection" in texts,
        size=int(size) if size.isdecimal() else 0,
        version=version,
    )
