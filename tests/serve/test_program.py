"""The program as a process: its streams, signals and escape sequences."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pdf_file import pdf
from running import ROOT, START, Run, environment, program

from ragstone.serve.cli import screen
from ragstone.serve.views.blocks import Block, line, section, table

EVIL = "\x1b[31mRed\x1b]0;owned\x07 \x9b2J [bold]not bold[/bold] \u202etxet\u202c"


def test_errors_and_answers_keep_their_streams(kb: Path) -> None:
    good = program("ask", "What is room 7 called?", "--json", cwd=kb.parent)
    assert (good.code, good.err) == (0, "")
    assert good.json["citations"]
    bad = program("ask", " ", cwd=kb.parent)
    assert (bad.code, bad.out, bad.err) == (2, "", "ragstone: the question is empty\n")


def test_words_that_are_no_text(kb: Path) -> None:
    done = program("ask", b"What is \xff room 7 called?", "--json", cwd=kb.parent)
    assert done.code == 0
    assert done.json["question"] == "What is \ufffd room 7 called?"
    piped = program("chat", typed=b"\xff\xfe\nWhat is room 7 called?\n", cwd=kb.parent)
    assert piped.code == 0
    assert "Marie Curie" in piped.out


def test_output_in_a_narrow_encoding(kb: Path) -> None:
    narrow = environment(PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert program("show", "articles.csv#3", cwd=kb.parent, env=narrow).out.startswith("Die Kantine ?ffnet")
    assert "öffnet" in program("show", "#3", "--json", cwd=kb.parent, env=narrow).json["text"]


def test_a_reader_that_leaves_is_no_error(kb: Path) -> None:
    command = [sys.executable, "-c", START, "settings"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=kb.parent, env=environment(), check=False)
    os.close(write)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_one_line(kb: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", START, "status"]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, cwd=kb.parent, env=environment(), check=False
        )
    assert done.stderr == b"ragstone: No space left on device\n"
    assert done.returncode == 1


def test_stopping_keeps_what_was_reported(workdir: Path) -> None:
    (workdir / "many").mkdir()
    for number in range(1500):
        (workdir / "many" / f"{number}.txt").write_text(f"Note {number} is about the number {number * 7919}.")
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", START, "add", "many", "--verbose"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=workdir,
        env=environment(),
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == "ragstone: stopped; documents reported as added are kept\n"
    reported = (first + out).splitlines()
    assert 0 < len(reported) < 1500
    for each in (reported[0], reported[-1]):
        assert program("show", each.removeprefix("added "), cwd=workdir).code == 0


def test_ctrl_c_stops_within_seconds_while_large_pdfs_are_read(workdir: Path) -> None:
    (workdir / "docs").mkdir()
    report = pdf(["Report 10 is long.\nIts pages repeat themselves, and it takes a while to read them."] * 1500)
    for number in range(10, 30):
        (workdir / "docs" / f"{number}.pdf").write_bytes(report.replace(b"Report 10", b"Report %d" % number))
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", START, "add", "docs", "--verbose"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=workdir,
        env=environment(),
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, the parsing process included
    stopping = time.monotonic()
    out, err = process.communicate(timeout=120)
    assert time.monotonic() - stopping < 5
    assert (process.returncode, err) == (130, "ragstone: stopped; documents reported as added are kept\n")
    reported = (first + out).splitlines()
    assert 0 < len(reported) < 20
    status = program("status", "--json", cwd=workdir).json
    assert (status["documents"], status["skipped"]) == (len(reported), [])
    assert program("ask", "What is report 10 like?", cwd=workdir).code == 0


def test_documents_cannot_move_the_cursor(run: Run, workdir: Path) -> None:
    (workdir / "evil.md").write_text(f"# Fish {EVIL}\n\nThe fish is {EVIL} today.\n", encoding="utf-8")
    assert run("add", "evil.md").code == 0
    for words in (
        ["ask", f"What is the fish? {EVIL}", "--explain", "--set", "respond.abstain_below=0"],
        ["search", "fish", "--explain"],
        ["search", "fish", "--json"],
        ["show", "evil.md"],
        ["show", "evil.md", "--json"],
        ["show", f"nothing {EVIL}"],
        ["ask", "Why?", "--where", EVIL],
    ):
        done = run(*words)
        shown = done.out + done.err
        assert shown
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown), words
    assert "[bold]not bold[/bold]" in run("show", "evil.md").out
    assert "\x1b" not in run("show", "evil.md", "--json").json["text"]


def test_on_a_terminal_only_our_own_colours_appear(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    view: list[Block] = [
        section(EVIL, table(("name", EVIL), [(EVIL, "1"), ("x", "100")], numbers=(1,))),
        line((EVIL, "red"), head=("1. ", "bold")),
        line("word " * 20, head=("2. ", "")),
    ]
    screen.write(view)
    shown = capsys.readouterr().out
    assert "\x1b[31m" in shown  # the style asked for
    assert not {"\x1b]", "\x07", "\x9b", "\u202e"} & set(re.findall(r"\x1b\]|[\x07\x9b\u202e]", shown))
    assert shown.count("[bold]not bold[/bold]") >= 3
    assert all(len(row.rstrip()) <= 60 for row in shown.splitlines()[-2:])
    assert shown.splitlines()[-1].startswith("   word")
    monkeypatch.setenv("NO_COLOR", "1")
    screen.write([line((EVIL, "red"))])
    assert "\x1b" not in capsys.readouterr().out


def test_chats_at_a_terminal(kb: Path, tmp_path: Path) -> None:
    """Ctrl-D ends it; the questions are remembered in a file that only the user can read."""
    state = tmp_path / "state"
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", START, "chat"],
        stdin=its,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=kb.parent,
        env=environment(XDG_STATE_HOME=str(state)),
    )
    os.close(its)
    os.write(ours, b"What is room 7 called?\n")
    time.sleep(0.1)
    os.write(ours, b"\x04")
    out, err = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0, err
    assert b"Marie Curie" in out
    assert b"Traceback" not in err
    history = state / "ragstone" / "history"
    assert history.stat().st_mode & 0o077 == 0


def test_help_needs_none_of_the_heavy_packages() -> None:
    check = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli import app; app.run(['--help']);"
        "assert not {'rich', 'numpy', 'pydantic', 'onnxruntime'} & set(sys.modules), sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, check=False).returncode == 0


def test_json_needs_no_rich(kb: Path) -> None:
    check = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ragstone.serve.cli import app;"
        "app.run(['ask', 'Why?', '--json']); assert 'rich' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, check=False, cwd=kb.parent)
    assert done.returncode == 0, done.stderr
