"""Which sentences are quoted: the neighbouring ones that most likely are the evidence, and surely answering ones apart.

The passage is the run of a few neighbouring sentences whose probabilities of being evidence exceed a price per
sentence by most. It answers more often than the best sentence with its likely neighbours, because three sentences of
which each may answer are surer than one that looks best. How much is quoted depends on how the probabilities came
about (`Rule`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.respond.quoting.quotes import Quote, are_neighbours
from ragstone.respond.quoting.references import language_at_start
from ragstone.respond.quoting.scored import Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How much is quoted.

    ``longest`` and ``characters`` bound a passage of several sentences. ``price`` is the probability of being evidence
    from which on a sentence next to others is worth reading, ``apart`` that from which on a sentence is quoted that is
    no neighbour of the others.
    """

    longest: int
    characters: int
    price: float
    apart: float


COMPARED = Rule(longest=3, characters=700, price=0.07, apart=0.4)
"""For sentences whose words were only compared. Chosen for precision first (``tools/fit_evidence.py``): on four sets,
each with coefficients fitted to the others, .77 to .90 of the quotes touch marked evidence."""
READ = Rule(longest=4, characters=900, price=0.07, apart=0.2)
"""For sentences that the reader has read, whose probabilities are sharper. On CLAP NQ, QED, COVID-QA and XQuAD, each
with coefficients fitted to the others, more answers touch marked evidence than by `COMPARED`, and the citations are
about as precise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likely:
    """A sentence that can be quoted, and the probability that it belongs to the evidence.

    ``refers`` says that it refers to the sentence before; ``told`` is what the reader says of it.
    """

    quote: Quote
    probability: float
    refers: bool
    told: Told | None = None


def chosen(likely: Sequence[Likely], limit: int, rule: Rule | None = None) -> list[Likely]:
    """Return the sentences to quote, at most ``limit``: a passage, and others by falling probability.

    Args:
        likely: in reading order, chunk after chunk.
        limit: sentences at most.
        rule: how much is quoted; by default `READ` or `COMPARED`.
    """
    if not likely:
        return []
    rule = rule or (READ if any(one.told for one in likely) else COMPARED)
    longest = min(rule.longest, limit)
    runs = [run for some in _neighbours(likely) for run in _runs(some, longest, rule.characters)]
    worthiest = max(runs, key=lambda run: sum(one.probability - rule.price for one in run))
    passage = _from_its_beginning(likely, worthiest, longest, rule.characters)
    for one in sorted(likely, key=lambda some: -some.probability):
        if len(passage) >= limit or one.probability < rule.apart:
            break
        if one.refers or any(_same_words(one, other) for other in passage) or _in_other_language(one, passage[0]):
            continue
        passage.append(one)
    return passage


def best(likely: Sequence[Likely]) -> Likely:
    """Return the sentence that answers most likely."""
    return max(likely, key=lambda one: one.probability)


def _neighbours(likely: Sequence[Likely]) -> Iterator[list[Likely]]:
    """Yield the sentences that stand together, with nothing between them that is no sentence."""
    together: list[Likely] = []
    for one in likely:
        if together and not are_neighbours(together[-1].quote, one.quote):
            yield together
            together = []
        together.append(one)
    if together:
        yield together


def _runs(together: list[Likely], longest: int, characters: int) -> Iterator[list[Likely]]:
    """Yield every run of neighbours that is short enough, and each sentence alone."""
    for first in range(len(together)):
        for last in range(first, min(first + longest, len(together))):
            run = together[first : last + 1]
            if len(run) == 1 or run[-1].quote.span.end - run[0].quote.span.start <= characters:
                yield run


def _from_its_beginning(likely: Sequence[Likely], run: list[Likely], longest: int, characters: int) -> list[Likely]:
    """Begin the passage with the sentence that its first one refers to, if that is a neighbour.

    Where the passage would get too long its last sentence is dropped, unless that is the best.
    """
    run, answering = list(run), best(run)
    place = next(number for number, one in enumerate(likely) if one is run[0])
    while run[0].refers and place > 0 and are_neighbours(likely[place - 1].quote, run[0].quote):
        longer = [likely[place - 1], *run]
        if len(longer) > longest and longer[-1] is answering:
            break
        longer = longer[:longest]
        if longer[-1].quote.span.end - longer[0].quote.span.start > characters:
            break
        run, place = longer, place - 1
    return run


def _in_other_language(one: Likely, other: Likely) -> bool:
    """Return whether two sentences are of chunks that surely are in two languages: one answer is in one."""
    languages = {language_at_start(some.quote.hit.chunk.text) for some in (one, other)}
    return len(languages - {""}) > 1


def _same_words(one: Likely, other: Likely) -> bool:
    """Return whether two sentences share characters of a document, because chunks overlap."""
    (start, end), (first, last) = one.quote.stands, other.quote.stands
    same = one.quote.hit.chunk.document_id == other.quote.hit.chunk.document_id
    return same and max(start, first) < min(end, last)
