"""The date of a version, where only a heading says it: "21.0.0 - 2023-07-17", or "Version 3.1.3" above "Released ...".

Change logs and release notes date a version in a line that is no sentence, so that nothing in it is like the question
but the number. The line is found by that number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.core.protocols import Weigher
from ragstone.core.question import Question
from ragstone.core.records import Hit, Span
from ragstone.core.request import Request
from ragstone.language import facts
from ragstone.respond.quoting.passages import Likely
from ragstone.respond.quoting.question_words import QuestionWords
from ragstone.respond.quoting.quotes import Quote

SURE = 0.85
"""Probability that such a line answers."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?:[a-z]+\d*)?(?![\w]|\.\d)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_LONGEST = 80
"""Characters of a line that only says which version it is, or when it came."""
_MARK = re.compile(r"[#*=\s>-]+")
_BEGINS = re.compile(r"[#=\s>]*(?:[^\W\d]+\s)?[\[(*v]*\d|[-*\s]+[\[(*v]*\d")
"""A line that begins with a number, or with one word before it; an item of a list, with the number."""


def dated_line(question: Question, hits: Sequence[Hit], weigh: Weigher, request: Request) -> Likely | None:
    """Return the line that dates what the question numbers, with the heading above it; None if there is none.

    Of several documents with such a line, that whose titles have most of the question's words is quoted.
    """
    numbers = question.asks.numbered
    if not numbers or not question.asks.date:
        return None
    asked = QuestionWords(question, weigh, request)
    best, most = None, 0.0
    for place, hit in enumerate(hits):
        chunk = hit.chunk
        for span in _dated(chunk.text, numbers):
            said = facts.words(span.of(chunk.text))
            covered = asked.match(said, facts.words(f"{chunk.context} {chunk.title}")).covered
            if covered > most:
                quote, most = Quote(hit=hit, place=place, span=span), covered
                best = Likely(quote=quote, probability=SURE, refers=False, sure=SURE)
    return best


def _dated(text: str, numbers: Sequence[str]) -> Iterator[Span]:
    """Yield the lines that begin with one of the numbers, up to the date in them or in one of the next two."""
    lines = [match for match in re.finditer(r"[^\n]+", text) if _MARK.sub("", match[0])]
    for at, line in enumerate(lines):
        first = _NUMBER.search(line[0])
        if len(line[0]) > _LONGEST or not _BEGINS.match(line[0]) or not first or first[0] not in numbers:
            continue
        for last in lines[at : at + 3]:
            is_other = last is not line and _NUMBER.search(last[0])
            if len(last[0]) > _LONGEST or is_other:
                break
            if _YEAR.search(last[0]):
                mark = _MARK.match(text, line.start())
                yield Span(start=mark.end() if mark else line.start(), end=last.end())
                break
