"""What the last answer of a conversation rests on, for a question that follows it."""

from __future__ import annotations

from dataclasses import replace

from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.engine.components import Components
from ragstone.engine.replied import hits_of_passages


def findings(version: Components, session: str, request: Request) -> list[Hit]:
    """Return the passages behind the last answer of a stored conversation, best first, all documents of a list.

    Only those that are still stored and that the reader may read; none if the answer is not stored.

    Args:
        version: whose journal has the conversation.
        session: the stored name of the conversation.
        request: who asks.
    """
    history, who = version.history, request.reader.who
    last = next(iter(history.conversations().turns(session, who, most=1)), None)
    response = history.responses().find(last.response_id, who) if last and last.response_id else None
    hits = hits_of_passages(version.catalog, response.passages if response else ())
    return [replace(hit, why=()) for hit in hits if request.reader.may_read(hit.chunk.metadata)]
