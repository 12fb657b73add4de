"""The shipped presets: each one loads, stores documents, and searches by its own rules."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from kb import FAST, parts

import ragstone.settings.presets
from ragstone.core.access import OWNER
from ragstone.core.answers import Turn
from ragstone.core.records import Document, Evidence
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.question import read
from ragstone.respond.writing.prompt import PromptBudget, compose, load_prompt
from ragstone.settings.load import load

NAMES = sorted(path.stem for path in Path(ragstone.settings.presets.__path__[0]).glob("*.yaml"))
DOCUMENTS = [
    Document(id="a", title="Cards", text="The POLA card costs nothing. " * 30),
    Document(id="b", title="Cards again", text="Ask for the POLA card at the harbour office. " * 20),
    Document(id="c", text="The harbour opens at nine."),
]


def opened(folder: Path, preset: str, *overrides: str) -> KnowledgeBase:
    engine = KnowledgeBase.open(folder / "kb", (FAST[0], *overrides), preset=preset, create=True)
    asyncio.run(engine.documents.add(DOCUMENTS))
    return engine


def test_there_are_five() -> None:
    assert NAMES == ["companion", "docs-site", "knowledge-base", "news", "publications"]


@pytest.mark.parametrize("name", NAMES)
def test_a_question_is_answered_by_each(tmp_path: Path, name: str) -> None:
    # The embedder of the tests knows no meanings: what counts here is that the rules work together.
    engine = opened(tmp_path, name, "query.threshold=-1", "rank.reranker=none")
    try:
        hits = asyncio.run(engine.search("where can I ask for the POLA card", reader=OWNER))
        assert hits
        assert {hit.chunk.document_id for hit in hits} <= {"a", "b", "c"}
        assert engine.settings.preset == name
    finally:
        engine.close()


def test_news_takes_articles_not_chunks(tmp_path: Path) -> None:
    engine = opened(tmp_path, "news", "chunk.size=100", "chunk.overlap=0", "rank.reranker=none")
    try:
        ids = [hit.chunk.document_id for hit in asyncio.run(engine.search("POLA card harbour", 5, reader=OWNER))]
        assert len(ids) == len(set(ids)) == 3
    finally:
        engine.close()


def test_the_companion_shows_little_rather_than_nothing(tmp_path: Path) -> None:
    strict = opened(tmp_path, "companion", "query.method=vector", "query.threshold=0.99", "query.lowered_threshold=-1")
    try:
        assert asyncio.run(strict.search("something else entirely", reader=OWNER))
    finally:
        strict.close()


def test_the_docs_site_keeps_within_its_budget(tmp_path: Path) -> None:
    engine = opened(tmp_path, "docs-site", "query.threshold=-1", "rank.max_tokens=60")
    try:
        hits = asyncio.run(engine.search("POLA card", reader=OWNER))
        assert sum(len(parts(engine).models.embedder().tokens(hit.chunk.text)) for hit in hits) <= 60
        assert any(step.stage == "boost" for hit in hits for step in hit.why)
    finally:
        engine.close()


def test_the_docs_site_adds_boosts_to_the_similarity(tmp_path: Path) -> None:
    engine = opened(tmp_path, "docs-site", "query.threshold=-1", "rank.boosts.keywords=0.15")
    try:
        hits = asyncio.run(engine.search("POLA card harbour", reader=OWNER))
        assert hits
        for hit in hits:
            steps = {step.stage: step for step in hit.why}
            added = re.findall(r"([+-][\d.]+) (?:kind|code|keywords|difficulty|short)", steps["boost"].note)
            assert hit.score == pytest.approx(steps["vector"].score + sum(map(float, added)), abs=1e-3)
        assert hits[0].score > max(step.score for hit in hits for step in hit.why if step.stage == "vector")
    finally:
        engine.close()


def test_a_follow_up_is_asked_with_its_topic(tmp_path: Path) -> None:
    engine = opened(tmp_path, "knowledge-base")
    try:
        answer = asyncio.run(
            engine.ask(
                "And when?", before=[Turn(question="When does the harbour open?", answer="At six.")], reader=OWNER
            )
        )
        assert answer.question == "And when?"
        assert "understood as: When does the harbour open? And when?" in answer.notices
        assert asyncio.run(engine.ask("And when?", reader=OWNER)).notices == ()
    finally:
        engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_what_a_preset_sets_is_what_its_system_says(name: str) -> None:
    settings = load(preset=name).settings
    query, rank, chunk = settings.query, settings.rank, settings.chunk
    told = {
        "knowledge-base": (query.fusion, query.vector_weight, rank.pool, rank.top_k, rank.diversify),
        "publications": (chunk.strategy, chunk.size, chunk.overlap, rank.top_k, rank.pool),
        "docs-site": (chunk.unit, chunk.size, chunk.overlap, rank.top_k, rank.max_tokens, query.fetch_k),
        "news": (query.fusion, query.rrf_k, query.fetch_k, rank.pool, rank.top_k, rank.diversify),
        "companion": (query.fetch_k, query.allocation, query.threshold, query.lowered_threshold, query.fusion),
    }
    expected = {
        "knowledge-base": ("min_max", 0.7, 10, 3, "round_robin"),
        "publications": ("recursive", 800, 150, 5, 10),
        "docs-site": ("tokens", 512, 50, 5, 2000, 10),
        "news": ("reciprocal_rank", 60, 20, 20, 5, "one_per_document"),
        "companion": (10, "by_kind", 0.5, 0.3, "strongest"),
    }
    assert told[name] == expected[name]


def test_the_companion_ends_with_what_each_search_found_in_its_language(tmp_path: Path) -> None:
    engine = opened(tmp_path, "companion", "query.threshold=-1", "respond.abstain_below=0")
    try:
        lines = asyncio.run(engine.ask("Where do I ask for the POLA card?", reader=OWNER)).answer.splitlines()
        assert lines[-4].startswith("Dokumentų: 3; pagal prasmę rasta ")
        assert lines[-3] == "Šaltiniai:"
        assert all(line.startswith("- Cards") for line in lines[-2:])
    finally:
        engine.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_prompt_of_a_preset_has_its_sources_in_it(tmp_path: Path, name: str) -> None:
    settings = load(preset=name).settings.respond
    engine = opened(tmp_path, name, "query.threshold=-1", "rank.reranker=none")
    try:
        hits = tuple(asyncio.run(engine.search("POLA card", reader=OWNER)))
    finally:
        engine.close()
    evidence = Evidence(question=read("What does it cost?"), hits=hits, method="test")
    budget = PromptBudget(tokens=settings.context_tokens, characters=settings.excerpt_characters)
    request = compose(load_prompt(settings.prompt), evidence, (), budget=budget, language=settings.language_for("en"))
    system, *examples, asked = request.messages
    assert "$" not in "".join(message.content for message in request.messages)
    assert [message.role for message in examples] == ["user", "assistant"] * (len(examples) // 2)
    assert "POLA card" in asked.content
    assert asked.content.endswith("Question: What does it cost?")
    assert ("Answer in Lithuanian." if name == "companion" else "Answer in English.") in system.content
