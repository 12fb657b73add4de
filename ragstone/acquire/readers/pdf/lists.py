"""Lists of a PDF: lines that begin with a bullet, or with numbers that count.

A bullet makes an item by itself. A dash does only with another one below it, and a number or a letter only with the
next one: a line may begin with a dash, a year or an initial for other reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ragstone.acquire.readers.pdf.layout import Block
from ragstone.acquire.readers.pdf.words import BULLET, Line
from ragstone.core.frozen import frozen

_SHOWN = "•‣◦▪●·–*-"
"""Marks that are written as they are. Others become the first of them."""
_NUMBER = re.compile(r"([(\[]?)(\d{1,2}|[a-z]|[A-Z]|[ivx]{2,4})([.)\]])(?=\S|$)")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_SHIFT = 0.7
"""How far the marks of one list may stand apart across, in heights of a line; a nested item is further in."""
_DEEPEST = 5
_MOST_BETWEEN = 12
"""Lines of an item below its first at most."""
_ENDS = (".", "!", "?", ":", ";")


@frozen
class _Mark:
    """How a line begins: with a bullet, or with a number of a style such as ``("(", "a", ")")``."""

    text: str
    style: tuple[str, str, str]
    value: int
    is_sure: bool
    rest: Line


@dataclass(slots=True, kw_only=True)
class _Place:
    """A line of the text outside of headings and tables, and where it stands; ``section`` counts what interrupts lists.

    ``begins`` says that it begins a block, ``roomy`` that the line above it in its block had room for its first word.
    """

    page: int
    block: int
    line: Line
    section: int
    begins: bool
    roomy: bool
    mark: _Mark | None = None
    accepted: bool = False
    depth: int = 0


@dataclass(slots=True)
class _Open:
    """The items that the next line may go on with, from the outermost one inwards."""

    items: list[_Place] = field(default_factory=list[_Place])


def with_lists(pages: Sequence[Sequence[Block]]) -> list[list[Block]]:
    """Return the blocks of each page with the items of lists as blocks of their own."""
    places = [*_places(pages)]
    _accept_counted(places)
    _accept_bullets(places)
    if not any(place.accepted for place in places):
        return [[*blocks] for blocks in pages]
    _set_depths(places)
    by_block: dict[tuple[int, int], list[_Place]] = {}
    for place in places:
        by_block.setdefault((place.page, place.block), []).append(place)
    out: list[list[Block]] = []
    last: _Place | None = None
    for page, blocks in enumerate(pages):
        own: list[Block] = []
        for number, block in enumerate(blocks):
            inside = by_block.get((page, number))
            if inside is None:
                own.append(block)
                last = None
                continue
            parts, last = _divided(inside, last)
            own += parts
        out.append(own)
    return out


# ---------------------------------------------------------------- what may be an item


def _places(pages: Sequence[Sequence[Block]]) -> Iterator[_Place]:
    section = 0
    for page, blocks in enumerate(pages):
        for number, block in enumerate(blocks):
            if block.cells or block.level or not block.lines:
                section += 1
                continue
            edge = max(line.right for line in block.lines)
            above: Line | None = None
            for line in block.lines:
                first = line.words[0]
                roomy = above is not None and above.right + line.height / 4 + first.right - first.left < edge
                yield _Place(
                    page=page,
                    block=number,
                    line=line,
                    section=section,
                    begins=above is None,
                    roomy=roomy,
                    mark=_mark(line),
                )
                above = line


def _mark(line: Line) -> _Mark | None:
    first, rest = line.words[0], line.words[1:]
    if bullet := BULLET.match(first.text):
        after = first.text[bullet.end() :]
        words = [replace(first, text=after), *rest] if after else rest
        # Bullets between the words of a line divide them.
        if not words or (after and not bullet["sure"]) or any(bullet[0] in word.text for word in words):
            return None
        shown = bullet[0] if bullet[0] in _SHOWN else _SHOWN[0]
        style = ("", bullet[0], "")
        return _Mark(text=shown, style=style, value=0, is_sure=bool(bullet["sure"]), rest=replace(line, words=words))
    number = _NUMBER.match(first.text)
    if number is None or (number.end() == len(first.text) and not rest):
        return None
    opening, counted, closing = number.groups()
    if number.end() < len(first.text) and closing == ".":
        return None  # "3.2", "e.g."
    after = first.text[number.end() :]
    words = [replace(first, text=after), *rest] if after else rest
    style, value = _counted(counted)
    if not value:
        return None
    return _Mark(
        text=number[0], style=(opening, style, closing), value=value, is_sure=False, rest=replace(line, words=words)
    )


def _counted(written: str) -> tuple[str, int]:
    """Return the style of a number, and its value; 0 if it has none."""
    if written.isdigit():
        return "1", int(written)
    if len(written) > 1:
        return "i", _ROMAN.index(written) + 1 if written in _ROMAN else 0
    return ("a", ord(written) - ord("a") + 1) if written.islower() else ("A", ord(written) - ord("A") + 1)


# ---------------------------------------------------------------- what is one


def _accept_counted(places: Sequence[_Place]) -> None:
    """Accept the items whose numbers count from 1 on, with nothing between two of them but what belongs to an item."""
    for number, place in enumerate(places):
        if place.mark is None or place.mark.value != 1 or place.accepted:
            continue
        chain = [place]
        while (after := _next(places, number, chain[-1])) is not None:
            number = after
            chain.append(places[after])
        if len(chain) > 1:
            for one in chain:
                one.accepted = True


def _next(places: Sequence[_Place], number: int, item: _Place) -> int | None:
    """Return the number of the place that has the next number of a list; None if there is none."""
    mark = item.mark
    if mark is None:
        return None
    outside = 0
    for at in range(number + 1, len(places)):
        other = places[at]
        if other.section != item.section:
            return None
        moved = other.page != item.page or other.line.top > item.line.top
        level = abs(other.line.left - item.line.left) <= _SHIFT * item.line.height
        if other.mark is not None and other.mark.style == mark.style and other.mark.value == mark.value + 1:
            return at if level or moved else None
        deeper = moved or other.line.left > item.line.left + _SHIFT * item.line.height
        if other.begins and not deeper and other.mark is None:
            return None
        outside += other.mark is None
        if outside > _MOST_BETWEEN:
            return None
    return None


def _accept_bullets(places: Sequence[_Place]) -> None:
    """Accept all bullets, and dashes that have a fellow right above or below them."""
    before: _Place | None = None
    for place in places:
        mark = place.mark
        if mark is None or mark.value:
            if place.begins and (before is None or place.line.left <= before.line.left):
                before = None
            continue
        if mark.is_sure:
            place.accepted = True
        elif (
            before is not None
            and before.mark is not None
            and before.mark.style == mark.style
            and before.section == place.section
            and abs(before.line.left - place.line.left) <= _SHIFT * place.line.height
        ):
            place.accepted = before.accepted = True
        before = place


def _set_depths(places: Sequence[_Place]) -> None:
    """Set how deep each item is nested, by how far its mark is in, and by its mark on another page or in a column."""
    opened = _Open()
    for place in places:
        if not place.accepted or place.mark is None:
            continue
        items = opened.items
        if items and items[-1].section != place.section:
            items.clear()
        same = [one for one in items if one.mark is not None and one.mark.style == place.mark.style]
        shift = _SHIFT * place.line.height
        if same and (same[-1].page != place.page or place.line.top > same[-1].line.top):
            del items[items.index(same[-1]) :]
        else:
            while items and items[-1].line.left > place.line.left - shift:
                items.pop()
        place.depth = min(len(items), _DEEPEST)
        items.append(place)


# ---------------------------------------------------------------- its lines


def _divided(lines: Sequence[_Place], last: _Place | None) -> tuple[list[Block], _Place | None]:
    """Return the lines of a paragraph as items and what stands between them, and the item that is open at its end.

    Args:
        lines: the lines.
        last: the item that was open before.
    """
    parts: list[Block] = []
    plain: list[Line] = []
    item: list[Line] = []
    head, opened = last, False

    def close() -> None:
        if item and head is not None and head.mark is not None:
            mark = f"{'  ' * head.depth}{head.mark.text}" if opened else ""
            parts.append(Block([*item], item=mark, goes_on=not opened))
        if plain:
            parts.append(Block([*plain]))
        item.clear()
        plain.clear()

    for place in lines:
        if place.accepted and place.mark is not None:
            close()
            head, opened = place, True
            item.append(place.mark.rest)
        elif head is not None and _belongs(head, place, started=bool(item)):
            if not item:
                opened = False
            item.append(place.line)
        else:
            if item:
                close()
            head = None
            plain.append(place.line)
    ended = head if item else None
    close()
    return parts, ended


def _belongs(item: _Place, place: _Place, *, started: bool) -> bool:
    """Return whether a line goes on with an item.

    Args:
        item: the first line of the item.
        place: the line.
        started: whether the line above it belongs to the item, too.
    """
    if item.mark is None:
        return False
    text = item.mark.rest.left
    if started:
        if place.line.left >= text - _SHIFT * place.line.height:
            return True
        return not place.roomy and place.line.left >= item.line.left - _SHIFT * place.line.height
    # The end of an item that the page divides.
    first = place.line.words[0].text
    level = abs(place.line.left - text) <= 2 * place.line.height
    return place.page == item.page + 1 and place.begins and level and first[:1].islower()
