"""Answers as HTML. Every text goes through `tag`, which escapes it; no link and no picture is made of anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.answers import Answer, Citation
from ragstone.contracts import Chunk
from ragstone.review.compare import Differing
from ragstone.serve.lab.views import Piece, Placed, View, is_alone, pieces
from ragstone.serve.render import cut
from ragstone.serve.report.markup import Content, Markup, table, tag

_MARKER = re.compile(r"(\[(?:(?:Web )?Source )?(?:\d+|\?)\])")
_TITLE = 90
"""Characters of a title that are shown."""
_BEGINNING = 70
"""Characters of a chunk that are shown beside its title."""


def notice(kind: str, *content: Content) -> Markup:
    """A line that tells something: ``error``, ``warning`` or ``note``."""
    return tag("p", *content, at={"class": f"rs-notice rs-{kind}"})


def chips(differing: Sequence[Differing], names: tuple[str, str]) -> Markup:
    """The settings that differ, each with both values."""
    if not differing:
        return tag("p", "Both sides have the same settings; change one at the left.", at={"class": "rs-dim"})
    return tag(
        "p",
        [
            tag(
                "span",
                tag("code", one.path),
                [tag("b", f" {name} ", at={"class": f"rs-{name.lower()}"}) for name in names[:1]],
                one.a or "-",
                [tag("b", f" {name} ", at={"class": f"rs-{name.lower()}"}) for name in names[1:]],
                one.b or "-",
                at={"class": "rs-chip"},
            )
            for one in differing
        ],
        at={"class": "rs-chips"},
    )


def answer_card(view: View, other: View | None, *, waiting: bool = False) -> Markup:
    """An answer, whole or as far as it has come; what the other side does not say is marked."""
    if view.error:
        return tag("div", notice("error", view.error), at={"class": "rs-card"})
    if view.answer is None:
        return tag("div", _growing(view, waiting=waiting), at={"class": "rs-card"})
    answer, theirs = view.answer, other.answer if other else None
    return tag(
        "div",
        _badge(answer),
        tag("div", [_piece(one) for one in pieces(answer, theirs)], at={"class": "rs-answer"}),
        _figures(view, other),
        _citations(answer.citations, theirs),
        [notice("note", one) for one in answer.notices],
        at={"class": "rs-card"},
    )


def evidence_table(rows: Sequence[Placed], names: Sequence[str]) -> Markup:
    """The chunks of the evidence with their place on each side."""
    body = []
    for row in rows:
        alone = sum(place is not None for place in row.places) < len(row.places)
        cells: list[Content] = [_place(place) for place in row.places]
        here = tag("small", "only here", at={"class": "rs-only"}) if alone else ""
        cells.append(opened(named(row.chunk), here, row.chunk))
        body.append(cells)
    return table([*names, "chunk"], body, numbers=range(len(names)))


def timing_bars(answers: Sequence[Answer], names: Sequence[str]) -> Markup:
    """How long each stage took on each side, as bars on one scale."""
    stages = list(dict.fromkeys(stage for answer in answers for stage in answer.timings_ms))
    most = max([value for answer in answers for value in answer.timings_ms.values()] + [0.01])
    rows = []
    for stage in stages:
        bars = [
            tag(
                "div",
                tag(
                    "span", at={"class": f"rs-bar rs-{name.lower()}", "style": f"width:{_share(answer, stage, most)}%"}
                ),
                tag("small", f"{answer.timings_ms.get(stage, 0.0):.1f} ms"),
                at={"class": "rs-time"},
            )
            for name, answer in zip(names, answers, strict=True)
        ]
        rows.append([stage, bars])
    return tag("div", table(["stage", "milliseconds"], rows), at={"class": "rs-times"})


def named(chunk: Chunk) -> Sequence[Content]:
    """A chunk by its title and how it begins."""
    return cut(chunk.title or chunk.document_id, _TITLE), tag("small", f" {cut(chunk.text, _BEGINNING)}")


def opened(name: Sequence[Content], after: Content, chunk: Chunk, *more: Content) -> Markup:
    """A line that shows the whole chunk, and more, at a click."""
    place = f"{cut(chunk.url or chunk.document_id, _TITLE)}, characters {chunk.start}-{chunk.end}"
    inside = tag("div", chunk.text, at={"class": "rs-quote"}), tag("small", place), more
    return tag("details", tag("summary", name, after), inside)


def _share(answer: Answer, stage: str, most: float) -> int:
    return round(answer.timings_ms.get(stage, 0.0) / most * 75)


def _growing(view: View, *, waiting: bool) -> Iterator[Content]:
    if view.hits is None:
        yield tag(
            "p", "waiting for the other side" if waiting else "getting ready, searching …", at={"class": "rs-dim"}
        )
        return
    yield tag("p", f"{len(view.hits)} chunks of evidence; answering …", at={"class": "rs-dim"})
    checked = [
        tag("span", one.text, " ", at={"class": "rs-s" if one.supported else "rs-s rs-unproved"})
        for one in view.sentences
    ]
    yield tag("div", checked or view.text, at={"class": "rs-answer"})


def _badge(answer: Answer) -> Markup:
    kind, said = ("refused", "not answered") if answer.abstained else ("answered", "answered")
    by = f"by {answer.model}; {answer.retrieval_method}"
    return tag("p", tag("span", said, at={"class": f"rs-badge rs-{kind}"}), " ", tag("small", by))


def _piece(piece: Piece) -> Markup:
    text = [tag("sup", part.strip("[]")) if _MARKER.fullmatch(part) else part for part in _MARKER.split(piece.text)]
    if piece.support is None:
        return tag("span", text)
    style = "rs-s" + (" rs-only" if piece.only else "") + ("" if piece.supported else " rs-unproved")
    proof = f"support {piece.support:.2f}" + ("" if piece.supported else ": not proved by the documents")
    return tag("span", text, at={"class": style, "title": proof + ("; only on this side" if piece.only else "")})


def _figures(view: View, other: View | None) -> Markup:
    assert view.answer is not None
    answer, theirs = view.answer, other.answer if other else None
    pairs: list[tuple[str, float | None, float | None, str]] = [
        ("confidence", answer.confidence, theirs and theirs.confidence, ".2f"),
        ("answerability", answer.answerability, theirs and theirs.answerability, ".2f"),
        ("support", answer.support, theirs and theirs.support, ".2f"),
        ("first word, ms", view.first, other.first if other else None, ".0f"),
        ("in all, ms", view.last, other.last if other else None, ".0f"),
    ]
    usage = answer.usage
    if usage.model_calls:
        tokens = float(usage.prompt_tokens + usage.completion_tokens)
        pairs.append(("tokens", tokens, None, ",.0f"))
    pairs.append(("cost", usage.cost, None, ".4f" if usage.cost else ".0f"))
    if marks := answer.judge_scores:
        mean = (marks.relevance + marks.factuality + marks.completeness) / 3
        pairs.append((f"marks by {marks.judge}", mean, None, ".1f"))
    return tag("div", [_tile(*pair) for pair in pairs], at={"class": "rs-tiles"})


def _tile(name: str, value: float | None, other: float | None, form: str) -> Markup:
    moved = None if value is None or other is None else value - other
    shown = "" if moved is None or format(abs(moved), form).strip("0.") == "" else f"{moved:+{form}}"
    told = "-" if value is None else format(value, form)
    return tag("div", tag("b", told), tag("small", shown), tag("span", name), at={"class": "rs-tile"})


def _citations(citations: Sequence[Citation], other: Answer | None) -> Markup | str:
    if not citations:
        return ""
    return tag("div", [_citation(one, other) for one in citations], at={"class": "rs-citations"})


def _citation(one: Citation, other: Answer | None) -> Markup:
    alone = other is not None and is_alone(one, other.citations)
    place = ", ".join(
        part
        for part in (
            cut(one.url or one.document_id, _TITLE),
            f"p. {one.page}" if one.page else "",
            cut(one.section, _TITLE) if one.section != one.title else "",
            f"characters {one.start}-{one.end}",
        )
        if part
    )
    return tag(
        "div",
        tag("b", f"{one.marker} ", at={"class": "rs-marker"}),
        tag("b", cut(one.title, _TITLE)),
        tag("small", "only here", at={"class": "rs-only"}) if alone else "",
        tag("div", f"“{one.quote}”", at={"class": "rs-quote"}),
        tag("small", place),
        at={"class": "rs-citation"},
    )


def _place(place: int | None) -> str:
    return "–" if place is None else str(place)
