"""The encoding of a text: as a web page declares it, or guessed from its letters."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from charset_normalizer import from_bytes

_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w:.-]{2,40})", re.IGNORECASE | re.ASCII)
_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w:.-]+)", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SAMPLE = 64_000
"""Bytes of a file that are looked at."""
_CANDIDATES = [
    "cp1252", "gb18030", "big5", "cp949", "cp932", "euc_jp", "cp1251", "koi8_r", "koi8_u", "cp1253", "cp1255", "cp1256",
]  # fmt: skip
_SCRIPTS = {
    "gb18030": "\u4e00-\u9fff",
    "big5": "\u4e00-\u9fff",
    "cp949": "\uac00-\ud7a3\u4e00-\u9fff",
    "cp932": "\u3040-\u30ff\u4e00-\u9fff",
    "euc_jp": "\u3040-\u30ff\u4e00-\u9fff",
    "cp1251": "\u0400-\u04ff",
    "koi8_r": "\u0400-\u04ff",
    "koi8_u": "\u0400-\u04ff",
    "cp1253": "\u0370-\u03ff",
    "cp1255": "\u0590-\u05ff",
    "cp1256": "\u0600-\u06ff",
}
"""The letters of the languages that an encoding is for."""
_LETTERS = 0.95
"""Share of the letters beyond ASCII that belong to these languages in a text of this encoding."""
_MOST_CAPITALS = 0.4
"""Cyrillic in a wrong encoding has more capitals than small letters, or turns into letters of other scripts."""
_WESTERN = 0.35
"""Share of the letters of a Western text, at most, that are beyond ASCII."""
_ENOUGH = 12
"""Letters beyond ASCII from which they say what the encoding is."""


def charset_of(content_type: str) -> str:
    """Return the character set that a header ``Content-Type`` declares; empty if it declares none."""
    found = _IN_HEADER.search(content_type)
    return found[1] if found else ""


def decoded(data: bytes, declared: str = "") -> str:
    """Return the text of a web page.

    It is decoded by its byte order mark, else as UTF-8 if that fits, because many servers declare one character set for
    all pages; else as the server or, if it does not say, the page declares; else as Windows-1252.

    Args:
        data: the bytes of the page.
        declared: the character set that the server declares, if any.
    """
    inside = _CHARSET.search(data[:4096])
    name = declared or (inside[1].decode("ascii") if inside else "cp1252")
    try:
        if marked := next((encoding for mark, encoding in _MARKS if data.startswith(mark)), ""):
            return data.decode(marked, "replace")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        # Browsers treat these as the same. Some codecs of Python, such as zlib, do not decode text.
        is_western = codecs.lookup(name).name in ("iso8859-1", "ascii")
        return data.decode("cp1252" if is_western else name, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


def guess_encoding(path: Path) -> str:
    """Return the encoding of a text in a script other than Latin; empty if the text does not tell."""
    data = _sample(path)
    if _share_beyond_ascii(data) <= _WESTERN or sum(byte > 127 for byte in data) < _ENOUGH:
        return ""
    best = from_bytes(data, cp_isolation=_CANDIDATES).best()
    if best is None or best.encoding not in _SCRIPTS:
        return ""
    text = str(best)
    letters = [character for character in text if character > "\x7f" and character.isalpha()]
    own = re.compile(f"[{_SCRIPTS[best.encoding]}]")
    fitting = [letter for letter in letters if own.match(letter)]
    capitals = sum(letter.isupper() for letter in fitting)
    if not letters or len(fitting) < _LETTERS * len(letters) or capitals > _MOST_CAPITALS * len(fitting):
        return ""
    return best.encoding


def is_western(path: Path) -> bool:
    """Return whether most letters of a text are ASCII, as they are in all languages of Windows-1252."""
    return _share_beyond_ascii(_sample(path)) <= _WESTERN


def _sample(path: Path) -> bytes:
    """Return the beginning of a file, up to the end of a line."""
    with path.open("rb") as stream:
        data = stream.read(_SAMPLE)
    end = data.rfind(b"\n") if len(data) == _SAMPLE else -1
    return data[: end + 1] if end > 0 else data


def _share_beyond_ascii(data: bytes) -> float:
    beyond = sum(byte > 127 for byte in data)
    return beyond / max(beyond + sum(chr(byte).isalpha() for byte in data if byte < 128), 1)
