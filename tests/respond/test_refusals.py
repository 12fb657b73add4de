"""Thresholds for a risk, and refusals in the language of the question."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ragstone.core.question import Requirement, RequirementKind
from ragstone.core.records import Chunk, Evidence, Hit, Span
from ragstone.core.request import Request
from ragstone.language import languages, lexicon, phrases
from ragstone.language.facts import words
from ragstone.question import Context, read
from ragstone.respond.drafts import ClosestPassage, abstained, cite, summary
from ragstone.respond.quoting.answerability import NEVER, THRESHOLDS, threshold_for
from ragstone.respond.quoting.question_words import QuestionWords
from ragstone.respond.requirements.unmet import Lack
from ragstone.settings import RespondSettings

TEXT = "Masks are sold at the entrance. They cost two euros."
CHUNK = Chunk(id="c", document_id="masks", index=0, total=1, start=0, end=len(TEXT), text=TEXT, title="Masks")
TWIN = replace(CHUNK, id="t", document_id="twin")


def evidence(*chunks: Chunk) -> Evidence:
    return Evidence(question=read("Where?"), hits=tuple(Hit(chunk=one, score=1) for one in chunks), method="test")


@pytest.mark.parametrize("family", THRESHOLDS)
def test_smaller_risk_has_no_lower_threshold(family: str):
    thresholds = [threshold_for(f"{family}-of-any-version", risk / 100) for risk in range(1, 100)]
    assert thresholds == sorted(thresholds, reverse=True)


def test_unmeasured_risk_is_not_promised():
    assert threshold_for("acme-7", 0.2) == NEVER
    assert threshold_for("minilm", 0.001) == NEVER


def test_risk_between_two_uses_the_smaller():
    assert threshold_for("minilm", 0.25) == threshold_for("minilm", 0.2) == THRESHOLDS["minilm"][0.2]


@pytest.mark.parametrize("language", languages())
def test_refusal_follows_the_question_language(language: str):
    asked = replace(evidence(CHUNK), question=replace(read("Wo?\n Wann?"), language=language))
    draft = abstained(asked, 0.1, RespondSettings(), [ClosestPassage(hit=asked.hits[0], span=Span(start=0, end=31))])
    first, second, third = draft.text.split("\n")
    assert first == phrases(language).refusal.format(question="Wo? Wann?")
    assert second == phrases(language).closest
    assert third == "- Masks: Masks are sold at the entrance."
    assert (language == "en") == (phrases(language) == phrases("en"))


def test_documents_without_title_are_named_by_their_file():
    untitled = replace(CHUNK, title="", document_id="/srv/data/masks.txt")
    web = replace(untitled, document_id="https://masks.example/")
    lines = abstained(evidence(untitled, web), 0.1, RespondSettings()).text.split("\n")
    assert lines[-2:] == ["- masks.txt", "- https://masks.example/"]
    assert "- masks.txt (/srv/data/masks.txt)" in summary(evidence(untitled), [], "en").split("\n")


def test_refusal_shows_the_same_passage_once():
    shown = [ClosestPassage(hit=Hit(chunk=one, score=1), span=Span(start=0, end=31)) for one in (CHUNK, TWIN)]
    assert abstained(evidence(CHUNK, TWIN), 0.1, RespondSettings(), shown).text.count("Masks are sold") == 1


def test_refusal_shows_no_passage_of_one_word():
    shown = [ClosestPassage(hit=Hit(chunk=CHUNK, score=1), span=Span(start=0, end=5))]
    assert abstained(evidence(CHUNK), 0.1, RespondSettings(), shown).text.endswith("\n- Masks")


def test_refusal_tells_unknown_from_unmentioned():
    def refused(kind: RequirementKind, *, known: bool) -> str:
        lack = Lack(requirement=Requirement(kind=kind, text="Berlin"), found=False, known=known)
        return abstained(evidence(CHUNK), 0.1, RespondSettings(), lacks=[lack]).text.split("\n")[1]

    assert refused("place", known=False) == phrases("en").unfound.format(what="Berlin")
    assert refused("place", known=True) == phrases("en").unmentioned.format(what="Berlin")
    assert refused("version", known=True) == phrases("en").unfound.format(what="Berlin")


def test_summary_names_quoted_documents_first():
    others = [replace(CHUNK, id=f"{n}", document_id=f"{n}", title=f"Other {n}") for n in range(3)]
    citation = cite(1, Hit(chunk=CHUNK, score=1), Span(start=0, end=5))
    named = summary(evidence(*others, CHUNK), [citation], "en").split("\n")[-2:]
    assert named == ["- Masks (masks)", "- Other 0 (0)"]


def test_refusal_is_english_without_a_words_file():
    asked = Evidence(question=read("?", Context(language="xx")), hits=(), method="test")
    assert abstained(asked, 0, RespondSettings()).text.startswith(phrases("en").refusal[:20])
    settings = RespondSettings(language="de")
    assert abstained(asked, 0, settings).text.endswith(phrases("de").nothing_close)


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
        match = QuestionWords(read(question), even, Request.by_owner()).match(words(quoted))
        return min(match.number, match.name) < 0

    assert mistyped("How much do masks cost?", "They cost two euros.") is False
    assert mistyped("How much do masks cost?", "Masks are sold at the entrance.") is True
    assert mistyped("Who sells masks?", "Masks are sold at the entrance.") is True
    asked = QuestionWords(read("masks entrance unicorns 2030"), even, Request.by_owner())
    assert (asked.match(words(TEXT)).covered, len(asked)) == (pytest.approx(0.5), 4)
