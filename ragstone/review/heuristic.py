"""A judge without a model: it counts words, and says so by its name.

It stands in where there is no language model. Its marks tell whether the question's words were found and whether the
answer's words stand in the evidence; whether they mean the same it cannot know. docs/benchmarks.md tells how well the
marks go with answers that are right.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from ragstone.answers import Adequacy, JudgeScores
from ragstone.contracts import Evidence
from ragstone.protocols import Analyzer, SentenceSplitter, Weigher
from ragstone.review.confidence import FULL

NAME = "heuristic"
WEB_BELOW = 5.0
"""Evidence with less than this does not suffice, and the web may."""
SHOWN_WORDS = 5
"""Words that are missing, of which the feedback tells."""
_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_MARKER = re.compile(r"\s*\[(?:[^\]\[]{0,20} )?\d{1,3}\]")

Estimate = Callable[[Evidence], Awaitable[float]]
"""The probability, 0 to 1, that evidence answers its question."""


class HeuristicJudge:
    """Deterministic marks. Words count by how rare they are, and in all their forms."""

    def __init__(
        self,
        *,
        terms: Analyzer,
        weigh: Weigher,
        sentences: SentenceSplitter,
        answerability: Estimate | None = None,
    ) -> None:
        """Take the parts of other stages that it needs.

        Args:
            terms: brings the forms of a word together.
            weigh: how much each word tells.
            sentences: splits an answer.
            answerability: what was estimated before; without it, words alone decide.
        """
        self._terms, self._weigh, self._sentences, self._answerability = terms, weigh, sentences, answerability

    async def adequacy(self, evidence: Evidence) -> Adequacy:
        """Of the question's words those that the passages hold, and the estimate that they answer it."""
        found, missing = self._covered(evidence.question, [hit.chunk.headed for hit in evidence.hits])
        confidence = _mark(await self._with_estimate(evidence, found))
        told = f"the passages lack: {', '.join(missing)}" if missing else "the passages hold every word asked for"
        return Adequacy(
            confidence=confidence,
            reasoning=told if evidence.hits else "there are no passages",
            needs_web_search=confidence < WEB_BELOW,
            judge=NAME,
        )

    async def judge(self, question: str, evidence: Evidence, answer: str) -> JudgeScores:
        """Relevance by the evidence, factuality by each sentence's words, completeness by the question's."""
        said = _MARKER.sub("", answer)
        passages = [hit.chunk.headed for hit in evidence.hits]
        best, _ = self._covered(question, passages[:1])
        complete, missing = self._covered(question, [said])
        return JudgeScores(
            relevance=_mark(await self._with_estimate(evidence, best)),
            factuality=_mark(self._supported(said, passages)),
            completeness=_mark(complete),
            feedback=f"not in the answer: {', '.join(missing)}" if missing else "",
            judge=NAME,
        )

    async def _with_estimate(self, evidence: Evidence, covered: float) -> float:
        if self._answerability is None:
            return covered
        return (covered + await self._answerability(evidence)) / 2

    def _supported(self, said: str, passages: Sequence[str]) -> float:
        """Mean over the sentences of how much of each stands in one passage; none where a number stands in none."""
        shares = []
        for span in self._sentences(said):
            text = span.of(said)
            shares.append(max((self._held(text, passage) for passage in passages), default=0.0))
        return sum(shares) / len(shares) if shares else 0.0

    def _held(self, sentence: str, passage: str) -> float:
        numbers = {word for word in _WORD.findall(sentence) if any(map(str.isdigit, word))}
        if not numbers <= set(_WORD.findall(passage)):
            return 0.0
        return self._covered(sentence, [passage])[0]

    def _covered(self, text: str, by: Sequence[str]) -> tuple[float, list[str]]:
        """Share of the words of a text, by weight, that others hold together; and the weightiest they do not hold."""
        words = list(dict.fromkeys(_WORD.findall(text.lower())))
        weights = dict(zip(words, self._weigh(words), strict=True))
        total = sum(weights.values())
        if total <= 0:
            return 0.0, []
        known = {term for one in by for term in self._terms(one)}
        missing = [word for word in words if not known.intersection(self._terms(word))]
        missing.sort(key=lambda word: -weights[word])
        share = 1 - sum(weights[word] for word in missing) / total
        return min(1.0, max(0.0, share)), missing[:SHOWN_WORDS]


def _mark(share: float) -> float:
    return round(FULL * min(1.0, max(0.0, share)), 2)
