"""Sentences that can be quoted alone, and how much each tells of the text it stands in.

A sentence tells much if the words that are frequent in the text and rare elsewhere are in it (centroid-based
extraction: Radev et al. 2004, "Centroid-based summarization of multiple documents"). Several sentences are chosen by
maximal marginal relevance (Carbonell and Goldstein 1998), so that they do not repeat each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from ragstone.core.protocols import SentenceSplitter, Weigher
from ragstone.core.records import Hit, Span
from ragstone.core.request import Request
from ragstone.language import lexicon, plain
from ragstone.language.facts import words
from ragstone.respond import passage_structure as structure
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.scored import language_at_start, refers_back

LEAST_WORDS, MOST_WORDS = 5, 60
"""Words of a sentence that can be quoted."""
LEAST_LETTERS = 0.6
"""Share of letters in a sentence that can be quoted; formulas and rows of figures have fewer."""
EARLY = 0.15
"""How much the first sentence is preferred if nothing else is said; the preference falls with each further one."""
NAMED = 2.0
"""How much more a word of the heading or topic counts."""
SHORT = 4
"""Words added to the length of each sentence, so that short ones are not preferred."""
LESS = 0.5
"""How much less a sentence tells that is no whole one, by its first letter or its end, or refers to the one before."""
DIVERSE = 0.5
"""Weight of what a sentence tells, against how much of it is said already."""
_WORD = re.compile(r"[^\W_]+(?:[-.’'][^\W_]+)*")
_BEGINNING = 80
"""Characters in which a sentence shows whether it refers to the one before."""
_CLOSING = "\"'”“»)]*_` \n"
_ENDS = (".", "!", "…", "。")


def can_be_quoted(hit: Hit, span: Span) -> bool:
    """Return whether a sentence is prose that can stand alone: no heading, cell, code or question."""
    text = hit.chunk.text
    sentence = span.of(text)
    count = len(sentence.split())
    return (
        LEAST_WORDS <= count <= MOST_WORDS
        and sum(map(str.isalpha, sentence)) >= LEAST_LETTERS * len(sentence)
        and not hit.chunk.facts.get("is_code")
        and not hit.chunk.facts.get("is_table")
        and " | " not in sentence
        and not structure.is_heading(text, span)
        and not structure.is_table(text, span)
        and not structure.is_directive(text, span)
        and structure.code_around(text, span.start) is None
        and not sentence.rstrip().endswith(("?", ":"))
    )


def quotable(hits: Iterable[Hit], split: SentenceSplitter) -> list[Quote]:
    """Return the sentences of chunks that can be quoted, in order; those of overlapping chunks come once."""
    quotes, seen = list[Quote](), set[str]()
    for hit in hits:
        for span in split(hit.chunk.text):
            said = " ".join(span.of(hit.chunk.text).split())
            if said not in seen and can_be_quoted(hit, span):
                quotes.append(Quote(hit=hit, span=span))
                seen.add(said)
    return quotes


class Telling:
    """Sentences, and how much each tells of the text that they make up."""

    def __init__(
        self, quotes: Sequence[Quote], weigh: Weigher, request: Request, named: str = "", *, early: float = EARLY
    ) -> None:
        """Weigh the words of the sentences.

        Args:
            quotes: the sentences, in the order of the text.
            weigh: weighs words by how rare they are.
            request: who asks.
            named: the heading or topic, whose words count more.
            early: how much the first sentence is preferred.
        """
        self.quotes = quotes
        self.said = [content(one.text) for one in quotes]
        counts = Counter(word for one in self.said for word in one)
        of_topic, names = content(named), list(counts)
        self.rare = dict(zip(names, weigh(names, request), strict=True))
        worth = {one: self.rare[one] * log(1 + counts[one]) * (NAMED if one in of_topic else 1) for one in names}
        self.worth = [
            sum(worth[word] for word in one) / (len(one) + SHORT) * (1 + early / (1 + at)) * _whole(quote)
            for at, (one, quote) in enumerate(zip(self.said, quotes, strict=True))
        ]

    def best(self) -> Quote | None:
        """Return the sentence that tells most; None if there is none."""
        return self.quotes[max(range(len(self.quotes)), key=self.worth.__getitem__)] if self.quotes else None

    def chosen(self, most: int, *, each: int = 0) -> list[Quote]:
        """Return the sentences that tell most and do not repeat each other, best first.

        Args:
            most: sentences to return.
            each: sentences of one document, at most; 0 for any number.
        """
        left, chosen = set(range(len(self.quotes))), list[int]()
        highest = max(self.worth, default=0) or 1.0
        repeated = dict.fromkeys(left, 0.0)
        per_document = Counter[str]()
        while left and len(chosen) < most:
            at = max(sorted(left), key=lambda at: DIVERSE * self.worth[at] / highest - (1 - DIVERSE) * repeated[at])
            left.discard(at)
            document = self.quotes[at].hit.chunk.document_id
            if each and per_document[document] >= each:
                continue
            per_document[document] += 1
            chosen.append(at)
            for other in left:
                repeated[other] = max(repeated[other], self._overlap(at, other))
        return [self.quotes[at] for at in chosen]

    def _overlap(self, one: int, other: int) -> float:
        """Return the share of the words of two sentences that both have, by how rare the words are: 0 to 1."""
        both, either = self.said[one] & self.said[other], self.said[one] | self.said[other]
        whole = sum(self.rare[word] for word in either)
        return sum(self.rare[word] for word in both) / whole if whole else 0.0


def _whole(quote: Quote) -> float:
    """Return how well a sentence stands alone."""
    text = quote.text
    refers = refers_back(text, words(text[:_BEGINNING]), language_at_start(quote.hit.chunk.text))
    return LESS if is_cut(quote) or refers else 1.0


def is_cut(quote: Quote) -> bool:
    """Return whether a quote is no whole sentence, by its first letter or its end."""
    text = quote.text
    return text[:1].islower() or not text.rstrip(_CLOSING).endswith(_ENDS)


def content(text: str) -> set[str]:
    """Return the content words of a text, in lower case without diacritics."""
    stop = lexicon().stop
    return {word for found in _WORD.findall(text) if (word := plain(found)) not in stop}
