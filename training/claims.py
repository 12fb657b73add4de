"""Claims with their evidence: English sets of entailment, and claims made by rule from passages."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragstone.chunk import sentences
from training.changes import SUPPORTED, UNKNOWN, changes
from training.pairs import Pair

MOST = {
    "fever_dev": 9000, "fool_me_twice": 2500, "begin": 1500, "faithdial_audit": 800, "med": 4000, "help_conj": 4500,
    "scone": 1500, "conjnli_dev": 600, "conjnli_auto": 3500, "cad_snli": 7000, "snli_devtest": 7000,
    "megaveridicality": 2500, "function_words": 600, "pawsx_en": 1600, "wice_tokens_train": 400, "dialfact_small": 300,
    "condaqa_yesno": 900, "condaqa_edits": 2000, "expertqa": 1000, "breaking_nli": 2400,
}  # fmt: skip
"""English sets, and most rows of each: templates and automatic labels get fewer."""
TWICE = ("condaqa_edits", "expertqa", "pawsx_en", "wice_tokens_train", "function_words", "fool_me_twice")
"""Small sets of claims that people wrote about text; they are seen twice."""
TWO_WAY = {"pawsx_en", "expertqa", "begin", "faithdial_audit"}
"""Their "unknown" is "not supported": contradicted or unknown, not told apart."""
PASSAGES = ("squadshifts_wiki", "squad1_train_part", "tydiqa_en", "selqa", "squad1_dev")
MADE = 28_000
"""Claims made by rule."""
PER_KIND = 1_700
_NOTE = re.compile(r"\[(?:\d+|[a-z]|citation needed|note \d+)\]")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|you|your|my|we|our)\b", re.IGNORECASE)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def claims(data: Path, split: str, seed: int = 1) -> list[Pair]:
    """Return the pairs of a split, ``train`` or ``valid``, of all sets of entailment."""
    chance = random.Random(seed)
    out: list[Pair] = []
    for name, most in MOST.items():
        some = [_pair(name, row) for row in rows(data / "nli" / f"{name}.jsonl.gz") if row["split"] == split]
        some = [pair for pair in some if name != "begin" or not _FIRST_PERSON.search(pair.first)]
        if name == "breaking_nli" and split == "train":  # nearly all are contradicted
            few = [pair for pair in some if pair.label == SUPPORTED]
            some = few + chance.sample([pair for pair in some if pair.label != SUPPORTED], 2 * len(few))
        some = chance.sample(some, min(len(some), most))
        out += some * (2 if name in TWICE and split == "train" else 1)
    return out


def made_claims(data: Path, split: str, seed: int = 1) -> list[Pair]:
    """Return claims made by rule from passages of reading sets; no passage is in two splits."""
    chance = random.Random(seed)
    texts = {
        row["passage"]
        for name in PASSAGES
        for row in rows(data / "reader" / f"{name}.jsonl.gz")
        if row["split"] == split
    }
    passages = [_sentences(text) for text in sorted(texts)]
    passages = [some for some in passages if len(some) >= 2]
    chance.shuffle(passages)
    most = MADE if split == "train" else MADE // 10
    out, kinds = list[Pair](), Counter[str]()
    for number, own in enumerate(passages * 4):
        others = passages[number * 7919 % len(passages)] + passages[number * 104729 % len(passages)]
        start = chance.randrange(len(own))
        evidence = own[max(0, start - chance.randrange(3)) : start + 1 + chance.randrange(3)]
        told = own[start]
        if others == own or not 30 <= len(told) <= 320:
            continue
        some = changes(told, [one for one in evidence if one != told], others, chance)
        some = [one for one in some if one.text not in " ".join(own)]
        some = [one for one in some if kinds[one.kind] < PER_KIND * most // MADE]
        kinds.update(one.kind for one in some)
        text = " ".join(evidence)
        out += [
            Pair(first=one.text, second=text, source="made", kind=one.kind, label=one.label, unsupported=one.spans)
            for one in some
        ]
        if number % 10 == 0:  # as it stands, with and without the sentence itself
            true = Pair(first=told, second=text, source="made", kind="same", label=SUPPORTED, unsupported=())
            out.append(true)
            rest = " ".join(one for one in own if one != told)[:900]
            out.append(replace(true, second=rest, kind="left out", label=UNKNOWN, unsupported=None))
        if len(out) >= most:
            break
    return out


def _pair(name: str, row: dict[str, Any]) -> Pair:
    label, claim = row["label"], row["claim"]
    spans: tuple[tuple[int, int], ...] | None = () if label == SUPPORTED else None
    if given := row.get("unsupported_spans"):
        places = [(at, at + len(words)) for words in given if (at := claim.find(words)) >= 0]
        spans = tuple(places) if len(places) == len(given) else None
    if label == UNKNOWN and (name in TWO_WAY or row.get("note")):
        label = "unsupported"
    return Pair(
        first=claim, second=row["premise"], source=name, kind=str(row.get("kind", "")), label=label, unsupported=spans
    )


def _sentences(text: str) -> list[str]:
    return [" ".join(_NOTE.sub("", span.of(text)).split()) for span in sentences(text)]
