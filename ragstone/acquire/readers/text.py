"""Plain text and Markdown: one file, one document, its text as it is written."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.acquire.readers.decode import Unreadable, clean, detect
from ragstone.acquire.readers.markdown import find_marks, front_matter_title
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.conditions import Scalar
from ragstone.contracts import Document


def read_text(file: File) -> Iterator[Document]:
    """A text file as a document without a title."""
    text, facts = text_of(file)
    yield Parsed(text=text, facts={"kind": "text", **facts}).document(file)


def read_markdown(file: File) -> Iterator[Document]:
    """A Markdown file as a document, titled by its front matter or its first heading."""
    text, facts = text_of(file)
    parsed = Parsed(
        text=text,
        title=front_matter_title(text),
        marks=find_marks(text),
        facts={"kind": "markdown", **facts},
    )
    yield parsed.document(file)


def text_of(file: File) -> tuple[str, dict[str, Scalar]]:
    """The text of a file, and how its bytes were read where that was guessed.

    Raises:
        Unreadable: there is no text, or it is no text file.
    """
    encoding = detect(file.path, file.settings)
    text = clean(file.path.read_text(encoding=encoding.name, errors="replace"))
    if not text.strip():
        raise Unreadable("empty")
    return text, {"decoding": encoding.note} if encoding.note else {}
