"""Write docs/answers.md: questions of public data sets, chosen by a rule, and what Ragstone answers.

``make docs-answers`` runs it where RAGSTONE_TEST_DATA names the folder of the data sets. Only sets whose licence lets
their texts be shown are on the page. Every right or wrong on it is by what people marked as evidence, never by us.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, Citation, Outcome
from ragstone.core.records import Chunk, Document, Span
from ragstone.engine.experiments.bench import open_bench
from ragstone.review.citations import Place, locate, touches
from ragstone.review.dataset import Dataset, Query
from ragstone.review.evaluate import spread

PAGE = Path(__file__).parent.parent / "docs" / "answers.md"
DATA = "RAGSTONE_TEST_DATA"
KEPT = Path(__file__).parent.parent / ".ragstone-bench"
"""The folder that keeps knowledge bases for the next run, as ``make bench`` does."""
AROUND = 240
"""Characters shown before and after a citation."""
NEAREST = 2
"""Passages shown with a refusal."""
OUTCOMES: dict[Outcome, str] = {
    "answer": "answered",
    "closest": "passages that may answer",
    "refusal": "refused",
    "reply": "answered",
    "clarification": "asked back",
}
"""How headings name the outcomes."""
HEAD = """\
<!-- Written by tools/answers_page.py; run `make docs-answers` with RAGSTONE_TEST_DATA set. -->

# Ten questions and their answers

This page shows how Ragstone answers by default, without a language model, when people ask about real documents: the
answer, the passage behind it with the cited words in **bold**, and whether the annotators of the evidence agree.

A rule chooses the questions. From a set of *N* questions, in the order of its file, we take the questions at positions
1 + ⌊*kN* / *n*⌋, for *k* from 0 to *n* - 1, and keep wrong answers. Of these ten, COUNT are right. Ten are too few to
show how often answers are right; [the benchmarks](benchmarks.md) measure this on all questions.
[Another page](../benchmarks/asked/README.md) shows what users of each preset would ask.

| set | documents | questions | shown | embedding model | texts |
|---|---|---|---|---|---|
"""
FOOT = """\
## Repeat it

Put the data sets into a folder, each with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`, and run:

    RAGSTONE_TEST_DATA=folder make docs-answers

The texts of CLAP NQ and XQuAD come from Wikipedia and keep their licences, CC BY-SA 3.0 and 4.0; those of CUDA-Q are
Copyright NVIDIA Corporation & Affiliates, Apache-2.0. An ellipsis shows where a passage is shortened.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A data set of the page: its name, folder, number of questions and embedder."""

    folder: str
    questions: int
    embedder: str
    name: str
    licence: str


SETS = (
    Shown(folder="clapnq", questions=5, embedder="minilm", name="CLAP NQ", licence="English Wikipedia, CC BY-SA 3.0"),
    Shown(folder="cudaq_docs", questions=2, embedder="minilm", name="CUDA-Q", licence="documentation, Apache-2.0"),
    Shown(
        folder="xquad/dev/de",
        questions=3,
        embedder="e5-small",
        name="XQuAD",
        licence="German Wikipedia, CC BY-SA 4.0",
    ),
)


async def render(data: Path) -> str:
    """Return the whole page, from the folder of the data sets."""
    rows: list[str] = []
    entries: list[str] = []
    right = 0
    for shown in SETS:
        chosen = (f"index.embedder={shown.embedder}",)
        async with open_bench(data / shown.folder, keep=KEPT) as bench:
            dataset = bench.dataset
            engine = await bench.open(bench.settings(chosen))
            documents = {document.id: document for document in dataset.documents()}
            of = [shown.name, len(documents), len(dataset.queries), shown.questions, shown.embedder, shown.licence]
            rows.append(f"| {' | '.join(map(str, of))} |")
            for query in spread(dataset.queries, shown.questions):
                answer = await engine.ask(query.text, reader=OWNER)
                verdict = judged(query, answer, dataset, documents)
                right += verdict.startswith("Right")
                what = f"{OUTCOMES[answer.outcome]}, {verdict.partition(':')[0].lower()}"
                heading = f"## {len(entries) + 1}. {shown.name}: {what}"
                entries.append(f"{heading}\n\n{entry(query, answer, verdict, documents)}\n")
    return HEAD.replace("COUNT", str(right)) + "\n".join(rows) + "\n\n" + "\n".join(entries) + "\n" + FOOT


def entry(query: Query, answer: Answer, verdict: str, documents: dict[str, Document]) -> str:
    """Return a question, its answer, the passages, the numbers and the verdict."""
    said = answer.answer.split("\n")[0] if answer.abstained else answer.answer
    parts = [quoted(f"<b>{escape(query.text, quote=False)}</b>"), quoted(lines(said))]
    if answer.outcome == "refusal":
        parts.append("The nearest passages:")
        parts += [_passage(hit.chunk, answer.citations, documents) for hit in answer.hits[:NEAREST]]
    else:
        cited = {citation.chunk_id for citation in answer.citations}
        parts += [_passage(hit.chunk, answer.citations, documents) for hit in answer.hits if hit.chunk.id in cited]
    parts.append(
        f"Probability that the answer is right {answer.answerability:.2f}, confidence {answer.confidence:.2f}."
        f" **{verdict}**"
    )
    return "\n\n".join(parts)


def judged(query: Query, answer: Answer, dataset: Dataset, documents: dict[str, Document]) -> str:
    """Return whether an answer is right, by the evidence that people marked."""
    relevant = [document for document, relevance in dataset.qrels.get(query.id, {}).items() if relevance > 0]
    if answer.abstained:
        return (
            "Wrong: the documents do answer this." if query.answerable else "Right: the documents do not answer this."
        )
    if not query.answerable:
        return "Wrong: by the annotators, the documents do not answer this."
    gold = _gold(query, relevant, documents)
    hits = sum(touches(citation, gold) for citation in answer.citations)
    if not gold:
        hits = sum(citation.document_id in relevant for citation in answer.citations)
        what = "from a page that was judged to answer"
    else:
        what = "from the words that annotators marked"
    return f"{'Right' if hits else 'Wrong'}: {hits} of {len(answer.citations)} quotes {what}."


def _gold(query: Query, relevant: Sequence[str], documents: dict[str, Document]) -> list[Place]:
    """Return the places of the marked words; none if only whole documents were judged."""
    texts = {name: document.text for name, document in documents.items()}
    if query.evidence_sentences:
        return [place for sentence in query.evidence_sentences for place in locate(sentence, relevant, texts)]
    spans = query.extras.get("spans", [])
    return [
        Place(document_id=name, span=Span(start=one["start"], end=one["start"] + len(one["text"])))
        for name in relevant
        for one in spans
    ]


def _passage(chunk: Chunk, citations: Iterable[Citation], documents: dict[str, Document]) -> str:
    """Return the place of a chunk and its words, with the cited ones in bold."""
    own = sorted((one.start, one.end, one.marker) for one in citations if one.chunk_id == chunk.id)
    start = max(chunk.start, own[0][0] - AROUND) if own else chunk.start
    end = min(chunk.end, own[-1][1] + AROUND) if own else min(chunk.end, chunk.start + 2 * AROUND)
    text = documents[chunk.document_id].text
    out, at = ["" if start == 0 else "… "], start
    for first, last, marker in own:
        first = max(first, at)
        out.append(escape(text[at:first], quote=False))
        out.append(f"<b>{escape(text[first:last], quote=False)}</b> [{marker}]")
        at = max(at, last)
    out += [escape(text[at:end], quote=False), "" if end == len(text) else " …"]
    title = plain(chunk.title or chunk.document_id)
    name = f"[{title}]({chunk.url})" if chunk.url.startswith("https://") else title
    place = f"{name}, characters {start} to {end} of document {plain(chunk.document_id)}:"
    return f"{place}\n\n{quoted(_lines_of_html(''.join(out)))}"


def quoted(html: str) -> str:
    """Return one block of HTML, without a blank line, so that nothing in it is read as Markdown."""
    return f"<blockquote>{html}</blockquote>"


def lines(text: str) -> str:
    return _lines_of_html(escape(text, quote=False))


def _lines_of_html(html: str) -> str:
    return "<br>\n".join(line.rstrip() for line in re.split(r"\n\s*", html.strip()))


def plain(text: str) -> str:
    """Return a text with the characters escaped that mean something in Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~])", r"\\\1", " ".join(text.split()))


def main() -> None:
    """Write the page; without the data, report that and leave the page unchanged."""
    folder = os.environ.get(DATA)
    if not folder:
        print(f"left {PAGE} as it is: {DATA} names no folder of data sets", file=sys.stderr)
        return
    PAGE.write_text(asyncio.run(render(Path(folder))), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
