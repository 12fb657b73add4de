"""Plain text: the text of a file as it is written."""

from __future__ import annotations

from ragstone.acquire.readers.decode import Unreadable, clean, detect
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.core.filters import Scalar


def parse(file: File) -> Parsed:
    """Return a text file, without a title."""
    text, facts = text_of(file)
    return Parsed(text=text, facts={"kind": "text", **facts})


def text_of(file: File) -> tuple[str, dict[str, Scalar]]:
    """Return the text of a file, and the fact ``decoding`` if its encoding was guessed.

    Raises:
        Unreadable: there is no text, or the file is no text file.
    """
    encoding = detect(file.path, file.settings)
    text = clean(file.path.read_text(encoding=encoding.name, errors="replace"))
    if not text.strip():
        raise Unreadable("empty")
    return text, {"decoding": encoding.note} if encoding.note else {}
