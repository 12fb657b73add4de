"""Questions that were written for training, with the passages of their documents that search finds for them.

    python -m training.written --out FOUND      # writes FOUND/written.jsonl.gz; two minutes

Questions of public sets share words with their passages; people ask about their own documents in different words.
`benchmarks.written` has such questions. Other documents may answer a question as well as its own document does, so only
passages of its own document become pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.bases import opened
from benchmarks.common import progress
from benchmarks.written import WrittenQuestion, written
from ragstone.chunk import sentences
from ragstone.core.access import OWNER
from ragstone.core.records import Chunk, Span
from ragstone.core.table import table_of

SETTINGS = ("index.embedder=minilm", "query.steps=false", "cache.enabled=false")
FOUND, READ, READ_OF_CONTRAST = 300, 4, 2
"""Chunks to find in the documents of a domain; how many of the best chunks of the question's own document become pairs
even if they do not answer, and how many for a question of a contrast pair.
"""
WRITTEN, CONTRAST = "written", "written contrast"
"""The sources of pairs: questions that were written one by one, and contrast questions."""
SPLITS = ("train", "valid")
_MARKUP = r"\s*`|_"


def pairs_of(question: WrittenQuestion, own: Sequence[Chunk], split: str) -> Iterator[dict[str, Any]]:
    """Yield a question with the best chunks of its document, and with others that answer it."""
    for place, chunk in enumerate(own):
        spans = [span for quote in question.quotes if (span := _place(quote, chunk.text)) is not None]
        if not spans and place >= (READ_OF_CONTRAST if question.contrasts else READ):
            continue
        at = len(chunk.headed) - len(chunk.text)
        short = question.short
        answers = [chunk.text.find(short, *span) + at for span in spans if short and short in chunk.text[slice(*span)]]
        yield {
            "question": question.text,
            "passage": chunk.headed,
            "answers": bool(spans),
            "evidence": [(start + at, end + at) for start, end in spans],
            "sentences": [(span.start + at, span.end + at) for span in _parts(chunk)],
            "answer": (answers[0], answers[0] + len(short)) if answers else None,
            "source": CONTRAST if question.contrasts else WRITTEN,
            "split": split,
        }


def _parts(chunk: Chunk) -> list[Span]:
    """Return the sentences of a chunk; of a table its rows, and the sentences between them."""
    if (table := table_of(chunk)) is None:
        return sentences(chunk.text)
    between = [(line, one) for line in table.prose for one in sentences(line.of(chunk.text))]
    return [*table.body, *(Span(start=line.start + one.start, end=line.start + one.end) for line, one in between)]


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote of a file stands in the text that was read from it, without its marks of emphasis."""
    words = re.findall(rf"[^{_MARKUP}]+", quote)
    words = words[1:] if words[:1] in (["-"], ["+"], ["#"]) else words
    found = re.search(rf"[{_MARKUP}]*".join(map(re.escape, words)), text) if words else None
    return None if found is None else found.span()


async def search(out: Path) -> None:
    """Search for the questions of each domain and write the pairs."""
    documents = sorted((one for one in written() if one.use in SPLITS), key=lambda one: one.domain)
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(out / "written.jsonl.gz", "wt", encoding="utf-8") as file:
        for domain, group in groupby(documents, key=lambda one: one.domain):
            some, folder = list(group), out / domain / "documents"
            folder.mkdir(parents=True, exist_ok=True)
            for one in some:
                (folder / one.name).write_text(one.text, encoding="utf-8")
            with opened(out / domain / "kb", SETTINGS) as kb:
                await kb.documents.add([str(folder)])
                for one in some:
                    for question in one.questions:
                        hits = await kb.search(question.text, FOUND, reader=OWNER)
                        own = [hit.chunk for hit in hits if Path(hit.chunk.document_id).name == one.name]
                        for pair in pairs_of(question, own, one.use):
                            file.write(json.dumps(pair, ensure_ascii=False) + "\n")
            progress(f"written: {len(some)} documents of {domain}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    asyncio.run(search(parser.parse_args().out))
