"""Sources that are listed and fetched: only what changed is fetched, and what is gone is removed."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kb import open_fast, parts

from ragstone import acquire
from ragstone.acquire.remote.address import Opening
from ragstone.acquire.remote.opening import connection_of
from ragstone.core.access import OWNER, READERS
from ragstone.core.errors import MissingExtra, SourceError, UsageError
from ragstone.core.records import Acquired, Document, Finished, Skipped, Unchanged
from ragstone.core.source import Entry, Source
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings import AcquireSettings, ConnectionSettings, RemoteSettings
from servers.git_server import GitServer
from servers.imap_server import Folder, ImapServer

LOCAL = RemoteSettings(allow_private=True, retries=0, timeout_seconds=60)
MAIL = b"From: ann@mill.example\r\nTo: bob@mill.example\r\nSubject: %s\r\nMessage-ID: <%s@mill>\r\n\r\n%s\r\n"
ATTACHED = b"""From: ann@mill.example\r
Subject: Plan\r
MIME-Version: 1.0\r
Content-Type: multipart/mixed; boundary=x\r
\r
--x\r
Content-Type: text/plain\r
\r
The plan of the mill is attached.\r
--x\r
Content-Type: text/plain\r
Content-Disposition: attachment; filename=plan.txt\r
\r
The wheel turns at dawn.\r
--x--\r
"""


class Memory:
    """A source in memory that counts what is fetched, and fails where a test wants it to."""

    address = "memory://shelf"

    def __init__(self, **texts: str) -> None:
        self.listed: list[Entry | Skipped] = [entry(name, text) for name, text in texts.items()]
        self.texts = texts
        self.fetched: list[str] = []
        self.broken: set[str] = set()
        self.breaks_off = False

    def entries(self) -> Iterator[Entry | Skipped]:
        yield from self.listed
        if self.breaks_off:
            raise ConnectionResetError("the connection broke")

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        self.fetched.append(entry.name)
        if entry.name in self.broken:
            raise TimeoutError("no answer")
        yield self.texts[entry.name].encode()

    def close(self) -> None:
        pass


def entry(name: str, version: str) -> Entry:
    return Entry(name=name, version=version, kind=".txt")


class Stamps:
    """What a catalog knows of files."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def is_stored(self, source: str, stamp: str) -> bool:
        return self.known.get(source) == stamp


def read(source: Source, stamps: Stamps | None = None, settings: AcquireSettings | None = None) -> list[Acquired]:
    stamps = stamps or Stamps()
    found = list(acquire.read_source(source, settings or AcquireSettings(), is_stored=stamps.is_stored))
    stamps.known |= {one.source: one.stamp for one in found if isinstance(one, Finished)}
    return found


def texts(found: Sequence[Acquired]) -> dict[str, str]:
    return {one.id: one.text for one in found if isinstance(one, Document)}


def opened(address: str, folder: Path, connection: ConnectionSettings | None = None) -> Source:
    named = {"it": connection or ConnectionSettings(address=address)}
    return acquire.open_source("it", AcquireSettings(connections=named, remote=LOCAL), folder)


def listed(address: str, folder: Path) -> list[Entry | Skipped]:
    with closing(opened(address, folder)) as source:
        return list(source.entries())


# ---------------------------------------------------------------- the protocol


def test_an_unchanged_version_is_not_fetched() -> None:
    source, stamps = Memory(a="one", b="two"), Stamps()
    assert texts(read(source, stamps)) == {"memory://shelf/a": "one", "memory://shelf/b": "two"}
    source.texts["b"] = "three"
    source.listed[1] = entry("b", "three")
    source.fetched.clear()
    again = read(source, stamps)
    assert source.fetched == ["b"]
    assert again[0] == Unchanged(source="memory://shelf/a")
    assert texts(again) == {"memory://shelf/b": "three"}


def test_an_entry_without_version_is_always_fetched() -> None:
    source, stamps = Memory(a="one"), Stamps()
    source.listed = [entry("a", "")]
    read(source, stamps)
    read(source, stamps)
    assert source.fetched == ["a", "a"]


def test_new_groups_are_stored_though_the_version_stays() -> None:
    source, stamps = Memory(a="one"), Stamps()
    read(source, stamps)
    source.listed = [replace(entry("a", "one"), groups=("Staff",))]
    (document, _) = read(source, stamps)
    assert isinstance(document, Document)
    assert document.metadata[READERS] == ("Staff",)


def test_connection_source_and_document_narrow_each_other() -> None:
    front = "---\nreaders: [{}]\n---\ntext"
    source = Memory(a="one", b="two", c="three", d=front.format("hr, staff"), e=front.format("board"), f="six")
    source.listed = [
        entry("a", "1"),
        replace(entry("b", "1"), groups=()),
        replace(entry("c", "1"), groups=("board", "hr")),
        entry("d", "1"),
        entry("e", "1"),
        replace(entry("f", "1"), metadata={"Readers": ("hr",)}),
    ]
    found = acquire.read_source(source, AcquireSettings(), groups=("staff", "hr"))
    groups = {one.id[-1]: one.metadata[READERS] for one in found if isinstance(one, Document)}
    assert groups == {"a": ("hr", "staff"), "b": (), "c": ("hr",), "d": ("hr", "staff"), "e": (), "f": ("hr",)}


def test_what_the_source_knows_replaces_what_the_text_says() -> None:
    source = Memory(page="<html><head><title>No</title></head><body><main><p>The mill grinds.</p></main></body></html>")
    known = replace(entry("page", "1"), kind=".html", title="Mill", url="https://wiki.example/mill")
    source.listed = [replace(known, metadata={"author": "Ann"})]
    (document, _) = read(source)
    assert isinstance(document, Document)
    assert (document.title, document.url, document.metadata["author"]) == ("Mill", known.url, "Ann")
    assert document.text == "The mill grinds."


def test_one_broken_entry_stops_nothing() -> None:
    source = Memory(a="one", b="two", c="three")
    source.broken = {"b"}
    found = read(source)
    assert list(texts(found).values()) == ["one", "three"]
    assert [one for one in found if isinstance(one, Skipped)] == [
        Skipped(source="memory://shelf/b", reason="cannot be fetched: TimeoutError: no answer")
    ]


def test_ten_broken_entries_end_it() -> None:
    source = Memory(**{f"e{i}": "text" for i in range(12)})
    source.broken = set(source.texts)
    with pytest.raises(SourceError, match="stopped answering"):
        read(source)
    assert len(source.fetched) == 10


def test_entries_that_are_too_large_or_secret_are_not_fetched() -> None:
    source = Memory(large="x" * 2_000_000, key="secret")
    source.listed = [replace(entry("large", "1"), size=2_000_000), entry("id_rsa", "1"), entry("large", "2")]
    settings = AcquireSettings(max_file_mb=1)
    found = [one.reason for one in read(source, settings=settings) if isinstance(one, Skipped)]
    assert found[0] == "2 MB, above acquire.max_file_mb=1"
    assert "passwords or keys" in found[1]
    assert found[2] == "another entry has the same name"
    assert source.fetched == []
    source.listed = [entry("large", "3")]  # of a size that the source does not know
    (skipped,) = [one for one in read(Liar(source), settings=settings) if isinstance(one, Skipped)]
    assert "above acquire.max_file_mb=1" in skipped.reason


class Liar(Memory):
    """Sends more than any file may have, and says nothing of its size."""

    def __init__(self, source: Memory) -> None:
        super().__init__()
        self.listed = source.listed

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        while entry.version:
            yield b"x" * 100_000


# ---------------------------------------------------------------- in a knowledge base


@pytest.fixture
def kb(workdir: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(workdir / "kb", "acquire.connections={shelf: {address: 'test_remote:build'}}")
    yield engine
    engine.close()


SHELF = Memory()


def build(_connection: ConnectionSettings) -> Memory:
    """Return the source that the setting of a test names."""
    return SHELF


def stored(kb: KnowledgeBase) -> set[str]:
    return {one.document_id for one in kb.documents.list(reader=OWNER).documents}


def test_sync_follows_a_source(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def sync(source: Memory) -> tuple[int, int, int, int]:
        monkeypatch.setitem(globals(), "SHELF", source)
        report = asyncio.run(kb.documents.sync(["shelf"]))
        return report.added, report.updated, report.unchanged, report.removed

    assert sync(Memory(a="one", b="two", c="three")) == (3, 0, 0, 0)
    changed = Memory(a="one", b="two more")
    planned = monkeypatch.setitem(globals(), "SHELF", changed) or asyncio.run(kb.documents.plan(["shelf"]))
    assert (planned.updated, planned.removed) == (("memory://shelf/b",), ("memory://shelf/c",))
    assert sync(changed) == (0, 1, 1, 1)
    assert stored(kb) == {"memory://shelf/a", "memory://shelf/b"}
    # A listing that breaks off, or is empty, removes nothing.
    broken = Memory(d="four")
    broken.breaks_off = True
    with pytest.raises(SourceError, match="ConnectionResetError"):
        sync(broken)
    with pytest.raises(SourceError, match="nothing to read"):
        sync(Memory())
    assert stored(kb) >= {"memory://shelf/a", "memory://shelf/b"}
    # A part that cannot be listed, and an entry that cannot be fetched, keep what is stored of them.
    partly = Memory(b="two again")
    partly.broken = {"b"}
    partly.listed.append(Skipped(source="memory://shelf/a", reason="closed"))
    assert sync(partly)[3] <= 1  # no more than what the broken listing may have stored
    assert stored(kb) == {"memory://shelf/a", "memory://shelf/b"}


def test_one_source_of_two_may_fail(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, workdir: Path) -> None:
    monkeypatch.setitem(globals(), "SHELF", Memory())
    (workdir / "mill.txt").write_text("The mill grinds.")
    report = asyncio.run(kb.documents.sync(["shelf", "mill.txt"]))
    assert report.added == 1
    assert [one.source for one in report.skipped] == ["memory://shelf"]


def test_a_file_address_is_a_path(kb: KnowledgeBase, workdir: Path) -> None:
    (workdir / "a mill.txt").write_text("The mill grinds.")
    assert asyncio.run(kb.documents.add([(workdir / "a mill.txt").as_uri()])).added == 1
    assert asyncio.run(kb.documents.sync(["a mill.txt"])).unchanged == 1


def test_another_disk_is_queued_as_one_job(kb: KnowledgeBase) -> None:
    with pytest.raises(UsageError, match="sync --queue shelf"):
        kb.documents.queue_add(["shelf"])
    (job,) = kb.documents.queue_sync(["shelf"])
    assert job.work.sources == ("shelf",)
    parts(kb)


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sftp://ann:secret@host/x", "has a password or a query in it"),
        ("s3://bucket/x?token=1", "has a password or a query in it"),
        ("https://example.org/docs", "run: ragstone crawl"),
        ("nowhere://x", "is not a supported kind of address"),
        ("filecache::s3://bucket", "is not a supported kind of address"),
        ("git+ftp://host/x.git", "cannot be fetched over ftp"),
        ("git+https://host/x.git@--upload-pack=x", "is not the address of a repository"),
        ("sql://tickets", "needs a query"),
    ],
)
def test_refuses_an_address(address: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError, match=message) as refused:
        acquire.open_source(address, AcquireSettings(), tmp_path)
    assert "secret" not in str(refused.value)


def test_finds_a_connection_by_its_address() -> None:
    tickets = ConnectionSettings(address="sql://tickets", query="SELECT id FROM ticket", groups=("staff",))
    settings = AcquireSettings(connections={"one": tickets})
    assert connection_of("sql://tickets", settings) == connection_of("one", settings) == tickets
    with pytest.raises(UsageError, match="name one of them: one, other"):
        connection_of("sql://tickets", AcquireSettings(connections={"one": tickets, "other": tickets}))


def test_names_the_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    for name in ("gcsfs", "fsspec.implementations.smb", "smbprotocol"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(MissingExtra, match=r"gcsfs is not installed; run: .*install gcsfs"):
        acquire.open_source("gs://bucket/x", AcquireSettings(), tmp_path)
    with pytest.raises(MissingExtra, match=r"smbprotocol is not installed; run: .*install smbprotocol"):
        acquire.open_source("smb://host/x", AcquireSettings(), tmp_path)


@pytest.mark.parametrize("address", ["imaps://ann@127.0.0.1", "webdav://127.0.0.1/x", "git+https://127.0.0.1/x.git"])
def test_private_networks_are_refused(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAP_PASSWORD", "secret")
    source = acquire.open_source(address, AcquireSettings(), tmp_path)
    with pytest.raises(SourceError, match=r"acquire\.remote\.allow_private=true"):
        read(source)


# ---------------------------------------------------------------- fsspec


def test_reads_what_fsspec_reaches(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pipe("/shelf/docs/a.txt", b"The mill grinds.")
    files.pipe("/shelf/docs/below/b.md", b"# Bees\n\nBees make honey.")
    files.pipe("/shelf/docs/.hidden.txt", b"not read")
    stamps = Stamps()
    assert texts(read(opened("memory://shelf/docs", tmp_path), stamps)) == {
        "memory://shelf/docs/a.txt": "The mill grinds.",
        "memory://shelf/docs/below/b.md": "# Bees\n\nBees make honey.",
    }
    again = read(opened("memory://shelf/docs", tmp_path), stamps)
    assert [type(one) for one in again] == [Unchanged, Unchanged]
    assert texts(read(opened("memory://shelf/docs/a.txt", tmp_path))) == {
        "memory://shelf/docs/a.txt": "The mill grinds."
    }
    with pytest.raises(SourceError, match="there is no file or folder"):
        read(opened("memory://shelf/none", tmp_path))


# ---------------------------------------------------------------- git


@pytest.fixture
def commit(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return what commits files to a repository; None removes one."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")

    def git(*arguments: str) -> None:
        names = ("-c", "user.name=ann", "-c", "user.email=ann@mill.example", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")

    def make(**files: str | None) -> Path:
        for name, text in files.items():
            path = folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "--message=Change")
        return folder

    return make


def test_reads_a_repository(commit: Callable[..., Path], tmp_path: Path) -> None:
    folder = commit(readme_md="# Mill\n\nIt grinds.", docs__bees_txt="Bees make honey.")
    (folder / "docs" / "link.txt").symlink_to("/etc/passwd")
    (folder / ".git" / "hooks" / "post-checkout").write_text("#!/bin/sh\ntouch /tmp/never\n")
    commit(big_txt="version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n")
    address, stamps = f"git+{folder}", Stamps()
    found = read(opened(address, tmp_path), stamps)
    root = f"git+{folder.as_uri()}"
    assert texts(found) == {f"{root}/docs/bees.txt": "Bees make honey.", f"{root}/readme.md": "# Mill\n\nIt grinds."}
    assert {one.source: one.reason for one in found if isinstance(one, Skipped)} == {
        f"{root}/big.txt": "cannot be fetched: kept in Git LFS, which is not fetched",
        f"{root}/docs/link.txt": "a link, which is not followed",
    }
    commit(readme_md="# Mill\n\nIt stands still.", big_txt=None, docs__link_txt=None)
    again = read(opened(address, tmp_path), stamps)
    assert texts(again) == {f"{root}/readme.md": "# Mill\n\nIt stands still."}
    assert Unchanged(source=f"{root}/docs/bees.txt") in again
    part = read(opened(f"{address}@main#subdirectory=docs", tmp_path))
    assert texts(part) == {f"{root}@main/docs/bees.txt": "Bees make honey."}
    with pytest.raises(SourceError, match="cannot be fetched"):
        read(opened(f"{address}@none", tmp_path))


def test_reads_a_branch_with_a_slash_in_its_name(commit: Callable[..., Path], tmp_path: Path) -> None:
    folder = commit(readme_md="It grinds.")
    subprocess.run(["git", "branch", "release/1.2"], cwd=folder, check=True)
    commit(readme_md="It stands still.")
    root = f"git+{folder.as_uri()}@release/1.2"
    for place in (f"git+{folder}@release/1.2", root):
        assert texts(read(opened(place, tmp_path))) == {f"{root}/readme.md": "It grinds."}
    marked = folder.rename(folder.with_name("mill@home"))
    for place in (f"git+{marked}", f"git+file://{marked}"):
        assert list(texts(read(opened(place, tmp_path))).values()) == ["It stands still."]


def test_reads_a_repository_over_http(
    commit: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = commit(bees_txt="Bees rest.")
    (of_user := folder.with_name("@ann")).mkdir()
    folder = folder.rename(of_user / folder.name)
    with GitServer(of_user.parent) as server, GitServer(of_user.parent) as other:
        address = f"git+http://127.0.0.1:{server.port}/@ann/{folder.name}/.git"
        asked, allowed = list[str](), Opening.allowed

        def count(self: Opening, host: str, port: int) -> object:
            asked.append(host)
            return allowed(self, host, port)

        monkeypatch.setattr(Opening, "allowed", count)
        part = texts(read(opened(address, tmp_path)))
        assert asked == ["127.0.0.1"]  # only git fetch connects
        assert part[f"{address}/bees.txt"] == "Bees rest."
        assert "Authorization" not in server.headers
        server.moved = other.origin
        with pytest.raises(SourceError, match="cannot be fetched"):
            read(opened(address, tmp_path))
        assert other.headers == {}


# ---------------------------------------------------------------- mail


def test_reads_a_mailbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAP_PASSWORD", "secret")
    folders = {
        "INBOX": Folder(MAIL % (b"Mill", b"1", b"The mill grinds."), ATTACHED),
        "INBOX/B&APw-cher": Folder(MAIL % (b"Books", b"2", b"Read them.")),
        "Trash": Folder(MAIL % (b"Old", b"3", b"Gone."), attributes=r"\HasNoChildren \Trash"),
        "Lists": Folder(attributes=r"\Noselect"),
    }
    with ImapServer("ann", "secret", folders) as server:
        address, stamps = f"imap://ann@127.0.0.1:{server.port}", Stamps()
        assert texts(read(opened(address, tmp_path), stamps)) == {
            f"{address}/INBOX/1.eml": "The mill grinds.",
            f"{address}/INBOX/2.eml": "The plan of the mill is attached.",
            f"{address}/INBOX/2.eml/plan.txt": "The wheel turns at dawn.",
            f"{address}/INBOX/Bücher/1.eml": "Read them.",
        }
        assert server.fetched == 3
        del folders["INBOX"].messages[1]
        folders["INBOX"].messages[7] = MAIL % (b"New", b"4", b"The mill rests.")
        folders["INBOX/B&APw-cher"].is_closed = True
        assert listed(f"{address}/inbox", tmp_path) == [
            Entry(name="2.eml", version="1/2", kind=".eml", size=len(ATTACHED)),
            Entry(name="7.eml", version="1/7", kind=".eml", size=len(folders["INBOX"].messages[7])),
            Skipped(source=f"{address}/inbox/Bücher", reason="cannot be listed: no such folder"),
        ]
        folders["INBOX"].validity = 2  # the server has numbered its messages anew
        assert [one.version for one in listed(address, tmp_path) if isinstance(one, Entry)] == ["2/2", "2/7"]
        with pytest.raises(SourceError, match="there is no folder 'none'"):
            listed(f"{address}/none", tmp_path)
        assert not any(word in command for command in server.commands for word in ("STORE", "SELECT", "secret"))
        monkeypatch.setenv("IMAP_PASSWORD", "wrong")
        with pytest.raises(SourceError, match="refuses: wrong password"):
            listed(address, tmp_path)
    monkeypatch.delenv("IMAP_PASSWORD")
    with pytest.raises(SourceError, match="set the environment variable IMAP_PASSWORD"):
        listed(address, tmp_path)


def test_reads_a_mailbox_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = pytest.importorskip("ragstone.serve.http.certificate").self_signed(tmp_path, ["127.0.0.1"])
    monkeypatch.setenv("IMAP_PASSWORD", "secret")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate.certificate, certificate.key)
    with ImapServer("ann", "secret", {"INBOX": Folder(ATTACHED)}, tls) as server:
        address = f"imaps://ann@127.0.0.1:{server.port}"
        with pytest.raises(SourceError, match="CERTIFICATE_VERIFY_FAILED"):
            listed(address, tmp_path)
        assert server.commands == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.certificate))
        assert [one.version for one in listed(address, tmp_path) if isinstance(one, Entry)] == ["1/1"]


# ---------------------------------------------------------------- databases


def test_reads_the_rows_of_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy")
    import sqlite3

    database = tmp_path / "tickets.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE ticket (id INTEGER, title TEXT, body TEXT, day TEXT, readers TEXT)")
        rows = [(1, "Mill", "It is: stuck.", "2024-05-06", "staff"), (2, "Bees", "They sting.", "2024-05-07", "*")]
        connection.executemany("INSERT INTO ticket VALUES (?, ?, ?, ?, ?)", [*rows, (3, "None", "", "", "")])
    connection.close()
    monkeypatch.setenv("TICKETS", f"sqlite:///{database}")
    query = "SELECT id, title, body, day, readers FROM ticket WHERE title <> ':x' ORDER BY id"
    named = ConnectionSettings(
        address="sql://tickets", secret="TICKETS", query=query, columns={"text": ["body"], "dates": ["day"]}
    )
    stamps = Stamps()
    found = read(opened("", tmp_path, named), stamps)
    mill, bees = (one for one in found if isinstance(one, Document))
    assert (mill.id, mill.title, mill.text) == ("sql://tickets/1", "Mill", "It is: stuck.")
    assert (mill.metadata[READERS], mill.metadata["day"], mill.metadata["kind"]) == (("staff",), "2024-05-06", "sql")
    assert bees.metadata[READERS] == ("*",)
    assert [one.source for one in found if isinstance(one, Skipped)] == ["sql://tickets/3"]
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE ticket SET body = 'They rest.' WHERE id = 2")
    connection.close()
    assert texts(read(opened("", tmp_path, named), stamps)) == {"sql://tickets/2": "They rest."}
    broken = {
        "SELECT missing FROM ticket": "no such column",
        "SELECT id FROM ticket": "no column 'body'",
        "DELETE FROM ticket RETURNING id, body": "readonly database",
    }
    for text, message in broken.items():
        with pytest.raises(SourceError, match=message):
            read(opened("", tmp_path, named.model_copy(update={"query": text})))
    missing = tmp_path / "missing.db"
    monkeypatch.setenv("TICKETS", f"sqlite:///{missing}")
    with pytest.raises(SourceError, match="no SQLite file"):
        read(opened("", tmp_path, named))
    assert not missing.exists()
    monkeypatch.setenv("TICKETS", "not a URL with a secret")
    with pytest.raises(SourceError, match="malformed"):
        read(opened("", tmp_path, named))


def test_reads_rows_of_postgresql(postgres: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy")
    monkeypatch.setenv("SQL_URL", postgres.address())
    query = """SELECT * FROM (
        VALUES (1, 'Mill', DATE '2024-05-06', 1.5, ARRAY['a', 'b'], '50% corn'), (2, 'Bees', NULL, 2, NULL, 'x')
    ) AS ticket (id, title, day, price, parts, text) WHERE text LIKE '%' ORDER BY id::int"""
    named = ConnectionSettings(address="sql://tickets", query=query)
    mill, bees = (one for one in read(opened("", tmp_path, named)) if isinstance(one, Document))
    assert (mill.id, mill.title, mill.text) == ("sql://tickets/1", "Mill", "50% corn")
    assert [mill.metadata[name] for name in ("day", "price", "parts")] == ["2024-05-06", 1.5, ("a", "b")]
    assert bees.metadata["price"] == 2
    changing = named.model_copy(update={"query": "CREATE TABLE made AS SELECT 1 AS id, 'x' AS text"})
    with pytest.raises(SourceError, match="cannot be queried"):
        read(opened("", tmp_path, changing))


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        ("githb://team/site", "github"),
        ("jra://ann@x.example", "jira"),
        ("htps://x.example/", "https"),
        ("sfpt://h/x", "sftp"),
    ],
)
def test_suggests_the_kind_of_address_that_was_meant(
    address: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in ("fsspec is installed", "it is not"):
        with pytest.raises(UsageError, match=f"; did you mean {meant}://"):
            acquire.open_source(address, AcquireSettings(), tmp_path)
        monkeypatch.setitem(sys.modules, "fsspec.registry", None)


@pytest.mark.parametrize("kind", ["jira", "confluence"])
def test_asks_for_the_token_that_a_site_takes(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{kind.upper()}_TOKEN", raising=False)
    for user, secret in (("ann%40mill.example@", "API token of ann@mill.example"), ("", "personal access token")):
        source = acquire.open_source(f"{kind}://{user}x.example/", AcquireSettings(), tmp_path)
        with pytest.raises(SourceError, match=f"set the environment variable {kind.upper()}_TOKEN to the {secret}"):
            list(source.entries())
        source.close()
