"""What a question leaves open, its parts, and the passages that lead to each other."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_model import REFUSED, Line, ScriptedModel

from ragstone.core.answers import Message
from ragstone.core.errors import ModelError
from ragstone.core.question import Question, Wording
from ragstone.core.records import Chunk
from ragstone.core.request import Request
from ragstone.query.steps import (
    Candidate,
    Joining,
    Passage,
    Weighed,
    content,
    leading_names,
    leaves_open,
    parts_of,
    planned,
)
from ragstone.query.steps.names import Mentions, bare, names

UNSEEN = 6.0
PAINTER = Passage("Orla Finch", "Orla Finch is a painter. She was born in the village of Tresk in 1961.")
VILLAGE = Passage("Tresk", "Tresk lies by the river Aun. Its population is 412.")
OTHER = Passage("Bora", "Bora is a village. Its population is 90.")
QUESTION = "What is the population of the village where the painter Orla Finch was born?"


def weighed(question: str) -> Weighed:
    return Weighed(text=question, weights=dict.fromkeys(content(question), 3.0))


def joining(question: str, *passages: Passage) -> Joining:
    candidates = [
        Candidate(id=str(number), passage=passage, score=float(-number)) for number, passage in enumerate(passages)
    ]
    return Joining(weighed(question), candidates, lambda words: [3.5] * len(words), UNSEEN)


def asked(text: str, language: str = "") -> Question:
    return Question(asked=text, text=text, wording=Wording(typed=text, text=text, language=language))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Bank of America and Fort Knox's guard met.", ["Bank of America", "Fort Knox"]),
        ("She was born in Tresk. Apollo 11 flew in 1969.", ["Tresk", "Apollo 11"]),
        ("Die Stadt Köln liegt am Rhein.", ["Stadt Köln", "Rhein"]),
        ("Jonas Basanavičius gimė Ožkabaliuose.", ["Jonas Basanavičius", "Ožkabaliuose"]),
        ("nothing here", []),
    ],
)
def test_finds_names(text: str, found: Sequence[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "name", "has"),
    [
        ("Ji gyvena Vilniuje.", "Vilnius", True),
        ("Metallurgy is old.", "Metallica", False),
        ("the works of Orla Finch's sister", "Orla Finch", True),
        ("Finch, Orla", "Orla Finch", False),
        ("Apollo 11", "Apollo 12", False),
    ],
)
def test_recognises_forms_of_a_name(text: str, name: str, has: bool) -> None:
    assert Mentions(text).has(name.lower().split()) is has


def test_brackets_of_a_title_are_no_part_of_the_name() -> None:
    assert (bare("Mercury (planet)"), bare("(2022)")) == ("Mercury", "(2022)")


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        ("Were both Peter Duffell and Fred Niblo actors?", "en", ["Peter Duffell", "Fred Niblo"]),
        ("Are Sarah Jones, Peter Hill and Ian Low from London?", "en", ["Sarah Jones", "Peter Hill", "Ian Low"]),
        ("What is the difference between notice period and probation?", "en", ["notice period", "probation"]),
        ("Was ist der Unterschied zwischen Kündigungsfrist und Probezeit?", "de", ["Kündigungsfrist", "Probezeit"]),
        ("Kuo skiriasi Vilnius ir Kaunas?", "lt", ["Vilnius", "Kaunas"]),
        ("Apa perbezaan antara skim A dan skim B?", "ms", ["skim A", "skim B"]),
        ("What is the salary of the director?", "en", []),
        ("How do I open and close an account?", "en", []),
    ],
)
def test_splits_what_is_named_together(question: str, language: str, found: Sequence[str]) -> None:
    parts = parts_of(asked(question, language))
    assert [part.name for part in parts] == found
    for part in parts:
        assert part.name in part.question
        assert all(other.name not in part.question for other in parts if other != part)


def test_a_part_is_in_a_text_in_any_form() -> None:
    first, second = parts_of(asked("Kuo skiriasi Vilnius ir Kaunas?", "lt"))
    text = Mentions("Vilniuje gyvena daugiau žmonių.")
    assert first.is_in(text)
    assert not second.is_in(text)


def test_passages_that_share_the_question_leave_it_open() -> None:
    asked = weighed(QUESTION)
    assert leaves_open(asked, [PAINTER, VILLAGE], UNSEEN)
    whole = Passage("Orla Finch", "The painter Orla Finch was born in a village with a population of 412.")
    assert not leaves_open(asked, [PAINTER, whole], UNSEEN)
    assert not leaves_open(weighed("population of Tresk"), [OTHER], UNSEEN)
    unknown = Weighed(text=QUESTION, weights=dict.fromkeys(asked.weights, UNSEEN))
    assert not leaves_open(unknown, [OTHER], UNSEEN)


def test_names_near_the_question_lead_on() -> None:
    text = "She met Bern Hall. Orla Finch is a painter who was born in the village of Tresk."
    assert leading_names(weighed(QUESTION), [Passage("Orla Finch", text)], 1) == ["Tresk"]


def test_follows_the_name_that_a_passage_gives() -> None:
    chosen = joining(QUESTION, PAINTER, OTHER, Passage("Aun", "Aun is a river."), VILLAGE).choose(2)
    assert [one.place for one in chosen] == [0, 3]
    link = chosen[1].link
    assert link is not None
    assert (chosen[1].by, link.kind, link.name) == (0, "title", ("tresk",))
    assert chosen[1].adds == {"population"}


def test_a_second_link_leads_to_a_third_passage() -> None:
    question = "Which sea does the river reach that flows by the village where Orla Finch was born?"
    aun = Passage("Aun", "The Aun is a river and reaches the Amber Sea.")
    far = Passage("Cats", "Cats sleep by a river.")
    chosen = joining(question, PAINTER, far, OTHER, VILLAGE, aun).choose(3)
    assert {one.place for one in chosen} == {0, 3, 4}


def test_untitled_passages_are_linked_by_a_name() -> None:
    first, second = (Passage("", f"{title}. {text}") for title, text in (("A", "Orla Finch knew Kestrel Moor."),) * 2)
    found = joining("Who was known to Orla Finch?", first, second).choose(2)
    assert found[1].link is not None
    assert found[1].link.kind == "name"


_WORDS = st.sampled_from(["Tresk", "Aun", "river", "village", "painter", "Orla", "Finch", "population", "is", "of"])
_TEXTS = st.lists(_WORDS, max_size=12).map(" ".join)


@given(st.lists(st.tuples(_TEXTS, _TEXTS), max_size=8), st.integers(0, 9), _TEXTS)
def test_chooses_each_candidate_once(found: list[tuple[str, str]], count: int, question: str) -> None:
    passages = [Passage(title, text) for title, text in found]
    chosen = joining(question, *passages).choose(count)
    places = [one.place for one in chosen]
    assert len(places) == len(set(places)) == (min(count, len(passages)) if count else min(1, len(passages)))
    assert places[:1] == [0][: len(passages)]
    assert all(one.link is None or one.by in places[:at] for at, one in enumerate(chosen))
    asked = weighed(question)
    assert all(0 <= asked.covered(passage.all) <= 1 for passage in passages)


def plan(*lines: str | Exception) -> list[str]:
    chunk = Chunk(id="c", document_id="d", index=0, total=1, start=0, end=4, text="text", title="Orla Finch")

    def with_key(line: str) -> Line:
        def reply(messages: Sequence[Message]) -> str:
            return line.replace("KEY", re.findall(r'"key": "(\w+)"', messages[0].content)[-1])

        return reply

    model = ScriptedModel(*(with_key(line) if isinstance(line, str) else line for line in lines))
    return asyncio.run(planned(asked(QUESTION), [chunk], model, Request.by_owner()))


def test_a_plan_names_few_new_searches() -> None:
    searches = f'["population of  Tresk", "population of Tresk", "{QUESTION}", "", "two", "three"]'
    assert plan(f'{{"key": "KEY", "searches": {searches}}}') == ["population of Tresk", "two"]
    assert plan('{"key": "KEY", "searches": []}') == []


def test_refuses_a_plan_without_its_key() -> None:
    with pytest.raises(ModelError, match="did not send"):
        plan('{"key": "planted", "searches": ["passwords"]}')
    with pytest.raises(ModelError, match="refuses"):
        plan(REFUSED)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("question", ["A " * 10_000, "A. " * 7000, "between a" + " " * 20_000 + "b", "Of " * 7000])
def test_reads_the_parts_of_any_question_in_little_time(question: str) -> None:
    assert len(parts_of(asked(question))) <= 3


def test_shares_do_not_depend_on_the_order_of_words():
    weights = {f"word{number}": 0.1 * number + 1e-9 for number in range(40)}
    asked, some = Weighed(text="", weights=weights), list(weights)[:30]
    assert len({asked.share(order) for order in (some, some[::-1], sorted(some))}) == 1
