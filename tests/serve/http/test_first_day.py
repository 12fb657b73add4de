"""The page about a team's first day, done as it says: the commands, the people, the schedule and the chat."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from program import ROOT, START, program
from signing_in import PASSWORD, Browser

PAGE = (ROOT / "docs" / "first-day.md").read_text(encoding="utf-8")
QUESTION, REFUSAL = "How long is parental leave?", "I couldn't find an answer"
assert QUESTION in PAGE
assert REFUSAL in PAGE


def block(kind: str) -> str:
    """Return the first block of this kind on the page."""
    found = re.search(rf"^```{kind}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def commands() -> list[list[str]]:
    """Return the commands before the server starts."""
    return [shlex.split(line)[1:] for line in re.findall(r"^ragstone (?:sync|user) .*$", PAGE, flags=re.MULTILINE)]


def asked(browser: Browser) -> dict[str, object]:
    return browser.post("/query", {"question": QUESTION}).json()


@pytest.mark.usefixtures("workdir")
def test_first_day_goes_as_the_page_says() -> None:
    folder = Path.cwd()
    (folder / "team.yaml").write_text(block("yaml"), encoding="utf-8")
    (folder / "examples").symlink_to(ROOT / "examples")
    seconds = dict[str, float]()
    for words in commands():
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", START, *words],
            input=f"{PASSWORD}\n",
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        assert done.returncode == 0, done.stderr
        seconds[" ".join(words[:3])] = time.perf_counter() - started
    assert len(seconds) == 4
    started = time.perf_counter()
    with program(folder, "--kb", "team", "--preset", "team.yaml") as (_, client, _log):
        seconds["serve"] = time.perf_counter() - started
        people = {name: Browser(str(client.base_url)) for name in ("ada", "eve", "ben")}
        for name, browser in people.items():
            assert browser.by_password(name).status_code == 204
        started = time.perf_counter()
        answer = asked(people["eve"])
        seconds["ask"] = time.perf_counter() - started
        assert str(answer["answer"]).startswith("Mothers and adopting parents have 26 weeks of leave on full pay.")
        assert [one["title"] for one in answer["sources"]] == ["Employee handbook"]  # pyright: ignore
        refused = asked(people["ben"])
        assert refused["outcome"] == "refusal"
        assert str(refused["answer"]).startswith(REFUSAL)
        assert "handbook" not in str(refused).lower()
        body = {"source": "examples/alderwren", "every_seconds": 3600}
        scheduled = people["ada"].post("/admin/sources/schedule", body)
        assert scheduled.status_code < 300, scheduled.text
        assert people["ben"].post("/admin/sources/schedule", body).status_code == 403
        assert people["ada"].get("/widget.js").status_code == 200
        site = {"origin": "http://localhost:8080"}
        public = client.post("/query", json={"question": QUESTION}, headers=site)
        assert "handbook" not in public.text.lower()
        for browser in people.values():
            browser.http.close()
    print({name: round(spent, 1) for name, spent in seconds.items()})
