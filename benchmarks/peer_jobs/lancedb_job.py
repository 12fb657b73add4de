"""LanceDB: a table of vectors with a full-text index, searched by both, joined by reciprocal ranks.

LanceDB has no embedder of its own. It gets the fastest in common use, ONNX Runtime with the texts sorted by length.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# This runs in an environment of its own, with packages that are not installed here.

import re

import lancedb
import numpy as np
import pyarrow as pa
from job import run
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker


class Onnx:
    def __init__(self, model):
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 2
        path = str(model.parent / "chroma" / "onnx" / "model.onnx")
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()

    def __call__(self, texts):
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        out = np.empty((len(texts), 384), dtype=np.float32)
        for start in range(0, len(order), 32):
            chosen = order[start : start + 32]
            encoded = self.tokenizer.encode_batch([texts[i] for i in chosen])
            ids = np.array([one.ids for one in encoded])
            mask = np.array([one.attention_mask for one in encoded])
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (tokens,) = self.session.run(None, given)
            mean = (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[chosen] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return out


class Store:
    def __init__(self, folder, model):
        self.embedder = Onnx(model)
        database = lancedb.connect(str(folder))
        fields = [("id", pa.string()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), 384))]
        self.table = database.create_table("passages", schema=pa.schema(fields), exist_ok=True)
        self.reranker = RRFReranker()
        if not self.table.list_indices():
            self.table.create_index("text", config=FTS())

    def embed(self, question):
        return self.embedder([question])[0]

    def add(self, passages):
        self.table.add(self._rows(passages))

    def finish(self):
        self.table.optimize()

    def search(self, question):
        words = re.sub(r"[^\w ]", " ", question)
        both = self.table.search(query_type="hybrid").vector(self.embed(question)).text(words)
        return both.rerank(self.reranker).limit(10).to_arrow()["id"].to_pylist()

    def _rows(self, passages):
        texts = [one["text"] for one in passages]
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(self.embedder(texts).reshape(-1)), 384)
        return pa.table({"id": [one["id"] for one in passages], "text": texts, "vector": vectors})


run(Store)
