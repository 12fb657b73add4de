"""How quoted passages stand to the steps of the search that found them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence import evidence

from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.core.search_step import SearchStep
from ragstone.question import read
from ragstone.respond.quoting.chain import ADDS, Chain
from ragstone.respond.requirements.unmet import lacking, of_one_step

PAINTER, VILLAGE, RIVER, OTHER = "d0-0", "d1-0", "d2-0", "d3-0"


def found(*steps: tuple[str, str, float]) -> Evidence:
    made = tuple(SearchStep(searched="it", target=to, found="x", source=by, adds=adds) for by, to, adds in steps)
    return replace(evidence("?", "Orla Finch paints in Tresk", "Tresk", "Aun", "other"), steps=made)


def chain(quoted: list[str], *steps: tuple[str, str, float]) -> Chain:
    made = found(*steps)
    by_id = {hit.chunk.id: hit.chunk for hit in made.hits}
    return Chain(made, [by_id[id] for id in quoted])


def linked(quoted: list[str], *steps: tuple[str, str, float]) -> list[str]:
    return [one.id for one in chain(quoted, *steps).linked]


def test_all_that_led_to_a_quote_is_linked() -> None:
    steps = (PAINTER, VILLAGE, 0.5), (VILLAGE, RIVER, 0.5)
    assert linked([RIVER], *steps) == [PAINTER, VILLAGE]
    assert linked([PAINTER], *steps) == [VILLAGE]
    assert linked([OTHER], *steps) == []


def test_steps_in_a_circle_end() -> None:
    assert linked([PAINTER], (PAINTER, VILLAGE, 0.5), (VILLAGE, PAINTER, 0.5)) == [PAINTER, VILLAGE]


@pytest.mark.parametrize(
    ("quoted", "adds", "cut"),
    [
        ([PAINTER], 0.5, True),
        ([PAINTER, OTHER], 0.5, True),
        ([PAINTER, VILLAGE], 0.5, False),
        ([VILLAGE], 0.5, False),
        ([OTHER], 0.5, False),
        ([PAINTER], ADDS, False),
    ],
)
def test_only_the_first_step_is_a_cut_chain(quoted: list[str], adds: float, *, cut: bool) -> None:
    assert chain(quoted, (PAINTER, VILLAGE, adds)).is_cut is cut


def test_a_part_of_the_question_cuts_nothing() -> None:
    assert not chain([PAINTER], ("", VILLAGE, 0.5)).is_cut


def test_one_step_is_less_sure() -> None:
    assert of_one_step(0.9) < 0.5
    assert of_one_step(0.0) == 0.0
    assert of_one_step(1.0) == 1.0


def test_a_linked_passage_has_the_name() -> None:
    quoted, leading = (hit.chunk for hit in evidence("?", "412 people live in Tresk", "Orla Finch is of Tresk").hits)

    def lacks(*others: object) -> list[str]:
        found = lacking(
            read("How many people live where Orla Finch was born?"),
            [quoted],
            [quoted, leading],
            known=lambda words, _: [True] * len(words),
            weigh=lambda words, _: [*[5.0] * (len(words) - 1), 9.0],
            request=Request.by_owner(),
            linked=[leading] if others else [],
        )
        return [one.requirement.text for one in found]

    assert lacks() == ["Orla Finch"]
    assert lacks(leading) == []
