"""Source code, settings, logs, subtitles, LaTeX, and files whose names say nothing or too much."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structure import marked, outline

from ragstone.acquire.readers.names import LANGUAGES
from ragstone.acquire.readers.text import definitions
from ragstone.chunk import split
from ragstone.core.records import Document, Skipped
from ragstone.settings import ChunkSettings

ReadOne = Callable[..., Document]
ReadAll = Callable[..., list[Document | Skipped]]
Why = Callable[..., str]

PYTHON = '''"""A module."""
import os

@cache
def first(a: int) -> int:
    def inner(): ...
    return a


# About the class.
class Second:
    """Words."""

    def method(self): return "x"
'''


def test_cuts_python_at_definitions(read_one: ReadOne) -> None:
    document = read_one("a.py", PYTHON)
    assert document.text == PYTHON
    assert outline(document) == [(1, "first"), (1, "Second"), (2, "method")]
    assert marked(document, "code")[1].startswith("@cache\ndef first")
    assert marked(document, "code")[2].startswith("# About the class.\nclass Second")
    wanted = {"kind": "code", "programming_language": "python"}
    assert {key: document.metadata[key] for key in wanted} == wanted


def test_cites_code_by_line(read_one: ReadOne) -> None:
    document = read_one("a.py", PYTHON)
    settings = ChunkSettings(strategy="structure", unit="characters", size=400, overlap=0)
    chunks = split(document, settings, lambda _: [])
    assert [(chunk.facts["line"], chunk.facts.get("section", "")) for chunk in chunks] == [
        (1, ""), (4, "first"), (10, "Second"), (14, "Second > method"),
    ]  # fmt: skip
    assert all(chunk.facts["is_code"] for chunk in chunks)


def test_joins_a_bare_head_of_a_class_with_its_first_method(read_one: ReadOne) -> None:
    document = read_one("a.py", "class A:\n    def f(self):\n        return 1\n")
    (chunk,) = split(document, ChunkSettings(strategy="structure", unit="characters", size=400), lambda _: [])
    assert chunk.text == document.text.rstrip()


@pytest.mark.parametrize(
    ("language", "code", "names"),
    [
        ("python", "def f(:\n  broken\nclass B:\n    def g(self):\n", ["f", "B", "g"]),
        (
            "typescript",
            "export const load = async (a: string) => {\n  useEffect(() => {\n  });\n  if (a) {\n  }\n}\n"
            "export default function App() {}\ninterface Props {\n}\nclass K {\n  async run(a) {\n  }\n}\ntype T = 1\n"
            "const n = 3\n",
            ["load", "App", "Props", "K", "run", "T"],
        ),
        (
            "cpp",
            "#include <a>\nstruct S {\n  int a;\n};\nstruct F;\nint twice(int);\n"
            "int twice(int a) {\n  if (a) { return f(a); }\n}\n"
            "std::vector<int> K::list(const S &s,\n   int b)\n{\n}\n",
            ["S", "twice", "K::list"],
        ),
        ("cuda", "__global__ void add(float *a) {\n}\n", ["add"]),
        (
            "java",
            "public class A {\n  private static int f(List<String> a) throws E {\n    return g(a);\n  }\n}\n",
            ["A", "f"],
        ),
        ("csharp", "namespace N\n{\n public record R(int A)\n {\n  public async Task<int> F(int a)\n", ["N", "R", "F"]),
        ("go", "package a\nfunc (s *S) Run() {\n}\ntype S struct {\n}\n", ["Run", "S"]),
        ("rust", "pub fn f(a: T) {}\nimpl<T> A for B {\n fn g() {}\n}\nmod x;\nenum E {\n", ["f", "A for B", "g", "E"]),
        ("ruby", "module M\n  class C\n    def a?\n", ["M", "C", "a?"]),
        ("shell", "build() {\n}\nfunction clean {\n}\necho (x)\n", ["build", "clean"]),
        ("sql", "CREATE TABLE IF NOT EXISTS a.b (\n);\ncreate or replace view v as select 1;\n", ["a.b", "v"]),
        ("kotlin", "data class D(val a: Int)\nfun String.f() = 1\n", ["D", "String.f"]),
        ("php", "<?php\nfinal class A {\n  public function f() {}\n}\n", ["A", "f"]),
        ("toml", "[a.b]\nx = 1\n[[c]]\n", ["a.b", "c"]),
    ],
)  # fmt: skip
def test_finds_definitions(language: str, code: str, names: list[str]) -> None:
    assert [one.name for one in definitions.find(code, language)] == names


PIECES = ["def ", "class A", "(", ")", "{", "}", ";", "\n", "\f", "\t", " ", "fn x", "#", "a", "ž", "=>", "\\", '"""']


@given(st.lists(st.sampled_from(PIECES)), st.sampled_from(sorted({*LANGUAGES.values(), "ini"})))
@settings(max_examples=300, deadline=None)
def test_definitions_lie_in_the_text_in_order(pieces: list[str], language: str) -> None:
    text = "".join(pieces)
    found = definitions.find(text, language)
    lines = [one.line for one in found]
    assert lines == sorted(set(lines))
    assert all(0 <= line <= text.count("\n") for line in lines)
    assert all(text.split("\n")[line].strip() for line in lines)


def test_long_lines_take_no_time() -> None:
    for language in sorted(set(LANGUAGES.values())):
        definitions.find("a " * 149 + "\n" + "public " * 42 + "\n" + "x<y> " * 60 + "\n" + "a" * 1_000_000, language)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.yaml", "a:\n  b: 1\n", "yaml"),
        ("a.xml", '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "xml"),
        ("a.ini", "[a]\nb=1\n", "ini"),
        ("a.log", "12:00 started\n", "log"),
        ("README", "Plain words.\n", "text"),
        ("notes.xyz", "Plain words.\n", "text"),
        ("run", "#!/usr/bin/env python3\nprint(1)\n", "code"),
        ("page", "<!DOCTYPE html><html><body><p>words</p></body></html>", "html"),
    ],
)
def test_reads_all_that_is_text(read_one: ReadOne, name: str, content: str, kind: str) -> None:
    document = read_one(name, content)
    assert document.metadata["kind"] == kind
    if kind != "html":
        assert document.text == content


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (".env", b"TOKEN=1", "left out because it may hold passwords or keys"),
        ("prod.env", b"TOKEN=1", "left out because it may hold passwords or keys"),
        ("id_rsa", b"words", "left out because it may hold passwords or keys"),
        ("server.pem", b"words", "left out because it may hold passwords or keys"),
        ("a.yaml", b"key: |\n  -----BEGIN RSA PRIVATE KEY-----\n", "left out because it holds a private key"),
        ("a.ico", b"words", "a picture of a kind that is not read; save it as PNG or JPEG"),
        ("app.xyz", bytes(range(256)) * 20, "binary, not text"),
        ("noname", bytes(range(256)) * 20, "binary, not text"),
        ("a.min.js", b"a=1;" * 2000, "packed by a program into long lines, not written by a person"),
        ("a.py", b"", "empty"),
    ],
)
def test_leaves_out_what_is_no_text_or_secret(why_skipped: Why, name: str, content: bytes, reason: str) -> None:
    assert why_skipped(name, content) == reason


def test_leaves_out_installed_packages(tmp_path: Path, read_all: ReadAll) -> None:
    for name in ("src/a.js", "node_modules/b/c.js", "src/__pycache__/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("let a = 1\n")
    assert [one.id for one in read_all(tmp_path) if isinstance(one, Document)] == [f"{tmp_path.name}/src/a.js"]


def test_deep_nesting_affects_only_the_outline(read_one: ReadOne) -> None:
    document = read_one("deep.py", "(\n" * 50_000 + "\ndef f():\n    pass\n")
    assert outline(document) == [(1, "f")]


def test_reads_subtitles_by_the_minute(read_one: ReadOne) -> None:
    srt = "1\n00:00:01,000 --> 00:00:03,000\n<i>Hello.</i>\n\n2\n00:00:04,000 --> 00:00:05,000\nGood\nbye.\n\n"
    document = read_one("a_film.srt", srt + "3\n00:01:10,500 --> 00:01:12,000\nLater.\n")
    assert document.text == "00:00:01\n\nHello.\nGood\nbye.\n\n00:01:10\n\nLater."
    assert outline(document) == [(1, "00:00:01"), (1, "00:01:10")]
    assert (document.title, document.metadata["kind"], document.metadata["minutes"]) == ("a film", "srt", 1)


def test_reads_web_subtitles(read_one: ReadOne, why_skipped: Why) -> None:
    vtt = "WEBVTT\n\nNOTE unsaid\n\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hi.\n\n00:02.000 --> 00:03.000\nHi.\n"
    assert read_one("a.vtt", vtt).text == "00:00:01\n\nHi."
    assert why_skipped("b.vtt", "WEBVTT\n\nwords") == "no subtitles in it: no line has a time"


def test_reads_latex(read_one: ReadOne) -> None:
    tex = "\\title{On \\emph{Mills}}\n\\section*{The wheel}\nIt turns.\n\\subsection[s]{Water~power}\nMuch.\n"
    document = read_one("a.tex", tex)
    assert (document.title, document.text) == ("On Mills", tex)
    assert outline(document) == [(2, "The wheel"), (3, "Water power")]


def test_reads_the_standard_library(read_all: ReadAll, tmp_path: Path) -> None:
    import json

    for file in Path(json.__file__).parent.glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    results = read_all(tmp_path)
    names = {label for one in results if isinstance(one, Document) for _, label in outline(one)}
    assert {"JSONEncoder", "iterencode", "load", "dumps"} <= names


@pytest.mark.parametrize("suffix", [".py", ".cpp", ".xml", ".srt", ".tex", ".toml", ".unknown"])
def test_no_bytes_stop_reading(tmp_path: Path, read_all: ReadAll, suffix: str) -> None:
    chance = random.Random(suffix)
    pieces = [
        b"def f():",
        b"\n",
        b"{",
        b"}",
        b"\\section{",
        b"00:01.000 -->",
        b"\0",
        b"\xff",
        b" ",
        b"<a>",
        b"[x]",
        b"\r",
    ]
    for number in range(40):
        content = b"".join(chance.choices(pieces, k=chance.randrange(1, 60)))
        (tmp_path / f"{number}{suffix}").write_bytes(content)
    assert len(read_all(tmp_path)) == 40
