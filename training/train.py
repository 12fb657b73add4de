"""Train the trunk and its heads on claims and questions, or, beginning with its weights, on questions only.

    python -m training.train --data DATA --out FOLDER --steps 3500 [--passages FOUND] [--threads 1] [--seed 1]

Resumes from FOLDER/last.npz if it is there. A step is a batch of claims or of questions; the share of each is that of
its tokens. With ``--passages``, the folder of `training.mined` and `training.written`, the packaged model of claims
learns to read passages, in all its layers, and no longer judges claims. If ``--public 0.2`` is also given, training
continues from the packaged model of passages instead, on all written questions and this share of the public pairs.

Method: AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) with a linear rise and fall of the rate.
"""

# pyright: basic, reportMissingImports=false
# torch is installed only for training.

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ragstone.index.embed.local import MiniLM
from ragstone.index.embed.minilm import claim_model, passage_model
from ragstone.index.embed.minilm.pair_network import PairNetwork
from training.claims import claims, made_claims
from training.measure import summary
from training.mined import mined
from training.pairs import Pair, Tokens, tokenized
from training.questions import MORE, as_typed, medical, questions, renamed
from training.rows import made
from training.trunk import CLASSES, Heads, Trunk
from training.written import WRITTEN

WRITTEN_TIMES = 4
"""How often a pass sees the questions that were written for training: the public sets have many more."""
RATE, RISE, DECAY = 1.2e-4, 0.06, 0.01
SAVE_EVERY, MEASURE_EVERY, SAY_EVERY = 200, 600, 20
UNSUPPORTED_WEIGHT, EVIDENCE_WEIGHT, SPAN_WEIGHT = 0.5, 0.5, 0.5


def batches(rows: Sequence[Tokens], tokens: int, chance: random.Random) -> list[list[Tokens]]:
    """Return the rows in batches of similar length and at most so many tokens, in random order."""
    ordered = sorted(rows, key=lambda row: len(row.ids) + chance.random() * 8)
    out: list[list[Tokens]] = [[]]
    for row in ordered:
        if (len(out[-1]) + 1) * len(row.ids) > tokens:
            out.append([])
        out[-1].append(row)
    chance.shuffle(out)
    return out if rows else []


def run(model: Trunk, batch: Sequence[Tokens]) -> Heads:
    lengths = torch.tensor([len(row.ids) for row in batch])
    ids = torch.zeros(len(batch), int(lengths.max()), dtype=torch.long)
    for row, one in zip(ids, batch, strict=True):
        row[: len(one.ids)] = torch.from_numpy(one.ids)
    return model(ids, torch.tensor([row.second for row in batch]), lengths)


def loss_of(heads: Heads, batch: Sequence[Tokens]) -> Tensor:
    """Return the mean loss of a batch of claims or of a batch of questions."""
    return _claim_loss(heads, batch) if batch[0].pair.label else _question_loss(heads, batch)


def _claim_loss(heads: Heads, batch: Sequence[Tokens]) -> Tensor:
    logs = functional.log_softmax(heads.label, dim=1)
    not_supported = torch.logsumexp(logs[:, 1:], dim=1)
    losses: list[Tensor] = []
    places: list[Tensor] = []
    for number, row in enumerate(batch):
        label = row.pair.label
        losses.append(-not_supported[number] if label == "unsupported" else -logs[number, CLASSES.index(label)])
        if row.unsupported is not None and len(row.unsupported):
            logits = heads.unsupported[number, 1 : 1 + len(row.unsupported)]
            places.append(functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(row.unsupported)))
    total = torch.stack(losses).mean()
    return total + UNSUPPORTED_WEIGHT * torch.stack(places).mean() if places else total


def _question_loss(heads: Heads, batch: Sequence[Tokens]) -> Tensor:
    answers = torch.tensor([row.pair.answers for row in batch])
    total = functional.binary_cross_entropy_with_logits(heads.answers, answers)
    chosen: list[Tensor] = []
    spans: list[Tensor] = []
    for number, row in enumerate(batch):
        if row.evidence is not None and row.sentences:
            logits = sentence_logits(heads.evidence[number], row.sentences)
            chosen.append(functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(row.evidence)))
        if row.answer is not None:
            for logits, place in ((heads.start, row.answer[0]), (heads.end, row.answer[1])):
                logs = functional.log_softmax(logits[number, row.second : len(row.ids) - 1], dim=0)
                spans.append(-logs[place - row.second] / 2)
    if chosen:
        total = total + EVIDENCE_WEIGHT * 2 * torch.stack(chosen).mean()
    return total + SPAN_WEIGHT * torch.stack(spans).mean() if spans else total


def sentence_logits(tokens: Tensor, sentences: Sequence[tuple[int, int]]) -> Tensor:
    """Return the mean logit of the tokens of each sentence, (sentences,)."""
    return torch.stack([tokens[start:end].mean() for start, end in sentences])


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    chance = random.Random(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    sets = {"train": list[Tokens](), "valid": list[Tokens]()}
    for split, rows in sets.items():
        rows += tokenized(_pairs(args, split))
    model = Trunk(frozen=0, dropout=0.1) if args.passages else Trunk(frozen=2, dropout=0.0)
    if args.passages:
        first = claim_model if args.public is None else passage_model
        packaged = PairNetwork(first.NAME, first.SHA256, MiniLM())
        model.begin_with(packaged.weights, packaged.tensors)
    names = model.trained()
    free = [value for name, value in names.items() if value.ndim > 1]
    plain = [value for name, value in names.items() if value.ndim == 1]
    optimiser = torch.optim.AdamW(
        [{"params": free, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}], lr=args.rate, fused=True
    )
    begin = load(args.out / "last.npz", model, optimiser) if (args.out / "last.npz").exists() else 0
    order: list[list[Tokens]] = []
    while len(order) < args.steps:
        some = [row for row in sets["train"] if row.pair.label]
        asked = [row for row in sets["train"] if not row.pair.label]
        order += _mixed(batches(some, args.batch, chance), batches(asked, args.batch, chance), chance)
    print(json.dumps({"rows": len(sets["train"]), "batches": len(order), "from": begin}), flush=True)
    model.train()
    started, mean = time.time(), 0.0
    for step in range(begin, args.steps):
        done = step / args.steps
        for group in optimiser.param_groups:
            group["lr"] = args.rate * min(done / RISE, (1 - done) / (1 - RISE))
        loss = loss_of(run(model, order[step]), order[step])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(names.values(), 1.0)
        optimiser.step()
        mean = 0.95 * mean + 0.05 * loss.item() if mean else loss.item()
        if (step + 1) % SAY_EVERY == 0:
            each = (time.time() - started) / (step + 1 - begin)
            print(f"step {step + 1} loss {mean:.3f} {each:.2f} s a step", flush=True)
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == args.steps:
            save(args.out / "last.npz", model, optimiser, step + 1)
        if (step + 1) % MEASURE_EVERY == 0 or step + 1 == args.steps:
            print(json.dumps(summary(model, sets["valid"], run, small=step + 1 < args.steps)), flush=True)


def _pairs(args: argparse.Namespace, split: str) -> list[Pair]:
    if not args.passages:
        return [*claims(args.data, split), *made_claims(args.data, split), *questions(args.data, split)]
    found = [*mined(args.passages / "written.jsonl.gz", split), *made(split)]
    some = questions(args.data, split, most=MORE)
    some += renamed(some) + mined(args.passages / "mined.jsonl.gz", split) + medical(args.data, split)
    if split != "train":
        return some + found
    if args.public is None:
        return [*as_typed(some), *found * WRITTEN_TIMES]
    chance = random.Random(args.seed)
    some = chance.sample(some, int(len(some) * args.public))
    new = [one for one in found if one.source != WRITTEN]
    known = [one for one in found if one.source == WRITTEN]
    return [*as_typed(some), *chance.sample(known, int(len(known) * args.written)), *new]


def _mixed(one: list[list[Tokens]], other: list[list[Tokens]], chance: random.Random) -> list[list[Tokens]]:
    out = [*one, *other]
    chance.shuffle(out)
    return out


def save(path: Path, model: Trunk, optimiser: torch.optim.Optimizer, step: int) -> None:
    """Write the trained parameters, their moments and the step; no pickle."""
    arrays: dict[str, np.ndarray] = {"step": np.array(step)}
    for name, value in model.trained().items():
        arrays[f"value/{name}"] = value.detach().numpy()
        for part in ("exp_avg", "exp_avg_sq"):
            if state := optimiser.state.get(value):
                arrays[f"{part}/{name}"] = state[part].numpy()
    new = path.with_suffix(".new.npz")
    np.savez(new, allow_pickle=False, **arrays)
    new.replace(path)


def load(path: Path, model: Trunk, optimiser: torch.optim.Optimizer | None = None) -> int:
    """Read what `save` has written; return the step."""
    with np.load(path, allow_pickle=False) as arrays, torch.no_grad():
        step = int(arrays["step"])
        for name, value in model.trained().items():
            value.copy_(torch.from_numpy(arrays[f"value/{name}"]))
            if optimiser is not None and f"exp_avg/{name}" in arrays:
                optimiser.state[value] = {
                    "step": torch.tensor(float(step)),
                    **{part: torch.from_numpy(arrays[f"{part}/{name}"]) for part in ("exp_avg", "exp_avg_sq")},
                }
    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=3500)
    parser.add_argument("--batch", type=int, default=4096, help="tokens of a batch")
    parser.add_argument("--passages", type=Path, help="folder of what training.mined and training.written wrote")
    parser.add_argument(
        "--public", type=float, help="continue from the packaged model of passages; share of public pairs"
    )
    parser.add_argument(
        "--written", type=float, default=1.0, help="share of the questions that were written one by one"
    )
    parser.add_argument("--rate", type=float, default=RATE, help="largest rate of learning")
    parser.add_argument("--threads", type=int, default=1, help="more only help on a machine with nothing else to do")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.public is not None and args.passages is None:
        parser.error("--public needs --passages")
    train(args)


if __name__ == "__main__":
    main()
