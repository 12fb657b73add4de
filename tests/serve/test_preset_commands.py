"""The preset `knowledge-base` at the command line: its own file, its options, its limits, its caches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Run

from ragstone.settings.load import preset_names

TABLE = """\
id,title,text,category,answer_html
1,Rooms,Room 7 is called Marie Curie and has twelve seats.,office,<p>Room 7 is called Marie Curie.</p>
2,Parking,Visitors park behind the mill and the gate closes at nine.,visit,<p>behind the mill</p>
3,Canteen,The canteen serves fish on Friday at noon.,office,<p>fish</p>
"""


@pytest.fixture
def table(workdir: Path) -> Path:
    path = workdir / "data" / "knowledge_base.csv"
    path.parent.mkdir()
    path.write_text(TABLE)
    return path


def test_reads_the_file_that_the_preset_names(table: Path, run: Run) -> None:
    first = run("add", "--preset", "knowledge-base")
    assert (first.code, first.out[:8]) == (0, "3 added,")
    table.write_text(TABLE.replace("at noon", "at one"))
    again = run("sync")  # the knowledge base remembers its preset
    assert again.out.startswith("0 added, 1 updated, 2 unchanged; 1 chunk, 1 embedded")


@pytest.mark.usefixtures("table")
def test_chat_makes_the_knowledge_base_first(run: Run) -> None:
    told = run("chat", "--preset", "knowledge-base", typed="Where do visitors park?\n")
    assert told.code == 0
    assert "behind the mill" in told.out
    assert told.err.count("but there is no key") == 2, "the embedder and the model, each once"


def test_lists_presets_with_their_replacements(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {one["name"]: one for one in json.loads(run("presets", "--json").out)["presets"]}
    assert {*shown} == {*preset_names()}
    replaced = {one["path"]: (one["wanted"], one["instead"]) for one in shown["news"]["replaced"]}
    assert replaced["respond.model.name"] == ("openai:gpt-4-turbo", "extractive")
    assert replaced["rank.reranker"] == ("cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2", "maxsim")
    assert shown["docs-site"]["needs"]["openai:gpt-4"] == "openai, and OPENAI_API_KEY"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    out = run("presets").out
    assert "the preset companion answers with azure" in out
    assert "but OpenAI ended this model: openai:gpt-5.4-mini is used instead" in out
    assert "the preset knowledge-base answers with" not in out


def test_shows_what_becomes_of_another_system(run: Run) -> None:
    rows = run("presets", "docs-site", "--json").json["moving"]
    assert {"there": "its chunk size and overlap"} in [{"there": row["there"]} for row in rows]
    assert "`rank.boosts.kind`" in run("presets", "docs-site").out
    assert run("presets", "docs").err.startswith("ragstone: there is no preset 'docs'")
    missing = run("presets", "nosuch.yaml").err
    assert missing.startswith("ragstone: the file nosuch.yaml does not exist; choose one of ")


def test_says_what_to_name(workdir: Path, run: Run) -> None:
    assert run("add").err == "ragstone: name a file or a folder, or set acquire.sources\n"
    missing = run("add", "--preset", "knowledge-base")
    assert (missing.code, "data/knowledge_base.csv" in missing.err) == (1, True)
    assert not (workdir / ".ragstone").exists()


def test_without_reranking_and_metadata(table: Path, run: Run) -> None:
    text = "\n\n".join(f"The mill has a gate number {n} that closes at nine. " * 15 for n in range(4))
    table.write_text(f'{TABLE}4,Mill,"{text}",visit,x\n')
    run("add", "--preset", "knowledge-base")
    both = [run("search", "gate of the mill", "--json", *options).json["hits"] for options in ([], ["--no-reranking"])]
    ids = [[hit["document_id"].rpartition("#")[2] for hit in hits] for hits in both]
    assert len(set(ids[0])) == 3
    assert len(set(ids[1])) < 3
    assert both[0][0]["metadata"]["category"]
    for words in (["search"], ["ask", "--explain"]):
        bare = run(*words, "gate of the mill", "--no-metadata", "--json")
        assert all("metadata" not in hit for hit in bare.json["hits"])


def test_shows_the_metadata_that_is_named(table: Path, run: Run) -> None:
    del table
    run("add", "--preset", "knowledge-base", "--set", "acquire.metadata.enabled=false")
    shown = run("ask", "Where do visitors park?").out
    assert "category: visit" in shown
    other = run("ask", "Where do visitors park?", "--set", "respond.metadata_names=[answer_html]").out
    assert "category" not in other


@pytest.mark.usefixtures("table")
def test_refuses_more_than_the_preset_allows(run: Run) -> None:
    run("add", "data", "--preset", "publications")
    assert run("search", "fish", "-k", "20").code == 0
    assert run("search", "fish", "-k", "21").err == "ragstone: k is 21, but rank.top_k_limit allows at most 20\n"
    refused = run("ask", "fish?", "--set", "rank.top_k=99")
    assert refused.err == "ragstone: rank: top_k is 99, but rank.top_k_limit allows at most 20\n"


@pytest.mark.usefixtures("kb")
def test_clears_one_level_of_the_cache(run: Run) -> None:
    run("ask", "How many seats has room 7?")
    rows = run("history", "cache", "--json").json["cache"]
    assert {one["level"] for one in rows} == {"embedding", "response", "query", ""}
    run("history", "cache", "--clear", "--level", "query")
    left = {one["kind"]: one["entries"] for one in run("history", "cache", "--json").json["cache"]}
    assert left["searches"] == left["answers"] == 0
    assert left["embeddings"] > 0
    assert run("history", "cache", "--level", "all").code == 2
