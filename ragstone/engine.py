"""The composition root: the one place that knows the order of the stages.

add:  acquire -> chunk -> index
ask:  index -> query -> rank -> respond
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ragstone import index, query, rank
from ragstone.built import BuiltWith, create_version, refuse_embedder, refuse_mismatch
from ragstone.config import load
from ragstone.contracts import (
    Answer,
    Candidate,
    Draft,
    Evidence,
    Filter,
    Hit,
    Match,
    Source,
    Usage,
)
from ragstone.errors import NotFound, ResponseError, UsageError
from ragstone.keeper import Keeper
from ragstone.monitor import Timings

FAMILIAR = 0.4
"""From this share of known words on, the embedder is trusted fully; below, in proportion."""


class Engine(Keeper):
    """One knowledge base. Opening is cheap: models and indexes are loaded when first needed."""

    @classmethod
    def open(
        cls,
        folder: str | Path,
        overrides: Sequence[str] = (),
        *,
        preset: str | None = None,
        create: bool = False,
        rebuilding: bool = False,
    ) -> Engine:
        """Open a knowledge base.

        Args:
            folder: where it lies.
            overrides: settings as ``path=value``.
            preset: name or path of a preset; the one it was made with if not given.
            create: make an empty one where there is none.
            rebuilding: let settings pass that do not fit what is stored, for `rebuild` is about to change that.

        Raises:
            NotFound: there is none, and ``create`` is false.
            SettingsError: a setting is wrong.
            SettingsMismatch: a setting asked for differs from the one it was built with.
        """
        home = index.Home(Path(folder))
        version = home.current()
        if version is None:
            loaded = load(overrides, preset=preset)
            if not create:
                raise NotFound(f"there is no knowledge base at {folder}; make one: ragstone add SOURCE --kb {folder}")
            home.folder.mkdir(parents=True, exist_ok=True)
            with index.indexing(home.folder):
                version = home.current() or create_version(home, loaded.settings)
                home.switch(version)
        catalog = index.Catalog(version / "catalog.db")
        try:
            built = BuiltWith(**catalog.built_with())
            loaded = load(overrides, preset=preset, remembered=built.tree())
            if not rebuilding:
                refuse_mismatch(loaded, built, home.folder)
        except BaseException:
            catalog.close()
            raise
        return cls(home, version, catalog, loaded.settings)

    # ------------------------------------------------------------ asking

    async def ask(self, question: str, where: Filter | str | None = None) -> Answer:
        """Answer a question from the documents, or abstain.

        Args:
            question: in any language; an empty one is a `UsageError`.
            where: which documents may be used, by their metadata; as text, in the language of `query.where`.

        Raises:
            UsageError: the question is blank, or the filter is none.
            RetrievalError: no leg of the search could be run.
            ResponseError: a citation is not what the documents say.
        """
        timings = Timings()
        evidence = await self._retrieve(question, where, self.settings.rank.top_k, timings)
        with timings.stage("answer"):
            draft = await self._answerer.answer(evidence)
        return self._answer(evidence, draft, timings)

    async def search(self, question: str, k: int | None = None, where: Filter | str | None = None) -> list[Hit]:
        """The ``k`` best chunks (``rank.top_k`` if not given), best first, each with the history of its score."""
        if k is not None and k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        evidence = await self._retrieve(question, where, k or self.settings.rank.top_k, Timings())
        return list(evidence.hits)

    async def _retrieve(self, question: str, where: Filter | str | None, top_k: int, timings: Timings) -> Evidence:
        if not question.strip():
            raise UsageError("the question is empty")
        settings = self.settings
        where = query.parse(where) if isinstance(where, str) else where
        with timings.stage("open"):
            behind = await asyncio.to_thread(self._follow_catalog)
        with timings.stage("search"):
            fetch_k = max(settings.query.fetch_k, top_k)
            legs = {
                "vector": lambda: self._vector_leg(question, fetch_k, where),
                "bm25": lambda: self._terms.search(self._analyzer(question), fetch_k, where),
            }
            wanted = [name for name in legs if settings.query.method in (name, "hybrid")]
            found, missing = await query.gather({name: legs[name]() for name in wanted})
            candidates = query.fuse(found, self._weights(question, list(found)), settings.query, fetch_k)
        with timings.stage("rank"):
            hits = self._read(candidates, max(settings.rank.pool, top_k))
            if self._reranker:  # of more hits than the pool, the rest stays as it is, below
                hits = [*await self._reranker.rerank(question, hits[: settings.rank.pool]), *hits[settings.rank.pool :]]
            hits = self._chosen(hits, top_k)
        method = " + ".join(
            part for part in (settings.query.method, settings.rank.reranker, settings.rank.diversify) if part != "none"
        )
        return Evidence(question=question, hits=tuple(hits), method=method, missing=(*behind, *missing))

    async def _vector_leg(self, question: str, fetch_k: int, where: Filter | None) -> list[Match]:
        refuse_embedder(self._embedder, self._built, self._home.folder)
        (vector,) = await self._embedder.embed([question], role="query")
        matches = await self._vectors.search(vector, fetch_k, where)
        return [match for match in matches if match.score >= self.settings.query.threshold]

    def _weights(self, question: str, legs: Sequence[str]) -> dict[str, float]:
        """What each leg counts. An embedder that does not know the question's words is trusted less."""
        if len(legs) == 1:
            return {legs[0]: 1.0}
        vector = self.settings.query.vector_weight
        if self.settings.query.adapt:
            vector *= min(1.0, self._embedder.familiarity(question) / FAMILIAR)
        return {"vector": vector, "bm25": 1 - vector}

    def _read(self, candidates: Sequence[Candidate], count: int) -> list[Hit]:
        """The best ``count`` candidates with their texts; of chunks with the same text, the best one."""
        hits: dict[str, Hit] = {}
        for start in range(0, len(candidates), 2 * count):
            part = candidates[start : start + 2 * count]
            rows = [candidate.row for candidate in part]
            chunks = self._catalog.chunks(rows)
            vectors = self._catalog.vectors(rows) if self.settings.rank.diversify == "mmr" else {}
            for candidate in part:
                if one := chunks.get(candidate.row):
                    hit = Hit(chunk=one, score=candidate.score, why=candidate.why, vector=vectors.get(candidate.row))
                    hits.setdefault(one.headed, hit)
            if len(hits) >= count:
                break
        return list(hits.values())[:count]

    def _chosen(self, hits: Sequence[Hit], top_k: int) -> list[Hit]:
        match self.settings.rank.diversify:
            case "none":
                return list(hits[:top_k])
            case "round_robin":
                return rank.round_robin(hits, top_k)
            case "mmr":
                return rank.mmr(hits, top_k, self.settings.rank.mmr_lambda)

    def _answer(self, evidence: Evidence, draft: Draft, timings: Timings) -> Answer:
        _refuse_misquotes(draft, evidence)
        cited = {citation.document_id for citation in draft.citations}
        sources: dict[str, Source] = {}
        for hit in evidence.hits:
            if hit.chunk.document_id in cited:
                sources.setdefault(hit.chunk.document_id, _source(hit))
        return Answer(
            response_id=uuid.uuid4().hex,
            question=evidence.question,
            answer=draft.text,
            abstained=draft.abstained,
            citations=draft.citations,
            sources=tuple(sources.values()),
            confidence=round(draft.answerability, 4),
            retrieval_method=evidence.method,
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            timings_ms=timings.milliseconds(),
            usage=self._usage(evidence),
            notices=evidence.missing,
            hits=evidence.hits,
        )

    def _usage(self, evidence: Evidence) -> Usage:
        """The texts that were embedded: for each stage that ran, the question, and the passages it compares with it."""
        texts = int(self.settings.query.method != "bm25")
        if self._reranker:
            texts += 1 + self.settings.rank.pool
        return Usage(embedded_texts=texts + 1 + min(len(evidence.hits), self.settings.respond.passages))


def _refuse_misquotes(draft: Draft, evidence: Evidence) -> None:
    """Citations are checked, whoever wrote the answer: each has the words of a chunk of the evidence, in its place."""
    chunks = {hit.chunk.id: hit.chunk for hit in evidence.hits}
    for citation in draft.citations:
        chunk = chunks.get(citation.chunk_id)
        if (
            chunk is None
            or chunk.document_id != citation.document_id
            or not chunk.start <= citation.start < citation.end <= chunk.end
            or chunk.text[citation.start - chunk.start : citation.end - chunk.start] != citation.quote
        ):
            raise ResponseError(
                f"citation [{citation.marker}] is not what {citation.document_id} says at characters"
                f" {citation.start}-{citation.end}; the answer is withheld"
            )


def _source(hit: Hit) -> Source:
    facts = hit.chunk.metadata
    author = facts.get("author") or facts.get("authors") or ""
    sentiment = facts.get("sentiment")
    return Source(
        type="internal",
        title=hit.chunk.title,
        author=", ".join(map(str, author)) if isinstance(author, tuple) else str(author),
        url=hit.chunk.url,
        document_id=hit.chunk.document_id,
        relevance_score=round(hit.score, 4),
        sentiment=None if isinstance(sentiment, tuple) else sentiment,
    )
