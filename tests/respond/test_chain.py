"""How quoted passages stand to the steps of the search that found them."""

from __future__ import annotations

from dataclasses import replace

from evidence import evidence

from ragstone.core.request import Request
from ragstone.core.search_step import SearchStep
from ragstone.question import read
from ragstone.respond.requirements.unmet import lacking, linked

PAINTER, VILLAGE, RIVER, OTHER = "d0-0", "d1-0", "d2-0", "d3-0"


def led(best: str, *steps: tuple[str, str]) -> list[str]:
    made = tuple(SearchStep(searched="it", target=to, found="x", source=by, adds=0.5) for by, to in steps)
    found = replace(evidence("?", "Orla Finch paints in Tresk", "Tresk", "Aun", "other"), steps=made)
    return [one.id for one in linked(found, best)]


def test_all_that_led_to_a_quote_is_linked() -> None:
    steps = (PAINTER, VILLAGE), (VILLAGE, RIVER)
    assert led(RIVER, *steps) == [PAINTER, VILLAGE]
    assert led(PAINTER, *steps) == [VILLAGE]
    assert led(OTHER, *steps) == []


def test_steps_in_a_circle_end() -> None:
    assert led(PAINTER, (PAINTER, VILLAGE), (VILLAGE, PAINTER)) == [PAINTER, VILLAGE]


def test_a_linked_passage_has_the_name() -> None:
    quoted, leading = (hit.chunk for hit in evidence("?", "412 people live in Tresk", "Orla Finch is of Tresk").hits)

    def lacks(*others: object) -> list[str]:
        found = lacking(
            read("How many people live where Orla Finch was born?"),
            [quoted],
            [quoted, leading],
            occurs=lambda words, _: [True] * len(words),
            weigh=lambda words, _: [*[5.0] * (len(words) - 1), 9.0],
            request=Request.by_owner(),
            linked=[leading] if others else [],
        )
        return [one.requirement.text for one in found]

    assert lacks() == ["Orla Finch"]
    assert lacks(leading) == []
