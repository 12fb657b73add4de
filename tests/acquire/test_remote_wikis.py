"""Confluence and Notion, against servers that speak their published protocols."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from ragstone import acquire
from ragstone.acquire.readers.web.confluence import as_html
from ragstone.core.access import READERS
from ragstone.core.errors import SourceError
from ragstone.core.records import Document
from ragstone.core.source import Entry
from ragstone.settings import AcquireSettings, RemoteSettings
from servers import confluence_server, notion_server
from servers.confluence_server import ConfluenceServer
from servers.notion_server import NotionServer, block, text

LOCAL = AcquireSettings(remote=RemoteSettings(allow_private=True, retries=2, timeout_seconds=60))
STORAGE = """<h2>Wheel</h2><p>It turns at <ac:link><ri:page ri:content-title="The weir" /></ac:link>, see
<ac:link><ri:page ri:content-title="Dawn"/><ac:link-body>the dawn</ac:link-body></ac:link>.</p>
<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">python</ac:parameter>
<ac:plain-text-body><![CDATA[if a < b:
    turn()]]></ac:plain-text-body></ac:structured-macro>
<ac:structured-macro ac:name="panel"><ac:parameter ac:name="title">Mind</ac:parameter>
<ac:rich-text-body><p>Close the gate.</p></ac:rich-text-body></ac:structured-macro>
<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>
<ac:task-body>Oil it by <time datetime="2024-05-06" /></ac:task-body></ac:task></ac:task-list>"""


def listed(address: str, folder: Path) -> dict[str, Entry]:
    with closing(acquire.open_source(address, LOCAL, folder)) as source:
        return {one.name: one for one in source.entries() if isinstance(one, Entry)}


def read(address: str, folder: Path) -> dict[str, Document]:
    source = acquire.open_source(address, LOCAL, folder)
    return {one.id: one for one in acquire.read_source(source, LOCAL) if isinstance(one, Document)}


def test_reads_a_space_of_confluence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFLUENCE_TOKEN", "secret")
    pages = [
        confluence_server.Page(id="1", title="Mill", body=STORAGE),
        confluence_server.Page(id="2", title="Pay", body="<p>Ann earns 5.</p>", above=("1",), groups=("HR", "Board")),
        confluence_server.Page(id="3", title="Pay 2024", body="<p>6.</p>", above=("1", "2"), groups=("Board", "Staff")),
        confluence_server.Page(id="4", title="Mine", body="<p>Private.</p>", users=("Ann",)),
        confluence_server.Page(id="5", title="Filed", body="<p>Old.</p>", above=("90",)),
        confluence_server.Page(id="6", title="Lost", body="<p>Older.</p>", above=("91",)),
        confluence_server.Page(id="7", title="Elsewhere", body="<p>Other.</p>", space="OTHER"),
    ]
    with ConfluenceServer("secret", *pages) as server:
        server.folders["90"] = ("Archive",)
        server.busy = 1
        address = f"confluence+http://127.0.0.1:{server.port}/wiki/spaces/MILL"
        found = read(address, tmp_path)
        mill = found[f"{address}/1"]
        assert (mill.title, mill.url) == ("Mill", f"{server.origin}/wiki/spaces/MILL/pages/1")
        assert mill.metadata["author"] == "Ann"
        assert mill.metadata["date"] == "2024-05-06T07:08:09.000Z"
        assert mill.metadata["tags"] == "corn"
        assert "It turns at The weir, see the dawn." in mill.text
        assert "if a < b:\n    turn()" in mill.text
        assert [(mark.kind, mark.label) for mark in mill.marks] == [("heading", "Wheel"), ("code", "python")]
        for words in ("Mind", "Close the gate.", "Oil it by 2024-05-06"):
            assert words in mill.text
        assert "complete" not in mill.text
        groups = {id[-1]: one.metadata.get(READERS) for id, one in found.items()}
        assert groups == {"1": ("*",), "2": ("Board", "HR"), "3": ("Board",), "4": (), "5": ("Archive",), "6": ()}
        assert sorted(server.fetched) == ["1", "2", "3", "4", "5", "6"]
        server.pages["1"].version = 2
        assert listed(address, tmp_path)["1"].version == "2"
        monkeypatch.setenv("CONFLUENCE_TOKEN", "wrong")
        with pytest.raises(SourceError, match="answers 401"):
            listed(address, tmp_path)


def test_a_page_without_known_restrictions_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFLUENCE_TOKEN", "secret")
    with ConfluenceServer("secret", confluence_server.Page(id="1", title="Mill", body="")) as server:
        monkeypatch.setattr(confluence_server, "_restrictions", lambda *_: {})
        found = listed(f"confluence+http://127.0.0.1:{server.port}/wiki", tmp_path)
    assert found["1"].groups == ()


@pytest.mark.parametrize(
    "storage", ["<ac:link", "<ac:link><ri:page", "<![CDATA[x", "<ac:structured-macro><ac:parameter"]
)
def test_broken_storage_format_is_read(storage: str) -> None:
    assert as_html(f"<p>before</p>{storage}").startswith("<p>before</p>")


def test_reads_pages_of_notion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_TOKEN", "secret")
    row = ({"type": "table_row", "inside": [], "table_row": {"cells": [[text("day")], [text(name)]]}} for name in "ab")
    blocks = [
        block("heading_1", text("Wheel")),
        block("paragraph", text("It turns at "), text("dawn", link="https://mill.example/dawn"), text(".")),
        block("bulleted_list_item", text("oil"), inside=(block("bulleted_list_item", text("daily")),)),
        block("bulleted_list_item", text("clean")),
        block("to_do", text("mend"), checked=True),
        block("code", text("if a < b:\n    turn()"), language="python"),
        block("table", inside=tuple(row), table_width=2, has_column_header=True),
        block("child_page", title="Own page"),
        block("divider"),
        block("quote", text("Corn is gold.")),
    ]
    status = {"State": {"type": "select", "select": {"name": "open"}}, "Parts": {"type": "number", "number": 3}}
    mill, task, other = "a" * 32, "b" * 32, "c" * 32
    database = "d" * 32
    with NotionServer(
        "secret",
        notion_server.Page(id=mill, title="Mill", blocks=blocks),
        notion_server.Page(id=task, title="Task", database=database, properties=status),
        notion_server.Page(id=other, title="", blocks=[block("paragraph", text("No title."))]),
    ) as server:
        server.busy = 1
        address = f"notion+http://127.0.0.1:{server.port}"
        found = read(address, tmp_path)
        assert found[f"{address}/{mill}"].text == "\n\n".join(
            [
                "# Mill",
                "## Wheel",
                "It turns at [dawn](https://mill.example/dawn).",
                "- oil\n    - daily\n- clean",
                "- [x] mend",
                "```python\nif a < b:\n    turn()\n```",
                "| day | a |\n| --- | --- |\n| day | b |",
                "> Corn is gold.",
            ]
        )
        one = found[f"{address}/{mill}"]
        assert (one.title, one.url) == ("Mill", f"https://www.notion.so/{mill}")
        assert (one.metadata["author"], one.metadata["date"]) == ("Ann", "2024-05-06T07:08:00.000Z")
        assert found[f"{address}/{other}"].text == "No title."
        (row_of,) = listed(f"{address}/{database}", tmp_path).values()
        assert (row_of.title, row_of.metadata["State"], row_of.metadata["Parts"]) == ("Task", "open", 3)
        before = listed(address, tmp_path)[mill].version
        server.pages[mill].edited = "2024-05-07T00:00:00.000Z"
        assert listed(address, tmp_path)[mill].version != before
        assert list(dict.fromkeys(server.fetched)) == [mill, task, other]
