"""Engines outside that are away: questions are answered all the same, and say how; presets name engines in vain."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from kb import FAST, add, parts

from ragstone import index
from ragstone.core.access import OWNER
from ragstone.core.errors import MissingExtra, SettingsError
from ragstone.core.installation import install_command
from ragstone.core.records import Document, Matches
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.settings import substitutes
from ragstone.settings.load import load
from servers.loopback import Loopback
from servers.postgres_server import PostgresServer

pytestmark = pytest.mark.usefixtures("workdir")
NOWHERE = "services.postgres.dsn=postgresql://nobody@127.0.0.1:9/none"
BOTH = ("index.vectors=postgres", "index.keywords=postgres")
DOCUMENTS = [
    Document(id="card", title="Cards", text="The POLA card costs nothing. It is given out at the harbour office."),
    Document(id="mast", title="Mast", text="The mast is twenty metres tall.", metadata={"kind": "ship"}),
]


def test_both_legs_on_a_dead_server_are_searched_here(tmp_path: Path) -> None:
    with closing(KnowledgeBase.open(tmp_path / "kb", (*FAST, *BOTH, NOWHERE), create=True)) as engine:
        add(engine, *DOCUMENTS)
        answer = asyncio.run(engine.ask("How tall is the mast?", reader=OWNER))
        assert "twenty metres tall" in answer.answer
        assert any(told == "the catalog was searched instead, by words and vectors" for told in answer.notices)
        assert any("vector search failed" in told and "bm25 search failed" in told for told in answer.notices)
        hits = asyncio.run(engine.search("card", where="kind = ship", reader=OWNER))
        assert [hit.chunk.document_id for hit in hits] == ["mast"]


def test_one_leg_that_is_away_is_left_out(tmp_path: Path) -> None:
    with closing(KnowledgeBase.open(tmp_path / "kb", (*FAST, BOTH[1], NOWHERE), create=True)) as engine:
        add(engine, *DOCUMENTS)
        notices = asyncio.run(engine.ask("How tall is the mast?", reader=OWNER)).notices
        assert any(told.startswith("bm25 search failed") for told in notices)
        assert asyncio.run(engine.search("How tall is the mast?", reader=OWNER)).notices == notices
        assert not any("instead" in told for told in notices)


@pytest.mark.parametrize("method", ["vector", "bm25"])
def test_the_only_leg_that_is_away_is_searched_here(tmp_path: Path, method: str) -> None:
    settings = (*FAST, *BOTH, NOWHERE, f"query.method={method}")
    with closing(KnowledgeBase.open(tmp_path / "kb", settings, create=True)) as engine:
        add(engine, *DOCUMENTS)
        assert "twenty metres tall" in asyncio.run(engine.ask("How tall is the mast?", reader=OWNER)).answer


def test_an_index_that_takes_too_long_is_left_out(tmp_path: Path) -> None:
    async def slow(*_: object) -> Matches:
        await asyncio.sleep(60)
        raise AssertionError("was waited for")

    with closing(KnowledgeBase.open(tmp_path / "kb", (*FAST, "query.leg_seconds=0.1"), create=True)) as engine:
        add(engine, *DOCUMENTS)
        parts(engine).indexes.vectors().search = slow  # pyright: ignore[reportAttributeAccessIssue]
        began = time.perf_counter()
        answer = asyncio.run(engine.ask("How tall is the mast?", reader=OWNER))
        assert time.perf_counter() - began < 10
        assert "vector search failed: it took longer than 0.1 s (query.leg_seconds)" in answer.notices


def test_the_time_to_load_what_one_leg_needs_is_not_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: PostgresServer
) -> None:
    build = index.build_vector_index
    monkeypatch.setattr(index, "build_vector_index", lambda *given: time.sleep(1.3) or build(*given))
    keywords = ("index.keywords=postgres", f"services.postgres.dsn={postgres.address(postgres.database('loading'))}")
    with closing(KnowledgeBase.open(tmp_path / "kb", (*FAST, *keywords), create=True)) as engine:
        add(engine, *DOCUMENTS)
    with closing(KnowledgeBase.open(tmp_path / "kb", (*keywords, "query.leg_seconds=1"))) as engine:
        answer = asyncio.run(engine.ask("How tall is the mast?", reader=OWNER))
        assert not any("failed" in told for told in answer.notices)


def test_a_preset_goes_on_without_its_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "services.exa.api_key=a-key"
    key_of_models = "services.openai.api_key=another-key"
    own = (key, key_of_models, "rank.reranker=maxsim", "respond.model.name=openai:gpt-4o-mini")
    whole = load(own, preset="news")
    assert whole.substitutes == ()
    assert (whole.settings.index.vectors, whole.settings.query.web.engine) == ("faiss:Flat", "exa")
    monkeypatch.setattr(substitutes, "find_spec", lambda name: None if name == "faiss" else find_spec(name))
    loaded = load(own, preset="news")
    assert loaded.settings.index.vectors == "embedded"
    assert [one.told for one in loaded.substitutes] == [
        "the preset news keeps vectors in faiss:Flat, but faiss-cpu is not installed: the embedded index is used"
        f" instead. To use faiss:Flat: {install_command('faiss')}. To accept this: index.vectors=embedded"
    ]
    without = load([*own[1:], "index.vectors=embedded"], preset="news")
    assert without.settings.query.web.engine == "none"
    assert [one.told.split(":")[0] for one in without.substitutes] == [
        "the preset news searches the web with exa, but there is no key"
    ]
    assert load([*own[1:], "index.vectors=embedded", "query.web.engine=none"], preset="news").substitutes == ()


def test_a_preset_uses_models_of_the_hub_that_are_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(substitutes, "find_spec", lambda _: True)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert {one.path: one.instead for one in load(preset="publications").substitutes} == {
        "index.embedder": "auto",
        "rank.reranker": "maxsim",
        "respond.model.name": "extractive",
    }
    for name in ("intfloat--multilingual-e5-large", "google--gemma-3-4b-it"):
        snapshot = tmp_path / f"models--{name}" / "snapshots" / "1f"
        snapshot.mkdir(parents=True)
        (snapshot / "config.json").touch()
    loaded = load(preset="publications")
    assert [one.path for one in loaded.substitutes] == ["rank.reranker"]
    assert loaded.settings.index.embedder == "sentence-transformers:intfloat/multilingual-e5-large"
    profiled = load(["profile=development"], preset="publications").settings.respond.model
    assert (profiled.name, profiled.max_tokens, profiled.temperature) == ("huggingface:google/gemma-3-1b-it", 128, 0.8)


def test_a_preset_writes_with_another_model_than_one_that_ended() -> None:
    key = "services.openai.api_key=a-key"
    assert load([key], preset="docs-site").settings.respond.model.name == "openai:gpt-5.4-mini"
    assert load(preset="docs-site").settings.respond.model.name == "extractive"
    own = load([key, "services.openai.base_url=http://127.0.0.1:9/v1"], preset="docs-site")
    assert own.settings.respond.model.name == "openai:gpt-4"
    assert (
        load([key, "respond.model.name=openai:gpt-4"], preset="docs-site").settings.respond.model.name == "openai:gpt-4"
    )


def test_an_engine_that_is_named_is_not_replaced_and_its_absence_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(substitutes, "find_spec", lambda _: None)
    own = tmp_path / "own.yaml"
    own.write_text("index: {vectors: 'faiss:Flat'}\n")
    for overrides, preset in ((["index.vectors=faiss:Flat"], "news"), ([], str(own))):
        with pytest.raises(MissingExtra, match=r"\[faiss\]"):
            KnowledgeBase.open(tmp_path / "kb", overrides, preset=preset, create=True)
    assert not (tmp_path / "kb").exists()
    with closing(KnowledgeBase.open(tmp_path / "kb", FAST, create=True)):
        pass
    with pytest.raises(MissingExtra):
        KnowledgeBase.open(tmp_path / "kb", ["index.vectors=qdrant"])


def test_the_companion_uses_the_servers_that_are_named(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *models = load(preset="companion").substitutes
    assert "no server is named" in first.told
    assert "set services.qdrant.url" in first.told
    assert second.path == "index.keywords"
    assert [one.path for one in models] == ["index.embedder", "respond.model.name"]
    monkeypatch.setenv("DATABASE_URL", postgres.address("postgres"))
    loaded = load(["services.qdrant.url=http://127.0.0.1:6333"], preset="companion")
    assert loaded.substitutes == tuple(models)
    assert (loaded.settings.index.vectors, loaded.settings.index.keywords) == ("qdrant", "postgres")
    assert loaded.settings.services.qdrant.collection == "Information"
    monkeypatch.delenv("DATABASE_URL")
    with pytest.raises(SettingsError, match="DATABASE_URL"):
        KnowledgeBase.open(Path("kb"), ["index.keywords=postgres"], create=True)


def test_what_stands_in_is_shown(tmp_path: Path) -> None:
    with closing(KnowledgeBase.open(tmp_path / "kb", FAST, preset="companion", create=True)) as engine:
        add(engine, *DOCUMENTS)
        assert [one.split(",")[0] for one in engine.status().substitutes] == [
            "the preset companion keeps vectors in qdrant",
            "the preset companion keeps keywords in postgres",
            "the preset companion answers with azure:gpt-4o-mini",
        ]
        assert asyncio.run(engine.ask("How tall is the mast?", reader=OWNER)).hits


def test_a_server_that_says_nothing_holds_no_question_up(tmp_path: Path) -> None:
    with Loopback() as silent:
        silent.stop()
        settings = (
            *FAST,
            "index.vectors=qdrant",
            f"services.qdrant.url={silent.url}",
            "services.engine_seconds=1",
        )
        with closing(KnowledgeBase.open(tmp_path / "kb", settings, create=True)) as engine:
            add(engine, *DOCUMENTS)
            assert "twenty metres tall" in asyncio.run(engine.ask("How tall is the mast?", reader=OWNER)).answer
