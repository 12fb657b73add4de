"""Choose passages that answer a question together: each adds words of the question, or is named by one chosen before.

The first passage is the best of the search. Then, place by place, the passage follows that scores most for what it adds
to those chosen. So a second step may lead to a third: a passage that was added may name the next. A passage that
neither adds a word nor is linked keeps the place that the search gave it relative to others like it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import islice
from math import exp, log
from typing import Literal, NamedTuple

from ragstone.core.frozen import frozen
from ragstone.query.steps.names import beginning, words
from ragstone.query.steps.passages import Passage, Sentence, Weighed

TITLE_RARE, NAME_RARE = 2.0, 3.0
"""Least inverse document frequency of a title, and of another name, that links passages: it is in fewer than 13% and 5%
of the chunks, because "Time" and "Year" are titles too."""
FEW = 3
"""Chunks that may have a name in any case, because in a small knowledge base one chunk is a large share."""

LinkKind = Literal["title", "back", "name"]
Rarity = Callable[[Sequence[str]], Sequence[float]]
"""Returns the inverse document frequency of words."""


@frozen(eq=False)
class Candidate:
    """A passage that was found: its id, and its score, the higher the better."""

    id: str
    passage: Passage
    score: float


@frozen
class Link:
    """How a passage leads to another one.

    It mentions the ``title`` of the other, or ``back``: the other mentions its title, or both have another ``name``.
    ``near`` is the share of the question, by weight, in the sentence with the mention or the title above it, 0 to 1.
    """

    kind: LinkKind
    name: tuple[str, ...]
    near: float


Leads = Mapping[int, Sequence[tuple[Link, int]]]
"""What leads to candidates by their places: each link with the place that it comes from."""


@frozen
class Chosen:
    """A chosen candidate by its place, and the words of the question that those chosen before had not.

    ``link`` is what led to it, if anything did, from the candidate at the place ``by``.
    """

    place: int
    adds: frozenset[str] = frozenset()
    by: int | None = None
    link: Link | None = None


class Coefficients(NamedTuple):
    """What each feature of a candidate adds to its score, given those chosen before.

    ``score`` multiplies its score in the search, from 0 for the best candidate to -1 for the last. ``named`` counts if
    the question has its title; ``linked`` if a chosen passage mentions its title, and ``near`` multiplies the share of
    the question in that sentence; ``back`` counts if it mentions the title of a chosen passage. ``shared`` multiplies
    the share of the question in the sentence of a chosen passage that has another name which it has too. ``adds``
    multiplies the share of the question, by weight, that it has and those chosen have not.
    """

    score: float
    named: float
    linked: float
    near: float
    back: float
    shared: float
    adds: float


FITTED = Coefficients(score=3.9, named=3.6, linked=3.9, near=1.8, back=-0.3, shared=5.2, adds=3.9)
"""Fitted by ``tools/fit_steps.py`` to training parts of HotpotQA and 2WikiMultihopQA. With those of the other set,
recall@5 rises from .956 to .988 and from .758 to .958; ``benchmarks.hops`` has sets that were not fitted to."""


class Joining:
    """The candidates of a question, read for what they have of it and how they lead to each other."""

    def __init__(
        self,
        asked: Weighed,
        candidates: Sequence[Candidate],
        rarity: Rarity,
        unseen: float,
        coefficients: Coefficients = FITTED,
    ) -> None:
        """Take what was found.

        Args:
            asked: the question.
            candidates: best first.
            rarity: weighs words.
            unseen: the weight of a word that no chunk has.
            coefficients: of the features.
        """
        self._asked, self._candidates, self._weigh = asked, candidates, coefficients
        self._rarity, self._few = rarity, _weight_of(FEW, unseen)
        high = max((one.score for one in candidates), default=0.0)
        width = high - min((one.score for one in candidates), default=0.0)
        self._scores = [(one.score - high) / width if width > 0 else 0.0 for one in candidates]
        self._has = [asked.words_in(one.passage.all) for one in candidates]
        rare = self._rare({one.passage.title for one in candidates}, TITLE_RARE)
        self._titles = [one.passage.title if one.passage.title in rare else () for one in candidates]
        question = Sentence(asked.text)
        self._named = [bool(title) and question.mentions(title) for title in self._titles]
        self._links: dict[int, dict[int, tuple[Link, ...]]] = {}

    def choose(self, count: int) -> list[Chosen]:
        """Return the candidates that belong together, at most ``count``; the best one of the search is the first."""
        chosen = [Chosen(place=0)] if self._candidates else []
        while chosen and len(chosen) < min(count, len(self._candidates)):
            covered, leads = self.covered(chosen), self.leads(chosen)
            taken = {one.place for one in chosen}
            rest = [place for place in range(len(self._candidates)) if place not in taken]
            values = [product(self.features(place, leads, covered), self._weigh) for place in rest]
            best = rest[values.index(max(values))]
            chosen.append(self._chosen(best, leads, covered))
        return chosen

    def covered(self, chosen: Iterable[Chosen]) -> frozenset[str]:
        """Return the words of the question that these have together."""
        return frozenset[str]().union(*(self._has[one.place] for one in chosen))

    def under(self, coefficients: Coefficients) -> Joining:
        """Return the same candidates under other coefficients."""
        other = copy(self)
        other._weigh = coefficients
        return other

    def leads(self, chosen: Iterable[Chosen]) -> Leads:
        """Return what leads from these to each candidate that any of them leads to."""
        leads = defaultdict[int, list[tuple[Link, int]]](list)
        for one in chosen:
            for place, links in self._from(one.place).items():
                leads[place] += [(link, one.place) for link in links]
        return leads

    def features(self, place: int, leads: Leads, covered: frozenset[str]) -> Coefficients:
        """Return the features of a candidate, given what leads to each from those chosen and the words they have."""
        adds = self._asked.share(self._has[place] - covered)
        score, named = self._scores[place], float(self._named[place])
        links = [link for link, _ in leads.get(place, ())]
        if not links:
            return Coefficients(score=score, named=named, linked=0.0, near=0.0, back=0.0, shared=0.0, adds=adds)
        near = {kind: [link.near for link in links if link.kind == kind] for kind in ("title", "back", "name")}
        return Coefficients(
            score=score,
            named=named,
            linked=float(bool(near["title"])),
            near=max(near["title"], default=0.0),
            back=float(bool(near["back"])),
            shared=max(near["name"], default=0.0),
            adds=adds,
        )

    def _chosen(self, place: int, leads: Leads, covered: frozenset[str]) -> Chosen:
        """Return a candidate as the next one, with what leads to it from those before."""
        adds = self._has[place] - covered
        links = leads.get(place)
        if not links:
            return Chosen(place=place, adds=adds)
        link, by = max(links, key=lambda some: (some[0].kind == "title", some[0].near))
        return Chosen(place=place, adds=adds, by=by, link=link)

    def _from(self, place: int) -> dict[int, tuple[Link, ...]]:
        """Return how a candidate leads to the other ones; those that it does not lead to are left out."""
        if place not in self._links:
            one, shared = self._candidates[place].passage, self._shared_names(self._candidates[place].passage)
            named = [(beginning(link.name), link) for link in shared]
            self._links[place] = {
                number: links
                for number, other in enumerate(self._candidates)
                if number != place and not same_title(one, other.passage)
                if (links := self._links_to(place, number, named))
            }
        return self._links[place]

    def _links_to(self, place: int, other: int, named: Sequence[tuple[str, Link]]) -> tuple[Link, ...]:
        """Return how a candidate leads to another one, given its `_shared_names`, each behind its `beginning`."""
        one, to = self._candidates[place].passage, self._candidates[other].passage
        beginnings = to.all.beginnings
        names = (link for start, link in named if start in beginnings and to.all.has(link.name))
        return (
            *self._mentions("title", one, self._titles[other]),
            *self._mentions("back", to, self._titles[place]),
            *islice(names, 1),
        )

    def _mentions(self, kind: LinkKind, text: Passage, title: tuple[str, ...]) -> tuple[Link, ...]:
        """Return the link that a passage has because it mentions a title; none if it does not."""
        if not title or not text.all.has(title):
            return ()
        near = [self._near(text, some) for some in text.sentences if some.mentions(title)]
        return (Link(kind=kind, name=title, near=max(near)),) if near else ()

    def _shared_names(self, passage: Passage) -> list[Link]:
        """Return the rare names of a passage that the question has not, those nearest to the question first."""
        asked = set(words(self._asked.text))
        named = [
            (sentence, [name for name in sentence.names if name != passage.title and not asked.issuperset(name)])
            for sentence in passage.sentences
        ]
        rare = self._rare({name for _, names in named for name in names}, NAME_RARE)
        links = list[Link]()
        for sentence, names in named:
            if linking := [name for name in names if name in rare]:
                near = self._near(passage, sentence)
                links += [Link(kind="name", name=name, near=near) for name in linking]
        return sorted(links, key=lambda link: -link.near)

    def _rare(self, names: Iterable[tuple[str, ...]], least: float) -> set[tuple[str, ...]]:
        """Return the names that have a word that is rare enough to link passages."""
        wanted = [name for name in names if name]
        all_words = list(dict.fromkeys(word for name in wanted for word in name))
        weights = dict(zip(all_words, self._rarity(all_words), strict=True))
        return {name for name in wanted if max(weights[word] for word in name) > min(least, self._few)}

    def _near(self, passage: Passage, sentence: Sentence) -> float:
        return self._asked.covered(sentence.all, passage.heading)


def same_title(one: Passage, other: Passage) -> bool:
    """Return whether two passages are of one article, as far as their titles tell."""
    return bool(one.title) and one.title == other.title


def _weight_of(chunks: int, unseen: float) -> float:
    """Return the inverse document frequency of a word in this many chunks, given that of a word in none."""
    total = (exp(unseen) - 1) / 2 - 0.5
    return log(1 + max(0.0, total - chunks + 0.5) / (chunks + 0.5))


def product(features: Coefficients, weights: Coefficients) -> float:
    """Return the value of a candidate: its features times their weights."""
    return (
        features.score * weights.score
        + features.named * weights.named
        + features.linked * weights.linked
        + features.near * weights.near
        + features.back * weights.back
        + features.shared * weights.shared
        + features.adds * weights.adds
    )
