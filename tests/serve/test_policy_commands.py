"""The commands `ragstone policy`."""

from __future__ import annotations

import random
import re
from contextlib import closing
from pathlib import Path

import pytest
from running import Run
from voting import cast

from ragstone.engine.knowledge_base import KnowledgeBase


@pytest.fixture
def learning(kb: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A knowledge base that learns, as the environment says."""
    monkeypatch.setenv("RAGSTONE_LEARNING__MODE", "gated")
    return kb


@pytest.mark.usefixtures("learning")
def test_explains_an_empty_log(run: Run) -> None:
    printed = run("policy", "explain")
    assert printed.code == 0
    assert "in use: version 0; learning.mode is gated" in printed.out
    assert "votes counted: 0; next evaluation after 5 more" in printed.out
    assert "no decision yet" in printed.out
    assert run("policy", "list").out.splitlines()[1].split() == ["0", "in", "use", "none"]
    assert run("policy", "replay").out == "no decisions yet\n"
    assert (refused := run("policy", "rollback")).code == 2
    assert "there is no earlier version" in refused.err


@pytest.mark.usefixtures("learning")
def test_answer_shows_the_feedback_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = re.search(r"was it good\? ragstone (feedback \w+ up), or down", run("ask", "Where is what?").out)
    assert printed is not None
    assert run(*printed[1].split()).out == "recorded: up\n"
    assert "votes counted: 1" in run("policy", "explain").out
    assert "was it good? ragstone feedback" in run("chat", typed="Where is what?\n").out
    monkeypatch.setenv("RAGSTONE_REVIEW__RESPONSES_DAYS", "0")
    assert "was it good?" not in run("ask", "Where is what?").out
    monkeypatch.setenv("RAGSTONE_REVIEW__RESPONSES_DAYS", "7")
    monkeypatch.setenv("RAGSTONE_LEARNING__MODE", "off")
    assert "was it good?" not in run("ask", "Where is what?").out


def test_suggests_nothing_from_one_question(learning: Path, run: Run, tmp_path: Path) -> None:
    with closing(KnowledgeBase.open(learning)) as engine:
        stored = next(iter(engine.documents.all()))
    known = tmp_path / "known.csv"
    known.write_text(f"question,source\n{stored.text.split('.')[0]}?,{stored.id}\n")
    printed = run("policy", "suggest", str(known))
    assert printed.code == 0, printed.err
    assert printed.out.startswith("nothing to try: on 1 question ")
    assert "fewer than 10 questions prove nothing" in printed.out
    assert run("policy", "suggest", str(known), "--try", "--json").json == {"questions": 1, "proposal": None}
    known.write_text("question,source\nWhere?,nowhere.md\n")
    assert "known.csv, line 2" in run("policy", "suggest", str(known)).err


@pytest.mark.usefixtures("learning")
def test_tries_promotes_and_rolls_back(run: Run) -> None:
    begun = run("policy", "try", "top_k=2", "rerank=true", "--kind", "how_to", "--why", "manuals are short")
    assert begun.code == 0, begun.err
    assert begun.out.startswith("began: version 1 on trial against version 0; version 0 is in use")
    assert "a trial is running" in run("policy", "try", "top_k=3").err

    listed = run("policy", "list").out.splitlines()
    assert "challenger" in listed[2]
    assert "top_k 5 -> 2 (how_to)" in listed[2]
    printed = run("policy", "list", "--json").json
    assert [one["version"] for one in printed["policies"]] == [0, 1]
    assert printed["in_use"] == 0
    assert "seed" not in printed["policies"][0]["evidence"]

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
    assert run("policy", "diff", "1", "1").out == "versions 1 and 1 make the same choices\n"
    assert len(run("policy", "diff", "0", "1", "--json").json["differences"]) == 2

    assert run("policy", "promote", "1", "--why", "I know it").out.startswith("promoted by hand: I know it; version 1")
    assert (again := run("policy", "promote", "1")).code == 2
    assert "already in use" in again.err
    back = run("policy", "rollback", "--json").json
    assert (back["action"], back["champion"]) == ("rolled back by hand", 0)
    replayed = run("policy", "replay")
    assert (replayed.code, replayed.out) == (0, "every decision follows from the log, byte for byte: 3 of 3\n")


@pytest.mark.parametrize(
    ("choice", "printed"),
    [
        ("colour=red", "there is no choice 'colour'"),
        ("top_k=many", "top_k takes a number"),
        ("rerank=perhaps", "rerank takes true or false"),
        ("top_k=5000", "top_k must be"),
    ],
)
@pytest.mark.usefixtures("learning")
def test_refuses_invalid_choices(run: Run, choice: str, printed: str) -> None:
    refused = run("policy", "try", choice)
    assert refused.code == 2
    assert printed in refused.err


def test_few_votes_are_shown_as_counts(run: Run, learning: Path) -> None:
    assert run("policy", "try", "top_k=2").code == 0
    with closing(KnowledgeBase.open(learning)) as engine:
        cast(engine, 7, lambda _: True)
        while any(not one.arm.votes for one in engine.learning.report().arms):
            cast(engine, 1, lambda _: True)
        votes = engine.learning.report().votes
    printed = run("policy", "explain").out
    old, new = (line for line in printed.splitlines() if "1        challenger " in line or "0        in use" in line)
    assert "too few votes" in new
    assert new.split()[-5:] == ["?", "top_k", "5", "->", "2"]
    liked = [re.findall(r"(\d+) of (\d+) ", row)[0] for row in (old, new)]
    assert [ups == of for ups, of in liked] == [True, True]
    assert sum(int(of) for _, of in liked) == votes, "all votes are shown"
    assert f"note: {votes} votes so far" in printed
    assert "proving a true difference of 10 points takes about 2,000 votes from 40 voters" in printed
    (arm,) = [one for one in run("policy", "explain", "--json").json["arms"] if one["role"] == "challenger"]
    assert arm["few"]
    assert (arm["arm"]["difference"], arm["arm"]["needs"]) == (None, None)
    assert arm["arm"]["ups"] == 1


def test_evidence_promotes(run: Run, learning: Path) -> None:
    run("policy", "try", "top_k=2")
    with closing(KnowledgeBase.open(learning)) as engine:
        chance = random.Random(1)
        while any(one.few for one in engine.learning.report().arms):  # no decision in between
            cast(engine, 20, lambda _: chance.random() < 0.6, decide=False)
    printed = run("policy", "explain").out
    (row,) = [line for line in printed.splitlines() if "1        challenger " in line]
    assert re.search(r"\d+%  +[+-]\d+% \([+-]\d+% to [+-]\d+%\)  +[\d.e-]+ of 40 ", row)
    with closing(KnowledgeBase.open(learning)) as engine:
        while engine.learning.report().champion == 0:
            cast(engine, 10, bool)
    shown = run("policy", "explain").out
    assert "in use: version 1" in shown
    assert "promoted: version 1 is better" in shown
    assert "version 1 is being watched" in shown
    replayed = run("policy", "replay", "--json").json
    assert replayed["decisions"] > 1
    assert replayed["different"] == []
