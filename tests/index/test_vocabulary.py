"""The words of the documents, found by how they look; kept beside the keyword index as it follows."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import parts

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.keyword.profiles import SOON
from ragstone.index.keyword.vocabulary import Words, kept
from ragstone.index.keyword.wordbook import LATE
from ragstone.query.spelling import distance

WORD = st.text(st.sampled_from("abcdeąж"), min_size=1, max_size=9)


@given(st.lists(WORD, max_size=30), WORD, st.integers(1, 2))
def test_no_word_so_near_is_missed(some: list[str], word: str, errors: int) -> None:
    found = Words.of(some).near(word, errors)
    assert {one for one in some if distance(word, one, errors) <= errors} <= set(found) <= set(some)
    assert len(found) == len(set(found))


@given(st.sets(WORD, max_size=30), WORD)
def test_words_are_told_apart(some: set[str], word: str) -> None:
    words = Words.of(some)
    assert (word in words) == (word in some)
    assert {words[i] for i in range(len(words))} == some
    again = Words.from_arrays(words.to_arrays())
    assert [again[i] for i in range(len(again))] == [words[i] for i in range(len(words))]


def test_few_others_are_looked_at() -> None:
    some = [f"{begin}{middle}{end}" for begin in ("ab", "cd", "ef") for middle in "ghij" for end in ("kl", "mn", "op")]
    assert Words.of(some).near("abgkl", 1) == ["abgkl", *(f"ab{middle}kl" for middle in "hij")]


@pytest.mark.parametrize("lost", ["starts", "text", "lengths", "letters", "pairs"])
def test_arrays_that_do_not_fit_are_refused(lost: str) -> None:
    arrays = dict(Words.of(["apple", "pear"]).to_arrays())
    with pytest.raises(ValueError):
        Words.from_arrays({**arrays, lost: arrays[lost][:-1]})
    with pytest.raises(KeyError):
        Words.from_arrays({name: array for name, array in arrays.items() if name != lost})


def test_what_is_kept() -> None:
    assert kept(["Größe", "kortelė", "fp32", "ab", "x" * 50]) == {"grosse", "kortele"}


@pytest.fixture
def engine(workdir: Path):
    engine = KnowledgeBase.open(workdir / "kb", ("index.embedder=hash_embedder:HashEmbedder",), create=True)
    yield engine
    engine.close()


def document(id: str, text: str) -> Document:
    return Document(id=id, text=text, metadata={"language": "en"})


def add(engine: KnowledgeBase, id: str, text: str) -> None:
    asyncio.run(engine.documents.add([document(id, text)]))


def read(engine: KnowledgeBase, question: str) -> str:
    """Return the question as the search reads it."""
    return asyncio.run(engine.trace(question, reader=OWNER)).evidence.question.wording.text


def files(engine: KnowledgeBase) -> list[str]:
    return [file.name for file in (parts(engine).source.path / "terms").glob("words-*")]


def test_new_words_are_known_at_once_and_removed_ones_no_more(engine: KnowledgeBase) -> None:
    asyncio.run(engine.documents.add([document(str(i), f"The kitchen is open, {i}.") for i in range(SOON)]))
    assert read(engine, "kitchan") == "kitchen"
    before = files(engine)
    add(engine, "a", "The balcony is open.")
    assert read(engine, "the balcany") == "the balcony"
    assert files(engine) == before  # a few words are not worth a new file
    engine.documents.remove(["a"], reader=OWNER)
    assert read(engine, "the balcany") == "the balcany"


def test_what_comes_one_by_one_is_learned_from_as_well(engine: KnowledgeBase) -> None:
    for number in range(3):
        add(engine, str(number), f"The kitchen is open, {number}.")
    (chunks,) = parts(engine).indexes.terms()._looked().book.profiles.chunks.tolist()
    assert chunks == 3
    assert len(files(engine)) == 1


def test_many_new_words_are_written_to_one_new_file(engine: KnowledgeBase) -> None:
    add(engine, "1", "The kitchen is open.")
    letters = "abcdefghijklmnopqrstuvwxyz"
    add(engine, "2", " ".join(f"word{a}{b}" for a in letters for b in letters))
    (file,) = files(engine)
    book = parts(engine).indexes.terms()._looked().book
    assert len(book.words) > LATE
    assert len(book.late) == 0
    assert book.file is not None
    assert book.file.name == file


def test_a_damaged_file_is_made_again(engine: KnowledgeBase, workdir: Path) -> None:
    add(engine, "1", "The kitchen is open.")
    (file,) = (parts(engine).source.path / "terms").glob("words-*")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    engine.close()
    file.write_bytes(content)
    again = KnowledgeBase.open(workdir / "kb")
    assert asyncio.run(again.search("kitchan", reader=OWNER))[0].chunk.text == "The kitchen is open."
    assert read(again, "kitchan") == "kitchen"
    assert files(again) != [file.name]
    again.close()
