"""Every engine that reads pictures: what it finds, where, and how surely."""

from __future__ import annotations

from difflib import SequenceMatcher
from importlib.util import find_spec
from shutil import which

import numpy as np
import pytest
from pictures import LINES, drawn, gray

from ragstone.acquire.ocr.recognizer import Recognizer, TextLine

SECONDS = 120.0
"""Time for a picture on a busy machine."""


@pytest.fixture(scope="module", params=["rapidocr", "tesseract"])
def engine(request: pytest.FixtureRequest) -> Recognizer:
    if request.param == "tesseract":
        program = which("tesseract")
        if program is None:
            pytest.skip("the program tesseract is not installed")
        from ragstone.acquire.ocr.tesseract import Tesseract

        return Tesseract(program)
    if find_spec("rapidocr") is None:
        pytest.skip("the package rapidocr is not installed")
    from ragstone.acquire.ocr.rapidocr import RapidOcr

    return RapidOcr()


@pytest.fixture(scope="module")
def lines(engine: Recognizer) -> list[TextLine]:
    return sorted(engine.read(gray(drawn()), ["en"], SECONDS).lines, key=lambda line: line.top)


def test_reads_every_line(lines: list[TextLine]) -> None:
    assert [line.text for line in lines] == list(LINES)


def test_boxes_hold_their_ink(lines: list[TextLine]) -> None:
    picture = gray(drawn())
    outside = picture.copy()
    for line in lines:
        assert 0 <= line.left < line.right <= picture.shape[1]
        assert 0 <= line.top < line.bottom <= picture.shape[0]
        outside[int(line.top) : int(line.bottom) + 1, int(line.left) : int(line.right) + 1] = 255
    assert (outside < 128).sum() < 0.02 * (picture < 128).sum()


def test_is_sure_of_clean_print(lines: list[TextLine]) -> None:
    assert all(0.8 < line.confidence <= 1 for line in lines)


def test_knows_text_that_is_upside_down(engine: Recognizer, lines: list[TextLine]) -> None:
    turned = engine.read(np.ascontiguousarray(gray(drawn())[::-1, ::-1]), ["en"], SECONDS)
    assert turned.upside_down
    found = sorted(turned.lines, key=lambda line: line.top)
    assert [line.text for line in found] == list(LINES)
    assert [line.top for line in found] == pytest.approx([line.top for line in lines], abs=6)


def test_finds_nothing_on_blank_paper(engine: Recognizer) -> None:
    assert not engine.read(np.full((300, 400), 255, np.uint8), [], SECONDS).lines


def test_finds_language_by_itself(engine: Recognizer) -> None:
    said = [
        "Der Mieter zahlt die Miete für jeden Monat",
        "spätestens am dritten Werktag. Kündigungen",
        "müssen schriftlich erklärt werden, außer",
        "wenn größere Schäden ihn dazu nötigen.",
    ]
    lines = sorted(engine.read(gray(drawn(said)), [], SECONDS).lines, key=lambda line: line.top)
    read = "\n".join(line.text for line in lines)
    assert SequenceMatcher(None, "\n".join(said), read, autojunk=False).ratio() > 0.98


def test_ignores_unknown_languages(engine: Recognizer) -> None:
    lines = engine.read(gray(drawn(LINES[:2])), ["tlh", "en"], SECONDS).lines
    assert sorted(line.text for line in lines) == sorted(LINES[:2])
