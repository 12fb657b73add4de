"""Questions whose evidence answers them or does not, to fit and test the probability that an answer is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.common import progress
from benchmarks.recorded import Recorded, recorded
from ragstone.core.request import Request
from ragstone.respond.drafts import drafted
from ragstone.respond.quoting.answerability import Features, is_read
from ragstone.settings import RespondSettings

FITTED = (
    "clapnq",
    "qed_nq_dev",
    "selqa",
    "hotpotqa",
    "squad2_dev_half",
    "tatqa_text",
    "xquad en",
    "xquad de",
    "covidqa",
    "covid_faq_kb",
    "lt_faq",
    "mtrag_un",
)
"""Sets that coefficients are fitted to. Questions of condaqa and policyqa do not say which document they are about."""
UNSEEN = ("written", "filings", "2wikimultihop", "telekom_press", "cudaq_docs")
"""Sets that nothing is fitted to."""
ACROSS = "xquad de-en"
"""German questions about English passages, which only a multilingual embedder can answer: fitted to for e5-small."""
MARKED = FITTED[:9]
"""Sets that mark sentences or words, so that an answer can be called wrong; the others name the document only."""
Way = Literal["compared", "read"]
"""Whether the words of passages are only compared, or the trained reader reads them, too."""
SMALL = 40
"""Cases of a set that is too small to be measured alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with its evidence, and what became of it.

    ``answerable`` says whether the evidence answers it, ``right`` whether the quotes do. ``number`` counts the
    questions of the set.
    """

    source: str
    number: int
    features: Features
    answerable: bool
    right: bool


async def cases(data: Path, keep: Path, name: str, embedder: str, *, every: int = 1) -> Mapping[Way, list[Case]]:
    """Return the cases of every nth question of a set, in the order of its questions, for each way to read.

    Where a set marks no question as unanswerable, each is asked twice: also without the documents that answer it. Those
    that the reader does not read, because their language is foreign to it, are missing from the cases that are read.
    """
    record = await recorded(data, keep, name, embedder)
    found: dict[Way, list[Case]] = {"compared": await _cases(record, name, every, reads=False)}
    if is_read(record.fingerprint):
        found["read"] = [one for one in await _cases(record, name, every, reads=True) if one.features.told]
    progress(f"answerability: {', '.join(f'{len(some)} {way}' for way, some in found.items())}: {name}, {embedder}")
    return found


async def _cases(record: Recorded, name: str, every: int, *, reads: bool) -> list[Case]:
    answerer, request = record.answerer(RespondSettings(abstain_below=0), reads=reads), Request.by_owner()
    out: list[Case] = []
    for found in record.cases(without=all(one.asked.answerable for one in record.found)):
        if found.number % every:
            continue
        features = await answerer.features(found.evidence, request)
        if features is not None:
            draft = await drafted(answerer, found.evidence, request)
            out.append(
                Case(
                    source=name,
                    number=found.number,
                    features=features,
                    answerable=found.answerable,
                    right=found.answerable and found.asked.is_answered_by(draft.citations),
                )
            )
    return out
