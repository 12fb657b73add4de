"""Haystack: the in-memory store, saved to disk, and a pipeline of BM25 and vectors joined by reciprocal ranks."""

# pyright: basic, reportMissingImports=false
# This runs in an environment of its own, with packages that are not installed here.

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.sentence_transformers import (
    SentenceTransformersDocumentEmbedder,
    SentenceTransformersTextEmbedder,
)
from job import run


class Store:
    def __init__(self, folder, model):
        folder.mkdir(exist_ok=True)
        self.file = folder / "store.json"
        if self.file.exists():
            self.store = InMemoryDocumentStore.load_from_disk(str(self.file))
        else:
            self.store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        self.passages = SentenceTransformersDocumentEmbedder(model=str(model), progress_bar=False)
        self.questions = SentenceTransformersTextEmbedder(model=str(model), progress_bar=False)
        self.passages.warm_up()
        self.pipeline = Pipeline()
        self.pipeline.add_component("embedder", self.questions)
        self.pipeline.add_component("vectors", InMemoryEmbeddingRetriever(self.store, top_k=10))
        self.pipeline.add_component("bm25", InMemoryBM25Retriever(self.store, top_k=10))
        self.pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=10))
        self.pipeline.connect("embedder.embedding", "vectors.query_embedding")
        self.pipeline.connect("vectors", "joiner")
        self.pipeline.connect("bm25", "joiner")
        self.pipeline.warm_up()

    def embed(self, question):
        return self.questions.run(question)["embedding"]

    def add(self, passages):
        documents = [Document(id=one["id"], content=one["text"]) for one in passages]
        self.store.write_documents(self.passages.run(documents)["documents"])

    def save(self):
        self.store.save_to_disk(str(self.file))

    def search(self, question):
        found = self.pipeline.run({"embedder": {"text": question}, "bm25": {"query": question}})
        return [document.id for document in found["joiner"]["documents"]]


run(Store)
