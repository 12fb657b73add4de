"""``--as``, ``ragstone feedback`` and ``ragstone history`` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Run

PAY = "The salary of the director is nine thousand euros."


@pytest.fixture
def docs(workdir: Path) -> Path:
    folder = workdir / "docs" / "hr"
    folder.mkdir(parents=True)
    (folder / "pay.txt").write_text(PAY)
    (workdir / "docs" / "canteen.txt").write_text("The canteen opens at noon.")
    return workdir / "docs"


@pytest.mark.usefixtures("docs")
def test_hides_a_groups_folder_and_counts_feedback(run: Run) -> None:
    added = run("add", "docs", "--set", "acquire.access.folders=[hr = hr]")
    assert (added.code, added.out[:8]) == (0, "2 added,")
    question = "What is the salary of the director?"
    assert "nine thousand" in run("ask", question, "--as", "hr,board").out
    for words in (["ask", question], ["search", "salary"], ["show", "pay.txt"]):
        printed = run(*words, "--as", "staff")
        assert "nine" not in printed.out + printed.err
        assert "hr/" not in printed.out + printed.err
    assert run("show", "pay.txt").out.strip() == PAY
    chat = run("chat", "--as", "staff", typed=f"{question}\n")
    assert "nine" not in chat.out
    refused = run("ask", question, "--as", "")
    assert (refused.code, refused.err) == (2, "ragstone: the name of a group is blank\n")

    answer = json.loads(run("ask", "When does the canteen open?", "--session", "s", "--as", "staff", "--json").out)
    assert json.loads(run("history", "conversations", "--json").out) == {"conversations": []}
    assert json.loads(run("history", "conversations", "--as", "staff", "--json").out)["conversations"][0]["turns"] == 1
    id = answer["response_id"]
    assert run("feedback", id, "up", "--reason", "short").out == "recorded: up, because: short\n"
    said = json.loads(run("feedback", id, "down", "--source", "canteen.txt", "--json").out)
    assert (said["vote"], said["correction"]) == ("down", "docs/canteen.txt")
    assert run("feedback", id, "sideways").code == 2
    assert (unknown := run("feedback", "nowhere", "up")).code == 1
    assert "there is no answer 'nowhere'" in unknown.err

    stats = json.loads(run("history", "stats", "--json").out)["total"]
    assert (stats["questions"], stats["searches"]) == (4, 1)
    assert stats["answered"] + stats["refused"] == 4
    shown = run("history", "stats", "--hourly").out
    assert "questions" in shown
    assert "evidence found by: bm25" in shown

    Path("questions.csv").write_text(f"question,source\n{question},pay.txt\n")
    measured = json.loads(run("eval", "questions.csv", "--as", "staff", "--json").out)
    assert (measured["judged"], measured["per_query"][0]["answerable"]) == (0, False)
    assert json.loads(run("history", "stats", "--json").out)["total"]["questions"] == 4


def test_says_that_nothing_was_asked(run: Run, kb: Path) -> None:
    assert kb.is_dir()
    assert run("history", "stats").out == "there were no questions in this period\n"
