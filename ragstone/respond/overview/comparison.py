"""Two documents compared, in exact quotes: where their figures differ, what only one says, and what both say.

Sentences are set side by side if they are the same but for their figures, cells of tables if row and column have the
same names. The names of columns may differ in their dates, as those of two reports do; then their order decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragstone.core.answers import Draft
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.protocols import SentenceSplitter, Weigher
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.core.table import table_of
from ragstone.language import lexicon, plain, replies
from ragstone.respond.drafts import shortened
from ragstone.respond.overview.page import Group, Labelled, page
from ragstone.respond.overview.telling import Telling, content, quotable
from ragstone.respond.quote import Quote

MOST_CELLS, MOST_SENTENCES, MOST_ONLY, MOST_SHARED = 8, 6, 4, 3
"""Differing cells, differing sentences, sentences that only one document has, and sentences of both that are shown."""
MAX_NAME = 40
"""Characters of the name of a document before a quote."""
MOST_COMPARED = 100
"""Sentences with which a sentence is compared."""
LEAST_FRAME = 4
"""Words beside the figures that a sentence has, at least, to be set beside another."""
ALIKE = 0.5
"""Share of the words of a sentence, by how rare they are, that a sentence which says the same has."""
_FIGURE = re.compile(r"\d+(?:[.,:/\u00a0\u202f-]\d+)*")
_SMALL = re.compile(r"\d{1,3}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TOKEN = re.compile(rf"{_FIGURE.pattern}|[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+|#")


@frozen
class _Cell:
    """A cell with a figure, and what names its row and its column."""

    quote: Quote
    row: str
    column: str


def compared(
    first_hits: Sequence[Hit],
    other: Sequence[Hit],
    *,
    sentences: SentenceSplitter,
    weigh: Weigher,
    request: Request,
    language: str,
) -> Draft | None:
    """Return what differs between two documents and what does not; None if one of them has nothing to quote.

    Args:
        first_hits: the chunks of a document, in order.
        other: those of the other document.
        sentences: splits a text.
        weigh: weighs words by how rare they are.
        request: who asks.
        language: of the lines that are not quoted.
    """
    if not first_hits or not other:
        return None
    texts, full = replies(language), (name_of(first_hits[0].chunk), name_of(other[0].chunk))
    names = _short(*full)
    mine, yours = quotable(first_hits, sentences), quotable(other, sentences)
    cells = list(_cells_apart(first_hits, other, names))
    apart = sorted(_sentences_apart(mine, yours), key=_differs_in_dates)
    only_one, only_other, shared = _divided(mine, yours, weigh, request)
    figures = [_side_by_side(*pair, names) for pair in apart[:MOST_SENTENCES]]
    both = [_side_by_side(*pair, names) for pair in shared]
    groups = [
        Group(heading=texts.differing, lines=(*cells[:MOST_CELLS], *figures)),
        Group(heading=texts.only.format(title=full[0]), lines=tuple((Labelled(quote=quote),) for quote in only_one)),
        Group(heading=texts.only.format(title=full[1]), lines=tuple((Labelled(quote=quote),) for quote in only_other)),
        Group(heading=texts.shared, lines=tuple(both)),
    ]
    if not any(group.lines for group in groups):
        return None
    same = not any(group.lines for group in groups[:3])
    lead = texts.same if same else texts.compared
    return page(lead.format(one=full[0], other=full[1]), groups)


def _side_by_side(one: Quote, other: Quote, names: tuple[str, str]) -> tuple[Labelled, Labelled]:
    return Labelled(quote=one, label=names[0]), Labelled(quote=other, label=names[1])


def _short(first: str, second: str) -> tuple[str, str]:
    """Return two names without the words with which both begin, if something is left of each."""
    left, right = first.split(), second.split()
    same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    short = " ".join(left[same:]), " ".join(right[same:])
    return (shortened(short[0], MAX_NAME), shortened(short[1], MAX_NAME)) if all(short) else (first, second)


# ------------------------------------------------------------ sentences


def frame_of(text: str) -> str:
    """Return a text with ``#`` for each figure and each name of a month, in lower case and without punctuation."""
    months = lexicon().months
    found = (plain(word) for word in _WORD.findall(_FIGURE.sub("#", text)))
    return " ".join("#" if word in months else word for word in found)


def _figures(text: str) -> tuple[str, ...]:
    return tuple(_FIGURE.findall(text))


def _amounts(text: str) -> list[str]:
    """Return the figures of a text that are no years and do not stand beside the name of a month."""
    months, found = lexicon().months, _TOKEN.findall(text)
    is_month = [False, *(plain(token) in months for token in found), False]
    return [
        token
        for at, token in enumerate(found, start=1)
        if token[0].isdigit() and not is_month[at - 1] and not is_month[at + 1] and not _YEAR.fullmatch(token)
    ]


def _differs_in_dates(pair: tuple[Quote, Quote]) -> bool:
    """Return whether two sentences of the same frame differ in nothing but dates, which says little."""
    return _amounts(pair[0].text) == _amounts(pair[1].text)


def _sentences_apart(mine: Sequence[Quote], yours: Sequence[Quote]) -> Iterator[tuple[Quote, Quote]]:
    """Yield the sentences that are the same but for their figures, each frame that both documents have once."""
    left, right = _by_frame(mine), _by_frame(yours)
    for frame, quote in left.items():
        other = right.get(frame)
        if other and _figures(quote.text) != _figures(other.text):
            yield quote, other


def _by_frame(quotes: Iterable[Quote]) -> dict[str, Quote]:
    """Return the sentences with figures by their frame; a frame that several have is no frame."""
    framed = [(frame_of(one.text), one) for one in quotes]
    counts = Counter(frame for frame, _ in framed)
    return {
        frame: one
        for frame, one in framed
        if counts[frame] == 1 and "#" in frame and sum(word != "#" for word in frame.split()) >= LEAST_FRAME
    }


def _divided(
    mine: Sequence[Quote], yours: Sequence[Quote], weigh: Weigher, request: Request
) -> tuple[list[Quote], list[Quote], list[tuple[Quote, Quote]]]:
    """Return the most telling sentences of one document alone, of the other alone, and of both."""
    said = [[content(one.text) for one in quotes] for quotes in (mine, yours)]
    every = sorted({word for some in said for one in some for word in one})
    rare = dict(zip(every, weigh(every, request), strict=True))
    nearest = [_nearest(said[0], said[1], rare), _nearest(said[1], said[0], rare)]
    only = [
        Telling([one for one, (share, _) in zip(quotes, near, strict=True) if share < ALIKE], weigh, request)
        for quotes, near in zip((mine, yours), nearest, strict=True)
    ]
    same = [(one, yours[at]) for one, (share, at) in zip(mine, nearest[0], strict=True) if share == 1.0]
    other = {id(one): two for one, two in same if _figures(one.text) == _figures(two.text)}
    telling = Telling([one for one, _ in same if id(one) in other], weigh, request)
    shared = [(one, other[id(one)]) for one in telling.chosen(MOST_SHARED)]
    return _in_order(only[0].chosen(MOST_ONLY)), _in_order(only[1].chosen(MOST_ONLY)), shared


def _nearest(mine: Sequence[set[str]], yours: Sequence[set[str]], rare: dict[str, float]) -> list[tuple[float, int]]:
    """Return for each sentence the largest share of its words, by weight, that one of the others has, and which one.

    Only sentences with one of its rarest words are compared, as many as `MOST_COMPARED`: of two reports with thousands
    of sentences each, a common word is in most.
    """
    places = dict[str, list[int]]()
    for at, words in enumerate(yours):
        for word in words:
            places.setdefault(word, []).append(at)
    nearest = list[tuple[float, int]]()
    for words in mine:
        whole, near = sum(rare[word] for word in words), set[int]()
        for word in sorted(words & places.keys(), key=lambda word: (len(places[word]), word)):
            if near and len(near) + len(places[word]) > MOST_COMPARED:
                break
            near.update(places[word][:MOST_COMPARED])
        if not near or not whole:
            nearest.append((0.0, -1))
            continue
        shares = {at: sum(rare[word] for word in words & yours[at]) for at in near}
        best = max(shares, key=lambda at: (shares[at], -len(yours[at]), -at))
        nearest.append((1.0 if words == yours[best] else min(shares[best] / whole, 0.999), best))
    return nearest


def _in_order(quotes: Sequence[Quote]) -> list[Quote]:
    return sorted(quotes, key=lambda one: one.stands[0])


# ------------------------------------------------------------ cells


def _cells_apart(
    one: Sequence[Hit], other: Sequence[Hit], names: tuple[str, str]
) -> Iterator[tuple[Labelled, Labelled]]:
    """Yield the first cells of the same row and column whose figures differ, one pair for each row."""
    left, right, shown = _by_name(one), _by_name(other), set[str]()
    for name, cell in left.items():
        counterpart = right.get(name)
        if counterpart and name[0] not in shown and _figures(cell.quote.text) != _figures(counterpart.quote.text):
            shown.add(name[0])
            yield (
                Labelled(quote=cell.quote, label=f"{shortened(cell.row, MAX_NAME)} · {_of(names[0], cell.column)}"),
                Labelled(quote=counterpart.quote, label=_of(names[1], counterpart.column)),
            )


def _of(name: str, column: str) -> str:
    return f"{name}, {shortened(column, MAX_NAME)}" if column else name


def _by_name(hits: Iterable[Hit]) -> dict[tuple[str, str, int], _Cell]:
    """Return the cells with figures by row, column and the place among columns that differ in dates alone.

    A name that cells with different figures have is no name.
    """
    cells, doubtful = dict[tuple[str, str, int], _Cell](), set[tuple[str, str, int]]()
    for hit in hits:
        table = table_of(hit.chunk)
        for row in table.rows if table else ():
            places = Counter[str]()
            for cell in row.cells:
                column = frame_of(cell.head)
                if not _FIGURE.search(cell.text) or not cell.label or cell.span == row.cells[0].span:
                    continue
                if not column and _SMALL.fullmatch(cell.text):  # the number of a page in a table of contents
                    continue
                name = frame_of(" ".join(cell.label)), column, places[column]
                places[column] += 1
                new = _Cell(quote=Quote(hit=hit, span=cell.span), row=" ".join(cell.label), column=cell.head)
                if name in cells and cells[name].quote.text != new.quote.text:
                    doubtful.add(name)
                cells.setdefault(name, new)
    return {name: cell for name, cell in cells.items() if name not in doubtful and name[0].strip("# ")}
