"""What each command prints and returns, on a knowledge base of three articles."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import typer
from kb import add
from running import Run

import ragstone
from ragstone.core.records import Document, Mark
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.changed_settings import ChangedSettings
from ragstone.serve.cli import app as cli
from servers.openai_server import KEY, OpenAIServer

pytestmark = pytest.mark.usefixtures("kb")

QUESTION = "What is room 7 called?"
ANSWER_FIELDS = {
    "response_id",
    "question",
    "kind",
    "answer",
    "outcome",
    "failed",
    "abstained",
    "sources",
    "confidence",
    "judge_scores",
    "rightness",
    "sent",
    "steps",
    "retrieval_method",
    "web_search_triggered",
    "timestamp",
    "answerability",
    "citations",
    "model",
    "policy",
    "statements",
    "support",
    "timings_ms",
    "usage",
    "notices",
}
SOURCE_FIELDS = {"type", "title", "author", "url", "document_id", "relevance_score", "sentiment"}


def test_an_answer_shows_its_sources(run: Run) -> None:
    done = run("ask", QUESTION)
    assert (done.code, done.err) == (0, "")
    assert "Room 7 is called Marie Curie." in done.out
    assert "[1]\n" in done.out
    assert "[1] Rooms — articles.csv#1, characters 0-" in done.out
    assert "“Room 7 is called Marie Curie." in done.out
    assert "author: Ada" in done.out
    assert "confidence 0." in done.out


def test_metadata_can_be_left_out(run: Run) -> None:
    assert "author: Ada" not in run("ask", QUESTION, "--no-metadata").out


def test_an_answer_as_json_is_complete_and_exact(run: Run) -> None:
    done = run("ask", QUESTION, "--json")
    answer = done.json
    assert done.err == ""
    assert set(answer) == ANSWER_FIELDS
    assert set(answer["sources"][0]) == SOURCE_FIELDS
    citation = answer["citations"][0]
    span = f"{citation['start']}:{citation['end']}"
    assert run("show", citation["document_id"], "--span", span).out.rstrip("\n") == citation["quote"]


def test_an_abstention_has_no_sources(run: Run) -> None:
    done = run("ask", "Which moons does Jupiter have?")
    assert done.code == 0
    assert "couldn't find an answer to" in done.out
    assert "Sources" not in done.out
    answer = run("ask", "Which moons does Jupiter have?", "--json").json
    assert answer["abstained"]
    assert answer["sources"] == answer["citations"] == []


def test_scores_are_explained(run: Run) -> None:
    shown = run("ask", QUESTION, "--explain").out
    assert "stage" in shown
    assert "fusion" in shown
    assert "time: " in shown
    assert "Kind " in shown
    hits = run("ask", QUESTION, "--explain", "--json").json["hits"]
    assert [step["stage"] for step in hits[0]["why"]] == ["bm25", "vector", "fusion"]
    assert "fusion" in run("search", QUESTION, "--explain").out


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ((), "hybrid_search"),
        (("--retrieval-method", "bm25"), "bm25_search"),
        (("--retrieval-method", "vector"), "vector_search"),
        (("--set", "query.method=bm25", "--retrieval-method", "vector"), "vector_search"),
        (("--set", "rank.reranker=maxsim"), "hybrid_search_with_reranking"),
        (("--set", "rank.reranker=maxsim", "--no-reranking"), "hybrid_search"),
    ],
)
def test_settings_of_a_question(run: Run, options: tuple[str, ...], method: str) -> None:
    assert run("ask", QUESTION, "--json", *options).json["retrieval_method"] == method


def test_the_weight_of_vectors_counts(run: Run) -> None:
    one, other = (
        run("search", "seats", "--json", "--explain", "--vector-weight", weight).json for weight in ("0", "1")
    )
    assert one["hits"][0]["why"] != other["hits"][0]["why"]


def test_search_lists_chunks(run: Run) -> None:
    hits = run("search", "projector", "-k", "2", "--json").json["hits"]
    assert [hit["rank"] for hit in hits] == [1, 2]
    assert hits[0]["document_id"] == "articles.csv#1"
    assert "1. Rooms" in run("search", "projector").out


def test_where_narrows(run: Run) -> None:
    for command in ("ask", "search"):
        found = run(command, "projector", "--where", "lang = de", "--json", "--explain").json["hits"]
        assert {hit["metadata"]["lang"] for hit in found} == {"de"}
    unmatched = run("search", "projector", "--where", "lang = fr").out
    assert unmatched.splitlines() == [
        "note: no document has lang = fr; values of 'lang' are en, de; change the filter",
        "nothing matches",
    ]


def test_status_and_settings(run: Run) -> None:
    status = run("status", "--json").json
    assert (status["documents"], status["chunks"]) == (3, 3)
    assert "chunk.size        1200" in run("status").out
    settings = run("settings", "--set", "rank.top_k=3", "--json").json["settings"]
    origins = {one["path"]: (one["value"], one["origin"]) for one in settings}
    assert origins["rank.top_k"] == (3, "command line")
    assert origins["chunk.size"] == (1200, "knowledge base")
    assert origins["query.rrf_k"] == (60, "default")
    assert "rank.top_k" in run("settings").out


def test_tells_how_a_document_was_read(run: Run, kb: Path) -> None:
    marks = (Mark(kind="heading", start=0, end=4, level=1, label="Mill"),)
    lacking = {"kind": "docx", "pages": 2, "partial": "2 charts were left out"}
    with closing(KnowledgeBase.open(kb)) as opened:
        add(opened, Document(id="mill.docx", text="Mill\n\nIt grinds.", metadata=lacking, marks=marks))
    assert run("show", "mill.docx", "--parse").out.splitlines() == [
        "mill.docx: docx, 16 characters",
        "  2 pages, 1 heading, 1 chunk",
        "  time to read it: not measured",
        "  read only in part: 2 charts were left out",
    ]
    assert run("show", "mill.docx", "--parse", "--json").json["pages"] == 2
    assert run("show", "mill.docx", "--json").json["note"] == "read only in part: 2 charts were left out"
    assert "1 document was read only in part: mill.docx (2 charts were left out)" in run("status").out


def test_tells_how_long_reading_took(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mill.html").write_text("<p>The mill grinds corn.</p>", "utf-8")
    run("add", str(tmp_path / "mill.html"))
    assert re.search(r"^  time to read it: \d+\.\d s$", run("show", "mill.html", "--parse").out, re.MULTILINE)
    assert run("show", "mill.html", "--parse", "--json").json["seconds"] > 0


def test_lists_services_of_settings_changed_live(run: Run, kb: Path) -> None:
    assert run("settings", "--leaves").out == "nothing leaves this machine under these settings\n"
    with closing(KnowledgeBase.open(kb)) as opened, closing(opened.history.journal()) as journal:
        changed = ChangedSettings(journal)
        changed.set("services.servers.spare", json.dumps({"base_url": "http://127.0.0.1:9/v1", "api_key": "secret-7"}))
        changed.set("respond.model.name", "spare:small")
    told = run("settings", "--leaves", "--json")
    [left] = told.json["leaves"]
    assert (left["kind"], left["address"]) == ("language model", "http://127.0.0.1:9/v1")
    assert left["setting"] == "respond.model.name=spare:small, changed while servers run"
    assert "secret-7" not in told.out


def test_settings_without_a_knowledge_base(run: Run, tmp_path: Path) -> None:
    done = run("settings", "--kb", str(tmp_path / "none"), "--preset", "knowledge-base", "--json")
    origins = {one["path"]: one["origin"] for one in done.json["settings"]}
    assert origins["rank.top_k"] == "preset knowledge-base"
    assert origins["preset"] == "command line"


def test_remove_is_all_or_none(run: Run) -> None:
    assert run("remove", "articles.csv#1", "nothing").code == 1
    assert run("status", "--json").json["documents"] == 3
    assert run("remove", "#1", "--json").json == {"removed": ["articles.csv#1"]}
    assert run("status", "--json").json["documents"] == 2


def test_forget_erases_and_prints_the_proof(run: Run) -> None:
    run("ask", "How many seats has the room Marie Curie?", "--session", "rooms")
    erased = run("forget", "articles.csv#1")
    assert erased.code == 0
    assert "erased articles.csv#1" in erased.out
    assert "0 traces left" in erased.out
    assert "articles.csv still exists" in " ".join(erased.out.split())
    assert run("forget", "articles.csv#2", "--json").json["found"] == []
    missing = run("forget", "articles.csv#9")
    assert missing.code == 1
    assert "--words FILE" in missing.err


def test_forget_takes_words_of_a_file(run: Run, workdir: Path) -> None:
    run("remove", "articles.csv#1")
    (workdir / "text.txt").write_text("Room 7 is called Marie Curie. It has twelve seats and a projector.")
    assert run("forget", "articles.csv#1", "--words", "text.txt").code == 0
    assert run("forget", "articles.csv#1", "--words", "none.txt").code == 2


def test_rebuild_changes_what_is_stored(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the environment asks for the new settings, which every other command then refuses."""
    monkeypatch.setenv("RAGSTONE_CHUNK__SIZE", "60")
    refused = run("ask", QUESTION, "--set", "chunk.overlap=10")
    assert refused.code == 1
    command = refused.err.split("run: ")[1].split()[1:]
    assert command[0] == "rebuild"
    assert run(*command).code == 0
    assert run("ask", QUESTION, "--json").code == 0
    assert run("status", "--json").json["built_with"]["settings"]["chunk.size"] == 60


def test_adding_again_and_verbosely(run: Run) -> None:
    run("add", "articles.csv")
    assert run("add", "articles.csv").out.startswith("0 added, 0 updated, 3 unchanged;")
    done = run("add", "articles.csv", "--kb", "other", "--verbose", "--chunk-size", "80", "--chunk-overlap", "0")
    assert done.out.splitlines()[:3] == [f"added articles.csv#{n}" for n in (1, 2, 3)]
    assert run("status", "--kb", "other", "--json").json["built_with"]["settings"]["chunk.size"] == 80
    report = run("add", "articles.csv", "--kb", "third", "--verbose", "--json")
    assert report.json["added"] == 3
    assert "added articles.csv#1" in report.err


def test_only_some_of_many_skipped_are_listed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(25):
        (tmp_path / "many" / f"{number:02}.txt").touch()
    (tmp_path / "many" / "good.txt").write_text("Bees dance.")
    done = run("add", "many")
    assert done.code == 0
    assert "25 skipped" in done.out
    assert done.out.count(": empty") == 3
    assert "and 22 more for the same reason" in done.out
    assert "status --kb" in done.out


def test_undecodable_files_are_reported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "bytes.txt").write_bytes(b"Bees dance all day long in the sun. \xff\x81")
    (tmp_path / "texts" / "good.txt").write_text("Bees sleep.")
    table = "id,text,decoding\n1,Gr\xfc\xdfe,\n2,K\xf6ln,\n"
    (tmp_path / "texts" / "table.csv").write_bytes(table.encode("cp1252"))
    (tmp_path / "texts" / "column.csv").write_text("id,text,decoding\n1,Bees hum.,base64\n")
    done = run("add", "texts", "--kb", "other")
    assert "2 files read, but the text may be wrong or incomplete\n" in done.out
    assert "texts/bytes.txt: utf-8, 2 undecodable replaced\n" in done.out
    report = run("add", "texts", "--kb", "third", "--json").json
    assert {(Path(one["source"]).name, one["note"]) for one in report["decoded"]} == {
        ("bytes.txt", "utf-8, 2 undecodable replaced"),
        ("table.csv", "windows-1252, guessed"),
    }


def test_results_say_which_chunk_of_how_many(run: Run, kb: Path) -> None:
    (kb.parent / "long.txt").write_text("\n\n".join(f"Paragraph {n}. " + "Bees dance. " * 40 for n in range(5)))
    run("add", "long.txt")
    hits = run("search", "paragraph 3 bees", "--json", "-k", "3").json["hits"]
    of_long = [one for one in hits if one["document_id"] == "long.txt"]
    assert of_long
    for one in of_long:
        assert one["metadata"]["doc_id"] == "long.txt"
        assert one["metadata"]["chunk_id"] == one["chunk_id"]
        assert 0 <= one["metadata"]["chunk_index"] < one["metadata"]["total_chunks"]
        assert one["metadata"]["publication_id"] == "long"


def test_says_why_files_are_left_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    for name in ("a.cpp", "Makefile", "LICENSE", "readme.md"):
        (tmp_path / "code" / name).write_text("Bees dance.")
    (tmp_path / "code" / "a.o").write_bytes(b"x")
    (tmp_path / "code" / "server.key").write_text("x")
    done = run("add", "code")
    assert "a.o: a program\n" in done.out
    assert "server.key: left out because it may hold passwords or keys; export a Keynote" in done.out
    assert "LICENSE" not in done.out


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"ragstone {ragstone.__version__}\n"
    for words in ((), ("--help",), ("add", "--help")):
        done = run(*words)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("Usage: ragstone")


def test_help_lists_every_command(run: Run) -> None:
    group: Any = typer.main.get_command(cli.app)
    listed = [name for names in cli.SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(group.commands)
    assert all(f"  {name} " in run("--help").out for name in listed)


def test_help_cuts_no_summary(run: Run) -> None:
    group: Any = typer.main.get_command(cli.app)
    groups = [(name,) for name, command in group.commands.items() if hasattr(command, "commands")]
    for words in ((), *groups):
        assert not re.search(r"\w\.\.\.$", run(*words, "--help").out, re.MULTILINE), words


def test_ask_adds_files_first(run: Run) -> None:
    done = run("ask", QUESTION, "--add", "articles.csv", "--kb", "new", "--chunk-size", "300", "--json")
    assert (done.code, done.err[:8]) == (0, "3 added,")
    assert "Marie Curie" in done.json["answer"]
    assert run("status", "--kb", "new", "--json").json["built_with"]["settings"]["chunk.size"] == 300


def test_asks_about_a_picture(run: Run, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = pytest.importorskip("pictures")
    (workdir / "a.png").write_bytes(pictures.saved(pictures.painted("red"), "PNG"))
    without = run("ask", "Where is this?", "--picture", "a.png")
    assert (without.code, without.out) == (2, "")
    assert "acquire.captions.model" in without.err
    with OpenAIServer(lambda _: "A photo of the room Marie Curie.") as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        seeing = ("--set", "acquire.captions.model=openai:sees")
        done = run("ask", "How many seats are there?", "--picture", "a.png", *seeing)
    assert "twelve seats" in done.out
    missing = run("ask", "Where is this?", "--picture", "b.png", *seeing)
    assert (missing.code, "b.png" in missing.err) == (2, True)


def test_chat(run: Run) -> None:
    typed = f"{QUESTION}\n\n/sources\n/explain\n/set rank.top_k=1\n/help\n/quit\nnever asked\n"
    done = run("chat", typed=typed)
    assert (done.code, done.err) == (0, "")
    assert done.out.count("[1] Rooms") == 2
    assert "fusion" in done.out
    assert "set rank.top_k=1" in done.out
    assert "never asked" not in done.out


def test_quit_ends_a_chat_and_is_no_question(run: Run) -> None:
    done = run("chat", typed="quit\n/help\n")
    assert (done.code, done.err) == (0, "")
    assert "/sources" not in done.out
    assert "Sources" not in done.out


def test_chat_goes_on_after_errors(run: Run) -> None:
    typed = f"/sources\n/nothing\n/set nothing=1\n/set chunk.size=50\n/set rank.top_k\n{QUESTION}"
    done = run("chat", typed=typed)
    assert done.code == 0
    assert len(done.err.splitlines()) == 5
    assert all(line.startswith("ragstone: ") for line in done.err.splitlines())
    assert "Marie Curie" in done.out


def test_eval(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("ragstone.engine.experiments")
    (tmp_path / "set").mkdir()
    files = {
        "corpus.jsonl": '{"id": "1", "title": "Rooms", "text": "Room 7 has a projector."}',
        "queries.jsonl": '{"id": "q", "text": "Which room has a projector?"}',
        "qrels.tsv": "q\t1\t1",
    }
    for name, text in files.items():
        (tmp_path / "set" / name).write_text(text + "\n")
    done = run("eval", "set", "--json", "--limit", "1")
    assert done.code == 0, done.err
    assert done.json["measures"]["ndcg@10"]["mean"] == 1
    assert re.search(r"ndcg@10 +1\.0000", run("eval", "set").out)
    missing = run("eval", "nowhere")
    assert (missing.code, missing.out) == (1, "")


def test_chat_notices_a_rebuild(run: Run, kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def typed() -> Iterator[str]:
        yield QUESTION
        with closing(KnowledgeBase.open(kb, as_built=True)) as engine:
            asyncio.run(engine.versions.rebuild(["chunk.size=400"]))
        yield QUESTION

    monkeypatch.setattr("ragstone.serve.cli.prompt._typed", typed)
    done = run("chat")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("Room 7 is called Marie Curie.") >= 2


def test_shows_metadata_once_without_markup(run: Run, tmp_path: Path) -> None:
    words = "Bees dance in the dark. In the dark hive bees dance."
    tags = "; ".join(f"tag {number}" for number in range(99))
    rows = f"1,Bees,{words},{'<p>' * 1000},<b>short</b>,{'wax ' * 99},Anna,{tags}\n"
    (tmp_path / "bees.csv").write_text(f"id,title,text,html,mark,notes,author,tags\n{rows}")
    run("add", "bees.csv", "--kb", "bees", "--set", "acquire.columns.lists=[tags]")
    out = run("ask", "Do bees dance in the dark?", "--kb", "bees").out
    assert out.count("[1]") == 2
    assert (out.count("tags: tag 0, tag 1"), out.count("author: Anna")) == (1, 1)
    assert not any(key in out for key in ("html:", "mark:", "notes:", "<"))
    assert len(max(out.splitlines(), key=len)) < 400


# ---------------------------------------------------------------- list


def test_lists_documents_by_their_words(run: Run) -> None:
    every = run("list", "--json").json
    assert every["total"] == len(every["documents"]) == 3
    first = every["documents"][0]
    assert first["document_id"] in run("list").out
    found = run("list", first["title"], "--json").json
    assert [one["document_id"] for one in found["documents"]] == [first["document_id"]]
    assert "and 2 more documents; --limit lists more" in run("list", "--limit", "1").out
    assert run("list", "zeppelin").out == "no document has 'zeppelin' in its id, title or address\n"
