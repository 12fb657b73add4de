"""The models of RapidOCR (PP-OCRv6, Apache 2.0) on ONNX Runtime: one finds the lines of a picture, one reads them.

We take the models from the package ``rapidocr`` and run them ourselves: its own code needs OpenCV, and knows neither
which letters a language has nor how to use two cores.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from PIL import Image

from ragstone.acquire.metadata.language import detect
from ragstone.acquire.ocr.alphabets import Alphabet, letters_of
from ragstone.acquire.ocr.recognizer import DOUBTFUL, Gray, Recognized, TextLine, too_slow
from ragstone.acquire.ocr.text_boxes import TextBox, text_boxes

ort: Any = onnxruntime  # which has no types

_FINDS = "PP-OCRv6_det_small.onnx"
_READS = "PP-OCRv6_rec_small.onnx"
_LONGEST_SIDE = 1600
"""Pixels of the picture that lines are looked for in. Text of a page at 200 dpi is 14 pixels high in it."""
_SHORTEST_SIDE = 640
_STEP = 32
_HEIGHT = 48
"""Pixels that a line is scaled to; the network knows no other height."""
_NARROWED = 0.85
"""How much narrower than it is a line is scaled: it takes that much less time, and is read as well."""
_WIDEST = 3200
_LEAST = 0.5
"""A line read less surely than this is no text but a drawing, as in RapidOCR."""

_MOST_THREADS = 4
_TELLING_LINES = 8
_TELLING_CHARACTERS = 80
"""Fewer characters than this do not tell the language."""

_TRIED_LINES = 8

Likely = NDArray[np.float32]
"""Probabilities of the characters at each step of a line, as `Alphabet.western` returns them."""


class RapidOcr:
    """Reads pictures with the models of RapidOCR, with a thread for each core, up to four."""

    name = "rapidocr"
    pages_at_once = 1

    def __init__(self) -> None:
        threads = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, _MOST_THREADS)
        spec = find_spec("rapidocr")
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError("rapidocr")
        models = Path(spec.origin).parent / "models"
        self._finds = _session(models / _FINDS, threads)
        self._reads = _session(models / _READS, 1)
        self._pool = ThreadPoolExecutor(threads)
        described: dict[str, str] = self._reads.get_modelmeta().custom_metadata_map
        # The first column stands for no character, the last for a space.
        self._alphabet = Alphabet(["", *described["character"].splitlines(), " "])

    def read(self, picture: Gray, languages: Sequence[str], seconds: float) -> Recognized:
        with _within(seconds) as run:
            return self._read(picture, languages, run)

    def _read(self, picture: Gray, languages: Sequence[str], run: Any) -> Recognized:
        boxes = self._boxes(picture, run)
        image = Image.fromarray(picture)
        strips = [strip(image, box) for box in boxes]
        # Some lines from the middle show which side is up, before all others are read.
        first = sorted(range(len(boxes)), key=lambda number: abs(boxes[number].y - image.height / 2))[:_TRIED_LINES]
        likely = self._likely(strips, first, run)
        upside_down = False
        if first and self._sure(likely) < DOUBTFUL:
            turned = [one.transpose(Image.Transpose.ROTATE_180) for one in strips]
            others = self._likely(turned, first, run)
            if self._sure(others) > self._sure(likely):
                upside_down, likely, strips = True, others, turned
                boxes = [replace(box, x=image.width - box.x, y=image.height - box.y) for box in boxes]
        likely |= self._likely(strips, [number for number in range(len(boxes)) if number not in likely], run)
        letters = letters_of(languages or self._language(likely))
        lines: list[TextLine] = []
        for number, box in enumerate(boxes):
            text, sure = self._alphabet.decode(likely[number], letters)
            if text.strip() and sure >= _LEAST:
                lines.append(_line(text, sure, box, picture.shape))
        return Recognized(lines=lines, upside_down=upside_down)

    def _sure(self, likely: Mapping[int, Likely]) -> float:
        """Return the mean confidence of lines, each character counted."""
        read = [self._alphabet.decode(one, "") for one in likely.values()]
        count = sum(len(text) for text, _ in read)
        return sum(sure * len(text) for text, sure in read) / count if count else 0.0

    def _language(self, likely: Mapping[int, Likely]) -> list[str]:
        """Return the language of the longest lines, read with the letters of all; empty if it is not clear."""
        longest = sorted(likely.values(), key=len, reverse=True)[:_TELLING_LINES]
        text = " ".join(self._alphabet.decode(one, "")[0] for one in longest)
        return [code] if len(text) >= _TELLING_CHARACTERS and (code := detect(text)) else []

    def _boxes(self, picture: Gray, run: Any) -> list[TextBox]:
        height, width = picture.shape
        scale = min(_LONGEST_SIDE / max(height, width), 1.0)
        scale = max(scale, min(_SHORTEST_SIDE / min(height, width), _LONGEST_SIDE / max(height, width)))
        wide, high = (max(round(side * scale / _STEP), 1) * _STEP for side in (width, height))
        small = np.asarray(Image.fromarray(picture).resize((wide, high), Image.Resampling.BILINEAR), np.float32)
        (likely,) = self._finds.run(None, {"x": _for_network(small)[None]}, run)
        across, down = width / wide, height / high
        return [
            TextBox(
                x=box.x * across,
                y=box.y * down,
                width=box.width * across,
                height=box.height * down,
                slope=box.slope * down / across,
            )
            for box in text_boxes(likely[0, 0])
        ]

    def _likely(self, strips: Sequence[Image.Image], wanted: Sequence[int], run: Any) -> dict[int, Likely]:
        """Return what the wanted strips may say, by their numbers."""

        def read(number: int) -> tuple[int, Likely]:
            one = _for_network(np.asarray(strips[number], np.float32))[None]
            (likely,) = self._reads.run(None, {"x": one}, run)
            return number, self._alphabet.western(likely[0])

        # Each line by itself, and the longest first: lines side by side in one call take a quarter more time.
        widths: dict[int, int] = {number: strips[number].size[0] for number in wanted}
        return dict(self._pool.map(read, sorted(widths, key=widths.__getitem__, reverse=True)))


def strip(image: Image.Image, box: TextBox) -> Image.Image:
    """Return a line of a picture, level and as high as the network wants it."""
    width = min(max(round(_NARROWED * _HEIGHT * box.width / box.height), 16), _WIDEST)
    left, top = box.x - box.width / 2, box.y - box.height / 2
    if abs(box.slope) * box.width < 0.1 * box.height:
        bounds = (max(left, 0), max(top, 0), min(left + box.width, image.width), min(top + box.height, image.height))
        return image.resize((width, _HEIGHT), Image.Resampling.BICUBIC, box=bounds)
    # Level the line at its own size first: scaling down at once would drop pixels.
    size = (max(round(box.width), 1), max(round(box.height), 1))
    shear = (1, 0, left, box.slope, 1, top - box.slope * box.width / 2)
    level = image.transform(size, Image.Transform.AFFINE, shear, Image.Resampling.BICUBIC, fillcolor=255)
    return level.resize((width, _HEIGHT), Image.Resampling.BICUBIC)


def _session(model: Path, threads: int) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    # It saves a tenth of the time to keep memory from page to page, but as each page differs, it grows to 2 GB.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


@contextmanager
def _within(seconds: float) -> Generator[Any]:
    """Yield options of a run of a network, which stops it when the time is over.

    Raises:
        Unreadable: it was stopped.
    """
    run = ort.RunOptions()
    timer = Timer(seconds, setattr, (run, "terminate", True))
    timer.daemon = True
    timer.start()
    try:
        yield run
    except Exception as error:  # ONNX Runtime has no error of its own for this.
        if run.terminate:
            raise too_slow(seconds) from error
        raise
    finally:
        timer.cancel()


def _for_network(gray: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a picture in shape (3, height, width), between -1 and 1."""
    return np.broadcast_to(gray / 127.5 - 1.0, (3, *gray.shape))


def _line(text: str, confidence: float, box: TextBox, shape: tuple[int, ...]) -> TextLine:
    lean = abs(box.slope) * box.width / 2
    return TextLine(
        text=text.strip(),
        confidence=confidence,
        left=max(box.x - box.width / 2, 0.0),
        top=max(box.y - box.height / 2 - lean, 0.0),
        right=min(box.x + box.width / 2, float(shape[1])),
        bottom=min(box.y + box.height / 2 + lean, float(shape[0])),
    )
