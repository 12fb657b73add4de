"""Structure of a passage: headings, tables and code, and the list or code that a sentence with a colon introduces.

A heading announces an answer but is none. "The steps are:" answers only together with its steps, so both are quoted.
Code is quoted as a whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from ragstone.core.line_marks import BULLETS, HASHES
from ragstone.core.span import Span, line_end, line_start
from ragstone.language import lexicon
from ragstone.language.words import any_of

MAX_QUOTE = 800
"""Characters of a quote together with the list or code it introduces."""
MAX_LIST = 4000
"""Characters of a list that is quoted whole because the question asks for it."""
HEADING_WORDS = 12
"""Words of a heading: a line on its own, without closing punctuation, that is not longer."""

_TIMES_LONGER = 2
"""How much longer the line below a heading is, at least, if no blank line sets it apart."""

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*\S[^\n]*$", re.MULTILINE)
_HASHES = re.compile(rf"{HASHES}[ \t]")
_LINKS = re.compile(r"(?:\[?!?\[[^\[\]]*\]\([^()]*\)(?:\]\([^()]*\))?[\s|]*|<!--.*?-->\s*)+", re.DOTALL)
_UNDERLINE = re.compile(r"\n {0,3}(=+|-{3,})[ \t]*(?:\n|$)")
ITEM = re.compile(rf"[ \t]*(?:[{BULLETS}]|\(?(?:\d{{1,3}}|[A-Za-z])[.)])[ \t]")
"""The mark of a list item at the beginning of a line."""
_STEP = re.compile(r"[ \t]*\(?\d{1,2}[.)][ \t]")
_NUMBERED = re.compile(r"[ \t]*(\d{1,2})[.)][ \t]")
_INDENTED = re.compile(r"[ \t]{2,}\S")
_INDENTED_CODE = re.compile(r"(?: {4}|\t)[ \t]*\S")
_TABLE = ("|", "+--", "+==")
_CAPTION_WORDS = 14
"""Words of a sentence with a full stop after the number of a table that is still taken to be its name only."""
_DIRECTIVE = re.compile(r"[ \t]*\.\. (?:code|code-block|parsed-literal|math)::.*")
_ASIDE = re.compile(r"\([^()]*\)")
_PROGRAM_NAME = re.compile(r"(?=`|\*|-|[-\w./]*(?:[_\d./]|\w-\w))[`*]{0,2}[-/A-Za-z][-\w./]*(?:\(\w*\))?[`*:]{0,3}")
"""One word with a digit, a dash, a dot, a stroke or a mark of code: SIGUSR2, and no heading as DESCRIPTION."""
_TERM_ABOVE = 300
"""Characters from a term to a sentence that is quoted with it."""
_LEAST_ITEMS = 2
"""Lines without marks that are a list, if a line with a colon introduces them."""
_WRAPPED = 50
"""Characters from which on a line may have been wrapped at a width."""
_MOST_LINES, _LINE_WORDS, _TITLE_WORDS = 5, 7, 14
"""Lines of a signature or an address, words of such a line, and of one that is the title of an office."""
_LABEL_WORDS = 2
"""Words of a label before code, such as the tab title "C++": a line without closing punctuation."""
_BOTH_ENDS = 2
_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？", "।", "۔", "؟")
_SENTENCE_ENDS = tuple(end for end in _ENDS if end not in ":;")
_CLOSING = "\"'”’“»)]*_`"


def is_heading(text: str, span: Span) -> bool:
    """Return whether a sentence is a heading: marked as one, or short, on its own line, without closing punctuation."""
    start, end = line_start(text, span.start), line_end(text, span.end)
    line = text[start:end].strip()
    if _FENCE.match(line):
        return False
    if _HASHES.match(line) or _UNDERLINE.match(text, end) or _is_bold(line):
        return True
    if span.of(text).strip() not in (line, line.strip("*_ "), _NUMBERED.sub("", line)):
        return False  # one sentence of several
    if line.rstrip(_CLOSING).endswith(_ENDS) or (ITEM.match(line) and not _is_numbered_heading(text, start, end)):
        return False
    above = text[line_start(text, start - 1) : max(start - 1, 0)].strip() if start else ""
    below = text[end + 1 : line_end(text, end + 1)].strip() if end < len(text) else ""
    stands_apart = not above and not below and end < len(text)
    # A text without blank lines: "Prices this year" above a paragraph.
    stands_above = (not above or above.rstrip(_CLOSING).endswith(_ENDS)) and len(below) >= _TIMES_LONGER * len(line)
    return (stands_apart or stands_above) and len(line.split()) <= HEADING_WORDS


def _is_numbered_heading(text: str, start: int, end: int) -> bool:
    """Return whether a line with a number, as "3. Water", stands apart and is no item of a list of such lines."""
    number = _NUMBERED.match(text, start, end)
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if number is None or _NUMBERED.match(after):
        return False
    above = _NUMBERED.match(before, before.rfind("\n") + 1)
    return above is None or int(above[1]) + 1 != int(number[1])


def heading_above(text: str, position: int) -> str:
    """Return the nearest heading of a text above a position, without its marks; empty without one."""
    above = [one for one in _headings(text) if one.end <= position]
    return above[-1].of(text).strip("#*_ ") if above else ""


@lru_cache(maxsize=512)
def _headings(text: str) -> tuple[Span, ...]:
    """Return the lines of a text that are headings; one within code is none."""
    lines = (Span(start=one.start(), end=one.end()) for one in _LINE.finditer(text))
    return tuple(one for one in lines if is_heading(text, one) and not code_around(text, one.start))


def without_asides(text: str) -> str:
    """Return a text without what it says in brackets, such as the unit in a heading of a table."""
    return _ASIDE.sub(" ", text)


def is_only_heading(text: str) -> bool:
    """Return whether a text is the heading of something that stands elsewhere, as of a table."""
    line = text.strip()
    return "\n" not in line and (_HASHES.match(line) is not None or _is_bold(line))


def _is_bold(line: str) -> bool:
    """Return whether a line is bold as a whole, as a heading is that has no level, and no sentence."""
    bold = line[:2] in ("**", "__") and line[-2:] == line[:2] and line.count(line[:2]) == _BOTH_ENDS
    return bold and not line.rstrip(_CLOSING).endswith(_ENDS)


def is_table(text: str, span: Span) -> bool:
    """Return whether a sentence begins in a table row."""
    return _line_of(text, span).startswith(_TABLE)


def is_directive(text: str, span: Span) -> bool:
    """Return whether a sentence begins in a reStructuredText directive, which is not shown: ``.. _place:``."""
    return _line_of(text, span).startswith(".. ")


def is_wordless(text: str) -> bool:
    """Return whether a text is only a picture, a link or a comment, which says nothing by itself."""
    return not text.strip() or _LINKS.fullmatch(text.strip()) is not None


def is_caption(text: str, span: Span) -> bool:
    """Return whether a sentence names a table or figure, or its source.

    It begins a line as "Table 3:", or follows that there. A long one with a full stop says something.
    """
    line = text[line_start(text, span.start) : span.end].lstrip(" \t*_>#")
    label = _caption().match(line)
    if label is None:
        return False
    rest = line[label.end() :].strip(_CLOSING + " \t")
    says = rest.endswith(_ENDS) and len(rest.split()) > _CAPTION_WORDS
    return not says and len(line[label.end() :]) <= len(span.of(text)) + 1


def is_item(text: str, span: Span) -> bool:
    """Return whether a sentence begins in a line that is a list item."""
    return ITEM.match(_line_of(text, span)) is not None


def is_mark(text: str) -> bool:
    """Return whether a text is only the mark of a list item."""
    return ITEM.fullmatch(text) is not None


def is_step(text: str, span: Span) -> bool:
    """Return whether a sentence begins in a numbered item, or announces the first one with a colon."""
    if _STEP.match(_line_of(text, span)):
        return True
    return span.of(text).rstrip(_CLOSING).endswith(":") and bool(_STEP.match(text, _after_blank(text, span.end)))


def code_around(text: str, position: int) -> Span | None:
    """Return the fenced code block around a position, with its fences; None if it has no closing fence."""
    fences = _FENCE.finditer(text)
    for opening in fences:
        closing = next((one for one in fences if one[1].startswith(opening[1])), None)
        if closing and opening.start() <= position < closing.end():
            return Span(start=opening.start(), end=closing.end())
    return None


def has_lines(quote: str) -> bool:
    """Return whether the line breaks of a quote matter, because it contains list items, code or names of programs."""
    first, *rest = quote.split("\n")
    if rest and any(_PROGRAM_NAME.fullmatch(line.strip()) for line in (first, *rest)):
        return True
    if first.rstrip(_CLOSING).endswith(":") and any(_unmarked_ends(quote, _after_blank(quote, 0))):
        return True
    return any(ITEM.match(line) or _INDENTED_CODE.match(line) or _FENCE.match(line) for line in rest)


def unwrapped(quote: str) -> str:
    """Return a quote without blank lines, and with each paragraph or item that was wrapped at a width on one line.

    Code, rows of tables and short lines stay as they are.
    """
    lines = list[str]()
    fence, wrapped = "", False
    for number, line in enumerate(quote.splitlines()):
        text, mark = line.strip(), _FENCE.match(line)
        # The first line may begin in its middle, so its width tells nothing.
        is_second = number == 1 and bool(lines) and text[:1].islower()
        goes_on = wrapped or (is_second and not lines[0].rstrip(_CLOSING).endswith(_ENDS))
        if goes_on and not fence and text and not mark and not _begins_anew(text):
            lines[-1] += f" {text}"
        elif text:
            lines.append(line.rstrip())
        is_code = bool(fence or mark or (not wrapped and _INDENTED_CODE.match(line) and not ITEM.match(line)))
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        wrapped = len(text) >= _WRAPPED and not is_code and not text.startswith((*_TABLE, "#"))
    return "\n".join(lines)


def _begins_anew(line: str) -> bool:
    """Return whether a line begins something else than the one before: an item, a heading, a row of a table."""
    return bool(ITEM.match(line) or _HASHES.match(line)) or line.startswith(_TABLE)


def ends_in_code(quote: str) -> bool:
    """Return whether the last line is a fence, after which nothing may follow on the same line."""
    return bool(_FENCE.fullmatch(quote.rpartition("\n")[2]))


def with_introduced(text: str, span: Span, longest: int = MAX_QUOTE) -> Span:
    """Extend a sentence that ends with a colon over the list or code it introduces; return any other unchanged.

    Args:
        text: in which the sentence stands.
        span: of the sentence.
        longest: characters of both together.
    """
    if not span.of(text).rstrip(_CLOSING).endswith(":"):
        return span
    start = _after_blank(text, span.end)
    line = text[start : line_end(text, start)]
    if _is_label(line) or _DIRECTIVE.fullmatch(line):
        after = _after_blank(text, start)
        if code_around(text, after) or _INDENTED_CODE.match(text[after : line_end(text, after)]):
            start, line = after, text[after : line_end(text, after)]
    if code := code_around(text, start):
        return _within_limit(span, longest, code.end)
    if ITEM.match(line):
        return _within_limit(span, longest, *_list_ends(text, start))
    if _INDENTED_CODE.match(line):
        return _within_limit(span, longest, *_indented_ends(text, start))
    return _within_limit(span, longest, *_unmarked_ends(text, start))


def list_around(text: str, span: Span, longest: int = MAX_QUOTE, *, any_list: bool = False) -> Span | None:
    """Return the list in which a sentence stands, with the line that introduces it, if it reads only as a whole.

    These are numbered steps and lists after a colon. None for other lists, and for those that are too long to quote.

    Args:
        text: in which the sentence stands.
        span: of the sentence.
        longest: characters of the list.
        any_list: return other lists too.
    """
    if not is_item(text, span):
        return None
    start = line_start(text, span.start)
    while start > 0 and _belongs_to_list(line := text[line_start(text, start - 1) : start - 1]):
        start -= len(line) + 1
    first, above = start, text[:start].rstrip()
    introduction = line_start(text, len(above))
    if above.rstrip(_CLOSING).endswith(":") and not is_heading(text, Span(start=introduction, end=len(above))):
        start = introduction + len(text[introduction:]) - len(text[introduction:].lstrip())
    elif not any_list and not _STEP.match(text, first):
        return None
    end = max(_list_ends(text, first))
    if end < span.end:
        return None  # a numbered heading, and the lines below it
    return Span(start=start, end=end) if end - start <= longest else None


def item_around(text: str, span: Span) -> Span | None:
    """Return the list item in which a sentence stands, without its mark, if it says something of its own.

    Such an item ends as a sentence does, as the points of minutes and the rules of a house do. None for others: those
    of "Bring: a towel, a lock" say nothing without their list.
    """
    start = line_start(text, span.start)
    while start > 0 and not ITEM.match(text, start) and _belongs_to_list(text[start : line_end(text, start)]):
        start = line_start(text, start - 1)
    mark = ITEM.match(text, start)
    if mark is None:
        return None
    item = Span(start=min(mark.end(), span.start), end=next(_list_ends(text, start)))
    is_whole = item.of(text).rstrip().rstrip(_CLOSING).endswith(_SENTENCE_ENDS)
    return item if is_whole and item.end - item.start <= MAX_QUOTE else None


def block_around(text: str, span: Span) -> Span | None:
    """Return the few short lines among which a sentence stands, such as a signature or an address; None if in prose.

    "Chief Financial Officer" says who that is only together with the name above it.
    """
    start, end = text.rfind("\n\n", 0, span.start) + 2, text.find("\n\n", span.end)
    start, end = max(start, 0) if start > 1 else 0, len(text) if end < 0 else end
    lines = text[start:end].strip("\n").split("\n")
    is_block = _LEAST_ITEMS <= len(lines) <= _MOST_LINES and all(map(_is_block_line, lines))
    return Span(start=start, end=start + len(text[start:end].rstrip())) if is_block else None


def with_term(text: str, span: Span) -> Span:
    """Begin with the term that the sentence explains, if that stands a little above it.

    In "fast_flush_refresh_time (12h)" above "The time after which ...", as manuals have it, the term is the answer. It
    is indented less, or is a name that only programs write, alone above the paragraph.
    """
    if (name := _name_above(text, span)) is not None:
        return Span(start=name, end=span.end)
    start = line_start(text, span.start)
    depth = _indent(text[start : span.end])
    while depth and start and span.start - start <= _TERM_ABOVE:
        above = line_start(text, start - 1)
        line = text[above : start - 1]
        if not line.strip():
            break
        if _indent(line) < depth:
            is_term = len(line.split()) <= HEADING_WORDS and not line.rstrip().endswith(_ENDS) and not ITEM.match(line)
            return Span(start=above + _indent(line), end=span.end) if is_term else span
        start = above
    return span


def _name_above(text: str, span: Span) -> int | None:
    """Return where a name such as SIGUSR2 or --verbose begins that stands alone above the paragraph of a sentence."""
    paragraph = text.rfind("\n\n", 0, span.start)
    if paragraph < 0 or span.start - paragraph > _TERM_ABOVE:
        return None
    above = line_start(text, paragraph)
    line = text[above:paragraph]
    stands_alone = not above or text[:above].endswith("\n\n")
    return above + _indent(line) if stands_alone and _PROGRAM_NAME.fullmatch(line.strip()) else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def introduces_next_chunk(text: str, span: Span) -> bool:
    """Return whether a sentence with a colon introduces the next chunk: at most a label follows it."""
    rest = text[span.end :].strip(_CLOSING + " \t\n")
    return span.of(text).rstrip(_CLOSING).endswith(":") and (not rest or _is_label(rest))


def _is_label(line: str) -> bool:
    words = line.split()
    return 0 < len(words) <= _LABEL_WORDS and "\n" not in line and not line.endswith(_ENDS) and not ITEM.match(line)


def _is_block_line(line: str) -> bool:
    words = line.split()
    titled = all(word.strip("(").istitle() or len(word) <= len("and") for word in words)
    short = len(words) <= (_TITLE_WORDS if titled else _LINE_WORDS) and not line.rstrip(_CLOSING).endswith(_ENDS)
    return short and bool(line.strip()) and not ITEM.match(line) and not line.startswith((*_TABLE, "#", "```"))


def _belongs_to_list(line: str) -> bool:
    return bool(line.strip()) and (ITEM.match(line) is not None or _INDENTED.match(line) is not None)


def _list_ends(text: str, start: int) -> Iterator[int]:
    """Yield the end of each list item; indented lines belong to the item above, and those into which it was wrapped."""
    end = 0
    wrapped = False
    while start < len(text):
        stop = line_end(text, start)
        line = text[start:stop]
        begins = ITEM.match(line)
        if line.strip() and not begins and not _INDENTED.match(line) and not (wrapped and not _begins_anew(line)):
            break
        if begins and end:
            yield end
        wrapped = len(line.rstrip()) >= _WRAPPED and not line.rstrip().rstrip(_CLOSING).endswith(_ENDS)
        if line.strip():
            end = stop
        start = stop + 1
    yield end


def _unmarked_ends(text: str, start: int) -> list[int]:
    """Return the end of each of the short lines from there on, if they are a list that has lost its marks.

    A single line between blank lines is one, too, if no other short line follows: a command.
    """
    ends: list[int] = []
    while start < len(text) and _is_unmarked(text[start : line_end(text, start)]):
        ends.append(line_end(text, start))
        start = ends[-1] + 1
    is_list = len(ends) >= _LEAST_ITEMS or (ends and _stands_alone(text, ends[0]))
    return ends if is_list else []


def _is_unmarked(line: str) -> bool:
    line = without_asides(line).strip()
    is_marked = _HASHES.match(line) or _FENCE.match(line) or line.startswith((*_TABLE, ".. "))
    return not is_marked and 0 < len(line.split()) <= HEADING_WORDS and not line.rstrip(_CLOSING).endswith(_ENDS)


def _stands_alone(text: str, end: int) -> bool:
    """Return whether blank lines are around the line that ends here, and the next one is no short line or label."""
    start = line_start(text, end)
    after = _after_blank(text, end)
    apart = text[:start].endswith("\n\n") and not text[end : line_end(text, end + 1)].strip()
    return apart and not _is_label(text[start:end]) and not _is_unmarked(text[after : line_end(text, after)])


def _indented_ends(text: str, start: int) -> Iterator[int]:
    """Yield the end of a block of indented code."""
    end = start
    while start < len(text):
        stop = line_end(text, start)
        line = text[start:stop]
        if line.strip() and not _INDENTED_CODE.match(line):
            break
        if line.strip():
            end = stop
        start = stop + 1
    yield end


def _within_limit(span: Span, longest: int, *ends: int) -> Span:
    """Extend the sentence to the last of these ends within the limit; return it unchanged if none is."""
    fitting = [end for end in ends if end - span.start <= longest]
    return Span(start=span.start, end=max([span.end, *fitting]))


def _after_blank(text: str, position: int) -> int:
    """Return the start of the first non-blank line after the one at this position."""
    start = line_end(text, position) + 1
    while start < len(text) and not text[start : line_end(text, start)].strip():
        start = line_end(text, start) + 1
    return min(start, len(text))


def _line_of(text: str, span: Span) -> str:
    """Return the line in which a sentence begins."""
    return text[line_start(text, span.start) : line_end(text, span.start)].lstrip()


@cache
def _caption() -> re.Pattern[str]:
    """Return a pattern of the beginning of a caption, or of a line that names sources."""
    captions, sources = (any_of(lexicon().layout[name]) for name in ("captions", "sources"))
    return re.compile(
        rf"(?:{captions})\.?\s+(?:[A-Z]{{1,2}}[-.]?)?\d[\d. \-]*[a-z]?\s*[.:|–—-](?:\s|$)|(?:{sources}):", re.IGNORECASE
    )
