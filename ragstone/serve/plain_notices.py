"""What readers are told of a part that failed: what is missing, and never which machine or setting is the reason.

A notice says what happened, and after a colon or a semicolon why, and what an administrator can do.
"""

from __future__ import annotations

import re

from ragstone.engine.filters import UNMATCHED

_FOR_READERS = ("understood as: ", "searched also for: ", "only in: ", "read as: ", *UNMATCHED)
"""Beginnings of notices that repeat a question or filter, or name documents and values that the reader may read."""
_REASON = re.compile(r"[:;]\s", re.DOTALL)
_INTERNAL = re.compile(r"[/\\@=]|:\d|\d\.\d+\.\d")
"""Marks of an address, a path or a value of a setting."""
_WORDS = {"bm25 search": "keyword search"}
UNAVAILABLE = "a service that is needed here was unavailable"


def plain_notice(notice: str) -> str:
    """Return a notice without its reasons; a general one if it still names something internal."""
    if notice.startswith(_FOR_READERS):
        return notice
    what = _REASON.split(notice, maxsplit=1)[0].strip()
    for internal, plain in _WORDS.items():
        what = what.replace(internal, plain)
    return UNAVAILABLE if _INTERNAL.search(what) else what
