"""What to do next for a question: a protocol, and the planner that needs no language model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Protocol

from ragstone.core.frozen import frozen
from ragstone.core.question import PERIODS, Question
from ragstone.core.request import Request
from ragstone.core.research import STOP, Action
from ragstone.engine.research.notes import Notes

BARREN = 3
"""Actions in a row without a new passage, after which nothing more is expected."""


@frozen
class Planned:
    """The next action; ``by_model`` says who planned it, ``note`` what was wrong with a reply."""

    action: Action
    by_model: bool = False
    note: str = ""


class Planner(Protocol):
    """Decides what to do next."""

    async def next(self, notes: Notes, request: Request) -> Planned:
        """Return the next action, which was not taken before, or a stop."""
        ...


class RulePlanner:
    """Follows the parts of a question, its periods, and the names in the passages that answer together.

    A question that one passage may answer is searched once.
    """

    async def next(self, notes: Notes, request: Request) -> Planned:  # noqa: ARG002
        """Return the first action that was not taken; a stop if none is left or the last ones gave nothing."""
        last = notes.taken[-BARREN:]
        if len(last) == BARREN and not any(one.new for one in last):
            return Planned(action=STOP)
        done = notes.notebook()
        return Planned(action=next((one for one in _proposed(notes) if not done.has_done(one)), STOP))


def _proposed(notes: Notes) -> Iterator[Action]:
    """Yield what may be done, the most promising first."""
    text = notes.question.wording.text
    yield Action(kind="search", text=text)
    for part in notes.absent():
        yield Action(kind="search", text=part.question)
    for one in _by_period(notes.question):
        yield Action(kind="search", text=one)
    if not notes.needs_more():
        return
    for name in notes.names():
        yield Action(kind="name", text=name)
    if unanswered := " ".join(notes.open()):
        for hit, chosen in notes.together():
            if chosen.link and hit.chunk.title:
                yield Action(kind="search", text=f"{hit.chunk.title} {unanswered}")


def _by_period(question: Question) -> Iterator[str]:
    """Yield a question that names several periods as one question for each: "in 2021 and 2022"."""
    text, named = question.wording.typed, [one for one in question.requirements if one.kind in PERIODS and one.text]
    by_kind = {kind: [*some] for kind, some in groupby(named, key=lambda one: one.kind)}
    for several in by_kind.values():
        texts = list(dict.fromkeys(one.text for one in several))
        for own in texts if len(texts) > 1 else ():
            others = (one for one in texts if one != own)
            rest = text
            for other in others:
                rest = rest.replace(other, "")
            yield " ".join(rest.split())
