"""A draft that is whole already, as the events by which it would have come about."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.answers import Draft, SentenceClosed, TextWritten


def replayed(draft: Draft) -> Iterator[TextWritten | SentenceClosed]:
    """Its text, and each statement with the citations that prove it."""
    cited = {citation.marker: citation for citation in draft.citations}
    end = 0
    for statement in draft.statements:
        shown = draft.text[end : statement.end]
        yield TextWritten(text=shown)
        end = statement.end
        yield SentenceClosed(
            text=draft.text[statement.start : statement.end],
            supported=statement.supported,
            support=statement.support,
            citations=tuple(cited[marker] for marker in statement.markers),
            as_shown=shown,
        )
    if rest := draft.text[end:]:
        yield TextWritten(text=rest)
