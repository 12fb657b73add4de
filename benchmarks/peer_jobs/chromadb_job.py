"""Chroma: a persistent client and its own default embedder, ONNX Runtime. Its local search is by vectors alone.

The weights are placed where its embedder would download them to.
"""

# pyright: basic, reportMissingImports=false
# This runs in an environment of its own, with packages that are not installed here.

from pathlib import Path

import chromadb
from chromadb.config import Settings
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2
from job import run


class Store:
    def __init__(self, folder, model):
        ONNXMiniLM_L6_V2.DOWNLOAD_PATH = Path(model).parent / "chroma"
        ONNXMiniLM_L6_V2._download_model_if_not_exists = lambda _: None
        self.embedder = ONNXMiniLM_L6_V2()
        client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        self.collection = client.get_or_create_collection("passages", embedding_function=self.embedder)

    def embed(self, question):
        return self.embedder([question])

    def add(self, passages):
        self.collection.add(ids=[one["id"] for one in passages], documents=[one["text"] for one in passages])

    def search(self, question):
        return self.collection.query(query_texts=[question], n_results=10)["ids"][0]


run(Store)
