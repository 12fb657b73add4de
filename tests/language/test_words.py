"""The language that a question is answered in, whatever language the documents are in."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from kb import add

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.language import language_of, languages, phrases


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie lange ist die Garantie gültig?", "de"),
        ("How long is the warranty?", "en"),
        ("Kiek laiko ir kada galioja garantija?", "lt"),
        ("Welche Dividende zahlte Alderwren 2025?", "de"),
        ("„Welche Dividende zahlte Alderwren 2025?“", "de"),
        ("Wie heißt Alderwren?", ""),  # also a Dutch word
        ("Welche dividend of Alderwren?", ""),
        ("WHO guidelines 2020", ""),
        ("APA citation style", ""),
        ("Ka-band antenna", ""),
        ("Was?", ""),
        ("CUDA-Q", ""),
        ("in die the of", ""),
        ("", ""),
    ],
)
def test_function_words_reveal_the_language(question: str, language: str) -> None:
    assert language_of(question) == language


def test_a_refusal_is_in_the_language_of_its_question(tmp_path: Path) -> None:
    with closing(KnowledgeBase.open(tmp_path / "kb", create=True)) as engine:
        add(engine, Document(id="bees", text="Bees dance in the dark. They carry pollen to the hive."))
        german = asyncio.run(engine.ask("Wie lange ist die Garantie auf den Kühlschrank?", reader=OWNER))
        english = asyncio.run(engine.ask("How long is the warranty of the fridge?", reader=OWNER))
        dutch = asyncio.run(engine.ask("Hoeveel jaar hebben wij garantie op de koelkast?", reader=OWNER))
    assert (german.abstained, english.abstained, dutch.abstained) == (True, True, True)
    assert german.answer.startswith("In diesen Dokumenten habe ich keine Antwort auf")
    assert english.answer.startswith("I couldn't find an answer to")
    assert dutch.answer.startswith("Ik heb in deze documenten geen antwoord gevonden op")


@pytest.mark.parametrize("language", languages())
def test_placeholders_of_a_language_can_be_filled(language: str) -> None:
    texts = phrases(language)
    assert "why" in texts.refusal.format(question="why")
    assert "7" in texts.found.format(documents=7, vector=7, keywords=7)
