"""The evidence with what an answer cites below its hits."""

from __future__ import annotations

from dataclasses import replace

from evidence import evidence, hit

from ragstone.core.answers import Citation
from ragstone.core.records import Evidence
from ragstone.engine.cited import with_cited

FOUND = evidence("Where is the mill?", "The mill is by the river.")
OLDER = hit("The mill was on the hill.", 1)


def citing(found: Evidence, number: int) -> Citation:
    (cited,) = (one for one in (*found.hits, *found.versions) if one.chunk.document_id == f"d{number}")
    chunk = cited.chunk
    return Citation(
        marker=1,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        start=chunk.start,
        end=chunk.end,
        quote=chunk.text,
        title=chunk.title,
    )


def test_evidence_that_has_all_cited_passages_is_the_same_object() -> None:
    assert with_cited(FOUND, [citing(FOUND, 0)]) is FOUND


def test_cited_versions_come_below_the_hits() -> None:
    found = replace(FOUND, versions=(OLDER,))
    assert with_cited(found, [citing(found, 0), citing(found, 1)]).hits == (*FOUND.hits, OLDER)
