"""What it costs to start: imports, the first answer of a new process, and the size of the installation."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median

from benchmarks.bases import opened
from benchmarks.common import COMMAND, ROOT, Options, Result, Table, main, progress

QUESTION = "What do the parameters k1 and b of BM25 control?"
EXAMPLE = ROOT / "examples" / "knowledge-base.csv"
TIMES, QUICK_TIMES = 9, 3
NOT_OURS = {"pip", "setuptools", "wheel"}
COUNT = """
import json
from importlib import metadata
from pathlib import Path
sizes = {}
for one in metadata.distributions():
    files = [Path(str(one.locate_file(file))) for file in one.files or ()]
    sizes[one.name.lower()] = sum(file.stat().st_size for file in files if file.is_file())
print(json.dumps(sizes))
"""


async def measure(options: Options) -> Result:
    times = QUICK_TIMES if options.quick else TIMES
    with tempfile.TemporaryDirectory(prefix="ragstone-startup-") as place:
        kb = Path(place) / "kb"
        with opened(kb) as engine:
            await engine.documents.add([str(EXAMPLE)])
        ask = [*COMMAND[1:], "ask", QUESTION, "--kb", str(kb)]
        cpu = {
            "interpreter_cpu_s": cpu_seconds(["-c", "pass"], times),
            "import_cpu_s": cpu_seconds(["-c", "import ragstone"], times),
            "import_class_cpu_s": cpu_seconds(["-c", "from ragstone import Ragstone"], times),
            "ask_cpu_s": cpu_seconds([*ask, "--set", "cache.enabled=false"], times),
            "ask_again_cpu_s": cpu_seconds(ask, times),
        }
        sizes = closure() if options.quick else await asyncio.to_thread(installed, Path(place) / "venv")
    refuse_torch(sizes)
    figures = {**cpu, "install_mb": round(sum(sizes.values()) / 1e6, 1), "packages": len(sizes) - ("ragstone" in sizes)}
    return Result(figures=figures, tables=[_table(figures, sizes, options, times)])


def cpu_seconds(arguments: Sequence[str], times: int) -> float:
    """Return the median user and system time of several new interpreters, without the first, which compiles."""
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    took: list[float] = []
    for _ in range(times + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=keeping, capture_output=True, text=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed: {run.stderr.strip()[-500:]}")
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(median(took[1:]), 3)


def installed(place: Path) -> dict[str, int]:
    """Return the bytes of each distribution that ``pip install .`` puts into a new environment."""
    venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    progress("installing into a new environment")
    subprocess.run([python, "-m", "pip", "install", "-qq", "--no-input", str(ROOT)], check=True, cwd=place)
    run = subprocess.run([python, "-c", COUNT], check=True, capture_output=True, text=True, cwd=place)
    return {name: size for name, size in json.loads(run.stdout).items() if name not in NOT_OURS}


def closure() -> dict[str, int]:
    """Return the bytes of Ragstone in this tree and of its requirements in this environment, without extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sizes = {"ragstone": _bytes((ROOT / "ragstone").rglob("*"))}
    waiting: list[str] = list(project["dependencies"])
    while waiting:
        name = re.sub(r"[-_.]+", "-", re.split(r"[\s\[;<>=!~(]", waiting.pop(), maxsplit=1)[0]).lower()
        if name in sizes:
            continue
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # required on other systems or Pythons only
            continue
        sizes[name] = _bytes(Path(str(found.locate_file(file))) for file in found.files or ())
        waiting += [text for text in found.requires or () if "extra ==" not in text]
    return sizes


def refuse_torch(sizes: dict[str, int]) -> None:
    if heavy := {"torch", "tensorflow"} & set(sizes):
        raise AssertionError(f"the default installation brings {', '.join(heavy)}")


def _bytes(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())


def _table(figures: dict[str, float], sizes: dict[str, int], options: Options, times: int) -> Table:
    where = "this environment's closure of requirements" if options.quick else "a new environment after `pip install .`"
    largest = sorted(sizes, key=lambda name: -sizes[name])[:4]
    meaning = {
        "interpreter_cpu_s": "CPU seconds of a process that does nothing",
        "import_cpu_s": "CPU seconds with `import ragstone`",
        "import_class_cpu_s": "CPU seconds with `from ragstone import Ragstone`",
        "ask_cpu_s": "CPU seconds of `ragstone ask` on the example knowledge base",
        "ask_again_cpu_s": "the same question again, with its answer in the cache",
        "install_mb": f"{where}; most of it: " + ", ".join(f"{name} {sizes[name] / 1e6:.0f}" for name in largest),
        "packages": f"distributions in {where} besides Ragstone itself, pip and setuptools",
    }
    rows = [[name, f"{value:g}", meaning[name]] for name, value in figures.items()]
    return Table(title=f"Startup, medians of {times}", columns=["figure", "value", "what it is"], rows=rows)


if __name__ == "__main__":
    main({"startup": measure}, "startup")
