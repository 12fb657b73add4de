"""Versions of a document, and which of two is the newer one. This is the only place that decides it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ragstone.core.frozen import frozen
from ragstone.core.records import Metadata, date_of

VERSION_OF = "version_of"
"""Metadata key of what all versions of a document have in common: the words of its title that no version changes."""
VERSION = "version"
"""Metadata key of the number of a version."""
OUTDATED = "outdated"
"""Metadata key of a version that is not in force, because another one replaced it or because it is a draft."""
VALID_UNTIL = "valid_until"
"""Metadata key of the last day on which a version is in force, as ISO 8601."""
_DIGITS = re.compile(r"\d+")


@frozen
class Edition:
    """What tells the versions of a document apart; ``number`` and ``date`` are empty if they are unknown."""

    in_force: bool
    number: tuple[int, ...]
    date: str

    @property
    def label(self) -> str:
        """What people call it: its date, or else its number."""
        return self.date or ".".join(map(str, self.number))

    def is_newer(self, than: Edition) -> bool:
        """Return whether it certainly is the newer one of two; False if nothing tells."""
        if self.in_force != than.in_force:
            return self.in_force
        if self.number and than.number and self.number != than.number:
            return self.number > than.number
        vague = self.date.startswith(than.date) or than.date.startswith(self.date)
        return not vague and self.date > than.date

    def order(self, other: Edition) -> int:
        """Return -1 if this is the newer one, 1 if the other is, and 0 if nothing tells: newest first."""
        return int(other.is_newer(self)) - int(self.is_newer(other))


def edition_of(metadata: Metadata) -> Edition:
    """Return which version a document is, by its metadata, and whether it is in force today."""
    today = datetime.now(UTC).date().isoformat()
    until = str(metadata.get(VALID_UNTIL, ""))
    return Edition(
        in_force=not metadata.get(OUTDATED) and not (until and until < today[: len(until)]),
        number=tuple(map(int, _DIGITS.findall(str(metadata.get(VERSION, ""))))),
        date=date_of(metadata),
    )
