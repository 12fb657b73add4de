"""Run cross-encoders exported to ONNX, a folder with ``tokenizer.json`` and a graph, without torch."""

# onnxruntime and tokenizers are untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false, reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from ragstone.core.errors import SettingsError
from ragstone.rank.cross_encoder import CrossEncoderReranker

MAX_TOKENS = 512
"""Tokens of question and text together; the text is truncated."""
BATCH = 16


def load(folder: Path, graph: Path) -> CrossEncoderReranker:
    """Load the model in a folder.

    Raises:
        SettingsError: it cannot be read, or does not give one score per pair.
    """
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        session = ort.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise bare exceptions
        raise SettingsError(f"rank.reranker: the model in {folder} cannot be read: {error}") from error
    if session.get_outputs()[0].shape[-1] not in (1, "num_labels"):
        raise SettingsError(f"rank.reranker: the model in {folder} does not give one score for a pair of texts")
    tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("[PAD]") or tokenizer.token_to_id("<pad>") or 0)
    wanted = {one.name for one in session.get_inputs()}

    def score(question: str, texts: Sequence[str]) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(texts), BATCH):
            encoded = tokenizer.encode_batch([(question, text) for text in texts[start : start + BATCH]])
            inputs = {
                "input_ids": [one.ids for one in encoded],
                "attention_mask": [one.attention_mask for one in encoded],
                "token_type_ids": [one.type_ids for one in encoded],
            }
            fed = {name: np.array(values, dtype=np.int64) for name, values in inputs.items() if name in wanted}
            scores += np.asarray(session.run(None, fed)[0])[:, 0].astype(float).tolist()
        return scores

    return CrossEncoderReranker(folder.name, score)
