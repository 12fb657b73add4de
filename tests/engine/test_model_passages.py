"""What a language model reads: whole sections, each text once, newest versions first, and no path of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from kb import add, open_fast

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.records import Document, Mark
from ragstone.engine import passages
from ragstone.engine.passages import LONGEST
from servers.openai_server import KEY, OpenAIServer

RULES = "# Harbour\n\n## Mooring\n\n{}\n\nBoats moor at the east quay. {}\n\n## Fuel\n\nThe pump opens at seven."
FILLER = "The harbour master keeps the log of the quay. " * 6
QUESTION = "Where do boats moor?"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda _: "FOUND: yes\nBoats moor at the east quay [1].") as running:
        yield running


def asked(
    folder: Path,
    server: OpenAIServer,
    *documents: Document | str,
    settings: tuple[str, ...] = (),
    question: str = QUESTION,
) -> tuple[Answer, str]:
    """Return the answer to the question, and the last message that the model got."""
    model = ("respond.model.name=openai:a-model", f"services.openai.base_url={server.url}")
    chosen = (*model, f"services.openai.api_key={KEY}", "chunk.size=200", "chunk.overlap=0", *settings)
    with closing(open_fast(folder, *chosen)) as engine:
        add(engine, *documents)
        answer = asyncio.run(engine.ask(question, reader=OWNER))
    return answer, server.asked[-1].body["messages"][-1]["content"]


def harbour(id: str = "harbour", **more: object) -> Document:
    text = RULES.format(FILLER, FILLER)
    headings = [("# Harbour", 1), ("## Mooring", 2), ("## Fuel", 2)]
    marks = tuple(
        Mark(kind="heading", start=at, end=at + len(line), level=level, label=line.lstrip("# "))
        for line, level in headings
        if (at := text.index(line)) >= 0
    )
    return Document(id=id, title="Harbour rules", text=text, marks=marks, **more)  # pyright: ignore


@pytest.mark.usefixtures("workdir")
def test_reads_the_whole_section_once(tmp_path: Path, server: OpenAIServer) -> None:
    answer, prompt = asked(tmp_path / "kb", server, harbour(), harbour("copy"))
    assert prompt.count("Boats moor at the east quay.") == 1
    assert prompt.count(FILLER.strip()) == 2, "the paragraphs before and after are of the same section"
    (citation,) = answer.citations
    assert citation.quote == "Boats moor at the east quay."
    assert answer.model == "openai:a-model"


@pytest.mark.usefixtures("workdir")
def test_one_long_section_leaves_room_for_others(tmp_path: Path, server: OpenAIServer) -> None:
    text = "\n\n".join(f"Boats moor at quay {number}. {FILLER[:150]}" for number in range(80))
    _, prompt = asked(tmp_path / "kb", server, Document(id="long", title="Long", text=text), harbour(),
                      settings=("rank.top_k=20", "respond.passages=20"))  # fmt: skip
    sources = prompt.split("--- source")[1:]
    assert len(sources) > 3
    assert max(map(len, sources)) < LONGEST + 300
    assert "Boats moor at the east quay." in prompt


@pytest.mark.usefixtures("workdir")
def test_reads_chunks_as_they_are_by_setting(tmp_path: Path, server: OpenAIServer) -> None:
    _, prompt = asked(tmp_path / "kb", server, harbour(), settings=("respond.passages=0", "rank.top_k=1"))
    assert FILLER.strip() not in prompt


@pytest.mark.usefixtures("workdir")
def test_reads_the_newest_version_first(tmp_path: Path, server: OpenAIServer) -> None:
    versions = [
        Document(
            id=f"fees-{year}",
            title=f"Mooring fees {year}",
            text=f"Boats moor at the {quay} quay since {year}, and the fee of a night is {year - 2000} euros.",
            metadata={"date": f"{year}-03-01"},
        )
        for year, quay in ((2019, "north"), (2025, "east"), (2022, "west"))
    ]
    _, prompt = asked(tmp_path / "kb", server, *versions)
    places = [prompt.index(f"Mooring fees {year}") for year in (2025, 2022, 2019)]
    assert places == sorted(places)
    assert "(2025-03-01)" in prompt
    _, of_2019 = asked(tmp_path / "kb2", server, *versions, question="Where did boats moor in 2019?")
    assert of_2019.index("Mooring fees 2019") < of_2019.index("Mooring fees 2025")


@pytest.mark.usefixtures("workdir")
def test_no_prompt_names_a_path(tmp_path: Path, server: OpenAIServer) -> None:
    named = Document(id=str(tmp_path / "secret" / "moor.txt"), text="Boats moor at the east quay, said the master.")
    _, prompt = asked(tmp_path / "kb", server, named)
    assert "moor.txt" in prompt
    assert str(tmp_path) not in json.dumps([one.body for one in server.asked])


CATCH = "Fish | May | June\nHerring | 41 | 52\nCod | 17 | 23"
HOURS = "Day | Gate | Crane\nMonday | 06:00 | 08:00\nSunday | 07:00 | 10:00"
REPORT = "Harbour report\n\nThe catch of the boats:\n\n{}\n\nBoats moor early.\n\n{}\n\nThe crane rests on holidays."


def report() -> Document:
    """Return a section with two tables and text before, between and after them."""
    text = REPORT.format(CATCH, HOURS)
    heading = Mark(kind="heading", start=0, end=len("Harbour report"), level=1, label="Harbour report")
    tables = [
        Mark(kind="table", start=text.index(rows), end=text.index(rows) + len(rows), label=label, header=1)
        for rows, label in ((CATCH, "Catch"), (HOURS, "Hours"))
    ]
    return Document(id="report", title="Report", text=text, marks=(heading, *tables))


@pytest.mark.usefixtures("workdir")
def test_reads_each_table_once_under_its_own_headings(tmp_path: Path, server: OpenAIServer) -> None:
    question = "Which fish do the boats land in June, and when does the crane work on Sunday?"
    settings = ("rank.top_k=10",)
    _, prompt = asked(tmp_path / "kb", server, report(), settings=settings, question=question)
    sources = [part.partition("--- end")[0] for part in prompt.split("--- source")[1:]]
    [catch] = [one for one in sources if "Herring" in one]
    [hours] = [one for one in sources if "06:00" in one]
    assert catch is not hours
    assert "| Fish | May | June |\n| --- | --- | --- |\n| Herring | 41 | 52 |\n| Cod | 17 | 23 |" in catch
    assert "| Day | Gate | Crane |\n| --- | --- | --- |\n| Monday | 06:00 | 08:00 |" in hours
    for words in ("Fish", "Gate", "The catch of the boats", "Boats moor early", "The crane rests"):
        assert prompt.count(words) == 1


@pytest.mark.usefixtures("workdir")
def test_reads_no_title_beside_its_table(tmp_path: Path, server: OpenAIServer) -> None:
    text = f"Catch of the boats\n\n{CATCH}"
    marks = (
        Mark(kind="heading", start=0, end=len("Catch of the boats"), level=1, label="Catch of the boats"),
        Mark(kind="table", start=text.index("Fish"), end=len(text), header=1),
    )
    _, prompt = asked(tmp_path / "kb", server, Document(id="catch", title="Catch", text=text, marks=marks),
                      question="What is the catch of the boats?")  # fmt: skip
    [source] = prompt.split("--- source")[1:]
    assert "| Herring | 41 | 52 |" in source


def landings(count: int) -> str:
    rows = [f"{number},Boat {number},east quay,{number}.5,moored by crew {number}" for number in range(1, count + 1)]
    return "\n".join(["landing,boat,quay,tons,remark", *rows])


@pytest.mark.usefixtures("workdir")
def test_what_a_row_of_a_data_file_says_is_told_once(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(passages, "Outlines", lambda _: SimpleNamespace(of=read.append))
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "landings.csv").write_text(landings(6))
    _, prompt = asked(tmp_path / "kb", server, str(folder))
    sources = [part.partition("--- end")[0] for part in prompt.split("--- source")[1:]]
    assert sources
    assert all(one.count("remark") == 1 for one in sources)
    assert read == [], "a row needs nothing around it, and its file may be large"
