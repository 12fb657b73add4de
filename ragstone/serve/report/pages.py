"""The pages: what was measured, what a sweep tried, how two compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragstone.experiment import SweepReport, Tried
from ragstone.review.compare import Change, Comparison
from ragstone.review.report import EvalReport, QueryResult
from ragstone.review.significance import Difference
from ragstone.serve.render import cut
from ragstone.serve.render_measured import (
    GROUPED,
    chance,
    conclusion,
    difference,
    interval,
    rank,
    verdict_on,
    worst_first,
)
from ragstone.serve.report.markup import Content, Markup, page, preformatted, table, tag
from ragstone.serve.report.plots import Row, bars, intervals, waterfall

WORST = 50
"""Questions listed one by one."""
ID = 70
"""Characters of a document's id that are shown, from its end."""
_RANKS = (1, 2, 3, 4, 5, 10, 20)


def evaluation_page(report: EvalReport) -> str:
    """A report: the measures, where the expected documents stand, groups, answers, and the questions that fail."""
    tiles = [(f"{it.mean:.3f}", name) for name, it in report.measures.items() if name in GROUPED]
    tiles += [(f"{report.milliseconds:.1f} ms", "a search, on average")]
    if report.answers:
        exact = report.answers.quotes_exact
        tiles += [(f"{exact.part:,} of {exact.whole:,}", "quotes exact")]
    return page(
        f"{report.dataset}: how good is it?",
        f"{report.queries:,} questions, {report.judged:,} of them with documents expected. Measured {report.measured}.",
        _tiles(tiles),
        _measures(report),
        _ranks(report),
        _groups(report),
        _answers(report),
        _worst(report),
        _settings(report.settings),
    )


def sweep_page(report: SweepReport) -> str:
    """A sweep: what was tried, and what the choice is worth on the questions held out."""
    held, chosen = report.held_out, report.chosen
    rows = [Row.of(_short(one), one.mean, style=_style(one.difference)) for one in report.tried[:WORST]]
    tried = [
        [
            tag("code", one.name),
            f"{one.mean.mean:.4f}",
            f"{one.mean.low:.3f} to {one.mean.high:.3f}",
            "" if one.difference is None else difference(one.difference),
            "" if one.p is None else chance(one.p),
            f"{one.milliseconds:.1f}",
        ]
        for one in report.tried
    ]
    two = [
        Row.of("baseline", held.baseline, style="even"),
        Row.of("chosen", held.winner, style=_style(held.difference)),
    ]
    columns = ["variant", report.metric, "95% interval", "minus baseline", "p, corrected", "ms"]
    return page(
        f"{report.dataset}: {len(report.tried)} variants",
        f"Chosen by {report.metric} on {report.questions} questions; shown on {held.questions} others.",
        _section(
            "What the choice is worth",
            tag("p", "Chosen: ", tag("code", chosen.name), "."),
            tag("p", verdict_on(report)),
            intervals(two, label=f"{report.metric} of baseline and chosen on the questions held out"),
            tag("p", _WHY_HELD_OUT, at={"class": "note"}),
        ),
        _section(
            f"{report.metric} on the questions that chose",
            intervals(rows, label=f"{report.metric} of each variant with its 95% interval"),
        ),
        _section(
            "All variants",
            table(columns, tried, numbers=(1, 2, 3, 4, 5)),
            tag("p", _WHAT_P_IS, at={"class": "note"}),
        ),
        _section("The chosen settings as a preset", preformatted(report.preset)),
        _settings(report.winner.settings),
    )


def comparison_page(compared: Comparison) -> str:
    """A comparison: every measure, how many questions changed, and which changed most."""
    rows = [
        Row.of(
            one.measure,
            one.difference,
            f"{one.difference.mean:+.3f}, p {chance(one.difference.p)}",
            _style(one.difference),
        )
        for one in compared.measures
    ]
    body = [
        [
            one.measure,
            f"{one.a.mean:.4f}",
            f"{one.b.mean:.4f}",
            difference(one.difference),
            chance(one.difference.p),
            f"{one.wins} / {one.losses} / {one.ties}",
            _concluded(one.difference),
        ]
        for one in compared.measures
    ]
    columns = ["measure", "a", "b", "b minus a", "p", "win / loss / tie", ""]
    changes = [change.b - change.a for change in compared.changed]
    return page(
        f"{compared.dataset}: b against a",
        f"a is {compared.a}, b is {compared.b}; {compared.questions:,} questions, paired {compared.test}.",
        _section(
            "b minus a",
            intervals(rows, label="difference of each measure with its 95% interval", zero=True),
            table(columns, body, numbers=(1, 2, 3, 4, 5)),
        ),
        _section(
            f"Questions whose {compared.metric} changed",
            waterfall(changes, label=f"change of {compared.metric}, question by question") if changes else "None.",
        ),
        _changes(f"Largest gains of b, by {compared.metric}", compared.gains(WORST)),
        _changes(f"Largest losses of b, by {compared.metric}", compared.losses(WORST)),
        _section(
            "Settings that differ",
            table(
                ["setting", "a", "b"],
                [[tag("code", one.path), one.a or "-", one.b or "-"] for one in compared.settings],
            ),
        )
        if compared.settings
        else "",
    )


_WHY_HELD_OUT = (
    "The best of many variants looks better than it is on the questions it was chosen on. Only the baseline and the"
    " chosen variant were run on these."
)
_WHAT_P_IS = (
    "p is corrected for the number of variants (Holm). ms is what the search of a question took; what was remembered"
    " from another variant is counted as if it had been done again."
)


def _measures(report: EvalReport) -> Markup | str:
    if not report.measures:
        return ""
    rows = [Row.of(name, it, f"{it.mean:.3f} ({it.low:.3f}-{it.high:.3f})") for name, it in report.measures.items()]
    return _section("Measures, with 95% intervals", intervals(rows, label="mean and interval of each measure"))


def _ranks(report: EvalReport) -> Markup | str:
    firsts = [result.first for result in report.per_query if result.measures]
    if not firsts:
        return ""
    counts, below = [], 0
    for limit in _RANKS:
        name = str(limit) if limit == below + 1 else f"{below + 1}-{limit}"
        counts.append((name, sum(first is not None and below < first <= limit for first in firsts)))
        below = limit
    counts.append((f"over {below}", sum(first is not None and first > below for first in firsts)))
    counts.append(("not found", sum(first is None for first in firsts)))
    return _section("Rank of the first document expected", bars(counts, label="questions by rank"))


def _groups(report: EvalReport) -> Iterable[Markup]:
    for by in dict.fromkeys(group.by for group in report.groups):
        groups = [group for group in report.groups if group.by == by]
        measure = GROUPED[0]
        rows = [Row.of(f"{group.name} ({group.questions})", group.measures[measure]) for group in groups]
        body = [
            [group.name, f"{group.questions:,}", *(interval(group.measures[name]) for name in GROUPED)]
            for group in groups
        ]
        yield _section(
            f"By {by}",
            intervals(rows, label=f"{measure} by {by}"),
            table([by, "questions", *GROUPED], body, numbers=(1, 2, 3, 4)),
        )


def _answers(report: EvalReport) -> Markup | str:
    if report.answers is None:
        return ""
    rows = [
        [name, "-" if share.value is None else f"{share.value:.3f}", f"{share.part:,} of {share.whole:,}"]
        for name, share in report.answers.shares().items()
    ]
    said = f"{report.answers.questions:,} questions asked, {report.answers.abstained:,} not answered."
    return _section("Answers", tag("p", said), table(["measure", "share", "count"], rows, numbers=(1, 2)))


def _worst(report: EvalReport) -> Markup | str:
    failing = [one for one in worst_first(report) if one.measures[GROUPED[0]] < 1]
    if not failing:
        return ""
    columns = [GROUPED[0], "rank", "question", "expected, and what stands first instead"]
    shown = f"The worst {min(WORST, len(failing))} of {len(failing)} questions that are not answered perfectly."
    return _section(
        "Questions to look at", tag("p", shown), table(columns, map(_failing, failing[:WORST]), numbers=(0, 1))
    )


def _failing(result: QueryResult) -> Sequence[Content]:
    kinds = " · ".join(filter(None, (result.lang, result.kind)))
    instead = [id for id in result.found if id not in result.expected]
    return (
        f"{result.measures[GROUPED[0]]:.3f}",
        rank(result.first),
        [cut(result.text, 300), tag("br"), tag("small", kinds)],
        [_ids(result.expected, ""), tag("br"), tag("small", _ids(instead, "instead: ") if instead else "")],
    )


def _ids(ids: Sequence[str], before: str) -> str:
    shown = ", ".join(id if len(id) <= ID else f"…{id[-ID:]}" for id in ids[:3])
    return before + shown + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")


def _changes(title: str, changes: Sequence[Change]) -> Markup | str:
    if not changes:
        return ""
    rows = [
        [f"{one.a:.3f}", f"{one.b:.3f}", f"{rank(one.first_a)} to {rank(one.first_b)}", cut(one.text, 300)]
        for one in changes
    ]
    return _section(title, table(["a", "b", "rank", "question"], rows, numbers=(0, 1, 2)))


def _settings(settings: Mapping[str, str]) -> Markup | str:
    if not settings:
        return ""
    rows = [[tag("code", path), value] for path, value in settings.items()]
    return _section("Settings", tag("details", tag("summary", "All settings"), table(["setting", "value"], rows)))


def _short(tried: Tried) -> str:
    """Its settings without their sections: a plot has little room."""
    return " ".join(setting.partition(".")[2] or setting for setting in tried.settings) or tried.name


def _section(title: str, *content: Content) -> Markup:
    return tag("section", tag("h2", title), *content)


def _tiles(tiles: Iterable[tuple[str, str]]) -> Markup:
    return tag(
        "div",
        [tag("div", tag("b", value), tag("span", name), at={"class": "tile"}) for value, name in tiles],
        at={"class": "tiles"},
    )


def _style(it: Difference | None) -> str:
    if it is None:
        return "even"
    return "up" if it.low > 0 else "down" if it.high < 0 else "dot"


def _concluded(it: Difference) -> Content:
    style = {"better": "good", "worse": "bad"}.get(conclusion(it))
    return tag("span", conclusion(it), at={"class": style}) if style else conclusion(it)
