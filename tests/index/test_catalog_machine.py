"""The catalog against a plain dict, through random histories: nothing lost, nothing left over, no index apart."""

import asyncio
import shutil
import tempfile
from pathlib import Path

import numpy as np
from drawn import DOCUMENTS, IDS
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from kb import check_whole, commit, derived

from ragstone.catalog.rows import signature
from ragstone.catalog.sqlite import create_catalog, open_catalog
from ragstone.core.records import Document
from ragstone.index.keyword.analyze import Plain
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.index.vectors.embedded import EmbeddedVectors


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "catalog.db"
        self.catalog = create_catalog(self.path, {})
        self.model: dict[str, Document] = {}
        self.generation = 0
        self.open_indexes()

    def open_indexes(self) -> None:
        self.terms = TermIndex(self.folder / "terms", self.catalog, Plain(), k1=1.2, b=0.75)
        self.vectors = EmbeddedVectors(self.folder / "vectors", self.catalog, dimensions=32, exact_limit=2)

    @rule(documents=st.lists(DOCUMENTS, min_size=1, max_size=3))
    def put(self, documents: list[Document]) -> None:
        documents = [derived(one) for one in documents]
        commit(self.catalog, *documents)
        self.model |= {document.id: document for document in documents}
        assert self.catalog.generation() == self.generation + 1

    @rule(id=IDS)
    def remove(self, id: str) -> None:
        if id in self.model:
            self.catalog.remove([id])
            del self.model[id]

    @rule()
    def open_again(self) -> None:
        self.catalog.close()
        self.catalog = open_catalog(self.path)
        self.open_indexes()

    @rule()
    def follow(self) -> None:
        self.terms.follow()
        self.vectors.follow(write=True)

    @rule()
    def write_vectors(self) -> None:
        self.vectors.follow(write=False)
        self.vectors._state = self.vectors._written(self.vectors._state)

    @rule(follow=st.booleans())
    def go_back(self, follow: bool) -> None:
        """A copy is put back after more was done: numbers come again with another meaning."""
        self.catalog.close()
        copy, kept = self.folder / "copy.db", dict(self.model)
        shutil.copy(self.path, copy)
        self.catalog = open_catalog(self.path)
        self.open_indexes()
        commit(self.catalog, Document(id="later", text="words of another history"))
        if follow:
            self.follow()
        self.catalog.close()
        copy.replace(self.path)
        self.catalog, self.model = open_catalog(self.path), kept
        self.open_indexes()

    @invariant()
    def all_is_whole(self) -> None:
        check_whole(self.path, self.model)
        assert self.catalog.generation() >= self.generation
        self.generation = self.catalog.generation()
        stored = self.catalog.signatures(list(self.model))
        assert stored == {id: signature(document) for id, document in self.model.items()}
        everything = self.catalog.chunks(list(range(1, 2000)))
        vector = np.ones(32, dtype=np.float32)
        assert set(asyncio.run(self.vectors.search(vector, 1000)).rows.tolist()) == set(everything)
        if self.terms.stamp == self.catalog.stamp():
            for word in ("filler", "history", "3"):
                having = {row for row, chunk in everything.items() if word in Plain()(chunk.headed)}
                assert set(asyncio.run(self.terms.search([word], 1000)).rows.tolist()) == having

    def teardown(self) -> None:
        self.catalog.close()
        shutil.rmtree(self.folder)


TestCatalogMachine = Machine.TestCase
TestCatalogMachine.settings = settings(max_examples=12, stateful_step_count=12)
