"""Questions about the rows of small tables, made by rule.

A row is asked for in other words than its label; a table of the same kind that lacks the row does not answer. So only
reading the table tells. The rows, their order, the values, a third column and the text around, which has older figures,
are drawn at random. ``rows.txt`` has the topics: below a line with the titles, headings and names of the first two
columns of such tables, a line for each row with its labels, the kind of its value, and questions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.pairs import Pair

SOURCE = "rows"
TABLES = {"train": 700, "valid": 60}
LEAST, MOST, ASKED = 3, 10, 4
"""Rows of a table, and the questions about rows that it has, and about rows that it lacks."""
KEPT_BACK = 7
"""Every such row is in tables of the other split, with its questions."""
_TOPICS = Path(__file__).with_name("rows.txt")
_PEOPLE = ("Ada Brook", "Tom Ives", "M. Reyes", "Priya Nandi", "J. Hollis", "Ruth Oke", "Sven Dahl", "C. Amato")
_MONTHS = ("Jan", "Feb", "March", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec")
_ACTIONS = (
    "press Stop for 5 s", "close the door and start again", "clean the filter", "call service", "switch off for 10 min",
    "top up water to 1.5 bar", "check the plug", "replace the belt", "wait until it has cooled", "update to 4.2",
)  # fmt: skip
_NOTES = ("", "", "with receipt", "see 3.2", "from 1 March", "ask first", "per person", "new", "max. twice")
_WHEN = ("", "", "Valid from 1 January 2025.", "State: 3 September 2024.", "Approved by the board in May.")


@dataclass(frozen=True, slots=True)
class Row:
    """A row as several tables may have it: its labels, the kind of its value, and questions that it answers."""

    labels: tuple[str, ...]
    kind: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """Rows that stand in one table, and its titles, headings, and names of the first and of the second column."""

    titles: tuple[str, ...]
    headings: tuple[str, ...]
    firsts: tuple[str, ...]
    seconds: tuple[str, ...]
    rows: tuple[Row, ...]


def topics() -> list[Topic]:
    """Return the topics."""
    out = list[Topic]()
    for block in _TOPICS.read_text(encoding="utf-8").split("\n\n"):
        head, *lines = block.strip().removeprefix("# ").split("\n")
        named = [_several(part) for part in head.split("|")]
        parts = [line.split("|") for line in lines]
        rows = tuple(Row(_several(labels), kind.strip(), _several(asked)) for labels, kind, asked in parts)
        out.append(Topic(named[0], named[1], named[2], named[3], rows))
    return out


def _several(part: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in part.split(";"))


def made(split: str, seed: int = 1) -> Iterator[Pair]:
    """Yield pairs of a question and a table."""
    chance, some = random.Random(f"{seed} {split}"), topics()
    for _ in range(TABLES[split]):
        topic = chance.choice(some)
        rows = [one for n, one in enumerate(topic.rows) if (n % KEPT_BACK == KEPT_BACK // 2) == (split == "valid")]
        yield from _asked(topic, rows, chance)


def _asked(topic: Topic, rows: Sequence[Row], chance: random.Random) -> Iterator[Pair]:
    """Yield questions about a table: of the rows that it has, and of those that it lacks."""
    some = chance.sample(rows, min(chance.randint(LEAST, MOST), max(1, len(rows) - 2)))
    values = [VALUES[one.kind](chance) for one in some]
    text, places = _table(topic, some, values, chance)
    sentences = places
    if chance.random() < 0.3:
        old = chance.choice(some)
        said = f"Until 2023 the figure for {old.labels[0]} was {VALUES[old.kind](chance)}."
        sentences = [*places, (len(text) + 1, len(text) + 1 + len(said))]
        text = f"{text}\n{said}"
    for n in chance.sample(range(len(some)), min(ASKED, len(some))):
        start = text.index(values[n], places[n][0])
        yield Pair(
            first=_typed(some[n], chance),
            second=text,
            source=SOURCE,
            answers=1.0,
            evidence=(places[n],),
            sentences=tuple(sentences),
            answer=(start, start + len(values[n])),
        )
    lacking = [one for one in rows if one not in some]
    for row in chance.sample(lacking, min(ASKED, len(lacking))):
        yield Pair(
            first=_typed(row, chance),
            second=text,
            source=SOURCE,
            answers=0.0,
            evidence=(),
            sentences=tuple(sentences),
        )


def _table(
    topic: Topic, rows: Sequence[Row], values: Sequence[str], chance: random.Random
) -> tuple[str, list[tuple[int, int]]]:
    """Return a table below its title and heading, as a chunk has it, and the characters of each row."""
    title, has_bars, has_notes = chance.choice(topic.titles), chance.random() < 0.6, chance.random() < 0.4

    def line(*cells: str) -> str:
        return f"| {' | '.join(cells)} |" if has_bars else " | ".join(cells)

    notes = [(chance.choice(_NOTES),) if has_notes else () for _ in rows]
    lines = [
        line(chance.choice(row.labels), value, *note) for row, value, note in zip(rows, values, notes, strict=True)
    ]
    columns = [chance.choice(topic.firsts), chance.choice(topic.seconds), *(["Note"] if has_notes else [])]
    name, heading = chance.choice([title.lower().replace(" ", "-"), ""]), chance.choice(topic.headings)
    above = [name, title, f"{title} > {heading}", chance.choice(_WHEN), line(*columns)]
    above += [f"|{'---|' * len(columns)}"] if has_bars else []
    text = "\n".join(one for one in above if one)
    places = list[tuple[int, int]]()
    for one in lines:
        places.append((len(text) + 1, len(text) + 1 + len(one)))
        text = f"{text}\n{one}"
    return text, places


def _typed(row: Row, chance: random.Random) -> str:
    """Return a question as it is typed: with or without a capital and a question mark."""
    question = chance.choice(row.questions)
    return question if chance.random() < 0.4 else f"{question[:1].upper()}{question[1:]}?"


def _hour(first: int, last: int, chance: random.Random) -> str:
    return f"{chance.randint(first, last)}:{chance.choice(['00', '30'])}"


VALUES: dict[str, Callable[[random.Random], str]] = {
    "money": lambda one: f"{one.choice('££€$')}{one.randint(2, 240)}{one.choice(['', '.00', '.50'])}",
    "pence": lambda one: f"{one.randint(4, 60)} {one.choice(['p', 'ct'])}{one.choice(['', ' a mile'])}",
    "time": lambda one: f"{one.randint(1, 30)} {one.choice(['days', 'days', 'weeks', 'h'])}",
    "hours": lambda one: f"{_hour(6, 11, one)}–{_hour(13, 22, one)}",
    "person": lambda one: f"{one.choice(_PEOPLE)}{one.choice(['', f', ext. {one.randint(100, 999)}'])}",
    "date": lambda one: f"{one.randint(1, 30)} {one.choice(_MONTHS)}",
    "count": lambda one: str(one.randint(4, 180)),
    "action": lambda one: one.choice(_ACTIONS),
    "word": lambda one: one.choice(["after 22:00 only", "actual cost", "not paid", "with heavy loads"]),
}
"""Draws a value of each kind."""
