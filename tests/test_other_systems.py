"""Without what Linux alone has: adding documents and answering, as macOS would do it. No test here runs on macOS."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WITHOUT = """
import io, os, pathlib, resource, multiprocessing

for module, names in {
    os: ["sched_getaffinity", "sched_setaffinity", "posix_fadvise", "posix_fallocate", "memfd_create", "pidfd_open",
         "copy_file_range", "fdatasync", "eventfd", "splice"],
    resource: ["prlimit"],
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

_open = io.open

def elsewhere(path, *rest, **named):
    if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(("/proc/", "/sys/")):
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    return _open(path, *rest, **named)

io.open = pathlib.io.open = elsewhere
__builtins__["open"] = elsewhere

def unlimited(kind, limits):
    raise ValueError("current limit exceeds maximum limit")

resource.setrlimit = unlimited
multiprocessing.set_start_method("spawn", force=True)
os.environ["SEEN"] = "yes"
"""
"""Python runs this at the start of each process, those of the parser too."""


def ran(folder: Path, *words: str) -> str:
    path = os.pathsep.join([str(folder), str(ROOT)])
    command = [sys.executable, "-m", "ragstone", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_adds_and_answers_without_what_linux_alone_has(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    source = ROOT / "examples" / "alderwren"
    added = ran(tmp_path, "add", "--kb", "kb", str(source / "reports"), str(source / "about-alderwren.md"))
    assert "added" in added
    answered = ran(tmp_path, "ask", "--kb", "kb", "What was the revenue in the fourth quarter of 2025?")
    assert "2,704" in answered


def test_the_emulation_reaches_every_process(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    code = "import os, pathlib; print(os.environ['SEEN'], hasattr(os, 'sched_getaffinity')); open('/proc/self/status')"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.split() == ["yes", "False"]
    assert "FileNotFoundError" in done.stderr
