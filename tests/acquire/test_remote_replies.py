"""Lists without an end or on another server, and fields without a value."""

from __future__ import annotations

import pytest

from ragstone.acquire.remote import replies
from ragstone.core.errors import SourceError


def test_gives_up_a_list_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_MOST_REPLIES", 5)
    with pytest.raises(SourceError, match="the list of mill://wheel does not end"):
        list(replies.pages(lambda at: ([], at), "again", "mill://wheel"))


def test_reads_no_text_in_a_field_without_a_value() -> None:
    reply = {"next": None, "number": 0}
    assert [replies.text_in(reply, name) for name in ("next", "none", "number")] == ["", "", "0"]


def test_follows_a_list_to_no_other_server() -> None:
    assert replies.same_server("https://mill.example/api?page=2", "https://mill.example", "mill://wheel")
    with pytest.raises(SourceError, match="leads to another server"):
        replies.same_server("https://mill.example.net/api", "https://mill.example", "mill://wheel")
