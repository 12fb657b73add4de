"""Checks of sources: the same list each time, contents that fit their versions, and ids that lie within the source."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from urllib.parse import urlsplit

from ragstone.acquire import read_source
from ragstone.core.records import Document, Finished, Skipped, Unchanged
from ragstone.core.source import Entry, Source
from ragstone.settings import AcquireSettings
from ragstone.testing.expect import expect


def check_source(build: Callable[[], Source]) -> None:
    """Run all checks of a source.

    Args:
        build: returns the source, opened anew each time. It lists at least one entry that can be read, and does not
            change meanwhile.

    Raises:
        Failed: at the first check that does not hold.
    """
    address = build().address
    parts = urlsplit(address)
    expect(parts.scheme and "://" in address, "the address of a source has a scheme, such as wiki://", address)
    expect(parts.password is None and not parts.query, "the address of a source holds no secret", parts.scheme)
    expect(not address.endswith("/"), "the address of a source does not end with a slash", address)
    listed = _listed(build())
    entries = [one for one in listed if isinstance(one, Entry)]
    expect(entries, "a source lists at least one entry")
    names = [entry.name for entry in entries]
    expect(len(names) == len(set(names)), "each name is listed once", names)
    expect(not any(name.startswith("/") for name in names), "a name does not begin with a slash", names)
    for one in listed:
        if isinstance(one, Skipped):
            expect(one.source.startswith(f"{address}/"), "what cannot be listed lies within the source", one)
    expect(_listed(build()) == listed, "an unchanged source lists the same entries in the same order")
    expect(_contents(build()) == _contents(build()), "an unchanged version has the same content")
    _is_read_once(build, [f"{address}/{entry.name}" if entry.name else address for entry in entries if entry.version])


def _listed(source: Source) -> list[Entry | Skipped]:
    with closing(source):
        return list(source.entries())


def _contents(source: Source) -> dict[str, bytes]:
    """Return what entries with a version hold, by name; each is fetched before the next is listed."""
    contents: dict[str, bytes] = {}
    with closing(source):
        for entry in source.entries():
            if isinstance(entry, Entry) and entry.version:
                blocks = list(source.fetch(entry))
                expect(all(type(block) is bytes for block in blocks), "the content of an entry is bytes", entry.name)
                contents[entry.name] = b"".join(blocks)
    return contents


def _is_read_once(build: Callable[[], Source], versioned: list[str]) -> None:
    """Check that documents have ids within the source, and that nothing is fetched again while its version stays."""
    first = list(read_source(build(), AcquireSettings()))
    documents = [one for one in first if isinstance(one, Document)]
    expect(documents, "at least one entry can be read as a document", first)
    stamps = {one.source: one.stamp for one in first if isinstance(one, Finished)}
    again = read_source(build(), AcquireSettings(), is_stored=lambda source, stamp: stamps.get(source) == stamp)
    unchanged = {one.source for one in again if isinstance(one, Unchanged)}
    expect(unchanged == set(stamps), "an entry with the same version is not read again", set(stamps) - unchanged)
    expect(set(stamps) <= set(versioned), "only an entry with a version can be left unread", set(stamps))
