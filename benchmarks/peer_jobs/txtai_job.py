"""txtai: a hybrid index with content, the model through transformers. The first batch is indexed, the others upserted.

txtai keeps everything in memory until `save` writes it all.
"""

# pyright: basic, reportMissingImports=false
# This runs in an environment of its own, with packages that are not installed here.

from job import run
from txtai import Embeddings


class Store:
    def __init__(self, folder, model):
        self.folder = str(folder)
        self.new = not folder.exists()
        if self.new:
            self.index = Embeddings(
                path=str(model), hybrid=True, content=True, maxlength=256, encodebatch=32, gpu=False
            )
        else:
            self.index = Embeddings()
            self.index.load(self.folder)

    def embed(self, question):
        return self.index.transform(question)

    def add(self, passages):
        documents = [(one["id"], one["text"], None) for one in passages]
        self.index.index(documents) if self.new else self.index.upsert(documents)
        self.new = False

    def save(self):
        self.index.save(self.folder)

    def search(self, question):
        return [found["id"] for found in self.index.search(question, 10)]


run(Store)
