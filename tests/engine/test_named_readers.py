"""Generated files of every format that name their readers in every form, many of them damaged: none is public."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import pytest
from kb import open_fast

from ragstone.acquire import read
from ragstone.acquire.metadata.groups import with_groups
from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.records import UNCLEAR, Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings import AccessSettings, AcquireSettings

COUNT = 2_000 if os.environ.get("RAGSTONE_TEST_FULL") else 250
TEXT = "The partner of the merger is Falcon."
CLEAR = ("readers", "Readers", "READERS", "allowed_groups", "allowedGroups", "access-groups")
COMMON = (*CLEAR, "groups", "Groups", "group_ids", "acl", "access")
"""Names in what describes a document."""
HEADS = (*CLEAR, "groups")
"""Names on the first lines of a text."""

Form = Callable[[str, Sequence[str]], str]


# ---------------------------------------------------------------- front matter
def _yaml_list(name: str, groups: Sequence[str]) -> str:
    return f"{name}: [{', '.join(groups)}]"


def _yaml_items(name: str, groups: Sequence[str]) -> str:
    return "\n".join([f"{name}:", *(f"  - {group}" for group in groups)])


def _yaml_text(name: str, groups: Sequence[str]) -> str:
    return f"{name}: {', '.join(groups)}"


def _yaml_quoted(name: str, groups: Sequence[str]) -> str:
    return f'"{name}": "{"; ".join(groups)}"'


def _yaml_nested(name: str, groups: Sequence[str]) -> str:
    return f"metadata:\n  {name}: [{', '.join(groups)}]"


def _yaml_entries(name: str, groups: Sequence[str]) -> str:
    return "\n".join([f"{name}:", *(f"  - name: {group}\n    type: group" for group in groups)])


def _yaml_comment(name: str, groups: Sequence[str]) -> str:
    return f"{name}: [{', '.join(groups)}]  # nobody else"


YAML: tuple[Form, ...] = (
    _yaml_list, _yaml_items, _yaml_text, _yaml_quoted, _yaml_nested, _yaml_entries, _yaml_comment,
)  # fmt: skip
LINES: tuple[Form, ...] = (_yaml_list, _yaml_items, _yaml_text, _yaml_comment)


def _front(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    lines = [chance.choice(YAML)(name, groups)]
    lines += chance.sample(["title: Deal", "author: Ann", "tags: [a, b]", "year: 2021"], 2)
    chance.shuffle(lines)
    if chance.random() < 0.15:
        return f'+++\ntitle = "Deal"\n{name} = {json.dumps(groups)}\n+++\n\n{TEXT}\n'
    return "---\n{}\n---\n\n{}\n".format("\n".join(lines), TEXT)


# ---------------------------------------------------------------- formats
def _head(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    return f"{chance.choice(LINES)(name, groups)}\n\n{TEXT}\n"


def _html(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    key = chance.choice(["name", "property", "itemprop"])
    meta = f'<meta {key}="{name}" content="{", ".join(groups)}">'
    return f"<!doctype html><html><head><title>Deal</title>{meta}</head><body><p>{TEXT}</p></body></html>"


def _value(chance: random.Random, groups: Sequence[str]) -> object:
    entries = [{"name": group, "type": "group"} for group in groups]
    return chance.choice([[*groups], ", ".join(groups), "; ".join(groups), {"read": [*groups]}, entries])


def _record(chance: random.Random, name: str, groups: Sequence[str]) -> dict[str, object]:
    named = {name: _value(chance, groups)}
    fields: dict[str, object] = {"title": "Deal", "text": TEXT}
    return {**fields, **named} if chance.random() < 0.7 else {**fields, "metadata": named}


def _json(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    record = _record(chance, name, groups)
    return json.dumps(chance.choice([record, [record], {"documents": [record]}, {"data": {"documents": [record]}}]))


def _jsonl(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    return f"{json.dumps(_record(chance, name, groups))}\n"


def _csv(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    return f"id,text,{name}\n1,{TEXT},{chance.choice(['; ', '|']).join(groups)}\n"


def _yaml(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    return f"title: Deal\ntext: {TEXT}\n{chance.choice(YAML)(name, groups)}\n"


def _toml(_: random.Random, name: str, groups: Sequence[str]) -> str:
    return f'title = "Deal"\ntext = "{TEXT}"\n{name} = {json.dumps(groups)}\n'


def _xml(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    inner = "".join(f"<group>{group}</group>" for group in groups)
    element = chance.choice([f"<{name}>{', '.join(groups)}</{name}>", f"<{name}>{inner}</{name}>"])
    if chance.random() < 0.3:
        return f'<doc {name}="{";".join(groups)}"><p>{TEXT}</p></doc>'
    return f"<doc>{element}<p>{TEXT}</p></doc>"


def _feed(_: random.Random, name: str, groups: Sequence[str]) -> str:
    item = f"<item><title>Deal</title><{name}>{', '.join(groups)}</{name}><description>{TEXT}</description></item>"
    return f"<rss><channel><title>News</title>{item}</channel></rss>"


def _ini(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    section = chance.choice(["", "[access]\n", "[deal]\ntitle = Deal\n\n[access]\n"])
    return f"{section}{name} = {', '.join(groups)}\ntext = {TEXT}\n"


def _code(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    return f"# {chance.choice([_yaml_list, _yaml_text])(name, groups)}\n\ntext = '{TEXT}'\n"


def _mail(_: random.Random, name: str, groups: Sequence[str]) -> str:
    return f"From: ann@mill.example\nSubject: Deal\n{name}: {', '.join(groups)}\n\n{TEXT}\n"


def _notebook(chance: random.Random, name: str, groups: Sequence[str]) -> str:
    text = _front(chance, name, groups) if chance.random() < 0.5 else TEXT
    metadata = {} if text != TEXT else {name: [*groups]}
    cell = {"cell_type": chance.choice(["markdown", "raw"]), "source": text}
    return json.dumps({"cells": [cell], "metadata": metadata, "nbformat": 4})


def _zipped(parts: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return out.getvalue()


def _docx(_: random.Random, name: str, groups: Sequence[str]) -> bytes:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    added = f'<Properties><property name="{name}"><lpwstr>{"; ".join(groups)}</lpwstr></property></Properties>'
    body = f'<w:document xmlns:w="{word}"><w:body><w:p><w:r><w:t>{TEXT}</w:t></w:r></w:p></w:body></w:document>'
    return _zipped({"docProps/custom.xml": added, "word/document.xml": body})


def _odt(_: random.Random, name: str, groups: Sequence[str]) -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    spaces = " ".join(f'xmlns:{one}="{space}{one}:1.0"' for one in ("office", "text", "meta"))
    own = f'<meta:user-defined meta:name="{name}">{", ".join(groups)}</meta:user-defined>'
    meta = f"<office:document-meta {spaces}><office:meta>{own}</office:meta></office:document-meta>"
    body = f"<office:body><office:text><text:p>{TEXT}</text:p></office:text></office:body>"
    return _zipped({"meta.xml": meta, "content.xml": f"<office:document {spaces}>{body}</office:document>"})


def _archive(chance: random.Random, name: str, groups: Sequence[str]) -> bytes:
    return _zipped({"deal.md": _front(chance, name, groups)})


Make = Callable[[random.Random, str, Sequence[str]], "str | bytes"]
FORMATS: dict[str, tuple[Make, tuple[str, ...]]] = {
    **dict.fromkeys(("md", "mdx", "qmd", "txt", "rst", "tex", "adoc", "html", "man"), (_front, COMMON)),
    **dict.fromkeys(("text", "org", "log"), (_head, HEADS)),
    **dict.fromkeys(("htm", "xhtml"), (_html, COMMON)),
    "json": (_json, COMMON), "jsonl": (_jsonl, COMMON), "csv": (_csv, COMMON), "tsv": (_csv, COMMON),
    "yaml": (_yaml, COMMON), "yml": (_yaml, COMMON), "toml": (_toml, COMMON), "xml": (_xml, CLEAR),
    "rss": (_feed, CLEAR), "ini": (_ini, CLEAR), "py": (_code, HEADS), "eml": (_mail, HEADS),
    "ipynb": (_notebook, COMMON), "docx": (_docx, COMMON), "odt": (_odt, COMMON), "zip": (_archive, COMMON),
}  # fmt: skip

# ---------------------------------------------------------------- damage
DAMAGE: dict[str, Callable[[str], str]] = {
    "unclosed": lambda text: text.replace("\n---\n", "\n", 1).replace("\n+++\n", "\n", 1),
    "indented": lambda text: "".join(f"  {line}\n" for line in text.split("\n")),
    "indented in part": lambda text: text.replace("\n", "\n ", 1),
    "after blank lines": lambda text: f"\n \n{text}",
    "after a comment": lambda text: f"<!-- of the board -->\n{text}",
    "byte order mark": lambda text: f"\ufeff{text}",
    "Windows lines": lambda text: text.replace("\n", "\r\n"),
    "old lines": lambda text: text.replace("\n", "\r"),
    "a colon too many": lambda text: text.replace("author: ", "author: Ann: ", 1),
    "open bracket": lambda text: text.replace("]", "", 1),
    "open quote": lambda text: text.replace(", ", ', "', 1),
    "longer fence": lambda text: text.replace("---", "-----"),
    "dashes of a word processor": lambda text: text.replace("---", "\u2014"),
    "blank line inside": lambda text: text.replace("\n", "\n\n", 1),
    "tabs": lambda text: text.replace("\n", "\n\t", 1),
    "spaces after": lambda text: text.replace("\n", "   \n"),
    "space before the colon": lambda text: text.replace(":", " :", 3),
    "an empty value": lambda text: text.replace("board", ""),
    "a truth value": lambda text: text.replace("board", "true"),
    "cut off": lambda text: text[: text.rfind("board") + 7] if "board" in text else text,
}
PLAIN = ("after blank lines", "byte order mark", "Windows lines", "spaces after")
"""What does no harm to front matter."""


@dataclass(frozen=True)
class Case:
    """A generated file, and whether its list is whole, so that its groups must read it."""

    name: str
    content: bytes
    is_whole: bool


def generated(chance: random.Random, number: int) -> Case:
    suffix = chance.choice([*FORMATS])
    make, names = FORMATS[suffix]
    content = make(chance, chance.choice(names), ["board", "hr"])
    damage = chance.choice(["", "", *DAMAGE])
    if isinstance(content, str):
        changed = DAMAGE[damage](content) if damage else content
        encoding = "utf-16" if suffix in ("md", "txt", "csv") and chance.random() < 0.05 else "utf-8"
        is_whole = changed == content or (suffix in ("md", "mdx", "txt") and damage in PLAIN)
        content = changed.encode(encoding)
    else:
        is_whole = True
    kind = damage.replace(" ", "-") or "whole"
    return Case(name=f"{number:04}-{kind}.{suffix}", content=content, is_whole=is_whole)


def files_of(kb: KnowledgeBase, reader: Reader) -> set[str]:
    """Return the names of the files of which a reader may read something."""
    found, after = set[str](), ""
    while True:
        page = kb.documents.list(reader=reader, limit=500, after=after)
        found |= {re.split("[/#]", one.document_id)[1] for one in page.documents}
        if not page.next:
            return found
        after = page.next


def test_no_file_that_names_readers_is_public(tmp_path: Path) -> None:
    chance = random.Random(35)
    docs = tmp_path / "docs"
    docs.mkdir()
    cases = [generated(chance, number) for number in range(COUNT)]
    for case in cases:
        (docs / case.name).write_bytes(case.content)
    (docs / "lunch.md").write_text("Lunch is at noon. Readers: take care of groups: a and b.")
    kb = open_fast(tmp_path / "kb")
    try:
        report = asyncio.run(kb.documents.add([str(docs)]))
        assert files_of(kb, Reader(groups=frozenset())) == {"lunch.md"}
        read = files_of(kb, OWNER)
        assert len(read) > 0.9 * COUNT
        assert {case.name for case in cases if case.is_whole} <= files_of(kb, Reader.of("board"))
        hidden = [one for one in kb.documents.all() if UNCLEAR in one.metadata]
        assert all(one.metadata[READERS] == () for one in hidden)
        assert 0 < len(hidden) < 0.5 * COUNT
        for notices in (report.notices, kb.status().notices):
            assert any("hidden from everyone except administrators" in notice for notice in notices)
    finally:
        kb.close()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", "Groups: a and b are compared.\n\nMore."),
        ("a.md", "# Readers\n\nreaders: people who read\n"),
        ("a.md", "---\ntitle: Deal\n---\n\nreaders: [hr]\n"),
        ("a.md", "---\n\nThe access to the roof is closed.\n\nreaders: all\n"),
        ("a.md", "```yaml\nother: 1\n```\n\n```yaml\n---\nreaders: [hr]\n---\n```\n"),
        ("a.md", "---\nvisibility: public\naccess: open\n---\n\nText."),
        ("a.md", "---\nreaders: *\n---\n\nText."),
        ("a.html", "<html><body><main><p>Write &lt;meta name='readers' content='hr'&gt;.</p></main></body></html>"),
        ("a.csv", "place,visibility,groups,access\nMill,10 km,3,lift\n"),
        ("a.csv", 'id,text\n1,"readers: hr"\n'),
        ("a.json", '{"name": "plugin", "permissions": ["tabs"], "visibility": "private", "acl": null}'),
        ("a.json", '[{"station": "Mill", "groups": 7, "access": "lift"}]'),
        ("a.yaml", "groups:\n- name: alerts\n  rules: []\npermissions:\n  contents: read\n"),
        ("a.yml", "on: push\npermissions: write-all\njobs: {a: {permissions: {id-token: write}}}\n"),
        ("a.py", "groups = [1, 2]\naccess = 'r'\n"),
        ("a.ini", "[mail]\ngroups = a and b\naccess = all\n"),
        ("a.xml", "<rules><groups><group>a</group></groups><access>all</access></rules>"),
        ("a.eml", "From: a@mill.example\nNewsgroups: comp.lang\nSubject: readers: hr\n\nHello\n"),
    ],
)
def test_what_is_no_access_list_stays_public(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    found = [one for one in read(str(tmp_path / name), AcquireSettings(), base=tmp_path) if isinstance(one, Document)]
    assert found
    assert all(Reader(groups=frozenset()).may_read(one.metadata) for one in found)


@pytest.mark.parametrize(
    ("metadata", "groups"),
    [
        ({"groups": ["hr", "staff"]}, ("hr", "staff")),
        ({"readers": "hr", "groups": "hr, staff"}, ("hr",)),
        ({"access": "hr"}, ("hr",)),
        ({"visibility": "private"}, ()),
        ({"visibility": "public"}, ("*",)),
        ({"acl": {"read": ["hr"], "write": ["board"]}}, ("hr",)),
        ({"permissions": {"users": ["ann"]}}, ()),
        ({"readers": None}, ()),
        ({"readers": True}, ()),
    ],
)
def test_metadata_of_programs_names_readers(metadata: dict[str, object], groups: tuple[str, ...]) -> None:
    (document,) = foreign_documents(metadata)
    told = with_groups(document, AccessSettings(), describes=True)
    assert isinstance(told, Document)
    assert told.metadata[READERS] == groups
    assert set(metadata) & set(told.metadata) <= {READERS}


def foreign_documents(metadata: dict[str, object]) -> list[Document]:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document as Theirs

    from ragstone.serve.langchain import from_langchain

    return from_langchain([Theirs(page_content="text", metadata=metadata)])


def test_an_attachment_is_for_no_more_than_its_mail(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["Readers"] = "Deal", "hr"
    mail.set_content(TEXT)
    mail.add_attachment(b"The price is nine.", maintype="text", subtype="plain", filename="price.txt")
    (tmp_path / "deal.eml").write_bytes(bytes(mail))
    found = [one for one in read(str(tmp_path), AcquireSettings(), base=tmp_path) if isinstance(one, Document)]
    assert [one.metadata[READERS] for one in found] == [("hr",), ("hr",)]


def test_a_removed_damaged_list_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deal.md"
    kb = open_fast(tmp_path / "kb")
    try:
        for text, groups, is_told in (
            (f"---\nreaders: [hr\n\n{TEXT}", (), True),
            (TEXT, (), True),
            (f"---\nreaders: [hr]\n---\n{TEXT}", ("hr",), False),
            (f"---\nreaders: '*'\n---\n{TEXT}", ("*",), False),
        ):
            path.write_text(text)
            report = asyncio.run(kb.documents.add([str(path)]))
            assert kb.documents.get("deal.md", reader=OWNER).metadata[READERS] == groups
            for notices in (report.notices, kb.status().notices):
                assert any("1 document is hidden" in notice and "deal.md" in notice for notice in notices) is is_told
    finally:
        kb.close()
