"""Files in a folder or a shared drive of Google Drive; its own documents are exported as Office files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.remote.oauth import Token, TokenRequest
from ragstone.acquire.remote.replies import Json, objects, pages, stated, text_in, texts
from ragstone.core.errors import MissingExtra, SourceError, UsageError
from ragstone.core.filters import Scalar
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_HOST = "drive.google.com"
_API = "https://www.googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/drive.readonly"
_FOLDER, _SHORTCUT = "application/vnd.google-apps.folder", "application/vnd.google-apps.shortcut"
_OWN = "application/vnd.google-apps."
_OFFICE = "application/vnd.openxmlformats-officedocument."
_EXPORTS = {
    f"{_OWN}document": (".docx", f"{_OFFICE}wordprocessingml.document"),
    f"{_OWN}spreadsheet": (".xlsx", f"{_OFFICE}spreadsheetml.sheet"),
    f"{_OWN}presentation": (".pptx", f"{_OFFICE}presentationml.presentation"),
    f"{_OWN}drawing": (".pdf", "application/pdf"),
}
"""The suffix and the type that a document of Google's own is exported as; others cannot be read."""
_PAGE = 1000
_FIELDS = "nextPageToken,incompleteSearch,files(id,name,mimeType,md5Checksum,modifiedTime,size,webViewLink,owners)"


class GoogleDriveSource:
    """The files in a folder and in all folders below.

    The address is ``gdrive://drive.google.com/ID`` with the id of the folder or the shared drive, as in the browser.
    ``GOOGLE_APPLICATION_CREDENTIALS``, or the variable that the connection names, holds the path of a credentials file:
    the key of a service account, with which the folder is shared, or what ``gcloud auth application-default login``
    writes. Who may read a file is not asked: say so with the groups of the connection.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        self._folder = address.path.rpartition("/")[2]
        if not address.host or not self._folder.replace("-", "").replace("_", "").isalnum():
            raise UsageError("write the address of a folder as gdrive://drive.google.com/ID")
        self.address = f"{address.scheme}://{address.server}/{self._folder}"
        self._base = f"{_API if address.host == _HOST else address.origin}/drive/v3/files"
        self._opening = opening
        self._client = opening.client(Token(opening, self._request).headers)
        self._exports = dict[str, str]()

    def entries(self) -> Iterator[Entry | Skipped]:
        waiting, seen = [self._folder], {self._folder}
        while waiting:
            for one in self._listed(waiting.pop()):
                id, kind = str(one["id"]), text_in(one, "mimeType")
                if id in seen or kind == _SHORTCUT:
                    continue
                seen.add(id)
                if kind == _FOLDER:
                    waiting.append(id)
                elif kind.startswith(_OWN) and kind not in _EXPORTS:
                    reason = f"files of the kind {kind.removeprefix(_OWN)} cannot be exported"
                    yield Skipped(source=f"{self.address}/{id}", reason=reason)
                else:
                    yield self._entry(id, kind, one)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        export = self._exports.get(entry.name)
        asked = {"mimeType": export} if export else {"alt": "media", "supportsAllDrives": "true"}
        path = f"{entry.name}/export" if export else entry.name
        yield from self._client.download(f"{self._base}/{path}?{urlencode(asked)}")

    def close(self) -> None:
        self._client.close()

    def _entry(self, id: str, kind: str, one: Json) -> Entry:
        title, changed = text_in(one, "name"), text_in(one, "modifiedTime")
        if export := _EXPORTS.get(kind):
            self._exports[id] = export[1]
        suffix = export[0] if export else Path(title).suffix.lower()
        owners = texts(one, "owners", of="displayName")
        facts: dict[str, Scalar] = {"file": title, "author": ", ".join(owners), "date": changed}
        return Entry(
            name=id,
            version=text_in(one, "md5Checksum") or changed,
            kind=suffix,
            size=int(one.get("size") or 0),
            title=title.removesuffix(Path(title).suffix) if not export else title,
            url=text_in(one, "webViewLink"),
            metadata=stated(facts),
        )

    def _listed(self, folder: str) -> Iterator[Json]:
        """Yield the files in a folder, from all replies.

        Raises:
            SourceError: a reply is unavailable, incomplete, or not as documented.
        """
        asked = {
            "q": f"'{folder}' in parents and trashed = false",
            "fields": _FIELDS,
            "pageSize": str(_PAGE),
            "orderBy": "createdTime",
            "supportsAllDrives": "true",
            "includeItemsFromAllDrives": "true",
        }

        def fetch(token: str) -> tuple[list[Json], str]:
            paging = {"pageToken": token} if token else {}
            reply = self._client.json("GET", f"{self._base}?{urlencode({**asked, **paging})}")
            files = objects(reply, self.address, "files")
            if reply.get("incompleteSearch"):  # what is missing must not count as gone
                raise SourceError(f"{self.address} listed only a part of its files")
            return files, text_in(reply, "nextPageToken")

        return pages(fetch, "", self.address)

    def _request(self) -> TokenRequest:
        name = "GOOGLE_APPLICATION_CREDENTIALS"
        path = Path(self._opening.secret(name, "path of a credentials file of Google"))
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
            if given["type"] == "service_account":
                return _signed(given)
            fields = {name: str(given[name]) for name in ("client_id", "client_secret", "refresh_token")}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SourceError(f"{path} is not a credentials file of Google that can be read") from error
        url = str(given.get("token_uri", "https://oauth2.googleapis.com/token"))
        return TokenRequest(url=url, fields={"grant_type": "refresh_token", **fields})


def _signed(key: Json) -> TokenRequest:
    """Return the request of a service account, signed with its key (RFC 7523).

    Raises:
        MissingExtra: the packages that sign are not installed.
    """
    try:
        import jwt
    except ImportError as error:
        raise MissingExtra("'pyjwt[crypto]'", extra="") from error
    now, url = int(time.time()), str(key["token_uri"])
    claims = {"iss": key["client_email"], "scope": _SCOPE, "aud": url, "iat": now, "exp": now + 3600}
    signed = jwt.encode(claims, key["private_key"], algorithm="RS256", headers={"kid": key.get("private_key_id", "")})
    return TokenRequest(
        url=url, fields={"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": signed}
    )
