"""What each rule of reading gains: the right and wrong answers with and without it, on public questions.

The gain of a rule is the right answers more and the wrong ones fewer, of 100 questions. A rule that gains less than
half a point on sets that nobody wrote it for should go, unless other documents need it and it costs nothing here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest.mock import patch

from benchmarks.common import Options, Result, Table, main, progress
from benchmarks.question_sets import is_there
from benchmarks.recorded import Found, Recorded, recorded
from ragstone.core.question import Question
from ragstone.core.request import Request
from ragstone.respond.drafts import drafted
from ragstone.respond.quoting import rules
from ragstone.respond.quoting.extractive import ExtractiveAnswerer
from ragstone.respond.requirements.unmet import MEETS
from ragstone.settings import RespondSettings

SETS = ("written", "clapnq", "xquad en", "xquad de", "covidqa", "qed_nq_dev", "mtrag_un", "covid_faq_kb", "lt_faq")
QUICK_SETS = ("written", "clapnq")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a rule does to the questions of a set: how many it applies to, right answers more, wrong answers more."""

    applies: int = 0
    right: int = 0
    wrong: int = 0

    def __add__(self, other: Change) -> Change:
        return Change(
            applies=self.applies + other.applies, right=self.right + other.right, wrong=self.wrong + other.wrong
        )


NAMES = (*(rule.name for rule in rules.RULES), *MEETS)
"""The rules, and the kinds of what a passage must have."""


async def measure(options: Options) -> Result:
    """Measure each rule on each set."""
    assert options.data is not None
    total = {name: Change() for name in NAMES}
    cases = 0
    base = Counter[str]()
    for source in QUICK_SETS if options.quick else SETS:
        if not is_there(options.data, source):
            continue
        record = await recorded(options.data, options.keep, source, options.embedders[0])
        outcomes, changes = await changed(record)
        cases, base = cases + outcomes.total(), base + outcomes
        total = {name: total[name] + changes[name] for name in NAMES}
        progress(f"rules: {source}: {dict(outcomes)}")
    rows = [
        [name, str(one.applies), f"{one.right:+d}", f"{one.wrong:+d}", f"{gain(one, cases):+.2f}"]
        for name, one in total.items()
    ]
    table = Table(
        title=f"what each rule changes, of {cases} questions: {base['right']} right, {base['wrong']} wrong",
        columns=["rule", "applies to", "right", "wrong", "gain"],
        rows=rows,
    )
    return Result(tables=[table], figures={name: gain(one, cases) for name, one in total.items()})


def gain(one: Change, cases: int) -> float:
    return round(100 * (one.right - one.wrong) / max(cases, 1), 2)


async def changed(record: Recorded) -> tuple[Counter[str], dict[str, Change]]:
    """Return the outcomes of the questions of a set, and what each rule changes."""
    answerer = record.answerer(RespondSettings())
    found = [*record.cases(without=all(one.asked.answerable for one in record.found))]
    with_all = [await _outcome(answerer, one, one.evidence.question) for one in found]
    changes: dict[str, Change] = {}
    for name in NAMES:
        some = [n for n, one in enumerate(found) if _applies(name, one.evidence.question)]
        with _without(name):
            answerer = record.answerer(RespondSettings())
            others = [await _outcome(answerer, found[n], _lacking(name, found[n].evidence.question)) for n in some]
        more, fewer = Counter(with_all[n] for n in some), Counter(others)
        changes[name] = Change(
            applies=len(some), right=more["right"] - fewer["right"], wrong=more["wrong"] - fewer["wrong"]
        )
    return Counter(with_all), changes


def _applies(name: str, question: Question) -> bool:
    return any(rule.name == name and rule.applies(question) for rule in rules.RULES) or any(
        one.kind == name for one in question.must_have
    )


@contextmanager
def _without(name: str) -> Generator[None]:
    with patch.object(rules, "RULES", tuple(rule for rule in rules.RULES if rule.name != name)):
        yield


def _lacking(name: str, question: Question) -> Question:
    """Return the question without what it fixes of a kind."""
    kept: Sequence[object] = [one for one in question.requirements if one.kind != name]
    return question if len(kept) == len(question.requirements) else replace(question, requirements=tuple(kept))  # pyright: ignore


async def _outcome(answerer: ExtractiveAnswerer, found: Found, question: Question) -> str:
    evidence = replace(found.evidence, question=question)
    draft = await drafted(answerer, evidence, Request.by_owner())
    if draft.abstained:
        return "refused"
    return "right" if found.answerable and found.asked.is_answered_by(draft.citations) else "wrong"


if __name__ == "__main__":
    main({"rules": measure}, "rules")
