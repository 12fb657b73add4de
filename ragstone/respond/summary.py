"""The last lines of an answer, where they are wanted: which search found how much, and the best sources."""

from __future__ import annotations

from ragstone.contracts import Evidence
from ragstone.respond.unlinked import unlinked
from ragstone.respond.words import phrases

SHOWN = 2
"""Sources that are named."""


def summary(evidence: Evidence, language: str = "") -> str:
    """How many documents were found by vectors and by keywords, and the best `SHOWN` with their addresses.

    Args:
        evidence: the answer's.
        language: ISO 639-1 code; that of the question where it is empty.
    """
    said = phrases(language or evidence.language)
    found = {"vector": set[str](), "bm25": set[str]()}
    best: dict[str, str] = {}
    for hit in evidence.hits:
        chunk = hit.chunk
        best.setdefault(
            chunk.document_id, f"{unlinked(chunk.title or chunk.document_id)} ({chunk.url or chunk.document_id})"
        )
        for leg, documents in found.items():
            if any(step.stage.startswith(leg) for step in hit.why):
                documents.add(chunk.document_id)
    counts = said.found.format(documents=len(best), vector=len(found["vector"]), keywords=len(found["bm25"]))
    named = [" ".join(name.split()) for name in list(best.values())[:SHOWN]]
    return "\n".join([counts, said.sources, *(f"- {name}" for name in named)])
