"""Write docs/openapi.json, from which clients are generated. ``make docs`` runs this; a test checks the result."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TypeAlias

from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.http.app import build_app

PAGE = Path(__file__).parent.parent / "docs" / "openapi.json"
WIDTH = 120
Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | None"


def render() -> str:
    """Return the whole document."""
    with tempfile.TemporaryDirectory() as folder:
        engine = KnowledgeBase.open(Path(folder) / "kb", create=True)
        try:
            document = build_app(engine).openapi()
        finally:
            engine.close()
    return _lines(document) + "\n"


def _lines(value: Json, indent: str = "") -> str:
    """Return JSON in which an object or a list that fits in a line has no line breaks."""
    short = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list) or len(indent) + len(short) <= WIDTH:
        return short
    deeper = indent + "  "
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {_lines(item, deeper)}" for name, item in value.items()]
        opening, closing = "{}"
    else:
        items = [_lines(item, deeper) for item in value]
        opening, closing = "[]"
    return f"{opening}\n{deeper}" + f",\n{deeper}".join(items) + f"\n{indent}{closing}"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")
