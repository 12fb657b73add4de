"""Keyword scores of an index with a history are those of an index that was just built."""

import random
import shutil
import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kb import commit

from ragstone.catalog.protocol import Catalog
from ragstone.catalog.sqlite import create_catalog
from ragstone.core.records import Document
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.settings import ChunkSettings

ALIKE = 1e-4
"""How much a score may differ where there are many terms. Lengths are whole numbers, so that of all terms together half
of one may be left over, and a score differs by less than the mean length does."""
WHOLE = ChunkSettings(strategy="paragraph", size=5000, overlap=0)
WORDS = [f"w{i}" for i in range(12)]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join)
CHANGES = st.dictionaries(st.integers(0, 30), st.one_of(st.none(), TEXTS), min_size=1, max_size=10)
"""New texts of documents by number; None removes one."""


def followed(folder: Path, catalog: Catalog) -> TermIndex:
    index = TermIndex(folder, catalog, Plain(), k1=1.2, b=0.75)
    index.follow()
    return index


def document(number: int, text: str) -> Document:
    return Document(id=str(number), text=text, metadata={"language": "en"})


def scores(index: TermIndex, catalog: Catalog, *terms: str) -> dict[str, float]:
    found = index.best(terms, 1000, None)
    chunks = catalog.chunks(found.rows.tolist())
    return {
        chunks[row].document_id: score for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True)
    }


def fresh(folder: Path, texts: Mapping[int, str]) -> tuple[TermIndex, Catalog]:
    catalog = create_catalog(folder / "fresh.db", {})
    commit(catalog, *(document(number, text) for number, text in texts.items()), settings=WHOLE)
    return followed(folder / "fresh", catalog), catalog


@settings(max_examples=12, deadline=None)
@example([{0: None, 1: "w0 w0", 17: "w0 w0 w0 w0 w0 w0", 2: "w0", 3: None}, {0: None, 1: "w0 w0 w0 w0"}], ["w0"])
@given(st.lists(CHANGES, min_size=2, max_size=6), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_scores_as_if_just_built(history: list[dict[int, str | None]], asked: list[str]):
    folder, texts = Path(tempfile.mkdtemp()), dict[int, str]()
    catalog = create_catalog(folder / "old.db", {})
    # Many documents that stay, so that not every change makes the index write everything again.
    texts |= {number: " ".join(WORDS[number % 12 :: 1 + number % 5]) for number in range(100, 200)}
    commit(catalog, *(document(number, text) for number, text in texts.items()), settings=WHOLE)
    index = followed(folder / "old", catalog)
    for changes in history:
        removed = [number for number, text in changes.items() if text is None and number in texts]
        added = {number: text for number, text in changes.items() if text is not None}
        texts = {number: text for number, text in texts.items() if number not in removed} | added
        commit(catalog, *(document(number, text) for number, text in added.items()), settings=WHOLE)
        catalog.remove([str(number) for number in removed])
        index.follow()
    again, its = fresh(folder, texts)
    terms = sum(len(text.split()) for text in texts.values())
    assert scores(index, catalog, *asked) == pytest.approx(scores(again, its, *asked), rel=max(ALIKE, 0.5 / terms))
    assert index.frequencies(WORDS) == again.frequencies(WORDS)
    assert index.weigh(WORDS) == again.weigh(WORDS)
    assert index.mean_length() == pytest.approx(again.mean_length())
    assert index.languages() == again.languages()
    catalog.close()
    its.close()
    shutil.rmtree(folder)


def test_single_changes_keep_the_order(tmp_path: Path):
    drawn = random.Random(7)
    weights = [1 / (at + 1) for at in range(300)]
    words = [f"w{at}" for at in range(300)]

    def text() -> str:
        return " ".join(drawn.choices(words, weights, k=drawn.randint(10, 120)))

    texts = {number: text() for number in range(200)}
    catalog = create_catalog(tmp_path / "old.db", {})
    commit(catalog, *(document(number, one) for number, one in texts.items()), settings=WHOLE)
    index = followed(tmp_path / "old", catalog)
    for _ in range(40):
        number = drawn.randrange(220)
        texts[number] = text()
        commit(catalog, document(number, texts[number]), settings=WHOLE)
        index.follow()
    again, its = fresh(tmp_path, texts)
    for _ in range(100):
        asked = drawn.choices(words, weights, k=3)
        found, expected = scores(index, catalog, *asked), scores(again, its, *asked)
        assert found == pytest.approx(expected, rel=ALIKE)
        ranked = [expected[id] for id in found]
        assert all(best >= next_best * (1 - ALIKE) for best, next_best in pairwise(ranked))
    catalog.close()
    its.close()


def test_goes_on_after_a_killed_write(tmp_path: Path):
    """A process that is killed between tantivy's files and its list of segments leaves the files behind."""
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(document(number, f"common word{number}") for number in range(40)), settings=WHOLE)
    folder = tmp_path / "terms"
    followed(folder, catalog)
    shutil.copytree(folder, tmp_path / "before")
    commit(catalog, document(0, "another text"), settings=WHOLE)
    followed(folder, catalog)
    shutil.copytree(tmp_path / "before", folder, dirs_exist_ok=True)
    index = followed(folder, catalog)
    assert index.stamp == catalog.stamp()
    assert set(scores(index, catalog, "another")) == {"0"}
    assert len(scores(index, catalog, "common")) == 39
    catalog.close()
