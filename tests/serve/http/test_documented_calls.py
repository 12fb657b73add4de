"""The commands in docs/http.md, run as they are on a server with the documents they name."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, open_fast
from live import Live, served

ROOT = Path(__file__).parent.parent.parent.parent
PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
SCRIPTS = [block for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL) if block.startswith("curl")]


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("documented")
    (folder / "docs").mkdir()
    for name in ("settings.md", "trust.md", "models.md"):
        (folder / "docs" / name).write_bytes((ROOT / "docs" / name).read_bytes())
    with closing(open_fast(folder / "kb")) as engine:
        add(engine, str(folder / "docs"))
        with served(engine) as live:
            yield live


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("script", SCRIPTS, ids=[str(i) for i in range(len(SCRIPTS))])
def test_documented_calls_work(documented: Live, script: str) -> None:
    assert len(SCRIPTS) >= 5
    script = script.replace("http://127.0.0.1:8000", documented.url).replace("curl -", "curl --fail --noproxy '*' -")
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=documented.engine.folder.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"error":' not in done.stdout.replace('"error":null', "")
    assert done.stdout
