"""The parsing process: a parser that hangs, crashes or swells affects only its own file."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragstone.acquire.readers import parser_process
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Mark, Parsed, Part
from ragstone.acquire.readers.parser_messages import from_json, to_json
from ragstone.acquire.readers.parser_process import ParserProcess
from ragstone.core.layout import Placed
from ragstone.core.threads import Stopped
from ragstone.settings import AcquireSettings

MISBEHAVING = """
import ctypes, os, socket, subprocess, sys, time
from ragstone.acquire.readers import parser_process
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import Parsed

held = []

def parse(file):
    match file.path.read_text():
        case "sleep": time.sleep(60)
        case "abort": os.abort()
        case "segfault": ctypes.string_at(0)
        case "exit": os._exit(3)
        case "swell": return Parsed(text=str(len(["x" * 1_000_000 for _ in range(2000)])))
        case "swell outside Python": return Parsed(text=str([ctypes.create_string_buffer(10**8) for _ in range(20)]))
        case "recurse": return parse(file)
        case "connect": socket.create_connection(("127.0.0.1", 9))
        case "run": subprocess.run(["true"])
        case "work": [(time.sleep(0.8), file.at_work()) for _ in range(4)]; return Parsed(text="done")
        case "crash in the third picture":
            file.at_work()
            for number in range(0 if file.settings.ocr == "off" else file.settings.ocr_pages):
                file.at_work()
                if number == 3: os.abort()
                file.at_work()
            return Parsed(text=f"{number + 1} pictures")
        case "hang in a picture":
            if file.settings.ocr != "off": file.at_work(); time.sleep(60)
            return Parsed(text="text")
        case "picture alone":
            if file.settings.ocr == "off": raise Unreadable("a picture, and acquire.ocr is off")
            file.at_work(); os.abort()
        case "much for a picture":
            file.at_work(); held.append("x" * 100_000_000); return Parsed(text="held")
        case "start a program":
            file.at_work()
            started = subprocess.Popen([os.environ["RAGSTONE_TEST_PROGRAM"], "-c", "import time; time.sleep(60)"])
            file.path.with_name("started").write_text(str(started.pid)); time.sleep(60)
        case "refuse": raise Unreadable("said so")
        case "fail": raise KeyError("x")
        case "print": print("noise"); sys.stderr.write("noise"); return Parsed(text="fine")
        case "pid": return Parsed(text=str(os.getpid()))
        case text: return Parsed(text=text)
"""


READING = """
from pathlib import Path
from ragstone.acquire import read
from ragstone.core.records import Document
from ragstone.core.threads import Stopped
from ragstone.settings import AcquireSettings
here = Path(__file__).parent
def read_from(path):
    return [one for one in read(str(path), AcquireSettings(), base=here) if isinstance(one, Document)]
"""


@pytest.fixture
def parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ParserProcess]:
    (tmp_path / "misbehaving.py").write_text(MISBEHAVING)
    monkeypatch.syspath_prepend(tmp_path)
    with ParserProcess(AcquireSettings(parse_seconds=60, parse_mb=300)) as parser:
        yield parser


def parse(parser: ParserProcess, folder: Path, text: str) -> str:
    path = folder / "a.x"
    path.write_text(text)
    file = File(path=path, name="a.x", source="a.x", suffix=".x", settings=parser.settings)
    return parser.parse("misbehaving", file).text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("abort", "crashed (signal 6)"),
        ("segfault", "crashed (signal 11)"),
        ("exit", "crashed (exit code 3)"),
        ("swell", "needs more than 300 MB"),
        ("swell outside Python", "needs more than 300 MB"),
        ("recurse", "damaged: nested too deep"),
        ("connect", "damaged: PermissionError: socket."),
        ("run", "damaged: PermissionError: subprocess.Popen"),
        ("refuse", "said so"),
        ("fail", "damaged: KeyError: 'x'"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is that of Linux")
def test_reports_failure_and_reads_next_file(parser: ParserProcess, tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as raised:
        parse(parser, tmp_path, text)
    assert str(raised.value).startswith(reason)
    assert parse(parser, tmp_path, "fine") == "fine"


@pytest.mark.usefixtures("parser")
def test_ends_a_parser_that_hangs(tmp_path: Path) -> None:
    hanging = ParserProcess(AcquireSettings(parse_seconds=1.5))
    with hanging, pytest.raises(Unreadable, match=r"^took more than 1\.5 s \(acquire\.parse_seconds\)$"):
        parse(hanging, tmp_path, "sleep")


# ---------------------------------------------------------------- failures of OCR


def whole(parser: ParserProcess, folder: Path, text: str) -> Parsed:
    path = folder / "a.x"
    path.write_text(text)
    return parser.parse("misbehaving", File(path=path, name="a", source="a", suffix=".x", settings=parser.settings))


def test_crash_in_a_picture_keeps_what_came_before(parser: ParserProcess, tmp_path: Path) -> None:
    parsed = whole(parser, tmp_path, "crash in the third picture")
    assert parsed.text == "2 pictures"
    assert parsed.facts["partial"] == "only the first 2 of its pictures were read: OCR crashed (signal 6)"


@pytest.mark.usefixtures("parser")
def test_hang_in_a_picture_keeps_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "_AROUND_PAGE_SECONDS", 1.0)
    with ParserProcess(AcquireSettings(parse_seconds=2, ocr_seconds=1)) as hanging:
        parsed = whole(hanging, tmp_path, "hang in a picture")
    assert parsed.text == "text"
    assert parsed.facts["partial"] == "none of its pictures were read: OCR took more than 1 s (acquire.ocr_seconds)"


def test_says_why_a_picture_alone_gives_nothing(parser: ParserProcess, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"^crashed \(signal 6\)$"):
        whole(parser, tmp_path, "picture alone")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is that of Linux")
def test_memory_for_pictures_is_for_pictures_alone(parser: ParserProcess, tmp_path: Path) -> None:
    for _ in range(2):
        assert parse(parser, tmp_path, "much for a picture") == "held"
        with pytest.raises(Unreadable, match=r"^needs more than [34]\d\d MB$"):
            parse(parser, tmp_path, "swell")


def _is_alive(program: int) -> bool:
    try:
        return Path(f"/proc/{program}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.usefixtures("parser")
def test_programs_end_with_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "_AROUND_PAGE_SECONDS", 1.0)
    (tmp_path / "tesseract").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("RAGSTONE_TEST_PROGRAM", str(tmp_path / "tesseract"))
    settings = AcquireSettings(parse_seconds=2, ocr_seconds=1, ocr="tesseract")
    with ParserProcess(settings) as busy, pytest.raises(Unreadable, match="took more than"):
        parse(busy, tmp_path, "start a program")
    program = int((tmp_path / "started").read_text())
    deadline = time.monotonic() + 30
    while _is_alive(program):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.usefixtures("parser")
def test_stop_ends_a_busy_parser(tmp_path: Path) -> None:
    stop = threading.Event()
    with ParserProcess(AcquireSettings(), stop) as busy:
        threading.Timer(1.0, stop.set).start()
        started = time.perf_counter()
        with pytest.raises(Stopped):
            parse(busy, tmp_path, "sleep")
        assert time.perf_counter() - started < 10


@pytest.mark.usefixtures("parser")
def test_close_ends_a_parser_busy_in_another_thread(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as threads, ParserProcess(AcquireSettings()) as busy:
        parsing = threads.submit(parse, busy, tmp_path, "sleep")
        time.sleep(0.5)
        busy.close()
        with pytest.raises(Stopped):
            parsing.result(timeout=10)


def test_one_process_reads_all_files_and_ends(parser: ParserProcess, tmp_path: Path) -> None:
    assert parse(parser, tmp_path, "print") == "fine"
    pid = parse(parser, tmp_path, "pid")
    assert pid == parse(parser, tmp_path, "pid") != str(os.getpid())
    parser.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_plain_files_start_no_process(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# text")
    script = tmp_path / "script.py"
    script.write_text(
        f"{READING}import subprocess, sys\nsubprocess.Popen = None\n"
        "print([one.id for one in read_from(here / 'a.md')])\n"
        "print({'selectolax', 'pypdfium2', 'python_calamine'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["['a.md']", "set()"]


def test_does_not_run_the_main_script_again(tmp_path: Path) -> None:
    """The parsing process must not run the caller's script again."""
    (tmp_path / "a.html").write_text("<p>text")
    script = tmp_path / "script.py"
    script.write_text(f"{READING}print([one.text for one in read_from(here / 'a.html')])\n")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout == "['text']\n"


def test_a_page_at_a_time_may_take_longer(parser: ParserProcess, tmp_path: Path) -> None:
    parser.settings = AcquireSettings(parse_seconds=1.5, ocr_seconds=1.5)
    assert parse(parser, tmp_path, "work") == "done"


def test_parsed_file_survives_the_pipe() -> None:
    parsed = Parsed(
        text="ž\ud800" + "\n" * 3,
        title="t",
        url="u",
        marks=(Mark(kind="page", start=0, end=1, label="iv"),),
        placed=(
            Placed(start=0, end=1, page=2, left=0.2, top=0.2, right=0.4, bottom=0.4, confidence=0.8),
            Placed(start=1, end=2, page=2, left=0, top=0, right=1, bottom=1),
        ),
        facts={"pages": 3, "share": 0.5, "is": True},
        parts=(Part(name="a.bin", data=bytes(range(256))),),
    )
    assert from_json(to_json(parsed)) == parsed
