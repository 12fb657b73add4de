"""Archives: zip files and single files packed with gzip, as the files inside them.

A member is written to a temporary file under a number, never under its own name, so no name can lead outside.
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

from ragstone.acquire.readers.decode import MEGABYTE, Unreadable
from ragstone.acquire.readers.parsed import Budget, File, Part
from ragstone.contracts import Skipped

_BLOCK = 1 << 16
_SMALL = 1_000_000
"""Bytes that anything may expand to: the ratio of small files says nothing."""
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, gzip.BadGzipFile)


class _TooLarge(Unreadable):
    """One member is; the others may be read."""


def unpack_zip(file: File) -> Iterator[File | Skipped]:
    """The files of a zip archive, one at a time; each is gone when the next is asked for.

    Raises:
        Unreadable: it is damaged, nested too deep, or expands beyond the limits.
    """
    budget, seen = _budget(file), set[str]()
    try:
        with zipfile.ZipFile(file.path) as archive, tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
            members = [one for one in archive.infolist() if not one.is_dir() and not _is_noise(one.filename)]
            members.sort(key=lambda one: one.filename)
            for number, member in enumerate(members):
                if budget.files_left <= 0:
                    rest = len(members) - number
                    reason = f"{rest} more files, above acquire.archive_files={file.settings.archive_files}"
                    yield Skipped(source=file.source, reason=reason)
                    return
                budget.files_left -= 1
                inner = replace(_inner(file, member.filename, Path(folder) / str(number)), budget=budget)
                if inner.name in seen:
                    yield Skipped(source=inner.source, reason="another file in the archive has the same name")
                    continue
                seen.add(inner.name)
                if member.flag_bits & 1:
                    yield Skipped(source=inner.source, reason="encrypted")
                    continue
                try:
                    with archive.open(member) as stream:
                        _write(stream, inner, budget)
                except _TooLarge as error:
                    yield Skipped(source=inner.source, reason=str(error))
                    continue
                except _BROKEN as error:
                    yield Skipped(source=inner.source, reason=f"damaged: {error}")
                    continue
                yield inner
                inner.path.unlink()
            if not members:
                raise Unreadable("empty")
    except _BROKEN as error:
        raise Unreadable(f"damaged: {error}") from error


def unpack_gzip(file: File) -> Iterator[File]:
    """The file that is packed, which is known by the name of the pack.

    Raises:
        Unreadable: it is damaged, nested too deep, or expands beyond the limits.
    """
    budget = _budget(file)
    with tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
        suffix = Path(Path(file.name).stem).suffix.lower()
        inner = replace(file, path=Path(folder) / "0", suffix=suffix, depth=file.depth + 1, budget=budget)
        try:
            with gzip.open(file.path) as stream:
                _write(stream, inner, budget)
        except _BROKEN as error:
            raise Unreadable(f"damaged: {error}") from error
        yield inner


def parts(file: File, found: Sequence[Part]) -> Iterator[File | Skipped]:
    """The files inside a file, such as the attachments of an e-mail."""
    if found and file.depth >= file.settings.archive_depth:
        reason = f"{len(found)} files in it, deeper than acquire.archive_depth={file.settings.archive_depth}"
        yield Skipped(source=file.source, reason=reason)
        return
    with tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
        for number, part in enumerate(found):
            inner = _inner(file, part.name, Path(folder) / str(number))
            inner.path.write_bytes(part.data)
            yield inner


def _inner(file: File, name: str, path: Path) -> File:
    """A member as a file. Its name keeps only the parts that lead inwards."""
    steps = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..")]
    shown = "/".join(steps).replace("\0", "\ufffd").encode("utf-8", "replace").decode() or path.name
    return File(
        path=path,
        name=f"{file.name}/{shown}",
        source=f"{file.source}/{shown}",
        suffix=PurePosixPath(shown).suffix.lower(),
        settings=file.settings,
        depth=file.depth + 1,
    )


def _budget(file: File) -> Budget:
    """What may come out of an archive; one inside another draws on the budget of the outer one."""
    size, settings = file.path.stat().st_size, file.settings
    if size > settings.max_file_mb * MEGABYTE:
        raise Unreadable(f"{size / MEGABYTE:.0f} MB, above acquire.max_file_mb={settings.max_file_mb:g}")
    if file.depth >= settings.archive_depth:
        raise Unreadable(f"deeper than acquire.archive_depth={settings.archive_depth}")
    expanded = max(_SMALL, int(size * settings.archive_ratio))
    return file.budget or Budget(bytes_left=expanded, files_left=settings.archive_files)


def _write(stream: IO[bytes] | gzip.GzipFile, file: File, budget: Budget) -> None:
    """Unpack a member without trusting the size it declares."""
    written = 0
    with file.path.open("wb") as out:
        while block := stream.read(_BLOCK):
            written += len(block)
            budget.bytes_left -= len(block)
            if budget.bytes_left < 0:
                raise Unreadable(f"a bomb: it expands beyond acquire.archive_ratio={file.settings.archive_ratio:g}")
            if written > file.settings.max_file_mb * MEGABYTE:
                raise _TooLarge(f"above acquire.max_file_mb={file.settings.max_file_mb:g}")
            out.write(block)


def _is_noise(name: str) -> bool:
    """What a Mac adds to an archive, and hidden files, which are left out of folders too."""
    return name.startswith("__MACOSX/") or any(
        part.startswith(".") and part != ".." for part in name.replace("\\", "/").split("/")
    )
