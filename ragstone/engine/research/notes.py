"""The passages that were read for one question: which belong together, where they lead, and what they leave open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragstone.chunk import sentences
from ragstone.core.naming import name_of
from ragstone.core.question import Question
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.core.research import Action, ActionTaken, Notebook
from ragstone.core.search_step import SearchStep
from ragstone.engine.components import Components
from ragstone.engine.steps import joining_of, passage_of, search_step, weighed
from ragstone.query import steps
from ragstone.respond.overview.telling import can_be_quoted
from ragstone.respond.quote import Quote

TOGETHER = 6
"""Passages that are chosen to answer together."""
MOST_READ = 80
"""Passages that are compared; further ones are kept, but lead nowhere."""
NAMES = 6
"""Names to which the chosen passages lead."""
QUOTED, SENTENCES = 4, 2
"""Passages that are quoted, and sentences of each."""
TITLE = 0.5
"""What the title of a linked passage counts in a sentence; all words of the question together count 1."""


class Notes:
    """What was read for one question in one version of a knowledge base; it grows with each action."""

    def __init__(self, version: Components, question: Question, request: Request) -> None:
        self._version, self._request = version, request
        self.question = question
        self._asked = weighed(version, question, request)
        self._unseen = version.indexes.terms().unseen()
        self._hits, self._taken = dict[str, Hit](), list[ActionTaken]()
        self._chosen: list[tuple[Hit, steps.Chosen]] | None = None

    @property
    def hits(self) -> Sequence[Hit]:
        """The passages that were read, in the order of reading."""
        return [*self._hits.values()]

    @property
    def taken(self) -> Sequence[ActionTaken]:
        """The actions so far."""
        return self._taken

    def add(self, hits: Iterable[Hit]) -> list[Hit]:
        """Add passages, best first, and return the new ones; passages of later actions come after those before."""
        last = min((hit.score for hit in self._hits.values()), default=None)
        new = [hit for hit in hits if hit.chunk.id not in self._hits]
        for hit in new:
            self._hits[hit.chunk.id] = hit if last is None else replace(hit, score=min(hit.score, last))
        self._chosen = None if new else self._chosen
        return new

    def note(self, action: Action, new: Sequence[Hit], *, by_model: bool = False, note: str = "") -> ActionTaken:
        """Record an action and what it gave, and return the event that reports it."""
        titles = tuple(dict.fromkeys(name_of(hit.chunk) for hit in new))
        taken = ActionTaken(action=action, new=len(new), titles=titles, open=self.open(), by_model=by_model, note=note)
        self._taken.append(taken)
        return taken

    def together(self) -> list[tuple[Hit, steps.Chosen]]:
        """Return the passages that answer together, best first, each with what led to it."""
        if self._chosen is None:
            hits = self.hits[:MOST_READ]
            joining = joining_of(self._version, self._asked, hits, self._request)
            self._chosen = [(hits[one.place], one) for one in joining.choose(TOGETHER)]
        return self._chosen

    def ranked(self) -> list[Hit]:
        """Return all passages: those that answer together first, the others in the order of reading."""
        first = [hit for hit, _ in self.together()]
        ids = {hit.chunk.id for hit in first}
        return [*first, *(hit for hit in self.hits if hit.chunk.id not in ids)]

    def steps(self) -> tuple[SearchStep, ...]:
        """Return what led to each of the passages that answer together."""
        hits = self.hits
        return tuple(
            search_step(hit, hits[chosen.by], chosen.link, self._asked.share(chosen.adds))
            for hit, chosen in self.together()
            if chosen.by is not None and chosen.link is not None
        )

    def names(self) -> list[str]:
        """Return the names to which the passages lead that answer together, those nearest to the question first."""
        return steps.leading_names(self._asked, [passage_of(hit) for hit, _ in self.together()], NAMES)

    def open(self) -> tuple[str, ...]:
        """Return the words of the question that documents have, but none of the passages read together."""
        if not self._hits:
            return tuple(self._asked.weights)
        has = frozenset[str]().union(*(self._asked.words_in(passage_of(hit).all) for hit, _ in self.together()))
        return tuple(word for word, weight in self._asked.weights.items() if word not in has and weight < self._unseen)

    def unknown(self) -> tuple[str, ...]:
        """Return the names, places and periods of the question that no passage read has."""
        said = " ".join(f"{hit.chunk.title} {hit.chunk.headed}" for hit in self.hits).casefold()
        fixed = [one for one in self.question.requirements if one.role == "subject" and not one.unsure]
        return tuple(one.text for one in fixed if one.text and one.text.casefold() not in said)

    def needs_more(self) -> bool:
        """Return whether no passage alone has most of the question."""
        best = [passage_of(hit) for hit, _ in self.together()]
        return steps.leaves_open(self._asked, best, self._unseen, self.question.wording.language)

    def absent(self) -> list[steps.Part]:
        """Return the parts of the question that none of the passages has."""
        read = [passage_of(hit).all for hit in self.hits]
        return [part for part in steps.parts_of(self.question) if not any(map(part.is_in, read))]

    def quotes(self) -> list[Quote]:
        """Return the sentences of the passages that answer together with most of the question, in reading order.

        The title of another of these passages counts like a word of the question.
        """
        together = self.together()
        titles = [passage_of(hit).title for hit, _ in together]
        quotes = list[Quote]()
        for hit, _ in together[:QUOTED]:
            passage = passage_of(hit)
            spans = [one for one in sentences(hit.chunk.text) if can_be_quoted(hit, one)]
            read = [steps.Sentence(span.of(hit.chunk.text)) for span in spans]
            worth = [
                self._asked.covered(one.all)
                + TITLE * any(title and title != passage.title and one.mentions(title) for title in titles)
                for one in read
            ]
            best = sorted(sorted(range(len(spans)), key=lambda at: -worth[at])[:SENTENCES])
            quotes += [Quote(hit=hit, span=spans[at]) for at in best]
        return quotes

    def notebook(self) -> Notebook:
        """Return the notes as a record."""
        return Notebook(
            question=self.question,
            hits=tuple(self.ranked()) if self._hits else (),
            taken=tuple(self._taken),
            open=self.open(),
        )
