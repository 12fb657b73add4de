"""The method that questions of several steps are compared with."""

from __future__ import annotations

import asyncio

import numpy as np
from evidence import hit
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.hipporag import Graph, HippoRag
from ragstone.core.request import Request
from ragstone.index import build_embedder
from ragstone.settings.load import load

_NODES = st.integers(0, 5)
_EDGES = st.dictionaries(
    st.tuples(_NODES, _NODES).filter(lambda pair: pair[0] < pair[1]), st.floats(0.1, 2.0), max_size=10
)


@given(_EDGES, st.lists(st.floats(0.01, 1), min_size=6, max_size=6))
def test_page_rank_is_a_distribution(edges: dict[tuple[int, int], float], seeds: list[float]) -> None:
    found = Graph.of(6, edges).ranked(np.array(seeds))
    assert np.isclose(found.sum(), 1)
    assert (found >= 0).all()


def test_page_rank_of_a_pair_is_known() -> None:
    """Half of each round goes on, and half returns to the seed: 2/3 and 1/3."""
    found = Graph.of(2, {(0, 1): 1.0}).ranked(np.array([1.0, 0.0]))
    assert np.allclose(found, [2 / 3, 1 / 3])


def test_both_versions_reach_the_second_passage() -> None:
    texts = ["Orla Finch was born in Tresk.", "Tresk lies by the Aun.", "Cats sleep.", "Dogs bark."]
    titled = enumerate(zip(texts, "ABCD", strict=True))
    chunks = [hit(text, number, title=title).chunk for number, (text, title) in titled]
    embedder, request = build_embedder(load(["index.embedder=minilm"]).settings.index), Request.by_owner()

    async def both() -> list[list[int]]:
        vectors = await embedder.embed(texts, role="passage", request=request)
        peer = HippoRag(chunks, vectors, embedder, request)
        await peer.read()
        return [await peer.first("Where was Orla Finch born?"), await peer.second("Where was Orla Finch born?")]

    for ranking in asyncio.run(both()):
        assert sorted(ranking) == [0, 1, 2, 3]
        assert set(ranking[:2]) == {0, 1}
