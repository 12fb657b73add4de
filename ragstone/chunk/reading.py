"""Sentences as people read them: those of `ragstone.chunk.sentence`, joined or divided where its rules err.

Answers are quoted, and proved, in these sentences. Chunks are cut at the unmended ones, because a chunk that begins or
ends elsewhere is another chunk, and every knowledge base would have to be rebuilt for it. So mending changes no chunk
and needs no new version of their fingerprint; at the next version the two can become one.
"""

from __future__ import annotations

import re
from functools import cache

from ragstone.chunk.sentence import abbreviation, begins_block, begins_sentence, sentences
from ragstone.core.span import Span, line_start
from ragstone.language import lexicon
from ragstone.language.words import any_of

LONGEST_QUOTATION = 160
"""Characters of a quotation of several sentences that stays whole, with the sentence around it."""
LONGEST_PARENTHESIS = 160
"""Characters of a parenthesis in which no sentence ends."""

# "He left . '' Then": closing marks that a tokenizer set apart by a space.
_CLOSER = re.compile(r"(?:''|[\"”’»)\]]+)(?:\s(?:''|[\"”’»)\]]+))*(?=\s|$)")
_LABEL = re.compile(r"[#*_(\[ ]*(?:\d{1,3}|[IVX]{1,5}|[A-Za-z])[.)]")
_LAST = re.compile(r"[^\s(\[{\"'“„/]+$")
_NEXT = re.compile(r"[\"'“„‚«(\[*_]*(\w*)")
_INITIAL = re.compile(r"[^\W\d_]")
_DATELINE = re.compile(r"\d{1,2} [^\W\d_]+\.$")
_DASH = re.compile(r"[-–—]\s")
_FIGURE = re.compile(r"[(\[]?(?:[€$£¥]|(?=[\w./-]{0,30}\d)[A-Z\d])")
"""A number, an amount of money, or a code such as "HC-2026-114"."""
_BRACKET = re.compile(r"[()\n]")
_EXCLAIMING = re.compile(r"\b(?:Yahoo|Jeopardy|Oklahoma|Panic! at the Disco)!$")
"""Names that end with an exclamation mark."""

_ASSOCIATION = re.compile(r"\be\. ?V\.$")
_CLOCK = re.compile(r"\b[ap]\.m\.$")
_ZONE = re.compile(r"[A-Z]{2,5}")
_ACRONYM = re.compile(r"(?:[^\W\d]\.){2,}$")
_STOPPED = re.compile(r"[.!?…:;。！？।۔؟][\"'”’“»)\]*_`]*$")
_WRAPPED = 50
"""Characters from which on a line may have been wrapped at a width."""
_LONGEST_CONTEXT = 48
"""Characters before a stop to examine."""
_AFTER_STOP = re.compile(r"\s+[\"'“„‚«(\[*_]*(\w*)")
_QUOTE = re.compile('["“”„«»]')
_STOP_INSIDE = re.compile(r"\.(?=\s+[\"“„(]?[^\W\d_])")


def reading_sentences(text: str) -> list[Span]:
    """Return the sentences of a text, in order, without the white space around them.

    Together they hold every character that is not white space, and none overlap.
    """
    whole = _with_closers(text, [part for span in sentences(text) for part in _divided(text, span)])
    spans: list[Span] = []
    for place, span in enumerate(whole):
        if spans and spans[-1].end > span.start:
            continue  # within a quotation that was joined
        last = max(_end_of_quotation(text, whole, place), _end_of_parentheses(text, whole, place))
        joined = Span(start=span.start, end=whole[last].end)
        if spans and (_continues(text, spans[-1], joined) or _was_wrapped(text, spans[-1], joined)):
            spans[-1] = Span(start=spans[-1].start, end=joined.end)
        else:
            spans.append(joined)
    return spans


def _with_closers(text: str, spans: list[Span]) -> list[Span]:
    """Move closing marks at the start of a sentence to the end of the one before."""
    out: list[Span] = []
    for span in spans:
        closer = _CLOSER.match(text, span.start, span.end) if out and _on_one_line(text, out[-1], span) else None
        if closer and _opens(text, out[-1], closer.group()):
            out[-1] = Span(start=out[-1].start, end=closer.end())
            start = closer.end() + len(text[closer.end() : span.end]) - len(text[closer.end() : span.end].lstrip())
            if start >= span.end:
                continue
            span = Span(start=start, end=span.end)
            if text[start] in ",;" or text[start].islower():
                out[-1] = Span(start=out[-1].start, end=span.end)
                continue
        out.append(span)
    return out


def _opens(text: str, span: Span, closer: str) -> bool:
    """Return whether a sentence contains what this mark closes; curly quotes and '' can only close."""
    before = span.of(text)
    if closer[0] in ")]":
        return before.count("(" if closer[0] == ")" else "[") > before.count(closer[0])
    return closer[0] != '"' or _open_quotation(before) is not None


def _end_of_quotation(text: str, spans: list[Span], place: int) -> int:
    """Return the last sentence of a quotation that begins within this one, if all of it is short; else this one.

    Only a quotation that stands within a sentence is joined: after other words, or followed by more of the sentence.
    """
    start = spans[place].start
    opened = _open_quotation(spans[place].of(text))
    if opened is None:
        return place
    for last in range(place + 1, len(spans)):
        if spans[last].end - start > LONGEST_QUOTATION or not _on_one_line(text, spans[last - 1], spans[last]):
            return place
        if _open_quotation(text[start : spans[last].end]) is None:
            ends = text[spans[last].start : spans[last].end].rstrip(".!?…").endswith(tuple("\"”“»'"))
            return last if opened > 0 or not ends else place
    return place


def _end_of_parentheses(text: str, spans: list[Span], place: int) -> int:
    """Return the last sentence of what stands in parentheses that begin within this one; else this one."""
    last, start = place, spans[place].start
    while (closed := _closing(text, start, spans[last].end)) is not None:
        while spans[last].end <= closed:
            last += 1
        start = closed + 1
    return last


def _closing(text: str, start: int, end: int) -> int | None:
    """Return where the first parenthesis closes that is open at ``end``; None if none closes soon, on its line."""
    opened = list[int]()
    for found in _BRACKET.finditer(text, start, end):
        if found.group() == "(":
            opened.append(found.start())
        elif opened and found.group() == ")":
            opened.pop()
    return next((closed for one in opened if (closed := _closed(text, one)) is not None and closed >= end), None)


def _closed(text: str, opened: int) -> int | None:
    """Return where a parenthesis closes; None if it is too long, or not closed on its line."""
    depth = 0
    for found in _BRACKET.finditer(text, opened, opened + LONGEST_PARENTHESIS):
        if found.group() == "\n":
            return None
        depth += 1 if found.group() == "(" else -1
        if not depth:
            return found.start()
    return None


def _open_quotation(sentence: str) -> int | None:
    """Return where a quotation begins that the sentence does not end; None if there is none."""
    opened: int | None = None
    for found in _QUOTE.finditer(sentence):
        mark, place = found.group(), found.start()
        before, after = sentence[max(place - 1, 0) : place], sentence[place + 1 : place + 2]
        if opened is not None and mark in '"”“»' and (before.strip() or not after.strip()):
            opened = None
        elif opened is None and mark in '"“„«' and (not before.strip() or before in "([") and after.strip():
            opened = place
    return opened


def _continues(text: str, previous: Span, sentence: Span) -> bool:
    """Return whether a sentence continues the previous one."""
    if not _on_one_line(text, previous, sentence):
        return False
    before, after = previous.of(text), sentence.of(text)
    if _LABEL.fullmatch(before) or _EXCLAIMING.search(before):
        return True
    if not before.endswith("."):
        return False
    found, following = _LAST.search(before[:-1]), _NEXT.match(after)
    word, first = (found.group() if found else ""), (following.group(1) if following else "")
    rule, lists = abbreviation(word), lexicon().abbreviations
    if word.casefold() in lists["joining"] or rule == "always":
        return not _starts(first)
    if _FIGURE.match(after) and _precedes_figure(word):
        return True
    if rule == "before_number":
        if _INITIAL.fullmatch(word) and word.isupper():  # "Oliver P. Smith", though "p. 5"
            return first[:1].isupper() and not _starts(first)
        if _DASH.match(after):  # a dateline: "KUCHING 14 Sept. - The minister"
            return _DATELINE.search(before) is not None
        return after.startswith(("[", "("))
    return False


def _was_wrapped(text: str, previous: Span, sentence: Span) -> bool:
    """Return whether a line break between two sentences was made by wrapping lines of unlike length at a width.

    That is so within prose, where sentences begin or end inside of lines, after a long line without a full stop.
    """
    if text[previous.end : sentence.start].strip(" \t") != "\n" or _STOPPED.search(previous.of(text)):
        return False
    start = line_start(text, previous.end)
    line, below = text[start : previous.end], text[sentence.start :].partition("\n")[0]
    if len(line) < _WRAPPED or begins_block(line, below):
        return False
    begins_inside = previous.start > start and not _LABEL.fullmatch(text[start : previous.start].strip())
    return begins_inside or sentence.end < sentence.start + len(below.rstrip())


def _precedes_figure(word: str) -> bool:
    """Return whether a word is an abbreviation before numbers and codes."""
    return abbreviation(word) == "before_number" or word.casefold() in lexicon().abbreviations["before_figure"]


def _divided(text: str, span: Span) -> list[Span]:
    """Divide what the rules took for one sentence because of what looks like an abbreviation or a list number."""
    starts, ends = [span.start], list[int]()
    word = _LAST.search(text[max(0, span.start - _LONGEST_CONTEXT) : span.start].rstrip(" ").removesuffix("."))
    is_figure = word is not None and _precedes_figure(word.group())
    for stop in _STOP_INSIDE.finditer(text, span.start, span.end):
        before = text[max(starts[-1], stop.end() - _LONGEST_CONTEXT) : stop.end()]
        found = _AFTER_STOP.match(text, stop.end(), span.end)
        if found and (_ends(before, found.group(1)) or (is_figure and _LABEL.fullmatch(before))):
            starts.append(found.start(0) + len(found.group()) - len(found.group().lstrip()))
            ends.append(stop.end())
    return [Span(start=start, end=end) for start, end in zip(starts, [*ends, span.end], strict=True)]


def _ends(before: str, following: str) -> bool:
    """Return whether a sentence ends at the stop after an abbreviation, given the word that follows."""
    if not following[:1].isupper():
        return False
    if _CLOCK.search(before):
        return not (_ZONE.fullmatch(following) or following in lexicon().sentences["after_clock"])
    if _lettered().search(before):
        return True
    if _word_too().search(before) or _ACRONYM.search(before) or _ASSOCIATION.search(before):
        return _starts(following)
    return False


def _starts(word: str) -> bool:
    """Return whether a word begins sentences and is hardly ever part of a name."""
    return begins_sentence(word) or word in lexicon().sentences["more_starts"]


@cache
def _lettered() -> re.Pattern[str]:
    """Return a pattern of what is named by a letter: "Plan B."."""
    words = (form for word in lexicon().sentences["lettered"] for form in (word, word.capitalize()))
    return re.compile(rf"\b(?:{any_of(words)}) (?:[A-Z]|[IVX]{{1,4}})\.$")


@cache
def _word_too() -> re.Pattern[str]:
    """Return a pattern of abbreviations that are words, too: "It was the worst of its kind. In May"."""
    return re.compile(rf"(?:^|\s)(?:{any_of(lexicon().abbreviations['words_too'])})\.$")


def _on_one_line(text: str, one: Span, other: Span) -> bool:
    return "\n" not in text[one.end : other.start]
