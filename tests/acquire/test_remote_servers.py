"""Buckets and file servers, with the servers that others wrote for their protocols."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragstone import acquire
from ragstone.core.errors import SourceError
from ragstone.core.records import Skipped
from ragstone.core.source import Entry, Source
from ragstone.settings import AcquireSettings, RemoteSettings

LOCAL = AcquireSettings(remote=RemoteSettings(allow_private=True, retries=0, timeout_seconds=60))


def contents(address: str, folder: Path) -> dict[str, bytes]:
    """Return what a source lists and sends, by address."""
    with closing(acquire.open_source(address, LOCAL, folder)) as source:
        return dict(_contents(source))


def versions(address: str, folder: Path) -> dict[str, str]:
    with closing(acquire.open_source(address, LOCAL, folder)) as source:
        return {one.name: one.version for one in source.entries() if isinstance(one, Entry)}


def _contents(source: Source) -> Iterator[tuple[str, bytes]]:
    for one in source.entries():
        assert not isinstance(one, Skipped)
        yield one.name, b"".join(source.fetch(one))


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder of files on a server, one of them larger than what is requested at once."""
    (tmp_path / "docs" / "below").mkdir(parents=True)
    (tmp_path / "docs" / "a mill.txt").write_bytes(b"The mill grinds.")
    (tmp_path / "docs" / "below" / "b.md").write_bytes(b"Bees make honey.")
    (tmp_path / "docs" / "large.txt").write_bytes(b"0123456789" * 900_000)
    (tmp_path / "docs" / ".hidden").write_bytes(b"not read")
    return tmp_path


def of(shelf: Path) -> dict[str, bytes]:
    folder = shelf / "docs"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".hidden"
    }


def test_reads_a_bucket(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs")
    moto = pytest.importorskip("moto.server")
    import boto3

    for name, text in (("ACCESS_KEY_ID", "ann"), ("SECRET_ACCESS_KEY", "secret"), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", text)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        client = boto3.client("s3")
        client.create_bucket(Bucket="shelf")
        client.put_object(Bucket="shelf", Key="docs/", Body=b"")  # how some programs make a folder
        for name, data in of(shelf).items():
            client.put_object(Bucket="shelf", Key=f"docs/{name}", Body=data)
        client.put_object(Bucket="shelf", Key="other/c.txt", Body=b"elsewhere")
        assert contents("s3://shelf/docs", tmp_path) == of(shelf)
        before = versions("s3://shelf/docs", tmp_path)
        client.put_object(Bucket="shelf", Key="docs/a mill.txt", Body=b"The mill rests.")
        after = versions("s3://shelf/docs", tmp_path)
        assert {name for name in after if after[name] != before[name]} == {"a mill.txt"}
        for missing in ("s3://shelf/none", "s3://none"):
            with pytest.raises(SourceError):
                contents(missing, tmp_path)
        client.close()
    finally:
        server.stop()


def test_reads_over_sftp(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("paramiko")
    pytest.importorskip("fsspec")
    from servers.sftp_server import SftpServer

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SFTP_PASSWORD", "secret")
    hosts = tmp_path / ".ssh" / "known_hosts"
    hosts.parent.mkdir()
    hosts.touch()
    with SftpServer(shelf, "ann", "secret") as server:
        address = f"sftp://ann@127.0.0.1:{server.port}/docs"
        with pytest.raises(SourceError, match="not found in known_hosts"):
            contents(address, tmp_path)
        hosts.write_text(server.known_hosts)
        assert contents(address, tmp_path) == of(shelf)
        assert all(versions(address, tmp_path).values())
        monkeypatch.setenv("SFTP_PASSWORD", "wrong")
        with pytest.raises(SourceError, match="Authentication failed") as refused:
            contents(address, tmp_path)
        assert "wrong" not in str(refused.value)


def test_reads_over_webdav(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dav = pytest.importorskip("wsgidav.wsgidav_app")
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    app = dav.WsgiDAVApp(
        {
            "provider_mapping": {"/": str(shelf)},
            "simple_dc": {"user_mapping": {"*": {"ann": {"password": "secret"}}}},
            "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
            "logging": {"enable": False},
            "verbose": 0,
        }
    )
    monkeypatch.setenv("WEBDAV_PASSWORD", "secret")
    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            address = f"webdav+http://ann@127.0.0.1:{server.server_port}/docs"
            assert contents(address, tmp_path) == of(shelf)
            assert contents(f"{address}/a mill.txt", tmp_path) == {"": b"The mill grinds."}
            before = versions(address, tmp_path)
            (shelf / "docs" / "a mill.txt").write_bytes(b"The mill rests at noon.")
            after = versions(address, tmp_path)
            assert {name for name in after if after[name] != before[name]} == {"a mill.txt"}
            monkeypatch.setenv("WEBDAV_PASSWORD", "wrong")
            with pytest.raises(SourceError, match="answers 401"):
                contents(address, tmp_path)
        finally:
            server.shutdown()
            thread.join()
