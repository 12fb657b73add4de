"""The kinds of question: what it asks for decides whether and how it is searched for."""

from __future__ import annotations

from typing import Literal

TalkKind = Literal["greeting", "thanks", "goodbye", "help", "collection", "document", "summary", "unclear"]
"""What needs no search: words to whoever answers, questions about all the documents or one of them, and what cannot be
understood alone."""
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
