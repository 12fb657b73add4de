"""People who sign in with a password, on the command line."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from running import Run

from ragstone.history.audit import Audit
from ragstone.history.journal import Journal
from ragstone.history.users import Users

PASSWORD = "correct horse battery"


@pytest.mark.usefixtures("workdir")
def test_people_are_added_changed_and_removed(run: Run) -> None:
    added = run("user", "add", "ada", "--create", "--scope", "write", "--group", "hr", "--json", typed=f"{PASSWORD}\n")
    assert (added.json["name"], added.json["scopes"], added.json["groups"]) == ("ada", ["write"], ["hr"])
    assert PASSWORD not in added.out
    assert "ada   write  hr" in run("user", "list").out
    assert run("user", "change", "ada", "--public-only").out == "changed ada\n"
    assert "public documents" in run("user", "list").out
    assert run("user", "password", "ada", typed=f"{PASSWORD}!\n").code == 0
    with closing(Journal(Path(".ragstone"))) as journal:
        assert Users(journal).check("ada", f"{PASSWORD}!")
        assert Users(journal).check("ada", PASSWORD) is None
    assert run("user", "remove", "ada").code == 0
    assert "ragstone user add" in run("user", "list").out
    with closing(Journal(Path(".ragstone"))) as journal:
        acts = [(one.who, one.act, one.what) for one in Audit(journal).last(9)]
    expected = [("user.remove", "ada"), ("user.password", "ada"), ("user.change", "ada · read")]
    assert acts == [("", *one) for one in (*expected, ("user.add", "ada · write · hr"))]


@pytest.mark.usefixtures("workdir")
def test_refuses_weak_passwords_and_unknown_people(run: Run) -> None:
    weak = run("user", "add", "ada", "--create", typed="short\n")
    assert (weak.code, "10 to 1,000 characters" in weak.err) == (2, True)
    assert run("user", "remove", "bob").code != 0
    both = run("user", "add", "ada", "--group", "hr", "--public-only", typed=PASSWORD)
    assert both.code == 2
