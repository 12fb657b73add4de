"""The language that a question is answered in, whatever language the documents are in."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from kb import add

from ragstone.contracts import Document
from ragstone.engine import Engine
from ragstone.respond import language_of


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie lange ist die Garantie gültig?", "de"),
        ("How long is the warranty?", "en"),
        ("Kiek laiko ir kada galioja garantija?", "lt"),
        ("Was?", ""),
        ("CUDA-Q", ""),
        ("in die the of", ""),
        ("", ""),
    ],
)
def test_little_words_tell_the_language_of_a_question(question: str, language: str) -> None:
    assert language_of(question) == language


def test_a_refusal_is_in_the_language_of_its_question(tmp_path: Path) -> None:
    with closing(Engine.open(tmp_path / "kb", create=True)) as engine:
        add(engine, Document(id="bees", text="Bees dance in the dark. They carry pollen to the hive."))
        german = asyncio.run(engine.ask("Wie lange ist die Garantie auf den Kühlschrank?"))
        english = asyncio.run(engine.ask("How long is the warranty of the fridge?"))
    assert (german.abstained, english.abstained) == (True, True)
    assert german.answer.startswith("Die Dokumente scheinen es nicht zu sagen:")
    assert english.answer.startswith("The documents do not seem to tell:")
