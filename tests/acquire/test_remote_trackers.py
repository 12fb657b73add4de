"""GitHub, Jira, Google Drive and SharePoint, against servers that speak their published protocols."""

from __future__ import annotations

import asyncio
import io
import json
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from kb import open_fast

from ragstone import acquire
from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.records import Document, Skipped
from ragstone.core.reports import AddReport
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings import AcquireSettings, RemoteSettings
from servers.github_server import GitHubServer
from servers.github_server import Issue as GitHubIssue
from servers.google_drive_server import DriveFile, GoogleDriveServer
from servers.graph_server import GraphServer, Item
from servers.jira_server import Issue as JiraIssue
from servers.jira_server import JiraServer
from servers.json_server import Answer

LOCAL = AcquireSettings(remote=RemoteSettings(allow_private=True, retries=2, timeout_seconds=60))
PRIVATE = ("acquire.remote.allow_private=true", "acquire.remote.timeout_seconds=60")
BUSY = Answer(value={}, status=429, headers={"Retry-After": "0"})
DOCUMENT = "application/vnd.google-apps.document"
FOLDER = "application/vnd.google-apps.folder"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, slots=True)
class Synced:
    """A knowledge base that follows one source."""

    kb: KnowledgeBase
    address: str

    def sync(self) -> AddReport:
        return asyncio.run(self.kb.documents.sync([self.address]))

    def document(self, name: str) -> Document:
        return self.kb.documents.get(f"{self.address}/{name}", reader=OWNER)

    def names(self) -> set[str]:
        return {one.id.removeprefix(f"{self.address}/") for one in self.kb.documents.all()}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with closing(open_fast(tmp_path / "kb", *PRIVATE)) as made:
        yield made


def read(address: str, folder: Path) -> list[Document | Skipped]:
    source = acquire.open_source(address, LOCAL, folder)
    return [one for one in acquire.read_source(source, LOCAL) if isinstance(one, Document | Skipped)]


def refuses(address: str, folder: Path, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        read(address, folder)


def test_follows_issues_and_pull_requests(kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    issues = [
        GitHubIssue(
            number=1, title="Wheel stops", body="It stops at **dawn**.", labels=("bug", "water"), state="closed"
        ),
        GitHubIssue(number=2, title="Oil the axle", body=None, pulls=True, merged=True),
        GitHubIssue(number=3, title="Gate", body="Too low.", author=None),
    ]
    issues[0].comments = [("bob", f"Seen {n} times.") for n in range(3)]
    issues[1].comments, issues[1].reviews = [("ann", "Which oil?")], [("eve", "Use linseed.", "axle.md")]
    with GitHubServer("secret", *issues) as server:
        synced = Synced(kb, f"github+http://127.0.0.1:{server.port}/mill/wheel")
        reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) - 1)}
        server.busy = [BUSY, Answer(status=403, headers=reset)]
        assert (synced.sync().added, synced.names()) == (3, {"issues/1", "pull/2", "issues/3"})
        wheel, oil = synced.document("issues/1"), synced.document("pull/2")
        assert (wheel.title, wheel.url) == ("Wheel stops (#1)", f"{server.origin}/mill/wheel/issues/1")
        assert [wheel.metadata[name] for name in ("state", "author", "tags", "number")] == [
            "closed",
            "ann",
            "bug, water",
            1,
        ]
        assert [f"Seen {n} times." in wheel.text for n in range(3)] == [True] * 3
        assert "Comment of bob on 2024-02-03" in wheel.text
        assert oil.metadata["state"] == "merged"
        assert oil.text.index("Which oil?") < oil.text.index("Comment of eve on 2024-02-03, on axle.md")
        assert synced.document("issues/3").metadata["author"] == "ghost"

        server.calls.clear()
        issues[2].updated, issues[2].body = "2024-06-01T00:00:00Z", "High enough."
        del server.issues[1]
        report = synced.sync()
        assert (report.updated, report.removed, synced.names()) == (1, 1, {"pull/2", "issues/3"})
        assert {path.rpartition("wheel/")[2] for path in server.calls} == {"issues", "issues/3", "issues/3/comments"}
        [pull] = read(f"{synced.address}/pulls", tmp_path)
        assert isinstance(pull, Document)
        assert pull.id == f"{synced.address}/pull/2"
        monkeypatch.setenv("GITHUB_TOKEN", "wrong")
        refuses(synced.address, tmp_path, "answers 401: the password or token is missing, wrong or expired")
        monkeypatch.delenv("GITHUB_TOKEN")
        refuses(synced.address, tmp_path, "set the environment variable GITHUB_TOKEN")
    assert len(synced.names()) == 2, "nothing is removed when a source cannot be listed"


@pytest.mark.parametrize("user", ["", "ann@mill.example"])
def test_follows_issues_of_jira(kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    monkeypatch.setenv("JIRA_TOKEN", "secret")
    issues = [
        JiraIssue(key="MILL-1", summary="Wheel <stops>", description="<p>It stops at <b>dawn</b>.</p>"),
        JiraIssue(key="MILL-2", summary="Pay", description="<p>Ann earns 5.</p>", level="Board"),
        JiraIssue(key="MILL-3", summary="Gate", description=None, reporter=None),
        JiraIssue(key="OTHER-1", summary="Elsewhere", description="<p>Other.</p>"),
    ]
    issues[0].comments = [("Bob", f"<p>Seen {n} times.</p>", "") for n in range(3)] + [("Eve", "<p>Salary.</p>", "HR")]
    with JiraServer("secret", *issues, user=user) as server:
        server.busy = [BUSY]
        place = f"{user.replace('@', '%40')}@127.0.0.1" if user else "127.0.0.1"
        kb_address = f"jira+http://127.0.0.1:{server.port}/projects/MILL"
        typed = f"jira+http://{place}:{server.port}/projects/MILL"
        report = asyncio.run(kb.documents.sync([typed]))
        synced = Synced(kb, kb_address)
        assert (report.added, synced.names()) == (3, {"MILL-1", "MILL-2", "MILL-3"})
        wheel = synced.document("MILL-1")
        assert (wheel.title, wheel.url) == ("MILL-1: Wheel <stops>", f"{server.origin}/browse/MILL-1")
        assert [wheel.metadata[name] for name in ("state", "type", "author", "project")] == [
            "In Progress",
            "Bug",
            "Ann",
            "MILL",
        ]
        assert "It stops at dawn." in wheel.text
        assert [f"Seen {n} times." in wheel.text for n in range(3)] == [True] * 3
        assert "Salary" not in wheel.text, "a comment for one role"
        assert synced.document("MILL-2").metadata[READERS] == ()
        assert "author" not in synced.document("MILL-3").metadata
        hits = asyncio.run(kb.search("What does Ann earn?", reader=Reader(groups=frozenset({"staff"}))))
        assert "MILL-2" not in " ".join(hit.chunk.document_id for hit in hits)

        server.calls.clear()
        issues[0].updated = "2024-06-01T00:00:00.000+0000"
        del server.issues["MILL-3"]
        again = asyncio.run(kb.documents.sync([typed]))
        assert (again.removed, synced.names()) == (1, {"MILL-1", "MILL-2"})
        assert not [path for path in server.calls if "MILL-2" in path], "it has not changed"
        monkeypatch.setenv("JIRA_TOKEN", "wrong")
        refuses(typed, tmp_path, "answers 401: the password or token")


def word(text: str) -> bytes:
    """Return a Word file of one paragraph."""
    out = io.BytesIO()
    body = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{body}"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>',
        )
    return out.getvalue()


def test_follows_a_folder_of_google_drive(kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [
        DriveFile(
            id="a-1", name="Mill.md", type="text/markdown", folder="top", content=b"# Mill\n\nIt grinds at dawn."
        ),
        DriveFile(id="sub", name="Rules", type=FOLDER, folder="top", exports={}),
        DriveFile(id="doc", name="Visitors", type=DOCUMENT, folder="sub", exports={WORD: word("They park behind.")}),
        DriveFile(id="form", name="Survey", type="application/vnd.google-apps.form", folder="sub", exports={}),
        DriveFile(id="old", name="Old.md", type="text/markdown", folder="top", content=b"Gone.", trashed=True),
        DriveFile(id="else", name="Else.md", type="text/markdown", folder="elsewhere", content=b"Not this."),
    ]
    with GoogleDriveServer(*files) as server:
        token = {"type": "authorized_user", "client_id": "client", "client_secret": "hush", "refresh_token": "refresh"}
        credentials = tmp_path / "credentials.json"
        credentials.write_text(json.dumps({**token, "token_uri": f"{server.origin}/token"}))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(credentials))
        synced = Synced(kb, f"gdrive+http://127.0.0.1:{server.port}/top")
        server.busy = [BUSY]
        report = synced.sync()
        assert (report.added, synced.names()) == (2, {"a-1", "doc"})
        assert [one.reason for one in report.skipped] == ["files of the kind form cannot be exported"]
        visitors = synced.document("doc")
        assert (visitors.title, visitors.text.strip()) == ("Visitors", "They park behind.")
        assert visitors.url == "https://drive.google.com/file/d/doc/view"

        server.calls.clear()
        server.files["a-1"].changed, server.files["a-1"].content = "2024-06-01T00:00:00.000Z", b"It grinds at noon."
        server.files["doc"].trashed = True
        report = synced.sync()
        assert (report.updated, report.removed, synced.names()) == (1, 1, {"a-1"})
        assert [path for path in server.calls if path != "/drive/v3/files"] == ["/drive/v3/files/a-1"]
        server.incomplete = True
        refuses(synced.address, tmp_path, "listed only a part of its files")
        credentials.write_text(json.dumps({**token, "client_secret": "x", "token_uri": f"{server.origin}/token"}))
        refuses(synced.address, tmp_path, "no access token: .*/token answers 400; check the id and the secret")
        credentials.write_text("{}")
        refuses(synced.address, tmp_path, "is not a credentials file of Google")


def test_a_service_account_signs_for_google_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    file = DriveFile(id="a", name="Mill.txt", type="text/plain", folder="top", content=b"It grinds at dawn.")
    with GoogleDriveServer(file, public_key=public.decode()) as server:
        account = {"type": "service_account", "client_email": "robot@mill.example", "private_key": private.decode()}
        credentials = tmp_path / "key.json"
        credentials.write_text(json.dumps({**account, "token_uri": f"{server.origin}/token"}))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(credentials))
        [document] = read(f"gdrive+http://127.0.0.1:{server.port}/top", tmp_path)
        assert isinstance(document, Document)
        assert document.text == "It grinds at dawn."


def test_follows_the_libraries_of_a_sharepoint_site(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHAREPOINT_SECRET", "hush")
    items = [
        Item(id="1", name="mill.md", content=b"# Mill\n\nIt grinds at dawn."),
        Item(id="2", name="rules.txt", content=b"Visitors park behind.", folder="rules/2024"),
        Item(id="3", name="gone.txt", content=b"", deleted=True),
        Item(id="4", name="plan.txt", content=b"A new wheel.", library="Plans"),
    ]
    with GraphServer("hush", *items) as server:
        address = f"sharepoint+http://app@127.0.0.1:{server.port}/sites/Mill"
        server.busy = [BUSY]
        synced = Synced(kb, address.replace("app@", ""))
        report = asyncio.run(kb.documents.sync([f"{address}#mill.example"]))
        assert report.added == 3
        assert synced.names() == {"Documents/mill.md", "Documents/rules/2024/rules.txt", "Plans/plan.txt"}
        assert server.tenants == ["mill.example"], "one token lasts for all requests"
        rules = synced.document("Documents/rules/2024/rules.txt")
        assert (rules.url, rules.metadata["author"]) == ("https://mill.sharepoint.com/sites/Mill/rules.txt", "Ann")

        server.calls.clear()
        items[1].tag, items[1].content = "c2", b"Visitors park at the gate."
        del server.items["4"]
        report = asyncio.run(kb.documents.sync([f"{address}#mill.example"]))
        assert (report.updated, report.removed) == (1, 1)
        assert [path for path in server.calls if path.endswith("/content")] == [
            "/v1.0/drives/d-Documents/items/2/content"
        ]
        server.tenants.clear()
        server.seconds = 60
        read(address, tmp_path)
        assert len(server.tenants) > 1, "a token is renewed before it ends"
        monkeypatch.setenv("SHAREPOINT_SECRET", "wrong")
        refuses(address, tmp_path, "no access token: .* answers 401")
        assert server.tenants[-1] == "127.onmicrosoft.com"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("github://github.com/mill", "github://github.com/OWNER/REPO"),
        ("github://github.com/mill/wheel/wiki", "github://github.com/OWNER/REPO"),
        ("jira://mill.atlassian.net/projects/A%22B", "jira://USER@"),
        ("gdrive://drive.google.com", "gdrive://drive.google.com/ID"),
        ("sharepoint://mill.sharepoint.com/sites/Mill", "sharepoint://APPLICATION@"),
    ],
)
def test_malformed_addresses_are_told(address: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        acquire.open_source(address, LOCAL, tmp_path)
