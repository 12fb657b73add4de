"""The citation marks that language models write, in whatever form, and the sources they name.

Models are asked for ``[1]`` and write ``[1, 3]``, ``【1†source】``, ``[^1]``, ``(Source 1)``, ``<sup>1</sup>``,
``[citation:1]`` or the title of the source in brackets. All of these are read and taken out of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from ragstone.core.frozen import frozen
from ragstone.language import lexicon
from ragstone.language.words import any_of

_RANGE = re.compile(r"(\d{1,2})\s*[-–]\s*(\d{1,2})")
_NUMBER = re.compile(r"(?<![\d†:])\d{1,2}(?!\d)")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DETAIL = re.compile(r"[:†][^\]】),;&]*")


@cache
def _word() -> str:
    """Return the pattern of a word before a number. It reads the words of all languages, which takes long."""
    return rf"(?:(?:web|tool|the)\s+)?(?:{any_of(lexicon().layout['cited'])}|s)"


@cache
def _label() -> re.Pattern[str]:
    return re.compile(rf"{_word()}\s*[:#.]\s*", re.IGNORECASE)


@cache
def _mark() -> re.Pattern[str]:
    """Return the pattern of a mark. It takes long to compile, and only replies of models need it."""
    word, either, refer = _word(), any_of(lexicon().either), any_of(lexicon().layout["see"])
    one = rf"(?:{word}\s*[:#.]?\s*)?[#^]?\d{{1,2}}(?:[:†][^\]】)\n]{{0,60}})?"
    many = rf"{one}(?:\s*(?:[,;&/]|{either}|[-–])\s*{one})*"
    square = rf"\^?(?:\[{{1,2}}|【|〔|［)\s*\^?{many}\s*(?:\]{{1,2}}|】|〕|］)(?!\()"
    see = rf"(?:(?:{word}|{refer})\s*[:.]?\s*)?"
    return re.compile(
        r"(?P<code>`[^`\n]+`)|"
        rf"(?<!\s)[ \t]*\({see}(?P<nested>{square}(?:\s*(?:[,;&]|{either})?\s*{square})*)\)|"
        rf"(?:(?<!\s)\s*)?(?P<square>{square})|"
        rf"(?<!\s)[ \t]*\((?P<round>(?:(?:{refer})\.?\s+)?{word}\s*[:#.]?\s*{many}|"
        r"\d{1,2}(?:\s*[,;]\s*\d{1,2})*)\)"
        r"(?=[.!?,;:]*(?:\s|$))|"
        r"(?<!\s)[ \t]*<(?P<tag>sup|cite|ref)>\s*\[?(?P<tagged>\d{1,2}(?:\s*[,;]\s*\d{1,2})*)\]?\s*</(?P=tag)>|"
        r"(?<=[.!?,;:)\"”])(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})(?=\s|$)|"
        r"(?:(?<!\s)[ \t]*)?\[(?P<name>[^\]\[\n]{2,120})\](?!\()",
        re.IGNORECASE,
    )


@frozen
class Marked:
    """A mark, characters ``start`` to ``end`` of a text with the space before it, and the sources that it names."""

    start: int
    end: int
    sources: tuple[int, ...]


class Marks:
    """Finds the marks in a reply that was written from numbered sources."""

    def __init__(self, titles: Sequence[str]) -> None:
        """Take the titles of the sources, in the order of their numbers."""
        self._count = len(titles)
        self._named = {_plain(title): number for number, title in reversed([*enumerate(titles, start=1)]) if title}

    def find(self, text: str) -> Iterator[Marked]:
        """Yield the marks of a text, in order. Numbers in code are none, nor is "(1)" if there is no source 1."""
        for match in _mark().finditer(text):
            if match["code"]:
                continue
            sources = self._sources(match)
            if sources is not None:
                yield Marked(start=match.start(), end=match.end(), sources=sources)

    def _sources(self, match: re.Match[str]) -> tuple[int, ...] | None:
        """Return the numbers of a mark; None if this is not a mark."""
        if match["name"]:
            number = self._named.get(_plain(match["name"]))
            return None if number is None else (number,)
        if square := match["nested"] or match["square"]:
            return _numbers(square)
        numbers = _numbers(match["round"] or match["tagged"] or match["raised"].translate(_RAISED))
        return numbers if all(0 < one <= self._count for one in numbers) else None


def _numbers(text: str) -> tuple[int, ...]:
    plain = _DETAIL.sub("", _label().sub("", text))
    for first, last in _RANGE.findall(plain):
        plain += "".join(f" {n}" for n in range(int(first) + 1, int(last)))
    return tuple(sorted(dict.fromkeys(map(int, _NUMBER.findall(plain)))))


def _plain(title: str) -> str:
    """Return a title for comparison: in lower case, without white space at its ends and the ending of a file."""
    return re.sub(r"\.[a-z0-9]{1,5}$", "", " ".join(title.split()).casefold())
