"""What Ragstone says in each language: refusals, summaries, and replies that need no search."""

from __future__ import annotations

from functools import cache

from ragstone.core.frozen import frozen
from ragstone.language.files import entry


@frozen
class Phrases:
    """What a refusal, passages that may answer, a failure and a summary say, and what stands before other documents.

    Those of one language, with placeholders. ``chain`` stands before the steps of research, the last ones with lists
    and comparisons.
    """

    refusal: str
    likely: str
    also: str
    closest: str
    nothing_close: str
    unfound: str
    unmentioned: str
    failed: str
    sources: str
    found: str
    older: str
    earlier: str
    newer: str
    disagree: str
    chain: str
    listed: str
    expected: str
    none_listed: str
    rows_listed: str
    aspect: str
    not_found: str
    none_compared: str
    titled: str


@frozen
class Replies:
    """What is said in one language without a search, with placeholders in braces."""

    greeting: str
    thanks: str
    goodbye: str
    help: str
    holds: str
    empty: str
    count: str
    rows: str
    some: str
    selected: str
    unmatched: str
    newest: str
    oldest: str
    dated_newest: str
    dated_oldest: str
    authors: str
    formats: str
    unnamed: str
    author: str
    anonymous: str
    topic: str
    outline: str
    themes: str
    one_theme: str
    theme: str
    smaller: str
    timeline: str
    undated: str
    digest: str
    compared: str
    differing: str
    shared: str
    only: str
    same: str
    which: str
    unclear: str


@frozen
class Drafts:
    """How questions of an evaluation are drafted in one language, with placeholders, and two patterns."""

    cell: str
    definition: str
    section: str
    elsewhere: str
    how: str
    how_heading: str
    defines: str


@cache
def phrases(language: str) -> Phrases:
    """Return the texts of a language; in English if it has no file."""
    return Phrases(**entry(language, "phrases"))


@cache
def replies(language: str) -> Replies:
    """Return the replies of a language; in English if it has no file."""
    return Replies(**entry(language, "replies"))


@cache
def drafts(language: str) -> Drafts:
    """Return how questions are drafted in a language; in English if it has no file."""
    return Drafts(**entry(language, "drafts"))
