"""Estimated tokens: in order, without gaps but blanks, and near what a real tokenizer says."""

from __future__ import annotations

import json
from pathlib import Path

import local_models
from hypothesis import given
from hypothesis import strategies as st

from ragstone.services import estimate


@given(st.text())
def test_tokens_are_in_order_and_skip_only_blanks(text: str):
    spans = estimate.spans(text)
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(text)]
    assert all(span.start < span.end for span in spans)
    assert all(end <= start and not text[end:start].strip() for end, start in zip(ends, starts, strict=True))
    assert estimate.count(text) >= len(spans)


@given(st.text(), st.text())
def test_longer_text_has_no_fewer_tokens(one: str, other: str):
    assert estimate.count(f"{one}\n{other}") >= max(estimate.count(one), estimate.count(other))


def test_estimates_english_on_the_high_side(data_dir: Path):
    model = local_models.built(f"gguf:{local_models.gguf()}", window_tokens=256)
    lines = (data_dir / "scifact" / "dev" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:100]
    texts = [json.loads(line)["text"] for line in lines]
    ratios = sorted(estimate.count(text) / model.count(text) for text in texts)
    assert ratios[5] > 1
    assert ratios[-5] < 2
