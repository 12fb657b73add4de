"""Checks of readers: exact marks, the same text each time, and a clear reason for a file that cannot be read."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.parser_messages import from_json, to_json
from ragstone.settings import AcquireSettings
from ragstone.testing.expect import Failed, expect

BROKEN = (b"", b"\0" * 100, b"\xff\xfe\xfd", bytes(range(256)) * 40, b"{[<" * 1000)
"""Contents that no reader should take for its own format without a look."""


def check_reader(parse: Callable[[File], Parsed], sample: Path) -> None:
    """Run all checks of a reader.

    Args:
        parse: the function that ``acquire.readers`` names.
        sample: a file of the format, with some text.

    Raises:
        Failed: at the first check that does not hold.
    """
    file = File(
        path=sample, name=sample.name, source=str(sample), suffix=sample.suffix.lower(), settings=AcquireSettings()
    )
    parsed = parse(file)
    _is_consistent(parsed)
    expect(parsed.text.strip() or parsed.entries, "a file with text gives text")
    expect(parse(file) == parsed, "reading the same file again gives the same")
    sent = from_json(to_json(parsed))
    expect(sent.text == parsed.text and sent.marks == parsed.marks, "what is read survives as JSON")
    _refuses_broken(parse, file)


def _is_consistent(parsed: Parsed) -> None:
    """Check the marks of a file, and of all entries in it."""
    starts = [mark.start for mark in parsed.marks]
    expect(starts == sorted(starts), "marks are in the order of the text")
    for mark in parsed.marks:
        inside = 0 <= mark.start < mark.end <= len(parsed.text)
        expect(inside, "marks lie within the text and are not empty", mark)
        if mark.kind == "heading":
            expect(mark.level >= 1, "a heading has a level from 1", mark)
    for entry in parsed.entries:
        _is_consistent(entry)


def _refuses_broken(parse: Callable[[File], Parsed], file: File) -> None:
    """Check that a broken file is read as something, or refused as unreadable with a reason."""
    with tempfile.TemporaryDirectory() as folder:
        for i, content in enumerate(BROKEN):
            broken = Path(folder) / f"{i}{file.suffix}"
            broken.write_bytes(content)
            try:
                _is_consistent(parse(replace(file, path=broken, name=broken.name, source=str(broken))))
            except Unreadable as error:
                expect(str(error), "a file that cannot be read is refused with a reason")
            except Failed:
                raise
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
                raise Failed(f"a broken file is refused with Unreadable; found {outcome}") from error
