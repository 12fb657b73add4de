"""The patterns of talk: what is said to whoever answers, and what is asked about the documents rather than of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, get_args

from ragstone.core.frozen import frozen
from ragstone.core.kinds import CollectionFact, TalkKind
from ragstone.language.files import entry, languages, table
from ragstone.language.message import message_words
from ragstone.language.words import plain

Amount = Literal["price", "weight"]
"""What a verb may ask for without naming it: "cost", "weigh"."""


@frozen
class TalkWords:
    """The talk of a language, as ``en.yaml`` explains it.

    ``words`` are patterns that other patterns use by name, with ``kinds``, the nouns of `ListWords`. ``formats`` are
    those of documents of one kind, which count as "docs", too. ``patterns`` are those of each kind, ``collection``
    those of the kind of that name, by what is asked about. ``filler`` may stand before or behind a question.
    """

    words: Mapping[str, str]
    formats: Mapping[str, str]
    filler: Sequence[str]
    patterns: Mapping[TalkKind, Sequence[str]]
    collection: Mapping[CollectionFact, Sequence[str]]


@frozen
class ReportWords:
    """Patterns of words that name a periodic report, in lower case or as written.

    ``inside`` stands before a report, ``newest`` before the latest one, ``of`` between a report and its period.
    ``period`` is what a report covers; ``quarterly`` and ``yearly`` tell which.
    """

    inside: str
    newest: str
    report: str
    of: str
    period: str
    quarterly: str
    yearly: str


@frozen
class ListWords:
    """Patterns of questions for all documents of a kind.

    ``every``, ``which`` and ``count`` begin one, before ``articles``; ``nouns`` are kinds of documents, ``verbs`` what
    several of them do, ``about`` stands before their subject and ``origin`` before who made them or when. ``fillers``
    may stand between. ``parts`` of documents are no subject, and ``these`` are the documents of the answer before.
    """

    every: str
    which: str
    count: str
    articles: str
    nouns: str
    verbs: str
    about: str
    origin: str
    parts: str
    fillers: str
    these: str


@frozen
class LimitWords:
    """Patterns of limits of rows, each before a number, and the sign before the decimals of that.

    ``above`` and ``below`` leave the number out, ``least`` and ``most`` include it, and ``between`` stands before two
    numbers with ``until`` in between.
    """

    above: str
    below: str
    least: str
    most: str
    between: str
    until: str
    decimal: str


@frozen
class CompareWords:
    """Patterns of questions that compare things, and texts of the question for one value.

    ``begins`` begins one behind ``fillers``; ``differ`` only says that things differ. ``joins`` stand between things,
    ``of`` before them and ``within`` before what they are compared in. ``aspect``, ``owner`` and ``period`` together
    ask for one value; each has its own name in braces, ``owner`` that of the thing as ``name``.
    """

    begins: str
    fillers: str
    differ: str
    joins: str
    of: str
    within: str
    articles: str
    aspect: str
    owner: str
    period: str


def talking() -> tuple[str, ...]:
    """Return the languages whose talk is recognised."""
    return tuple(language for language in languages() if "talk" in table(language))


@cache
def talk_words(language: str) -> TalkWords:
    """Return the talk of a language; of English if it has none."""
    known = language if language in talking() else "en"
    talk = table(known)["talk"]
    kinds: tuple[TalkKind, ...] = get_args(TalkKind)
    patterns: dict[TalkKind, Sequence[str]] = {kind: talk[kind] for kind in kinds if kind != "collection"}
    formats = talk["formats"]
    tongues = message_words(known).names
    kinds_of_documents = plain(table(known)["lists"]["nouns"])
    words = {
        **talk["words"],
        "tongue": "|".join(tongues),
        "docs": "|".join([*formats.values(), talk["words"]["docs"]]),
        "kinds": kinds_of_documents,
    }
    return TalkWords(
        words=words, formats=formats, filler=talk["filler"], patterns=patterns, collection=talk["collection"]
    )


def report_words(language: str) -> ReportWords:
    """Return the words for reports of a language; of English if it has none."""
    return ReportWords(**entry(language, "reports"))


@cache
def list_words(language: str) -> ListWords:
    """Return the words of questions for lists of a language, which has a file."""
    return ListWords(**table(language)["lists"])


@cache
def limit_words(language: str) -> LimitWords:
    """Return the limits of rows of a language, which has a file."""
    return LimitWords(**table(language)["limits"])


@cache
def amount_verbs(amount: Amount, language: str) -> frozenset[str]:
    """Return the verbs that ask for an amount in a language, without diacritics; in English if it has no file."""
    return frozenset(map(plain, entry(language, "amounts")[amount]["verbs"]))


@cache
def amount_columns(amount: Amount) -> tuple[str, ...]:
    """Return the columns that have an amount, in all languages: a table may be in another one than the question."""
    columns = (column for language in languages() for column in table(language)["amounts"][amount]["columns"])
    return tuple(dict.fromkeys(map(plain, columns)))


@cache
def compare_words(language: str) -> CompareWords:
    """Return the words of questions that compare things of a language, which has a file."""
    return CompareWords(**table(language)["compares"])
