"""Write a small knowledge base in the present format into tests/golden, for the tests of all later versions to open.

Run it once for each new format, before anything else is built on that: ``python tools/golden_kb.py``. What it wrote
is never written again; a format that was released must be read for ever.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from kb import open_fast  # noqa: E402

from ragstone.contracts import Document  # noqa: E402
from ragstone.index.catalog.migrations import FORMAT  # noqa: E402

GOLDEN = ROOT / "tests" / "golden"
FILES = {
    "harbour.md": "# Harbour\n\n## Tide\n\nHigh tide is at noon.\n\n## Ships\n\nThe Petrel sails on Monday.\n",
    "mill.txt": "The mill grinds rye.\n\nIt stands still in winter.",
    "again.txt": "The mill grinds rye.\n\nIt stands still in winter.",
    "empty.txt": "",
}
"""Two have the same text, one none."""
DOCUMENTS = (
    Document(id="note", text="Grüße aus Köln, 北京 and 𝔘nicode.", title="Note", metadata={"year": 2024, "open": True}),
    Document(id="tags", text="A text with tags.", url="https://example.org/t", metadata={"tags": ("red", "blue")}),
    Document(id="gone", text="This one was removed again."),
)


def write(folder: Path) -> None:
    """Through every kind of change: added, updated, removed, passed over."""
    if folder.exists():
        sys.exit(f"{folder} is there already, and stays as it is")
    with TemporaryDirectory() as place:
        sources = Path(place) / "sources"
        sources.mkdir()
        for name, text in FILES.items():
            (sources / name).write_text(text.replace("Monday", "Sunday"), encoding="utf-8")
        engine = open_fast(Path(place) / "kb")
        asyncio.run(engine.add([str(sources), *DOCUMENTS]))
        engine.remove(["gone"])
        (sources / "harbour.md").write_text(FILES["harbour.md"] + "\n", encoding="utf-8")
        asyncio.run(engine.sync([str(sources)]))
        documents = [asdict(document) for document in engine._catalog.documents()]
        engine.close()
        (folder / "v1").mkdir(parents=True)
        for name in ("CURRENT", "v1/catalog.db"):
            shutil.copy(Path(place) / "kb" / name, folder / name)
    text = json.dumps(documents, ensure_ascii=False, indent=1)
    (folder / "documents.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(GOLDEN / f"kb_v{FORMAT}")
