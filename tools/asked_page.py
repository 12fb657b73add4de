"""Write benchmarks/asked/README.md: what fifty questions as users ask them got, now and before the trained reader.

``make docs-answers`` runs it where RAGSTONE_TEST_DATA names the folder of the data sets. Answers are shown of the data
whose licence lets their texts be shown; of the others only the question, the verdict and the confidence.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from benchmarks.asked.__main__ import VERDICTS, counts, shown
from benchmarks.asked.asking import Told, told
from benchmarks.asked.questions import Verdict
from benchmarks.common import DATA, Options, data_folder
from tools.answers_page import KEPT, lines, plain, quoted

PAGE = Path(__file__).parent.parent / "benchmarks" / "asked" / "README.md"
BEFORE = Path(__file__).parent.parent / "benchmarks" / "asked" / "before.jsonl"
SHOWN = ("docs-site",)
"""The presets whose data may be shown; the others are texts of newspapers, companies and authorities."""
HEAD = """\
<!-- Written by tools/asked_page.py; run `make docs-answers` with RAGSTONE_TEST_DATA set. -->

# Fifty questions as users ask them

We ask each preset ten questions, on data of its kind and without a language model: a fact, a figure, a how-to question,
a list, yes or no, a comparison, a paraphrase, one with typing errors, one about something that the documents do not
have, and one out of scope. We wrote them from the documents before the first run, with the documents that answer them
and the words of a right answer. After the first run, we added one document, a duplicate, to the answers of one
question. We fitted nothing to these questions, but fixed faults that their answers showed. One fix changed a verdict:
without it, the question about harmful measures would be *right document*. Fifty questions are too few for percentages;
they are examples.

*Right*: the answer quotes a document that answers, with the words of the answer. *Right document*: without these words.
*Refused*: Ragstone claims no answer; it may show the closest passages. *Before* is commit 7dde708, the last one without
the trained model that reads sentences, with the same indexes.

"""
FOOT = """\
## Repeat it

    RAGSTONE_TEST_DATA=folder python -m benchmarks.asked --keep kbs

The texts of CUDA-Q are Copyright NVIDIA Corporation & Affiliates, Apache-2.0. From the news, we
added every fourth article and the articles with an answer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """What became of a question before."""

    verdict: Verdict
    confidence: float


async def render(data: Path) -> str:
    """Return the whole page, from the folder of the data sets."""
    return page([one async for one in told(Options(keep=KEPT, data=data))], former())


def former() -> dict[str, Former]:
    """Return what became of each question before, by its name."""
    with BEFORE.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {row["id"]: Former(verdict=row["verdict"], confidence=row["confidence"]) for row in rows}


def page(answers: Sequence[Told], before: Mapping[str, Former]) -> str:
    """Return the page of these answers."""
    parts = [_counts(answers, before)]
    for system in dict.fromkeys(one.question.system for one in answers):
        own = [one for one in answers if one.question.system == system]
        entries = [_entry(one, before[one.question.id]) for one in own] if system in SHOWN else [_table(own, before)]
        parts += [f"## {system}", *entries]
    return HEAD + "\n\n".join(parts) + "\n\n" + FOOT


def _counts(answers: Sequence[Told], before: Mapping[str, Former]) -> str:
    """Return how often each verdict was passed on the questions of each preset, before and now."""
    rows = [f"| preset | {' | '.join(VERDICTS)} |", "|---|" + "---|" * len(VERDICTS)]
    systems = list(dict.fromkeys(one.question.system for one in answers))
    for system in (*systems, "all"):
        own = [one for one in answers if system in ("all", one.question.system)]
        old, new = counts([before[one.question.id].verdict for one in own]), counts([one.verdict for one in own])
        cells = [f"{a} → {b}" for a, b in zip(old, new, strict=True)]
        rows.append(f"| {system} | {' | '.join(cells)} |")
    found = len(shown(answers))
    refused = f"Of the wrongly refused questions, {found} now show the words of the answer among the closest passages."
    return "Before → now:\n\n" + "\n".join(rows) + f"\n\n{refused}"


def _table(answers: Sequence[Told], before: Mapping[str, Former]) -> str:
    rows = ["| kind | question | outcome | verdict | confidence | before |", "|---|---|---|---|---|---|"]
    for one in answers:
        old, asked = before[one.question.id], one.question
        cells = [asked.kind, plain(asked.text), one.answer.outcome, one.verdict, f"{one.answer.confidence:.2f}"]
        rows.append(f"| {' | '.join(cells)} | {old.verdict} {old.confidence:.2f} |")
    return "\n".join(rows)


def _entry(one: Told, old: Former) -> str:
    """Return a question with its answer and what became of it."""
    asked = f"<b>{escape(one.question.text, quote=False)}</b> ({one.question.kind})"
    became = f"{one.answer.outcome}, confidence {one.answer.confidence:.2f}, **{one.verdict}**"
    return "\n\n".join(
        [
            quoted(f"{asked}<br>\n{lines(one.answer.answer)}"),
            f"{became}; before: {old.verdict}, {old.confidence:.2f}.",
        ]
    )


def main() -> None:
    """Write the page; without the data, report that and leave the page unchanged."""
    data = data_folder()
    if data is None:
        print(f"left {PAGE} as it is: {DATA} names no folder of data sets", file=sys.stderr)
        return
    PAGE.write_text(asyncio.run(render(data)), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
