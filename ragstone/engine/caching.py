"""Cached results, and everything that each one depends on.

There are three levels. An embedding depends on text and model; the reply of a language model on the prompt and its
settings (`ragstone.engine.cached_models` for both); the result of a query on all of these and the state of the index.
The key of a search is the question, its settings, and the commit of the catalog: the number and random mark of the
commit, and the state of the index files. The key of an answer is its evidence, word for word, and the same commit,
because the weight of a word depends on its rarity. A change leads to another key, so no result can be stale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from ragstone.catalog.protocol import Catalog
from ragstone.core.answers import EXTRACTIVE, Citation, Draft, Statement, Turn
from ragstone.core.catalog import Stamp
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.question import Question, Wording
from ragstone.core.records import Considered, Evidence, Hit, Step
from ragstone.core.request import Request
from ragstone.core.search_step import SearchStep
from ragstone.settings import CacheSettings, Settings
from ragstone.storage.cache import Cache, CacheStatus, Limit
from ragstone.storage.cache_key import code_version, key
from ragstone.storage.files import state as index_state

MEGABYTE = 1_000_000
SHARES = {"embeddings": 5, "tokens": 78, "responses": 5, "captions": 2, "searches": 5, "answers": 5}
"""Percentages of the cache. The token vectors of passages are by far the largest values."""
SHARES_OF_SERVICE = SHARES | {"embeddings": 45, "tokens": 38}
"""Percentages with an embedding service, whose vectors cost money, those of passages too."""
Level = Literal["embedding", "response", "query"]
LEVELS: dict[Level, tuple[str, ...]] = {
    "embedding": ("embeddings", "tokens"),
    "response": ("responses", "captions"),
    "query": ("searches", "answers"),
}
"""The kinds of value on each level.

Text and model determine an embedding; the prompt and the settings of a model determine its response, and a picture and
a model the description of the picture; all of these and the state of the index determine the result of a query.
``cache.entries`` and ``cache.seconds`` limit query results.
"""
QUESTIONS_BYTES = 256_000
"""Bytes for the latest questions: a few thousand of usual length."""

DIMENSIONS_BYTES = 10_000
"""Bytes for the number of dimensions of a service's models."""


def limits(settings: CacheSettings, *, service: bool = False) -> dict[str, Limit]:
    """Return the limits of each kind of value, with an embedding service or without. Only query results expire."""
    if not settings.enabled:
        return {}
    shares = SHARES_OF_SERVICE if service else SHARES
    rooms = {kind: Limit(bytes=settings.megabytes * MEGABYTE * percent // 100) for kind, percent in shares.items()}
    for kind in LEVELS["query"]:
        rooms[kind] = replace(rooms[kind], entries=settings.entries, seconds=settings.seconds)
    rooms["questions"] = Limit(bytes=QUESTIONS_BYTES * settings.questions)
    rooms["dimensions"] = Limit(bytes=DIMENSIONS_BYTES * service)
    return rooms


def by_level(statuses: Sequence[CacheStatus]) -> tuple[CacheStatus, ...]:
    """Return the statistics of each kind with its level; the latest questions and the shared cache have none."""
    levels = {kind: level for level, kinds in LEVELS.items() for kind in kinds}
    return tuple(replace(one, level=levels.get(one.kind, "")) for one in statuses)


State = tuple[Stamp, tuple[bytes, ...]]
"""The last commit of the catalog, and the state of the index files."""


@frozen
class ResultKey:
    """The key of a result, and its state; the result is stored only if the state has not changed meanwhile."""

    key: bytes
    state: State


class ResultCache:
    """Searches and answers of one version of a knowledge base. Incomplete results are never kept."""

    def __init__(
        self,
        cache: Cache,
        catalog: Catalog,
        settings: Settings,
        *,
        version: Path,
        basis: str,
        policy: int = 0,
    ) -> None:
        """Take the dependencies of every result.

        Args:
            cache: the store of results.
            catalog: the source of the results.
            settings: of the question.
            version: the folder of the version.
            basis: the build settings of the version, and the text analysis.
            policy: the version of the learned policy that the settings follow.
        """
        self._cache, self._catalog, self._version = cache, catalog, version
        index = repr(settings.index.model_dump(exclude={"threads"}))
        common = (version.name, basis, policy, index)
        further = settings.respond.passages if settings.respond.model.name != EXTRACTIVE else 0
        self._search = (*common, settings.query.model_dump_json(), settings.rank.model_dump_json(), further)
        self._answer = (*common, settings.respond.model_dump_json(), settings.services.model_dump_json())

    def search_key(self, question: Question, where: Filter | None, k: int, request: Request) -> ResultKey | None:
        """Return the key of a search; None if searches are not kept. Readers with other rights have other keys."""
        if not self._cache.keeps("searches"):
            return None
        state, language = self._state(), "" if question.language else request.language
        made = key("search", code_version(), state, *self._search, question, where, k, request.allowed, language)
        return ResultKey(key=made, state=state)

    def evidence(self, known: ResultKey | None, question: Question, request: Request) -> Evidence | None:
        """Return the cached evidence for a question, with texts read from the catalog; None if there is none."""
        value = self._get("searches", known)
        if value is None:
            return None
        stored = [*value["hits"], *value["tables"], *value["further"]]
        chunks = self._catalog.chunks_by_id([hit["id"] for hit in stored])
        if len(chunks) < len(stored):  # removed a moment ago
            return None
        request.meter.cached.append("search")
        hits = [
            Hit(chunk=chunks[hit["id"]], score=hit["score"], why=tuple(Step(**step) for step in hit["why"]))
            for hit in stored
        ]
        wording = Wording(**value["wording"] | {"variations": tuple(value["wording"]["variations"])})
        count, ends = len(value["hits"]), len(value["hits"]) + len(value["tables"])
        return Evidence(
            question=replace(question, language=value["language"], wording=wording),
            hits=tuple(hits[:count]),
            tables=tuple(hits[count:ends]),
            further=tuple(hits[ends:]),
            method=value["method"],
            notices=tuple(value["notices"]),
            considered=tuple(Considered(**one) for one in value["considered"]),
            steps=tuple(SearchStep(**one) for one in value["steps"]),
        )

    def keep_evidence(self, key: ResultKey | None, evidence: Evidence) -> None:
        """Store evidence, unless part of it was missing or the knowledge base changed meanwhile."""
        if key and not evidence.missing and self._state() == key.state:
            value = {
                "wording": asdict(evidence.question.wording),
                "method": evidence.method,
                "language": evidence.question.language,
                "notices": evidence.notices,
                "considered": [asdict(one) for one in evidence.considered],
                "steps": [asdict(one) for one in evidence.steps],
                "hits": [*map(_stored, evidence.hits)],
                "tables": [*map(_stored, evidence.tables)],
                "further": [*map(_stored, evidence.further)],
            }
            self._put("searches", key, value)

    def answer_key(self, evidence: Evidence, before: Sequence[Turn], request: Request) -> ResultKey | None:
        """Return the key of an answer; None if answers are not kept or part of the evidence is missing or removed.

        What was found outside belongs to one question, so an answer that uses it is not cached. Confidence depends on
        the words of the reader's documents, so readers with other rights have other keys.
        """
        if evidence.missing or not self._cache.keeps("answers") or any(hit.chunk.is_outside for hit in evidence.hits):
            return None
        state = self._state()
        hits = (*evidence.hits, *evidence.versions, *evidence.tables, *(one.hit for one in evidence.passages))
        if not self._catalog.contains([*{hit.chunk.document_id for hit in hits}]):  # removed meanwhile, perhaps erased
            return None
        read = (
            [(replace(hit.chunk, metadata={}), hit.score) for hit in hits],
            [[hit.chunk.id for hit in rows] for rows in evidence.rows],
        )
        asked = (evidence.question, evidence.steps)
        made = key("answer", code_version(), state, *self._answer, *asked, read, tuple(before), request.allowed)
        return ResultKey(key=made, state=state)

    def draft(self, known: ResultKey | None, request: Request) -> Draft | None:
        """Return the cached answer; None if there is none."""
        value = self._get("answers", known)
        if value is None:
            return None
        request.meter.cached.append("answer")
        citations = tuple(Citation(**citation) for citation in value.pop("citations"))
        statements = tuple(Statement(**one | {"markers": tuple(one["markers"])}) for one in value.pop("statements"))
        notices = tuple(value.pop("notices"))
        return Draft(citations=citations, statements=statements, notices=notices, **value)

    def keep_draft(self, known: ResultKey | None, draft: Draft) -> None:
        """Store an answer, unless the knowledge base changed meanwhile."""
        if known and self._state() == known.state:
            self._put("answers", known, asdict(draft))

    def _state(self) -> State:
        return self._catalog.stamp(), index_state(self._version)

    def _get(self, kind: str, known: ResultKey | None) -> dict[str, Any] | None:
        found = self._cache.get(kind, [known.key]) if known else {}
        return json.loads(found[known.key]) if known and found else None

    def _put(self, kind: str, known: ResultKey, value: Mapping[str, Any]) -> None:
        self._cache.put(kind, {known.key: json.dumps(value).encode()})


def note_question(cache: Cache, question: str) -> None:
    """Store a question; a repetition is recorded once an hour."""
    if cache.keeps("questions"):
        name = key("question", question)
        if not cache.get("questions", [name]):
            cache.put("questions", {name: json.dumps(question).encode()})


def latest_questions(cache: Cache, count: int) -> list[str]:
    """Return the latest questions, newest first."""
    return [json.loads(value) for value in cache.latest("questions", count)]


def _stored(hit: Hit) -> dict[str, Any]:
    return {"id": hit.chunk.id, "score": hit.score, "why": [asdict(step) for step in hit.why]}
