"""Keeps tantivy's mean length of a chunk that of the chunks, so that changes leave scores as a new index has them.

tantivy counts removed chunks too, and estimates lengths when it merges segments. There is no other way to correct it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import tantivy

from ragstone.index.keyword.segment_files import writing
from ragstone.index.keyword.statistics import Statistics
from ragstone.index.keyword.term_query import BLOCK

DRIFTED = 1e-5
"""How far tantivy's mean length may be from the chunks' own, as a share of it; a score changes by less."""
_NO_ROW, _FILLING = -1, "\x00"
"""The row and the term of the chunks that are added and removed at once."""
_TRIED = 16
"""Numbers of such chunks to try: their lengths are whole numbers, and one number fits best."""


def document(row: int, terms: Sequence[str], language: str) -> tantivy.Document:
    """Return a chunk as it is indexed."""
    return tantivy.Document(row=row, block=row // BLOCK, length=len(terms), terms=" ".join(terms), language=language)


def balance(index: tantivy.Index, counted: Statistics, row: int, terms: Sequence[str], language: str) -> bool:
    """Add removed chunks that correct the mean length, and return whether it was wrong.

    Args:
        index: to write to.
        counted: what it holds.
        row: a chunk, which is written again: removed chunks last only in a segment that holds another one.
        terms: of this chunk.
        language: of this chunk.
    """
    mean, engine = counted.mean_length(), counted.engine_length(terms[0]) if terms else 0.0
    if not mean or not engine or abs(engine / mean - 1) <= DRIFTED:
        return False
    total = counted.chunks + counted.removed + 1
    tokens = engine * (total - 1) + len(terms)
    least = max(1, math.ceil(tokens / mean - total))
    # The terms that these chunks must have: so many that the mean of all is right.
    lacking = {more: mean * (total + more) - tokens for more in range(least, least + _TRIED)}
    more = min(lacking, key=lambda one: abs(lacking[one] - round(lacking[one])))
    filling = f"{_FILLING} " * max(0, round(lacking[more]))
    with writing(index) as writer:
        writer.delete_documents_by_term("row", row)
        for text in (filling, *[""] * (more - 1)):
            writer.add_document(tantivy.Document(row=_NO_ROW, block=_NO_ROW, length=0, terms=text, language=""))
        writer.delete_documents_by_term("row", _NO_ROW)
        writer.add_document(document(row, terms, language))
        writer.commit()
    index.reload()
    return True
