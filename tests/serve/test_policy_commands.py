"""`ragstone policy` as a user types it."""

from __future__ import annotations

import random
import re
from contextlib import closing
from pathlib import Path

import pytest
from running import Run
from voting import cast

from ragstone.engine import Engine


@pytest.fixture
def learning(kb: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A knowledge base that learns, as the environment says."""
    monkeypatch.setenv("RAGSTONE_LEARNING__MODE", "gated")
    return kb


@pytest.mark.usefixtures("learning")
def test_before_anything_was_learned(run: Run) -> None:
    told = run("policy", "explain")
    assert told.code == 0
    assert "in use: version 0; learning.mode is gated" in told.out
    assert "opinions counted: 0; decided anew after 5 more" in told.out
    assert "nothing has been decided yet" in told.out
    assert run("policy", "list").out.splitlines()[1].split() == ["0", "in", "use", "none"]
    assert run("policy", "replay").out == "nothing has been decided yet\n"
    assert (refused := run("policy", "rollback")).code == 2
    assert "there is none before it" in refused.err


@pytest.mark.usefixtures("learning")
def test_an_answer_that_is_learned_from_tells_how_to_say_what_one_thinks_of_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = re.search(r"was it good\? ragstone (feedback \w+ up), or down", run("ask", "Where is what?").out)
    assert told is not None
    assert run(*told[1].split()).out == "noted: up\n"
    assert "opinions counted: 1" in run("policy", "explain").out
    assert "was it good? ragstone feedback" in run("chat", typed="Where is what?\n").out
    monkeypatch.setenv("RAGSTONE_REVIEW__RESPONSES_DAYS", "0")
    assert "was it good?" not in run("ask", "Where is what?").out
    monkeypatch.setenv("RAGSTONE_REVIEW__RESPONSES_DAYS", "7")
    monkeypatch.setenv("RAGSTONE_LEARNING__MODE", "off")
    assert "was it good?" not in run("ask", "Where is what?").out


def test_a_change_is_suggested(learning: Path, run: Run, tmp_path: Path) -> None:
    with closing(Engine.open(learning)) as engine:
        stored = next(iter(engine.documents()))
    known = tmp_path / "known.csv"
    known.write_text(f"question,source\n{stored.text.split('.')[0]}?,{stored.id}\n")
    told = run("policy", "suggest", str(known))
    assert told.code == 0, told.err
    assert told.out.startswith("nothing deserves a trial by 1 question")
    assert "fewer than 10 questions say nothing" in told.out
    assert run("policy", "suggest", str(known), "--try", "--json").json == {"questions": 1, "proposal": None}
    known.write_text("question,source\nWhere?,nowhere.md\n")
    assert "known.csv, line 2" in run("policy", "suggest", str(known)).err


@pytest.mark.usefixtures("learning")
def test_a_change_is_tried_shown_taken_into_use_and_taken_back(run: Run) -> None:
    begun = run("policy", "try", "top_k=2", "rerank=true", "--kind", "how_to", "--why", "manuals are short")
    assert begun.code == 0, begun.err
    assert begun.out.startswith("began: version 1 on trial against version 0; version 0 is in use.")
    assert "a trial is under way" in run("policy", "try", "top_k=3").err

    listed = run("policy", "list").out.splitlines()
    assert "challenger" in listed[2]
    assert "top_k 5 -> 2 (how_to)" in listed[2]
    told = run("policy", "list", "--json").json
    assert [one["version"] for one in told["policies"]] == [0, 1]
    assert told["in_use"] == 0
    assert "seed" not in told["policies"][0]["evidence"]

    shown = run("policy", "show", "1").out
    assert shown.startswith("version 1, challenger")
    assert "made from version 0" in shown
    assert "why: manuals are short" in shown
    assert run("policy", "show", "1", "--json").json["by_kind"]["how_to"]["top_k"] == 2
    assert (unknown := run("policy", "show", "7")).code == 1
    assert "there is no policy 7" in unknown.err

    rows = [line.split() for line in run("policy", "diff", "0", "1").out.splitlines()]
    assert ["top_k", "how_to", "as", "set", "2"] in rows
    assert ["rerank", "how_to", "as", "set", "true"] in rows
    assert run("policy", "diff", "1", "1").out == "versions 1 and 1 choose the same\n"
    assert len(run("policy", "diff", "0", "1", "--json").json["differences"]) == 2

    assert run("policy", "promote", "1", "--why", "I know it").out.startswith("promoted by hand: I know it; version 1")
    assert (again := run("policy", "promote", "1")).code == 2
    assert "in use already" in again.err
    back = run("policy", "rollback", "--json").json
    assert (back["action"], back["champion"]) == ("rolled back by hand", 0)
    replayed = run("policy", "replay")
    assert (replayed.code, replayed.out) == (0, "every decision follows from the log, byte for byte: 3 of 3\n")


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("colour=red", "'colour' is nothing that can be chosen"),
        ("top_k=many", "top_k takes a number"),
        ("rerank=perhaps", "rerank takes true or false"),
        ("top_k=5000", "top_k must be"),
    ],
)
@pytest.mark.usefixtures("learning")
def test_what_cannot_be_chosen_is_told(run: Run, choice: str, told: str) -> None:
    refused = run("policy", "try", choice)
    assert refused.code == 2
    assert told in refused.err


def test_few_votes_are_told_as_few(run: Run, learning: Path) -> None:
    assert run("policy", "try", "top_k=2").code == 0
    with closing(Engine.open(learning)) as engine:
        cast(engine, 7, lambda _: True)
        while any(not one.arm.votes for one in engine.learned().arms):
            cast(engine, 1, lambda _: True)
        votes = engine.learned().votes
    told = run("policy", "explain").out
    old, new = (line for line in told.splitlines() if "1        challenger " in line or "0        in use" in line)
    assert "too few to tell" in new
    assert new.split()[-5:] == ["?", "top_k", "5", "->", "2"]
    liked = [re.findall(r"(\d+) of (\d+) ", row)[0] for row in (old, new)]
    assert [ups == of for ups, of in liked] == [True, True]
    assert sum(int(of) for _, of in liked) == votes, "votes are told as they were counted"
    assert f"mind: {votes} votes are few" in told
    assert "to prove a true one of 10 points takes about 2,000 votes of 40 voices" in told
    (arm,) = [one for one in run("policy", "explain", "--json").json["arms"] if one["role"] == "challenger"]
    assert arm["few"]
    assert (arm["arm"]["difference"], arm["arm"]["needs"]) == (None, None)
    assert arm["arm"]["ups"] == 1


def test_evidence_is_told_and_promotes(run: Run, learning: Path) -> None:
    run("policy", "try", "top_k=2")
    with closing(Engine.open(learning)) as engine:
        chance = random.Random(1)
        while any(one.few for one in engine.learned().arms):  # nothing is decided meanwhile
            cast(engine, 20, lambda _: chance.random() < 0.6, decide=False)
    told = run("policy", "explain").out
    (row,) = [line for line in told.splitlines() if "1        challenger " in line]
    assert re.search(r"\d+%  +[+-]\d+% \([+-]\d+% to [+-]\d+%\)  +[\d.e-]+ of 40 ", row)
    with closing(Engine.open(learning)) as engine:
        while engine.learned().champion == 0:
            cast(engine, 10, bool)
    shown = run("policy", "explain").out
    assert "in use: version 1" in shown
    assert "promoted: version 1 is better" in shown
    assert "watched beside version 0" in shown
    replayed = run("policy", "replay", "--json").json
    assert replayed["decisions"] > 1
    assert replayed["different"] == []
