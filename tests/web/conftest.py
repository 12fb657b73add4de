"""A small knowledge base, its server, and a real browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from served import DOCUMENTS, FIRST, START, Visit, environment, served

from servers.openai_server import KEY, OpenAIServer

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",  # no process in reserve: each visit would start one that it never uses
)
PAUSE = 0.03
"""Seconds between two words of the language model."""


@pytest.fixture(scope="session")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of a guide to stone, some articles and a hostile page, and its copies, each for one purpose."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", START, "add", "docs", "--kb", "kb"]
    subprocess.run(command, cwd=folder, env=environment(), check=True, capture_output=True, timeout=120)
    for copy in ("locked", "managed", "talked", "people", "widget", "modelled"):
        shutil.copytree(folder / "kb", folder / copy)
    return folder / "kb"


@pytest.fixture(scope="session")
def quoted(kb: Path) -> Iterator[str]:
    """The address of a server that quotes the documents."""
    with served(kb) as url:
        yield url


@pytest.fixture(scope="session")
def written(kb: Path) -> Iterator[str]:
    """The address of a server whose answers a language model writes word by word."""

    def reply(messages: Sequence[Any]) -> str:
        del messages
        return (
            "**Kentish ragstone** is a hard grey limestone. [1]\n\n- The Romans shipped it down the Medway. [1]\n"
            "- It was first used in 1492 to build rockets to the moon."
        )

    with OpenAIServer(reply, pause=PAUSE) as model:
        env = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": KEY}
        with served(kb, "--set", "respond.model.name=openai:test", "--set", "cache.enabled=false", **env) as url:
            yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, for one module at a time, because this thread has an event loop while it runs."""
    if not CHROMIUM:
        pytest.skip("Chromium is not installed (apt install chromium), so the page is not tested")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=FIRST)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """Open the page; at the end, check that it had no errors and loaded nothing from other servers."""
    visits: list[Visit] = []

    def opened(url: str, **options: Any) -> Visit:
        visits.append(Visit(chromium, url, **options))
        return visits[-1]

    yield opened
    for one in visits:
        one.close()
    for one in visits:
        assert one.foreign == [], "the page called another server"
        assert one.troubles == []
