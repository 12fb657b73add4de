"""Answers, citations, hits, chunks and documents as one line of text, and as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from ragstone.core.answers import Answer, Citation, Outcome
from ragstone.core.naming import name_of
from ragstone.core.records import Chunk, Document, Hit

SHOWN = 72
"""Characters of a text in a summary."""
_OUTCOMES: Mapping[Outcome, str] = {
    "answer": "",
    "closest": "no sure answer, but passages that may hold it",
    "refusal": "the documents do not say",
    "reply": "",
    "clarification": "",
}
"""The note below a text that is not an answer."""
_ESTIMATED: tuple[Outcome, ...] = ("answer", "closest", "refusal")
"""The outcomes that have a confidence."""


def summary(record: object) -> str:
    """Return a record in one line."""
    match record:
        case Answer():
            cited = _count(len(record.citations), "citation")
            sure = f"confidence {record.confidence:.2f}, " if record.outcome in _ESTIMATED else ""
            return f"{_quoted(record.answer)} ({record.outcome}, {sure}{cited})"
        case Citation():
            return f"[{record.marker}] {_quoted(record.quote)} ({_place(record)})"
        case Hit():
            return f"{record.score:.3f} {_quoted(record.chunk.text)} ({_span(record.chunk)})"
        case Chunk():
            return f"{record.index + 1} of {record.total} {_quoted(record.text)} ({_span(record)})"
        case Document():
            title = f"{_quoted(record.title)}, " if record.title else ""
            return f"{record.id}: {title}{_count(len(record.text), 'character')}"
        case _:
            raise TypeError(f"{type(record).__name__} has no summary")


def to_html(record: object) -> str:
    """Return a record as HTML. All text is escaped, and links lead only to web addresses."""
    match record:
        case Answer():
            return _answer(record)
        case Citation():
            return _folded(f"<b>[{record.marker}]</b> {_linked(_place(record), record.url)}", record.quote)
        case Hit():
            chunk = record.chunk
            name = _linked(name_of(chunk), chunk.url)
            steps = "".join(
                f"<tr><td>{escape(one.stage)}</td><td>{one.rank}</td><td>{one.score:.3f}</td>"
                f"<td>{escape(one.note)}</td></tr>"
                for one in record.why
            )
            heads = "<tr><th>stage</th><th>rank</th><th>score</th><th></th></tr>"
            table = f"<table>{heads}{steps}</table>" if steps else ""
            return _folded(f"<b>{record.score:.3f}</b> {name} <small>{escape(_span(chunk))}</small>", chunk.text, table)
        case Chunk():
            name = _linked(name_of(record), record.url)
            return _folded(f"{name} <small>{escape(_span(record))}</small>", record.text)
        case Document():
            name = f"<b>{_linked(record.title or record.id, record.url)}</b>"
            return _folded(f"{name} <small>{escape(record.id)}, {len(record.text):,} characters</small>", record.text)
        case _:
            raise TypeError(f"{type(record).__name__} has no HTML")


def _answer(answer: Answer) -> str:
    sure = f"confidence {answer.confidence:.2f}" if answer.outcome in _ESTIMATED else ""
    note = "; ".join(filter(None, (_OUTCOMES[answer.outcome], sure)))
    parts = [
        f'<div style="white-space: pre-wrap">{escape(answer.answer)}</div>',
        *([f"<small>{note}</small>"] if note else []),
        *(to_html(citation) for citation in answer.citations),
        *(f"<small>{escape(notice)}</small>" for notice in (*answer.notices, *answer.flags)),
    ]
    return f"<div>{''.join(parts)}</div>"


def _folded(head: str, text: str, rest: str = "") -> str:
    """Return a text that unfolds below its head; ``head`` and ``rest`` are already HTML."""
    body = f'<blockquote style="white-space: pre-wrap">{escape(text)}</blockquote>'
    return f"<details><summary>{head}</summary>{body}{rest}</details>"


def _linked(text: str, url: str) -> str:
    if not url.startswith(("http://", "https://")):
        return escape(text)
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{escape(text)}</a>'


def _place(citation: Citation) -> str:
    page = f"page {citation.page}" if citation.page else ""
    return ", ".join(filter(None, (name_of(citation), citation.section, page, citation.origin)))


def _span(chunk: Chunk) -> str:
    return f"{chunk.document_id} {chunk.start:,}-{chunk.end:,}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"}"'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
