"""The themes of a collection: each with a label from its own words, its size, and sentences that tell of it.

The label is by class-based TF-IDF (Grootendorst 2022, "BERTopic"): words that a larger share of its passages
has than of all. Only the passages that are given count, so a label has no word that its reader may not read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import log

from ragstone.core.answers import Draft
from ragstone.core.frozen import frozen
from ragstone.core.protocols import SentenceSplitter, Weigher
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.language import lexicon, plain, replies
from ragstone.language.facts import alike
from ragstone.respond.overview.page import Group, Labelled, page
from ragstone.respond.overview.telling import Telling, quotable
from ragstone.respond.quote import Quote

LABEL_WORDS = 4
"""Words or pairs of words of a label."""
QUOTED = 3
"""Sentences quoted of a theme."""
READ = 6
"""Passages of a theme, those closest to its centre, whose sentences are compared."""
PAIR = 1.3
"""How much more a pair of words counts than a word."""
EVEN = 0.1
"""Weight of a word that all themes have alike, so that a single theme has a label too."""
LEAST_LETTERS = 3
"""Letters of a word of a label."""
_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")


@frozen
class Theme:
    """The passages of a theme closest to its centre, closest first, how many it has, and its title if it has one."""

    hits: tuple[Hit, ...]
    size: int
    title: str = ""


def overview(
    themes: Sequence[Theme],
    *,
    smaller: int,
    sentences: SentenceSplitter,
    weigh: Weigher,
    request: Request,
    language: str,
) -> Draft:
    """Return an overview of themes, each with sentences quoted exactly.

    Args:
        themes: the largest first.
        smaller: the number of themes that are not shown.
        sentences: splits a text.
        weigh: weighs words by how rare they are.
        request: who asks.
        language: of the lines that are not quoted.
    """
    texts, made = replies(language), labels([[hit.chunk.text for hit in theme.hits] for theme in themes])
    groups = list[Group]()
    own = [quotable(theme.hits if theme.title else theme.hits[:READ], sentences) for theme in themes]
    said = Counter(text for quotes in own for text in {_plain(one) for one in quotes})
    for theme, label, quotes in zip(themes, made, own, strict=True):
        alone = [one for one in quotes if said[_plain(one)] == 1]  # what other themes say too tells little of it
        telling = Telling(alone or quotes, weigh, request, label)
        chosen = telling.chosen(QUOTED, each=0 if theme.title else 1) or telling.chosen(QUOTED)
        heading = texts.theme.format(label=theme.title or label, passages=f"{theme.size:,}")
        groups.append(Group(heading=heading, lines=tuple((Labelled(quote=one),) for one in chosen)))
    end = texts.smaller.format(count=smaller) if smaller else ""
    count = len(themes) + smaller
    return page(texts.one_theme if count == 1 else texts.themes.format(count=count), groups, end)


def _plain(quote: Quote) -> str:
    return " ".join(quote.text.casefold().split())


def labels(classes: Sequence[Sequence[str]]) -> list[str]:
    """Return for each class of texts the words that tell it from the others, the most telling first."""
    counts = [Counter[str]() for _ in classes]
    shown = defaultdict[str, Counter[str]](Counter)
    for own, texts in zip(counts, classes, strict=True):
        for text in texts:
            terms = dict(_terms(text))
            own.update(terms.keys())
            for term, written in terms.items():
                shown[term][written] += 1
    everywhere = sum(counts, Counter[str]())
    whole = sum(map(len, classes))
    return [
        ", ".join(_label(own, everywhere, shown, len(texts), whole)) for own, texts in zip(counts, classes, strict=True)
    ]


def _label(
    own: Counter[str], everywhere: Counter[str], shown: dict[str, Counter[str]], size: int, whole: int
) -> Iterator[str]:
    """Yield the words of a label as they are written most often, each in one of its forms only."""
    least = 1 if size < 4 else 2
    worth = {
        term: count / size * (EVEN + log(count / size * whole / everywhere[term])) * (PAIR if " " in term else 1)
        for term, count in own.items()
        if count >= least
    }
    taken = set[str]()
    for term in sorted(worth, key=lambda term: (-worth[term], term)):
        if not any(alike(word, other) for word in term.split(" ") for other in taken):
            taken.update(term.split(" "))
            yield shown[term].most_common(1)[0][0]
            if len(taken) >= LABEL_WORDS:
                return


def _terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the content words of a text and its pairs of neighbours, each plain and as it is written."""
    stop, last = lexicon().stop, None
    for match in _WORD.finditer(text):
        written = match.group()
        word = plain(written)
        if len(word) < LEAST_LETTERS or word in stop:
            last = None
            continue
        yield word, written
        if last and text[last[2] : match.start()] == " ":
            yield f"{last[0]} {word}", f"{last[1]} {written}"
        last = (word, written, match.end())
