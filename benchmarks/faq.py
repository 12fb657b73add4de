"""A FAQ as pages of many questions, asked in other words: is the right entry found, and does the answer come from it?

The pages are Markdown, `ENTRIES` questions of one source on each, as headings. ``paragraph`` splits the same pages by
length alone, across their questions. Several entries of this FAQ often answer a question, of which one counts, so the
shares of the wrong ones are too large.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bases import opened
from benchmarks.common import Options, Result, Table, main, progress, skipped
from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.records import Document
from ragstone.review.dataset import Dataset, load

SET, ENTRIES = "covid_faq_kb", 25
LANGUAGES = {"en": "minilm", "de": "e5-small"}
"""Those that are asked, each with its embedding model."""
SPLITTERS = ("recursive", "paragraph")
QUICK = 20
COLUMNS = ("found", "answer", "answer, other entry", "may answer", "may answer, other entry", "refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the FAQ: the name of its page, and the characters of its answer there."""

    page: str
    start: int
    end: int

    def holds(self, document_id: str, start: int, end: int) -> bool:
        """Return whether characters of a document touch its answer."""
        return Path(document_id).name == self.page and start < self.end and end > self.start


async def measure(options: Options) -> Result:
    folder = options.folder(SET)
    if folder is None:
        return skipped(f"the FAQ is the data set {SET}")
    dataset, rows, figures = load(folder), list[list[str]](), dict[str, Mapping[str, float]]()
    for language, embedder in LANGUAGES.items():
        place = options.keep / f"faq-{language}"
        entries = write_pages(dataset, language, place)
        for splitter in SPLITTERS:
            progress(f"faq: {language}, {splitter}")
            settings = (f"index.embedder={embedder}", f"chunk.strategy={splitter}")
            asked = [one for one in dataset.queries if one.lang == language][: QUICK if options.quick else None]
            with opened(options.keep / f"faq-{language}-{splitter}", settings) as engine:
                await engine.documents.add([str(place)])
                found = Counter[str]()
                for query in asked:
                    right = [entries[id] for id in dataset.qrels.get(query.id, {}) if id in entries]
                    if right:
                        found.update(_outcome(await engine.ask(query.text, reader=OWNER), right))
            rows.append([language, splitter, str(found["asked"]), *(str(found[name]) for name in COLUMNS)])
            figures[f"{language} {splitter}"] = dict(found)
    table = Table(title="A FAQ, asked in other words", columns=["language", "splitter", "asked", *COLUMNS], rows=rows)
    return Result(tables=[table], figures=figures)


def write_pages(dataset: Dataset, language: str, place: Path) -> Mapping[str, Entry]:
    """Write the entries of a language as Markdown pages, and return where each stands, by its id."""
    place.mkdir(exist_ok=True)
    by_source = defaultdict[str, list[Document]](list)
    for one in dataset.documents():
        if one.metadata.get("lang") == language and one.title.strip():
            by_source[str(one.metadata.get("source"))].append(one)
    entries: dict[str, Entry] = {}
    pages = 0
    for source, documents in sorted(by_source.items()):
        for first in range(0, len(documents), ENTRIES):
            name, text = f"page-{pages}.md", f"# {source}\n\n"
            pages += 1
            for one in documents[first : first + ENTRIES]:
                text += f"## {' '.join(one.title.split())}\n\n"
                answer = one.text.strip()
                entries[one.id] = Entry(page=name, start=len(text), end=len(text) + len(answer))
                text += f"{answer}\n\n"
            (place / name).write_text(text, encoding="utf-8")
    return entries


def _outcome(answer: Answer, right: list[Entry]) -> list[str]:
    """Return the columns in which an answer counts."""
    found = any(
        one.holds(hit.chunk.document_id, hit.chunk.start, hit.chunk.end) for hit in answer.hits for one in right
    )
    is_right = any(one.holds(cited.document_id, cited.start, cited.end) for cited in answer.citations for one in right)
    name = {"answer": "answer", "closest": "may answer"}.get(answer.outcome, "refused")
    return ["asked", *["found"] * found, name if is_right or name == "refused" else f"{name}, other entry"]


if __name__ == "__main__":
    main({"faq": measure}, "faq")
