"""Raised and lowered characters and formulas as plain text that keeps its numbers: 10⁶, 3/4, H2O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Run = tuple[str, int]
"""Characters, and whether they are raised (1), lowered (-1) or on the line (0)."""

_RAISED = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_NUMBER = re.compile(r"[+\-−–]?\d+(?:\s*[,–-]\s*\d+)*", re.ASCII)
_EXPONENT = re.compile(r"(?=.*[\d+\-−/])[\w+\-−/., ()]{1,16}")
_AFTER_WORD = re.compile(r"(?:[^\W\d_]{4,}|[.,;:!?\]\"”’])$")
"""The end of a word, not of a unit such as "cm": a raised number after it is the mark of a note."""
_SLASH = re.compile(r"\s*[/⁄]\s*")
_PART = re.compile(r"\d+", re.ASCII)
_ALONE = re.compile(r"[+\-−]?[\w.,]*|\((?:[^()]|\([^()]*\))*\)")


def joined(runs: Iterable[Run]) -> str:
    """Return runs as one text. A raised number keeps its height, and its distance from a word."""
    merged = _merged(runs)
    written = ""
    while merged:
        text, height = merged.pop(0)
        if height > 0 and (below := _denominator(text, merged)):
            gap = " " if written[-1:].isalnum() else ""
            written += f"{gap}{text.strip()}/{below}"
        elif height > 0:
            written += _raised(text, written)
        else:
            written += text
    return written


def formula(name: str, parts: Sequence[str]) -> str:
    """Return an element of a formula as text.

    Args:
        name: the element of MathML or of Office's formulas.
        parts: its children as text.
    """
    match name, parts:
        case (("f" | "mfrac"), (above, below)):
            return f"{_grouped(above)}/{_grouped(below)}"
        case (("sSup" | "msup"), (base, above)):
            bare = above.strip()
            base = _grouped(base) if "/" in base else base
            return base + (bare.translate(_RAISED) if _NUMBER.fullmatch(bare) else f"^{_grouped(bare)}")
        case (("sSub" | "msub"), (base, below)):
            return f"{base}_{_grouped(below)}"
        case (("sSubSup" | "msubsup"), (base, below, above)):
            return f"{base}_{_grouped(below)}^{_grouped(above)}"
        case (("rad" | "mroot"), (one, other)):
            degree, inside = (one, other) if name == "rad" else (other, one)
            return f"{degree.strip().translate(_RAISED)}√{_grouped(inside)}"
        case "msqrt", _:
            return f"√{_grouped(''.join(parts))}"
        case _:
            return side_by_side(parts)


def side_by_side(parts: Iterable[str]) -> str:
    """Return parts of a formula in a row. A number before a fraction stays apart from it: 1 3/4."""
    written = ""
    for part in parts:
        apart = written[-1:].isdigit() and re.match(r"\d+/\d", part)
        written += f" {part}" if apart else part
    return written


def _merged(runs: Iterable[Run]) -> list[Run]:
    merged: list[Run] = []
    for text, height in runs:
        if merged and merged[-1][1] == height:
            merged[-1] = (merged[-1][0] + text, height)
        elif text:
            merged.append((text, height))
    return merged


def _denominator(above: str, following: list[Run]) -> str:
    """Return what stands below a raised number, and take it from the runs that follow; empty if nothing does."""
    below = "".join(text for text, _ in following[1:2]).strip()
    is_fraction = len(following) > 1 and following[1][1] < 0 and bool(_SLASH.fullmatch(following[0][0]))
    if not is_fraction or not _PART.fullmatch(above.strip()) or not _PART.fullmatch(below):
        return ""
    del following[:2]
    return below


def _raised(text: str, before: str) -> str:
    bare = text.strip()
    if _NUMBER.fullmatch(bare):
        return f"{' ' if _AFTER_WORD.search(before) else ''}{text.translate(_RAISED)}"
    if _EXPONENT.fullmatch(bare) and before[-1:].isalnum():
        return f"^{_grouped(bare)}"
    return text


def _grouped(text: str) -> str:
    """Return a part of a formula, in brackets unless it is one number or name, or has them."""
    bare = text.strip()
    return bare if _ALONE.fullmatch(bare) else f"({bare})"
