"""Headings of a PDF: the bookmarks of its outline, and lines whose font, number or place sets them apart.

What is usual in the document decides: a style, which is a size and a weight, makes headings if it is not that of the
text and most of its words stand in short lines of their own. Sizes and section numbers give the levels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from ragstone.acquire.readers.pdf.layout import Block
from ragstone.acquire.readers.pdf.words import Line
from ragstone.acquire.readers.tables.figures import is_value
from ragstone.language import lexicon
from ragstone.language.units import is_unit_line
from ragstone.language.words import any_of

Outline = Mapping[int, Mapping[str, int]]
"""The level of each bookmark, by page and by the letters and digits of its title."""
Style = tuple[float, int]
"""The size of a font in points, rounded to halves, and its weight: 2 for bold, 1 for italic."""

Kind = tuple[Style, str]
"""A style, and how its lines are set apart: numbered, in capitals, or by the style alone."""

_SMALL_CAPITALS, _TITLE, _LARGE = 0.25, 0.1, 18.0
"""How much the sizes of the lines of one heading differ, at most: in capitals, and above a size in points."""
_INDENT = 12.0
_LARGER = 1.08
_SMALLER = 0.9
_MOST_LINES = 4
_LONGEST = 200
_LONGEST_SAME_SIZE = 120
_FEWEST_LETTERS = 0.5
_SHARE_OF_STYLE = 0.5
"""Share of the words of a style that must stand in candidates."""
_BOLD = 2
_FULL = 0.85
"""A line that reaches so far into the width of its paragraph does not end it."""
_SLIDE = 15.0
"""The usual size of the text on slides is at least this."""
_CONTENTS = 4
"""A page with so many lines that end in a page number lists contents."""
_SHORTEST = 5
_PARAGRAPH = 3
"""Lines of a paragraph of text at least."""
_DEEPEST = 6
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d])")
_BULLET = re.compile(r"[•◦▪■□●○–—*✓➢\-]\s|[\uf000-\uf0ff]|\(?[a-z\d]{1,2}\)\s")
_ADDRESS = re.compile(r"\w@\w|https?:|www\.")
_FORMULA = re.compile(r"[<>{}\U0001d400-\U0001d7ff∑∫√≤≥∈]|\S\s?=\s?\S")
_ENDS_IN_NUMBER = re.compile(r"[\W\d]*[^\W\d].*[\s.…](\d{1,3}|[ivx]{1,5})")


@dataclass(slots=True)
class _Run:
    """Lines of one style that follow one another in a paragraph, as lines ``start`` to ``end`` of a block."""

    block: Block
    start: int
    end: int
    level: int = 0

    @property
    def lines(self) -> Sequence[Line]:
        return self.block.lines[self.start : self.end]

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)

    @property
    def style(self) -> Style:
        return _style(self.lines[0])

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.end == len(self.block.lines)


def with_headings(pages: Sequence[Sequence[Block]], outline: Outline) -> list[list[Block]]:
    """Return the blocks of each page with headings as blocks of their own."""
    body = _body(pages)
    runs = [[*_runs(blocks)] for blocks in pages]
    bookmarked = [_bookmarked(own, outline.get(number, {})) for number, own in enumerate(runs)]
    likely = [[run for run in own if not run.level and _may_head(run, body)] for own in bookmarked]
    rows = {id(run) for own, blocks in zip(likely, pages, strict=True) for run in own if _is_row(blocks, run)}
    candidates = [[run for run in own if id(run) not in rows] for own in likely]
    if body[0] >= _SLIDE:
        candidates = [
            _of_slide(own, blocks, known) for own, blocks, known in zip(candidates, pages, bookmarked, strict=True)
        ]
    if candidates:
        later = {run.style for own in candidates[1:] for run in own}
        later |= {run.style for own in bookmarked for run in own if run.level}
        candidates[0] = _without_front(pages[0], candidates[0], later, body)
    for number in {0, len(pages) - 1} if len(pages) > _PARAGRAPH else ():
        candidates[number] = _of_cover(pages[number], candidates[number], body)
    others = [[run for run in own if id(run) not in rows] for own in bookmarked]
    accepted = _accepted(others, candidates, body)
    chosen = [run for own in candidates for run in own if _kind(run, body) in accepted]
    _set_levels([run for own in bookmarked for run in own if run.level], chosen)
    found = {id(run.block): list[_Run]() for own in bookmarked for run in own}
    for run in (run for own in bookmarked for run in own if run.level):
        found[id(run.block)].append(run)
    return [[part for block in blocks for part in _divided(block, found.get(id(block), ()))] for blocks in pages]


def _style(line: Line) -> Style:
    return round(line.size * 2) / 2, 2 if line.bold else int(line.italic)


def _body(pages: Sequence[Sequence[Block]]) -> Style:
    """Return the style of most of the words outside of tables."""
    letters: Counter[Style] = Counter()
    for blocks in pages:
        for block in blocks:
            for line in () if block.cells else block.lines:
                letters[_style(line)] += len(line.text)
    return letters.most_common(1)[0][0] if letters else (0.0, 0)


def _runs(blocks: Sequence[Block]) -> Iterator[_Run]:
    edges: dict[int, float] = {}
    for line in (line for block in blocks for line in block.lines):
        edges[_indent(line)] = max(edges.get(_indent(line), 0.0), line.right)
    for block in blocks:
        start = 0
        for number in range(1, len(block.lines) + 1) if not block.cells else ():
            above = block.lines[number - 1]
            if number == len(block.lines) or not _continues(above, block.lines[number], edges[_indent(above)]):
                yield _Run(block, start, number)
                start = number


def _indent(line: Line) -> int:
    return round(line.left / _INDENT)


def _continues(line: Line, below: Line, edge: float) -> bool:
    """Return whether two lines have one style and may be one heading: the second has no room on the first.

    Small capitals have two sizes, and so may the lines of a large title. Centred lines break where the author likes.
    """
    (size, weight), (other, other_weight) = _style(line), _style(below)
    loose = _SMALL_CAPITALS if line.text.isupper() and below.text.isupper() else _TITLE if size > _LARGE else 0.0
    if weight != other_weight or abs(size - other) > loose * max(size, other) or _lettered().match(below.text):
        return False
    centred = abs(line.left + line.right - below.left - below.right) < line.height and line.left != below.left
    first = below.words[0]
    hanging = below.left > line.left + line.height and bool(_lettered().match(line.text))
    return centred or hanging or line.right + line.height / 4 + first.right - first.left > edge - line.height


# ---------------------------------------------------------------- bookmarks


def _bookmarked(runs: Sequence[_Run], titles: Mapping[str, int]) -> list[_Run]:
    """Return the runs of a page, those that are bookmarks with their levels. A bookmark may be a part of a run."""
    out: list[_Run] = []
    for run in runs if titles else ():
        at = start = run.start
        while at < run.end:
            joined = ""
            for end in range(at + 1, min(run.end, at + _MOST_LINES) + 1):
                joined += plain(run.block.lines[end - 1].text)
                if (level := titles.get(joined)) is not None:
                    if at > start:
                        out.append(_Run(run.block, start, at))
                    out.append(_Run(run.block, at, end, level))
                    at = start = end
                    break
            else:
                at += 1
        if start < run.end:
            out.append(_Run(run.block, start, run.end))
    return out if titles else [*runs]


def plain(text: str) -> str:
    """Return the letters and digits of a title, in lower case: bookmarks and pages differ in spaces and signs."""
    return "".join(one for one in text.casefold() if one.isalnum())


# ---------------------------------------------------------------- fonts and places


def _may_head(run: _Run, body: Style) -> bool:
    """Return whether a run is set apart as headings are, and is worded as they are."""
    text, (size, weight) = run.text, run.style
    numbered = bool(_NUMBERED.match(text) or _lettered().match(text))
    if size <= _LARGER * body[0]:
        if size < _SMALLER * body[0] or _runs_on(run):
            return False
        apart = run.is_whole and len(run.lines) <= 2
        heavier = weight == _BOLD and body[1] < _BOLD
        leaning = weight == 1 and body[1] == 0 and _begins(run) and len(run.lines) == 1 and _is_title(text)
        set_apart = apart and (
            (text.isupper() and _is_words(text)) or (bool(_lettered().match(text)) and _is_title(text))
        )
        if not (heavier or leaning or set_apart):
            return False
    return _is_worded(run, text, larger=size > _LARGER * body[0], numbered=numbered)


def _begins(run: _Run) -> bool:
    """Return whether the line before a run ends early or is far away, or there is none."""
    if run.start == 0:
        return True
    above, line, block = run.block.lines[run.start - 1], run.lines[0], run.block
    ends = above.right < block.left + _FULL * (block.right - block.left)
    return ends or above.bottom - line.top > line.height / 2


def _is_words(text: str) -> bool:
    """Return whether a line in capitals is no code and no name of a thing."""
    words = "".join(one for one in text if one not in " -&.,:/’'()")
    return words.isalpha() and len(words) > _SHORTEST


def _runs_on(run: _Run) -> bool:
    """Return whether a run is the beginning of a sentence that goes on in another face."""
    if run.end == len(run.block.lines):
        return False
    last, below, block = run.lines[-1], run.block.lines[run.end], run.block
    return last.right > block.left + _FULL * (block.right - block.left) and not below.text[:1].isupper()


def _is_worded(run: _Run, text: str, *, larger: bool, numbered: bool) -> bool:
    letters = sum(one.isalpha() for one in text)
    if letters < 2 or letters < _FEWEST_LETTERS * len(text.replace(" ", "")):
        return False
    if len(run.lines) > _MOST_LINES or len(text) > (_LONGEST if larger else _LONGEST_SAME_SIZE):
        return False
    if any(len(line.cells) > 1 for line in run.lines) and not numbered:
        return False
    if _BULLET.match(text) or _caption().match(text) or _ADDRESS.search(text) or is_value(text) or is_unit_line(text):
        return False
    if text[-1] in ",;" or (text[-1] == "." and not (numbered and len(text) < _LONGEST_SAME_SIZE / 2)):
        return False
    return not text[0].islower() and not _FORMULA.search(text)


def _is_title(text: str) -> bool:
    """Return whether a numbered line is no sentence and no item of a list."""
    return len(text) <= _LONGEST_SAME_SIZE / 2 and text[-1] not in ".:;," and text.count(" ") <= 8


def _is_row(blocks: Sequence[Block], run: _Run) -> bool:
    """Return whether a run is a row of a list of contents, or the label of figures beside it."""
    if _labels_figures(blocks, run):
        return True
    if not _ENDS_IN_NUMBER.fullmatch(run.text):
        return False
    ending = sum(bool(_ENDS_IN_NUMBER.fullmatch(line.text)) for block in blocks for line in block.lines)
    return ending >= _CONTENTS


def _of_slide(candidates: Sequence[_Run], blocks: Sequence[Block], known: Sequence[_Run]) -> list[_Run]:
    """Return the largest of the candidates on a slide, if it is larger than the rest; none beside a bookmark."""
    if not candidates or any(run.level for run in known):
        return []
    best = max(candidates, key=lambda run: (run.style, run.lines[0].top))
    others = [line for block in blocks for line in block.lines if line not in best.lines]
    return [best] if all(_style(line) <= best.style for line in others) else []


def _accepted(runs: Sequence[Sequence[_Run]], candidates: Sequence[Sequence[_Run]], body: Style) -> set[Kind]:
    """Return the kinds of runs that are headings: most of their words stand in candidates.

    The style of the text makes headings only of what stands apart, in capitals or numbered, and only if it does so
    twice.
    """
    all_words: Counter[Kind] = Counter()
    own_words: Counter[Kind] = Counter()
    for run in (run for own in runs for run in own if not run.level):
        all_words[_kind(run, body)] += min(len(run.text), _LONGEST)
    for run in (run for own in candidates for run in own):
        own_words[_kind(run, body)] += min(len(run.text), _LONGEST)
    found = {kind for kind, count in own_words.items() if count >= _SHARE_OF_STYLE * all_words[kind]}
    same = sum(run.style == body for own in candidates for run in own)
    return {kind for kind in found if kind[0] != body or same > 1}


def _kind(run: _Run, body: Style) -> Kind:
    """Return the kind of a run: larger and bold words are set apart by their style, others may be in other ways."""
    size, weight = run.style
    if size > _LARGER * body[0] or weight == _BOLD:
        return run.style, ""
    return run.style, "numbered" if _lettered().match(run.text) else "capitals" if run.text.isupper() else ""


def _of_cover(blocks: Sequence[Block], candidates: Sequence[_Run], body: Style) -> list[_Run]:
    """Return the candidates of the first or last page: only the largest if it has no text, like a cover."""
    if any(block.cells or (len(block.lines) >= _PARAGRAPH and _style(block.lines[0]) == body) for block in blocks):
        return [*candidates]
    largest = max((run.style for run in candidates), default=body)
    return [run for run in candidates if run.style == largest]


def _labels_figures(blocks: Sequence[Block], run: _Run) -> bool:
    """Return whether figures, or other bold words, stand in a line with a run, as in the rows of a table."""
    first = run.lines[0]
    return any(
        min(line.top, first.top) - max(line.bottom, first.bottom) > first.height / 2
        and ((bold and line is not first) or (line.left > first.right and is_value(line.words[0].text)))
        for block in blocks
        for line in block.lines
        if (bold := line.bold and first.bold and _style(line) == _style(first)) or is_value(line.words[0].text)
    )


def _without_front(blocks: Sequence[Block], candidates: Sequence[_Run], later: set[Style], body: Style) -> list[_Run]:
    """Return the candidates of the first page without names and places between the title and the text.

    Above the first paragraph of text, only the largest words and what looks like headings further on are kept.
    """
    front: list[int] = []
    for block in blocks:
        if len(block.lines) >= _PARAGRAPH and _style(block.lines[0]) == body:
            break
        front.append(id(block))
    above = [run for run in candidates if id(run.block) in front]
    below = {run.style for run in candidates if id(run.block) not in front} | later
    largest = max((run.style for run in above), default=body)
    return [run for run in candidates if id(run.block) not in front or run.style in below or run.style == largest]


# ---------------------------------------------------------------- levels


def _set_levels(bookmarks: Sequence[_Run], chosen: Sequence[_Run]) -> None:
    """Give levels to the chosen runs: as bookmarks of their style have, as their numbers say, or by their sizes."""
    bookmarked: dict[Style, Counter[int]] = {}
    for run in bookmarks:
        bookmarked.setdefault(run.style, Counter())[run.level] += 1
    levels = {style: counted.most_common(1)[0][0] for style, counted in bookmarked.items()}
    counts = Counter(run.style for run in chosen)
    above, last = 0, 0.0
    for style in sorted({*bookmarked, *counts}, reverse=True):
        if style not in levels:
            # What occurs once, such as the title, makes no level of its own, and neither does a slightly smaller font.
            same = above > 0 and (counts[style] == 1 or last - style[0] < 0.75)
            levels[style] = max(above, 1) if same or counts[style] == 1 else min(above + 1, _DEEPEST)
        if style in bookmarked or counts[style] > 1:
            above, last = levels[style], style[0]
    tops = Counter(levels[run.style] for run in chosen if _depth(run.text) == 1)
    first = tops.most_common(1)[0][0] if tops else 1
    for run in chosen:
        depth = _depth(run.text)
        run.level = min(first + depth - 1, _DEEPEST) if depth and run.style not in bookmarked else levels[run.style]


def _depth(text: str) -> int:
    """Return how deep a section number is: 2 for "3.1"; 0 if there is none."""
    found = _NUMBERED.match(text)
    return found[1].count(".") + 1 if found else 0


def _divided(block: Block, headings: Sequence[_Run]) -> Iterator[Block]:
    """Yield a paragraph in parts: each heading, and what stands between them."""
    if not headings:
        yield block
        return
    ends = [0, *(at for run in sorted(headings, key=lambda one: one.start) for at in (run.start, run.end))]
    levels = {run.start: run.level for run in headings}
    for start, end in pairwise([*ends, len(block.lines)]):
        if start < end:
            yield Block(block.lines[start:end], level=levels.get(start, 0))


@cache
def _lettered() -> re.Pattern[str]:
    """Return a pattern of the beginning of a heading with a number of several parts, a letter, or a word before it."""
    sections = any_of(lexicon().layout["sections"])
    return re.compile(
        rf"(?:[IVX]{{1,6}}|[A-H])\.\s+\S|\d{{1,2}}(?:\.\d{{1,2}}){{1,4}}\.?\s+[^\W\d]|(?:{sections})\s+[\dIVXA-H]",
        re.IGNORECASE,
    )


@cache
def _caption() -> re.Pattern[str]:
    return re.compile(rf"(?:{any_of(lexicon().layout['captions'])})\.?\s*\d", re.IGNORECASE)
