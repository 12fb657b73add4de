"""Requests end with an error, whatever fails: a package that is missing, or anything unexpected."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hidden import hide
from kb import READY, add, open_fast
from live import DOCUMENTS, Live, Serving, served

from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.model_check import why_no_pictures
from ragstone.settings.load import load

ACCEPTED = ("application/json", "text/event-stream")


class Panic(BaseException):
    """What a library in another language may raise."""


def post(live: Live, path: str, accept: str) -> tuple[int, dict[str, Any], str | None]:
    """Ask; return the status, the error and when to try again."""
    told = live.http.post(path, json={"question": "Where do visitors park?"}, headers={"accept": accept})
    return told.status_code, told.json()["error"], told.headers.get("retry-after")


@pytest.mark.parametrize("accept", ACCEPTED)
def test_names_the_missing_package_and_asks_nobody_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accept: str
) -> None:
    hide(monkeypatch, "openai")
    with closing(open_fast(tmp_path / "kb", READY, "respond.model.name=ollama:fake")) as engine:
        add(engine, *DOCUMENTS)
        with served(engine) as live:
            status, error, again = post(live, "/query", accept)
            tried = live.http.post("/admin/models/try", json={"name": "ollama:fake"})
            chosen = live.http.post("/admin/models/choose", json={"name": "ollama:other"})
    assert (status, error["code"], again) == (500, "failed", None)
    assert "openai, which is not installed" in error["message"]
    for refused in (tried, chosen):
        assert refused.status_code == 500
        assert "openai" in refused.json()["error"]["message"]


@pytest.mark.parametrize("fault", [ImportError("cannot import name 'x'"), ZeroDivisionError()], ids=type)
def test_loading_that_fails_holds_no_request(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def warm(_: KnowledgeBase) -> None:
        raise fault

    monkeypatch.setattr(KnowledgeBase, "warm", warm)
    assert serving().ask().status_code == 200


@pytest.mark.parametrize("accept", ACCEPTED)
@pytest.mark.parametrize("fault", [ImportError("cannot import name 'x'"), Panic("a panic")], ids=type)
def test_whatever_is_raised_ends_the_request(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, fault: BaseException, accept: str
) -> None:
    async def stream(*_: object, **__: object) -> AsyncGenerator[None]:
        raise fault
        yield

    monkeypatch.setattr(KnowledgeBase, "stream", stream)
    told = serving().http.post("/query", json={"question": "Where?"}, headers={"accept": accept})
    assert told.status_code == 500


def test_offers_pictures_only_if_they_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not why_no_pictures(load([]).settings)
    with closing(open_fast(tmp_path / "kb", READY, "acquire.captions.model=ollama:seer")) as engine:
        add(engine, *DOCUMENTS)
        with served(engine) as live:
            assert live.http.get("/me").json()["pictures"] is True
            hide(monkeypatch, "PIL")
            assert "Pillow is not installed; run: " in why_no_pictures(engine.settings)
            assert live.http.get("/me").json()["pictures"] is False


@pytest.mark.parametrize("name", ["gguf:model.gguf", "huggingface:some/model", "extractive", "openai:seer"])
def test_offers_no_pictures_that_a_question_would_refuse(tmp_path: Path, name: str) -> None:
    with closing(open_fast(tmp_path / "kb", READY, f"acquire.captions.model={name}")) as engine, served(engine) as live:
        assert live.http.get("/me").json()["pictures"] is False
