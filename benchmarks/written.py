"""Documents like those of teams, with questions that use different words, describe a situation, or are typed in haste.

A language model (Claude) invented them for this project: handbooks, contracts, company filings, technical references,
reports, pages for citizens, a team's wiki. For each question, the sentences that answer it are marked; a fifth of the
questions have no answer, though they are about the same things. Further questions are contrast pairs: two similar
questions, of which the document answers one. Some of these are about mails, minutes, notices and the like (domain
"everyday"). Each document has one use: to train the reader ("train"), to watch its training ("valid"), or to test it
("test"). Nothing is trained on or fitted to the documents for tests.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PATH = Path(__file__).with_name("written.jsonl.gz")
Use = Literal["train", "valid", "test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenQuestion:
    """A question, the sentences that answer it, and the shortest words in them that do, "" if there are none.

    ``contrasts`` says that the question belongs to a contrast pair, of which the document answers only one.
    """

    text: str
    quotes: tuple[str, ...]
    short: str
    contrasts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDocument:
    """A document of a domain, as a file, and the questions about it."""

    domain: str
    name: str
    use: Use
    text: str
    questions: tuple[WrittenQuestion, ...]


def written(use: Use | None = None) -> Iterator[WrittenDocument]:
    """Yield the documents, or those for one use."""
    with gzip.open(PATH, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if use in (None, row["use"]):
                yield WrittenDocument(
                    domain=row["domain"],
                    name=row["name"],
                    use=row["use"],
                    text=row["text"],
                    questions=tuple(
                        WrittenQuestion(
                            text=one["q"],
                            quotes=tuple(one["quotes"]),
                            short=one["short"] or "",
                            contrasts=one.get("contrast", False),
                        )
                        for one in row["questions"]
                    ),
                )
