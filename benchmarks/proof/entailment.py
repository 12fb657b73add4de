"""The model of entailment by itself, on held-out halves of public sets."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.common import Options, Result, Table, skipped
from ragstone.core.request import Request
from ragstone.index import build_claim_model

CLASSES = ("supported", "contradicted", "unknown")
THREE_WAY = ("snli_devtest", "cad_snli", "conjnli_dev", "function_words")
TWO_WAY = ("fever_dev", "fool_me_twice", "condaqa_edits", "med", "help_conj", "pawsx_en", "expertqa", "breaking_nli")
"""Sets without a third label, or where contradicted and unknown are not told apart."""
BATCH, QUICK = 32, 10


async def measure(options: Options) -> Result:
    """Return the share of right labels by set; most frequent label for comparison."""
    if options.data is None or not (options.data / "nli").is_dir():
        return skipped("the sets of entailment")
    model, rows, figures = build_claim_model(), list[list[str]](), dict[str, float]()
    for name in (*THREE_WAY, *TWO_WAY):
        pairs = _valid(options.data / "nli" / f"{name}.jsonl.gz")[:: QUICK if options.quick else 1]
        right = 0
        for start in range(0, len(pairs), BATCH):
            part = pairs[start : start + BATCH]
            found = await model.judge([p[0] for p in part], [p[1] for p in part], Request.by_owner())
            for (_, _, label), one in zip(part, found, strict=True):
                shares = np.array([one.supported, one.contradicted, one.unknown])
                if name in THREE_WAY:
                    right += CLASSES[int(shares.argmax())] == label
                else:
                    right += (one.supported >= 0.5) == (label == "supported")
        labels = Counter(label if name in THREE_WAY else str(label == "supported") for _, _, label in pairs)
        share = round(right / max(len(pairs), 1), 4)
        figures[name] = share
        frequent = labels.most_common(1)[0][1] / max(len(pairs), 1)
        ways = "3" if name in THREE_WAY else "2"
        rows.append([name, ways, str(len(pairs)), f"{share:.3f}", f"{frequent:.3f}"])
    table = Table(
        title="the model of entailment alone, on pairs that were kept back (other pairs of these sets were trained on)",
        columns=["set", "labels", "pairs", "right", "most frequent label"],
        rows=rows,
    )
    return Result(tables=[table], figures=figures)


def _valid(path: Path) -> list[tuple[str, str, str]]:
    """Return claim, evidence and label of the rows kept back."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(row["claim"], row["premise"], row["label"]) for row in rows if row["split"] == "valid"]
