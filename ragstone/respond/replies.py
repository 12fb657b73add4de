"""Replies that need no search: courtesies, what the knowledge base holds, and a question back.

A reply claims nothing about what documents say, so it has no probability. A document that it names is cited by its
first words. The texts come from ``language/<language>.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from string import Formatter

from ragstone.core.answers import Draft, Outcome, Statement
from ragstone.core.kinds import TalkKind
from ragstone.core.naming import name_of
from ragstone.core.records import Hit, Span
from ragstone.language import languages, replies
from ragstone.respond.drafts import MAX_QUESTION, cite, shortened, unmarked
from ragstone.respond.links import strip_links

MAX_NAMED = 3
"""Titles that a reply names as examples."""
MAX_TITLE = 80
"""Characters of a title in a list."""
MAX_AUTHORS = 500
"""Characters of the names of a document's authors."""
MAX_OPENING = 160
"""Characters of the first words by which a document is cited."""


def courtesy(kind: TalkKind, language: str) -> Draft:
    """Return the reply to a greeting, to thanks or to a goodbye."""
    texts = replies(language)
    said = {"greeting": texts.greeting, "thanks": texts.thanks, "goodbye": texts.goodbye}
    return plain_reply(said[kind])


def introduction(count: int, titles: Sequence[str], language: str) -> Draft:
    """Return the reply to "What can you do?": what can be asked, how many documents there are, and some titles."""
    texts = replies(language)
    return plain_reply(f"{texts.help}\n{_holds(count, titles, language)}")


def counted(count: int, language: str, *, selected: bool) -> str:
    """Return the line with the number of documents: of all, or of those ``selected`` by the question."""
    texts = replies(language)
    return (texts.selected if selected else texts.count).format(count=f"{count:,}")


def counted_files(count: int, rows: int, shown: int, language: str, *, selected: bool) -> str:
    """Return the line above a list of files: how many there are, the rows of those that are tables, and what is shown.

    Args:
        count: files.
        rows: rows in them that are documents of their own.
        shown: files in the list; 0 without one.
        language: ISO 639-1 code.
        selected: whether the question selects them.
    """
    texts = replies(language)
    parts = [counted(count, language, selected=selected)]
    parts += [texts.rows.format(rows=f"{rows:,}")] if rows else []
    parts += [texts.some.format(shown=f"{shown:,}")] if 0 < shown < count else []
    return " ".join(parts)


def listed(lead: str, hits: Sequence[Hit], names: Sequence[str] = ()) -> Draft:
    """Return a list of documents below a line, each cited by its first words.

    Args:
        lead: the line above.
        hits: the first chunk of each document, or the one for which it is listed.
        names: what to call the documents, if not by their own names.
    """
    text, statements = lead, list[Statement]()
    for marker, name in enumerate(names or [name_of(hit.chunk) for hit in hits], start=1):
        text += "\n"
        line = f"- {_shown(name)} [{marker}]"
        statements.append(Statement(start=len(text) + 2, end=len(text) + len(line), markers=(marker,)))
        text += line
    citations = tuple(cite(marker, hit, opening(hit)) for marker, hit in enumerate(hits, start=1))
    return replace(plain_reply(text), citations=citations, statements=tuple(statements))


def tallied(lead: str, values: Sequence[tuple[str, int]], language: str) -> Draft:
    """Return values of metadata with the number of documents that have each."""
    if not values:
        return plain_reply(replies(language).unnamed)
    lines = [f"- {_shown(value)}: {count:,}" for value, count in values]
    return plain_reply("\n".join([lead, *lines]))


def authored(hit: Hit, author: str, language: str) -> Draft:
    """Return who wrote a document, which is cited by its first words."""
    texts, title, by = replies(language), _shown(name_of(hit.chunk)), shortened(strip_links(author), MAX_AUTHORS)
    text = texts.author.format(title=title, author=by) if by else texts.anonymous.format(title=title)
    whole = Statement(start=0, end=len(text) + 4, markers=(1,))
    return replace(plain_reply(f"{text} [1]"), citations=(cite(1, hit, opening(hit)),), statements=(whole,))


def asked_back(question: str, choices: Sequence[str], language: str) -> Draft:
    """Return a question back: what of two to four choices is meant, or, without choices, what to ask."""
    texts = replies(language)
    lead = texts.which.format(question=shortened(question, MAX_QUESTION))
    return plain_reply("\n".join([lead, *(f"- {_shown(one)}" for one in choices)]), "clarification")


def is_choice(said: str, answer: str) -> bool:
    """Return whether what was said is one of the choices of a question back."""
    return asks_back(answer) and f"- {_shown(said)}".casefold() in answer.casefold().splitlines()


def asked_for_more(titles: Sequence[str], language: str) -> Draft:
    """Return a question back to somebody who typed nothing that can be understood, with titles as examples."""
    return plain_reply(replies(language).unclear.format(titles=_named(titles)), "clarification")


def asks_back(answer: str) -> bool:
    """Return whether an answer is a question back, in any language."""
    return any(pattern.match(answer) for pattern in _back_patterns())


@cache
def _back_patterns() -> list[re.Pattern[str]]:
    texts = [text for language in languages() for text in (replies(language).which, replies(language).unclear)]
    parsed = [Formatter().parse(text) for text in texts]
    return [re.compile("".join(re.escape(part) + ".*?" * bool(name) for part, name, *_ in one), re.S) for one in parsed]


def _holds(count: int, titles: Sequence[str], language: str) -> str:
    texts = replies(language)
    return texts.holds.format(count=f"{count:,}", titles=_named(titles)) if count else texts.empty


def _named(titles: Sequence[str]) -> str:
    return ", ".join(f"“{_shown(title)}”" for title in titles[:MAX_NAMED])


def _shown(name: str) -> str:
    """Return a title, an author or another name as a reply shows it: short, and without links."""
    return shortened(unmarked(strip_links(name)), MAX_TITLE)


def plain_reply(text: str, outcome: Outcome = "reply") -> Draft:
    """Return a draft of this text that cites nothing."""
    return Draft(text=text, citations=(), answerability=0.0, outcome=outcome, model="catalog")


def opening(hit: Hit) -> Span:
    """Return the title of a document where its text begins with it, or else the beginning of its first line."""
    text, title = hit.chunk.text, hit.chunk.title.strip()
    at = text.find(title) if title else -1
    if 0 <= at < MAX_OPENING and len(title) <= MAX_OPENING:
        return Span(start=at, end=at + len(title))
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    end = len(text.rstrip()) if end < 0 else end
    if end - start > MAX_OPENING:
        cut = text.rfind(" ", start, start + MAX_OPENING)
        end = cut if cut > start else start + MAX_OPENING
    return Span(start=start, end=max(end, start + 1))
