"""The entry of a name in reference documentation: "connect_timeout" on a line of its own, and what is said below it.

Manuals list options and settings so: a name, then its type, its default and what it does. The sentence that is most
like a question about one of them is often that of another one, whose entry says nearly the same. If the question names
one, and the entry has everything else that the question says, the entry is quoted whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.core.question import Question
from ragstone.core.records import Hit, Span
from ragstone.language import facts
from ragstone.respond import passage_structure as structure
from ragstone.respond.quoting.passages import Likely
from ragstone.respond.quoting.quotes import Quote

SURE = 0.9
"""Probability that an entry answers: chosen, not fitted."""
JOINED = r"--?[A-Za-z][\w-]+|[A-Za-z]\w*(?:[_.][A-Za-z]\w*)+|[A-Za-z]\w*_\w+"
"""Names that only programs write: connect_timeout, SECRET_KEY, server.port, --verbose."""
CAPITALS = r"[A-Z][a-z\d]+(?:[A-Z]+[a-z\d]*)+"
"""Names with capitals within, as LoginGraceTime; products and companies are written so, too, as PostgreSQL."""
_NAME = rf"{JOINED}|{CAPITALS}"
_MARKED = r"[ \t]*(?:#{1,6}[ \t]+|[-*+•][ \t]+|\.\.[ \t]+[\w:-]+::[ \t]+)?[`*\"']{0,3}(?:-\w,[ \t]+)?"
"""What may stand before the name: the mark of a heading, of an item or of a directive, quotes, a short option."""
_REST = r"[`*\"']{0,3}(?:[ \t]*[(\[<={:,][^\n]*|[ \t]+[A-Z]+)?[`*\"':]{0,3}[ \t]*"
"""What may follow it in its line: a type, a value, a default; no sentence."""
_HEAD = re.compile(rf"^{_MARKED}(?:{_NAME}){_REST}$", re.MULTILINE)
_CODED = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+|#{1,6}[ \t]+)?[`*\"']{0,3}(?:\w+[ \t]+)?(?P<letters>[A-Za-z]{1,4})?"
    r"-?(?P<digits>\d{2,6})[`*\"']{0,3}[ \t]*(?:[:=–—]|-[ \t])[ \t]*\S[^\n]*",
    re.MULTILINE,
)
"""A line that begins with a code and says what it means."""
_VALUED = re.compile(r"[:=\d]")
_LONGEST, _LEAST_WORDS = 800, 4
"""Characters of an entry, and words below its name."""


def entry_of(question: Question, hits: Sequence[Hit]) -> Likely | None:
    """Return the entry of the name in a question, from the best chunk that has it; None without one.

    None, too, if the question has another name, or a word that neither the entry nor what stands above it has.
    """
    if len(question.asks.identifiers) != 1:
        return None
    (name,) = question.asks.identifiers
    rest = [word for word in facts.words(question.text.replace(name, " ")) if not word.stop]
    for place, hit in enumerate(hits):
        chunk = hit.chunk
        above = facts.words(f"{chunk.context} {chunk.title} {re.sub(r'[_/.]', ' ', chunk.path)}")
        for span in _entries(chunk.text, name):
            said = facts.Vocabulary([*facts.words(span.of(chunk.text)), *above])
            if all(map(said.forms, rest)):
                return Likely(quote=Quote(hit=hit, place=place, span=span), probability=SURE, refers=False, sure=SURE)
    return None


def coded_line(question: Question, hits: Sequence[Hit]) -> Likely | None:
    """Return the line that says what the code in a question means, "E-104: the filter is blocked"; None without one.

    None, too, if several codes are asked for, or the number of the question is that of several codes.
    """
    if len(question.asks.codes) != 1:
        return None
    (code,) = question.asks.codes
    found: dict[str, Likely] = {}
    for place, hit in enumerate(hits):
        for line in _CODED.finditer(hit.chunk.text):
            own = f"{(line['letters'] or '').lower()}{line['digits']}"
            if own == code or (code.isdigit() and line["digits"] == code):
                span = Span(start=line.start("letters") if line["letters"] else line.start("digits"), end=line.end())
                quote = Quote(hit=hit, place=place, span=span)
                found.setdefault(own, Likely(quote=quote, probability=SURE, refers=False, sure=SURE))
    return next(iter(found.values())) if len(found) == 1 else None


def next_entry(text: str, position: int) -> int:
    """Return where the next line with only a name begins; the length of the text without one."""
    following = (match.start() for match in _HEAD.finditer(text, position) if _begins(text, match.start()))
    return next(following, len(text))


def _entries(text: str, name: str) -> Iterator[Span]:
    """Yield what stands below each line that is the name, with that line, up to the next such line or heading."""
    for head in re.finditer(rf"^{_MARKED}{re.escape(name)}{_REST}$", text, re.MULTILINE):
        end = min(next_entry(text, head.end() + 1), _heading_after(text, head.end()))
        end = head.start() + len(text[head.start() : end].rstrip())
        if end - head.start() <= _LONGEST and len(text[head.end() : end].split()) >= _LEAST_WORDS:
            yield Span(start=head.start(), end=end)


def _begins(text: str, line: int) -> bool:
    """Return whether a blank line, or none, is above a line."""
    return not text[:line].rstrip(" \t") or text[:line].rstrip(" \t").endswith("\n\n")


def _heading_after(text: str, position: int) -> int:
    """Return where the next heading after a line begins that is no name; "Default: 5" is none."""
    for line in re.finditer(r"[^\n]+", text[position:]):
        span = Span(start=position + line.start(), end=position + line.end())
        if not _VALUED.search(line[0]) and structure.is_heading(text, span):
            return span.start
    return len(text)
