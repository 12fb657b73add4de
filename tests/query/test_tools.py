"""Tools of other servers: called over the protocol, their results as texts, their faults as words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from evidence import evidence
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.access import Reader
from ragstone.core.errors import RetrievalError, SettingsError
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.query.outside import Outside, build_outside, with_outside
from ragstone.query.tool_results import Item, documents
from ragstone.settings.load import load
from servers.tool_server import KEY, ToolServer

QUESTION = "Why does the brake cable of the Wren fray?"


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    with ToolServer() as running:
        yield running


def tool(server: ToolServer, name: str, *settings: str, key: str = KEY) -> Outside:
    base = [f"query.tools.tickets.{one}" for one in (f"url={server.url}", f"tool={name}", f"api_key={key}", *settings)]
    chosen = load((*base, "services.timeout_seconds=20")).settings
    (built,) = build_outside(chosen.query, chosen.services)
    return built


def found(one: Outside, text: str = QUESTION) -> list[Document]:
    return asyncio.run(one.search.search(text, 3, Request.by_owner()))


def test_objects_of_a_result_become_texts(server: ToolServer) -> None:
    (issue,) = found(tool(server, "search_issues", "arguments={limit: 2}"))
    assert server.asked[-1] == {"query": QUESTION, "limit": 2}
    assert (issue.title, issue.url) == (
        "tickets: The brake cable of the Wren frays",
        "https://tickets.example/WREN-204",
    )
    assert issue.text.split("\n") == [
        "The brake cable of the Wren frays after 900 kilometres. A sleeve of steel mends it.",
        "",
        "Key: WREN-204",
        "Title: The brake cable of the Wren frays",
        "Status name: closed",
        "Labels: brakes, wren",
    ]


def test_texts_resources_and_links_are_read(server: ToolServer) -> None:
    notes = found(tool(server, "read_notes", "argument=topic", "arguments={team: bikes}"), "hours")
    assert server.asked[-1] == {"topic": "hours", "team": "bikes"}
    assert [(one.text, one.url) for one in notes] == [
        ("The workshop closes at five.", ""),
        ("The workshop opens at nine.", "https://notes.example/7"),
        ("A plan.", "https://notes.example/8"),
    ]


def test_results_are_evidence_below_the_documents(server: ToolServer) -> None:
    stored = evidence(QUESTION, "The Wren has a brake cable.")
    one = tool(server, "search_issues", "groups=[workshop]")
    found, useful = asyncio.run(with_outside(stored, [one], Request.by_owner()))
    assert useful == (one,)
    *_, last = found.hits
    assert (last.chunk.source_type, last.chunk.is_outside) == ("tool", True)
    assert [step.stage for step in last.why] == ["tool (tickets)"]
    assert Reader.of("workshop").may_read(last.chunk.metadata)
    assert not Reader.of("sales").may_read(last.chunk.metadata)


def test_only_readers_in_its_groups_use_a_tool(server: ToolServer) -> None:
    one = tool(server, "search_issues", "groups=[workshop]")
    assert [one.may_be_used(Reader.of(groups)) for groups in ("workshop", "sales", None)] == [True, False, True]
    assert tool(server, "search_issues").may_be_used(Reader(groups=frozenset()))


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("absent", (), "there is no tool absent; the server has: fail, flood, read_notes, search_issues, sleep"),
        ("read_notes", (), r"set query\.tools\.tickets\.argument to one of topic, team"),
        ("fail", (), "fail failed: .*the index of Why .* is broken"),
        ("flood", (), "larger than 8 MB"),
        ("search_issues", ("arguments={limit: many}",), "search_issues failed: "),
    ],
)
def test_faults_are_described(server: ToolServer, name: str, settings: tuple[str, ...], said: str) -> None:
    with pytest.raises(RetrievalError, match=said):
        found(tool(server, name, *settings))


def test_a_slow_tool_is_not_waited_for(server: ToolServer) -> None:
    chosen = load(
        (
            f"query.tools.slow.url={server.url}",
            "query.tools.slow.tool=sleep",
            f"query.tools.slow.api_key={KEY}",
            "services.timeout_seconds=0.7",
        )
    ).settings
    (one,) = build_outside(chosen.query, chosen.services)
    with pytest.raises(RetrievalError, match=r"no reply in time; raise services\.timeout_seconds"):
        found(one)


def test_a_refused_key_is_named_and_not_shown(server: ToolServer) -> None:
    with pytest.raises(
        RetrievalError, match=r"refuses the key \(HTTP 401\); check query\.tools\.tickets\.api_key"
    ) as told:
        found(tool(server, "search_issues", key="wrong-key-77"))
    assert "wrong-key-77" not in repr(told.value)
    assert "wrong-key-77" not in repr(
        load((f"query.tools.a.url={server.url}", "query.tools.a.tool=x", "query.tools.a.api_key=wrong-key-77"))
    )


def test_a_wrong_address_is_named(server: ToolServer) -> None:
    wrong = tool(server, "search_issues", f"url={server.url}/wrong")
    with pytest.raises(RetrievalError, match=r"check query\.tools\.tickets\.url"):
        found(wrong)
    away = tool(server, "search_issues", "url=http://127.0.0.1:9/mcp")
    with pytest.raises(RetrievalError, match="cannot be reached; is its url right"):
        found(away)


def test_a_failure_keeps_the_stored_evidence(server: ToolServer) -> None:
    stored = evidence(QUESTION, "The Wren has a brake cable.")
    sources = [tool(server, "fail"), tool(server, "search_issues")]
    found, useful = asyncio.run(with_outside(stored, sources, Request.by_owner()))
    assert found.hits[0] == stored.hits[0]
    assert useful == (sources[1],)
    assert found.missing[0].startswith("The tool tickets was not searched: fail failed: ")


@pytest.mark.parametrize("settings", [("query.tools.tickets.tool=x",), ("query.tools.tickets.url=https://a.example",)])
def test_a_tool_without_address_or_name_is_refused(settings: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match="a tool needs a url and the name of the tool"):
        load(settings)


# ---------------------------------------------------------------- results


def test_the_only_list_of_a_result_is_read() -> None:
    text = '{"total": 2, "items": [{"name": "Ann", "dueDate": "2026-04-01"}, {"name": "Bob", "isDone": true}]}'
    ann, bob, rest = documents("people", [Item(text=text)], None)
    assert (ann.title, ann.text) == ("people: Ann", "Name: Ann\nDue Date: 2026-04-01")
    assert bob.text == "Name: Bob\nIs Done: yes"
    assert rest.text == "Total: 2"


def test_prose_stays_and_structured_content_is_read_only_without_it() -> None:
    assert [one.text for one in documents("t", [Item(text="[see below]")], {"a": 1})] == ["[see below]"]
    assert [one.text for one in documents("t", [Item(text=" ")], {"result": ["one", "two"]})] == ["Result: one, two"]
    assert documents("t", [], None) == []


def test_values_stay_as_they_are_written_and_whole() -> None:
    long = "One sentence after another. " * 100
    (one,) = documents("t", [Item(text=f'{{"price": 12.50, "answer": "{long}"}}')], None)
    assert "Price: 12.50" in one.text
    assert long.strip() in one.text


def test_a_deep_result_is_read() -> None:
    for text in ("[" * 900 + "1" + "]" * 900, '{"a": ' * 900 + "1" + "}" * 900, "[" * 100_000):
        (one,) = documents("t", [Item(text=text)], None)
        assert one.text


def test_results_that_are_not_read_are_counted(server: ToolServer) -> None:
    request = Request.by_owner()
    one = tool(server, "read_notes", "argument=topic", "arguments={team: bikes}", "results=2")
    assert len(asyncio.run(one.hits("hours", request))) == 2
    assert request.meter.notices == ["The tool tickets found 3; 2 were read (query.tools.tickets.results)."]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=20,
)


@given(st.text(max_size=40), values)
def test_every_result_is_read(text: str, structured: Any) -> None:
    for one in documents("t", [Item(text=text)], structured):
        assert one.text.strip()
        assert one.title.startswith("t")


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.integers(1000, 9999), min_size=1, max_size=5))
def test_no_value_of_an_object_is_lost(fields: Mapping[str, int]) -> None:
    (one,) = documents("t", [], fields)
    assert all(str(value) in one.text for value in fields.values())
