"""Measures Ragstone itself on questions whose answers are known: one way of setting it up, or many side by side."""

from ragstone.experiment.bench import Bench, add_corpus, kept_at, open_bench
from ragstone.experiment.contest import compare_two
from ragstone.experiment.measure import evaluate_dataset, evaluate_questions
from ragstone.experiment.sweep import HeldOut, SweepReport, Tried, sweep

__all__ = [
    "Bench",
    "HeldOut",
    "SweepReport",
    "Tried",
    "add_corpus",
    "compare_two",
    "evaluate_dataset",
    "evaluate_questions",
    "kept_at",
    "open_bench",
    "sweep",
]
