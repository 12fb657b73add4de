"""Measurements: evaluations, sweeps, comparisons, gates, and a rebuild against the version in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from ragstone.core.printable import one_line
from ragstone.review.compare import Change, Comparison, GateResult, SettingDifference
from ragstone.review.report import EvalReport, QueryResult
from ragstone.review.significance import Difference, Interval
from ragstone.serve.views.blocks import (
    Bars,
    Block,
    Cell,
    Changes,
    Dot,
    Intervals,
    Row,
    Section,
    Source,
    Table,
    Tiles,
    count,
    cut,
    line,
    section,
    table,
)

if TYPE_CHECKING:
    from ragstone.engine.comparison import VersionComparison
    from ragstone.engine.experiments.drafting import Drafts
    from ragstone.engine.experiments.sweep import SweepReport, VariantResult

GROUPED = ("ndcg@10", "mrr@10", "recall@10")
"""Measures shown for each group of questions; ``--json`` has all."""
QUESTION = 90
"""Characters of a question that are shown."""
FEW = 30
"""Number of questions below which a mean says little."""
SHOWN_CHANGED = 10
"""Questions with a different answer that the comparison of a rebuild shows."""
ID = 70
"""Characters of a document id that are shown, from its end."""
_RANKS = (1, 2, 3, 4, 5, 10, 20)


# ---------------------------------------------------------------- drafted questions


def drafted(drafts: Drafts, file: str) -> Iterator[Block]:
    """Show how many questions were drafted, how, and what to do with them."""
    answerable = [one for one in drafts.questions if one.is_answerable]
    by = drafts.model or "rules"
    others = len(drafts.questions) - len(answerable)
    yield line(f"{file}: {count(len(answerable), 'question')}, and {others} without an answer, by {by}")
    if drafts.dropped:
        yield line(f"{count(drafts.dropped, 'draft')} of the model dropped: no exact evidence, or answered after all")
    yield line("Correct the file, for drafts share words with the documents; then run: ragstone eval run " + file)


# ---------------------------------------------------------------- evaluations


def evaluation(report: EvalReport) -> Iterator[Block]:
    """Show the means with their intervals, overall and by group, and the reliability of answers."""
    tiles = [(f"{it.mean:.3f}", name) for name, it in report.measures.items() if name in GROUPED]
    tiles.append((f"{report.milliseconds:.1f} ms", "per search, mean"))
    if report.answers:
        exact = report.answers.quotes_exact
        tiles.append((f"{exact.part:,} of {exact.whole:,}", "quotes exact"))
    yield Tiles(tiles=tuple(tiles))
    if report.measures:
        rows = [(name, f"{it.mean:.4f}", f"{it.low:.4f} to {it.high:.4f}") for name, it in report.measures.items()]
        dots = [dot(name, it, f"{it.mean:.3f} ({it.low:.3f}-{it.high:.3f})") for name, it in report.measures.items()]
        yield section(
            "Measures",
            table(("measure", "mean", "95% interval"), rows, numbers=(1,)),
            Intervals(label="mean and 95% interval of each measure", dots=tuple(dots)),
        )
        yield section("Rank of the first expected document", _ranks(report))
    yield from _groups(report)
    if answers := report.answers:
        shares = [
            (name, "-" if share.value is None else f"{share.value:.4f}", f"{share.part:,} of {share.whole:,}")
            for name, share in answers.shares().items()
        ]
        yield section(
            "Answers",
            table(("measure", "share", "count"), shares, numbers=(1, 2)),
            note=f"{count(answers.questions, 'question')}, {answers.abstained:,} abstained",
        )


def evaluated(report: EvalReport) -> str:
    """Return the size of an evaluation and the time of a search in words."""
    asked = f"{count(report.queries, 'question')}, {report.judged:,} judged"
    return f"{asked}; {report.milliseconds:.1f} ms per question"


def worst_first(report: EvalReport) -> list[QueryResult]:
    """Return the judged questions, the worst first."""
    judged = [result for result in report.per_query if result.measures]
    return sorted(judged, key=lambda one: (one.measures["ndcg@10"], -(one.first or 1_000_000)))


def questions(report: EvalReport) -> Section:
    """Show every judged question, the worst first, with the rank of the first expected document."""
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
    columns = ("ndcg@10", "rank", "lang", "kind", "question")
    return section("Questions", table(columns, rows, numbers=(0, 1)) if rows else None)


def failures(report: EvalReport, most: int) -> Section:
    """Show the failed questions, with the expected and the found documents."""
    failing = [one for one in worst_first(report) if one.measures["ndcg@10"] < 1]
    rows: list[Row] = []
    for result in failing[:most]:
        kinds = " · ".join(filter(None, (result.lang, result.kind)))
        instead = [id for id in result.found if id not in result.expected]
        rows.append(
            (
                f"{result.measures['ndcg@10']:.3f}",
                rank(result.first),
                ((cut(result.text, 300), ""), (f"\n{kinds}", "small")),
                ((ids(result.expected), ""), (f"\ninstead: {ids(instead)}" if instead else "", "small")),
            )
        )
    columns = ("ndcg@10", "rank", "question", "expected, and what ranks first instead")
    shown = f"The worst {len(rows)} of {count(len(failing), 'question')} with an imperfect result."
    return section("Failures", table(columns, rows, numbers=(0, 1)) if rows else None, note=shown if rows else "")


def settings(settings: Mapping[str, str]) -> Section:
    """Show the settings that were measured, folded."""
    rows: list[Row] = [((path, "code"), value) for path, value in settings.items()]
    return section("Settings", table(("setting", "value"), rows), closed=True)


def ids(ids: Sequence[str]) -> str:
    """Return the ends of the first three document ids, and the number of the others."""
    shown = ", ".join(id if len(id) <= ID else f"…{id[-ID:]}" for id in ids[:3])
    return shown + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")


def _ranks(report: EvalReport) -> Bars:
    firsts = [result.first for result in report.per_query if result.measures]
    counts: list[tuple[str, int]] = []
    below = 0
    for limit in _RANKS:
        name = str(limit) if limit == below + 1 else f"{below + 1}-{limit}"
        counts.append((name, sum(first is not None and below < first <= limit for first in firsts)))
        below = limit
    counts.append((f"over {below}", sum(first is not None and first > below for first in firsts)))
    counts.append(("not found", sum(first is None for first in firsts)))
    return Bars(label="questions by rank of the first expected document", counts=tuple(counts))


def _groups(report: EvalReport) -> Iterator[Block]:
    for by in dict.fromkeys(group.by for group in report.groups):
        groups = [group for group in report.groups if group.by == by]
        rows = [
            (one_line(group.name), f"{group.questions:,}", *(interval(group.measures[name]) for name in GROUPED))
            for group in groups
        ]
        dots = [dot(f"{group.name} ({group.questions})", group.measures[GROUPED[0]]) for group in groups]
        yield section(
            f"By {by}",
            table((by, "questions", *GROUPED), rows, numbers=(1, 2, 3, 4)),
            Intervals(label=f"{GROUPED[0]} by {by}", dots=tuple(dots)),
        )


# ---------------------------------------------------------------- sweeps


def sweep(report: SweepReport) -> Iterator[Block]:
    """Show all variants on the questions that chose, and the winner on the held-out ones."""
    held_out = report.held_out
    rows: list[Row] = [
        (
            (one_line(one.name), "code"),
            f"{one.mean.mean:.4f}",
            f"{one.mean.low:.3f} to {one.mean.high:.3f}",
            "" if one.difference is None else difference(one.difference),
            "" if one.p is None else chance(one.p),
            f"{one.milliseconds:.1f}",
        )
        for one in report.tried
    ]
    columns = ("variant", report.metric, "95% interval", "minus baseline", "p, corrected", "ms")
    dots = tuple(dot(_short(one), one.mean, style=one.difference or "even") for one in report.tried[:50])
    two = (
        dot("baseline", held_out.baseline, style="even"),
        dot("chosen", held_out.winner, style=held_out.difference),
    )
    yield section(
        "Variants",
        table(columns, rows, numbers=(1, 2, 3, 4, 5)),
        Intervals(label=f"{report.metric} of each variant on the questions that chose", dots=dots),
        note=f"on the {count(report.questions, 'question')} that chose",
    )
    yield section(
        "Chosen",
        line((one_line(report.chosen.name), "code")),
        line(verdict_on(report)),
        Intervals(label=f"{report.metric} of baseline and chosen on the held-out questions", dots=two),
    )


def swept(report: SweepReport) -> str:
    """Return the size of a sweep in words."""
    tried = f"{count(len(report.tried), 'variant')} on {count(report.questions, 'question')}"
    return f"{tried}, {report.held_out.questions} held out; {count(report.knowledge_bases, 'knowledge base')}"


def preset(report: SweepReport) -> Section:
    """Show the chosen settings as a preset."""
    return section("The chosen settings as a preset", Source(text=report.preset))


def verdict_on(report: SweepReport) -> str:
    """Return the result of a sweep, in words."""
    held_out = report.held_out
    on = f"on the {count(held_out.questions, 'held-out question')}"
    if not report.chosen.settings:
        return f"No variant was better than the baseline, which has {interval(held_out.baseline)} {on}."
    shown = {"better": "better", "worse": "WORSE"}.get(conclusion(held_out.difference), "no difference shown")
    few = f" {count(held_out.questions, 'question')} can show little." if held_out.questions < FEW else ""
    return (
        f"It has {interval(held_out.winner)} {on}, the baseline {interval(held_out.baseline)}:"
        f" {difference(held_out.difference)}, {shown}.{few}"
    )


def _short(tried: VariantResult) -> str:
    """Return the settings without their sections, to save room in a plot."""
    return " ".join(setting.partition(".")[2] or setting for setting in tried.settings) or tried.name


# ---------------------------------------------------------------- comparisons


def comparison(compared: Comparison, *, most: int = 10) -> Iterator[Block]:
    """Show each measure of both sides, the settings that differ, and the questions that changed most."""
    dots = [
        dot(
            one.measure,
            one.difference,
            f"{one.difference.mean:+.3f}, p {chance(one.difference.p)}",
            style=one.difference,
        )
        for one in compared.measures
    ]
    yield section(
        "b minus a",
        measures(compared, ("a", "b")),
        Intervals(label="difference of each measure with its 95% interval", dots=tuple(dots), zero=True),
    )
    changes = tuple(change.b - change.a for change in compared.changed)
    if changes:
        label = f"change of {compared.metric}, question by question"
        yield section(f"Questions whose {compared.metric} changed", Changes(label=label, values=changes))
    for title, largest in (("gains", compared.gains(most)), ("losses", compared.losses(most))):
        if largest:
            rows = map(_change, largest)
            columns = ("a", "b", "rank", "question")
            yield section(
                f"Largest {title} of b", table(columns, rows, numbers=(0, 1, 2)), note=f"by {compared.metric}"
            )
    if compared.settings:
        yield section("Settings that differ", differing(compared.settings, ("a", "b")))


def compared(compared: Comparison) -> str:
    """Return the two sides of a comparison, in words."""
    sides = f"a is {one_line(compared.a)}, b is {one_line(compared.b)}"
    return f"{count(compared.questions, 'question')}; {sides}; p by paired {compared.test}"


def measures(compared: Comparison, names: tuple[str, str]) -> Table:
    """Show every measure of both sides, and the verdict on their difference."""
    a, b = names
    rows = [
        (
            one.measure,
            f"{one.a.mean:.4f}",
            f"{one.b.mean:.4f}",
            difference(one.difference),
            chance(one.difference.p),
            f"{one.wins}/{one.losses}/{one.ties}",
            _concluded(one.difference),
        )
        for one in compared.measures
    ]
    return table(("measure", a, b, f"{b} minus {a}", "p", "win/loss/tie", ""), rows, numbers=range(1, 6))


def differing(settings: Sequence[SettingDifference], names: tuple[str, str]) -> Table:
    """Show the settings that differ."""
    return table(
        ("setting", *names), [((one.path, "code"), one_line(one.a) or "-", one_line(one.b) or "-") for one in settings]
    )


def verdicts(verdicts: Sequence[GateResult], questions: int, margin: float) -> Iterator[Block]:
    """Show each measure of a gate, and the result."""
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
    yield table(("measure", "baseline", "now", "difference", ""), rows, numbers=(1, 2, 3))
    on = f"by more than {margin:g} on {count(questions, 'question')}"
    if any(one.lost for one in verdicts):
        yield line(("lost", "bold red"), f": a significant drop {on}")
    else:
        yield line(("held", "bold green"), f": no significant drop {on}")


def _change(change: Change) -> tuple[str, ...]:
    ranks = f"{rank(change.first_a)} to {rank(change.first_b)}"
    return f"{change.a:.3f}", f"{change.b:.3f}", ranks, cut(change.text, QUESTION)


def versions(compared: VersionComparison) -> Iterator[Block]:
    """Show the version in use and the rebuilt one side by side, and the questions whose answers changed most."""
    old, new = compared.before, compared.after
    rows = [
        ("chunks", f"{old.chunks:,}", f"{new.chunks:,}", ""),
        ("megabytes", f"{old.megabytes:,.2f}", f"{new.megabytes:,.2f}", ""),
    ]
    if asked := compared.asked or compared.judged:
        rows.append(("seconds per question", f"{old.seconds:.3f}", f"{new.seconds:.3f}", ""))
    for name, it in compared.differences.items():
        note = f"{difference(it)}, p {chance(it.p)}, {count(compared.judged, 'question')}"
        rows.append((name, f"{old.measures[name]:.4f}", f"{new.measures[name]:.4f}", note))
    yield table(("", "old", "new", ""), rows, numbers=(1, 2), indent=2)
    if not asked:
        yield line("there are no questions to compare on; name some with --compare DATASET", indent=2)
        return
    yield line(f"{compared.overlap:.0%} of the old version's five best chunks overlap one of the new five", indent=2)
    if compared.asked:
        changed = sorted((one for one in compared.asked if one.changed), key=lambda one: one.overlap)
        whole = count(len(compared.asked), "answer")
        yield line(f"{len(changed):,} of {whole} changed", indent=2)
        if changed:
            shown = [
                (f"{one.overlap:.0%}", f"{one.before:.2f}", f"{one.after:.2f}", cut(one.question, QUESTION))
                for one in changed[:SHOWN_CHANGED]
            ]
            columns = ("same", "confidence old", "new", "question")
            yield table(columns, shown, numbers=(0, 1, 2), indent=2)


# ---------------------------------------------------------------- figures


def dot(
    label: str,
    it: Interval | Difference,
    figures: str = "",
    style: Difference | Literal["dot", "even"] = "dot",
) -> Dot:
    """Return a row of a plot; a difference as ``style`` colours it by what it shows."""
    if isinstance(style, Difference):
        shown = conclusion(style)
        colour = "up" if shown == "better" else "down" if shown == "worse" else "dot"
    else:
        colour = style
    figures = figures or f"{it.mean:.3f}"
    return Dot(label=label, mean=it.mean, low=it.low, high=it.high, figures=figures, style=colour)


def interval(it: Interval) -> str:
    return f"{it.mean:.3f} ({it.low:.3f} to {it.high:.3f})"


def difference(it: Difference) -> str:
    return f"{it.mean:+.3f} ({it.low:+.3f} to {it.high:+.3f})"


def conclusion(it: Difference) -> str:
    """Return the verdict on a difference from its interval."""
    return "better" if it.low > 0 else "worse" if it.high < 0 else "no difference shown"


def chance(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}"


def rank(first: int | None) -> str:
    return "-" if first is None else str(first)


def _concluded(it: Difference) -> Cell:
    text = conclusion(it)
    return (text, "green" if text == "better" else "red" if text == "worse" else "")
