"""A judge without a language model, which compares words.

Its ratings say whether the question's words were found and whether the answer's words are in the evidence. It cannot
compare meaning. docs/benchmarks.md shows how well the ratings agree with correct answers.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from ragstone.core.answers import Adequacy, JudgeScores
from ragstone.core.protocols import Analyzer, SentenceSplitter, Weigher
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.review.confidence import FULL

NAME = "heuristic"
WEB_BELOW = 5.0
"""Rating of the evidence below which a web search is recommended."""
MAX_MISSING = 5
"""Missing words that the feedback names."""
_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_MARKER = re.compile(r"\s*\[(?:[^\]\[]{0,20} )?\d{1,3}\]")

Estimate = Callable[[Evidence, Request], Awaitable[float]]
"""Returns the probability, 0 to 1, that quotes of the evidence answer its question."""


class HeuristicJudge:
    """Deterministic ratings. Words count by how rare they are, and in all their forms."""

    def __init__(
        self,
        *,
        terms: Analyzer,
        weigh: Weigher,
        sentences: SentenceSplitter,
        answerability: Estimate | None = None,
    ) -> None:
        """Take the parts of other stages.

        Args:
            terms: maps the forms of a word to one term.
            weigh: weighs words.
            sentences: splits an answer.
            answerability: estimates answerability; without it, words alone decide.
        """
        self._terms, self._weigh, self._sentences, self._answerability = terms, weigh, sentences, answerability

    async def adequacy(self, evidence: Evidence, request: Request) -> Adequacy:
        """Rate evidence by the question's words that it contains, and by its answerability."""
        found, missing = self._covered(evidence.question.text, [hit.chunk.headed for hit in evidence.hits], request)
        confidence = _mark(await self._with_estimate(evidence, found, request))
        reasoning = f"the passages lack: {', '.join(missing)}" if missing else "the passages contain every word"
        return Adequacy(
            confidence=confidence,
            reasoning=reasoning if evidence.hits else "there are no passages",
            needs_web_search=confidence < WEB_BELOW,
            judge=NAME,
        )

    async def judge(self, evidence: Evidence, answer: str, request: Request) -> JudgeScores:
        """Rate relevance by the evidence, factuality by each sentence's words, completeness by the question's."""
        question, text = evidence.question.text, _MARKER.sub("", answer)
        passages = [hit.chunk.headed for hit in evidence.hits]
        best, _ = self._covered(question, passages[:1], request)
        complete, missing = self._covered(question, [text], request)
        return JudgeScores(
            relevance=_mark(await self._with_estimate(evidence, best, request)),
            factuality=_mark(self._supported(text, passages, request)),
            completeness=_mark(complete),
            feedback=f"not in the answer: {', '.join(missing)}" if missing else "",
            judge=NAME,
        )

    async def _with_estimate(self, evidence: Evidence, covered: float, request: Request) -> float:
        if self._answerability is None:
            return covered
        return (covered + await self._answerability(evidence, request)) / 2

    def _supported(self, answer: str, passages: Sequence[str], request: Request) -> float:
        """Return the mean share of each sentence that one passage contains; 0 for a sentence with an unknown number."""
        shares: list[float] = []
        for span in self._sentences(answer):
            text = span.of(answer)
            shares.append(max((self._contained(text, passage, request) for passage in passages), default=0.0))
        return sum(shares) / len(shares) if shares else 0.0

    def _contained(self, sentence: str, passage: str, request: Request) -> float:
        numbers = {word for word in _WORD.findall(sentence) if any(map(str.isdigit, word))}
        if not numbers <= set(_WORD.findall(passage)):
            return 0.0
        return self._covered(sentence, [passage], request)[0]

    def _covered(self, text: str, by: Sequence[str], request: Request) -> tuple[float, list[str]]:
        """Return the share of a text's words, by weight, that other texts contain, and the weightiest missing words."""
        words = list(dict.fromkeys(_WORD.findall(text.lower())))
        weights = dict(zip(words, self._weigh(words, request), strict=True))
        total = sum(weights.values())
        if total <= 0:
            return 0.0, []
        known = {term for one in by for term in self._terms(one)}
        missing = [word for word in words if not known.intersection(self._terms(word))]
        missing.sort(key=lambda word: -weights[word])
        share = 1 - sum(weights[word] for word in missing) / total
        return min(1.0, max(0.0, share)), missing[:MAX_MISSING]


def _mark(share: float) -> float:
    return round(FULL * min(1.0, max(0.0, share)), 2)
