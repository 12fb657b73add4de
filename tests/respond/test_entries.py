"""Entries of reference documentation, found by the name that a question has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.records import Chunk, Hit
from ragstone.question import read
from ragstone.respond.quoting.entries import coded_line, entry_of

MANUAL = """clock_step
- Units: seconds
- Default: 1.000

How much observed clock step we accept before we stop.

connect_timeout
- Units: seconds
- Default: 3.500

We only try to connect to the backend for this many seconds.

--max-size=SIZE, -m

Files above this size are left out. The default is 2G.

Files that are left out

They are listed at the end."""
MARKDOWN = (
    "# Settings\n\n## `server.port`\n\nThe port that is listened on. Default: `8080`.\n\n## `server.host`\n\nThe host."
)


def hit(text: str, title: str = "The varnish manual") -> Hit:
    chunk = Chunk(id="c", document_id="a.txt", index=0, total=1, start=0, end=len(text), text=text, title=title)
    return Hit(chunk=chunk, score=1.0)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What is the default connect_timeout?", "connect_timeout", "for this many seconds."),
        ("clock_step units", "clock_step", "before we stop."),
        ("What is connect_timeout in Varnish?", "connect_timeout", "for this many seconds."),
        ("What is the default of --max-size?", "--max-size=SIZE, -m", "The default is 2G."),
        ("default of server.port", "## `server.port`", "Default: `8080`."),
    ],
)
def test_quotes_the_entry_whole(question: str, first: str, last: str):
    found = entry_of(read(question), [hit(MANUAL), hit(MARKDOWN)])
    assert found is not None
    assert found.quote.text.startswith(first)
    assert found.quote.text.endswith(last)


@pytest.mark.parametrize(
    "question",
    [
        "Why did the panic mention connect_timeout?",  # words that the entry lacks
        "Is connect_timeout longer than clock_step?",  # two names
        "What is the default of send_timeout?",  # no entry
        "What is the default of max-size?",  # no name
        "How long is the timeout?",
        "",
    ],
)
def test_quotes_no_entry_of_something_else(question: str):
    assert entry_of(read(question), [hit(MANUAL)]) is None


def test_a_name_may_be_written_with_capitals_within():
    page = """\
     LoginGraceTime
             The server disconnects after this time. The default is 120 seconds.

     LogLevel
             Gives the verbosity that is used when logging messages. The default is INFO.
"""
    found = entry_of(read("LoginGraceTime default"), [hit(page)])
    assert found is not None
    assert found.quote.text.split()[0] == "LoginGraceTime"
    assert found.quote.text.endswith("120 seconds.")
    assert entry_of(read("What is the default of max_sessions in LoginGraceTime?"), [hit(page)]) is None


def test_a_sentence_that_begins_with_the_name_is_no_entry():
    text = "connect_timeout is described elsewhere, with its default.\n\nIt has a default of three seconds."
    assert entry_of(read("What is the default of connect_timeout?"), [hit(text)]) is None


def test_the_entry_that_says_what_is_asked_is_quoted():
    short = hit("connect_timeout\n\nSee the manual for what it is and does.")
    found = entry_of(read("What is the default of connect_timeout?"), [short, hit(MANUAL)])
    assert found is not None
    assert found.quote.place == 1


@given(st.text(max_size=200), st.text(alphabet="a_-.:\n #*`=(", max_size=300))
def test_any_entry_is_a_part_of_its_chunk(question: str, text: str):
    found = entry_of(read(f"{question} a_a"), [hit(text), hit(f"a_a\n\n{text}")])
    assert found is None or 0 <= found.quote.span.start < found.quote.span.end <= len(found.quote.hit.chunk.text)


CODES = (
    "# Error codes\n\n- E-104: the filter is blocked. Clean it.\n- E-105: the door is open.\n- E-1040: the fan failed."
)


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What does E-104 mean?", "E-104: the filter is blocked. Clean it."),
        ("error 105", "E-105: the door is open."),
        ("E105", "E-105: the door is open."),
        ("Was bedeutet Fehler E-1040?", "E-1040: the fan failed."),
    ],
)
def test_quotes_the_line_of_a_code(question: str, quote: str):
    found = coded_line(read(question), [hit(CODES)])
    assert found is not None
    assert found.quote.text == quote


@pytest.mark.parametrize(
    "question", ["What does E-106 mean?", "error 10", "Who fixes E-104?", "E-104 and E-105", "How long is 105?"]
)
def test_quotes_no_line_of_another_code(question: str):
    assert coded_line(read(question), [hit(CODES)]) is None
