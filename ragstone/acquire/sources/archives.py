"""Archives: the files in zip files, gzip files and other files that hold files.

A member is written to a temporary file named by a number, never under its own name, so no name can lead outside.
"""

from __future__ import annotations

import gzip
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from ragstone.acquire.readers.decode import TooLarge, Unreadable, refuse_large
from ragstone.acquire.readers.names import suffix_of
from ragstone.acquire.readers.parsed import Budget, File, Part
from ragstone.acquire.sources.mailbox import messages
from ragstone.acquire.sources.walk import LEFT_OUT
from ragstone.core.records import Skipped

_BLOCK = 1 << 16
_DEPTH = 2
"""Archives inside archives that are opened."""
_MOST_FILES = 10_000
_RATIO = 200
"""Expanded size at most, as a multiple of the size of the archive."""
_SMALL = 1_000_000
"""Bytes that any archive may expand to: the ratio says nothing about small files."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, gzip.BadGzipFile)


def members(file: File) -> Iterator[File | Skipped]:
    """Yield the files in an archive, one at a time. Each is deleted when the next is requested.

    Raises:
        Unreadable: it is damaged, nested too deep, or expands beyond the limits.
    """
    match file.suffix:
        case ".gz":
            return _unpack_gzip(file)
        case ".mbox":
            return messages(file)
        case _:
            return _unpack_zip(file)


def attached(file: File, parts: Sequence[Part]) -> Iterator[File | Skipped]:
    """Yield the files inside a file that is no archive, such as the attachments of an e-mail."""
    if not parts:  # most files have none, and need no folder
        return
    if file.depth >= _DEPTH:
        files = "1 file" if len(parts) == 1 else f"{len(parts)} files"
        reason = f"{files} in it, nested deeper than {_DEPTH} archives"
        yield Skipped(source=file.source, reason=reason)
        return
    with tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
        for number, part in enumerate(parts):
            member = _member(file, part.name, Path(folder) / str(number))
            member.path.write_bytes(part.data)
            yield member


def _unpack_zip(file: File) -> Iterator[File | Skipped]:
    budget, names = _budget(file), set[str]()
    try:
        with zipfile.ZipFile(file.path) as archive, tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
            entries = [one for one in archive.infolist() if not one.is_dir() and not _is_hidden(one.filename)]
            entries.sort(key=lambda one: one.filename)
            for number, entry in enumerate(entries):
                if budget.files_left <= 0:
                    rest = len(entries) - number
                    files = "1 more file" if rest == 1 else f"{rest} more files"
                    reason = f"{files}, above the limit of {_MOST_FILES:,}"
                    yield Skipped(source=file.source, reason=reason)
                    return
                budget.files_left -= 1
                member = replace(_member(file, entry.filename, Path(folder) / str(number)), budget=budget)
                if member.name in names:
                    yield Skipped(source=member.source, reason="another file in the archive has the same name")
                    continue
                names.add(member.name)
                if entry.flag_bits & 1:
                    yield Skipped(source=member.source, reason="encrypted")
                    continue
                try:
                    with archive.open(entry) as stream:
                        _write(stream, member, budget)
                except TooLarge as error:
                    yield Skipped(source=member.source, reason=str(error))
                    continue
                except _DAMAGED as error:
                    yield Skipped(source=member.source, reason=f"damaged: {error}")
                    continue
                yield member
                member.path.unlink()
            if not entries:
                raise Unreadable("empty")
    except _DAMAGED as error:
        raise Unreadable(f"damaged: {error}") from error


def _unpack_gzip(file: File) -> Iterator[File]:
    """Yield the one file in a gzip file, known by the name of the gzip file."""
    budget = _budget(file)
    with tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
        suffix = suffix_of(PurePosixPath(PurePosixPath(file.name).stem))
        member = replace(file, path=Path(folder) / "0", suffix=suffix, depth=file.depth + 1, budget=budget)
        try:
            with gzip.open(file.path) as stream:
                _write(stream, member, budget)
        except _DAMAGED as error:
            raise Unreadable(f"damaged: {error}") from error
        yield member


def _member(file: File, name: str, path: Path) -> File:
    """Return a member as a file. Its name keeps only the parts that do not lead outside."""
    steps = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..")]
    shown = "/".join(steps).replace("\0", "\ufffd").encode("utf-8", "replace").decode() or path.name
    return File(
        path=path,
        name=f"{file.name}/{shown}",
        source=f"{file.source}/{shown}",
        suffix=suffix_of(PurePosixPath(shown)),
        settings=file.settings,
        given=file.given,
        depth=file.depth + 1,
    )


def _budget(file: File) -> Budget:
    """Return how much an archive may give. An archive inside another draws on the budget of the outer one."""
    size, settings = file.path.stat().st_size, file.settings
    refuse_large(size, settings)
    if file.depth >= _DEPTH:
        raise Unreadable(f"nested deeper than {_DEPTH} archives")
    expanded = max(_SMALL, int(size * _RATIO))
    return file.budget or Budget(bytes_left=expanded, files_left=_MOST_FILES)


def _write(stream: IO[bytes] | gzip.GzipFile, file: File, budget: Budget) -> None:
    """Unpack a member without trusting the size it declares."""
    written = 0
    with file.path.open("wb") as out:
        while block := stream.read(_BLOCK):
            written += len(block)
            budget.bytes_left -= len(block)
            if budget.bytes_left < 0:
                raise Unreadable(f"an archive bomb: it expands to more than {_RATIO} times its size")
            refuse_large(written, file.settings, is_whole=False)
            out.write(block)


def _is_hidden(name: str) -> bool:
    """Return whether a member is hidden, or is what macOS adds to an archive; folders leave out hidden files too."""
    return name.startswith("__MACOSX/") or any(
        (part.startswith(".") and part != "..") or part in LEFT_OUT for part in name.replace("\\", "/").split("/")
    )
