"""The program Tesseract, if it is installed: it knows the words of more than a hundred languages."""

from __future__ import annotations

import csv
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from PIL import Image, ImageFilter

from ragstone.acquire.metadata.language import detect
from ragstone.acquire.ocr.recognizer import DOUBTFUL, Gray, Recognized, TextLine, confidence, too_slow
from ragstone.acquire.readers.decode import Unreadable

_CODES = {
    "en": "eng", "de": "deu", "lt": "lit", "ms": "msa", "id": "ind", "lv": "lav", "et": "est", "pl": "pol", "cs": "ces",
    "sk": "slk", "hu": "hun", "ro": "ron", "fr": "fra", "es": "spa", "pt": "por", "it": "ita", "nl": "nld", "sv": "swe",
    "da": "dan", "nb": "nor", "no": "nor", "fi": "fin", "tr": "tur", "hr": "hrv", "sl": "slv", "ru": "rus", "uk": "ukr",
    "el": "ell", "bg": "bul", "zh": "chi_sim", "ja": "jpn", "ko": "kor", "ar": "ara", "he": "heb", "th": "tha",
    "vi": "vie", "hi": "hin",
}  # fmt: skip
"""How Tesseract calls a language, by ISO 639-1 code. Other codes are passed on as they are."""
_START_SECONDS = 30.0
_SHADE = 16
"""Pixels of a square that is as light or dark as the paper under it."""
_NEIGHBOURS = 5
_TRIED_LINES = 8
_MOST_LANGUAGES = 6
"""Languages that are tried at once: each costs time, and too many read worse than one."""
_LEAST = 0.3
"""Lines read less surely than this are specks and rules."""
_WORD = "5"


class Tesseract:
    """Reads pictures with the program, one process for each.

    Args:
        program: its path.

    Raises:
        Unreadable: the program does not run.
    """

    name = "tesseract"
    pages_at_once = 2

    def __init__(self, program: str) -> None:
        self._program = program
        listed = _run([program, "--list-langs"], b"", _START_SECONDS).decode("utf-8", "replace").splitlines()
        self.installed = frozenset(line.strip() for line in listed[1:])

    def read(self, picture: Gray, languages: Sequence[str], seconds: float) -> Recognized:
        until = time.monotonic() + seconds
        try:
            return self._recognized(evened(picture), languages, until)
        except subprocess.TimeoutExpired as error:
            raise too_slow(seconds) from error

    def _recognized(self, picture: Gray, languages: Sequence[str], until: float) -> Recognized:
        wanted = [code for one in languages if (code := _CODES.get(one, one)) in self.installed]
        read_as = wanted or self._language(picture, until)
        lines = self._read(picture, read_as, until)
        if lines and confidence(lines) < DOUBTFUL:
            turned = np.ascontiguousarray(np.rot90(picture, 2))
            # The language is told from words, which upside down are none.
            read_as = wanted or self._language(turned, until)
            if self._is_surer(turned, lines, read_as, until):
                return Recognized(lines=self._read(turned, read_as, until), upside_down=True)
        return Recognized(lines=lines)

    def _is_surer(self, turned: Gray, lines: Sequence[TextLine], languages: Sequence[str], until: float) -> bool:
        """Return whether lines are read more surely in the picture turned by half than they were in the picture."""
        middle = sorted(lines, key=lambda line: line.top)[max((len(lines) - _TRIED_LINES) // 2, 0) :][:_TRIED_LINES]
        margin = max(line.height for line in middle)
        top = len(turned) - max(line.bottom for line in middle) - margin
        bottom = len(turned) - min(line.top for line in middle) + margin
        band = np.ascontiguousarray(turned[max(int(top), 0) : int(bottom)])
        return confidence(self._read(band, languages, until)) > confidence(middle)

    def _language(self, picture: Gray, until: float) -> list[str]:
        """Return the language of the middle of a picture, read in all languages, or all if it is not clear."""
        candidates = [code for code in dict.fromkeys(["eng", *_CODES.values()]) if code in self.installed][
            :_MOST_LANGUAGES
        ]
        if len(candidates) > 1:
            third = len(picture) // 3
            text = " ".join(line.text for line in self._read(picture[third : 2 * third], candidates, until))
            if (code := _CODES.get(detect(text), "")) in candidates:
                return [code]
        return candidates or ["eng"]

    def _read(self, picture: Gray, languages: Sequence[str], until: float) -> list[TextLine]:
        height, width = picture.shape
        header = f"P5 {width} {height} 255\n".encode()
        # Without --dpi it guesses, and warns about its guess. Page segmentation 3 finds columns by itself.
        command = [self._program, "stdin", "stdout", "--psm", "3", "--dpi", "200", "-l", "+".join(languages), "tsv"]
        table = _run(command, header + picture.tobytes(), until - time.monotonic())
        return lines_of(table.decode("utf-8", "replace"))


def evened(picture: Gray) -> Gray:
    """Return a picture in even light. Tesseract takes the shade on a page for ink, and skips what is on it."""
    image = Image.fromarray(picture)
    small = image.resize((max(image.width // _SHADE, 1), max(image.height // _SHADE, 1)), Image.Resampling.BOX)
    # The lightest of the neighbours is paper, unless all of them are ink.
    paper = small.filter(ImageFilter.MaxFilter(_NEIGHBOURS)).filter(ImageFilter.GaussianBlur(_NEIGHBOURS))
    light = np.asarray(paper.resize(image.size, Image.Resampling.BILINEAR), np.float32)
    return np.minimum(picture * (255.0 / np.maximum(light, 1.0)), 255).astype(np.uint8)


def lines_of(table: str) -> list[TextLine]:
    """Return the lines in a table of Tesseract: level, page, block, paragraph, line, word, box, confidence, text."""
    lines: dict[tuple[str, ...], list[TextLine]] = {}
    for row in csv.reader(table.splitlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE):
        if len(row) != 12 or row[0] != _WORD or not row[11].strip():
            continue
        left, top, width, height = map(float, row[6:10])
        word = TextLine(
            text=row[11].strip(),
            confidence=min(max(float(row[10]) / 100, 0.0), 1.0),
            left=left,
            top=top,
            right=left + width,
            bottom=top + height,
        )
        lines.setdefault(tuple(row[1:5]), []).append(word)
    found = (cell for words in lines.values() for cell in _cells(words))
    return [line for line in found if line.confidence >= _LEAST]


def _cells(words: Sequence[TextLine]) -> list[TextLine]:
    """Return the words of a line as one, or as several where they are far apart, like the cells of a table."""
    height = max(word.height for word in words)
    groups: list[list[TextLine]] = []
    for word in words:
        if groups and word.left - groups[-1][-1].right < 2 * height:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [_joined(group) for group in groups]


def _joined(words: Sequence[TextLine]) -> TextLine:
    letters = sum(len(word.text) for word in words)
    return TextLine(
        text=" ".join(word.text for word in words),
        confidence=sum(word.confidence * len(word.text) for word in words) / letters,
        left=min(word.left for word in words),
        top=min(word.top for word in words),
        right=max(word.right for word in words),
        bottom=max(word.bottom for word in words),
    )


def _run(command: Sequence[str], given: bytes, seconds: float) -> bytes:
    """Return what a program prints.

    Raises:
        TimeoutExpired: it takes too long, and was ended.
        Unreadable: it fails.
    """
    # One thread for each picture: several pictures at once pay better.
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as program:
            _limit_time(program.pid, seconds)
            try:
                printed, failure = program.communicate(given, timeout=max(seconds, 0.0))
            except BaseException:
                program.kill()
                raise
    except OSError as error:
        raise Unreadable(f"Tesseract failed: {error}") from error
    if program.returncode:
        said = failure.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise Unreadable(f"Tesseract failed (exit code {program.returncode}): {said}")
    return printed


def _limit_time(process: int, seconds: float) -> None:
    """Let the system end a process that outlives this one. Only Linux can set the limits of another process."""
    with suppress(ImportError, AttributeError, OSError):
        import resource

        most = max(int(seconds), 1) + 1
        resource.prlimit(process, resource.RLIMIT_CPU, (most, most))
