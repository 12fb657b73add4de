"""Ragstone as `docs/python.md` shows it, with hybrid search."""

# pyright: basic, reportMissingImports=false
# This runs in an environment of its own, with packages that are not installed here.

import asyncio

from job import run

from ragstone import Document, Ragstone
from ragstone.core.request import Request


class Store:
    def __init__(self, folder, model):
        del model  # its own copy has matrices of 8 bits, turned into float32; the cosine to the others is .9995
        self.kb = Ragstone(folder, settings=["index.threads=2"])
        self.kb.knowledge_base(create=True)

    def embed(self, question):
        with self.kb.knowledge_base().current() as version:
            return asyncio.run(version.models.embedder().embed([question], role="query", request=Request.by_owner()))

    def add(self, passages):
        self.kb.add(*(Document(id=one["id"], text=one["text"]) for one in passages))

    def search(self, question):
        return [hit.chunk.document_id for hit in self.kb.search(question, k=10)]


run(Store)
