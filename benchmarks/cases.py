"""Questions whose evidence answers them or does not, to fit and test the probability that an answer is right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import progress
from benchmarks.recorded import recorded
from ragstone.core.request import Request
from ragstone.respond import drafted
from ragstone.respond.quoting.answerability import Features
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
UNSEEN = ("filings", "2wikimultihop", "telekom_press", "cudaq_docs")
"""Sets that nothing is fitted to."""
ACROSS = "xquad de-en"
"""German questions about English passages, which only a multilingual embedder can answer: fitted to for e5-small."""
MARKED = FITTED[:9]
"""Sets that mark sentences or words, so that an answer can be called wrong; the others name the document only."""
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


async def cases(data: Path, keep: Path, name: str, embedder: str, *, every: int = 1) -> list[Case]:
    """Return the cases of every nth question of a set, in the order of its questions.

    Where a set marks no question as unanswerable, each is asked twice: also without the documents that answer it.
    """
    record = await recorded(data, keep, name, embedder)
    answerer, request = record.answerer(RespondSettings(abstain_below=0)), Request.by_owner()
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
    progress(f"answerability: {len(out)} cases of {name} with {embedder}")
    return out
