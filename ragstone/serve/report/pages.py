"""The pages of an evaluation, a sweep and a comparison."""

from __future__ import annotations

from ragstone.engine.experiments.sweep import SweepReport
from ragstone.review.compare import Comparison
from ragstone.review.report import EvalReport
from ragstone.serve.report.drawing import draw
from ragstone.serve.report.markup import page
from ragstone.serve.views import measured
from ragstone.serve.views.blocks import count, line

_WORST = 50
"""Questions listed one by one."""
_HELD_OUT = (
    "The best of many variants looks better than it is on the questions that chose it. Only the baseline and the"
    " chosen variant were run on the held-out questions."
)
_CORRECTED = (
    "p is corrected for the number of variants (Holm). ms is the time of a search; work shared with another variant"
    " counts as if it had been done again."
)


def evaluation_page(report: EvalReport) -> str:
    """Return the page of an evaluation: the measures, the groups, the answers and the questions that fail."""
    asked = f"{count(report.queries, 'question')}, {report.judged:,} of them with expected documents."
    view = [*measured.evaluation(report), measured.failures(report, _WORST), measured.settings(report.settings)]
    return page(f"{report.dataset}: evaluation", f"{asked} Measured {report.measured}.", draw(view))


def sweep_page(report: SweepReport) -> str:
    """Return the page of a sweep: the variants, and the chosen one on the held-out questions."""
    notes = [line((_HELD_OUT, "dim")), line((_CORRECTED, "dim"))]
    view = [
        *measured.sweep(report),
        *notes,
        measured.preset(report),
        measured.settings(report.winner.settings),
    ]
    chose = f"Chosen by {report.metric} on {count(report.questions, 'question')}"
    title = f"{report.dataset}: {count(len(report.tried), 'variant')}"
    return page(title, f"{chose}; tested on {report.held_out.questions} others.", draw(view))


def comparison_page(compared: Comparison) -> str:
    """Return the page of a comparison: the measures, and the questions that changed."""
    view = measured.comparison(compared, most=_WORST)
    return page(f"{compared.dataset}: b against a", f"{measured.compared(compared)}.", draw(view))
