"""A source of your own: acquire.connections={notes: {address: own.source:Notes}}, then ragstone sync notes."""

import zlib
from collections.abc import Iterator

from ragstone.core.source import Entry
from ragstone.settings import ConnectionSettings

NOTES = {"mill.md": "# Mill\n\nThe mill grinds at dawn.", "bees.md": "# Bees\n\nBees make honey."}


class Notes:
    """Lists notes; a real source would ask a server for them."""

    address = "notes://desk"

    def __init__(self, connection: ConnectionSettings) -> None:
        self._connection = connection

    def entries(self) -> Iterator[Entry]:
        for name, text in NOTES.items():
            yield Entry(name=name, version=f"{zlib.crc32(text.encode()):x}", groups=("staff",))

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        yield NOTES[entry.name].encode()

    def close(self) -> None:
        pass
