"""The kinds of question, which decide whether and how Ragstone searches."""

from __future__ import annotations

from typing import Literal

TalkKind = Literal[
    "greeting",
    "thanks",
    "goodbye",
    "help",
    "overview",
    "timeline",
    "comparison",
    "collection",
    "document",
    "summary",
    "unclear",
]
"""Kinds that need no search: courtesies, questions about all or some of the documents, and questions that are unclear
on their own. A ``comparison`` here compares two documents."""
SearchKind = Literal[
    "troubleshooting",
    "comparison",
    "list",
    "how_to",
    "example",
    "location",
    "time",
    "person",
    "quantity",
    "definition",
    "reason",
    "confirmation",
    "question",
    "keywords",
    "statement",
]
"""Kinds that need a search.

``location`` to ``definition`` ask for one fact, ``confirmation`` for yes or no; ``question``, ``keywords`` and
``statement`` describe only the form of the input.
"""
Kind = Literal[TalkKind, SearchKind]

Difficulty = Literal["beginner", "intermediate", "advanced"]

CollectionFact = Literal["count", "newest", "oldest", "author", "authors", "formats", "list"]
"""Questions about the documents as such: ``author`` asks for the author of one document."""
