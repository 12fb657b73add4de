"""Ragstone as `docs/python.md` shows it: documents in, hybrid search out."""

import asyncio

from job import run

from ragstone import Document, Ragstone


class Store:
    UPDATE = "add"

    def __init__(self, folder, model):
        del model  # its own copy: matrices of 8 bits, turned to float32; cosine to the others .9995
        self.kb = Ragstone(folder, settings=["index.threads=2"])
        self.kb.engine(create=True)

    def embed(self, question):
        return asyncio.run(self.kb.engine()._embedder.embed([question], role="query"))

    def add(self, passages):
        self.kb.add(*(Document(id=one["id"], text=one["text"]) for one in passages))

    def search(self, question):
        return [hit.chunk.document_id for hit in self.kb.search(question, k=10)]

    def stored(self):
        return [(one.id, one.text) for one in self.kb.engine()._catalog.documents()]

    def update(self, passage):
        self.add([passage])


run(Store)
