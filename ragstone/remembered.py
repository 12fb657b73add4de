"""What of a question need not be worked out again: which results are kept, and everything each one depends on.

A search is known by the question, the settings it was made with, and the commit of the catalog it was made on,
by its number and its random mark: one more commit, or an older copy put back and grown anew, is another commit;
and by what the indexes made of that commit.
An answer is known by its evidence, word for word, and by the same commit, whose words are weighed in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.answers import Citation, Draft, Statement, Turn
from ragstone.cache import Cache, code_version, key
from ragstone.conditions import Filter
from ragstone.contracts import Considered, Evidence, Hit, Span, Step, TokenVectors
from ragstone.index import AnyCatalog
from ragstone.index.files import state as index_state
from ragstone.index.records import Stamp
from ragstone.monitor import note_cached, note_embedded
from ragstone.protocols import Embedder, Role, TokenEmbedder
from ragstone.sections import CacheSettings, Settings

if TYPE_CHECKING:
    from ragstone.contracts import Vector

MEGABYTE = 1_000_000
QUESTIONS_BYTES = 256_000
"""The latest questions take no more than this: some thousand of usual length."""


def limits(settings: CacheSettings) -> dict[str, int]:
    """Bytes of each kind of value that a cache may hold."""
    if not settings.enabled:
        return {}
    return {
        "embeddings": settings.embeddings_mb * MEGABYTE,
        "tokens": settings.tokens_mb * MEGABYTE,
        "searches": settings.searches_mb * MEGABYTE,
        "answers": settings.answers_mb * MEGABYTE,
        "questions": QUESTIONS_BYTES * settings.questions,
    }


# ---------------------------------------------------------------- embeddings


class QuestionEmbedder:
    """An embedder that knows the vectors of earlier questions. Those of passages are in the catalog."""

    def __init__(self, embedder: Embedder, cache: Cache) -> None:
        self._embedder, self._cache = embedder, cache

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def familiarity(self, text: str) -> float:
        return self._embedder.familiarity(text)

    def tokens(self, text: str) -> list[Span]:
        return self._embedder.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        if role == "passage":
            return await self._embedder.embed(texts, role=role)
        keys = {text: key(self.fingerprint, role, text) for text in texts}
        found = self._cache.get("embeddings", list(keys.values()))
        new: dict[bytes, bytes] = {}
        for text, name in keys.items():
            if name not in found:  # one by one: a vector must not depend on what was asked beside it
                (vector,) = await self._embedder.embed([text], role=role)
                new[name] = np.ascontiguousarray(vector, "<f4").tobytes()
        note_embedded(len(new))
        self._cache.put("embeddings", new)
        rows = [np.frombuffer((found | new)[keys[text]], "<f4") for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimensions)


class KnownTokens:
    """A token embedder that knows the token vectors of texts it has seen.

    Every text passes through the form they are kept in, float16, and is embedded by itself, so that what is
    found in the cache and what is not lead to the same bits.
    """

    def __init__(self, embedder: TokenEmbedder, cache: Cache) -> None:
        self._embedder, self._cache, self.fingerprint = embedder, cache, embedder.fingerprint

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]:
        keys = {text: key(self.fingerprint, role, text) for text in texts}
        found = self._cache.get("tokens", list(keys.values()))
        new: dict[bytes, bytes] = {}
        for text, name in keys.items():
            if name not in found:
                (vectors,) = await self._embedder.embed_tokens([text], role=role)
                new[name] = _packed(vectors)
        note_embedded(len(new))
        self._cache.put("tokens", new)
        return [_unpacked((found | new)[keys[text]]) for text in texts]


def _packed(one: TokenVectors) -> bytes:
    spans = np.array([(span.start, span.end) for span in one.spans], dtype="<u4").reshape(-1, 2)
    shape = np.array(one.vectors.shape, dtype="<u4")
    return shape.tobytes() + spans.tobytes() + one.vectors.astype("<f2").tobytes()


def _unpacked(value: bytes) -> TokenVectors:
    count, dimensions = (int(n) for n in np.frombuffer(value, "<u4", 2))
    spans = np.frombuffer(value, "<u4", 2 * count, 8).reshape(count, 2).tolist()
    vectors = np.frombuffer(value, "<f2", count * dimensions, 8 + 8 * count).reshape(count, dimensions)
    return TokenVectors(
        vectors=vectors.astype(np.float32), spans=tuple(Span(start=start, end=end) for start, end in spans)
    )


# ---------------------------------------------------------------- searches and answers


State = tuple[Stamp, tuple[bytes, ...]]
"""The last commit of the catalog, and what the indexes made of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A result's key, and the state it belongs to: the result is kept if nothing has changed when it is there."""

    key: bytes
    state: State


class Remembered:
    """Searches and answers of one version of a knowledge base. Anything of which part was missing is not kept."""

    def __init__(
        self,
        cache: Cache,
        catalog: AnyCatalog,
        settings: Settings,
        *,
        version: Path,
        basis: str,
        policy: int = 0,
    ) -> None:
        """Take what every result depends on.

        Args:
            cache: where results are kept.
            catalog: that the results are of.
            settings: of the questions.
            version: its folder.
            basis: what it was built with, and how text is analysed.
            policy: the version that the settings are under.
        """
        self._cache, self._catalog, self._version = cache, catalog, version
        index = settings.index.model_dump(exclude={"threads"})
        self._search = (
            version.name,
            basis,
            policy,
            repr(index),
            settings.query.model_dump_json(),
            settings.rank.model_dump_json(),
        )
        self._answer = (
            version.name,
            basis,
            policy,
            repr(index),
            settings.respond.model_dump_json(),
            settings.services.model_dump_json(),
        )

    def search(self, question: str, where: Filter | None, k: int, allowed: Filter | None = None) -> Known | None:
        """Under what a search is kept; nothing where searches are not.

        Args:
            question: as it was typed.
            where: which documents were wanted.
            k: how many chunks.
            allowed: what the reader may read. Others' searches are not found.
        """
        if not self._cache.keeps("searches"):
            return None
        state = self._state()
        made = key("search", code_version(), state, *self._search, question, where, k, allowed)
        return Known(key=made, state=state)

    def evidence(self, known: Known | None) -> Evidence | None:
        """What was found before, with the texts as the catalog has them."""
        value = self._get("searches", known)
        if value is None:
            return None
        chunks = self._catalog.chunks_named([hit["id"] for hit in value["hits"]])
        if len(chunks) < len(value["hits"]):  # removed a moment ago
            return None
        note_cached("search")
        hits = (
            Hit(chunk=chunks[hit["id"]], score=hit["score"], why=tuple(Step(**step) for step in hit["why"]))
            for hit in value["hits"]
        )
        return Evidence(
            question=value["question"],
            hits=tuple(hits),
            method=value["method"],
            language=value["language"],
            asked=value["asked"],
            notices=tuple(value["notices"]),
            considered=tuple(Considered(**one) for one in value["considered"]),
        )

    def keep_evidence(self, known: Known | None, evidence: Evidence) -> None:
        if known and not evidence.missing and self._state() == known.state:
            hits = [
                {"id": hit.chunk.id, "score": hit.score, "why": [asdict(step) for step in hit.why]}
                for hit in evidence.hits
            ]
            told = {"question": evidence.question, "method": evidence.method}
            told |= {"language": evidence.language, "asked": evidence.asked, "notices": evidence.notices}
            told |= {"considered": [asdict(one) for one in evidence.considered]}
            self._put("searches", known, {**told, "hits": hits})

    def answer(self, evidence: Evidence, before: Sequence[Turn] = (), allowed: Filter | None = None) -> Known | None:
        """Under what an answer is kept; nothing where answers are not, or part of the evidence was missing.

        Pages of the web are for one question, so what was quoted from them is not kept either. How sure an answer is
        depends on which words the reader's documents have, so readers of other groups have their own.
        """
        if evidence.missing or not self._cache.keeps("answers") or any(hit.chunk.is_web for hit in evidence.hits):
            return None
        state = self._state()
        read = [(replace(hit.chunk, metadata={}), hit.score) for hit in evidence.hits]
        made = key(
            "answer",
            code_version(),
            state,
            *self._answer,
            evidence.question,
            evidence.asked,
            evidence.language,
            read,
            tuple(before),
            allowed,
        )
        return Known(key=made, state=state)

    def draft(self, known: Known | None) -> Draft | None:
        """What was answered before."""
        value = self._get("answers", known)
        if value is None:
            return None
        note_cached("answer")
        citations = tuple(Citation(**citation) for citation in value.pop("citations"))
        statements = tuple(Statement(**one | {"markers": tuple(one["markers"])}) for one in value.pop("statements"))
        notices = tuple(value.pop("notices"))
        return Draft(citations=citations, statements=statements, notices=notices, **value)

    def keep_draft(self, known: Known | None, draft: Draft) -> None:
        if known and self._state() == known.state:
            self._put("answers", known, asdict(draft))

    def _state(self) -> State:
        return self._catalog.stamp(), index_state(self._version)

    def _get(self, kind: str, known: Known | None) -> dict[str, Any] | None:
        found = self._cache.get(kind, [known.key]) if known else {}
        return json.loads(found[known.key]) if known and found else None

    def _put(self, kind: str, known: Known, value: Mapping[str, Any]) -> None:
        self._cache.put(kind, {known.key: json.dumps(value).encode()})


# ---------------------------------------------------------------- questions


def note_question(cache: Cache, question: str) -> None:
    """Remember what was asked; that it was asked again is noted once an hour."""
    if cache.keeps("questions"):
        name = key("question", question)
        if not cache.get("questions", [name]):
            cache.put("questions", {name: json.dumps(question).encode()})


def latest_questions(cache: Cache, count: int) -> list[str]:
    """The questions asked last, newest first."""
    return [json.loads(value) for value in cache.latest("questions", count)]
