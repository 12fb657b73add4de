"""Thresholds for a risk, and refusals in the language of the question."""

from collections.abc import Sequence

import pytest

from ragstone.core.records import Chunk, Evidence, Hit, Span
from ragstone.core.request import Request
from ragstone.respond.answerability import NEVER, THRESHOLDS, threshold_for
from ragstone.respond.drafts import ClosestPassage, abstained
from ragstone.respond.facts import words
from ragstone.respond.question_words import QuestionWords
from ragstone.respond.words import languages, lexicon, phrases
from ragstone.settings import RespondSettings

TEXT = "Masks are sold at the entrance. They cost two euros."
CHUNK = Chunk(id="c", document_id="masks", index=0, total=1, start=0, end=len(TEXT), text=TEXT, title="Masks")


@pytest.mark.parametrize("family", THRESHOLDS)
def test_smaller_risk_has_no_lower_threshold(family: str):
    thresholds = [threshold_for(f"{family}-of-any-version", risk / 100) for risk in range(1, 100)]
    assert thresholds == sorted(thresholds, reverse=True)


def test_unmeasured_risk_is_not_promised():
    assert threshold_for("acme-7", 0.2) == NEVER
    assert threshold_for("minilm", 0.001) == NEVER


def test_risk_between_two_uses_the_smaller():
    assert threshold_for("minilm", 0.25) == threshold_for("minilm", 0.2) == THRESHOLDS["minilm"][0.2]


@pytest.mark.parametrize("language", ["en", "de", "lt", "ms", "pl", "it", "sv"])
def test_refusal_follows_the_question_language(language: str):
    evidence = Evidence(question="Wo?\n Wann?", hits=(Hit(chunk=CHUNK, score=1),), method="test", language=language)
    draft = abstained(evidence, 0.1, [ClosestPassage(hit=evidence.hits[0], span=Span(start=0, end=31))])
    first, second, third = draft.text.split("\n")
    assert first == phrases(language).refusal.format(question="Wo? Wann?")
    assert second == phrases(language).closest
    assert third == "- Masks: Masks are sold at the entrance."
    assert (language == "en") == (phrases(language) == phrases("en"))


def test_refusal_is_english_without_a_words_file():
    evidence = Evidence(question="?", hits=(), method="test", language="fi")
    assert abstained(evidence, 0).text.startswith(phrases("en").refusal[:20])
    settings = RespondSettings(language="de")
    assert abstained(evidence, 0, (), settings).text.endswith(phrases("de").nothing_close)


@pytest.mark.parametrize("language", languages())
def test_every_words_file_is_complete(language: str):
    assert "{question}" in phrases(language).refusal
    assert all((phrases(language).closest, phrases(language).nothing_close))


def test_opposites_are_symmetric():
    opposites = lexicon().opposites
    assert all(one in opposites[other] for one, others in opposites.items() for other in others)


def test_question_for_a_number_needs_a_number():
    def even(words: Sequence[str], _request: Request) -> list[float]:
        return [1.0] * len(words)

    def mistyped(question: str, quoted: str) -> bool:
        match = QuestionWords(question, even, Request.by_owner()).match(words(quoted))
        return min(match.number, match.name) < 0

    assert mistyped("How much do masks cost?", "They cost two euros.") is False
    assert mistyped("How much do masks cost?", "Masks are sold at the entrance.") is True
    assert mistyped("Who sells masks?", "Masks are sold at the entrance.") is True
    asked = QuestionWords("masks entrance unicorns 2030", even, Request.by_owner())
    assert (asked.match(words(TEXT)).covered, len(asked)) == (pytest.approx(0.5), 4)
