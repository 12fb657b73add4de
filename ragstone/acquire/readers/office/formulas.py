"""Formulas of Office files (OMML) as plain text."""

from __future__ import annotations

from ragstone.acquire.readers.office.package import Element, local
from ragstone.acquire.readers.scripts import formula, side_by_side

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MATHML = ("mfrac", "msup", "msub", "msubsup", "msqrt", "mroot")
_DEEPEST = 60


def written_formula(element: Element, depth: int = 0) -> str:
    """Return an element of a formula as text, in Office's own elements or in MathML."""
    name = local(element)
    if name in ("t", "mi", "mn", "mo", "mtext"):
        return (element.text or "").strip() if name != "t" else element.text or ""
    if name in _MATHML:
        return formula(name, [written_formula(child, depth + 1) for child in element if depth < _DEEPEST])
    if name in ("annotation", "annotation-xml"):
        return ""
    if depth > _DEEPEST:
        return "".join(element.itertext())
    parts = {local(child): written_formula(child, depth + 1) for child in element if not local(child).endswith("Pr")}
    match name:
        case "f":
            return formula(name, [parts.get("num", ""), parts.get("den", "")])
        case "sSup":
            return formula(name, [parts.get("e", ""), parts.get("sup", "")])
        case "sSub":
            return formula(name, [parts.get("e", ""), parts.get("sub", "")])
        case "sSubSup":
            return formula(name, [parts.get(part, "") for part in ("e", "sub", "sup")])
        case "rad":
            return formula(name, [parts.get("deg", ""), parts.get("e", "")])
        case "d":
            inside = ", ".join(written_formula(child, depth + 1) for child in element if local(child) == "e")
            return f"{_sign(element, 'begChr', '(')}{inside}{_sign(element, 'endChr', ')')}"
        case "nary":
            limits = "".join(f"{mark}{parts[part]}" for mark, part in (("_", "sub"), ("^", "sup")) if parts.get(part))
            return f"{_sign(element, 'chr', '∫')}{limits} {parts.get('e', '')}"
        case _:
            return side_by_side(
                written_formula(child, depth + 1) for child in element if not local(child).endswith("Pr")
            )


def _sign(element: Element, name: str, default: str) -> str:
    """Return a sign that the properties of an element name."""
    found = next((one for one in element.iter(f"{_M}{name}")), None)
    return default if found is None else found.get(f"{_M}val", "")
