"""Manual pages in troff: man(7) and mdoc(7)."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structure import check, marked, outline

from ragstone.acquire.readers.manual import parse_text
from ragstone.core.records import Document

ReadOne = Callable[..., Document]

MAN = r"""'\" t
.\" A comment about the page
.ie \n(.g .ds Aq \(aq
.el       .ds Aq '
.de Vb
.ft CW
.nf
..
.de Ve
.ft R
.fi
..
.ds C+ C\v'-.1v'++
.TH FETCH 1 "2026\-11\-24" "fetch 2.1" "User Commands"
.SH NAME
fetch \- copy a file from
another host
.SH SYNOPSIS
.B fetch
[\fIOPTION\fR]...
.I URL
.br
.BR fetch " [" \-\-list ]
.SH "EXIT STATUS"
It\*(Aqs 0, or 1 \(em see
.BR curl (1),
.IR wget (1).
.\" not shown
.SS Options
.TP
\fB\-\-timeout=SECONDS\fP
Wait so long.
.if t More on paper.
.IP
The default is 30.
.TP
.B \-q
.TQ
.BR \-\-quiet " [" \fIn\fR ]
Say nothing,
even in \*(C+.
.IP \(bu 2
one
.IP "\(bu" 2
two\c
\& and three
.IP 1. 4
first
.PP
As in:
.RS
.nf
fetch \-q \e
    \(dqfile\(dq   # it\(aqs \\o/
.B fetch
.fi
.RE
.Vb 1
\&.profile  x
.Ve
.TS
tab(:) allbox;
lb lb
l l.
Key:Value
_
size:T{
ten
.B MB
T}
.TE
.UNKNOWN words remain
.UR https://example.com
Home
.UE .
caf\('e \[u00E9] \s-1NASA\s0 a\ b\~c
"""


def test_reads_pages_of_man(read_one: ReadOne) -> None:
    document = read_one("fetch.1", MAN)
    assert document.title == "fetch(1): copy a file from another host"
    assert document.metadata["kind"] == "manual"
    assert outline(document) == [(1, "NAME"), (1, "SYNOPSIS"), (1, "EXIT STATUS"), (2, "Options")]
    assert marked(document, "code") == ['fetch -q \\\n    "file"   # it\'s \\o/\nfetch', ".profile  x"]
    assert marked(document, "table") == ["Key | Value\nsize | ten MB"]
    for shown in (
        "NAME\n\nfetch - copy a file from another host\n\nSYNOPSIS\n\nfetch [OPTION]... URL\nfetch [--list]\n\n",
        "It's 0, or 1 — see curl(1), wget(1).",
        "\n\n--timeout=SECONDS\nWait so long.\n\nThe default is 30.\n\n-q\n--quiet [n]\nSay nothing, even in C++.\n\n",
        "\n\n- one\n\n- two and three\n\n1. first\n\nAs in:\n\n",
        "\n\nwords remain Home <https://example.com>. café é NASA a b c",
    ):
        assert shown in document.text, document.text
    assert "comment" not in document.text


MDOC = r""".Dd November 24, 2026
.Dt FETCH 8
.Os
.Sh NAME
.Nm fetch ,
.Nm unfetch
.Nd copy files
.Sh SYNOPSIS
.Nm
.Op Fl qv
.Op Fl Fl timeout Ns = Ns Ar seconds
.Ar
.Nm unfetch
.Fl h | Fl Fl help
.In stdio.h
.Ft int
.Fo fetch
.Fa "const char *url"
.Fa "int how"
.Fc
.Sh DESCRIPTION
.Nm
copies
.Pq see Xr curl 1 , Xr ssh 1 .
Write
.Dq Li a b ,
.Sq c
or
.Pf $ Ev HOME Ns /x .
.Bl -tag -width Ds
.It Fl q
Quiet.
.It Xo
.Fl o Ar name ,
.Fl Fl option
.Xc
Set one.
.Bd -literal -offset indent
.Fl q No \&# kept
a   b
.Ed
.It Fl \&-
Last.
.El
.Bl -bullet
.It
one
.It
two
.El
.Bl -enum -compact
.It
first
.It
second
.El
.Bl -column "Key" "Value"
.It Key Ta Value
.It Cm size Ta Li 10
.El
.Sm off
.Ar host : path
.Sm on
.Dl fetch -q url
.Ex -std fetch
.Ss Bugs
None in
.Bx 4.4 .
"""


def test_reads_pages_of_mdoc(read_one: ReadOne) -> None:
    document = read_one("fetch.8", MDOC)
    assert document.title == "fetch(8): copy files"
    assert outline(document) == [(1, "NAME"), (1, "SYNOPSIS"), (1, "DESCRIPTION"), (2, "Bugs")]
    assert marked(document, "code") == ["-q # kept\na   b", "fetch -q url"]
    assert marked(document, "table") == ["Key | Value\nsize | 10"]
    for shown in (
        "fetch, unfetch – copy files\n\n",
        "fetch [-qv] [--timeout=seconds] file ...\nunfetch -h | --help\n#include <stdio.h>\n",
        "int\nfetch(const char *url, int how)\n\n",
        "fetch copies (see curl(1), ssh(1)). Write “a b”, ‘c’ or $HOME/x.\n\n-q\nQuiet.\n\n-o name, --option\nSet one.",
        "\n\n--\nLast.\n\n- one\n\n- two\n\n1. first\n\n2. second\n\n",
        "\n\nhost:path\n\n",
        "The fetch utility exits 0 on success, and >0 if an error occurs.",
        "Bugs\n\nNone in 4.4BSD.",
    ):
        assert shown in document.text, document.text


GERMAN = r""".TH CP 1
.SH BEZEICHNUNG
cp \- Dateien kopieren
.SH BESCHREIBUNG
Eine Sicherungskopie von jeder vorhandenen Datei erstellen, wenn sie f\(:ur alle ist.
"""


def test_reads_german_pages_as_german(read_one: ReadOne) -> None:
    document = read_one("cp.1", GERMAN)
    assert (document.title, document.metadata["language"]) == ("cp(1): Dateien kopieren", "de")
    assert "wenn sie für alle ist" in document.text


def test_pages_cannot_change_standard_macros() -> None:
    page = parse_text(".TH A 1\n.de SH\n.ft B\n..\n.am SS\n.sp\n..\n.als B X\n.SH One\n.SS Two\n.B three\n")
    assert page.text == "One\n\nTwo\n\nthree"
    assert [mark.label for mark in page.marks] == ["One", "Two"]


@pytest.mark.parametrize("name", ["fetch.1", "fetch.3p", "fetch.conf.5", "fetch.man", "fetch", "fetch.1.gz"])
def test_recognises_pages_by_content(read_one: ReadOne, name: str) -> None:
    document = read_one(name, gzip.compress(MAN.encode()) if name.endswith(".gz") else MAN)
    assert document.title == "fetch(1): copy a file from another host"


@pytest.mark.parametrize("name", ["notes.1", "notes.man"])
def test_other_text_stays_as_written(read_one: ReadOne, name: str) -> None:
    assert read_one(name, ".B is no page\nbut text\n").text == ".B is no page\nbut text\n"


def test_skips_names_of_other_pages(why_skipped: Callable[..., str]) -> None:
    assert why_skipped("zcat.1", ".so man1/gzip.1\n") == "only names another page: man1/gzip.1"


PIECES = [
    "a", " ", "\t", "n", "-", ".", "l.", ",", "x", "..", "\n", "-column", "-enum", r"\fB", r"\(", r"\[", r"\*(x",
    r"\n+x", r"\{", r"\}", r"\c", "\\", r"\"", r"\s", r"\h'", '"', "T{", "T}", "tab(", ";",
]  # fmt: skip
MACROS = [
    ".SH ", ".SS ", ".TP ", ".IP ", ".PP ", ".B ", ".BR ", ".nf ", ".fi ", ".de x", ".ds x ", ".ie ", ".if ", ".el ",
    ".TS ", ".TE ", ".Sh ", ".Bl ", ".It ", ".El ", ".Op ", ".Fl ", ".Nm ", ".Xo ", ".Xc ", ".Bd ", ".Ed ", ".Fo ",
    ".Fa ", ".Fc ", ".Ta ", ".am x", ".x ", ".as x ", ".nr x ", ".Sm ", r".\}",
]  # fmt: skip
WORDS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
LINES = st.builds("".join, st.tuples(st.sampled_from(["", *MACROS]), WORDS))


@given(st.lists(LINES, max_size=25).map("\n".join))
def test_broken_pages_are_read(page: str) -> None:
    parsed = parse_text(page)
    if parsed.text:
        check(Document(id="a", text=parsed.text, marks=parsed.marks))
    assert not any(line.startswith((".SH", ".TP", ".Sh", ".It", ".nf")) for line in parsed.text.split("\n"))


@given(st.text())
def test_any_text_is_read(page: str) -> None:
    parse_text(f".TH a 1\n{page}")
    parse_text(page)


BOMB = ".ds a " + "x" * 200 + "\n.de b\n" + ".b\n" * 20 + r"\*a" * 50 + "\n..\n.b\n"


HOSTILE = [
    BOMB, ".if n " * 200_000 + "x", "\\[" * 300_000, "\\" * 300_001, ".B " + '"' * 300_000, "\\\n" * 200_000,
    ".if '" + "a'" * 200_000, ".Op " * 100_000, ".Bl\n" * 100_000, ".TS\nl.\nT{\n" + "a\n" * 200_000,
    ".de b\n..\n" + ".am b\nx\n..\n" * 30_000 + ".b\n" * 30_000,
]  # fmt: skip


@pytest.mark.parametrize("page", HOSTILE)
def test_hostile_pages_take_linear_time(page: str) -> None:
    started = time.process_time()
    assert len(parse_text(page).text) < 3_000_000
    assert time.process_time() - started < 5
