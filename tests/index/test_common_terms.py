"""Words that most chunks have are read once, or in large sets not at all."""

import numpy as np
import pytest
from kb import commit

from ragstone.catalog.sqlite import create_catalog
from ragstone.core.records import Document, Matches
from ragstone.index.keyword import term_query
from ragstone.index.keyword.analyze import ByLanguage
from ragstone.index.keyword.bm25 import TermIndex

QUESTION = "what is the rate of the account"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TermIndex:
    folder = tmp_path_factory.mktemp("terms")
    catalog = create_catalog(folder / "catalog.db", {})
    texts = [
        f"What the {'rate' if number % 4 else 'fee'} of {'an account' if number % 5 else 'a card'} is: the {number}."
        for number in range(60)
    ]
    facts = {"language": "en"}
    commit(catalog, *(Document(id=str(number), text=text, metadata=facts) for number, text in enumerate(texts)))
    made = TermIndex(folder / "terms", catalog, ByLanguage(), k1=1.2, b=0.75)
    made.follow()
    return made


def asked(index: TermIndex, question: str) -> Matches:
    return index.best(ByLanguage()(question, "en"), 30, None)


def test_common_words_read_once_score_the_same(index: TermIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    once = asked(index, QUESTION)
    monkeypatch.setattr(term_query, "COMMON", 1.0)
    thrice = asked(index, QUESTION)
    assert once.rows.tolist() == thrice.rows.tolist()
    np.testing.assert_allclose(once.scores, thrice.scores, rtol=1e-5)


def test_large_sets_skip_words_found_everywhere(index: TermIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    rare = asked(index, "fee card")
    ceiling = index.ceiling(ByLanguage()("fee", "en"))
    monkeypatch.setattr(term_query, "LARGE", 50)
    assert set(asked(index, "the fee is what the card").rows[:3].tolist()) == set(rare.rows[:3].tolist())
    assert index.ceiling(ByLanguage()("the fee", "en")) <= ceiling * 1.2
    assert len(asked(index, "what is the")) == 30, "a question of common words alone still finds chunks"
