"""Asking again: as fast as can be, and never an answer that is no longer so."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cache_changes import STEPS, Changes, same
from hash_embedder import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st
from kb import FAST, add, answered, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.filters import Filter
from ragstone.core.records import Document, Evidence
from ragstone.core.request import Request
from ragstone.engine.cached_models import CachedEmbedder, CachedTokenEmbedder
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.lazy import Lazy
from ragstone.question import read
from ragstone.storage.cache import FileCache, Limit

ROOT = Path(__file__).parent.parent.parent
ASK = """
import asyncio, sys
from ragstone.core.access import OWNER
from ragstone.engine.knowledge_base import KnowledgeBase
engine = KnowledgeBase.open("kb")
answer = asyncio.run(engine.ask("apple number 3", reader=OWNER))
engine.close()
print(*answer.usage.cached, "tantivy" in sys.modules, "hash_embedder" in sys.modules)
"""


class Failing:
    async def search(self, terms: object, k: int, where: Filter | None = None) -> Any:
        raise ConnectionError(f"away {terms} {k} {where}")


@pytest.fixture
def engine(workdir: Path):
    engine = open_fast(workdir / "kb")
    add(engine, *(Document(id=f"d{i}", text=f"apple number {i}", metadata={"n": i}) for i in range(20)))
    yield engine
    engine.close()


def ask(engine: KnowledgeBase, question: str = "apple number 3", where: str | None = None) -> Answer:
    return asyncio.run(engine.ask(question, where, reader=OWNER))


def test_random_changes_never_leave_a_stale_answer(tmp_path: Path):
    tally = Changes(tmp_path, seed=7).run(STEPS)
    assert tally.stale == []
    assert tally.from_cache > 150


def test_the_same_answer_comes_from_the_cache(engine: KnowledgeBase):
    first, again = ask(engine), ask(engine)
    assert first.usage.cached == ()
    assert first.usage.embedded_texts == 7  # the question for the search and for its tokens, and five passages
    assert (again.usage.cached, again.usage.embedded_texts) == (("search", "answer"), 0)
    assert first.response_id != again.response_id
    fresh = {"response_id": "", "timestamp": "", "timings_ms": {}, "usage": first.usage}
    assert replace(first, **fresh) == replace(again, **fresh)
    with_filter = ask(engine, where="n = 4")
    assert with_filter.usage.cached == ()
    assert ask(engine, where=" n  =  4").usage.cached == ("search", "answer")


def test_with_and_without_caches_the_answer_is_the_same_to_the_bit(engine: KnowledgeBase):
    plain = KnowledgeBase.open("kb", [*FAST, "cache.enabled=false"])
    for question in ("apple number 3", "number 7", "pear"):
        answers = [ask(engine, question), ask(plain, question), ask(engine, question)]
        assert len({one.confidence for one in answers}) == 1
        assert len({one.citations for one in answers}) == 1
        assert [one.hits for one in answers] == [answers[1].hits] * 3
        assert same(answers[0], answers[1])
    assert plain.status().cache == ()
    plain.close()


def test_what_was_incomplete_is_not_kept(engine: KnowledgeBase):
    version = parts(engine)
    failing = replace(version, indexes=replace(version.indexes, keywords=Lazy(Failing)))  # pyright: ignore
    Failing.stamp = version.indexes.keywords().stamp
    assert "bm25 search failed" in asyncio.run(answered(failing, "apple number 3")).notices[0]
    whole = ask(engine)
    assert (whole.notices, whole.usage.cached) == ((), ())


def test_another_process_finds_it_without_loading_models(engine: KnowledgeBase):
    ask(engine)
    run = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=Path.cwd(),
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["search", "answer", "False", "False"]


def test_passages_are_known_to_other_questions(engine: KnowledgeBase):
    ask(engine)
    add(engine, Document(id="new", text="a pear"))
    assert ask(engine).usage == replace(ask(engine).usage, cached=())  # all token vectors are there still
    other = ask(engine, "apple number 33")
    assert other.usage.embedded_texts < 7


def test_status_counts(engine: KnowledgeBase):
    for _ in range(3):
        ask(engine)
    counts = {one.kind: (one.entries, one.hits, one.misses) for one in engine.status().cache}
    assert counts["searches"] == counts["answers"] == (1, 2, 1)
    assert counts["tokens"] == (6, 0, 6)
    engine.close()
    again = open_fast(Path("kb"), create=False)
    assert {one.kind: (one.entries, one.hits, one.misses) for one in again.status().cache} == counts
    again.history.clear_cache()
    assert ask(again).usage.cached == ()
    again.close()


def test_questions_are_remembered_where_that_is_wanted(engine: KnowledgeBase):
    for question in ("one", "two", "one"):
        ask(engine, question)
    assert sorted(engine.history.latest_questions(9)) == ["one", "two"]
    engine.history.clear_cache()
    quiet = open_fast(Path("kb"), "cache.questions=false", create=False)
    quiet_too = KnowledgeBase.open("kb", ["cache.enabled=false"])
    for one in (quiet, quiet_too):
        ask(one, "secret")
        assert one.history.latest_questions(9) == []
        one.close()
    assert engine.history.latest_questions(9) == []


def test_a_knowledge_base_that_cannot_be_written_answers_all_the_same(engine: KnowledgeBase):
    engine.close()
    Path("kb/cache.db").unlink(missing_ok=True)
    Path("kb/cache.db").mkdir()
    other = open_fast(Path("kb"), create=False)
    assert ask(other).usage.cached == ask(other).usage.cached == ()
    other.close()


TEXTS = st.lists(st.text("ab c", min_size=1), min_size=1, max_size=6)


@given(TEXTS, TEXTS)
def test_vectors_do_not_depend_on_what_was_known(
    tmp_path_factory: pytest.TempPathFactory, some: list[str], all: list[str]
):
    cache = FileCache(
        tmp_path_factory.mktemp("c") / "cache.db", dict.fromkeys(("embeddings", "tokens"), Limit(bytes=10**6))
    )
    off = FileCache(Path("nowhere"), {})

    async def vectors(cache: FileCache, texts: list[str]) -> str:
        questions = await CachedEmbedder(HashEmbedder(), cache).embed(texts, role="query", request=Request.by_owner())
        tokens = await CachedTokenEmbedder(HashEmbedder(), cache).embed_tokens(
            texts, role="passage", request=Request.by_owner()
        )
        return json.dumps(
            [questions.tolist(), [(one.vectors.tolist(), [s.start for s in one.spans]) for one in tokens]]
        )

    asyncio.run(vectors(cache, some))
    assert asyncio.run(vectors(cache, all)) == asyncio.run(vectors(off, all))
    cache.close()


def test_evidence_of_an_answer_is_compared_word_for_word(engine: KnowledgeBase):
    evidence = Evidence(
        question=read("q"), hits=tuple(asyncio.run(engine.search("apple number 3", 2, reader=OWNER))), method="m"
    )
    key = parts(engine).results().answer_key(evidence, (), Request.by_owner())
    first = evidence.hits[0]
    others = [
        replace(evidence, question=read("r")),
        replace(evidence, hits=evidence.hits[::-1]),
        replace(evidence, hits=(replace(first, score=first.score + 1e-9), evidence.hits[1])),
        replace(evidence, hits=(replace(first, chunk=replace(first.chunk, text="x")), evidence.hits[1])),
        replace(evidence, hits=(replace(first, chunk=replace(first.chunk, facts={"page": "2"})), evidence.hits[1])),
    ]
    assert key is not None
    assert parts(engine).results().answer_key(evidence, (), Request.by_owner()) == key
    assert key not in [parts(engine).results().answer_key(other, (), Request.by_owner()) for other in others]
    assert parts(engine).results().answer_key(replace(evidence, missing=("something",)), (), Request.by_owner()) is None
