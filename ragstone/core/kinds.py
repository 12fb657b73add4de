"""The kinds of question: what it asks for decides whether and how it is searched for."""

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
"""What gets no answer to a question of the documents: words to whoever answers, questions about all the documents or
some of them, and what cannot be understood alone. A ``comparison`` is one of two documents here."""
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
"""What is searched for. ``location`` to ``definition`` ask for one fact, ``confirmation`` for yes or no; ``question``,
``keywords`` and ``statement`` tell only the form of what was typed."""
Kind = Literal[TalkKind, SearchKind]

CollectionFact = Literal["count", "newest", "oldest", "author", "authors", "formats", "list"]
"""What can be asked about the documents together: ``author`` asks for that of one document."""
