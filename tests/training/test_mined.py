"""Pairs of a question with what search finds for it."""

import gzip
import json
import random
from pathlib import Path

from ragstone.core.records import Chunk
from training.mined import mined, pairs_of
from training.questions import as_typed

PASSAGE = "Vilnius is a capital. It was first mentioned in 1323. It lies on two rivers."
ROW = {
    "question": "When was it first mentioned?",
    "passage": PASSAGE,
    "answers": [{"text": "1323", "start": PASSAGE.index("1323")}],
    "evidence": [[22, 53]],
    "answerable": True,
    "source": "squad1_dev",
    "split": "train",
}


def chunk(document: str, text: str, context: str = "") -> Chunk:
    return Chunk(
        id=f"{document}/0", document_id=document, index=0, total=1, start=0, end=len(text), text=text, context=context
    )


def test_own_chunks_answer_and_others_mislead(tmp_path: Path) -> None:
    found = [
        chunk("other", "Kaunas was first mentioned in 1361."),
        chunk("same", "It was in 1323 that it was first mentioned."),  # holds the answer, so it may be right
        chunk("own", PASSAGE, "Cities"),
    ]
    rows = list(pairs_of(ROW, found, "own", random.Random(1)))
    path = tmp_path / "mined.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    right, wrong = mined(path, "train")
    assert mined(path, "valid") == []
    assert (right.answers, wrong.answers) == (1.0, 0.0)
    assert right.evidence is not None
    assert [right.second[slice(*span)] for span in right.evidence] == ["It was first mentioned in 1323."]
    assert "It lies on two rivers." in [right.second[slice(*span)] for span in right.sentences]
    assert right.second.startswith("Cities")
    assert wrong.second.endswith("Kaunas was first mentioned in 1361.")
    assert wrong.evidence == ()


def test_questions_are_typed_in_several_ways(tmp_path: Path) -> None:
    path = tmp_path / "mined.jsonl.gz"
    rows = [*pairs_of(ROW, [chunk("own", PASSAGE)], "own", random.Random(1))] * 200
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    asked = {one.first for one in as_typed(mined(path, "train"))}
    assert asked == {"When was it first mentioned?", "When was it first mentioned", "it first mentioned"}
