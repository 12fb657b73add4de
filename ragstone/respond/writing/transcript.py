"""Split a streamed reply into complete sentences and remove what the model must not decide.

A row of a table is one sentence, and so is what stands in bold, so that marks and omissions leave the Markdown whole.

Citation markers are removed, or replaced by the titles of their sources, and kept as claims, except in code, where
brackets mean something else. Pictures and links are replaced by their words (`ragstone.respond.links`). The cost is
linear in the length of the reply, because no sentence is longer than `MAX_SENTENCE`.
"""

from __future__ import annotations

import re
from html import unescape

from ragstone.core.frozen import frozen
from ragstone.core.protocols import SentenceSplitter
from ragstone.core.span import Span, line_start
from ragstone.respond.links import break_links, replace_links, strip_links_from_code
from ragstone.respond.writing.marks import Marks, named_in_parentheses

MAX_SENTENCE, MAX_CODE = 2000, 20_000
"""Characters of a sentence and of a code block; longer ones are closed there."""
_OPEN = re.compile(
    r"(?:(?<!\s)\s{0,100})?(?:\^?!?(?:\[[^\]\n]{0,300}(?:\](?:\([^)]{0,2000})?)?)?|[【〔［][^】〕］\n]{0,100}|(?<!\])\([^)\n]{0,140}\)?"
    r"|\{[^{}\n]{0,40}\}?|&[#\w]{0,9}"
    r"|<(?:[/!a-z][^<>]{0,2000}(?:>[\[\d,; \]]{0,12}(?:</?[a-z]{0,4})?)?)?)\Z",
    re.IGNORECASE,
)
"""The end of a text that may become a marker, a link or a tag when more text arrives."""
_ENTITY = re.compile(r"`[^`\n]+`|&(?P<name>#?\w{2,8});")
_OF_MARKUP = frozenset("<>[]()!`\\*_|:#")
_TICKS = re.compile(r"\s?`+")
_MAX_HELD = 300
"""Characters of inline code that are held back until it ends."""
_FENCE = re.compile(r"^ {0,3}```[^\n]*$", re.MULTILINE)
_MAY_END = re.compile(r"[^\w\s,`]|\n")
_BOLD = "**"
_PARENTHESIS = 160
"""Characters of a parenthesis that are awaited; a longer one ends no later than its first sentence."""
_WORD = re.compile(r"[\w(./-]{1,30}")
_LETTER = re.compile(r"\w")
_LOOKBACK = 40
"""Characters before a piece that decide whether a sentence may end in it."""


@frozen
class Sentence:
    """A complete sentence, the white space before it, and the numbers of the sources that the model claims for it.

    ``titles`` are those of sources that stand in it in place of marks. ``is_cited`` tells whether a mark stands behind
    words of it, and not only before them, as in a list of sources.
    """

    before: str
    text: str
    claimed: tuple[int, ...]
    titles: tuple[str, ...] = ()
    is_cited: bool = False

    @property
    def stated(self) -> str:
        """The sentence without titles in the place of marks and without "(Source: ...)": what it claims."""
        text = self.text
        for title in self.titles:
            text = text.replace(title, "")
        return named_in_parentheses().sub("", text)


def _sign(entity: re.Match[str]) -> str:
    """Return the sign of an entity of HTML; the entity, if the sign would be one of Markdown or HTML."""
    sign = unescape(entity[0]) if entity["name"] else entity[0]
    return entity[0] if sign in _OF_MARKUP else sign


class Transcript:
    """The reply of a model so far."""

    def __init__(self, sentences: SentenceSplitter, marks: Marks) -> None:
        """Take what splits a text, and what finds the citation marks in it."""
        self._sentences, self._marks = sentences, marks
        self._raw = ""  # held back, because its end may be the beginning of a marker
        self._open = ""  # shown, but not yet part of a closed sentence
        self._claims: dict[tuple[int, int], str] = {}  # position in the open text and source: title in its place
        self._codes: list[Span] = []  # code blocks in the open text; the last may still be open
        self._in_code = False
        self._last = "\n"  # last character taken
        self._grown = 0  # characters of the open text not yet searched for the end of a sentence

    def add(self, piece: str) -> str:
        """Add a piece and return what may be shown now."""
        self._raw += piece
        held = _OPEN.search(self._raw)
        ends = (held.start() if held else len(self._raw), self._code_begun(), self._marks.unsettled(self._raw))
        return self._take(min(ends))

    def _code_begun(self) -> int:
        """Return where unfinished inline code begins in the last line; the end of the text if there is none."""
        ticks = list(_TICKS.finditer(self._raw, self._raw.rfind("\n") + 1))
        begun = ticks[-1].start() if len(ticks) % 2 else len(self._raw)
        return begun if len(self._raw) - begun <= _MAX_HELD else len(self._raw)

    def end(self) -> str:
        """Finish the reply and return what was held back."""
        return self._take(len(self._raw))

    def closed(self, *, everything: bool = False) -> list[Sentence]:
        """Return the sentences that are complete, each once."""
        if not everything and not self._may_close():
            return []
        self._grown = 0
        spans = self._spans(ended=everything)
        ends = [*(span.start for span in spans[1:]), len(self._open)]
        out, start = list[Sentence](), 0
        for span, after in zip(spans, ends, strict=False):
            if not everything and span is spans[-1] and not self._is_too_long(span.start):
                break
            claims = {claim: title for claim, title in self._claims.items() if span.start < claim[0] <= after}
            claimed = tuple(dict.fromkeys(source for _, source in claims))
            titles = tuple(dict.fromkeys(filter(None, claims.values())))
            behind = max((place for (place, _), title in claims.items() if not title), default=0)
            is_cited = bool(_LETTER.search(self._open, span.start, behind - 1))
            before, text = self._open[start : span.start], span.of(self._open)
            out.append(Sentence(before=before, text=text, claimed=claimed, titles=titles, is_cited=is_cited))
            start = span.end
        self._open = self._open[start:]
        self._claims = {(at - start, source): title for (at, source), title in self._claims.items() if at > start}
        left = [Span(start=max(0, one.start - start), end=one.end - start) for one in self._codes if one.end >= start]
        self._codes = [one for one in left if one.end or (self._in_code and one is left[-1])]
        return out

    def _limit(self) -> int:
        return MAX_CODE if self._in_code else MAX_SENTENCE

    def _is_too_long(self, start: int) -> bool:
        """Return whether the text from there on must be closed now, between two words if possible."""
        size, between = len(self._open) - start, self._raw[:1].isspace() or self._open[-1:].isspace()
        return size >= self._limit() * (1 if between else 2)

    def _may_close(self) -> bool:
        """Return whether the end of a sentence may have arrived."""
        if self._is_too_long(0):
            return True
        if self._in_code and not self._open[: self._codes[-1].start].strip():
            return False
        return bool(_MAY_END.search(self._open, max(0, len(self._open) - self._grown - _LOOKBACK)))

    def _take(self, end: int) -> str:
        taken, self._raw = self._raw[:end], self._raw[end:]
        before, start = len(self._open), 0
        for fence in _FENCE.finditer(taken):
            if fence.start() == 0 and self._last != "\n":
                continue
            if self._in_code:
                self._show(taken[start : fence.end()], code=True)
                self._in_code = False
            else:
                self._show(taken[start : fence.start()])
                self._in_code = True
                self._codes.append(Span(start=len(self._open), end=len(self._open)))
                self._show(fence[0], code=True)
            start = fence.end()
        self._show(taken[start:], code=self._in_code)
        self._last = taken[-1:] or self._last
        shown = self._open[before:]
        self._grown += len(shown)
        return shown

    def _show(self, taken: str, *, code: bool = False) -> None:
        """Append to the open text, breaking a link that two pieces would form."""
        text = strip_links_from_code(taken) if code else self._unmarked(taken)
        if self._open.endswith("]") and text.startswith(("(", ":")):
            text = f" {text}"
        self._open += text
        if code:
            self._codes[-1] = Span(start=self._codes[-1].start, end=len(self._open))

    def _unmarked(self, taken: str) -> str:
        plain, out, last, size = _ENTITY.sub(_sign, replace_links(taken)), list[str](), 0, len(self._open)
        before = self._open[-1:] or "\n"
        for mark in self._marks.find(plain, self._open):
            out.append(plain[last : mark.start])
            before = out[-1][-1:] or before
            out[-1] += (" " if mark.title and before.isalnum() else "") + mark.title
            size += len(out[-1])
            last = mark.end
            begins = not mark.title and before == "\n"  # a mark before a sentence belongs to it
            before = mark.title[-1:] or before
            self._claims |= {(size + begins, number): mark.title for number in mark.sources}
        return break_links(replace_links("".join([*out, plain[last:]])) if out else plain)

    def _spans(self, *, ended: bool) -> list[Span]:
        """Return sentences and code blocks; a code block is never split."""
        out, start = list[Span](), 0
        for code in self._codes:
            out += [*self._within(start, code.start, ended=True), *([code] if code.end > code.start else [])]
            start = code.end
        return [*out, *self._within(start, len(self._open), ended=ended)]

    def _within(self, start: int, end: int, *, ended: bool) -> list[Span]:
        """Return the sentences in a part of the open text; ``ended`` if its last line is complete."""
        out: list[Span] = []
        for one in self._sentences(self._open[start:end]):
            span = Span(start=start + one.start, end=start + one.end)
            if out and self._belong_together(out[-1], span, end, ended=ended):
                span = Span(start=out.pop().start, end=span.end)
            out.append(span)
        return out

    def _may_go_on(self, first: Span, after: Span, end: int) -> bool:
        """Return whether the rest of the line may show that a sentence has not ended.

        Its parenthesis may close later, and of the word behind its full stop only a part may have arrived.
        """
        opened = self._open.rfind("(", first.start, first.end)
        if opened >= 0 and end - opened <= _PARENTHESIS and ")" not in self._open[opened:end]:
            return True
        return self._open[first.end - 1] == "." and after.end == end and bool(_WORD.fullmatch(after.of(self._open)))

    def _belong_together(self, first: Span, after: Span, end: int, *, ended: bool) -> bool:
        """Return whether two sentences are in one row of a table, or in one run of bold words."""
        if "\n" in self._open[first.end : after.start] or after.end - first.start > MAX_SENTENCE:
            return False
        if self._open[line_start(self._open, first.start) : first.end].lstrip().startswith("|"):
            return True
        line_end = self._open.find("\n", first.end, end)
        if line_end < 0 and not ended and self._may_go_on(first, after, end):
            return True
        rest = self._open[first.end : end if line_end < 0 else line_end]
        return first.of(self._open).count(_BOLD) % 2 == 1 and (_BOLD in rest or (line_end < 0 and not ended))
