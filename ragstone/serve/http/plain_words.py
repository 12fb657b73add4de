"""Why a file was not read, for people who dropped it on a page: no setting, command or path of the server."""

from __future__ import annotations

import re

_NO_PICTURES = r"\1: this server reads no text in pictures"
_WORDS: tuple[tuple[str, str], ...] = (
    (r"^(.+?)(?:; .*not installed|, and acquire\.ocr is off).*", _NO_PICTURES),
    (r"^above acquire\.max_file_mb=([\d.]+)", r"too large; this server reads files of at most \1 MB"),
    (r"^(\d+ MB), above acquire\.max_file_mb=([\d.]+)", r"\1; this server reads files of at most \2 MB"),
    (r"^took more than [\d.]+ s\b.*", "took too long to read"),
    (r"^needs more than \d+ MB\b.*", "took too much memory to read"),
    (r"^crashed \(.*\)", "damaged: reading it failed"),
    (r"^damaged: \w+(?:Error|Exception): .*", "damaged"),
    (r"^the process that parses files did not start", "the server could not read it; try again later"),
    (r"^its encoding is unclear; .*", "its encoding is unclear; save it as UTF-8"),
    (r"^there is no encoding .*", "the server could not read it, because it is set to an encoding that does not exist"),
    (r"only the first (\d+) pages were read \([\w.]+\)", r"only the first \1 pages were read"),
    (r"^.*; (?:run|install it with|install)\b.*", "this server cannot read files of this kind"),
)  # fmt: skip
LONGEST = 1_000
"""Characters of a reason; it may quote the file, and whoever sent that chose how much."""
_PRIVATE = re.compile(r"(\S{1,300}) is (?:\S+, which is )?not a public address\b.*", re.DOTALL)
_ASIDE = re.compile(r"\s*[;(,]\s*(?:set |see )?(?:acquire|serve|chunk|index)\.[a-z_.]+[^;)]*\)?")


def plain(reason: str) -> str:
    """Return a reason in words that need no knowledge of the server, at most `LONGEST` characters of it."""
    reason = reason if len(reason) <= LONGEST else f"{reason[: LONGEST - 1]}…"
    for pattern, words in _WORDS:
        if re.search(pattern, reason, re.DOTALL):
            reason = re.sub(pattern, words, reason, count=1, flags=re.DOTALL)
            break
    return _ASIDE.sub("", reason)


def without_addresses(error: str) -> str:
    """Return why a web page was not fetched, without the address that a name has in the network of the server."""
    return _PRIVATE.sub(r"\1 is not on the public web", error[:LONGEST])
