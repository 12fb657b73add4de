"""BM25 against the test suite of bm25s, read from its own file.

Which of its variants is ours: ``lucene`` (idf ln(1 + (N - df + 0.5) / (df + 0.5)), never negative), times
k1 + 1, the factor of Robertson's formula that newer Lucene and bm25s leave out; it is the same for every text
and changes no order.

Run are its cases with an expected ranking on a corpus of its own (``test_retrieve``, and the weight mask, which
is our filter); the ranking does not depend on the variant. Not run: comparisons with rank_bm25, bm25-pt and
BEIR's data, which need a download and those packages (BM25 in plain Python takes their place in
``tests/contract/test_lexical_index_contract.py``); tests of its tokenizer, stemmer, file formats and mocks.
"""

import ast
import asyncio
import math
from pathlib import Path

import pytest
from kb import commit

from ragstone.catalog.sqlite import create_catalog
from ragstone.core.filters import In
from ragstone.core.records import Document
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.index.keyword.scoring import bm25


@pytest.fixture(scope="module")
def peer(data_dir: Path) -> ast.Module:
    file = data_dir / "peer_suites" / "bm25s" / "tests" / "core" / "test_retrieve.py"
    if not file.is_file():
        pytest.skip(f"the test cases of bm25s are not at {file}")
    return ast.parse(file.read_text(encoding="utf-8"))


def values(tree: ast.AST, name: str) -> list[object]:
    """What is assigned to a name, in order, arrays as lists."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(args=[first, *_])) if target == name:
                found.append(first)
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                found.append(value)
    return [ast.literal_eval(value) for value in found if isinstance(value, ast.Constant | ast.List)]


def function(tree: ast.Module, name: str) -> ast.AST:
    return next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)


@pytest.mark.parametrize("k1", [1.2, 1.5])
def test_the_rankings_bm25s_expects(peer: ast.Module, tmp_path: Path, k1: float):
    (corpus,) = values(function(peer, "setUpClass"), "corpus")
    assert isinstance(corpus, list)
    # Its stop words are left out here as its tokenizer leaves them out there.
    texts = [" ".join(word for word in text.split() if word not in {"a", "is", "and", "to", "the"}) for text in corpus]
    catalog = create_catalog(tmp_path / "catalog.db", {})
    commit(catalog, *(Document(id=str(i), text=text, metadata={"n": i}) for i, text in enumerate(texts)))
    index = TermIndex(tmp_path / "terms", catalog, Plain(), k1=k1, b=0.75)
    index.follow()
    for name in ("test_retrieve", "test_retrieve_with_weight_mask"):
        case, where = function(peer, name), None
        for mask in values(case, "weight_mask")[:1]:
            assert isinstance(mask, list)
            where = In(key="n", values=tuple(i for i, weight in enumerate(mask) if weight))
        (query, *_), (truth, *_) = values(case, "query"), values(case, "ground_truth")
        found = asyncio.run(index.search(Plain()(str(query)), 2, where))
        chunks = catalog.chunks(found.rows.tolist())
        assert [[int(chunks[row].document_id) for row in found.rows.tolist()]] == truth
    catalog.close()


def test_ours_is_the_lucene_variant_times_a_constant():
    texts, k1, b = [["cat", "purr"], ["dog"], ["cat", "cat", "bird"]], 1.5, 0.75
    scores = bm25(["cat"], texts, {"cat": 2}, 3, 2.0, k1=k1, b=b)
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    lucene = [idf * tf / (tf + k1 * (1 - b + b * length / 2.0)) for tf, length in ((1, 2), (0, 1), (2, 3))]
    assert scores == pytest.approx([(k1 + 1) * score for score in lucene])
