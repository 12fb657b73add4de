"""What other passages say instead of a quote: older versions of its document, and documents that disagree.

Two sentences are about the same thing if they have the same words but for one value: a figure, a name, a negation, or
a word and its opposite. The other one must also have as many words of the question, so that it is no answer to
another question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cmp_to_key

from ragstone.core.answers import Draft
from ragstone.core.editions import VERSION_OF, Edition, edition_of
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.question import Question
from ragstone.core.record import record_of
from ragstone.core.words import Word
from ragstone.language import Phrases, lexicon
from ragstone.language.days import dates_in
from ragstone.language.facts import Vocabulary, initials, words
from ragstone.respond.drafts import cite, moved
from ragstone.respond.passage_structure import heading_above
from ragstone.respond.proof.figure import Figure, same
from ragstone.respond.proof.figures import figures
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.question_words import QuestionWords
from ragstone.respond.quoting.quoted_text import written
from ragstone.respond.quoting.quotes import words_of

MOST = 5
"""Other statements that an answer shows."""
_SHARED = 2
"""Words that two sentences about the same thing share at least."""
_ALIKE = 0.6
"""Share of the words of the shorter of two sentences that both have, if they are about the same in two versions."""
_LONGEST_NAME = 3


@frozen
class Rivals:
    """A quote, and what ``older`` versions of its document and documents ``against`` it say instead, newest first.

    Of a question about today, older documents of any title are ``older``.
    """

    quote: Quote
    older: tuple[Quote, ...] = ()
    against: tuple[Quote, ...] = ()

    def older_lead(self, texts: Phrases) -> str:
        """Return the heading of the older ones; minutes of two meetings share a title, but are not versions."""
        same = all(
            are_versions(self.quote, one) and _likeness(self.quote.text, one.text) >= _ALIKE for one in self.older
        )
        return texts.older if same else texts.earlier

    def among(self, quoted: Sequence[Quote]) -> tuple[Quote, ...]:
        """Return what is quoted together with what is against it, the newest first."""
        newer = [one for one in self.against if _edition(one).is_newer(_edition(self.quote))]
        return (*newer, *quoted, *(one for one in self.against if one not in newer))

    def also_older(self, quotes: Iterable[Quote]) -> Rivals:
        """Return the same with more quotes of older versions, without those that say the same."""
        said = words_of(self.quote.text)
        unlike = _unlike((*self.older, *(one for one in quotes if words_of(one.text) != said)))
        return replace(self, older=tuple(unlike)[:MOST])


def rivals(
    quote: Quote,
    others: Sequence[Quote],
    covers: Callable[[Quote], float],
    question: Question,
    versions: Sequence[Quote] = (),
) -> Rivals | None:
    """Return a quote in its newest version, and what others say instead; None if nobody says anything else.

    A question that fixes a period or a version means the one that was found. One about today means the newest of all
    documents, and others the newest version of the same document.

    Args:
        quote: answers the question.
        others: sentences of the evidence.
        covers: returns how much of the question a sentence has.
        question: what is asked.
        versions: sentences of its passages in other versions of their documents, which may say it in other words.
    """
    if record_of(quote.hit.chunk) or question.versions_meant != ():
        return None
    least = covers(quote)
    candidates = [one for one in (*others, *versions) if _may_be(quote, one) and covers(one) >= least]
    said = {one.hit.chunk.document_id for one in candidates}
    unsaid = [one for one in versions if one.hit.chunk.document_id not in said and covers(one) > 0]
    candidates += _reworded(quote, unsaid)
    if not candidates:
        return None
    candidates = sorted((quote, *candidates), key=cmp_to_key(lambda one, other: _edition(one).order(_edition(other))))
    first = candidates[0] if question.recent or are_versions(candidates[0], quote) else quote
    unlike = [*_unlike(one for one in candidates if _contradict(first, one))]
    older = [
        one
        for one in unlike
        if _edition(first).is_newer(_edition(one)) and (question.recent or are_versions(one, first))
    ]
    against = [*_newest_of_each(one for one in unlike if one not in older)]
    return Rivals(quote=first, older=tuple(older[:MOST]), against=tuple(against[:MOST]))


def is_newer(quote: Quote, than: Quote, question: Question) -> bool:
    """Return whether a quote is the newer one, and the question means the newest.

    Quotes of versions of one document are compared, and those of any two if the question is about today.
    """
    if question.versions_meant != () or not (question.recent or are_versions(quote, than)):
        return False
    return _edition(quote).is_newer(_edition(than))


def covered(asked: QuestionWords, quote: Quote) -> float:
    """Return the share of the question's words that a sentence has, or the title and heading above it."""
    chunk = quote.hit.chunk
    heading = heading_above(chunk.text, quote.span.start)
    return asked.match(words(quote.text), words(f"{chunk.context} {chunk.title} {heading}")).covered


def with_older(draft: Draft, older: Sequence[Quote], lead: str) -> Draft:
    """Return a draft with what older versions say below it."""
    first = len(draft.citations) + 1
    citations = tuple(cite(marker, one.hit, one.span) for marker, one in enumerate(older, start=first))
    text, statements = written(citations, [*map(called, older)], (), apart=True)
    above = f"{draft.text}\n{lead}\n"
    return replace(
        draft,
        text=f"{above}{text}",
        citations=(*draft.citations, *citations),
        statements=(*draft.statements, *(moved(one, len(above)) for one in statements)),
    )


def are_of_several_versions(quotes: Sequence[Quote]) -> bool:
    """Return whether quotes are of different versions of one document, so that each needs its name."""
    versions = {(one.hit.chunk.metadata.get(VERSION_OF), _edition(one).label) for one in quotes}
    families = [family for family, label in versions if family and label]
    return len(set(families)) < len(families)


def called(quote: Quote) -> str:
    """Return the name of the document of a quote, and its date or number."""
    name, label = name_of(quote.hit.chunk), _edition(quote).label
    is_said = label in name or label in [day.isoformat() for _, day in dates_in(name)]
    return f"{name} ({label})" if label and not is_said else name


def says_otherwise(first: str, second: str) -> bool:
    """Return whether two sentences say different things of the same."""
    asked, there = words(first), words(second)
    theirs = _without(there, asked)
    if len(theirs) > _LONGEST_NAME:  # as most are, so that nothing else need be compared
        return False
    own = _without(asked, there)
    if len(_content(asked)) - len(own) < _SHARED:
        return False
    if own or theirs:
        return _are_opposite(own, theirs) or (_is_name(first, own) and _is_name(second, theirs))
    return _denies(asked) != _denies(there) or _have_other_figures(figures(first), figures(second))


def _may_be(quote: Quote, other: Quote) -> bool:
    """Return whether a sentence of another document says the same as a quote, or another thing of the same."""
    if other.hit.chunk.document_id == quote.hit.chunk.document_id or record_of(other.hit.chunk):
        return False
    is_same = are_versions(quote, other) and words_of(quote.text) == words_of(other.text)
    return is_same or says_otherwise(quote.text, other.text)


def _reworded(quote: Quote, others: Sequence[Quote]) -> list[Quote]:
    """Return the sentence of each other version of the document that says otherwise in other words, if any."""
    found: dict[str, Quote] = {}
    likest = sorted(others, key=lambda one: -_likeness(quote.text, one.text))
    for one in likest:
        if _is_reworded(quote, one):
            found.setdefault(one.hit.chunk.document_id, one)
    return list(found.values())


def _contradict(quote: Quote, other: Quote) -> bool:
    return says_otherwise(quote.text, other.text) or _is_reworded(quote, other)


def _is_reworded(quote: Quote, other: Quote) -> bool:
    """Return whether two versions of a document say something else of the same, most of it in the same words."""
    if quote.hit.chunk.document_id == other.hit.chunk.document_id or not are_versions(quote, other):
        return False
    if _likeness(quote.text, other.text) < _ALIKE:
        return False
    own, theirs = words(quote.text), words(other.text)
    return _denies(own) != _denies(theirs) or _have_other_figures(figures(quote.text), figures(other.text))


def _likeness(first: str, second: str) -> float:
    """Return the share of the words of the shorter sentence that both have; 0 if they have too few in common."""
    own, theirs = words(first), words(second)
    shorter, longer = sorted((own, theirs), key=lambda some: len(_content(some)))
    count = len(_content(shorter))
    shared = count - len(_without(shorter, longer))
    return shared / count if shared >= _SHARED else 0.0


def are_versions(one: Quote, other: Quote) -> bool:
    family = one.hit.chunk.metadata.get(VERSION_OF)
    return bool(family) and family == other.hit.chunk.metadata.get(VERSION_OF)


def _edition(quote: Quote) -> Edition:
    return edition_of(quote.hit.chunk.metadata)


def _newest_of_each(quotes: Iterable[Quote]) -> Iterator[Quote]:
    """Yield the quotes, newest first, only one of each document and its versions."""
    seen = set[str]()
    for quote in quotes:
        chunk = quote.hit.chunk
        if (document := str(chunk.metadata.get(VERSION_OF, chunk.document_id))) not in seen:
            seen.add(document)
            yield quote


def _unlike(quotes: Iterable[Quote]) -> Iterator[Quote]:
    """Yield the quotes, each text once."""
    seen = set[str]()
    for one in quotes:
        if (said := words_of(one.text)) not in seen:
            seen.add(said)
            yield one


def _content(some: Sequence[Word]) -> list[Word]:
    """Return the words that say what a sentence is about; "B" in "platform B" is one, although so short."""
    letters = (word.capitals and len(word.lower) == 1 and word.span.start > 0 for word in some)
    return [
        word
        for word, is_letter in zip(some, letters, strict=True)
        if not word.value and not word.negation and (not word.stop or is_letter)
    ]


def _without(some: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    vocabulary = Vocabulary(others)
    return [word for word in _content(some) if not (vocabulary.forms(word) or initials(word, others))]


def _are_opposite(own: Sequence[Word], theirs: Sequence[Word]) -> bool:
    if len(own) != 1 or len(theirs) != 1:
        return False
    return theirs[0].lower in lexicon().opposites.get(own[0].lower, frozenset())


def _is_name(text: str, some: Sequence[Word]) -> bool:
    """Return whether words are one name."""
    if not 0 < len(some) <= _LONGEST_NAME or not all(word.named for word in some):
        return False
    between = text[some[0].span.start : some[-1].span.end].split()
    return len(between) == len(some)


def _denies(some: Sequence[Word]) -> bool:
    return sum(word.negation for word in some) % 2 == 1


def _have_other_figures(own: Sequence[Figure], theirs: Sequence[Figure]) -> bool:
    """Return whether the same is measured with another result.

    Where two numbers differ, one of them may say what is meant, such as that of a room.
    """
    mine = [one for one in own if not any(same(one, other) for other in theirs)]
    other = [one for one in theirs if not any(same(one, some) for some in own)]
    if not mine or [one.measure for one in mine] != [one.measure for one in other]:
        return False
    return len(mine) == 1 or all(one.measure for one in mine)
