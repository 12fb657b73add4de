"""Source code, settings and logs: the text as it is written, cut at definitions and cited by line."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from pathlib import PurePosixPath

import yaml

from ragstone.acquire.metadata.head import LOADER
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.names import LANGUAGES, SETTINGS
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.text import definitions, openapi
from ragstone.acquire.readers.text.plain import text_of
from ragstone.core.filters import Scalar
from ragstone.core.records import Mark

_GENERATED_LINE = 1_000
"""Characters of a line on average from which code was packed by a program: no person reads it."""
_LONGEST = 3_000_000
"""Characters of a file whose definitions are looked for; a longer one is data in the form of code."""
_SECRET = re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")


def parse(file: File) -> Parsed:
    """Return a source file with its definitions as sections.

    Raises:
        Unreadable: there is no text, a program packed it, or it holds a private key.
    """
    text, facts = text_of(file)
    if _SECRET.search(text):
        raise Unreadable("left out because it holds a private key")
    language = LANGUAGES.get(file.suffix, "")
    if language and len(text) > _GENERATED_LINE * (text.count("\n") + 1):
        raise Unreadable("packed by a program into long lines, not written by a person")
    form = SETTINGS.get(file.suffix, "")
    if form == "yaml" and openapi.BEGINS.search(text) and (described := _described(text)):
        return openapi.parsed(described, facts)
    kind: dict[str, Scalar] = {"kind": form or "code", "programming_language": language}
    return Parsed(
        text=text,
        title="/".join(PurePosixPath(file.name).parts[-2:]),
        marks=() if form == "log" else _marks(text, language or form),
        facts={**kind, **facts},
    )


def _described(text: str) -> openapi.Node | None:
    """Return the OpenAPI description that YAML holds, with scalars as text; None if it holds none."""
    try:
        content: object = yaml.load(text, Loader=LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return content if openapi.is_description(content) else None


def _marks(text: str, language: str) -> tuple[Mark, ...]:
    """Return a heading for each definition, and the code of each section, its heading included."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    found = definitions.find(text, language) if len(text) <= _LONGEST else []
    headings: list[Mark] = []
    for one in found:
        start, end = starts[one.line], starts[one.line + 1] - 1
        level = one.level if headings else 1
        headings.append(Mark(kind="heading", start=start, end=end, level=level, label=one.name))
    cuts = sorted({0, *(mark.start for mark in headings), len(text)})
    marks = [*headings]
    for start, end in pairwise(cuts):
        if code := text[start:end].rstrip():
            marks.append(Mark(kind="code", start=start, end=start + len(code), label=language))
    return tuple(sorted(marks, key=lambda mark: (mark.start, mark.kind != "heading")))
