"""Write docs/openapi.json, which clients are made from. ``make docs`` runs it; a test checks that it was run."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from ragstone.engine import Engine
from ragstone.serve.http.app import build_app

PAGE = Path(__file__).parent.parent / "docs" / "openapi.json"


def render() -> str:
    """The whole document."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine.open(Path(folder) / "kb", create=True)
        try:
            told = build_app(engine).openapi()
        finally:
            engine.close()
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE}")
