"""Reads ``.env`` files, as other programs write them.

A line is ``NAME=value``, with ``export`` before it or not. A value may stand in single quotes, within which
nothing has a meaning, or in double quotes, within which ``\\n`` and the like do; both may run over several lines.
Without quotes it ends before a `` #``. ``${NAME}`` and ``${NAME:-otherwise}`` stand for a variable of the
environment, or of the lines before. Lines that are none of this are passed over.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_LINE = re.compile(
    r"""^[^\S\n]*(?:export[^\S\n]+)?(?P<name>[^=\#\s]+)[^\S\n]*
    (?:=[^\S\n]*(?:'(?P<single>(?:\\'|[^'])*)'|"(?P<double>(?:\\.|[^"\\])*)"|(?P<bare>[^\n]*?(?=[^\S\n]+\#|[^\S\n]*$))))?
    [^\S\n]*(?:\#[^\n]*)?$""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([\\'\"abfnrtv])")
_MEANT = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))
_VARIABLE = re.compile(r"\$\{(?P<name>[^}:]*)(?::-(?P<otherwise>[^}]*))?\}")


def read(path: Path) -> dict[str, str | None]:
    """The variables of a file; None for a name without a value.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not in UTF-8.
    """
    text = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    found: dict[str, str | None] = {}
    for line in _LINE.finditer(text):
        found[line["name"].strip("'")] = _value(line, found)
    return found


def _value(line: re.Match[str], before: dict[str, str | None]) -> str | None:
    if line["single"] is not None:
        return re.sub(r"\\([\\'])", r"\1", line["single"])
    text = line["bare"] if line["double"] is None else _ESCAPE.sub(lambda escape: _MEANT[escape[1]], line["double"])
    if text is None:
        return None

    def meant(variable: re.Match[str]) -> str:
        name = variable["name"]
        return os.environ.get(name, before.get(name)) or variable["otherwise"] or ""

    return _VARIABLE.sub(meant, text)
