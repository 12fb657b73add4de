"""Questions on the documents of the demonstration: how many of each kind get what they should.

A question is right if its answer has the words that it should have, or, where the documents do not answer it, if it
gets no answer.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from benchmarks.common import Options, Result, Table, main
from ragstone import AsyncRagstone
from ragstone.settings.yaml_text import read_yaml

DOCUMENTS = Path(__file__).parent.parent / "examples" / "alderwren"
QUESTIONS = Path(__file__).with_suffix(".yaml")
QUICK_EVERY = 5


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question, its kind, and words that its answer has; none if the documents do not answer it."""

    kind: str
    question: str
    has: str = ""


async def measure(options: Options) -> Result:
    asked = TypeAdapter(list[Asked]).validate_python(read_yaml(QUESTIONS.read_text(encoding="utf-8")))
    outcomes = dict[str, Counter[str]]()
    with TemporaryDirectory() as folder:
        async with AsyncRagstone(folder) as kb:
            await kb.add(DOCUMENTS)
            for one in asked[:: QUICK_EVERY if options.quick else 1]:
                answer = await kb.ask(one.question)
                answered = answer.outcome == "answer"
                is_right = answered and one.has in answer.answer if one.has else not answered
                counts = outcomes.setdefault(one.kind, Counter())
                counts.update([answer.outcome, *(["right"] if is_right else [])])
    columns = ["right", "answer", "closest", "refusal"]
    rows = [[kind, *(str(counts[name]) for name in columns)] for kind, counts in outcomes.items()]
    return Result(
        tables=[Table(title="questions on the demonstration", columns=["kind", *columns], rows=rows)],
        figures={kind: counts["right"] for kind, counts in outcomes.items()},
    )


if __name__ == "__main__":
    main({"demonstration": measure}, "demonstration")
