"""What is imported before it is needed; counted, because times differ between machines."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = {"numpy", "pydantic", "tantivy", "onnxruntime", "yaml", "sqlite3", "Stemmer", "httpx2"}


def imported_by(code: str) -> set[str]:
    """Return the modules that a new interpreter has imported after running some code."""
    code = f"import json, sys; sys.path.insert(0, {str(ROOT)!r}); {code}; print(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(json.loads(done.stdout))


def test_naming_the_class_loads_no_engine():
    found = imported_by("from ragstone import Ragstone; Ragstone('kb')")
    assert found & HEAVY == set()
    assert {
        name for name in found if name.startswith("ragstone.") and name.split(".")[1] not in ("core", "serve")
    } == set()


def test_opening_loads_no_model_and_no_other_interface():
    found = imported_by("import ragstone.engine.knowledge_base")
    assert found & {"tantivy", "onnxruntime", "torch", "mlflow", "fastapi", "typer", "rich", "httpcore2"} == set()
    reading = {"charset_normalizer", "ragstone.acquire.readers", "ragstone.acquire.remote", "ragstone.engine.pipeline"}
    assert found & {*reading, "ragstone.engine.research"} == set(), "no part but those that answer a question"
