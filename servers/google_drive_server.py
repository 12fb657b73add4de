"""Google Drive on loopback: tokens, lists, downloads and exports of version 3 of its API, as Google documents them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import jwt

from servers.json_server import MISSING, Answer, Call, JsonServer

PER_PAGE = 2
"""Files of a reply, whatever is requested."""
TOKEN = "granted"


@dataclass(kw_only=True)
class DriveFile:
    """A file in a folder; one of Google's own types has no bytes, but ``exports`` by type."""

    id: str
    name: str
    type: str
    folder: str
    content: bytes = b""
    exports: dict[str, bytes] | None = None
    changed: str = "2024-05-06T07:08:09.000Z"
    trashed: bool = False


class GoogleDriveServer(JsonServer):
    """A server with these files.

    It grants a token for the refresh token ``refresh`` of the client ``client`` with the secret ``hush``, and for a
    claim that the key of the service account signed.

    Attributes:
        public_key: in PEM, of the service account.
        incomplete: whether lists say that they are incomplete.
    """

    def __init__(self, *files: DriveFile, public_key: str = "") -> None:
        super().__init__(f"Bearer {TOKEN}")
        self.files = {file.id: file for file in files}
        self.public_key, self.incomplete = public_key, False

    def open(self, call: Call) -> Answer | None:
        if call.path != "/token":
            return None
        form = {name: values[0] for name, values in parse_qs(call.body.decode()).items()}
        if not self._may_have_token(form):
            return Answer(value={"error": "invalid_grant"}, status=400)
        return Answer(value={"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"})

    def answer(self, call: Call) -> Answer:
        if call.path == "/drive/v3/files":
            return Answer(value=self._listed(call.query))
        found = re.fullmatch(r"/drive/v3/files/([\w-]+)(/export)?", call.path)
        file = self.files.get(found[1]) if found else None
        if not found or file is None:
            return MISSING
        content = (file.exports or {}).get(call.query.get("mimeType", "")) if found[2] else file.content
        may = content is not None and (found[2] or call.query.get("alt") == "media")
        return Answer(raw=content) if may else Answer(value={"error": "fileNotDownloadable"}, status=403)

    def _may_have_token(self, form: dict[str, str]) -> bool:
        if form["grant_type"] == "refresh_token":
            given = (form.get("client_id"), form.get("client_secret"), form.get("refresh_token"))
            return given == ("client", "hush", "refresh")
        try:
            claims = jwt.decode(
                form["assertion"], self.public_key, algorithms=["RS256"], audience=f"{self.origin}/token"
            )
        except jwt.InvalidTokenError:
            return False
        return claims["iss"] == "robot@mill.example" and claims["scope"].endswith("/drive.readonly")

    def _listed(self, query: dict[str, str]) -> dict[str, Any]:
        folder = re.fullmatch(r"'([\w-]+)' in parents and trashed = false", query["q"])
        assert folder
        files = [one for one in self.files.values() if one.folder == folder[1] and not one.trashed]
        start = int(query.get("pageToken", "0"))
        shown: dict[str, Any] = {"incompleteSearch": self.incomplete}
        shown["files"] = [_shown(one) for one in files[start : start + PER_PAGE]]
        if len(files) > start + PER_PAGE:
            shown["nextPageToken"] = str(start + PER_PAGE)
        return shown


def _shown(file: DriveFile) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": file.id, "name": file.name, "mimeType": file.type, "modifiedTime": file.changed}
    shown["webViewLink"] = f"https://drive.google.com/file/d/{file.id}/view"
    shown["owners"] = [{"displayName": "Ann"}]
    if file.exports is None:
        shown["size"] = str(len(file.content))
    return shown
