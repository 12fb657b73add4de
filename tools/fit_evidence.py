"""Fit `ragstone.respond.quoting.evidence_model`: the probability that a sentence belongs to the evidence for an answer.

    RAGSTONE_TEST_DATA=... python -m tools.fit_evidence [--keep DIR] [--embedder minilm]

The sentences are those that people marked in sets of questions. Each set is measured with coefficients fitted to the
other sets, at several prices of a sentence, as quotes of the product are chosen. The last line has the coefficients
fitted to all sets.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks.logistic import fit, probabilities
from benchmarks.recorded import Found, Recorded, recorded
from ragstone import chunk
from ragstone.core.request import Request
from ragstone.respond.drafts import cite
from ragstone.respond.quoting import passages
from ragstone.respond.quoting.evidence_model import SentenceFeatures, features_of
from ragstone.respond.quoting.extractive import likely_of
from ragstone.respond.quoting.quotes import passages as joined
from ragstone.respond.quoting.scored import Sentence, read
from ragstone.review.citations import touches

FITTED = ("clapnq", "qed_nq_dev", "selqa", "hotpotqa")
MEASURED = (*FITTED, "2wikimultihop", "condaqa")
"""Passages of condaqa are edited versions of each other, so a right sentence often stands in the wrong one."""


class OperatingPoint(NamedTuple):
    """Price of a sentence, probability of one apart, and the most sentences."""

    price: float
    apart: float
    limit: int


OPERATING_POINTS = tuple(
    OperatingPoint(*values)
    for values in ((0.2, 0.5, 3), (0.1, 0.4, 3), (0.1, 0.35, 4), (0.07, 0.4, 4), (0.07, 0.35, 4), (0.05, 0.3, 4))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A question with its sentences; ``features`` (sentences, features), ``marked`` (sentences,)."""

    found: Found
    sentences: Sequence[Sentence]
    known: Sequence[SentenceFeatures]
    features: np.ndarray
    marked: np.ndarray


async def readings(record: Recorded) -> list[Reading]:
    """Read the sentences of every question whose evidence is marked."""
    request, out = Request.by_owner(), list[Reading]()
    for one in record.cases(without=False):
        if not one.answerable or not one.asked.evidence:
            continue
        sentences = await read(one.evidence, record, chunk.sentences, request)
        if not sentences:
            continue
        known = features_of(one.evidence.question, sentences, record.weigh, request)
        marked = [
            any(touches(cite(1, sentence.hit, sentence.span), places) for places in one.asked.evidence)
            for sentence in sentences
        ]
        out.append(
            Reading(
                found=one,
                sentences=sentences,
                known=known,
                features=np.array([astuple(one) for one in known]),
                marked=np.array(marked),
            )
        )
    return out


def fitted(sets: Mapping[str, Sequence[Reading]], names: Sequence[str]) -> np.ndarray:
    """Return bias and coefficients; every set has the same weight."""
    some = {name: sets[name] for name in names if sets[name]}
    x = np.concatenate([one.features for readings in some.values() for one in readings])
    y = np.concatenate([one.marked for readings in some.values() for one in readings]).astype(float)
    counts = [sum(len(one.marked) for one in readings) for readings in some.values()]
    return fit(x, y, np.concatenate([np.full(count, 1000 / count) for count in counts])).round(2)


def measured(readings: Sequence[Reading], b: np.ndarray, point: OperatingPoint) -> str:
    """Return how far the quotes touch what people marked, as text."""
    quotes = right = answers = touching = evidence = cited = sentences = characters = 0
    for one in readings:
        likely = likely_of(one.sentences, one.known, probabilities(b, one.features).tolist(), one.found.evidence.hits)
        chosen = passages.chosen(likely, point.limit, price=point.price, apart=point.apart)
        shown = joined([some.quote for some in chosen])
        citations = [cite(marker, quote.hit, quote.span) for marker, quote in enumerate(shown, start=1)]
        places = one.found.asked.evidence
        touched = [any(touches(citation, some) for some in places) for citation in citations]
        quotes, right = quotes + len(citations), right + sum(touched)
        answers, touching = answers + 1, touching + any(touched)
        evidence += len(places)
        cited += sum(any(touches(citation, some) for citation in citations) for some in places)
        sentences, characters = sentences + len(chosen), characters + sum(len(quote.text) for quote in shown)
    return (
        f"precision {right / quotes:.3f} recall {cited / evidence:.3f} answers touching {touching / answers:.3f}"
        f" sentences {sentences / answers:.2f} quotes {quotes / answers:.2f} characters {characters / answers:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what was read in DIR for the next run")
    parser.add_argument("--embedder", default="minilm")
    given, data = parser.parse_args(), Path(os.environ["RAGSTONE_TEST_DATA"])
    with TemporaryDirectory() as folder:
        keep = given.keep or Path(folder)
        sets = {
            name: asyncio.run(readings(asyncio.run(recorded(data, keep, name, given.embedder)))) for name in MEASURED
        }
    for name in MEASURED:
        b = fitted(sets, [other for other in FITTED if other != name])
        print(f"{name}: {len(sets[name])} questions, fitted to the others")
        for point in OPERATING_POINTS:
            print(f"  {point}: {measured(sets[name], b, point)}", flush=True)
    named = zip(("bias", *(one.name for one in fields(SentenceFeatures))), fitted(sets, FITTED), strict=True)
    print(", ".join(f"{name}={value:.2f}" for name, value in named))


if __name__ == "__main__":
    main()
