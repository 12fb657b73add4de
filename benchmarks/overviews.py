"""Summaries and overviews of real documents, without a model: are they exact, do they cover the headings, how fast?

Twenty requests to three collections (development parts): the documentation of CUDA-Q as it is written, press releases,
and two quarterly reports as PDF files. Every cited sentence is compared with its document. A heading is covered if a
sentence below it is cited or the text names it, and a tenth of a text is told if a sentence that begins in it is cited.
Whether an overview is useful is for a reader to say: all twenty are written to ``overviews.md`` in the folder of
``--keep``. Nothing is fitted to these documents, but how sentences, parts and labels are chosen was looked at on them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, Result, Table, main, progress, skipped
from ragstone.chunk import Outlined
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.engine.knowledge_base import KnowledgeBase

PAGE = "overviews.md"
MOST_HEADINGS = 30
"""Headings of a document with which its outline can be compared; a longer one shows only the upper levels."""
PDFS = ("2022 Q3 AAPL.pdf", "2023 Q3 AAPL.pdf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Files of a data set, how many of its documents are summarised, and what else is asked for."""

    name: str
    sources: Sequence[str]
    outlines: int
    asked: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An overview: is all it cites exact, which shares of headings and text does a summary tell, and the time."""

    collection: str
    question: str
    answer: Answer
    exact: bool
    covered: float | None
    told: float | None
    milliseconds: float


def collections(data: Path) -> list[Collection]:
    """Return the collections that are there."""
    found = [
        Collection(
            name="cuda",
            sources=sorted(map(str, (data / "cudaq_docs" / "raw").rglob("using/**/*.rst"))),
            outlines=7,
            asked=("What are these documents about?", "Summarise what is said about noise models"),
        ),
        Collection(
            name="press",
            sources=sorted(map(str, (data / "telekom_press" / "dev" / "txt").glob("*.txt"))),
            outlines=3,
            asked=(
                "Which topics are covered?",
                "Summarise what is said about the Fairphone",
                "Give me a summary of what is said about 5G campus networks",
            ),
        ),
        Collection(
            name="filings",
            sources=[str(data / "tables" / "sec10q" / "dev" / "pdf" / name) for name in PDFS],
            outlines=2,
            asked=(
                "Give me an overview of the documents",
                "Compare 2022 Q3 AAPL.pdf with 2023 Q3 AAPL.pdf",
                "Timeline of share repurchases",
            ),
        ),
    ]
    return [one for one in found if one.sources and all(Path(source).is_file() for source in one.sources)]


async def measure(options: Options) -> Result:
    """Ask for the overviews, and write them to a page."""
    wanted = collections(options.data) if options.data else []
    if not wanted:
        return skipped("overviews are of the documentation, press releases and filings")
    judged = list[Judged]()
    for one in wanted[:1] if options.quick else wanted:
        sources = one.sources[:5] if options.quick else one.sources
        with opened(options.keep / f"overviews-{one.name}", NO_CACHE) as kb:
            await kb.documents.sync(sources, lambda now: progress(f"{now.documents} documents"))
            judged += await _asked(kb, one)
    page = options.keep / PAGE
    page.write_text(_page(judged), encoding="utf-8")
    covered = [one.covered for one in judged if one.covered is not None]
    told = [one.told for one in judged if one.told is not None]
    times = [one.milliseconds for one in judged]
    return Result(
        figures={
            "overviews": len(judged),
            "exact": sum(one.exact for one in judged),
            "answered": sum(one.answer.outcome == "reply" for one in judged),
            "headings_covered": round(mean(covered), 4) if covered else None,
            "tenths_told": round(mean(told), 4),
            "median_ms": round(median(times)),
            "longest_ms": round(max(times)),
        },
        tables=[
            Table(
                title=f"{len(judged)} overviews",
                columns=["of", "asked", "words", "cited", "exact", "headings covered", "tenths told", "ms"],
                rows=[
                    [
                        one.collection,
                        one.question,
                        str(len(one.answer.answer.split())),
                        str(len(one.answer.citations)),
                        "yes" if one.exact else "no",
                        "" if one.covered is None else f"{one.covered:.0%}",
                        "" if one.told is None else f"{one.told:.0%}",
                        f"{one.milliseconds:.0f}",
                    ]
                    for one in judged
                ],
            )
        ],
        notes=[f"The overviews are in {PAGE}, to be read and judged."],
    )


async def _asked(kb: KnowledgeBase, one: Collection) -> list[Judged]:
    listed = kb.documents.list(reader=OWNER, limit=1000).documents
    long = sorted(listed, key=lambda document: (-document.characters, document.document_id))
    step = max(1, len(long) // one.outlines)
    names = [document.document_id for document in long[::step][: one.outlines]]
    await kb.ask("Hello!", reader=OWNER)
    judged = list[Judged]()
    for id, question in [*((id, f"Summarize {id}") for id in names), *(("", question) for question in one.asked)]:
        start = time.perf_counter()
        answer = await kb.ask(question, reader=OWNER)
        spent = 1000 * (time.perf_counter() - start)
        judged.append(
            Judged(
                collection=one.name,
                question=question.replace(id, Path(id).name) if id else question,
                answer=answer,
                exact=bool(answer.citations) and all(_is_exact(kb, answer)),
                covered=_covered(kb, id, answer) if id else None,
                told=_told(kb, id, answer) if id else None,
                milliseconds=spent,
            )
        )
    return judged


def _is_exact(kb: KnowledgeBase, answer: Answer) -> list[bool]:
    texts = {one.document_id: kb.documents.get(one.document_id, reader=OWNER).text for one in answer.citations}
    return [texts[one.document_id][one.start : one.end] == one.quote for one in answer.citations]


def _covered(kb: KnowledgeBase, id: str, answer: Answer) -> float | None:
    """Return the share of the headings of a document that its summary covers; None if it has none."""
    sections = [one for one in Outlined.of(kb.documents.get(id, reader=OWNER)).sections if one.level]
    levels = sorted({one.level for one in sections})
    upper = [[one for one in sections if one.level <= level] for level in levels]
    headed = next((some for some in reversed(upper) if len(some) <= MOST_HEADINGS), upper[0] if upper else [])
    if not headed:
        return None
    ends = [*(one.start for one in headed[1:]), float("inf")]
    return mean(
        one.title in answer.answer or any(one.start <= cited.start < end for cited in answer.citations)
        for one, end in zip(headed, ends, strict=True)
    )


def _told(kb: KnowledgeBase, id: str, answer: Answer) -> float:
    """Return the share of the tenths of a document of which its summary cites a sentence."""
    length = len(kb.documents.get(id, reader=OWNER).text)
    return len({10 * cited.start // length for cited in answer.citations}) / 10


def _page(judged: Sequence[Judged]) -> str:
    lines = ["# Overviews to judge", "", "Is each useful to somebody who has not read the documents?", ""]
    for number, one in enumerate(judged, start=1):
        lines += [
            f"## {number}. {one.question} ({one.collection})",
            "",
            f"{one.milliseconds:.0f} ms, {len(one.answer.citations)} citations, exact: {'yes' if one.exact else 'no'}",
            "",
            one.answer.answer,
            "",
            "Useful: ",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main({"overviews": measure}, "overviews")
