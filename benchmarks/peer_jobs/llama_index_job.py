"""LlamaIndex: the default vector index persisted to a folder, with a BM25 retriever, fused by reciprocal ranks."""

# pyright: basic, reportMissingImports=false
# This runs in an environment of its own, with packages that are not installed here.

from job import run
from llama_index.core import Settings, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from llama_index.retrievers.bm25 import BM25Retriever


class Store:
    def __init__(self, folder, model):
        self.folder = str(folder)
        Settings.llm = MockLLM()
        Settings.embed_model = self.embedder = HuggingFaceEmbedding(str(model), device="cpu", embed_batch_size=32)
        if folder.exists():
            self.index = load_index_from_storage(StorageContext.from_defaults(persist_dir=self.folder))
        else:
            self.index = VectorStoreIndex([])
        self.retriever = None

    def embed(self, question):
        return self.embedder.get_query_embedding(question)

    def add(self, passages):
        self.index.insert_nodes([TextNode(id_=one["id"], text=one["text"]) for one in passages])
        self.retriever = None

    def save(self):
        self.index.storage_context.persist(self.folder)

    def search(self, question):
        if self.retriever is None:  # it must be built again after every change
            bm25 = BM25Retriever.from_defaults(docstore=self.index.docstore, similarity_top_k=10)
            both = [self.index.as_retriever(similarity_top_k=10), bm25]
            self.retriever = QueryFusionRetriever(
                both, similarity_top_k=10, num_queries=1, mode="reciprocal_rerank", use_async=False
            )
        return [found.node.node_id for found in self.retriever.retrieve(question)]


run(Store)
