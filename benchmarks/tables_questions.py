"""Questions about tables: how often the right cell is cited, and how often a wrong one.

Look-ups of AIT-QA, TAT-QA and WikiTableQuestions are asked of their own table, and of an index of all tables. Questions
about quarterly reports are asked of the whole engine, which reads the PDF files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bases import Parts, opened
from benchmarks.common import Options, Result, Table, main, progress, skipped
from benchmarks.table_sets import SETS, TableQuestion, documents, questions
from ragstone import chunk
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, Draft
from ragstone.core.records import Evidence, Hit
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.search import Search
from ragstone.engine.whole_tables import with_rows
from ragstone.question import read
from ragstone.respond.drafts import drafted

HITS = 5
PLAIN = Path(__file__).parent / "filings.jsonl"
"""Plain questions about the quarterly reports, with answers read from their pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a question; if neither, the answer is a refusal.

    ``stated`` is the probability with which an answer was given; None for a refusal.
    """

    right: bool = False
    wrong: bool = False
    stated: float | None = None


async def measure(options: Options) -> Result:
    """Measure both kinds of questions."""
    if options.folder("tables") is None:
        return skipped("sets of questions about tables")
    rows, figures = list[list[str]](), dict[str, Any]()
    given = list[Outcome]()
    for source, how, outcomes in await _lookups(options):
        given += outcomes if how == "its table" else []
        rows.append([source, how, *_shares(outcomes)])
        figures[f"{source} {how}"] = _figures(outcomes)
    for name, kinds in (await _filings(options)).items():
        for kind, outcomes in kinds.items():
            rows.append([name, kind, *_shares(outcomes)])
        everything = [one for some in kinds.values() for one in some]
        rows.append([name, "all", *_shares(everything)])
        figures[name] = _figures(everything)
    figures["lookup_right"], figures["lookup_wrong"], *_ = _figures(given).values()
    columns = ["questions", "asked of", "number", "right", "wrong", "right of those answered", "probability stated"]
    return Result(tables=[Table(title="questions about tables", columns=columns, rows=rows)], figures=figures)


async def _lookups(options: Options) -> list[tuple[str, str, list[Outcome]]]:
    """Return the outcomes of the look-ups of each set, asked of their own table and of an index of all tables."""
    assert options.data is not None
    request, out = Request.by_owner(), list[tuple[str, str, list[Outcome]]]()
    with opened(options.keep / "tables", (f"index.embedder={options.embedders[0]}", f"rank.top_k={HITS}")) as kb:
        made = [document for source in SETS for document in documents(options.data, source)]
        await kb.documents.add(made)
        parts = Parts(kb)
        settings, search, answerer = parts.settings, Search(parts.version), parts.answerer
        own = {one.id: chunk.split(one, settings.chunk, parts.embedder.tokens) for one in made}
        for source in SETS:
            asked = [one for one in questions(options.data, source) if one.is_lookup][:: 8 if options.quick else 1]
            outcomes: dict[str, list[Outcome]] = {"its table": [], "all tables": []}
            for one in asked:
                if one.document not in own:
                    continue
                hits = tuple(Hit(chunk=piece, score=1.0) for piece in own[one.document])
                rows = tuple(hit for hit in hits if hit.chunk.facts.get("is_table"))
                alone = Evidence(question=read(one.text), hits=hits, rows=(rows,), method="given")
                found = await search.evidence(read(one.text), None, HITS, request, Timings())
                found = with_rows(parts.version, found, None, request)
                for how, evidence in zip(outcomes, (alone, found), strict=True):
                    outcomes[how].append(_outcome(one, await drafted(answerer, evidence, request)))
            out += [(source, how, some) for how, some in outcomes.items()]
            progress(f"tables: {len(asked)} questions of {source}")
    return out


def _outcome(asked: TableQuestion, draft: Draft) -> Outcome:
    """Return the outcome of a look-up: right if the first citation is a cell with the answer.

    For a question when something was largest it must be headed by the answer.
    """
    if draft.abstained:
        return Outcome()
    first = draft.citations[0]
    shown = draft.text.partition(" [1]")[0]
    headings = shown.rpartition(": ")[0]
    named = any(re.search(rf"\b{re.escape(one)}\b", headings) for one in asked.answers)
    headed = named and read(asked.text).asks.extreme is not None
    right = first.document_id == asked.document and (asked.is_answered_by(asked.document, first.quote) or headed)
    return Outcome(right=right, wrong=not right, stated=draft.answerability)


# ---------------------------------------------------------------- quarterly reports
async def _filings(options: Options) -> dict[str, dict[str, list[Outcome]]]:
    """Return the outcomes of questions about quarterly reports, by set and kind."""
    assert options.data is not None
    folder = options.data / "tables/sec10q/dev"
    asked = {"plain questions": _rows(PLAIN), "sec10q look-ups": _sec10q(folder)}
    out: dict[str, dict[str, list[Outcome]]] = {}
    with opened(options.keep / "filings", (f"index.embedder={options.embedders[0]}",)) as kb:
        await kb.documents.add([str(folder / "pdf")])
        for name, rows in asked.items():
            kinds: dict[str, list[Outcome]] = {}
            for row in rows[:: 4 if options.quick else 1]:
                answer = await kb.ask(row["question"], reader=OWNER)
                outcome = _of_filing(row, answer)
                kinds.setdefault(row["kind"], []).append(outcome)
                said = "right" if outcome.right else "wrong" if outcome.wrong else "none"
                progress(f"{said}: {row['question']} -> {answer.answer[:160]!r} ({answer.answerability:.2f})")
            out[name] = kinds
    return out


def _of_filing(row: dict[str, Any], answer: Answer) -> Outcome:
    """Return the outcome: right if it has the figures from a report of the company, or refuses if there are none."""
    if answer.abstained:
        return Outcome(right=not row["answers"])
    found = [figure in answer.answer for figure in row["answers"]]
    enough = bool(found) and (all(found) if row["all"] else any(found))
    right = enough and any(row["company"] in one.document_id for one in answer.citations)
    return Outcome(right=right, wrong=not right, stated=answer.answerability)


def _sec10q(folder: Path) -> list[dict[str, Any]]:
    """Return the questions of the set that one figure answers; the first figure of an answer is the one asked for."""
    return [
        {
            "question": row["question"],
            "kind": "look-up",
            "company": Path(row["files"][0]).stem,
            "answers": [row["answers"][0].lstrip("$(")],
            "all": False,
        }
        for row in _rows(folder / "questions.jsonl")
        if row["kind"] == "lookup"
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    number = max(len(outcomes), 1)
    stated = [one.stated for one in outcomes if one.stated is not None]
    answered = max(len(stated), 1)
    return {
        "right": round(sum(one.right for one in outcomes) / number, 3),
        "wrong": round(sum(one.wrong for one in outcomes) / number, 3),
        "right_of_answered": round(sum(one.right for one in outcomes if one.stated is not None) / answered, 3),
        "stated": round(sum(stated) / answered, 3),
    }


def _shares(outcomes: Sequence[Outcome]) -> list[str]:
    return [str(len(outcomes)), *(f"{share:.3f}" for share in _figures(outcomes).values())]


if __name__ == "__main__":
    main({"tables_questions": measure}, "tables_questions")
