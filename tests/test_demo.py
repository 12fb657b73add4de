"""The demonstration answers as it promises: the words, the outcome and the citation of each of its questions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree

import pytest

from ragstone import Ragstone
from ragstone.serve.views.unmarked import unmarked

EXAMPLES = Path(__file__).parent.parent / "examples"
ANSWERS = [
    (
        "Which second battery supplier did we choose, and why?",
        "we order 200 batteries from Nordcell, because Nordcell keeps a stock in Hull and delivers within five days."
        " [1]\n"
        "Older documents say:\n"
        "Management meeting, 10 February 2026: **Decision:** we look for a second supplier of batteries. [2]",
        ("meetings/2026-04-14-management.md", "", "we order 200 batteries from Nordcell"),
    ),
    (
        "How much cash did the company have on 31 March 2026?",
        "Cash · 31 March 2026 · in thousands: 1,284 [1]",
        ("reports/quarterly-report-2026-q1.pdf", "3", "1,284"),
    ),
    (
        "How do I take out the battery of an Otter?",
        "1. Switch the motor off at the display.\n"
        "2. Turn the key in the battery lock a quarter to the left.\n"
        "3. Tilt the battery towards the rear wheel until it clicks.\n"
        "4. Lift it out by its handle with both hands. [1]",
        ("service/otter-owners-manual.pdf", "1", "4. Lift it out by its handle with both hands."),
    ),
    (
        "How much may a hotel cost per night?",
        "Travel policy (2026): Alderwren pays for hotels up to £135 a night, and up to £190 a night in London. [1]\n"
        "Older versions say:\n"
        "Travel policy (2024): Alderwren pays for hotels up to £110 a night",
        ("people/travel-policy-2026.md", "", "hotels up to £135 a night"),
    ),
    (
        "Was kostet eine Inspektion für den Otter?",
        "Eine Inspektion kostet 89 Euro, für den Otter 109 Euro.",
        ("service/garantie-und-service.html", "", "für den Otter 109 Euro"),
    ),
]
REFUSED = "What dividend did Alderwren pay in 2025?"


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ragstone, str]]:
    """The knowledge base of a finished demonstration, and what it wrote, where no package for OCR is installed."""
    folder = tmp_path_factory.mktemp("demo")
    copytree(EXAMPLES, folder / "examples")
    (folder / "without").mkdir()
    (folder / "without" / "sitecustomize.py").write_text("import sys\nsys.modules['PIL'] = None\n", encoding="utf-8")
    environment = {
        **os.environ,
        "DEMO_KB": "kb",
        "PROGRAM": str(Path(sys.executable).parent / "ragstone"),
        "PYTHONPATH": str(folder / "without"),
    }
    done = subprocess.run(
        ["sh", "examples/demo.sh"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with Ragstone(folder / "kb") as kb:
        yield kb, done.stdout


@pytest.mark.parametrize(("question", "words", "citation"), ANSWERS, ids=[question for question, *_ in ANSWERS])
def test_demonstration_answers(
    demonstration: tuple[Ragstone, str], question: str, words: str, citation: tuple[str, str, str]
) -> None:
    kb, _ = demonstration
    answer = kb.ask(question)
    assert answer.outcome == "answer"
    assert words in answer.answer
    document, page, quote = citation
    best = answer.citations[0]
    assert (best.document_id, best.page) == (f"examples/alderwren/{document}", page)
    assert quote in " ".join(best.quote.split())


def test_demonstration_refuses_what_is_not_there(demonstration: tuple[Ragstone, str]) -> None:
    kb, _ = demonstration
    answer = kb.ask(REFUSED)
    assert (answer.outcome, answer.citations) == ("refusal", ())


def test_demonstration_shows_every_answer(demonstration: tuple[Ragstone, str]) -> None:
    _, written = demonstration
    asked = re.findall(r'^\$ ragstone ask "(.+)" --kb kb$', written, flags=re.MULTILINE)
    assert asked == [*(question for question, *_ in ANSWERS), REFUSED]
    flat = " ".join(written.split())
    for _, words, (document, page, _) in ANSWERS:
        assert " ".join(unmarked(words).split()) in flat
        assert f"alderwren/{document}{', p. ' * bool(page)}{page}" in flat
    assert f'I couldn\'t find an answer to "{REFUSED}"' in flat
    assert "make serve" in written


def test_demonstration_says_how_to_read_the_letter(demonstration: tuple[Ragstone, str]) -> None:
    _, written = demonstration
    assert re.search(r"1 skipped\n.*2026-04-02-lease\.jpg: .*not installed; run: .*install .*\[ocr\]'", written)


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="needs rapidocr")
def test_scanned_letter_is_read(tmp_path: Path) -> None:
    with Ragstone(tmp_path / "kb") as kb:
        assert not kb.add(EXAMPLES / "alderwren").skipped
        answer = kb.ask("How much is the rent of Salamander Yard?")
    assert answer.outcome == "answer"
    assert "£96,000 a year" in answer.answer


def test_documents_stay_small() -> None:
    files = [path for path in (EXAMPLES / "alderwren").rglob("*") if path.is_file()]
    assert len(files) == 19
    assert sum(path.stat().st_size for path in files) < 1_000_000
