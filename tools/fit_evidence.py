"""Fit `ragstone.respond.quoting.evidence_model`: the probability that a sentence belongs to the evidence for an answer.

    RAGSTONE_TEST_DATA=... python -m tools.fit_evidence [--keep DIR] [--embedder minilm] [--compared]

The sentences are those that people marked in sets of questions. Each set is measured with coefficients fitted to the
other sets, at several rules of what is quoted, as quotes of the product are chosen. The last line has the coefficients
fitted to all sets. With ``--compared`` nothing is read by the trained reader, which knows many rows of some sets; the
others are fitted to otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.logistic import fit, probabilities
from benchmarks.recorded import Found, Recorded, recorded
from ragstone import chunk
from ragstone.core.request import Request
from ragstone.respond.drafts import cite
from ragstone.respond.quoting.evidence_model import SentenceFeatures, features_of
from ragstone.respond.quoting.quotes import Amount, chosen, likely_of
from ragstone.respond.quoting.quotes import passages as joined
from ragstone.respond.quoting.scored import Sentence, read
from ragstone.review.citations import touches

COMPARED = ("clapnq", "qed_nq_dev", "selqa", "hotpotqa")
READ = ("clapnq", "qed_nq_dev", "covidqa", "xquad en")
"""Sets that the reader was not trained on."""
FURTHER = ("2wikimultihop", "condaqa", "tatqa_text")
"""Passages of condaqa are edited versions of each other, so a right sentence often stands in the wrong one."""
LIMIT = 4
"""The most sentences."""
AMOUNTS = tuple(
    Amount(longest=longest, characters=characters, price=price, apart=apart)
    for longest, characters, price, apart in (
        (3, 700, 0.2, 0.5),
        (3, 700, 0.1, 0.4),
        (3, 700, 0.07, 0.4),
        (3, 700, 0.05, 0.3),
        (4, 900, 0.04, 0.2),
        (4, 900, 0.07, 0.2),
        (4, 900, 0.1, 0.2),
        (4, 900, 0.02, 0.3),
        (5, 1200, 0.02, 0.2),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A question with its sentences; ``features`` (sentences, features), ``marked`` (sentences,)."""

    found: Found
    sentences: Sequence[Sentence]
    known: Sequence[SentenceFeatures]
    features: np.ndarray
    marked: np.ndarray


async def readings(record: Recorded, *, reads: bool) -> list[Reading]:
    """Read the sentences of every question whose evidence is marked."""
    request, out = Request.by_owner(), list[Reading]()
    for one in record.cases(without=False):
        if not one.answerable or not (one.asked.evidence or one.asked.answers):
            continue
        sentences = await read(one.evidence, record, chunk.sentences, request, record if reads else None)
        if not sentences:
            continue
        known = features_of(one.evidence.question, sentences, record.weigh, request)
        marked = [one.asked.is_answered_by([cite(1, sentence.hit, sentence.span)]) for sentence in sentences]
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


def measured(readings: Sequence[Reading], b: np.ndarray, amount: Amount) -> str:
    """Return how far the quotes touch what people marked, as text."""
    quotes = right = answers = touching = evidence = cited = sentences = characters = 0
    for one in readings:
        likely = likely_of(
            one.found.evidence.question,
            one.sentences,
            one.known,
            probabilities(b, one.features).tolist(),
            one.found.evidence.hits,
        )
        best = chosen(likely, LIMIT, amount)
        shown = joined([some.quote for some in best])
        citations = [cite(marker, quote.hit, quote.span) for marker, quote in enumerate(shown, start=1)]
        places = one.found.asked.evidence
        touched = [one.found.asked.is_answered_by([citation]) for citation in citations]
        quotes, right = quotes + len(citations), right + sum(touched)
        answers, touching = answers + 1, touching + any(touched)
        evidence += len(places)
        cited += sum(any(touches(citation, some) for citation in citations) for some in places)
        sentences, characters = sentences + len(best), characters + sum(len(quote.text) for quote in shown)
    return (
        f"precision {right / quotes:.3f} recall {cited / max(evidence, 1):.3f}"
        f" answers touching {touching / answers:.3f}"
        f" sentences {sentences / answers:.2f} quotes {quotes / answers:.2f} characters {characters / answers:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what was read in DIR for the next run")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--compared", action="store_true", help="without the trained reader")
    given, data = parser.parse_args(), Path(os.environ["RAGSTONE_TEST_DATA"])
    fitted_to = COMPARED if given.compared else READ
    names = tuple(dict.fromkeys((*fitted_to, *COMPARED, *FURTHER)))
    with TemporaryDirectory() as folder:
        keep = given.keep or Path(folder)
        records = {name: asyncio.run(recorded(data, keep, name, given.embedder)) for name in names}
        sets = {name: asyncio.run(readings(one, reads=not given.compared)) for name, one in records.items()}
    for name in names:
        b = fitted(sets, [other for other in fitted_to if other != name])
        print(f"{name}: {len(sets[name])} questions, fitted to the others")
        for amount in AMOUNTS:
            print(f"  {amount}: {measured(sets[name], b, amount)}", flush=True)
    named = zip(("bias", *(one.name for one in fields(SentenceFeatures))), fitted(sets, fitted_to), strict=True)
    print(", ".join(f"{name}={value:.2f}" for name, value in named))


if __name__ == "__main__":
    main()
