"""The image of deploy/Dockerfile, built here once from the tree."""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from dockerfile import SYSTEM_PATH, Builder, Built

ROOT = Path(__file__).parent.parent.parent
SHIM = """\
#!/bin/sh
'{python}' "$@" || exit
if [ "$2" = venv ]; then
    echo '{packages}' >"$(echo "$3"/lib/python3*/site-packages)/lent.pth"
fi
"""
"""The Python of the tests, in the place of Debian's. Environments that it makes see the packages of the tests: what pip
is asked for must be there in the versions asked for, and is not fetched again."""


VARIANT = "deploy/variants/cpu.txt"


def without_chroma() -> str:
    """The packages of the image except chromadb and what it needs, which the tests lack; `make images-check` has it."""
    lines = (ROOT / VARIANT).read_text("utf-8").splitlines()
    (extras,) = (line for line in lines if line.startswith(".["))
    return extras.replace("chroma,", "")


@pytest.fixture(scope="session")
def builder() -> Iterator[Builder]:
    """Builds stages in a folder that every user of the machine may enter, as a container's root is."""
    folder = Path(tempfile.mkdtemp(prefix="ragstone-image-"))
    folder.chmod(0o755)
    try:
        tools = folder / "lent"
        tools.mkdir()
        shim = tools / "python3"
        shim.write_text(SHIM.format(python=sys.executable, packages=sysconfig.get_paths()["purelib"]))
        shim.chmod(0o755)
        lent = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "HOME": str(folder)}
        file, path = ROOT / "deploy" / "Dockerfile", f"{tools}:{SYSTEM_PATH}"
        yield Builder(file, ROOT, folder, environment=lent, rewritten={VARIANT: without_chroma()}, path=path)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def image(builder: Builder) -> Built:
    return builder.build("image")
