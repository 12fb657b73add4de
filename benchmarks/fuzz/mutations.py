"""Damage to files: anywhere in their bytes, and inside the structure of ZIP, XML, OLE and PDF files.

Damage at random mostly hits the outermost check of a format, such as the checksum of a ZIP file. Damage inside the
structure gets past it.
"""

from __future__ import annotations

import random
import re
import zipfile
from collections.abc import Callable, Sequence
from io import BytesIO

_SECTOR = 512
_LARGEST = 2_000_000
_NUMBER = re.compile(rb"\d+")
_TAG = re.compile(rb"<[^<>]{0,200}>")
_TOKEN = re.compile(rb"/[A-Za-z]+|\b\d+ \d+ R\b|\bendobj\b|\bstream\b|<<|>>|\[|\]")
_TELLING = (0, 1, 0x7F, 0x80, 0xFE, 0xFF)
_NUMBERS = (b"0", b"1", b"-1", b"65535", b"65536", b"2147483647", b"4294967295", b"99999999999999999999")
_TEXTS = (b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"&#0;", b"&#xD800;", "\u202e\ufeff".encode(), b"\r", b"\x1b[2J")
_MOST_MEMBERS = 500

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutated(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Return a damaged file.

    Args:
        chance: decides what happens.
        data: a whole file.
        others: files of the same kind, to take parts from.
    """
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = chance.choice(_mutations(data))(chance, data, others)[:_LARGEST]
    return data


def _mutations(data: bytes) -> Sequence[Mutation]:
    anywhere: list[Mutation] = [_flip, _cut, _repeat, _splice, _insert]
    if data.startswith(b"PK\x03\x04"):
        return [*anywhere, _inside_zip, _inside_zip, _inside_zip, _inside_zip, _inside_zip, _inside_zip]
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return [*anywhere, _sectors, _word_of_header, _words, _words, _words]
    if data.startswith(b"%PDF"):
        return [*anywhere, _numbers, _numbers, _tokens, _tokens]
    if b"<" in data[:2000]:
        return [*anywhere, _numbers, _tags, _tags, _nested]
    return [*anywhere, _numbers, _lines, _lines]


# ---------------------------------------------------------------- anywhere


def _span(chance: random.Random, data: bytes, most: int = 2000) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(start + chance.randrange(1, most), len(data))


def _flip(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 20, 200)) if data else 0):
        changed[chance.randrange(len(changed))] = (
            chance.choice(_TELLING) if chance.random() < 0.5 else chance.randrange(256)
        )
    return bytes(changed)


def _cut(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    start, end = _span(chance, data)
    return data[:start] if chance.random() < 0.3 else data[:start] + data[end:]


def _repeat(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    start, end = _span(chance, data)
    return data[:start] + data[start:end] * chance.choice((2, 10, 300)) + data[end:]


def _splice(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = chance.choice(others)
    start, end = _span(chance, data)
    first, last = _span(chance, other, 20_000)
    return data[:start] + other[first:last] + data[end:]


def _insert(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_TEXTS) * chance.choice((1, 1, 50)) + data[at:]


# ---------------------------------------------------------------- text


def _numbers(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    found = [*_NUMBER.finditer(data[: 1 << 19])]
    for one in sorted(chance.sample(found, min(len(found), chance.choice((1, 2, 8)))), key=lambda one: -one.start()):
        data = data[: one.start()] + chance.choice(_NUMBERS) + data[one.end() :]
    return data


def _lines(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    for _ in range(chance.choice((1, 3, 10))):
        one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[one] = chance.choice(
            (lines[other], lines[one] + lines[other], b"", b" " * 9 + lines[one], b"\t" + lines[one])
        )
    return b"\n".join(lines)


def _tags(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    found = [*_TAG.finditer(data[: 1 << 19])]
    for one in sorted(chance.sample(found, min(len(found), chance.choice((1, 4, 20)))), key=lambda one: -one.start()):
        put = chance.choice((b"", one[0] * 2, chance.choice(found)[0], one[0][:-1], one[0].replace(b'"', b"")))
        data = data[: one.start()] + put + data[one.end() :]
    return data


def _nested(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    found = [*_TAG.finditer(data[: 1 << 19])]
    if not found:
        return data
    one = chance.choice(found)
    return data[: one.start()] + one[0] * chance.choice((10, 1000, 20_000)) + data[one.end() :]


def _tokens(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    found = [*_TOKEN.finditer(data[: 1 << 19])]
    for one in sorted(chance.sample(found, min(len(found), chance.choice((1, 3, 10)))), key=lambda one: -one.start()):
        data = data[: one.start()] + chance.choice((b"", one[0] * 2, chance.choice(found)[0])) + data[one.end() :]
    return data


# ---------------------------------------------------------------- containers


def _inside_zip(chance: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Return an archive in which one member is damaged, or has the name of another."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()[:_MOST_MEMBERS]
            members = {name: archive.read(name) for name in names}
    except Exception:  # It has been damaged before.
        return _flip(chance, data, others)
    if not members:
        return data
    name = chance.choice([*members])
    if chance.random() < 0.1:
        taken = chance.choice([*members])
        members[taken] = members.pop(name)
    else:
        inner = members[name]
        members[name] = chance.choice(_mutations(inner))(chance, inner, [*members.values()])[:_LARGEST]
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
    return made.getvalue()


def _sectors(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    """Return a compound file in which two sectors have changed places, or one is there twice."""
    count = len(data) // _SECTOR
    if count < 3:
        return data
    one, other = chance.randrange(1, count), chance.randrange(1, count)
    changed = bytearray(data)
    first, second = (slice(at * _SECTOR, (at + 1) * _SECTOR) for at in (one, other))
    changed[first] = data[second]
    if chance.random() < 0.5:
        changed[second] = data[first]
    return bytes(changed)


def _word_of_header(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    at = chance.randrange(0, 76, 2)
    return data[:at] + chance.randrange(1 << 16).to_bytes(2, "little") + data[at + 2 :]


def _words(chance: random.Random, data: bytes, _others: Sequence[bytes]) -> bytes:
    """Return a file in which numbers of four bytes are very large, or point elsewhere."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 4, 30)) if len(data) > 8 else 0):
        at = chance.randrange(0, len(changed) - 4) & ~3
        value = chance.choice(
            (0, 1, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, chance.randrange(len(data)), chance.randrange(300))
        )
        changed[at : at + 4] = value.to_bytes(4, "little")
    return bytes(changed)
