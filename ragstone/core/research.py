"""The records of research: how much effort a question is worth, what is done for it, and what was learnt.

Research is one loop. A planner names an action, the action is done, the notebook grows, until the budget or the open
points end. `ActionTaken` reports each action while it runs, and the answer is written from the notebook.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

from ragstone.core.answers import Citation, Event
from ragstone.core.frozen import frozen
from ragstone.core.question import Question
from ragstone.core.records import Hit

Effort = Literal["quick", "thorough", "research"]
"""How much work a question is worth: one search, a few more, or as many as lead on."""
EFFORTS: tuple[Effort, ...] = get_args(Effort)

ActionKind = Literal["search", "document", "name", "read", "list", "tool", "stop"]
"""What can be done next: ``search`` for words; search in one ``document``; look up passages with a ``name``; ``read``
the passages around one; ``list`` the documents that fit; ask a ``tool`` outside; ``stop``."""
ACTIONS: tuple[ActionKind, ...] = get_args(ActionKind)


@frozen
class Budget:
    """The limits of one question: actions, calls of language models, their tokens, seconds, and money.

    ``money`` is in the currency of the price list; None for no limit.
    """

    actions: int
    calls: int
    tokens: int
    seconds: float
    money: float | None = None


LEVELS: Mapping[Effort, Budget] = {
    "quick": Budget(actions=1, calls=4, tokens=16_000, seconds=120),
    "thorough": Budget(actions=12, calls=8, tokens=32_000, seconds=180),
    "research": Budget(actions=40, calls=40, tokens=120_000, seconds=600),
}
"""The budget of each effort if none is given."""


def budget_of(
    effort: Effort,
    *,
    seconds: float | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    money: float | None = None,
) -> Budget:
    """Return the budget of an effort, with the limits that are given in place of its own."""
    given = {"seconds": seconds, "calls": calls, "tokens": tokens, "money": money}
    return replace(LEVELS[effort], **{name: value for name, value in given.items() if value is not None})


@frozen
class Action:
    """One thing to do: its kind, the words to look for, and the id of a document or name of a tool, if it needs one."""

    kind: ActionKind
    text: str = ""
    document: str = ""
    tool: str = ""

    def __str__(self) -> str:
        within = f" in {self.document}" if self.document else f" {self.tool}" if self.tool else ""
        return f"{self.kind}{within}: {self.text}" if self.text else f"{self.kind}{within}"


STOP = Action(kind="stop")


@frozen
class Forecast:
    """What a question is expected to cost, and its limits; the first event of research.

    ``cost`` is in the currency of the price list; None if a price is unknown.
    """

    effort: Effort
    actions: int
    calls: int
    tokens: int
    cost: float | None
    budget: Budget


@frozen
class ActionTaken:
    """An action that was taken: how many new passages it gave, the titles of some, and what is still open.

    ``by_model`` says that a language model planned it; ``note`` says what went wrong.
    """

    action: Action
    new: int
    titles: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    by_model: bool = False
    note: str = ""


@frozen
class Item:
    """A document or row of a list, the words for which it is listed, and the probability, 0 to 1, that it fits."""

    document_id: str
    title: str
    date: str
    citation: Citation
    probability: float


@frozen
class ItemList:
    """A list of documents: ``expected`` is the estimated number of all that fit, at least the number of ``items``.

    ``examined`` counts the documents that were decided one by one. ``is_complete`` says that these are all that have a
    word of the subject. If ``are_rows``, the items are rows of a table, and all of its rows were examined.
    """

    wanted: str
    items: tuple[Item, ...]
    examined: int
    expected: float
    is_complete: bool
    are_rows: bool = False


@frozen
class Aspect:
    """A row of a comparison: what each of the things has of an aspect, in their order; None where nothing was found."""

    name: str
    cells: tuple[Citation | None, ...]


@frozen
class Compared:
    """Things side by side, in the order of the question; ``probability``, 0 to 1, is that of the least sure cell.

    ``unsearched`` is the number of cells that were left empty because the budget ended.
    """

    things: tuple[str, ...]
    aspects: tuple[Aspect, ...]
    probability: float
    unsearched: int = 0

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of all cells, in the order of their markers."""
        return tuple(cell for aspect in self.aspects for cell in aspect.cells if cell)


@frozen
class Notebook:
    """What is known of a question: the passages that were read, best first, what was done, and what is open.

    ``open`` has words of the question that no passage has. A list or a comparison is in ``items`` or ``compared``.
    """

    question: Question
    hits: tuple[Hit, ...] = ()
    taken: tuple[ActionTaken, ...] = ()
    open: tuple[str, ...] = ()
    items: ItemList | None = None
    compared: Compared | None = None

    def has_done(self, action: Action) -> bool:
        """Return whether an action was taken, in any case of its letters."""
        key = (action.kind, action.text.casefold(), action.document)
        return any(key == (one.action.kind, one.action.text.casefold(), one.action.document) for one in self.taken)


@frozen
class Researched:
    """The notebooks of a question, one for each of its parts, before the answer is written from them."""

    notebooks: tuple[Notebook, ...]


ResearchEvent = Forecast | ActionTaken | Researched | Event
"""An event of research: a forecast, actions, the notebooks, and the events of the answer, in this order."""
