"""The examples run, pass the published checks, and serve a knowledge base; the checks notice what is wrong."""

from __future__ import annotations

import ast
import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from ragstone import Document, Ragstone
from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import SettingsError
from ragstone.core.records import Hit, Mark
from ragstone.index.follow.protocol import StoreContext
from ragstone.settings import ConnectionSettings
from ragstone.settings.services import ModelSettings
from ragstone.testing import (
    Failed,
    check_chat_model,
    check_embedder,
    check_reader,
    check_reranker,
    check_source,
    check_vector_store,
)

EXAMPLES = Path(__file__).parent.parent / "examples"
COUNTER = count()
CARD = "BEGIN:VCARD\nFN:Ada Lovelace\nTEL;TYPE=home:+44 20 7946 0000\nEND:VCARD\n"


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(EXAMPLES)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "own"]:
        del sys.modules[name]


def test_examples_pass_the_checks(tmp_path: Path) -> None:
    from own.embedder import Letters  # pyright: ignore[reportMissingImports]
    from own.model import Parrot  # pyright: ignore[reportMissingImports]
    from own.reader import parse  # pyright: ignore[reportMissingImports]
    from own.reranker import SharedWords  # pyright: ignore[reportMissingImports]
    from own.source import Notes  # pyright: ignore[reportMissingImports]
    from own.store import build  # pyright: ignore[reportMissingImports]

    (tmp_path / "a.vcf").write_text(CARD, encoding="utf-8")
    check_embedder(Letters())
    check_chat_model(Parrot(ModelSettings()))
    check_reader(parse, tmp_path / "a.vcf")
    check_reranker(SharedWords())
    check_source(lambda: Notes(ConnectionSettings(address="own.source:Notes")))
    check_vector_store(build)


@pytest.mark.usefixtures("workdir")
def test_settings_name_components_of_ones_own(tmp_path: Path) -> None:
    settings = (
        "index.embedder=own.embedder:Letters",
        "index.vectors=own.store:build",
        "rank.reranker=own.reranker:SharedWords",
        "acquire.readers={.vcf: own.reader:parse}",
        "acquire.connections={notes: {address: own.source:Notes}}",
    )
    (tmp_path / "ada.vcf").write_text(CARD, encoding="utf-8")
    with Ragstone(tmp_path / "kb", settings=settings) as kb:
        assert kb.add(tmp_path / "ada.vcf", Document(id="b", text="The pump is blue.")).added == 2
        assert kb.document("ada.vcf").text == "Ada Lovelace\n+44 20 7946 0000"
        best = kb.search("Ada Lovelace", k=1)[0]
        assert best.chunk.document_id == "ada.vcf"
        assert best.score == 1
        assert kb.sync("notes").added == 2
        assert kb.document("notes://desk/bees.md").metadata["readers"] == ("staff",)
    with Ragstone(tmp_path / "kb", settings=[*settings, "respond.model.name=own.model:Parrot"]) as kb:
        assert kb.ask("What is blue?").citations


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("index.embedder=own.store:Memory", "lacks fingerprint, dimensions, embed"),
        ("rank.reranker=own.store:Memory", "lacks rerank"),
        ("rank.reranker=own.nothing:Gone", "cannot be imported"),
        ("acquire.readers={.vcf: nowhere}", "acquire.readers"),
    ],
)
def test_wrong_component_is_named(setting: str, told: str, tmp_path: Path) -> None:
    def use() -> None:
        with Ragstone(tmp_path / "kb", settings=["index.embedder=own.embedder:Letters", setting]) as kb:
            kb.add(Document(id="b", text="The pump is blue."))
            kb.ask("What is blue?")

    with pytest.raises(SettingsError, match=told):
        use()


def test_notebook_runs(workdir: Path) -> None:
    """Every cell of the notebook, in a process whose loop runs, as that of a notebook does."""
    copytree(EXAMPLES / "alderwren", workdir / "alderwren")
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    space: dict[str, Any] = {"__name__": "__main__"}

    async def run() -> list[Any]:
        return [shown(compiled, space) for compiled in map(parsed, cells) if compiled]

    outputs = asyncio.run(run())
    answer, refused, hit = outputs[1], outputs[3], outputs[4]
    assert answer.citations[0].quote.startswith("Alderwren pays for hotels up to £135 a night")
    assert "<details>" in answer._repr_html_()
    assert refused is True
    assert "<td>" in hit._repr_html_()


def parsed(cell: dict[str, Any]) -> ast.Module | None:
    return ast.parse("".join(cell["source"])) if cell["cell_type"] == "code" else None


def shown(cell: ast.Module, space: dict[str, Any]) -> Any:
    """The value of the last line of a cell, which a notebook shows."""
    *before, last = cell.body
    if isinstance(last, ast.Expr):
        last = ast.Assign([ast.Name("_", ast.Store())], last.value)
    space["_"] = None
    exec(compile(ast.fix_missing_locations(ast.Module([*before, last], [])), "cell", "exec"), space)
    return space["_"]


# ---------------------------------------------------------------- the checks notice what is wrong


def broken_embedder(change: Any) -> Any:
    from own.embedder import Letters  # pyright: ignore[reportMissingImports]

    class Broken(Letters):
        async def embed(self, texts: Sequence[str], *, role: Any, request: Any) -> Any:
            return change(await super().embed(texts, role=role, request=request))

    return Broken()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda v: v * 2, "length 1"),
        (lambda v: v.astype(np.float64), "float32"),
        (lambda v: v[:, :5], "shape"),
        (lambda v: np.roll(v, 1, axis=0), "batch"),
        (lambda v: np.tile(np.eye(1, 27, dtype=np.float32), (len(v), 1)), "different vectors"),
    ],
)
def test_wrong_vectors_are_noticed(change: Any, told: str) -> None:
    with pytest.raises(Failed, match=told):
        check_embedder(broken_embedder(change))


def test_wrong_stream_is_noticed() -> None:
    class Mute:
        name = "own:mute"

        def count(self, text: str) -> int:
            return len(text.split())

        async def stream(self, *_: Any, **__: Any) -> AsyncGenerator[Piece]:
            yield "one"
            yield Reply(text="two", prompt_tokens=9, completion_tokens=1)

    with pytest.raises(Failed, match="make up the text"):
        check_chat_model(Mute())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda hits: hits[1:], "that were given"),
        (lambda hits: hits[::-1], "best first"),
        (lambda hits: [replace(hit, score=float("nan")) for hit in hits], "finite"),
    ],
)
def test_wrong_reranker_is_noticed(change: Any, told: str) -> None:
    from own.reranker import SharedWords  # pyright: ignore[reportMissingImports]

    class Broken(SharedWords):
        async def rerank(self, *args: Any) -> list[Hit]:
            return change(await super().rerank(*args))

    with pytest.raises(Failed, match=told):
        check_reranker(Broken())


def test_wrong_reader_is_noticed(tmp_path: Path) -> None:
    from own.reader import parse  # pyright: ignore[reportMissingImports]

    (tmp_path / "a.vcf").write_text(CARD, encoding="utf-8")
    outside = Mark(kind="heading", start=0, end=10**6, level=1)
    with pytest.raises(Failed, match="within the text"):
        check_reader(lambda file: replace(parse(file), marks=(outside,)), tmp_path / "a.vcf")

    def crashing(file: Any) -> Any:
        json.loads(file.path.read_text(encoding="utf-8"))

    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    with pytest.raises((Failed, AttributeError)):
        check_reader(crashing, tmp_path / "a.json")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda _: [], "at least one entry"),
        (lambda entries: [*entries, *entries], "listed once"),
        (lambda entries: [replace(one, version=str(next(COUNTER))) for one in entries], "same entries"),
        (lambda entries: [replace(one, name=f"/{one.name}") for one in entries], "begin with a slash"),
    ],
)
def test_wrong_source_is_noticed(change: Any, told: str) -> None:
    from own.source import Notes  # pyright: ignore[reportMissingImports]

    class Broken(Notes):
        def entries(self) -> Iterator[Any]:
            return iter(change(list(super().entries())))

    with pytest.raises(Failed, match=told):
        check_source(lambda: Broken(ConnectionSettings(address="own.source:Notes")))


def test_forgetful_store_is_noticed() -> None:
    from own.store import Memory  # pyright: ignore[reportMissingImports]

    class Forgetful(Memory):
        def nearest(self, vector: Any, k: int, allowed: Any) -> Any:
            return super().nearest(-vector, k, allowed)

    def build(_: StoreContext) -> Forgetful:
        return Forgetful()

    with pytest.raises(Failed, match="of the nearest"):
        check_vector_store(build)


def test_store_that_keeps_an_unfinished_start_is_noticed() -> None:
    from own.store import Memory  # pyright: ignore[reportMissingImports]

    class Mixing(Memory):
        def begin(self, sample: Any) -> None:
            """Keep what is there, and mix it with what follows."""

    def build(_: StoreContext) -> Mixing:
        return Mixing()

    with pytest.raises(Failed, match="discards a begin that was not sealed"):
        check_vector_store(build)


def test_example_model_answers_without_a_server() -> None:
    from own.model import Parrot  # pyright: ignore[reportMissingImports]

    async def reply() -> list[Piece]:
        asked = [Message(role="user", content="one two")]
        return [piece async for piece in Parrot(ModelSettings()).stream(asked, None)]

    assert [str(piece) for piece in asyncio.run(reply())[:2]] == ["one ", "two "]
