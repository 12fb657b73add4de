"""Thresholds for a risk, and refusals in the language of the question."""

import pytest

from ragstone.contracts import Chunk, Evidence, Hit, Span
from ragstone.respond.abstention import Nearest, abstained
from ragstone.respond.asked import fit
from ragstone.respond.risk import NEVER, THRESHOLDS, threshold_for
from ragstone.respond.words import languages, lexicon, phrases
from ragstone.sections import RespondSettings

TEXT = "Masks are sold at the entrance. They cost two euros."
CHUNK = Chunk(id="c", document_id="masks", index=0, total=1, start=0, end=len(TEXT), text=TEXT, title="Masks")


@pytest.mark.parametrize("family", THRESHOLDS)
def test_a_smaller_risk_never_has_a_lower_threshold(family: str):
    thresholds = [threshold_for(f"{family}-of-any-version", risk / 100) for risk in range(1, 100)]
    assert thresholds == sorted(thresholds, reverse=True)


def test_what_was_not_measured_is_not_promised():
    assert threshold_for("acme-7", 0.2) == NEVER
    assert threshold_for("minilm", 0.001) == NEVER


def test_a_risk_between_two_has_the_promise_of_the_smaller():
    assert threshold_for("minilm", 0.25) == threshold_for("minilm", 0.2) == THRESHOLDS["minilm"][0.2]


@pytest.mark.parametrize("language", ["en", "de", "lt", "ms", "pl", "it", "sv"])
def test_a_refusal_is_in_the_language_of_the_question_and_shows_what_came_nearest(language: str):
    evidence = Evidence(question="Wo?\n Wann?", hits=(Hit(chunk=CHUNK, score=1),), method="test", language=language)
    draft = abstained(evidence, 0.1, [Nearest(hit=evidence.hits[0], span=Span(start=0, end=31))])
    first, second, third = draft.text.split("\n")
    assert first == phrases(language).untold.format(question="Wo? Wann?")
    assert second == phrases(language).nearest
    assert third == "- Masks: Masks are sold at the entrance."
    assert (language == "en") == (phrases(language) == phrases("en"))


def test_it_is_english_where_the_language_has_no_file_and_another_by_setting():
    evidence = Evidence(question="?", hits=(), method="test", language="fi")
    assert abstained(evidence, 0).text.startswith(phrases("en").untold[:20])
    settings = RespondSettings(language="de")
    assert abstained(evidence, 0, (), settings).text.endswith(phrases("de").nothing)


@pytest.mark.parametrize("language", languages())
def test_each_file_of_words_is_whole(language: str):
    assert "{question}" in phrases(language).untold
    assert all((phrases(language).nearest, phrases(language).nothing))


def test_words_that_mean_the_opposite_exclude_each_other_both_ways():
    opposites = lexicon().opposites
    assert all(one in opposites[other] for one, others in opposites.items() for other in others)


def test_a_question_for_a_number_is_mistyped_where_the_sentences_have_none():
    def even(words) -> list[float]:
        return [1.0] * len(words)

    assert fit("How much do masks cost?", CHUNK, ["They cost two euros."], even).mistyped == 0
    assert fit("How much do masks cost?", CHUNK, ["Masks are sold at the entrance."], even).mistyped == 1
    assert fit("Who sells masks?", CHUNK, ["Masks are sold at the entrance."], even).mistyped == 1
    found = fit("masks entrance unicorns pegasus", CHUNK, [], even)
    assert (found.coverage, found.words) == (pytest.approx(0.5), 4)
