"""The network that is trained: all-MiniLM-L6-v2 over a pair of texts, with heads for proving and for reading.

Word embeddings stay as they are, because Ragstone has them installed already, and for the model of claims so do the
lowest layers: only what is above is trained and shipped. At run time the layers are computed by the graph of the
embedder (``ragstone/index/embed/minilm/graph.onnx``) with other weights, and the heads, all of them linear, in NumPy.

Pair encoding: Devlin et al. 2019, "BERT" (arXiv 1810.04805). Cross-encoders: Nogueira and Cho 2019 (arXiv 1901.04085).
"""

# pyright: basic, reportMissingImports=false
# torch is installed only for training.

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ragstone.index.embed.minilm.pair_network import PairWeights
from ragstone.index.embed.minilm.weights import DIMENSIONS, HEADS, LAYERS, Weights
from ragstone.index.embed.packaged import Tensors

EPSILON = 1e-12
CLASSES = ("supported", "contradicted", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """What the heads return for a batch of pairs.

    ``label`` (pairs, 3) are logits of `CLASSES`; ``unsupported`` (pairs, tokens) of "nothing in the evidence says this
    word"; ``answers`` (pairs,) of "the passage answers"; ``evidence``, ``start`` and ``end`` (pairs, tokens) of
    "this token is evidence" and of where the short answer starts and ends.
    """

    label: Tensor
    unsupported: Tensor
    answers: Tensor
    evidence: Tensor
    start: Tensor
    end: Tensor


class Layer(nn.Module):
    """A layer of BERT, normalised after each part."""

    def __init__(self, weights: Weights, number: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.qkv = nn.Linear(DIMENSIONS, 3 * DIMENSIONS)
        self.out = nn.Linear(DIMENSIONS, DIMENSIONS)
        self.up = nn.Linear(DIMENSIONS, 4 * DIMENSIONS)
        self.down = nn.Linear(4 * DIMENSIONS, DIMENSIONS)
        self.norm1, self.norm2 = (nn.LayerNorm(DIMENSIONS, EPSILON) for _ in range(2))
        tensors = weights.tensors()
        with torch.no_grad():
            for name, module in self.named_children():
                matrix = torch.from_numpy(np.array(tensors[f"{number}.{name}.weight"], dtype=np.float32))
                module.weight.copy_(matrix if matrix.ndim == 1 else matrix.T)
                module.bias.copy_(torch.from_numpy(np.array(tensors[f"{number}.{name}.bias"], dtype=np.float32)))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Compute in bfloat16 throughout; autocast, which goes back and forth, takes 1.6 times as long."""
        pairs, tokens, _ = x.shape
        size = DIMENSIONS // HEADS
        qkv = _linear(self.qkv, x).view(pairs, tokens, 3, HEADS, size).permute(2, 0, 3, 1, 4)
        query, key, value = qkv.reshape(3, pairs * HEADS, tokens, size)
        # Written out, because the fused operator's way back takes four times as long on a processor.
        shares = torch.baddbmm(mask, query, key.transpose(1, 2), alpha=size**-0.5).softmax(dim=-1)
        attended = torch.bmm(self._some(shares), value).view(pairs, HEADS, tokens, size).transpose(1, 2)
        x = _norm(self.norm1, x + self._some(_linear(self.out, attended.reshape(pairs, tokens, DIMENSIONS))))
        return _norm(self.norm2, x + self._some(_linear(self.down, functional.gelu(_linear(self.up, x)))))

    def _some(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training)


def _linear(layer: nn.Linear, x: Tensor) -> Tensor:
    return functional.linear(x, layer.weight.to(x.dtype), layer.bias.to(x.dtype))


def _norm(layer: nn.LayerNorm, x: Tensor) -> Tensor:
    return functional.layer_norm(x, (DIMENSIONS,), layer.weight.to(x.dtype), layer.bias.to(x.dtype), EPSILON)


class Trunk(nn.Module):
    """Reads pairs of texts: a claim or a question, and evidence or a passage.

    Args:
        frozen: lowest layers that are not trained.
        dropout: share of values that training sets to 0.
    """

    def __init__(self, *, frozen: int, dropout: float) -> None:
        super().__init__()
        self.frozen, self.dropout = frozen, dropout
        weights = Weights()
        tensors = {"word": weights.matrix("word"), "position": weights.matrix("position"), "type": weights.raw("type")}
        for name, value in tensors.items():
            self.register_buffer(f"{name}_rows", torch.from_numpy(np.array(value, dtype=np.float32)), persistent=False)
        self.norm = nn.LayerNorm(DIMENSIONS, EPSILON)
        with torch.no_grad():
            self.norm.weight.copy_(torch.from_numpy(weights.raw("norm.weight").copy()))
            self.norm.bias.copy_(torch.from_numpy(weights.raw("norm.bias").copy()))
        self.layers = nn.ModuleList(Layer(weights, number, dropout) for number in range(LAYERS))
        self.label = nn.Linear(3 * DIMENSIONS, len(CLASSES))
        self.answers = nn.Linear(3 * DIMENSIONS, 1)
        self.places = nn.Linear(DIMENSIONS, 4)  # unsupported, evidence, start, end
        for part in (self.norm, *self.layers[:frozen]):
            part.requires_grad_(False)

    def forward(self, ids: Tensor, second: Tensor, lengths: Tensor) -> Heads:
        """Read a batch.

        Args:
            ids: tokens of the pairs, (pairs, longest).
            second: where the second text of each pair begins, (pairs,).
            lengths: tokens of each pair, (pairs,).
        """
        place = torch.arange(ids.shape[1])
        kind = (place >= second[:, None]).long()
        with torch.no_grad():
            x = self.norm(self.word_rows[ids] + self.position_rows[place] + self.type_rows[kind]).bfloat16()
            mask = torch.where(place < lengths[:, None], 0.0, -1e4).bfloat16()
            mask = mask[:, None, None, :].expand(-1, HEADS, 1, -1).flatten(0, 1)
            x = functional.dropout(x, self.dropout, self.training)
            for layer in self.layers[: self.frozen]:
                x = layer(x, mask)
        for layer in self.layers[self.frozen :]:
            x = layer(x, mask)
        x = x.float()
        first = ((place > 0) & (place < second[:, None] - 1))[:, :, None]
        mean = (x * first).sum(1) / first.sum(1).clamp(min=1)
        pooled = torch.cat([x[:, 0], mean, x.masked_fill(~first, -1e4).amax(1)], dim=1)
        pooled = functional.dropout(pooled, self.dropout, self.training)
        unsupported, evidence, start, end = self.places(x).unbind(-1)
        return Heads(
            label=self.label(pooled),
            unsupported=unsupported,
            answers=self.answers(pooled)[:, 0],
            evidence=evidence,
            start=start,
            end=end,
        )

    def trained(self) -> dict[str, nn.Parameter]:
        """Return the parameters that are trained, by name."""
        return {name: value for name, value in self.named_parameters() if value.requires_grad}

    def begin_with(self, weights: PairWeights, heads: Tensors) -> None:
        """Take packaged weights as the beginning of a further training."""
        values = weights.tensors()
        with torch.no_grad():
            for name, value in self.trained().items():
                key = name.removeprefix("layers.")
                value.copy_(torch.from_numpy((values[key] if key in values else heads.raw(key)).T.copy()))
