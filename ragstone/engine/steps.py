"""Search again if the first search leaves part of a question open: for its parts, and for names in its passages.

A question is open if every passage of the evidence lacks much of its known words, or if none has one of the things that
it lists. Other questions cost only this check.

There is no graph of the documents. Links come from the candidates of the first search and from the results for names in
its best passages, so the work does not grow with the knowledge base.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from ragstone.core.errors import Damaged, ModelError, RagstoneError
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.question import Question
from ragstone.core.records import Hit, Matches, Step
from ragstone.core.request import Request
from ragstone.core.search_step import SearchStep
from ragstone.engine.components import Components
from ragstone.query import steps

CANDIDATES = 30
"""Candidates of the first search to read for links; with 60, recall@5 rises by .01."""
JOINED = 5
"""Places of the evidence to choose together; later ones keep the order of the search."""
NAMES, PER_NAME, SOURCES = 8, 3, 3
"""Maximum numbers of names to search for, of chunks that each may add, and of passages to take names from."""
ADDS, NEAR = 0.05, 0.3
"""Shares of the question, by weight: what a linked passage must add to those before it, or else what the sentence that
mentions its title must have. So of questions with one step, 3% and 6% get other evidence (XQuAD, CLAP NQ)."""
KEPT = 512
"""Passages whose words are cached for the next questions, about 15 MB."""
STAGE = "steps"
"""The stage in the history of a hit that a further search found."""


@frozen
class Joined:
    """Hits in the order of the joined evidence, the searches that led to them, and what failed."""

    hits: Sequence[Hit]
    steps: tuple[SearchStep, ...] = ()
    missing: tuple[str, ...] = ()


@frozen
class FirstSearch:
    """The result of the first search for a question, best first, and the means to find more.

    ``more`` reads this many candidates; ``also`` searches for another text; ``where`` is the filter, including the
    reader's access. ``k`` hits become evidence.
    """

    asked: Question
    hits: Sequence[Hit]
    k: int
    more: Callable[[int], Sequence[Hit]]
    also: Callable[[str], Awaitable[Sequence[Hit]]]
    where: Filter | None


class Steps:
    """Joins further searches to the first one, in one version of a knowledge base."""

    def __init__(self, version: Components) -> None:
        self._version, self._settings = version, version.settings.query

    async def joined(self, first: FirstSearch, request: Request) -> Joined:
        """Return the hits with those that answer the question together first; unchanged if nothing new was found."""
        if not self._settings.steps or len(first.hits) < 2:
            return Joined(hits=first.hits)
        try:
            asked = weighed(self._version, first.asked, request)
        except Damaged:  # keyword search reports it
            return Joined(hits=first.hits)
        best = [passage_of(hit) for hit in first.hits[: min(first.k, JOINED)]]
        parts = steps.parts_of(first.asked)
        absent = [part for part in parts if not any(part.is_in(passage.all) for passage in best)]
        is_open = steps.leaves_open(asked, best, self._version.indexes.terms().unseen(), first.asked.wording.language)
        if not absent and not is_open:
            return Joined(hits=first.hits)
        return await _Search(self._version, first, asked, request).joined(absent, best if is_open else ())

    async def candidates(self, first: FirstSearch, request: Request) -> tuple[steps.Joining, list[Hit]]:
        """Return the candidates of an open question as they are joined, and their hits; for fitting."""
        asked = weighed(self._version, first.asked, request)
        search = _Search(self._version, first, asked, request)
        return await search.candidates([passage_of(hit) for hit in first.hits[:JOINED]])


class _Search:
    """The further searches for one question."""

    def __init__(self, version: Components, first: FirstSearch, asked: steps.Weighed, request: Request) -> None:
        self._version, self._first, self._asked, self._request = version, first, asked, request
        self._hits = {hit.chunk.id: hit for hit in first.hits}
        self._before = [hit.chunk.id for hit in first.hits[: min(first.k, JOINED)]]
        self._kept = list[str]()
        self._steps, self._missing = list[SearchStep](), list[str]()

    async def candidates(self, best: Sequence[steps.Passage]) -> tuple[steps.Joining, list[Hit]]:
        """Return the candidates of the first search and of the names in the best passages, and their hits."""
        self._add(self._first.more(CANDIDATES))
        await self._search_names(best)
        return self._joining()

    async def joined(self, absent: Sequence[steps.Part], best: Sequence[steps.Passage]) -> Joined:
        """Return the joined hits.

        Args:
            absent: parts of the question that no hit has.
            best: the passages of the evidence; none if the question is not open.
        """
        first = self._first
        self._add(first.more(CANDIDATES))
        for part in absent:
            found = [hit for hit in await self._also(part.question) if part.is_in(passage_of(hit).all)]
            self._keep(found, part.name)
        if best:
            await self._search_names(best)
            await self._plan()
        joining, hits = self._joining()
        chosen = joining.choose(min(first.k, JOINED)) if best else []
        new = [one for one in chosen if hits[one.place].chunk.id not in self._before and self._leads(one)]
        order = self._ordered([hits[one.place].chunk.id for one in chosen], [hits[one.place].chunk.id for one in new])
        if order is None:
            return Joined(hits=first.hits, missing=tuple(self._missing))
        self._note(new, hits, set(order))
        joined = [self._hits[id] for id in order]
        return Joined(hits=self._scored(joined), steps=tuple(self._steps), missing=tuple(self._missing))

    def _leads(self, chosen: steps.Chosen) -> bool:
        """Return whether a chosen passage is worth the place of another: linked by more than a mention."""
        if chosen.link is None:
            return False
        return self._asked.share(chosen.adds) > ADDS or (chosen.link.kind == "title" and chosen.link.near > NEAR)

    def _ordered(self, chosen: Sequence[str], new: Sequence[str]) -> list[str] | None:
        """Return the ids of all hits in their new order; None if nothing new was found.

        The hits of the first search keep their order; unchosen ones make room. New hits follow, and hits of planned
        searches come last.
        """
        places = len(self._before)
        kept = [id for id in dict.fromkeys(self._kept) if id not in self._before][: places - 1]
        joined = [*[id for id in new if id not in kept][: places - 1 - len(kept)], *kept]
        if not joined:
            return None
        leave = [id for id in reversed(self._before[1:]) if id not in chosen] if chosen else []
        leave = [*leave, *(id for id in reversed(self._before[1:]) if id not in leave)][: len(joined)]
        head = [id for id in self._before if id not in leave]
        return list(dict.fromkeys([*head, *joined, *(hit.chunk.id for hit in self._first.hits)]))

    def _joining(self) -> tuple[steps.Joining, list[Hit]]:
        hits = list(self._hits.values())
        return joining_of(self._version, self._asked, hits, self._request), hits

    def _add(self, hits: Iterable[Hit], *, scored: bool = True) -> None:
        """Add candidates; those of a further search have other scores, so they come last."""
        last = min(hit.score for hit in self._hits.values())
        for hit in hits:
            self._hits.setdefault(hit.chunk.id, hit if scored else replace(hit, score=last))

    async def _also(self, text: str) -> Sequence[Hit]:
        """Return the hits of another search; a failed one finds nothing."""
        try:
            return await self._first.also(text)
        except RagstoneError as error:
            self._missing.append(f"A further search failed: {error}")
            return ()

    def _keep(self, found: Sequence[Hit], searched: str, *, by_model: bool = False) -> None:
        """Give the best hit of a search a place in the evidence."""
        self._add(found, scored=False)
        known = {*self._before, *self._kept}
        if new := next((hit for hit in found if hit.chunk.id not in known), None):
            self._kept.append(new.chunk.id)
            self._steps.append(SearchStep(searched=searched, target=new.chunk.id, by_model=by_model))

    async def _search_names(self, best: Sequence[steps.Passage]) -> None:
        """Add the hits for names in the best passages; a failed search adds nothing."""
        names = steps.leading_names(self._asked, best[:SOURCES], NAMES)
        language, where = self._first.asked.wording.language, self._first.where
        self._add(await named_hits(self._version, names, language, where, PER_NAME), scored=False)

    async def _plan(self) -> None:
        """Run the searches that a model plans, until it needs no more or nothing new is found."""
        model = self._version.models.chat() if self._version.settings.query.planned_steps else None
        if model is None:
            return
        for _ in range(self._version.settings.query.planned_steps):
            shown = [*(self._hits[id].chunk for id in self._kept), *(hit.chunk for hit in self._first.hits)]
            try:
                searches = await steps.planned(self._first.asked, shown, model, self._request)
            except ModelError as error:
                self._missing.append(f"No further search was planned, because the model failed: {error}")
                return
            count, known = len(self._kept), {step.searched for step in self._steps}
            for text in (one for one in searches if one not in known):
                self._keep(await self._also(text), text, by_model=True)
            if len(self._kept) == count:
                return

    def _note(self, new: Sequence[steps.Chosen], hits: Sequence[Hit], joined: set[str]) -> None:
        """Record what led to each hit that the first search did not have in its evidence."""
        for chosen in new:
            target = hits[chosen.place]
            if (
                chosen.link is None
                or chosen.by is None
                or target.chunk.id in self._kept
                or target.chunk.id not in joined
            ):
                continue
            source = hits[chosen.by]
            adds = self._asked.added(passage_of(target).all, passage_of(source).all)
            self._steps.append(search_step(target, source, chosen.link, adds))

    def _scored(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return the hits with the searches that found them, and with non-increasing scores."""
        by_target = {step.target: step for step in self._steps}
        out, least = list[Hit](), float("-inf")
        for rank, hit in reversed(list(enumerate(hits, start=1))):
            least = max(least, hit.score)
            step = by_target.get(hit.chunk.id)
            why = (*hit.why, Step(stage=STAGE, score=least, rank=rank, note=str(step))) if step else hit.why
            out.append(replace(hit, score=least, why=why))
        return out[::-1]


async def named_hits(
    version: Components, names: Sequence[str], language: str, where: Filter | None, most: int
) -> list[Hit]:
    """Return the passages with each of some names, by keywords; a search that fails finds nothing.

    Args:
        version: what is searched.
        names: what to look for.
        language: ISO 639-1 code of the question.
        where: the filter, including the reader's access.
        most: passages for each name.
    """
    keywords, analyzer = version.indexes.keywords(), version.indexes.analyzer()
    searches = [keywords.search(analyzer(name, language), most, where) for name in names]
    results = await asyncio.gather(*searches, return_exceptions=True)
    best_of = dict[str, Matches]()
    for name, matches in zip(names, results, strict=True):
        if isinstance(matches, RagstoneError):
            continue  # the first search reported the index
        if isinstance(matches, BaseException):
            raise matches
        best_of[name] = matches
    chunks = version.catalog.chunks([row for matches in best_of.values() for row in matches.rows.tolist()])
    return [
        Hit(chunk=chunks[row], score=0.0, why=(Step(stage=f"bm25 {STAGE}", score=score, rank=1, note=name),))
        for name, matches in best_of.items()
        for row, score in sorted(zip(matches.rows.tolist(), matches.scores.tolist(), strict=True))
        if row in chunks
    ]


def within(hits: Iterable[Hit], steps: Iterable[SearchStep]) -> tuple[SearchStep, ...]:
    """Return the steps whose chunks are all among the hits, so that no step names a hidden passage."""
    shown = {hit.chunk.id for hit in hits} | {""}
    return tuple(step for step in steps if step.target in shown and step.source in shown)


def weighed(version: Components, question: Question, request: Request) -> steps.Weighed:
    """Return the words of a question, each with its weight."""
    words = steps.content(question.wording.text)
    weights = version.indexes.words().weigh(words, request)
    return steps.Weighed(text=question.wording.text, weights=dict(zip(words, weights, strict=True)))


def joining_of(version: Components, asked: steps.Weighed, hits: Sequence[Hit], request: Request) -> steps.Joining:
    """Return the candidates of a question, from which those that answer together are chosen."""
    candidates = [steps.Candidate(id=hit.chunk.id, passage=passage_of(hit), score=hit.score) for hit in hits]
    words = version.indexes.words()
    return steps.Joining(asked, candidates, lambda names: words.weigh(names, request), version.indexes.terms().unseen())


def search_step(target: Hit, source: Hit, link: steps.Link, adds: float) -> SearchStep:
    """Return what led from one passage to another, which adds this share of the question."""
    named = target if link.kind == "title" else source
    return SearchStep(
        searched=passage_of(source).shown(link.name) if link.kind == "name" else name_of(named.chunk),
        target=target.chunk.id,
        found=name_of(source.chunk),
        source=source.chunk.id,
        adds=round(adds, 4),
    )


def passage_of(hit: Hit) -> steps.Passage:
    """Return a hit, read for links."""
    return _read(hit.chunk.title, hit.chunk.text)


@lru_cache(maxsize=KEPT)
def _read(title: str, text: str) -> steps.Passage:
    return steps.Passage(title, text)
