"""LangChain: FAISS saved to a folder, with a BM25 retriever, joined by the ensemble retriever."""

# pyright: basic, reportMissingImports=false, reportOptionalMemberAccess=false
# This runs in an environment of its own, with packages that are not installed here.

from job import run
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_huggingface import HuggingFaceEmbeddings


class Store:
    def __init__(self, folder, model):
        self.folder = str(folder)
        self.embedder = HuggingFaceEmbeddings(model_name=str(model), encode_kwargs={"batch_size": 32})
        self.store = self.retriever = None
        if folder.exists():
            self.store = FAISS.load_local(self.folder, self.embedder, allow_dangerous_deserialization=True)

    def embed(self, question):
        return self.embedder.embed_query(question)

    def add(self, passages):
        texts, ids = [one["text"] for one in passages], [one["id"] for one in passages]
        if self.store is None:
            self.store = FAISS.from_texts(texts, self.embedder, ids=ids)
        else:
            self.store.add_texts(texts, ids=ids)
        self.retriever = None

    def save(self):
        self.store.save_local(self.folder)

    def search(self, question):
        if self.retriever is None:  # it must be built again after every change
            bm25 = BM25Retriever.from_documents(self._documents(), k=10)
            vectors = self.store.as_retriever(search_kwargs={"k": 10})
            self.retriever = EnsembleRetriever(retrievers=[vectors, bm25], weights=[0.5, 0.5])
        return [document.id for document in self.retriever.invoke(question)][:10]

    def _documents(self):
        return list(self.store.docstore._dict.values()) if self.store else []


run(Store)
