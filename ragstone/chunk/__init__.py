"""Split documents into chunks with exact spans."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ragstone.chunk import text as strategies
from ragstone.chunk.facts import facts_of
from ragstone.chunk.outline import Outlined, Section, section_at, sections
from ragstone.chunk.reading import reading_sentences as sentences
from ragstone.chunk.ruler import Characters, Ruler, Tokens
from ragstone.chunk.structure import Piece, structured
from ragstone.core.protocols import Tokens as TokensOf
from ragstone.core.records import Chunk, Document
from ragstone.settings import ChunkSettings

__all__ = ["Outlined", "fingerprint", "sentences", "split"]

_VERSION = 1
"""Increase it when the same settings would split a text differently than before."""


def fingerprint(settings: ChunkSettings) -> str:
    """Return a text that changes whenever the chunks of a document would."""
    return f"{settings.strategy} {settings.unit} {settings.size}/{settings.overlap} {settings.context} v{_VERSION}"


def split(document: Document, settings: ChunkSettings, tokens_of: TokensOf) -> list[Chunk]:
    """Return the chunks of a document, in order; none if it is blank.

    Args:
        document: every chunk has its title, URL and metadata.
        settings: strategy, unit, size, overlap and context.
        tokens_of: finds tokens, if the settings measure size in tokens.
    """
    ruler = _ruler(document.text, settings, tokens_of)
    pieces = list(_pieces(document, settings, ruler))
    pages = [mark for mark in document.marks if mark.kind == "page"]
    return [
        Chunk(
            id=chunk_id(document.id, index, piece.span.of(document.text)),
            document_id=document.id,
            index=index,
            total=len(pieces),
            start=piece.span.start,
            end=piece.span.end,
            text=piece.span.of(document.text),
            title=document.title,
            url=document.url,
            metadata=document.metadata,
            context=_context(document, piece.section, settings),
            facts=facts_of(piece, pages, ruler if settings.strategy == "structure" else None),
        )
        for index, piece in enumerate(pieces)
    ]


def _pieces(document: Document, settings: ChunkSettings, ruler: Ruler) -> Iterator[Piece]:
    text, size, overlap = document.text, settings.size, settings.overlap
    match settings.strategy:
        case "structure":
            yield from structured(text, document.marks, ruler, size, overlap)
            return
        case "sliding_window":
            spans = strategies.sliding_window(text, size, overlap)
        case "sentence":
            spans = strategies.by_sentence(text, size, overlap, ruler)
        case "paragraph":
            spans = strategies.by_paragraph(text, size, overlap, ruler)
        case "recursive":
            spans = strategies.recursive(text, size, overlap)
    outline = sections(len(text), document.marks)
    for span in spans:
        yield Piece(span=span, section=section_at(outline, span.start))


def _ruler(text: str, settings: ChunkSettings, tokens_of: TokensOf) -> Ruler:
    return Tokens(text, tokens_of) if settings.unit == "tokens" else Characters(text)


def _context(document: Document, section: Section, settings: ChunkSettings) -> str:
    match settings.context:
        case "none":
            return ""
        case "title":
            return document.title
        case "path":
            # The first heading is usually the title again.
            titles = section.titles[1:] if section.titles[:1] == (document.title,) else section.titles
            return "\n".join(part for part in (document.title, " > ".join(titles)) if part)


def chunk_id(document_id: str, index: int, text: str) -> str:
    """Return the id of a chunk, a hash of its document, position and text."""
    # A text from another program may hold lone surrogates, which strict UTF-8 refuses.
    identity = f"{document_id}\0{index}\0{text}".encode(errors="surrogatepass")
    return hashlib.sha256(identity).hexdigest()[:32]
