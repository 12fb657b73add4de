"""Answers as they grow and side by side, as HTML that marks what only one side has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragstone.core.answers import (
    FLAGGED,
    Answer,
    Answered,
    Citation,
    EvidenceFound,
    Outcome,
    SentenceClosed,
    TextWritten,
)
from ragstone.core.frozen import frozen
from ragstone.core.records import Chunk, Hit
from ragstone.review.compare import SettingDifference
from ragstone.serve.lab.desk import Heard
from ragstone.serve.report.markup import Content, Markup, table, tag
from ragstone.serve.views.answers import MARKER, place
from ragstone.serve.views.blocks import count, cut

_TITLE = 90
"""Characters of a title that are shown."""
_BEGINNING = 70
"""Characters of a chunk that are shown after its title."""


@frozen
class Progress:
    """An answer as far as it has come; ``first`` and ``last`` are the times of its first word and its end."""

    hits: tuple[Hit, ...] | None = None
    text: str = ""
    sentences: tuple[SentenceClosed, ...] = ()
    answer: Answer | None = None
    first: float | None = None
    last: float | None = None
    error: str = ""

    def after(self, heard: Heard) -> Progress:
        """Return the progress after one more event."""
        if heard.error:
            return replace(self, error=heard.error)
        match heard.event:
            case EvidenceFound(evidence=evidence):
                return replace(self, hits=evidence.hits)
            case TextWritten(text=text):
                first = heard.milliseconds if self.first is None else self.first
                return replace(self, text=self.text + text, first=first)
            case SentenceClosed() as sentence:
                return replace(self, sentences=(*self.sentences, sentence))
            case Answered(answer=answer):
                return replace(self, answer=answer, hits=answer.hits, last=heard.milliseconds)
            case _:
                return self


@frozen
class Piece:
    """A sentence of an answer with its support, or the text between two sentences, which has none.

    ``wrong`` says what is wrong with a flagged sentence; ``only`` that the other side has no such sentence.
    """

    text: str
    support: float | None = None
    wrong: str = ""
    only: bool = False


@frozen
class Placed:
    """A chunk of the evidence, and its rank on each side."""

    chunk: Chunk
    places: tuple[int | None, ...]


def pieces(answer: Answer, other: Answer | None) -> Iterator[Piece]:
    """Yield the text of an answer, cut at its sentences."""
    theirs = None if other is None else {_bare(one.text) for one in _sentences(other) if one.support is not None}
    for one in _sentences(answer):
        only = theirs is not None and one.support is not None and _bare(one.text) not in theirs
        yield replace(one, only=only)


def _sentences(answer: Answer) -> Iterator[Piece]:
    done = 0
    for statement in sorted(answer.statements, key=lambda one: one.start):
        if statement.start > done:
            yield Piece(text=answer.answer[done : statement.start])
        text = answer.answer[statement.start : statement.end]
        wrong = (statement.reason or statement.state) if statement.state in FLAGGED else ""
        yield Piece(text=text, support=statement.support, wrong=wrong)
        done = max(done, statement.end)
    if done < len(answer.answer):
        yield Piece(text=answer.answer[done:])


def _bare(text: str) -> str:
    """Return a sentence without its markers, whose numbers differ between the sides."""
    return " ".join(re.sub(rf"\s*{MARKER.pattern}", "", text).split())


def placed(sides: Sequence[Sequence[Hit]]) -> list[Placed]:
    """Return the chunks of all sides, by their best rank."""
    ranks = [{hit.chunk.id: rank for rank, hit in enumerate(hits, start=1)} for hits in sides]
    chunks = {hit.chunk.id: hit.chunk for hits in sides for hit in hits}
    rows = [Placed(chunk=chunk, places=tuple(rank.get(id) for rank in ranks)) for id, chunk in chunks.items()]
    return sorted(rows, key=lambda row: min(place for place in row.places if place is not None))


# ---------------------------------------------------------------- as HTML


def notice(kind: str, *content: Content) -> Markup:
    """Show a message: an ``error``, a ``warning`` or a ``note``."""
    return tag("p", *content, at={"class": f"rs-notice rs-{kind}"})


def chips(differing: Sequence[SettingDifference], names: tuple[str, str]) -> Markup:
    """Show the settings that differ, each with both values."""
    if not differing:
        return tag("p", "Both sides have the same settings; change one at the left.", at={"class": "rs-dim"})
    a, b = (tag("b", f" {name} ", at={"class": f"rs-{name.lower()}"}) for name in names)
    drawn = [
        tag("span", tag("code", one.path), a, one.a or "-", b, one.b or "-", at={"class": "rs-chip"})
        for one in differing
    ]
    return tag("p", drawn, at={"class": "rs-chips"})


def answer_card(here: Progress, other: Progress | None, *, waiting: bool = False) -> Markup:
    """Show an answer, whole or as far as it has come, and mark what the other side lacks."""
    if here.error:
        return tag("div", notice("error", here.error), at={"class": "rs-card"})
    if here.answer is None:
        return tag("div", _growing(here, waiting=waiting), at={"class": "rs-card"})
    answer, theirs = here.answer, other.answer if other else None
    return tag(
        "div",
        _badge(answer),
        tag("div", [_piece(one) for one in pieces(answer, theirs)], at={"class": "rs-answer"}),
        _figures(here, answer, other),
        _citations(answer.citations, theirs),
        [notice("note", one) for one in answer.notices],
        at={"class": "rs-card"},
    )


def evidence_table(rows: Sequence[Placed], names: Sequence[str]) -> Markup:
    """Show the chunks of the evidence with their rank on each side."""
    body: list[Sequence[Content]] = []
    for row in rows:
        here = _only() if None in row.places else ""
        ranks = ["–" if rank is None else str(rank) for rank in row.places]
        body.append([*ranks, opened(named(row.chunk), here, row.chunk)])
    return table([*names, "chunk"], body, numbers=range(len(names)))


def timing_bars(answers: Sequence[Answer], names: Sequence[str]) -> Markup:
    """Show the time of each stage on each side, as bars on one scale."""
    stages = dict.fromkeys(stage for answer in answers for stage in answer.timings_ms)
    most = max(0.01, *(value for answer in answers for value in answer.timings_ms.values()))
    rows: list[Sequence[Content]] = []
    for stage in stages:
        bars: list[Content] = []
        for name, answer in zip(names, answers, strict=True):
            spent = answer.timings_ms.get(stage, 0.0)
            bar = {"class": f"rs-bar rs-{name.lower()}", "style": f"width:{round(spent / most * 75)}%"}
            bars.append(tag("div", tag("span", at=bar), tag("small", f"{spent:.1f} ms"), at={"class": "rs-time"}))
        rows.append([stage, bars])
    return tag("div", table(["stage", "milliseconds"], rows), at={"class": "rs-times"})


def named(chunk: Chunk) -> Sequence[Content]:
    """Return a chunk's title and beginning."""
    return cut(chunk.title or chunk.document_id, _TITLE), tag("small", f" {cut(chunk.text, _BEGINNING)}")


def opened(name: Sequence[Content], after: Content, chunk: Chunk, *more: Content) -> Markup:
    """Show a line that unfolds to the whole chunk."""
    at = f"{cut(chunk.url or chunk.document_id, _TITLE)}, characters {chunk.start}-{chunk.end}"
    inside = tag("div", chunk.text, at={"class": "rs-quote"}), tag("small", at), more
    return tag("details", tag("summary", name, after), inside)


def _only() -> Markup:
    return tag("small", "only here", at={"class": "rs-only"})


def _growing(here: Progress, *, waiting: bool) -> Iterator[Content]:
    if here.hits is None:
        state = "waiting for the other side" if waiting else "loading, searching …"
        yield tag("p", state, at={"class": "rs-dim"})
        return
    yield tag("p", f"{count(len(here.hits), 'chunk')} of evidence; answering …", at={"class": "rs-dim"})
    checked = [
        tag("span", one.text, " ", at={"class": "rs-s rs-unproved" if one.state in FLAGGED else "rs-s"})
        for one in here.sentences
    ]
    yield tag("div", checked or here.text, at={"class": "rs-answer"})


_BADGES: Mapping[Outcome, tuple[str, str]] = {
    "answer": ("answered", "answered"),
    "closest": ("refused", "passages that may answer"),
    "refusal": ("refused", "not answered"),
    "reply": ("answered", "replied"),
    "clarification": ("refused", "asked back"),
}


def _badge(answer: Answer) -> Markup:
    kind, text = _BADGES[answer.outcome]
    by = f"by {answer.model}; {answer.retrieval_method.replace('_', ' ')}"
    return tag("p", tag("span", text, at={"class": f"rs-badge rs-{kind}"}), " ", tag("small", by))


def _piece(piece: Piece) -> Markup:
    text = [tag("sup", part.strip("[]")) if MARKER.fullmatch(part) else part for part in MARKER.split(piece.text)]
    if piece.support is None:
        return tag("span", text)
    style = "rs-s" + (" rs-only" if piece.only else "") + (" rs-unproved" if piece.wrong else "")
    proof = f"support {piece.support:.2f}" + (f": {piece.wrong}" if piece.wrong else "")
    return tag("span", text, at={"class": style, "title": proof + ("; only on this side" if piece.only else "")})


def _figures(here: Progress, answer: Answer, other: Progress | None) -> Markup:
    theirs = other.answer if other else None
    figures: list[tuple[str, float | None, float | None, str]] = [
        ("confidence", answer.confidence, theirs and theirs.confidence, ".2f"),
        ("answerability", answer.answerability, theirs and theirs.answerability, ".2f"),
        ("support", answer.support, theirs and theirs.support, ".2f"),
        ("first word, ms", here.first, other.first if other else None, ".0f"),
        ("total, ms", here.last, other.last if other else None, ".0f"),
    ]
    usage = answer.usage
    if usage.model_calls:
        figures.append(("tokens", float(usage.prompt_tokens + usage.completion_tokens), None, ",.0f"))
    figures.append(("cost", usage.cost, None, ".4f" if usage.cost else ".0f"))
    if marks := answer.judge_scores:
        mean = (marks.relevance + marks.factuality + marks.completeness) / 3
        figures.append((f"scores by {marks.judge}", mean, None, ".1f"))
    return tag("div", [_tile(*one) for one in figures], at={"class": "rs-tiles"})


def _tile(name: str, value: float | None, other: float | None, form: str) -> Markup:
    moved = None if value is None or other is None else value - other
    shown = "" if moved is None or format(abs(moved), form).strip("0.") == "" else f"{moved:+{form}}"
    figure = "-" if value is None else format(value, form)
    return tag("div", tag("b", figure), tag("small", shown), tag("span", name), at={"class": "rs-tile"})


def _citations(citations: Sequence[Citation], other: Answer | None) -> Markup | str:
    if not citations:
        return ""
    return tag("div", [_citation(one, other) for one in citations], at={"class": "rs-citations"})


def _citation(citation: Citation, other: Answer | None) -> Markup:
    shared = other is None or any(
        theirs.document_id == citation.document_id and theirs.start < citation.end and citation.start < theirs.end
        for theirs in other.citations
    )
    return tag(
        "div",
        tag("b", f"{citation.marker} ", at={"class": "rs-marker"}),
        tag("b", cut(citation.title, _TITLE)),
        "" if shared else _only(),
        tag("div", f"“{citation.quote}”", at={"class": "rs-quote"}),
        tag("small", cut(place(citation), 2 * _TITLE)),
        at={"class": "rs-citation"},
    )
