"""Phrases that stand word for word in a few documents: their passages are found."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.dataset import load

ENGLISH = re.compile(r"\b[Tt]he ([a-z-]{4,}(?: [a-z-]{4,})? (?:of|for) (?:the )?[A-Z][\w&-]+(?: [A-Z][\w&-]+){0,2})\b")
GERMAN = re.compile(r"\b[Dd](?:er|ie|as) ([A-ZÄÖÜ]\w{4,} (?:der|des|von) [A-ZÄÖÜ]\w{3,}(?: [A-ZÄÖÜ]\w+)?)\b")
SETS = {
    "telekom_press": (ENGLISH, "What is the {}?"),
    "xquad/dev/en": (ENGLISH, "What is the {}?"),
    "xquad/dev/de": (GERMAN, "Was ist über die {} bekannt?"),
}
EACH, MOST_DOCUMENTS, MOST_READ, FOUND = 20, 2, 60, 57
"""Phrases of each set, the most documents that have one and that are read, and the least phrases to be found of all."""


def rare_phrases(documents: Sequence[Document], pattern: re.Pattern[str]) -> list[str]:
    texts = [one.text for one in documents]
    phrases = sorted({found[1] for text in texts for found in pattern.finditer(text)})
    Random(7).shuffle(phrases)
    return [one for one in phrases if sum(one in text for text in texts) <= MOST_DOCUMENTS][:EACH]


async def found_in(folder: Path, data_dir: Path, name: str) -> list[bool]:
    """Return for each phrase of a set whether one of the passages that are found for it has it."""
    pattern, question = SETS[name]
    documents = list(islice(load(data_dir / name).documents(), MOST_READ))
    with closing(KnowledgeBase.open(folder, create=True)) as kb:
        await kb.documents.add(documents)
        phrases = rare_phrases(documents, pattern)
        evidence = [await kb.search(question.format(one), reader=OWNER) for one in phrases]
    texts = [[" ".join(hit.chunk.text.split()) for hit in one.hits] for one in evidence]
    return [any(phrase in text for text in some) for phrase, some in zip(phrases, texts, strict=True)]


def test_finds_passages_with_phrases_of_questions(data_dir: Path, tmp_path: Path) -> None:
    found = [one for name in SETS for one in asyncio.run(found_in(tmp_path / name, data_dir, name))]
    assert len(found) == EACH * len(SETS)
    assert sum(found) >= FOUND
