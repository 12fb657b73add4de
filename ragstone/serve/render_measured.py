"""What was measured, as lines: reports, comparisons, sweeps and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.serve.render import cut, table
from ragstone.serve.screen import Line, line, one_line

if TYPE_CHECKING:
    from ragstone.experiment import SweepReport
    from ragstone.review.compare import Change, Comparison, Verdict
    from ragstone.review.report import EvalReport, QueryResult
    from ragstone.review.significance import Difference, Interval

GROUPED = ("ndcg@10", "mrr@10", "recall@10")
"""Measures shown of each language and kind of question; ``--json`` has all."""
QUESTION = 90
"""Characters of a question that are shown."""
FEW = 30
"""Below so many questions a mean says little."""


def evaluation(report: EvalReport) -> Iterator[Line]:
    """Means with their intervals, by group too, then how far answers can be trusted."""
    yield line(
        (one_line(report.dataset), "bold"),
        f": {report.queries:,} questions, {report.judged:,} of them judged; {report.milliseconds:.1f} ms a question",
    )
    rows = [(name, f"{it.mean:.4f}", f"{it.low:.4f} to {it.high:.4f}") for name, it in report.measures.items()]
    if rows:
        yield from table([("measure", "mean", "95% interval"), *rows], indent=2)
    for by in dict.fromkeys(group.by for group in report.groups):
        rows = [
            (one_line(group.name), str(group.questions), *(interval(group.measures[name]) for name in GROUPED))
            for group in report.groups
            if group.by == by
        ]
        yield line()
        yield from table([(by, "questions", *GROUPED), *rows], indent=2)
    yield from _answers(report)


def _answers(report: EvalReport) -> Iterator[Line]:
    if (answers := report.answers) is None:
        return
    yield line()
    yield line(("Answers", "bold"), f": {answers.questions:,} questions, {answers.abstained:,} abstained")
    counted = [
        (name, "-" if share.value is None else f"{share.value:.4f}", f"{share.part:,} of {share.whole:,}")
        for name, share in answers.shares().items()
    ]
    yield from table([("measure", "share", "count"), *counted], indent=2)


def questions(report: EvalReport) -> Iterator[Line]:
    """Every judged question, the worst first: the rank of the first document expected, and what stands first."""
    yield line()
    rows = [
        (
            f"{result.measures['ndcg@10']:.3f}",
            rank(result.first),
            one_line(result.lang) or "-",
            one_line(result.kind),
            cut(result.text, QUESTION),
        )
        for result in worst_first(report)
    ]
    if rows:
        yield from table([("ndcg@10", "rank", "lang", "kind", "question"), *rows])


def worst_first(report: EvalReport) -> list[QueryResult]:
    """The judged questions by how badly they went."""
    judged = [result for result in report.per_query if result.measures]
    return sorted(judged, key=lambda one: (one.measures["ndcg@10"], -(one.first or 1_000_000)))


def swept(report: SweepReport) -> Iterator[Line]:
    """All variants on the questions that chose, then the winner on those that did not."""
    held, tried = report.held_out, len(report.tried)
    yield line(
        (one_line(report.dataset), "bold"),
        f": {tried} variants tried on {report.questions} questions, {held.questions} others held out;"
        f" {report.knowledge_bases} knowledge base{'s' * (report.knowledge_bases > 1)}",
    )
    rows = [
        (
            f"{one.mean.mean:.4f}",
            f"{one.mean.low:.3f} to {one.mean.high:.3f}",
            "" if one.difference is None else difference(one.difference),
            "" if one.p is None else chance(one.p),
            f"{one.milliseconds:.1f}",
            one_line(one.name),
        )
        for one in report.tried
    ]
    heads = (report.metric, "95% interval", "minus baseline", "p, corrected", "ms", "variant")
    yield from table([heads, *rows], indent=2)
    yield line()
    yield line(("Chosen", "bold"), f": {one_line(report.chosen.name)}")
    yield line(verdict_on(report))


def verdict_on(report: SweepReport) -> str:
    """What a sweep has shown, in words."""
    held = report.held_out
    if not report.chosen.settings:
        return (
            f"Nothing tried was better than the baseline; on the {held.questions} questions held out it has"
            f" {interval(held.baseline)}."
        )
    shown = "better" if held.difference.low > 0 else "WORSE" if held.difference.high < 0 else "no difference shown"
    few = f" With {held.questions} questions little can be shown." if held.questions < FEW else ""
    return (
        f"On the {held.questions} questions held out it has {interval(held.winner)}, the baseline"
        f" {interval(held.baseline)}: {difference(held.difference)}, {shown}.{few}"
    )


def chosen_comment(report: SweepReport) -> str:
    """What stands above a preset that a sweep chose."""
    return (
        f"# Chosen by {report.metric} among {len(report.tried)} variants on {one_line(report.dataset)}:"
        f" {one_line(report.chosen.name)}.\n# {verdict_on(report)}\n"
    )


def comparison(compared: Comparison) -> Iterator[Line]:
    """Each measure of both, then the settings that differ, and the questions that changed most."""
    yield line(
        (one_line(compared.dataset), "bold"),
        f": {compared.questions:,} questions; a is {one_line(compared.a)}, b is {one_line(compared.b)};"
        f" p by paired {compared.test}",
    )
    rows = [
        (
            one.measure,
            f"{one.a.mean:.4f}",
            f"{one.b.mean:.4f}",
            difference(one.difference),
            chance(one.difference.p),
            f"{one.wins}/{one.losses}/{one.ties}",
            conclusion(one.difference),
        )
        for one in compared.measures
    ]
    yield from table([("measure", "a", "b", "b minus a", "p", "win/loss/tie", ""), *rows], indent=2)
    for title, changes in (("gains", compared.gains()), ("losses", compared.losses())):
        if changes:
            yield line()
            yield line((f"Largest {title}", "bold"), f" of b, by {compared.metric}")
            yield from table([("a", "b", "rank", "question"), *map(_change, changes)], indent=2)
    if compared.settings:
        yield line()
        rows = [(one.path, one_line(one.a) or "-", one_line(one.b) or "-") for one in compared.settings]
        yield from table([("setting", "a", "b"), *rows], indent=2)


def _change(change: Change) -> tuple[str, ...]:
    ranks = f"{rank(change.first_a)} to {rank(change.first_b)}"
    return f"{change.a:.3f}", f"{change.b:.3f}", ranks, cut(change.text, QUESTION)


def verdicts(verdicts: Sequence[Verdict], questions: int, margin: float) -> Iterator[Line]:
    """Each measure of a gate, and what it comes to."""
    rows = [
        (
            one.measure,
            f"{one.baseline.mean:.4f}",
            f"{one.now.mean:.4f}",
            difference(one.difference),
            "LOST" if one.lost else "held",
        )
        for one in verdicts
    ]
    yield from table([("measure", "baseline", "now", "difference", ""), *rows])
    if any(one.lost for one in verdicts):
        yield line(("lost", "bold red"), f": a significant fall by more than {margin:g} on {questions:,} questions")
    else:
        yield line(("held", "bold green"), f": no significant fall by more than {margin:g} on {questions:,} questions")


def interval(it: Interval) -> str:
    return f"{it.mean:.3f} ({it.low:.3f} to {it.high:.3f})"


def difference(it: Difference) -> str:
    return f"{it.mean:+.3f} ({it.low:+.3f} to {it.high:+.3f})"


def conclusion(it: Difference) -> str:
    """What an interval of a difference shows."""
    return "better" if it.low > 0 else "worse" if it.high < 0 else "no difference shown"


def chance(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}"


def rank(first: int | None) -> str:
    return "-" if first is None else str(first)
