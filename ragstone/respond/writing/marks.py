"""The citation marks that language models write, in whatever form, and the sources they name.

Models are asked for ``[1]`` and write ``[1, 3]``, ``【1†source】``, ``[^1]``, ``(Source 1)``, ``<sup>1</sup>``,
``[citation:1]`` or the title of the source in brackets. All of these are read and taken out of the text. Where one is a
word of its sentence (`mark_words`), the title of its source takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from ragstone.core.frozen import frozen
from ragstone.core.span import Span, line_start
from ragstone.language import lexicon
from ragstone.language.words import any_of
from ragstone.respond.writing.mark_words import are_words, groups, is_settled

_RANGE = re.compile(r"(\d{1,2})\s*[-–]\s*(\d{1,2})")
_NUMBER = re.compile(r"(?<![\d†:])\d{1,2}(?!\d)")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DETAIL = re.compile(r"[:†][^\]】),;&]*")
_CLOSES = re.compile(r"[\])}】〕］>\d⁰¹²³⁴⁵⁶⁷⁸⁹]")
"""What every mark ends with."""
_NO_TITLE = re.compile(r"[\s\[\]|`*<>]+")
_QUOTES = re.compile(r"[\"“”„«»]")
_LAST_WORD = re.compile(
    r"(?:(?<!\s)[ \t]+|(?<!\w))(?P<word>[^\W\d_]{1,12})(?P<behind>\s*(?:\d{1,2}|\[[^\]\n]{0,60})?)\Z"
)
"""A word at the end that may begin a mark, such as "source"."""
_WITH_WORD = re.compile(r"\A.*(?<!\S)(?=\S+\s*\S+\Z)", re.DOTALL)
"""What stands before the last word and the mark behind it."""
_ENDS = re.compile(r"[.!?;)]|\s*\Z")
_FOOTNOTE = re.compile(r"[ \t]*:?[ \t]*")
_DOUBLED = re.compile(r"[.!?…]\.(?!\.)")
"""A full stop behind a mark that stands behind one."""
_PARTS = re.compile(r"\s*[,;|]\s*")
_LONGEST_TITLE = 80
"""Characters of a title within a sentence; a longer one is cut."""


@cache
def _word() -> str:
    """Return the pattern of a word before a number. It reads the words of all languages, which takes long."""
    return rf"(?:(?:web|tool|the)\s+)?(?:{any_of(lexicon().layout['cited'])}|s)"


@cache
def _page() -> str:
    """Return the pattern of a page or section behind the number of a source."""
    parts = any_of((*lexicon().layout["pages"], *lexicon().layout["sections"], "S.", "pp.", "line", "lines"))
    return rf"\s*,?\s+(?:{parts})\s*\d[\d.]*(?:\s*[-–]\s*\d+)?"


@cache
def _label() -> re.Pattern[str]:
    return re.compile(rf"{_word()}\s*[:#.]\s*", re.IGNORECASE)


@cache
def _named() -> re.Pattern[str]:
    """Return a pattern of the beginning of a mark that names its source, known or not: "source:"."""
    return re.compile(rf"(?:{any_of(lexicon().layout['sources'])})\s*:", re.IGNORECASE)


@cache
def named_in_parentheses() -> re.Pattern[str]:
    """Return a pattern of a source that parentheses name, known or not: "(Source: the minutes)"."""
    see, called = any_of(lexicon().layout["see"]), any_of(lexicon().layout["sources"])
    return re.compile(rf"[ \t]*\((?:{see})?\.?[ \t]*(?:{called})(?:\s*:[^()\n]*)?\)", re.IGNORECASE)


@cache
def _numbered() -> re.Pattern[str]:
    """Return a pattern of the beginning of a mark that has a number and more: "source 1 - the minutes"."""
    return re.compile(rf"(?:{any_of(lexicon().layout['sources'])})\s*(\d{{1,2}})\s*[^\d\s]", re.IGNORECASE)


@cache
def _page_of() -> re.Pattern[str]:
    return re.compile(_page(), re.IGNORECASE)


@cache
def _before_title() -> re.Pattern[str]:
    """Return a pattern of what stands before a title: "source:", "see source"."""
    refer = any_of(lexicon().layout["see"])
    return re.compile(rf"(?:(?:{refer})\.?\s+)?(?:{_word()}(?:\s+\d{{1,2}})?\s*[:#.,–-]?\s+)?", re.IGNORECASE)


@cache
def _mark() -> re.Pattern[str]:
    """Return the pattern of a mark. It takes long to compile, and only replies of models need it."""
    word, either, refer = _word(), any_of(lexicon().either), any_of(lexicon().layout["see"])
    one = rf"(?:{word}\s*[:#.]?\s*)?[#^]?\d{{1,2}}(?:[:†][^\]】)\n]{{0,60}}|{_page()})?"
    many = rf"{one}(?:\s*(?:[,;&/]|{either}|[-–])\s*{one})*"
    square = rf"\^?(?:\[{{1,2}}|【|〔|［)\s*\^?{many}\s*(?:\]{{1,2}}|】|〕|］)(?!\()\^?"
    called = any_of(lexicon().layout["sources"])
    see = rf"(?:(?:{word}|{refer})\s*[:.]?\s*)?"
    return re.compile(
        r"(?P<code>`[^`\n]+`)|"
        rf"(?<!\s)[ \t]*\({see}(?P<nested>{square}(?:\s*(?:[,;&]|{either})?\s*{square})*)\)|"
        rf"(?:(?<!\s)[ \t]+(?:{called})(?=[ \t]+\[))?(?:(?<!\s)\s*)?(?P<square>{square})|"
        rf"(?:(?:(?<!\s)\s*)?\((?P<labelled>(?:(?:{refer})\.?\s+)?{word}\s*[:#.]?\s*{many})\)|"
        r"(?<!\s)[ \t]*(?:\((?P<round>\d{1,2}(?:\s*[,;]\s*\d{1,2})*)\)|"
        rf"\{{(?P<curly>{many})\}}))"
        r"(?=[.!?,;:]*(?:\s|$))|"
        rf"(?<!\s)[ \t]*\((?:(?:{refer})\.?\s+)?{word}\s*[:#.]?\s*\[?(?P<titled>[^\[\]()\n]{{2,120}})\]?\)|"
        rf"(?:(?<!\s)[ \t]+)?(?<!\w)(?P<plain>(?:{called})[ \t]+\d{{1,2}})(?![\w.,:]\w)|"
        r"(?<!\s)[ \t]*<(?P<tag>sup|cite|ref)>\s*\[?(?P<tagged>\d{1,2}(?:\s*[,;]\s*\d{1,2})*)\]?\s*</(?P=tag)>|"
        r"(?<=[.!?,;:)\"”])(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})(?=\s|$)|"
        r"(?:(?<!\s)[ \t]*)?\[(?P<name>[^\]\[\n]{2,120})\](?!\()",
        re.IGNORECASE,
    )


Found = tuple[re.Match[str], tuple[int, ...]]
"""A mark and the sources that it names."""


@frozen
class Marked:
    """A mark, characters ``start`` to ``end`` of a text with the space before it, and the sources that it names.

    ``title`` takes its place if it is a word of its sentence.
    """

    start: int
    end: int
    sources: tuple[int, ...]
    title: str = ""


class Marks:
    """Finds the marks in a reply that was written from numbered sources."""

    def __init__(
        self,
        titles: Sequence[str],
        titled: str = "“{title}”",
        *,
        files: Sequence[str] = (),
        is_said: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Take what the sources are.

        Args:
            titles: of the sources, in the order of their numbers.
            titled: how a sentence shows a title.
            files: the names of their files.
            is_said: whether a source has these words, which then are no mark if they could be one.
        """
        self._count = len(titles)
        self._shown = [titled.format(title=_in_words(title)) for title in titles]
        names = [*enumerate(titles, start=1), *enumerate(files, start=1)]
        self._named = {_plain(name): number for number, name in reversed(names) if name}
        self._is_said = is_said

    def find(self, text: str, before: str = "") -> Iterator[Marked]:
        """Yield the marks of a text, in order. Numbers in code are none, nor is "(1)" if there is no source 1.

        Args:
            text: of the reply.
            before: what precedes it.
        """
        found = self._found(text)
        matches = iter(found)
        for group in groups(_spans(found), text):
            ends = [None, *(mark.end for mark in group)]
            for end, is_word in zip(ends, are_words(group, text, before), strict=False):
                match, sources = next(matches)
                if title := self._title(match, sources) if is_word else "":
                    yield _replaced(match, sources, title, end)
                elif not match["plain"] or _ENDS.match(text, match.end()):
                    mark = _taken_out(match, sources, text[group[-1].end :], end)
                    stop = _DOUBLED.match((before + text[: group[0].start])[-1:] + text[mark.end :])
                    yield replace(mark, end=mark.end + 1) if stop and mark.end == group[-1].end else mark

    def unsettled(self, text: str) -> int:
        """Return where the last marks of a text begin, if more text may tell what they are; else its end."""
        called = _LAST_WORD.search(text)
        begun = called.start() if called and _may_name(called) else len(text)
        if not _CLOSES.search(text):
            return begun
        last = groups(_spans(self._found(text)), text)[-1:]
        waits = last and not is_settled(last[0], text)
        return min(begun, last[0][0].start) if waits else begun

    def _found(self, text: str) -> list[Found]:
        """Return the marks of a text and the sources that they name."""
        matches = ((match, self._sources(match)) for match in _mark().finditer(text) if not match["code"])
        return [(match, sources) for match, sources in matches if sources is not None]

    def _title(self, match: re.Match[str], sources: Sequence[int]) -> str:
        """Return what takes the place of a mark in a sentence; empty for marks in parentheses and wrong numbers."""
        if not (match["square"] or match["name"] or match["plain"]) or not all(
            0 < one <= self._count for one in sources
        ):
            return ""
        return ", ".join(dict.fromkeys(self._shown[one - 1] for one in sources))

    def _sources(self, match: re.Match[str]) -> tuple[int, ...] | None:
        """Return the numbers of a mark; None if this is not a mark."""
        if name := match["name"] or match["titled"]:
            numbered = _numbered().match(name)
            numbers = (int(numbered[1]),) if numbered else self._titles(name)
            return numbers or (() if match["name"] and _named().match(name) else None)
        if square := match["nested"] or match["square"]:
            return _numbers(square)
        if match["plain"] and self._is_said(match["plain"]):
            return None
        if (match["round"] or match["curly"]) and self._is_said(_WITH_WORD.sub("", match.string[: match.end()])):
            return None
        raised = (match["raised"] or "").translate(_RAISED)
        text = match["labelled"] or match["round"] or match["curly"] or match["plain"] or match["tagged"] or raised
        numbers = _numbers(text)
        return numbers if all(0 < one <= self._count for one in numbers) else None

    def _titles(self, name: str) -> tuple[int, ...]:
        """Return the sources that a mark names by their titles; a section or a page may follow each."""
        parts = _PARTS.split(_before_title().sub("", name.strip(), count=1))
        out: list[int] = []
        for start in range(len(parts)):
            names = (", ".join(parts[start:end]) for end in range(len(parts), start, -1))
            numbers = [number for one in names if (number := self._named.get(_plain(one)))]
            out += numbers[:1]
            if not out:
                return ()
        return tuple(dict.fromkeys(out))


def _may_name(last: re.Match[str]) -> bool:
    """Return whether the last word of a text is one for sources, or its beginning if nothing stands behind it."""
    word = last["word"].casefold()
    return any(one == word or (not last["behind"] and one.startswith(word)) for one in lexicon().layout["sources"])


def _spans(found: Sequence[Found]) -> list[Span]:
    return [Span(start=match.start(), end=match.end()) for match, _ in found]


def _replaced(match: re.Match[str], sources: tuple[int, ...], title: str, end: int | None) -> Marked:
    """Return a mark that a title replaces; ``end`` is that of the mark before it in its group."""
    sign = match.end() - len(match[0].lstrip())
    if end is None or match.string[end:sign].strip():
        return Marked(start=sign, end=match.end(), sources=sources, title=title)
    return Marked(start=match.start(), end=match.end(), sources=sources, title=f", {title}")


def _taken_out(match: re.Match[str], sources: tuple[int, ...], after: str, end: int | None) -> Marked:
    """Return a mark that is taken out, with what joins it to the mark before it; a line that it begins stays a line.

    Args:
        match: the mark.
        sources: that it names.
        after: the text behind its group.
        end: of the mark before it in its group.
    """
    if end is not None:
        return Marked(start=end, end=match.end(), sources=sources)
    space = len(match[0]) - len(match[0].lstrip())
    line = line_start(match[0], space)
    if not line or not after.partition("\n")[0].strip():
        return Marked(start=match.start(), end=match.end(), sources=sources)
    footnote = _FOOTNOTE.match(match.string, match.end())
    end = footnote.end() if footnote else match.end()
    return Marked(start=match.start() + line, end=end, sources=sources)


def _numbers(text: str) -> tuple[int, ...]:
    plain = _DETAIL.sub("", _label().sub("", _page_of().sub("", text)))
    for first, last in _RANGE.findall(plain):
        plain += "".join(f" {n}" for n in range(int(first) + 1, int(last)))
    return tuple(sorted(dict.fromkeys(map(int, _NUMBER.findall(plain)))))


def _plain(title: str) -> str:
    """Return a title for comparison: in lower case, without white space at its ends and the ending of a file."""
    title = re.sub(r"\.[a-zA-Z0-9]{1,5}$", "", title).replace("_", " ")
    return ", ".join(_PARTS.split(" ".join(title.split()).casefold()))


def _in_words(title: str) -> str:
    """Return a title as it can stand within a sentence and between quotation marks."""
    words = _QUOTES.sub("'", _NO_TITLE.sub(" ", title)).strip()
    return words if len(words) <= _LONGEST_TITLE else f"{words[:_LONGEST_TITLE].rstrip()}…"
