"""Write docs/openapi.json, from which clients are generated. ``make docs`` runs this; a test checks the result."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.http.app import build_app

PAGE = Path(__file__).parent.parent / "docs" / "openapi.json"


def render() -> str:
    """Return the whole document."""
    with tempfile.TemporaryDirectory() as folder:
        engine = KnowledgeBase.open(Path(folder) / "kb", create=True)
        try:
            document = build_app(engine).openapi()
        finally:
            engine.close()
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")
