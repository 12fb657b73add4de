"""The pages of the lab on a real knowledge base, and the program that serves them."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from kb import add, open_fast
from running import START, environment
from selectolax.lexbor import LexborHTMLParser
from streamlit.testing.v1 import AppTest

from ragstone.core.access import OWNER
from ragstone.core.errors import SourceError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.review.drafts import as_csv
from ragstone.serve.lab import desk, launch
from ragstone.serve.lab.screens.questions import drafts_in, kept
from ragstone.serve.lab.settings import inputs
from ragstone.serve.lab.trial import read
from ragstone.settings.load import load, preset_names

SCRIPT = Path(launch.__file__).parent / "script" / "ragstone_lab.py"
HOSTILE = (
    "Guests of the manor leave their horses here <img src=http://198.51.100.7/x.png onerror=alert(1)>"
    " [gate](http://198.51.100.7) ![map](http://198.51.100.7/p.png) :red[parking] $x$ <script>alert(1)</script>."
)
QUESTIONS = "question,source,answerable\n" + "".join(f"Where do visitors of house {i} park?,d{i},\n" for i in range(5))
QUESTIONS += "Who won the cup in 1998?,,no\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "kb"
    engine = open_fast(folder)
    texts = [
        f"Visitors of house {i} do park behind mill {i}, where it is dry. Gate {i} closes at nine." for i in range(12)
    ]
    add(engine, *(Document(id=f"d{i}", text=text, title=f"House {i}") for i, text in enumerate(texts)))
    add(engine, Document(id="hostile", text=HOSTILE, title="<i>Old</i> [manor](http://198.51.100.7)"))
    engine.close()
    return folder


@pytest.fixture
def app(folder: Path, workdir: Path) -> Iterator[AppTest]:
    """The lab as it is first shown; what is saved goes to an empty folder."""
    del workdir
    open_desk = desk.Desk(KnowledgeBase.open(folder), OWNER)
    desk.set_current(open_desk)
    yield run(AppTest.from_file(SCRIPT, default_timeout=60))
    desk.set_current(None)
    open_desk.close()


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception, app.exception
    return app


def go(app: AppTest, page: str) -> AppTest:
    app.button_group(key="page").set_value(page)
    return run(app)


def take(app: AppTest, side: str) -> AppTest:
    app.button_group(key="side").set_value(side)
    return run(app)


def page(app: AppTest) -> LexborHTMLParser:
    """All that was drawn by our own HTML."""
    return LexborHTMLParser("".join(one.value for one in app.get("html")))


def press(app: AppTest, label: str) -> AppTest:
    next(one for one in app.button if one.label == label).click()
    return run(app)


def ask(app: AppTest, question: str, button: str = "Ask both") -> AppTest:
    app.text_input(key="question").set_value(question)
    return press(app, button)


def harmless(app: AppTest) -> None:
    """Nothing was drawn that loads, links or runs, and no text of the document through Markdown."""
    drawn = page(app)
    names = {node.tag for node in drawn.css("*")} - {"html", "head", "body", "style"}
    assert names <= {
        "p",
        "b",
        "br",
        "div",
        "span",
        "small",
        "sup",
        "code",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
    }
    assert {name for node in drawn.css("*") for name in node.attributes} <= {"class", "style", "title"}
    assert "198.51.100.7" in drawn.text()
    for one in (*app.markdown, *app.caption, *app.error, *app.warning, *app.info):
        assert "198.51.100.7" not in one.value


def test_first_page_has_every_input(app: AppTest) -> None:
    paths = {one.path for one in inputs(desk.current().kb.settings)}
    drawn = {
        path.partition("/")[0].rpartition(" ")[2]
        for kind in (
            app.toggle,
            app.selectbox,
            app.slider,
            app.number_input,
            app.text_input,
            app.text_area,
            app.checkbox,
        )
        for path in [one.key or "" for one in kind]
    }
    assert paths <= drawn
    for side in "AB":
        take(app, side)
        assert app.session_state[f"changes {side}"] == {}
    assert "same settings" in page(app).text()
    assert "13 documents, " in page(app).text()


def test_marks_what_differs_between_two_answers(app: AppTest) -> None:
    take(app, "B")
    app.number_input(key="B 0 rank.top_k").set_value(2)
    run(app)
    app.text_input(key="B 0 rank.reranker").set_value("maxsim")
    run(app)
    assert app.session_state["changes B"] == {"rank.top_k": 2, "rank.reranker": "maxsim"}
    assert app.session_state["changes A"] == {}
    ask(app, "Where do visitors of house 7 park?")
    drawn = page(app)
    cards = drawn.css(".rs-card")
    assert len(cards) == 2
    assert ["reranking" in card.text() for card in cards] == [False, True]
    for card in cards:
        assert "behind mill 7" in card.css_first(".rs-answer").text()
        assert "behind mill 7" in card.css_first(".rs-quote").text()
        assert {"confidence", "answerability", "support", "total, ms", "cost"} <= {
            one.text() for one in card.css(".rs-tile span")
        }
    assert [chip.css_first("code").text() for chip in drawn.css(".rs-chip")] == ["rank.top_k", "rank.reranker"]
    assert "2 of 5 chunks on both sides" in drawn.text()
    assert len(drawn.css(".rs-times .rs-bar")) >= 8
    app.number_input(key="B 0 rank.top_k").set_value(3)
    run(app)
    assert "used other settings" in page(app).text()


def test_text_of_documents_stays_text(app: AppTest) -> None:
    ask(app, "Where do guests of the manor leave their horses?")
    assert "onerror=alert(1)" in page(app).text()
    harmless(app)
    go(app, "Stages")
    harmless(app)


def test_errors_are_shown_on_the_page(app: AppTest) -> None:
    app.text_input(key="where").set_value("kind === x")
    ask(app, "Where?")
    assert len(page(app).css(".rs-error")) == 2
    go(app, "Stages")
    assert len(page(app).css(".rs-error")) == 1
    app.text_input(key="A 0 rank.reranker").set_value("nonsense")
    run(app)
    assert "rank.reranker" in page(app).css_first(".rs-error").text()


def test_shows_each_chunk_at_each_stage(app: AppTest) -> None:
    app.text_input(key="A 0 rank.reranker").set_value("maxsim")
    run(app)
    go(app, "Stages")
    ask(app, "Where do visitors of house 7 park?", "Trace")
    tables = page(app).css(".rs-stages")
    heads = [[head.text() for head in table.css("th")] for table in tables]
    assert heads == [
        ["chunk", "keywords", "vectors", "fusion", "maxsim", "evidence"],
        ["chunk", "keywords", "vectors", "fusion", "evidence"],
    ]
    first = tables[0].css_first("tbody tr")
    assert "House 7" in first.text()
    assert "evidence 1" in first.text()
    assert [len(table.css(".rs-fate")) for table in tables] == [5, 5]
    assert tables[0].css(".rs-up, .rs-down")
    assert len(app.get("vega_lite_chart")) == 2
    app.button_group(key="traced sides").set_value("B")
    run(app)
    assert len(page(app).css(".rs-stages")) == 1


def test_measures_and_plots_a_set_of_questions(app: AppTest) -> None:
    take(app, "B")
    app.selectbox(key="B 0 query.method").set_value("bm25")
    run(app)
    go(app, "Evaluate")
    press(app, "Measure")
    assert "choose a file" in page(app).text()
    app.file_uploader(key="questions").set_value(("questions.csv", QUESTIONS.encode(), "text/csv"))
    press(app, "Measure")
    trial = app.session_state["run"]
    while trial.running:
        time.sleep(0.05)
    run(app)
    assert trial.error == ""
    assert len(app.get("vega_lite_chart")) >= 4
    assert "5 questions with an expected document" in page(app).text()
    rows = app.dataframe[0].value
    assert len(rows) == 6
    assert list(rows["A answered"]).count(False) >= 1
    app.selectbox(key="calibrated").set_value("confidence: the answer cites an expected document")
    run(app)
    go(app, "Side by side")
    go(app, "Evaluate")
    assert app.get("vega_lite_chart"), "what was measured is still there"


def test_shows_progress_and_stops_a_run(app: AppTest) -> None:
    go(app, "Evaluate")
    many = "question,source\n" + "".join(
        f"Where do visitors of house {i % 12} park {i}?,d{i % 12}\n" for i in range(4000)
    )
    app.number_input(key="limit").set_value(4000)
    app.file_uploader(key="questions").set_value(("many.csv", many.encode(), "text/csv"))
    press(app, "Measure")
    trial = app.session_state["run"]
    while not trial.done:
        time.sleep(0.05)
    run(app)
    assert re.search(r"\d+ of 8,000 questions asked", app.get("progress")[0].proto.text)
    press(app, "Stop")
    assert "stopped" in page(app).text()


@pytest.mark.parametrize("preset", preset_names())
def test_loads_and_saves_a_preset(app: AppTest, preset: str) -> None:
    take(app, "B")
    app.selectbox(key="preset B").set_value(preset)
    press(app, "Set B to it")
    changes = dict(app.session_state["changes B"])
    assert changes
    run(app)
    assert app.session_state["changes B"] == changes, "widgets give back what they were given"
    go(app, "Settings and preset")
    app.text_input(key="file B").set_value("mine.yaml")
    press(app, "Save B")
    assert "saved" in page(app).text()
    saved = load(preset="mine.yaml").settings
    wanted = load(preset=preset).settings
    for section in ("query", "rank", "respond"):
        assert getattr(saved, section) == getattr(wanted, section)
    assert app.code[1].value == Path("mine.yaml").read_text("utf-8").strip()
    assert yaml.safe_load(app.code[1].value)["index"]["embedder"] == "hash_embedder:HashEmbedder"
    press(app, "Save B")
    assert "exists" in page(app).text()
    press(app, "Reset B")
    assert app.session_state["changes B"] == {}


def test_copies_a_side_and_shows_the_rebuild(app: AppTest) -> None:
    app.slider(key="A 0 respond.abstain_below").set_value(0.25)
    run(app)
    take(app, "B")
    press(app, "Copy A to B")
    assert app.session_state["changes B"] == {"respond.abstain_below": 0.25}
    go(app, "Settings and preset")
    assert len(app.code) == 2
    app.number_input(key="stored chunk.size").set_value(300)
    run(app)
    kb = desk.current().kb.folder
    assert app.code[2].value == f"ragstone rebuild --kb {kb} --set chunk.size=300"
    assert desk.current().kb.settings.chunk.size == 200


def test_serves_only_loopback_and_stops_cleanly(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = [sys.executable, "-c", START, "lab", "--kb", str(folder), "--port", str(port), "--as", "staff, board"]
        options = {"env": environment(PYTHONPATH=str(Path(__file__).parent.parent)), "text": True}
        refused = subprocess.run(words, capture_output=True, timeout=60, check=False, **options)
    assert refused.returncode == 2
    assert f"port {port} of 127.0.0.1 cannot be used: another program uses it" in refused.stderr
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == f"the lab is at http://127.0.0.1:{port}; Ctrl-C stops it\n"
        html = fetched(port, "/")
        assert not re.search(r"""(src|href)=["']?(https?:)?//""", html), "the page loads nothing from elsewhere"
        assert handshake(port, f"127.0.0.1:{port}").startswith("HTTP/1.1 101")
        assert handshake(port, "evil.example").startswith("HTTP/1.1 403"), "a name that points here is not ours"
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert (program.returncode, out.strip()) == (0, "Stopping...")
    assert "Traceback" not in err


def fetched(port: int, path: str) -> str:
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.read().decode()
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the lab does not answer")


def handshake(port: int, host: str) -> str:
    """What the server says to one who wants to open the page's web socket under a name."""
    lines = [
        "GET /_stcore/stream HTTP/1.1",
        f"Host: {host}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Origin: http://{host}",
    ]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        return line.recv(200).decode()


# ---------------------------------------------------------------- questions


def test_questions_are_drafted_from_the_documents(workdir: Path) -> None:
    text = "# The mill\n\n## How to open the gate\n\nTurn the key twice and push the gate to the left until it stops."
    (workdir / "guide.md").write_text(text, encoding="utf-8")
    engine = open_fast(workdir / "guide")
    asyncio.run(engine.documents.add([str(workdir / "guide.md")]))
    engine.close()
    here = desk.Desk(KnowledgeBase.open(workdir / "guide"), OWNER)
    desk.set_current(here)
    try:
        app = go(run(AppTest.from_file(SCRIPT, default_timeout=60)), "Questions")
        next(one for one in app.button if one.label == "Draft questions").click()
        run(app)
        assert [one.text() for one in page(app).css(".rs-notice")] == ["1 question, 0 without an answer"]
    finally:
        desk.set_current(None)
        here.close()


def test_a_corrected_table_is_a_file_of_questions(app: AppTest) -> None:
    del app
    table = [
        {"keep": True, "question": "Where do visitors of house 3 park?", "source": "d3", "evidence": "behind mill 3"},
        {"keep": False, "question": "What is house 4?", "source": "d4"},
        {"question": " Who won the cup? ", "source": None, "evidence": "left over", "lang": None},
        {"keep": True, "question": None},
    ]
    questions = kept(table)
    assert [one.question for one in questions] == ["Where do visitors of house 3 park?", "Who won the cup?"]
    here = desk.current()
    dataset = read(here, as_csv(questions).encode(), "questions.csv")
    assert [one.answerable for one in dataset.queries] == [True, False]
    with pytest.raises(SourceError, match=r"^questions\.csv, line 2: .*d99"):
        read(here, as_csv([replace(questions[0], source="d99")]).encode(), "questions.csv")
    assert drafts_in(as_csv(questions).encode()) == questions
    with pytest.raises(SourceError, match=r"^questions\.csv, line 1: the columns"):
        drafts_in(b"one,two\n")
