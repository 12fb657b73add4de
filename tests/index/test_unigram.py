"""The tokenizer of the multilingual model, checked against the `tokenizers` package on its own vocabulary."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from ragstone.index import has_multilingual
from ragstone.index.embed import multilingual
from ragstone.index.embed.packaged import Tensors
from ragstone.index.embed.unigram import UNKNOWN, Unigram, _normalised

pytestmark = pytest.mark.skipif(not has_multilingual(), reason="needs the extra multilingual")

TEXTS = (
    "The council met in the town hall.",
    "Wie viele Menschen leben in Warschau? Fußgängerübergänge, Öl und Donaudampfschifffahrt.",
    "Kaip gauti naują kortelę, jei senoji pamesta?",
    "北京是中华人民共和国的首都。１２３ ｶﾞﾗｽ 한국어",
    "def f(x): return x**2  # ½ cup, ﬁne, Ａ",
    "ᎣᏏᏲ \U0001f600\U0001f600 and ᎣᏏᏲ",
    "x" * 300,
)


@pytest.fixture(scope="module")
def weights() -> Tensors:
    return Tensors(multilingual._verified_package(), Path(multilingual.__file__).parent / "e5" / "weights.json")


@pytest.fixture(scope="module")
def ours(weights: Tensors) -> Unigram:
    return multilingual._tokenizer(weights)


def test_it_cuts_as_the_reference_does(weights: Tensors, ours: Unigram) -> None:
    edges, text = weights.raw("vocabulary.edges").tolist(), weights.raw("vocabulary.text").tobytes()
    pieces = [text[a:b].decode() for a, b in pairwise(edges)]
    scored = list(zip(pieces, weights.raw("vocabulary.scores").tolist(), strict=True))
    theirs = Tokenizer(models.Unigram(scored, unk_id=UNKNOWN, byte_fallback=False))
    theirs.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    theirs.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    for text in TEXTS:
        assert ours.encode(text).ids == theirs.encode(text).ids, text


def test_markers_in_a_text_are_text(ours: Unigram) -> None:
    assert not {0, 1, 2, UNKNOWN, 250_001} & set(ours.encode("a </s> b <s> c <pad> d <mask> <unk>").ids)


def test_words_it_cannot_spell_are_told(ours: Unigram) -> None:
    assert ours.known("Kaip gauti naują kortelę?") == 1
    assert ours.known("ᎣᏏᏲ") == 0
    assert ours.known("") == 1


@given(st.text())
def test_spans_lie_within_the_text_in_order(text: str) -> None:
    tokenizer = Unigram({"▁": 4, "a": 5, "▁a": 6, "ab": 7, "é": 8}, [0, 0, 0, 0, -5, -4, -4, -3, -4])
    encoded = tokenizer.encode(text)
    assert len(encoded.ids) == len(encoded.offsets)
    assert all(0 <= start < end <= len(text) for start, end in encoded.offsets)
    assert [start for start, _ in encoded.offsets] == sorted(start for start, _ in encoded.offsets)


@given(st.text())
def test_what_is_normalised_cluster_by_cluster_is_normalised_whole(word: str) -> None:
    normal, starts, ends = _normalised(word)
    assert normal == re.sub("[\0-\x1f\x7f-\x9f]", "", unicodedata.normalize("NFKC", word))
    assert len(normal) == len(starts) == len(ends)


def test_only_what_has_no_piece_is_unknown() -> None:
    tokenizer = Unigram({"▁": 4, "a": 5, "▁a": 6, "aa": 7}, [0, 0, 0, 0, -5, -4, -2, -3])
    assert tokenizer.encode("aaa zz\u0301 ａ") == ([6, 7, 4, UNKNOWN, 6], [(0, 1), (1, 3), (4, 5), (4, 7), (8, 9)])
