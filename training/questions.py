"""Questions with passages that answer them or do not: English sets of reading comprehension.

The sets that Ragstone is measured on (CLAP NQ, QED, COVID-QA, XQuAD) are not used, so that what is measured on them
comes from weights that never saw them. Left out too: reviews and comments of private people (SQuADShifts amazon and
reddit), and PolicyQA, whose spans are fragments.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragstone.chunk import sentences
from training.changes import NAME, NUMBER
from training.claims import rows
from training.pairs import Pair

MOST = {
    "squad1_dev": 2700, "squad1_train_part": 3800, "squad2_dev_half": 3800, "squadshifts_wiki": 5000,
    "tydiqa_en": 4100, "selqa": 2400, "hotpotqa": 2400, "2wikimultihop": 500, "musique": 300, "boolq_dev": 1000,
    "condaqa": 1000, "pubmedqa": 300, "tatqa_text": 1100, "hardneg_en": 2800,
}  # fmt: skip
ALL = 100_000
MORE = dict.fromkeys(MOST, ALL) | {"2wikimultihop": 600, "musique": 400}
"""Rows of each set for a model that reads passages only; templates still get fewer."""
NEGATIVES_OF = ("squadshifts_wiki", "tydiqa_en", "squad1_train_part", "selqa", "squad1_dev")
NEGATIVES = 0.35
"""Share of the questions of these sets that are asked of another passage, too."""
NEAR = 3
RENAMED = 0.15
"""Share of the questions with a name or a number of their passage that are asked of another name or number, too."""
UNMARKED, WORDS_ONLY = 0.3, 0.06
"""Shares of the questions that lose their mark, and also the words that make them questions."""
_QUESTION_WORDS = re.compile(
    r"^(what|which|who|where|when|how)\s+(is|are|was|were|did|does|do|much|many)?\s*(the\s+)?", re.IGNORECASE
)
_WORD = re.compile(r"\w+")


def questions(data: Path, split: str, seed: int = 1, most: Mapping[str, int] = MOST) -> list[Pair]:
    """Return the pairs of a split, ``train`` or ``valid``, some with a passage easily taken for the right one.

    Args:
        data: the folder of the sets.
        split: of each set.
        seed: of what is drawn.
        most: rows of each set.
    """
    chance = random.Random(seed)
    out: list[Pair] = []
    answered: list[Pair] = []
    for name, limit in most.items():
        some = [_pair(row) for row in rows(data / "reader" / f"{name}.jsonl.gz") if row["split"] == split]
        some = chance.sample(some, min(len(some), limit))
        out += some
        if name in NEGATIVES_OF:
            answered += some
    return out + _confused(answered, chance)


def _pair(row: dict[str, Any]) -> Pair:
    title, passage = row.get("title") or "", row["passage"]
    head = f"{title}. " if title and title.lower() not in passage[:200].lower() else ""
    at = len(head)
    answers = [one for one in row["answers"] if one["text"]]
    answer = min(answers, key=lambda one: len(one["text"])) if answers and not row.get("yes_no") else None
    evidence = row["evidence"]
    return Pair(
        first=row["question"],
        second=head + passage,
        source=row["source"],
        answers=float(row["answerable"]),
        evidence=None if evidence is None else tuple((a + at, b + at) for a, b in evidence),
        sentences=tuple((span.start + at, span.end + at) for span in sentences(passage)),
        answer=None if answer is None else (answer["start"] + at, answer["start"] + at + len(answer["text"])),
    )


def medical(data: Path, split: str, seed: int = 5) -> list[Pair]:
    """Return questions about diseases, each with the section that answers it, and with another one on the disease."""
    chance = random.Random(seed)
    sections: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(data / "pairs" / "medquad.jsonl.gz"):
        sections[row["title"]].append(row)
    out: list[Pair] = []
    for row in (one for some in sections.values() for one in some if one["split"] == split):
        out.append(_section(row["question"], row, answers=1.0))
        others = [one for one in sections[row["title"]] if one["qtype"] != row["qtype"]]
        if others:
            out.append(_section(row["question"], chance.choice(others), answers=0.0))
    return out


def _section(question: str, row: dict[str, Any], *, answers: float) -> Pair:
    head = f"{row['title']}. "
    return Pair(
        first=question,
        second=head + row["positive"],
        source=f"medquad {answers:.0f}",
        answers=answers,
        evidence=None if answers else (),
        sentences=tuple((span.start + len(head), span.end + len(head)) for span in sentences(row["positive"])),
    )


def renamed(pairs: Sequence[Pair], seed: int = 7) -> list[Pair]:
    """Return questions that their passage answers, asked of a name or a number that it does not have."""
    chance = random.Random(seed)
    asked = [one for one in pairs if one.answers == 1.0 and one.answer]
    others = {kind: sorted({found for one in asked for found in kind.findall(one.first)}) for kind in (NAME, NUMBER)}
    out: list[Pair] = []
    for pair in asked:
        named = [(kind, m) for kind in (NAME, NUMBER) for m in kind.finditer(pair.first) if m.group() in pair.second]
        if not named or chance.random() >= RENAMED:
            continue
        kind, found = chance.choice(named)
        other = chance.choice(others[kind])
        if other.casefold() not in pair.second.casefold():
            changed = pair.first[: found.start()] + other + pair.first[found.end() :]
            source = f"{pair.source} renamed"
            out.append(replace(pair, first=changed, source=source, answers=0.0, evidence=(), answer=None))
    return out


def as_typed(pairs: Sequence[Pair], seed: int = 11) -> list[Pair]:
    """Return the pairs with some questions as people type them: without the mark, or as a few words."""
    chance = random.Random(seed)
    return [replace(one, first=_typed(one.first, chance.random())) for one in pairs]


def _typed(question: str, share: float) -> str:
    if share < UNMARKED:
        return question.rstrip(" ?")
    return _QUESTION_WORDS.sub("", question).rstrip(" ?") or question if share < UNMARKED + WORDS_ONLY else question


def _confused(answered: Sequence[Pair], chance: random.Random) -> list[Pair]:
    """Return questions with a passage that shares many of their rare words, but has no answer of theirs."""
    passages = sorted({one.second for one in answered})
    holding: dict[str, list[int]] = defaultdict(list)
    for number, passage in enumerate(passages):
        for word in set(_WORD.findall(passage.lower())):
            holding[word].append(number)
    own = {one.second: one for one in answered}
    out: list[Pair] = []
    for pair in chance.sample(answered, int(len(answered) * NEGATIVES)):
        scores = Counter[int]()
        for word in set(_WORD.findall(pair.first.lower())):
            some = holding.get(word, [])
            if 0 < len(some) < len(passages) / 20:
                for number in some:
                    scores[number] += math.log(len(passages) / len(some))  # type: ignore[assignment]
        told = pair.second[slice(*pair.answer)].lower() if pair.answer else ""
        near = [passages[number] for number, _ in scores.most_common(NEAR)]
        near = [one for one in near if one != pair.second and not (told and told in one.lower())]
        if near and pair.answer:
            other = own[chance.choice(near)]
            out.append(
                replace(
                    pair,
                    second=other.second,
                    sentences=other.sentences,
                    source=f"{pair.source} near",
                    answers=0.0,
                    evidence=(),
                    answer=None,
                )
            )
    return out
