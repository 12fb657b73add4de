"""Evidence of a few words, for tests of what is made from it."""

from __future__ import annotations

from ragstone.core.records import Chunk, Evidence, Hit
from ragstone.question import read


def hit(text: str, number: int = 0, *, score: float = 1.0, title: str = "") -> Hit:
    name = f"d{number}"
    chunk = Chunk(
        id=f"{name}-0", document_id=name, index=0, total=1, start=0, end=len(text), text=text, title=title or name
    )
    return Hit(chunk=chunk, score=score)


def evidence(question: str, *texts: str) -> Evidence:
    hits = tuple(hit(text, number, score=1 - number / 10) for number, text in enumerate(texts))
    return Evidence(question=read(question), hits=hits, method="test")
