"""Subtitles (srt, vtt): what is said, cut by the minute, with the time as heading."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text.plain import text_of

_TIME = re.compile(r"(?:(\d{1,3}):)?(\d\d):(\d\d)[.,]\d{1,3}\s*-->")
_MARKUP = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,200}\}")
_SECTION_SECONDS = 60
"""Speech under one heading: about 150 words, as in a chunk."""


def parse(file: File) -> Parsed:
    """Return the words of subtitles. A heading such as ``00:12:40`` says when those below it begin.

    Raises:
        Unreadable: there are no times.
    """
    text, facts = text_of(file)
    writer, spoken, begun, seconds = Writer(), list[str](), -_SECTION_SECONDS, 0
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        timed = next((number for number, line in enumerate(lines[:3]) if _TIME.match(line.strip())), None)
        found = _TIME.match(lines[timed].strip()) if timed is not None else None
        if timed is None or found is None:
            continue  # the head of a vtt file, a note or a style
        hours, minutes, rest = (int(part or 0) for part in found.groups())
        seconds = 3600 * hours + 60 * minutes + rest
        words = [plain for line in lines[timed + 1 :] if (plain := " ".join(_MARKUP.sub("", line).split()))]
        if not words:
            continue
        if seconds - begun >= _SECTION_SECONDS or seconds < begun:
            writer.paragraph("\n".join(spoken))
            spoken, begun = [], seconds
            writer.heading(f"{hours:02}:{minutes:02}:{rest:02}", 1)
        # Live captions repeat the line before.
        spoken += [line for line in words if spoken[-1:] != [line]]
    writer.paragraph("\n".join(spoken))
    if begun < 0:
        raise Unreadable("no subtitles in it: no line has a time")
    minutes = max(1, round(seconds / 60))
    title = re.sub(r"[._]+", " ", PurePosixPath(file.name).stem)  # The first heading is a time.
    return writer.parsed(title=title, facts={"kind": file.suffix.removeprefix("."), "minutes": minutes, **facts})
