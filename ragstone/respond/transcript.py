"""A reply as it comes in, taken apart into whole sentences, without what a model must not decide.

Markers it wrote are taken out and remembered as hints, but in code, where brackets mean something else. Pictures and
links are reduced to their words (`ragstone.respond.unlinked`). What a reply costs grows with its length alone: no
sentence is longer than `LONGEST`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragstone.contracts import Span
from ragstone.protocols import SentenceSplitter
from ragstone.respond.unlinked import defused, reduced, unlinked_code

LONGEST, LONGEST_CODE = 2000, 20_000
"""Characters of a sentence, and of a block of code; what is longer is closed there."""
_MARKER = re.compile(
    r"(?P<code>`[^`\n]+`)|"
    r"(?<!\s)\s*\[\s*(?:web\s+source|source)?\s*(?P<sources>\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\](?!\()",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"(?:(?<!\s)\s{0,100})?(?:!?(?:\[[^\]\n]{0,300}(?:\](?:\([^)]{0,2000})?)?)?|<(?:[/!a-z][^<>]{0,2000})?)\Z",
    re.IGNORECASE,
)
"""The end of a text that may become a marker, a link or a tag when more of it comes."""
_TICKS = re.compile(r"\s?`+")
_LONGEST_HELD = 300
"""Characters of code within a line that are held back until it ends."""
_FENCE = re.compile(r"^ {0,3}```[^\n]*$", re.MULTILINE)
_MAY_END = re.compile(r"[^\w\s,`]|\n")
_BACK = 40
"""Characters before a piece that tell whether a sentence may end in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A whole sentence, the white space before it, and the numbers of the sources the model claims for it."""

    before: str
    text: str
    hints: tuple[int, ...]


class Transcript:
    """What a model has written so far."""

    def __init__(self, sentences: SentenceSplitter) -> None:
        self._sentences = sentences
        self._raw = ""  # not looked at yet, for its end may be the beginning of a marker
        self._open = ""  # shown, but no sentence is closed in it yet
        self._hints: dict[tuple[int, int], None] = {}  # place in the open text, source
        self._codes: list[Span] = []  # blocks in the open text; while one is open, the last reaches to its end
        self._in_code = False
        self._last = "\n"  # character that was shown or taken
        self._grown = 0  # characters of the open text in which no end of a sentence was looked for

    def add(self, piece: str) -> str:
        """Take in a piece; what may be shown of it now."""
        self._raw += piece
        held = _OPEN.search(self._raw)
        return self._take(min(held.start() if held else len(self._raw), self._code_begun()))

    def _code_begun(self) -> int:
        """Where code begins in the last line, which has no end there; the end of the text where none does."""
        ticks = list(_TICKS.finditer(self._raw, self._raw.rfind("\n") + 1))
        begun = ticks[-1].start() if len(ticks) % 2 else len(self._raw)
        return begun if len(self._raw) - begun <= _LONGEST_HELD else len(self._raw)

    def end(self) -> str:
        """There is no more; what was held back."""
        return self._take(len(self._raw))

    def closed(self, *, all_of_it: bool = False) -> list[Sentence]:
        """The sentences that nothing more will be added to, each given once."""
        if not all_of_it and not self._may_close():
            return []
        self._grown = 0
        spans = self._spans()
        ends = [*(span.start for span in spans[1:]), len(self._open)]
        out, start = [], 0
        for span, after in zip(spans, ends, strict=False):
            if not all_of_it and span is spans[-1] and not self._is_too_long(span.start):
                break
            hints = tuple(dict.fromkeys(source for place, source in self._hints if span.start < place <= after))
            out.append(Sentence(before=self._open[start : span.start], text=span.of(self._open), hints=hints))
            start = span.end
        self._open = self._open[start:]
        self._hints = {(place - start, source): None for place, source in self._hints if place > start}
        left = [Span(start=max(0, one.start - start), end=one.end - start) for one in self._codes if one.end >= start]
        self._codes = [one for one in left if one.end or (self._in_code and one is left[-1])]
        return out

    def _longest(self) -> int:
        return LONGEST_CODE if self._in_code else LONGEST

    def _is_too_long(self, start: int) -> bool:
        """Whether what begins there is closed now: between two words, if there are any."""
        size, between = len(self._open) - start, self._raw[:1].isspace() or self._open[-1:].isspace()
        return size >= self._longest() * (1 if between else 2)

    def _may_close(self) -> bool:
        """Whether it is worth looking for the end of a sentence."""
        if self._is_too_long(0):
            return True
        if self._in_code and not self._open[: self._codes[-1].start].strip():
            return False
        return bool(_MAY_END.search(self._open, max(0, len(self._open) - self._grown - _BACK)))

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
        """Append to the open text; a link that two pieces would make together is broken too."""
        text = unlinked_code(taken) if code else self._unmarked(taken)
        if self._open.endswith("]") and text.startswith(("(", ":")):
            text = f" {text}"
        self._open += text
        if code:
            self._codes[-1] = Span(start=self._codes[-1].start, end=len(self._open))

    def _unmarked(self, taken: str) -> str:
        plain, out, last, size = reduced(taken), list[str](), 0, len(self._open)
        for found in _MARKER.finditer(plain):
            if found["code"]:
                continue
            out.append(plain[last : found.start()])
            size += len(out[-1])
            last = found.end()
            self._hints |= {(size, int(number)): None for number in re.findall(r"\d+", found["sources"])}
        return defused(reduced("".join([*out, plain[last:]])) if out else plain)

    def _spans(self) -> list[Span]:
        """Sentences, and blocks of code, which are one each and never split."""
        out, start = [], 0
        for code in self._codes:
            out += [*self._within(start, code.start), *([code] if code.end > code.start else [])]
            start = code.end
        return [*out, *self._within(start, len(self._open))]

    def _within(self, start: int, end: int) -> list[Span]:
        found = self._sentences(self._open[start:end])
        return [Span(start=start + one.start, end=start + one.end) for one in found]
