"""The engine that reads pictures: what the settings name, or what is installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING, Literal

from ragstone.acquire.readers.decode import Unreadable
from ragstone.core.errors import MissingExtra

if TYPE_CHECKING:
    from ragstone.acquire.ocr.recognizer import Recognizer

_TESSERACT = "tesseract"

Choice = Literal["auto", "off", "rapidocr", "tesseract"]


def chosen(choice: Choice, what: str) -> Literal["rapidocr", "tesseract"]:
    """Return the engine for a setting, without loading it.

    Args:
        choice: the setting ``acquire.ocr``.
        what: what needs the engine, for the message, such as "a scan".

    Raises:
        Unreadable: there is none; the message says what to install or set.
    """
    if choice == "off":
        raise Unreadable(f"{what}, and acquire.ocr is off; set acquire.ocr to auto")
    if find_spec("PIL") is None:
        raise Unreadable(f"{what}; {MissingExtra('Pillow', extra='ocr')}")
    if choice == "auto":
        choice = "rapidocr" if find_spec("rapidocr") is not None or not which(_TESSERACT) else "tesseract"
    if choice == "rapidocr" and find_spec("rapidocr") is None:
        raise Unreadable(f"{what}; {MissingExtra('rapidocr', extra='ocr')}")
    if choice == "tesseract" and not which(_TESSERACT):
        raise Unreadable(f"{what}; the program tesseract is not installed")
    return choice


def ocr_program(choice: Choice) -> str:
    """Return the path of the program that the engine runs; empty if it runs none."""
    with suppress(Unreadable):
        if chosen(choice, "") == "tesseract":
            return which(_TESSERACT) or ""
    return ""


def recognizer(choice: Choice, what: str, at_work: Callable[[], None]) -> Recognizer:
    """Return the engine for a setting, loaded once.

    Args:
        choice: the setting ``acquire.ocr``.
        what: as for `chosen`.
        at_work: called before the engine is loaded.

    Raises:
        Unreadable: as for `chosen`.
    """
    name = chosen(choice, what)
    at_work()
    return _loaded(name)


@lru_cache(maxsize=1)
def _loaded(name: Literal["rapidocr", "tesseract"]) -> Recognizer:
    # Imported on first use: most files hold no pictures of text, and the models take 150 MB.
    if name == "tesseract":
        from ragstone.acquire.ocr.tesseract import Tesseract

        return Tesseract(which(_TESSERACT) or _TESSERACT)
    from ragstone.acquire.ocr.rapidocr import RapidOcr

    return RapidOcr()
