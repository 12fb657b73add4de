"""Measures configurations of Ragstone on questions with known answers: one, two, or a sweep of many."""

from ragstone.engine.experiments.bench import Bench, add_corpus, dataset_folder, open_bench
from ragstone.engine.experiments.contest import compare_two
from ragstone.engine.experiments.drafting import Drafts, draft_questions
from ragstone.engine.experiments.measure import evaluate_dataset, evaluate_questions
from ragstone.engine.experiments.sweep import HeldOutResult, SweepReport, VariantResult, sweep

__all__ = [
    "Bench",
    "Drafts",
    "HeldOutResult",
    "SweepReport",
    "VariantResult",
    "add_corpus",
    "compare_two",
    "draft_questions",
    "evaluate_dataset",
    "evaluate_questions",
    "dataset_folder",
    "open_bench",
    "sweep",
]
