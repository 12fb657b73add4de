"""Which sentences are quoted, and how: one passage of neighbours, whole lists and code, nothing twice.

The passage is the run of a few neighbouring sentences whose probabilities of being evidence exceed a price per
sentence by most. It answers more often than the best sentence with its likely neighbours, because three sentences of
which each may answer are surer than one that looks best. How much is quoted depends on how the probabilities came
about (`Amount`). Other sentences are quoted too if they surely answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragstone.core.frozen import frozen
from ragstone.core.headings import is_question
from ragstone.core.kinds import Kind
from ragstone.core.line_marks import BULLETS
from ragstone.core.question import Question
from ragstone.core.records import Chunk, Hit, Span
from ragstone.respond import passage_structure as structure
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.entries import entry_of
from ragstone.respond.quoting.evidence_model import SentenceFeatures
from ragstone.respond.quoting.scored import Sentence, Told, language_at_start

_WORD = re.compile(r"\w+")
_ONE_WORD = re.compile(r"[^\W\d_]+[.!]\s+")
_GAP = re.compile(rf"\s*(?:(?:[{BULLETS}>]|\d{{1,2}}[.)])\s+|\[\d{{1,3}}\]\s*)?")
"""What may stand between two sentences of one passage: white space, and the mark of a list item or a footnote."""
WHOLE_LISTS: frozenset[Kind] = frozenset({"list", "how_to"})
"""The kinds of question that ask for a whole list, or for all steps."""
_TYPED: frozenset[Kind] = frozenset({"keywords", "statement"})
"""The kinds of questions that are none by their form."""
_FEW = 2
"""Blanks of the shortest question of which a repetition is no accident."""


def quote_of(question: Question, sentence: Sentence, hits: Sequence[Hit]) -> Quote | None:
    """Extend a sentence over what it introduces, or over the code block around it; None if it cannot be an answer.

    A sentence may introduce the next chunk, if that is code and among the hits. Questions, titles, headings, tables and
    directives are not answers. The entry of a glossary that explains the term in question is quoted as a whole.
    """
    chunk, span = sentence.hit.chunk, sentence.span
    quote = Quote(hit=sentence.hit, place=sentence.place, span=span)
    if code := structure.code_around(chunk.text, span.start):
        return replace(quote, span=code) if code.end - code.start <= structure.MAX_QUOTE else None
    if entry := entry_of(question, chunk.text, span):
        return replace(quote, span=entry)
    if (
        is_question(sentence.text)
        or words_of(structure.without_asides(sentence.text)) in (words_of(chunk.title), words_of(chunk.heading))
        or structure.is_wordless(sentence.text)
        or structure.is_heading(chunk.text, span)
        or structure.is_table(chunk.text, span)
    ):
        return None
    if structure.is_directive(chunk.text, span):
        return None
    extended = (
        _in_list(question, chunk.text, span)
        or structure.block_around(chunk.text, span)
        or structure.with_introduced(chunk.text, span)
    )
    if is_question(extended.of(chunk.text)):
        return None
    after = None
    if extended == span and structure.introduces_next_chunk(chunk.text, span):
        after = _code_after(chunk, hits)
        if after is None:
            return None  # it introduces a chunk that was not found
    return replace(quote, span=_with_yes_or_no(chunk, structure.with_term(chunk.text, extended)), code=after)


def _in_list(question: Question, text: str, span: Span) -> Span | None:
    """Return what is quoted of a list that reads only as a whole: one item, if that will do; None outside of one."""
    around = structure.list_around(text, span)
    if around is None or question.kind in WHOLE_LISTS:
        return around
    return structure.item_around(text, span) or around


def likely_of(
    question: Question,
    scored: Sequence[Sentence],
    features: Sequence[SentenceFeatures],
    probabilities: Sequence[float],
    hits: Sequence[Hit],
) -> list[Likely]:
    """Return the sentences that can be quoted, in reading order.

    What repeats the whole question, as an example of a command or a log of questions does, does not answer it.
    """
    quotes = [quote_of(question, one, hits) for one in scored]
    return [
        Likely(quote=quote, probability=probability, refers=bool(known.refers), told=one.told)
        for one, quote, known, probability in zip(scored, quotes, features, probabilities, strict=True)
        if quote and not _repeats(question, quote)
    ]


def _repeats(question: Question, quote: Quote) -> bool:
    """Return whether a quote contains all words of a question in their order, and the question has a few.

    Keywords, or the beginning of a sentence, may be looked for as they stand.
    """
    if question.kind in _TYPED:
        return False
    asked = words_of(question.text)
    return asked.count(" ") >= _FEW and f" {asked} " in f" {words_of(quote.text)} "


def passages(quotes: Sequence[Quote]) -> list[Quote]:
    """Return the quotes in reading order: neighbours as one, nothing twice, each followed by the code it introduces."""
    joined: list[Quote] = []
    for current in sorted(quotes, key=lambda quote: (quote.place, quote.span)):
        if joined and are_neighbours(joined[-1], current):
            span = Span(start=joined[-1].span.start, end=max(joined[-1].span.end, current.span.end))
            joined[-1] = replace(joined[-1], span=span, code=current.code)
        else:
            joined.append(current)
    return _distinct(_with_code(joined))


def whole_lists(quotes: Sequence[Quote]) -> list[Quote]:
    """Return quotes that stand in a list, or introduce one, extended over all of that list."""
    return passages([replace(one, span=_whole_list(one.hit.chunk.text, one.span)) for one in quotes])


def _whole_list(text: str, span: Span) -> Span:
    around = structure.list_around(text, span, structure.MAX_LIST, any_list=True)
    if around is None:
        around = structure.with_introduced(text, span, structure.MAX_LIST)
    return Span(start=min(span.start, around.start), end=max(span.end, around.end))


def are_neighbours(first: Quote, second: Quote) -> bool:
    """Return whether the other quote follows this one, or begins within it."""
    if first.hit.chunk.id != second.hit.chunk.id or first.code:
        return False
    gap = first.hit.chunk.text[first.span.end : second.span.start]
    return second.span.start <= first.span.end or _GAP.fullmatch(gap) is not None


def words_of(text: str) -> str:
    """Return the words of a text in small letters, for comparing."""
    return " ".join(_WORD.findall(text.casefold()))


def _code_after(chunk: Chunk, hits: Sequence[Hit]) -> Hit | None:
    """Return the next chunk of the document if it is among the hits and is code short enough to quote."""
    for hit in hits:
        other = hit.chunk
        if (other.document_id, other.index) == (chunk.document_id, chunk.index + 1) and other.facts.get("is_code"):
            return hit if len(other.text) <= structure.MAX_QUOTE else None
    return None


def _with_code(quotes: Sequence[Quote]) -> list[Quote]:
    out: list[Quote] = []
    for one in quotes:
        out.append(replace(one, code=None))
        if one.code:
            out.append(Quote(hit=one.code, place=one.place, span=Span(start=0, end=len(one.code.chunk.text))))
    return out


def _with_yes_or_no(chunk: Chunk, span: Span) -> Span:
    """Include the single word before a sentence that answers the question in the title: "No. Masks do not help." """
    answers = chunk.index == 0 and is_question(chunk.title)
    return Span(start=0, end=span.end) if answers and _ONE_WORD.fullmatch(chunk.text[: span.start]) else span


def _distinct(quotes: Sequence[Quote]) -> list[Quote]:
    """Drop quotes that a longer one contains, because chunks overlap and documents repeat each other."""
    kept: list[Quote] = []
    for quote in sorted(quotes, key=lambda one: one.span.start - one.span.end):
        if not any(_is_inside(quote, one) for one in kept):
            kept.append(quote)
    return [one for one in quotes if one in kept]


def _is_inside(quote: Quote, other: Quote) -> bool:
    """Return whether another quote covers the same characters, or contains the same words."""
    (start, end), (first, last) = quote.stands, other.stands
    if quote.hit.chunk.document_id == other.hit.chunk.document_id and first <= start and end <= last:
        return True
    own = words_of(quote.text)
    return bool(own) and f" {own} " in f" {words_of(other.text)} "


# ---------------------------------------------------------------- which sentences


@frozen
class Amount:
    """How much is quoted.

    ``longest`` and ``characters`` bound a passage of several sentences. ``price`` is the probability of being evidence
    from which on a sentence next to others is worth reading, ``apart`` that from which on a sentence is quoted that is
    no neighbour of the others.
    """

    longest: int
    characters: int
    price: float
    apart: float


COMPARED = Amount(longest=3, characters=700, price=0.07, apart=0.4)
"""For sentences whose words were only compared. Chosen for precision first (``tools/fit_evidence.py``): on four sets,
each with coefficients fitted to the others, .77 to .90 of the quotes touch marked evidence."""
READ = Amount(longest=4, characters=900, price=0.07, apart=0.2)
"""For sentences that the reader has read, whose probabilities are sharper. On CLAP NQ, QED, COVID-QA and XQuAD, each
with coefficients fitted to the others, more answers touch marked evidence than by `COMPARED`, and the citations are
about as precise."""


@frozen
class Likely:
    """A sentence that can be quoted, and the probability that it belongs to the evidence.

    ``refers`` says that it refers to the sentence before; ``told`` is what the reader says of it.
    """

    quote: Quote
    probability: float
    refers: bool
    told: Told | None = None


def chosen(likely: Sequence[Likely], limit: int, amount: Amount | None = None) -> list[Likely]:
    """Return the sentences to quote, at most ``limit``: a passage, and others by falling probability.

    Args:
        likely: in reading order, chunk after chunk.
        limit: sentences at most.
        amount: how much is quoted; by default `READ` or `COMPARED`.
    """
    if not likely:
        return []
    amount = amount or (READ if any(one.told for one in likely) else COMPARED)
    longest = min(amount.longest, limit)
    runs = [run for some in _neighbours(likely) for run in _runs(some, longest, amount.characters)]
    worthiest = max(runs, key=lambda run: sum(one.probability - amount.price for one in run))
    passage = _from_its_beginning(likely, worthiest, longest, amount.characters)
    for sentence in sorted(likely, key=lambda some: -some.probability):
        if len(passage) >= limit or sentence.probability < amount.apart:
            break
        if (
            sentence.refers
            or any(_same_words(sentence, other) for other in passage)
            or _in_other_language(sentence, passage[0])
        ):
            continue
        passage.append(sentence)
    return passage


def best(likely: Sequence[Likely]) -> Likely:
    """Return the sentence that answers most likely."""
    return max(likely, key=lambda one: one.probability)


def _neighbours(likely: Sequence[Likely]) -> Iterator[list[Likely]]:
    """Yield the sentences that stand together, with nothing between them that is no sentence."""
    together: list[Likely] = []
    for sentence in likely:
        if together and not are_neighbours(together[-1].quote, sentence.quote):
            yield together
            together = []
        together.append(sentence)
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
