"""Write a small knowledge base in the current format to tests/golden, for the tests of all later versions.

Run it once for each new format, before anything is built on that format: ``python tools/golden_kb.py``. It never
overwrites, because every released format must stay readable.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false
# The embedder comes from the tests, whose folder is not on the type checker's path.

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from kb import open_fast, parts  # noqa: E402

from ragstone.catalog.sqlite import FORMAT  # noqa: E402
from ragstone.core.access import OWNER  # noqa: E402
from ragstone.core.answers import Turn  # noqa: E402
from ragstone.core.records import Document  # noqa: E402
from ragstone.history.conversations import Conversations  # noqa: E402

GOLDEN = ROOT / "tests" / "golden"
FILES = {
    "harbour.md": "# Harbour\n\n## Tide\n\nHigh tide is at noon.\n\n## Ships\n\nThe Petrel sails on Monday.\n",
    "mill.txt": "The mill grinds rye.\n\nIt stands still in winter.",
    "again.txt": "The mill grinds rye.\n\nIt stands still in winter.",
    "empty.txt": "",
}
"""Two files have the same text, and one has none."""
DOCUMENTS = (
    Document(id="note", text="Grüße aus Köln, 北京 and 𝔘nicode.", title="Note", metadata={"year": 2024, "open": True}),
    Document(id="tags", text="A text with tags.", url="https://example.org/t", metadata={"tags": ("red", "blue")}),
    Document(id="gone", text="This one was removed again."),
)
TURN = Turn(question="When is high tide?", answer="High tide is at noon.")


def write(folder: Path) -> None:
    """Write a knowledge base whose documents were added, updated, removed and skipped."""
    if folder.exists():
        sys.exit(f"{folder} exists already; a released format is never written again")
    with TemporaryDirectory() as place:
        sources = Path(place) / "sources"
        sources.mkdir()
        for name, text in FILES.items():
            (sources / name).write_text(text.replace("Monday", "Sunday"), encoding="utf-8")
        engine = open_fast(Path(place) / "kb")
        asyncio.run(engine.documents.add([str(sources), *DOCUMENTS]))
        engine.documents.remove(["gone"], reader=OWNER)
        (sources / "harbour.md").write_text(FILES["harbour.md"] + "\n", encoding="utf-8")
        asyncio.run(engine.documents.sync([str(sources)]))
        documents = [asdict(document) for document in parts(engine).catalog.documents()]
        with closing(engine.history.journal()) as journal:
            Conversations(journal, tokens=100, days=1).note("harbour", TURN)
        engine.close()
        (folder / "v1").mkdir(parents=True)
        for name in ("CURRENT", "journal.db", "v1/catalog.db"):
            shutil.copy(Path(place) / "kb" / name, folder / name)
    text = json.dumps(documents, ensure_ascii=False, indent=1)
    (folder / "documents.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(GOLDEN / f"kb_v{FORMAT}")
