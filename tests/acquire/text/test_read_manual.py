"""Manual pages in troff: man(7) and mdoc(7)."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from structure import marked, outline

from ragstone.acquire.readers import programs
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.text.manual import parse
from ragstone.core.records import Document
from ragstone.settings import AcquireSettings

ReadOne = Callable[..., Document]
needs_program = pytest.mark.skipif(not programs.manuals(), reason="neither mandoc nor groff is installed")

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


def read_here(folder: Path, page: str) -> Parsed:
    """Read a page in this process, which takes less time than to start another."""
    path = folder / "fetch.1"
    path.write_text(page)
    return parse(File(path=path, name="a", source="a", suffix=".man", settings=AcquireSettings()))


@needs_program
def test_reads_pages_of_man(read_one: ReadOne) -> None:
    document = read_one("fetch.1", MAN)
    assert document.title == "fetch(1): copy a file from another host"
    assert document.metadata["kind"] == "manual"
    assert "partial" not in document.metadata
    assert outline(document) == [(1, "NAME"), (1, "SYNOPSIS"), (1, "EXIT STATUS"), (2, "Options")]
    assert marked(document, "table") == ["Key | Value\nsize | ten MB"]
    for shown in (
        "NAME\n\nfetch - copy a file from another host\n\nSYNOPSIS\n\nfetch [OPTION]...  URL\nfetch [--list]\n\n",
        "It's 0, or 1 — see curl(1), wget(1).",
        "--timeout=SECONDS\n       Wait so long.",
        "-q\n--quiet [n]\n       Say nothing, even in C++.\n\n",
        "\n\n• one\n\n• two and three\n\n1.  first\n\nAs in:\n",
        'fetch -q \\\n           "file"   # it\'s \\o/\n       fetch\n',
        "café é NASA a b c",
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


@needs_program
def test_reads_pages_of_mdoc(read_one: ReadOne) -> None:
    document = read_one("fetch.8", MDOC)
    assert document.title == "fetch(8): copy files"
    assert outline(document) == [(1, "NAME"), (1, "SYNOPSIS"), (1, "DESCRIPTION"), (2, "Bugs")]
    for shown in (
        "fetch [-qv] [--timeout=seconds] file ...",
        "fetch copies (see curl(1), ssh(1)).  Write “a b”, ‘c’ or $HOME/x.",
        "-o name, --option\n        Set one.",
        "-q # kept\n",
        "first\n2.",
        "size   10",
        "The fetch utility exits 0 on success",
    ):
        assert shown in document.text, document.text


GERMAN = r""".TH CP 1
.SH BEZEICHNUNG
cp \- Dateien kopieren
.SH BESCHREIBUNG
Eine Sicherungskopie von jeder vorhandenen Datei erstellen, wenn sie f\(:ur alle ist.
"""


@needs_program
def test_reads_letters_written_as_escapes(tmp_path: Path) -> None:
    parsed = read_here(tmp_path, GERMAN)
    assert parsed.title == "cp(1): Dateien kopieren"
    assert "wenn sie für alle ist" in parsed.text


@needs_program
@pytest.mark.parametrize(
    "request_of_file", [".so {}", ".mso {}", ".cf {}", ".trf {}", ".ds r so\n.\\*r {}", ".als x so\n.x {}", ".nx {}"]
)
@pytest.mark.parametrize("page", [".TH A 1\n.SH NAME\na\n", ".Dd today\n.Dt A 1\n.Os\n.Sh NAME\na\n"])
def test_pages_include_no_other_files(tmp_path: Path, request_of_file: str, page: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden words\n")
    assert "hidden" not in read_here(tmp_path, f"{page}{request_of_file.format(secret)}\nlast\n").text


@needs_program
@pytest.mark.parametrize("name", ["fetch.1", "fetch.3p", "fetch.conf.5", "fetch.man", "fetch", "fetch.1.gz"])
def test_recognises_pages_by_content(read_one: ReadOne, name: str) -> None:
    document = read_one(name, gzip.compress(MAN.encode()) if name.endswith(".gz") else MAN)
    assert document.title == "fetch(1): copy a file from another host"


@pytest.mark.parametrize("name", ["notes.1", "notes.man"])
def test_other_text_stays_as_written(read_one: ReadOne, name: str) -> None:
    assert read_one(name, ".B is no page\nbut text\n").text == ".B is no page\nbut text\n"


def test_skips_names_of_other_pages(why_skipped: Callable[..., str]) -> None:
    assert why_skipped("zcat.1", ".so man1/gzip.1\n") == "only names another page: man1/gzip.1"


def test_reads_words_without_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "manuals", str)
    parsed = read_here(tmp_path, MAN)
    assert parsed.title == "fetch(1): copy a file from another host"
    assert [mark.label for mark in parsed.marks] == ["NAME", "SYNOPSIS", "EXIT STATUS", "Options"]
    assert "fetch - copy a file from\nanother host" in parsed.text
    assert parsed.facts["partial"] == "its macros were left out; install mandoc or groff to read it whole"
