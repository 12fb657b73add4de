"""Text of Markdown as a terminal shows it: without the signs of bold, italic and code."""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s*(?:```|~~~)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_BOLD = re.compile(r"(?<![A-Za-z0-9*\\])(\*\*\*?)(?=[^\s*])(.+?)(?<=[^\s\\])\1(?!\*)")
_STRONG = re.compile(r"(?<![\w\\])(__)(?=[^\s_])(?![a-z_]+__)(.+?)(?<=[^\s_])__(?!\w)")
"""Not a name of Python such as ``__init__``."""
_LIGHT = re.compile(r"(?<![^\s(\[\"'“‘«„])([*_])(?=[^\s*_])([^*_]+)(?<=\S)\1(?![^\s)\].,;:!?\"'”’»…])(?!\.\w)")
"""Only around whole words, because a single sign also stands in patterns of files and in names."""
_HELD = "\0"


def unmarked(text: str) -> str:
    """Return a text without these signs. Fenced code, and code within a line, keeps its own."""
    lines, in_fence = list[str](), False
    for row in text.split("\n"):
        is_fence = bool(_FENCE.match(row))
        lines.append(row if in_fence or is_fence else _plain(row))
        in_fence ^= is_fence
    return "\n".join(lines)


def _plain(row: str) -> str:
    if not any(sign in row for sign in "*_`"):
        return row
    code: list[str] = []

    def hold(found: re.Match[str]) -> str:
        code.append(found[2].strip() or found[0])
        return _HELD

    row = _CODE.sub(hold, row.replace(_HELD, ""))
    for signs in (_BOLD, _STRONG, _LIGHT):
        row = signs.sub(r"\2", row)
    held = iter(code)
    return re.sub(_HELD, lambda _: next(held), row)
