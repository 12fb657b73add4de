"""Metadata of a chunk: its section and page, whether it is code, and the kind and difficulty of its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from ragstone.chunk.outline import label_at
from ragstone.core.filters import Scalar
from ragstone.core.records import Mark, Metadata
from ragstone.language import lexicon

if TYPE_CHECKING:
    from ragstone.chunk.ruler import Ruler
    from ragstone.chunk.structure import Piece


def facts_of(
    piece: Piece, pages: Sequence[Mark], pictures: Sequence[Mark], ruler: Ruler | None, line: int = 0
) -> Metadata:
    """Return the metadata of a chunk.

    A document with headings gives ``section_title``, ``section_level`` and ``section`` (the path), one with pages gives
    ``page``, and a known ``line``, counted from 1, is kept. A chunk of the description of a picture has the model that
    wrote it as ``described_by``. A ruler adds ``is_code``, ``is_table``, ``token_count`` (in
    the unit of the ruler), ``chunk_kind`` and ``difficulty``. A chunk of a table has ``is_table``, ``table_header``
    (the rows of column headings, one per line), ``header_rows`` (how many of them begin the chunk), ``table_caption``
    and ``table_sections`` (the section of the table in which the chunk begins).
    """
    facts: dict[str, Scalar] = {}
    section, span = piece.section, piece.span
    if section.titles:
        facts |= {"section_title": section.title, "section_level": section.level, "section": section.path}
    if page := label_at(pages, span.start):
        facts["page"] = page
    if (model := label_at(pictures, span.start)) and model == label_at(pictures, span.end - 1):
        facts["described_by"] = model
    if line:
        facts["line"] = line
    if ruler is not None:
        facts |= {
            "is_code": piece.kind == "code",
            "is_table": piece.kind == "table",
            "token_count": ruler.length(span.start, span.end),
            "chunk_kind": "example" if piece.kind == "code" else _first("kinds", section.path, "text"),
            "difficulty": _first("difficulty", section.path, "intermediate"),
        }
    if part := piece.part:
        facts |= {
            "is_table": True,
            "table_header": part.header,
            "header_rows": part.header_rows,
            "table_caption": part.caption,
            "table_sections": part.section,
        }
    return facts


def _first(table: str, text: str, otherwise: str) -> str:
    """Return the first class of a table with a word in the text."""
    return next((name for name, words in _tables()[table] if words.search(text)), otherwise)


@cache
def _tables() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    return {
        table: [
            (name, re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE))
            for name, words in rows.items()
        ]
        for table, rows in lexicon().headings.items()
    }
