"""The page published alone: built for the address of an API, opened from another origin in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from served import Visit, served
from test_build import npm, run

__all__ = ["npm"]  # a fixture

ROMANS = "What did the Romans ship down the river Medway?"


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "published" / "chat").mkdir(parents=True)
    return tmp_path / "published"


@pytest.fixture
def origin(folder: Path) -> Iterator[str]:
    """The address of a plain file server, as GitHub Pages is one; the page lies below a path of it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_asks_an_api_of_another_origin(npm: str, kb: Path, folder: Path, origin: str, chromium: Any) -> None:
    with served(kb, "--set", f"serve.origins=[{origin}]") as api:
        run(npm, "build", "--", "--outDir", str(folder / "chat"), "--emptyOutDir", VITE_API=api)
        at = Visit(chromium, origin, at="chat/")
        turn = at.ask(ROMANS)
        expect(turn).to_contain_text("Kentish ragstone")
        turn.get_by_role("button", name="Citation 1").click()
        expect(at.page.locator("aside mark").first).to_be_visible()
        assert at.troubles == []
        assert at.foreign
        assert all(url.startswith(f"{api}/") for url in at.foreign)
        at.close()


def test_an_origin_that_is_not_listed_is_refused(npm: str, kb: Path, folder: Path, origin: str, chromium: Any) -> None:
    with served(kb, "--set", "serve.origins=[https://elsewhere.example]") as api:
        run(npm, "build", "--", "--outDir", str(folder / "chat"), "--emptyOutDir", VITE_API=api)
        at = Visit(chromium, origin, at="chat/", allow="CORS|Failed to load|ERR_FAILED")
        expect(at.page.get_by_text("serve.origins").or_(at.page.get_by_role("alert")).first).to_be_visible()
        at.close()
